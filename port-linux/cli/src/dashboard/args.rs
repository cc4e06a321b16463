//! The arguments of `outrigger dashboard`.

use clap::{Args, Subcommand, ValueEnum};
use outrigger_config::RobotAddress;
use outrigger_wire::dashboard::{Argument, FlightReport, OperationalMode, Request, UserRole};

/// The arguments of `outrigger dashboard`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DashboardArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// Query or command; without one, every value is queried once
    #[command(subcommand)]
    pub command: Option<Command>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long, global = true)]
    pub json: bool,
    /// Port of PolyScope X's Robot API, used if there is no dashboard server; default: 80, or B + 16 with port base B
    #[arg(long, global = true, value_name = "PORT")]
    pub robot_api_port: Option<u16>,
}

/// A query or command for the controller.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Show every value that the controller reports; same as no command
    Status,
    /// Power on, release the brakes, wait until the arm is RUNNING
    BringUp,
    /// Show why the robot is stopped; once you acknowledge it, clear the stop and bring the robot up
    #[command(after_help = "\
A protective stop is unlocked after 5 s; after a violation or a fault the safety system is \
restarted. Then power and brakes, until the arm is RUNNING. No program is started and nothing moves. \
On a terminal you are prompted; elsewhere --acknowledge confirms that you have looked at the robot. \
Release an emergency stop and close a safeguard at the robot.

Examples:
  outrigger dashboard 192.168.56.101 recover
  outrigger dashboard 127.0.0.1:40000 recover --acknowledge")]
    Recover {
        /// I have looked at the robot, the cause is gone, and no person is in reach
        #[arg(long)]
        acknowledge: bool,
    },
    /// Load a program, e.g. cell/weld.urp, and wait until it is loaded
    Load {
        /// Name in the folder of programs, or the whole path
        #[arg(value_name = "PROGRAM", value_parser = text)]
        program: String,
    },
    /// Start the loaded program, or resume a paused one. This moves the robot
    Play,
    /// Pause the program that runs
    Pause,
    /// Stop the program, or the script, that runs
    Stop,
    /// Prevent the teach pendant from moving the arm; prints how to undo it
    LockPendant,
    /// Restore what the teach pendant was allowed to do
    UnlockPendant {
        /// Role of the pendant's user to restore (CB3)
        #[arg(long, value_name = "ROLE", default_value = "programmer", value_parser = role)]
        role: UserRole,
        /// Previous operational mode (e-Series); without it the mode is unchanged and the pendant may choose again
        #[arg(long, value_name = "MODE", value_parser = mode)]
        mode: Option<OperationalMode>,
    },
    /// Show whether the controller is in remote control
    Remote,
    /// Show the version of the software
    Version,
    /// Show the robot mode
    RobotMode,
    /// Show the safety mode
    SafetyMode,
    /// Show the safety mode, with the kinds of safeguard stop distinguished
    SafetyStatus,
    /// Show the state of the loaded program
    Program,
    /// Show the loaded program
    Loaded,
    /// Show whether the loaded program is saved
    Saved,
    /// Show whether a program runs
    Running,
    /// Show the arm's serial number
    Serial,
    /// Show the arm's model
    Model,
    /// Show or set the role of the pendant's user (CB3)
    UserRole {
        /// Role to set: programmer, operator, none, locked or restricted
        #[arg(value_name = "ROLE", value_parser = role)]
        role: Option<UserRole>,
    },
    /// Show or set the operational mode, manual or automatic (e-Series)
    OperationalMode {
        /// Mode to set: `manual` or `automatic`; `clear` lets the pendant choose again
        #[arg(value_name = "MODE")]
        mode: Option<Mode>,
    },
    /// Power on the arm
    PowerOn,
    /// Power off the arm
    PowerOff,
    /// Release the arm's brakes
    BrakeRelease,
    /// Unlock a protective stop, and nothing else; `recover` does the whole sequence
    UnlockProtectiveStop {
        /// I have looked at the robot, the cause is gone, and no person is in reach
        #[arg(long, required = true)]
        acknowledge: bool,
    },
    /// Restart the safety system, and nothing else; `recover` does the whole sequence
    RestartSafety {
        /// I have looked at the robot, the cause is gone, and no person is in reach
        #[arg(long, required = true)]
        acknowledge: bool,
    },
    /// Load an installation; the arm is off afterwards
    LoadInstallation {
        /// Name in the folder of programs, or the whole path
        #[arg(value_name = "INSTALLATION", value_parser = text)]
        installation: String,
    },
    /// Show a pop-up on the teach pendant
    Popup {
        /// Text of the pop-up, one line
        #[arg(value_name = "TEXT", value_parser = text)]
        text: String,
    },
    /// Close the pop-up on the teach pendant
    ClosePopup,
    /// Close the safety system's pop-up on the teach pendant
    CloseSafetyPopup,
    /// Write a line to the controller's log
    Log {
        /// Text to log, one line
        #[arg(value_name = "TEXT", value_parser = text)]
        text: String,
    },
    /// Write the controller's log to its disk
    SaveLog,
    /// Write a flight report; takes minutes
    FlightReport {
        /// Kind of report: controller, software or system; without one, the controller chooses
        #[arg(value_name = "KIND", value_parser = report)]
        kind: Option<FlightReport>,
    },
    /// Write a support file; takes up to ten minutes
    SupportFile {
        /// Folder on the controller to write the support file to
        #[arg(value_name = "FOLDER", value_parser = text)]
        folder: String,
    },
    /// Switch off arm and controller
    Shutdown,
    /// Close the connection, which shows whether the server answers
    Quit,
}

