//! The options of a simulated controller.

use std::num::NonZeroU32;
use std::time::Duration;

use outrigger_wire::robot::{Generation, RobotModel, SoftwareVersion};

use super::InterpreterOptions;
use crate::arm::{Drive, ForceOptions, JOINT_HISTORY};
use crate::dashboard::DashboardOptions;
use crate::dial::SocketOptions;
use crate::external_control::ExternalControl;
use crate::fault::{Fault, FaultKind};
use crate::firmware::{AfterT, Firmware, LocalMode};
use crate::model::{ArmModel, UnknownPairing};
use crate::pendant::{Files, OperationTiming};
use crate::robot::PowerTiming;
use crate::robot_api::RobotApiOptions;
use crate::ros::RosOptions;
use crate::rtde::RtdeOptions;
use crate::service::Service;
use crate::stop_error_codes::StopCodes;
use crate::surface::Surface;
use crate::tool_line::ToolGripper;
use crate::undocumented_delays::{Compiling, ServoJ};

/// A robot's serial number in the format of real ones: a year, and a number.
const SERIAL_NUMBER: &str = "20205500001";

/// The state of a controller at the start of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartState {
    /// The arm is powered, brakes open, safety normal, in remote control, no program.
    #[default]
    Running,
    /// The arm's joints have no power.
    PowerOff,
    /// The arm is powered, with its brakes closed.
    Idle,
    /// The arm runs, but the robot is in local control (e-Series).
    Local,
    /// Running, remote control never enabled in the settings (5.x): it reports that it is not in remote control, and
    /// accepts commands.
    RemoteNotEnabled,
    /// The arm is powered, but in a protective stop.
    ProtectiveStop,
}

impl StartState {
    /// Every start state with the name that selects it on the simulator's command line.
    pub const NAMED: [(Self, &'static str); 6] = [
        (Self::Running, "running"),
        (Self::PowerOff, "power-off"),
        (Self::Idle, "idle"),
        (Self::Local, "local"),
        (Self::RemoteNotEnabled, "remote-not-enabled"),
        (Self::ProtectiveStop, "protective-stop"),
    ];

    /// Returns the start state that this name selects on the simulator's command line; `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(state, _)| state)
    }
}

/// The control cycles that the flag `isProgramRunning` of a state message represents. These messages are sent on
/// 30001 and 30002 ten times a second. The meaning is not documented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramTold {
    /// The flag `isProgramRunning` represents the newest cycle: `true` if a program runs in it.
    #[default]
    Newest,
    /// The flag `isProgramRunning` represents every cycle since the last message: `true` if a program ran in any of
    /// them.
    Any,
    /// The flag `isProgramRunning` represents every cycle since the last message: `true` if one program ran in all of
    /// them.
    All,
}

