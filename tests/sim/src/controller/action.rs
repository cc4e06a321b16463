//! What an operator, or the world, does to a controller.

use std::time::Duration;

use crate::pendant::OperationalMode;
use crate::service::Service;

/// One action, done at once or scripted for later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Press an emergency stop button: the arm stops, power goes off, the program ends.
    EmergencyStop,
    /// Release it. The arm stays without power.
    ReleaseEmergencyStop,
    /// A collision, say: the arm stops, the program is paused.
    ProtectiveStop,
    /// Unlock it; refused within 5 s.
    UnlockProtectiveStop,
    /// Open the safeguard input.
    OpenSafeguard,
    /// Open the safeguard of automatic mode (e-Series).
    OpenAutomaticSafeguard,
    /// Let go of the three-position enabling device (e-Series).
    ReleaseEnablingDevice,
    /// Close whatever is open of these again. The program stays paused.
    CloseSafeguard,
    /// A safety limit was violated: the arm stops, power goes off, the program ends.
    SafetyViolation,
    /// A fault of the safety system: the same.
    SafetyFault,
    /// Enter or leave reduced mode.
    Reduced(bool),
    /// After a violation or fault: power off, safety normal. What still demands a stop does so.
    RestartSafety,
    /// Power on.
    PowerOn,
    /// Power off.
    PowerOff,
    /// Release the brakes, with power on before it where needed.
    ReleaseBrakes,
    /// Switch the pendant to local control (e-Series).
    SwitchToLocal,
    /// Switch the pendant to remote control (e-Series).
    SwitchToRemote,
    /// Move the speed slider, 0 … 1.
    Slider(f64),
    /// The trajectory limiter lets this share of what the slider leaves through, 0 … 1.
    Limiter(f64),
    /// Pause the program.
    PauseProgram,
    /// Let a paused program go on.
    ResumeProgram,
    /// Press play at the pendant: the loaded program starts, or a paused one goes on.
    PlayProgram,
    /// Close the popup that is shown; a program that waits for that goes on, where the arm may move.
    ClosePopup,
    /// Stop the program.
    StopProgram,
    /// Start a program of somebody else; it moves the last joint to and fro with this speed \[rad/s\].
    StartForeignProgram(f64),
    /// Let a second client stream `speedj` with this speed on the last joint \[rad/s\]; `None` ends it.
    SecondCommander(Option<f64>),
    /// The controller's clock jumps by this many µs.
    JumpClock(i64),
    /// Everything is closed and refused for this long; then the controller is there again, without power, its
    /// clock at zero.
    Restart(Duration),
    /// Switch everything off: closed and refused for good.
    ShutDown,
    /// Choose a mode at the pendant (e-Series); none without a password. Refused while a client controls it.
    ChooseOperationalMode(Option<OperationalMode>),
    /// Switch a service on or off in the security settings (5.10 on).
    SwitchService(Service, bool),
    /// Close every connection.
    Disconnect,
    /// Set the digital inputs.
    DigitalInputs(u32),
    /// Push on the tool with this wrench \[N, Nm\], along the base's axes, until told otherwise. It shows
    /// in what is measured; it moves the arm in force mode, in freedrive and under direct torque.
    Push([f64; 6]),
}
