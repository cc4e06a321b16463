//! The actions that a test or a person can cause on a simulated controller: those of an operator, and events in the
//! surroundings.

use std::time::Duration;

use crate::pendant::OperationalMode;
use crate::service::Service;

/// One action on the simulated controller, executed at once or scheduled for later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Press an emergency stop button: the arm stops, power goes off, the program ends.
    EmergencyStop,
    /// Release the emergency stop button. The arm stays without power.
    ReleaseEmergencyStop,
    /// Cause a protective stop, as after a collision: the arm stops, the program is paused.
    ProtectiveStop,
    /// Unlock a protective stop. The controller refuses this within 5 s of the stop.
    UnlockProtectiveStop,
    /// Open the safeguard input, which stops the arm.
    OpenSafeguard,
    /// Open the safeguard input that acts in automatic mode (e-Series).
    OpenAutomaticSafeguard,
    /// Release the three-position enabling device (e-Series).
    ReleaseEnablingDevice,
    /// Close every open safeguard again, and hold the enabling device. The program stays paused.
    CloseSafeguard,
    /// Violate a safety limit: the arm stops, power goes off, the program ends.
    SafetyViolation,
    /// Cause a fault of the safety system: the arm stops, power goes off, the program ends.
    SafetyFault,
    /// Enter (`true`) or end (`false`) the reduced mode of the safety system.
    Reduced(bool),
    /// Restart the safety system: power goes off, and a violation, a fault or a protective stop ends. An emergency or
    /// safeguard stop stays.
    RestartSafety,
    /// Switch on the arm's power.
    PowerOn,
    /// Switch off the arm's power.
    PowerOff,
    /// Release the brakes; power is switched on first if needed.
    ReleaseBrakes,
    /// Switch the pendant to local control (e-Series).
    SwitchToLocal,
    /// Switch the pendant to remote control (e-Series).
    SwitchToRemote,
    /// Move the pendant's speed slider to this position, 0 … 1.
    Slider(f64),
    /// Set the trajectory limiter to this share of the slider's speed, 0 … 1.
    Limiter(f64),
    /// Pause the running program.
    PauseProgram,
    /// Resume a paused program.
    ResumeProgram,
    /// Press play at the pendant: the loaded program starts, or a paused one continues.
    PlayProgram,
    /// Close the displayed popup; a program that waits for it continues if the arm may move.
    ClosePopup,
    /// Stop the running program.
    StopProgram,
    /// Start a third-party program that moves the last joint back and forth with this speed \[rad/s\].
    StartForeignProgram(f64),
    /// Make a second client stream `speedj` with this speed on the last joint \[rad/s\]; `None` ends it.
    SecondCommander(Option<f64>),
    /// Make the controller's clock jump by this many µs.
    JumpClock(i64),
    /// Restart the controller: connections are closed and refused for this long. Afterwards it is available again,
    /// without power, its clock at zero.
    Restart(Duration),
    /// Shut the controller down: connections are closed, and refused permanently.
    ShutDown,
    /// Choose an operational mode at the pendant (e-Series); `None` chooses no mode, as on a pendant without a
    /// password for it. Refused while a client controls the mode.
    ChooseOperationalMode(Option<OperationalMode>),
    /// Switch a service of the controller on (`true`) or off (`false`) in the security settings (5.10 on).
    SwitchService(Service, bool),
    /// Close every connection: those of clients and those that the controller opened.
    Disconnect,
    /// Set the digital inputs, one bit each.
    DigitalInputs(u32),
    /// Push the tool with this wrench \[N, Nm\], along the base's axes, until the next push. The wrench is measured;
    /// it moves the arm in force mode, in freedrive and under direct torque.
    Push([f64; 6]),
}