/// The options of a simulated controller. `Options::new` sets the values that a user would expect; every field can be
/// changed before [`Controller::new`](super::Controller::new).
#[derive(Clone, Debug)]
pub struct Options {
    /// The model of the simulated arm.
    pub model: RobotModel,
    /// The software version of the controller.
    pub software: SoftwareVersion,
    /// The seed of all random numbers of the simulation.
    pub seed: u64,
    /// The state of the controller at the start.
    pub state: StartState,
    /// Joint positions at the start \[rad\].
    pub q: [f64; 6],
    /// Deviations of the joint drives from ideal ones.
    pub drive: Drive,
    /// The behaviour of the arm when the time `t` of a `speedj` has passed and its program has ended. `None` depends on
    /// the software.
    pub after_t: Option<AfterT>,
    /// Reaction to a client's text while the robot is in local mode. `None` depends on the software.
    pub local_mode: Option<LocalMode>,
    /// `true` if the switch to local control also closes 30003 when it closes 30001 and 30002: sources disagree.
    pub local_closes_realtime: bool,
    /// `true` if the published value of the trajectory limiter is 0 while no motion is commanded; not documented.
    pub limiter_rests: bool,
    /// The number n if every n-th replacement of a running program by another one is published as no running program
    /// for a cycle; `None` for never. Not documented.
    pub flicker: Option<NonZeroU32>,
    /// The control cycles that the flag `isProgramRunning` of a state message represents.
    pub program_told: ProgramTold,
    /// Services of the controller that are switched off at the start (5.10 on).
    pub services_off: Vec<Service>,
    /// The client interfaces that PolyScope X serves; not confirmed on a real controller.
    pub polyscope_x: PolyScopeXOptions,
    /// `true` if the assignment `digital_out[n] = x` in a program has the effect of `set_digital_out(n, x)`. `None`
    /// depends on the software: it has this effect on the CB series.
    pub assignable_outputs: Option<bool>,
    /// `true` if periodic states of e-Series and PolyScope X contain kinematics info of 9 B: sources disagree, and
    /// the vendor's client library ends on it.
    pub short_kinematics: bool,
    /// `true` if configuration data have the fields of the newest software. `None` depends on the software.
    pub long_configuration: Option<bool>,
    /// Time before the start of a control cycle by which a program's text must have arrived to run in that cycle.
    /// `None` depends on the software ([`Firmware::intake`]).
    pub intake: Option<Duration>,
    /// Compile time that delays the start of long programs; the true values are not published.
    pub compiling: Compiling,
    /// Undocumented properties of the URScript function `servoj`.
    pub servoj: ServoJ,
    /// The deceleration when a program ends, is paused or is aborted while the arm moves and the firmware stops it
    /// \[rad/s²\]; not documented, assumed.
    pub end_deceleration: f64,
    /// Deceleration of `stopj` on software that ignores its argument (before 3.2) \[rad/s²\]; not documented,
    /// assumed.
    pub fixed_stop_deceleration: f64,
    /// The deceleration of protective, safeguard and emergency stops, and of stops by a violation or fault of the
    /// safety system \[rad/s²\]; not documented, assumed.
    pub stop_deceleration: f64,
    /// Number of past control cycles that `get_actual_joint_positions_history` can return; not documented, assumed.
    pub joint_history: usize,
    /// `true` if a client that closes before it has read 79 bytes loses a program that has not started
    /// (core/docs/protocol/ur-client-interfaces.md 5.7).
    pub needs_79_bytes: bool,
    /// `true` if the box has the Euromap 67 interface, which lengthens the masterboard data.
    pub euromap67: bool,
    /// Durations of the steps of switching the arm on.
    pub power: PowerTiming,
    /// Value of the controller's own clock at the start.
    pub clock: Duration,
    /// Error codes that 30001 reports with stops; only the code of one stop is known.
    pub stop_codes: StopCodes,
    /// `true` if the controller uses the message format of software 5.9 for safety modes and error codes on 30001.
    /// `None` depends on the software: from 3.14 on. The form of 3.3 to 3.13 is not known.
    pub later_reports: Option<bool>,
    /// Surface that the tool centre point can touch; `None` for no surface.
    pub surface: Option<Surface>,
    /// Undocumented properties of force mode, freedrive and direct torque.
    pub force: ForceOptions,
    /// Undocumented properties of RTDE.
    pub rtde: RtdeOptions,
    /// Undocumented properties of the dashboard server.
    pub dashboard: DashboardOptions,
    /// Undocumented properties of the Robot API.
    pub robot_api: RobotApiOptions,
    /// Number of consecutive control cycles in which a program may use all its instructions without waiting; in the
    /// cycle after them it ends with an error. Not documented, assumed.
    pub overruns: u32,
    /// Undocumented properties of the TCP sockets that programs open.
    pub sockets: SocketOptions,
    /// Undocumented properties of scripts that use ROS 2.
    pub ros: RosOptions,
    /// Undocumented properties of interpreter mode.
    pub interpreter: InterpreterOptions,
    /// Address from which the URCap "External Control" (3.7, 5.1 on) fetches its program; `None` if it is not
    /// installed.
    pub external_control: Option<ExternalControl>,
    /// A gripper on the tool's serial line, with the URCap that relays the line to the network (5.0 on); `None` for
    /// neither.
    pub tool_line: Option<ToolGripper>,
    /// The programs and installations on the disk of the operator's interface.
    pub files: Files,
    /// Durations of operations of the operator's interface, such as loading a program.
    pub operations: OperationTiming,
    /// The robot's serial number.
    pub serial_number: String,
    /// Faults to be injected into the simulation, with their times.
    pub faults: Vec<Fault>,
}

impl Options {
    /// Returns the options of this arm with this software: running, non-ideal drive, tool pointing down, no faults.
    #[must_use]
    pub fn new(model: RobotModel, software: SoftwareVersion) -> Self {
        use std::f64::consts::FRAC_PI_2;
        Self {
            model,
            software,
            seed: 1,
            state: StartState::Running,
            q: [0.0, -FRAC_PI_2, -FRAC_PI_2, -FRAC_PI_2, FRAC_PI_2, 0.0],
            drive: Drive::default(),
            after_t: None,
            local_mode: None,
            local_closes_realtime: false,
            limiter_rests: false,
            flicker: None,
            program_told: ProgramTold::default(),
            services_off: vec![],
            polyscope_x: PolyScopeXOptions::default(),
            assignable_outputs: None,
            short_kinematics: false,
            long_configuration: None,
            intake: None,
            compiling: Compiling::default(),
            servoj: ServoJ::default(),
            end_deceleration: 10.0,
            fixed_stop_deceleration: 3.0,
            stop_deceleration: 15.0,
            joint_history: JOINT_HISTORY,
            needs_79_bytes: false,
            euromap67: false,
            power: PowerTiming::default(),
            clock: Duration::from_secs(100),
            stop_codes: StopCodes::default(),
            later_reports: None,
            surface: None,
            force: ForceOptions::default(),
            rtde: RtdeOptions::default(),
            dashboard: DashboardOptions::default(),
            robot_api: RobotApiOptions::default(),
            overruns: 100,
            sockets: SocketOptions::default(),
            ros: RosOptions::default(),
            interpreter: InterpreterOptions::default(),
            external_control: None,
            tool_line: None,
            files: Files::default(),
            operations: OperationTiming::default(),
            serial_number: SERIAL_NUMBER.to_owned(),
            faults: vec![],
        }
    }