/// An operational mode that `operational-mode` sets.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// A person may jog the arm and change programs.
    Manual,
    /// Programs run; the pendant does not move the arm.
    Automatic,
    /// The teach pendant's user may choose the mode.
    Clear,
}

impl Command {
    /// Returns the request of this command; `None` if the command needs several requests.
    #[must_use]
    pub(crate) fn request(&self) -> Option<Request<'_>> {
        Some(match self {
            Self::Status
            | Self::BringUp
            | Self::Recover { .. }
            | Self::Load { .. }
            | Self::Play
            | Self::Pause
            | Self::Stop
            | Self::LockPendant
            | Self::UnlockPendant { .. } => return None,
            Self::Remote => Request::IsInRemoteControl,
            Self::Version => Request::PolyscopeVersion,
            Self::RobotMode => Request::RobotMode,
            Self::SafetyMode => Request::SafetyMode,
            Self::SafetyStatus => Request::SafetyStatus,
            Self::Program => Request::ProgramState,
            Self::Loaded => Request::LoadedProgram,
            Self::Saved => Request::IsProgramSaved,
            Self::Running => Request::Running,
            Self::Serial => Request::SerialNumber,
            Self::Model => Request::RobotModel,
            Self::UserRole { role } => role.map_or(Request::UserRole, Request::SetUserRole),
            Self::OperationalMode { mode: None } => Request::OperationalMode,
            Self::OperationalMode { mode: Some(Mode::Manual) } => Request::SetOperationalMode(OperationalMode::Manual),
            Self::OperationalMode { mode: Some(Mode::Automatic) } => {
                Request::SetOperationalMode(OperationalMode::Automatic)
            }
            Self::OperationalMode { mode: Some(Mode::Clear) } => Request::ClearOperationalMode,
            Self::PowerOn => Request::PowerOn,
            Self::PowerOff => Request::PowerOff,
            Self::BrakeRelease => Request::BrakeRelease,
            Self::UnlockProtectiveStop { .. } => Request::UnlockProtectiveStop,
            Self::RestartSafety { .. } => Request::RestartSafety,
            Self::LoadInstallation { installation } => return with(Request::LoadInstallation, installation),
            Self::Popup { text } => return with(Request::Popup, text),
            Self::ClosePopup => Request::ClosePopup,
            Self::CloseSafetyPopup => Request::CloseSafetyPopup,
            Self::Log { text } => return with(Request::AddToLog, text),
            Self::SaveLog => Request::SaveLog,
            Self::FlightReport { kind } => Request::GenerateFlightReport(*kind),
            Self::SupportFile { folder } => return with(Request::GenerateSupportFile, folder),
            Self::Shutdown => Request::Shutdown,
            Self::Quit => Request::Quit,
        })
    }
}

/// Returns the dashboard request with the argument `text`, which was validated when the command line was read.
fn with<'t>(request: impl FnOnce(Argument<'t>) -> Request<'t>, text: &'t str) -> Option<Request<'t>> {
    Argument::new(text).ok().map(request)
}

fn text(text: &str) -> Result<String, String> {
    Argument::new(text).map(|argument| argument.as_str().to_owned()).map_err(|error| error.to_string())
}

fn role(word: &str) -> Result<UserRole, String> {
    one_of(word, UserRole::ALL, UserRole::word)
}

fn mode(word: &str) -> Result<OperationalMode, String> {
    one_of(word, OperationalMode::ALL, OperationalMode::word)
}

fn report(word: &str) -> Result<FlightReport, String> {
    one_of(word, FlightReport::ALL, FlightReport::word)
}

fn one_of<T: Copy>(word: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let known = all.iter().copied().find(|known| name(*known).eq_ignore_ascii_case(word));
    known.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|known| name(*known)).collect();
        format!("expected one of {}", names.join(", "))
    })
}