    /// Returns the options of the arm of 5 kg payload for this software: a UR5, or a UR5e from 5.0.
    #[must_use]
    pub fn for_software(software: SoftwareVersion) -> Self {
        Self::new(if software.at_least(5, 0) { RobotModel::Ur5e } else { RobotModel::Ur5 }, software)
    }
}

/// The client interfaces that PolyScope X serves; not confirmed on a real controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolyScopeXOptions {
    /// `true` if port 30003 exists, with the packet format of the last e-Series software.
    pub realtime: bool,
    /// `true` if PolyScope X has the read-only ports 30011 to 30013.
    pub read_only: bool,
}

impl Default for PolyScopeXOptions {
    fn default() -> Self {
        Self { realtime: true, read_only: true }
    }
}

/// An error: options that no real controller can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// The arm model does not support this software version.
    Pairing(UnknownPairing),
    /// Local control was requested, at the start or as a fault, on software that does not distinguish it from remote
    /// control.
    NoLocalControl(SoftwareVersion),
    /// Remote control that was never enabled was requested, on software without that setting.
    NoRemoteSetting(SoftwareVersion),
    /// A service shall be off, at the start or as a fault, on software whose services are always on.
    NoServiceSwitches(SoftwareVersion),
    /// The URCap "External Control" was requested on software that it does not run on.
    NoExternalControl(SoftwareVersion),
    /// A gripper on the tool's serial line was requested, on an arm that has no such line.
    NoToolLine(SoftwareVersion),
}

impl std::fmt::Display for OptionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pairing(error) => error.fmt(f),
            Self::NoLocalControl(software) => {
                let SoftwareVersion { major, minor, .. } = software;
                write!(f, "software {major}.{minor} has no local control: it needs e-Series, software 5.0")
            }
            Self::NoRemoteSetting(software) => {
                let SoftwareVersion { major, minor, .. } = software;
                write!(f, "software {major}.{minor} has no setting that disables remote control: it needs 5.x")
            }
            Self::NoServiceSwitches(software) => {
                let SoftwareVersion { major, minor, .. } = software;
                write!(f, "services of software {major}.{minor} cannot be switched off: it needs 5.10")
            }
            Self::NoExternalControl(software) => {
                let SoftwareVersion { major, minor, .. } = software;
                write!(f, "the URCap External Control does not run on software {major}.{minor}: it needs 3.7 or 5.1")
            }
            Self::NoToolLine(software) => {
                let SoftwareVersion { major, minor, .. } = software;
                write!(
                    f,
                    "arms with software {major}.{minor} have no serial line at the tool: it needs e-Series, software 5.0"
                )
            }
        }
    }
}

impl std::error::Error for OptionsError {}

impl Options {
    /// Checks that a real controller could have these options.
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        ArmModel::of(self.model).runs(self.software).map_err(OptionsError::Pairing)?;
        let local = self.state == StartState::Local || self.faults.iter().any(|fault| fault.kind == FaultKind::Local);
        if local && !Firmware(self.software).has_remote_control() {
            return Err(OptionsError::NoLocalControl(self.software));
        }
        // On PolyScope X, by the vendor's own tests, no command is accepted without remote control.
        let not_enabled = self.state == StartState::RemoteNotEnabled;
        if not_enabled && self.software.generation() != Generation::ESeries {
            return Err(OptionsError::NoRemoteSetting(self.software));
        }
        let switched = |fault: &Fault| matches!(fault.kind, FaultKind::ServiceOff(_));
        let switches = !self.services_off.is_empty() || self.faults.iter().any(switched);
        if switches && !Firmware(self.software).has_service_switches() {
            return Err(OptionsError::NoServiceSwitches(self.software));
        }
        let runs_external_control = if self.software.generation() == Generation::ESeries {
            self.software.at_least(5, 1)
        } else {
            self.software.at_least(3, 7)
        };
        if self.external_control.is_some() && !runs_external_control {
            return Err(OptionsError::NoExternalControl(self.software));
        }
        if self.tool_line.is_some() && !self.software.at_least(5, 0) {
            return Err(OptionsError::NoToolLine(self.software));
        }
        Ok(())
    }
}

impl Default for Options {
    /// Returns the options of a UR5e with software 5.15.
    fn default() -> Self {
        Self::for_software(SoftwareVersion::new(5, 15))
    }
}
