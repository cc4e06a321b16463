//! The reasons for which a sequence of requests to a controller ends before its goal.

use outrigger_wire::dashboard::{RequestKind, Unsupported, UserRole};
use outrigger_wire::robot::{ProgramState, RobotMode, SafetyMode, Text};
use outrigger_wire::time::Duration;

/// The reason for which a [`Sequence`](super::Sequence) of requests to a controller cannot reach, or did not reach, its
/// goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SequenceError {
    /// The controller's software does not support a request that the sequence needs.
    Unsupported(Unsupported),
    /// The controller is in local control and rejects requests that need remote control.
    LocalControl,
    /// The robot is in a stop that the sequence of requests does not clear.
    Safety(SafetyMode),
    /// The robot is in a mode that the sequence of requests cannot end.
    RobotMode(RobotMode),
    /// The robot is in a stop other than the one that a person has acknowledged.
    OtherStop {
        /// The stop that a person has acknowledged.
        acknowledged: SafetyMode,
        /// The safety mode that was found in place of the acknowledged stop.
        found: SafetyMode,
    },
    /// The stop did not end in time after the request to clear it.
    NotCleared {
        /// The safety mode at the end of the wait for the stop to end.
        mode: SafetyMode,
        /// The time for which the sequence of requests waited for the stop to end.
        waited: Duration,
    },
    /// The robot was not in the expected robot mode at the end of the wait.
    NotReached {
        /// The robot mode that was expected but not reached.
        wanted: RobotMode,
        /// The robot mode that was found when the wait for the expected one ended.
        found: RobotMode,
        /// The time for which the sequence of requests waited for the expected robot mode.
        waited: Duration,
    },
    /// The controller's program did not reach the requested state in time.
    Program {
        /// The request for the program: load, play, pause or stop.
        request: RequestKind,
        /// The state of the program at the end of the wait; `None` if the controller does not report it.
        found: Option<ProgramState>,
        /// The time for which the sequence of requests waited for the requested state of the program.
        waited: Duration,
    },
    /// The user of the pendant still has this role, although the sequence of requests has set another one.
    Role(UserRole),
    /// The controller has no program file with this name.
    NoSuchFile(Text<120>),
    /// The controller refused a request of the sequence.
    Refused {
        /// The kind of the request that the controller refused.
        request: RequestKind,
        /// The text with which the controller refused the request.
        text: Text<120>,
    },
    /// The controller sent an unknown reply to a request of the sequence.
    NoAnswer {
        /// The kind of the request that got the unknown reply.
        request: RequestKind,
        /// The text of the controller's unknown reply.
        text: Text<120>,
    },
}

impl core::fmt::Display for SequenceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unsupported(unsupported) => unsupported.fmt(f),
            Self::LocalControl => f.write_str("the controller is in local control"),
            Self::Safety(mode) => write!(f, "the safety mode is {mode}"),
            Self::RobotMode(mode) => write!(f, "the robot mode is {mode}"),
            Self::OtherStop { acknowledged, found } => {
                write!(f, "{acknowledged} was to be cleared, and now the safety mode is {found}")
            }
            Self::NotCleared { mode, waited } => {
                write!(f, "the safety mode is still {mode} after {} s", seconds(*waited))
            }
            Self::NotReached { wanted, found, waited } => {
                write!(f, "the robot mode is still {found} after {} s, not {wanted}", seconds(*waited))
            }
            Self::Program { request, found, waited } => {
                write!(f, "{} s after '{}' the program is ", seconds(*waited), request.words())?;
                match found {
                    Some(state) => state.fmt(f),
                    None => f.write_str("not the requested one"),
                }
            }
            Self::Role(role) => write!(f, "the user role is still {}", role.word()),
            Self::NoSuchFile(name) => write!(f, "the controller has no file {name}"),
            Self::Refused { request, text } => write!(f, "the controller refuses '{}': {text}", request.words()),
            Self::NoAnswer { request, text } => {
                write!(f, "the controller answers '{}' with an unknown text: {text}", request.words())
            }
        }
    }
}

impl core::error::Error for SequenceError {}

fn seconds(span: Duration) -> u64 {
    span.as_millis() / 1_000
}

impl SequenceError {
    /// Returns a hint at what a person can do if the sequence of requests ended for this reason.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Unsupported(_) => "use the teach pendant",
            Self::LocalControl => "switch to remote control on the teach pendant",
            Self::Safety(mode) | Self::NotCleared { mode, .. } => advice_on(*mode),
            Self::OtherStop { .. } => "check the robot again",
            Self::RobotMode(RobotMode::ConfirmSafety) => "confirm the safety configuration on the teach pendant",
            Self::RobotMode(RobotMode::Backdrive) => "end freedrive at the robot",
            Self::RobotMode(_) => "check the teach pendant",
            Self::NotReached { .. } => "see on the teach pendant what the arm waits for",
            Self::Program { .. } => "check the teach pendant: the program may wait for an answer there",
            Self::Role(_) => "set it on the teach pendant",
            Self::NoSuchFile(_) => "give its path from the folder of programs, or the whole path",
            Self::Refused { .. } => "see the teach pendant's log",
            Self::NoAnswer { .. } => "check the teach pendant before you try again",
        }
    }
}

/// Returns a hint at what a person can do to end a stop of the robot with this safety mode.
const fn advice_on(mode: SafetyMode) -> &'static str {
    match mode {
        SafetyMode::Normal | SafetyMode::Reduced => "no action is needed",
        SafetyMode::ProtectiveStop => "find the cause at the robot, then recover",
        SafetyMode::Recovery => "the arm is beyond its limits: move it back by hand, on the teach pendant",
        SafetyMode::SafeguardStop
        | SafetyMode::AutomaticModeSafeguardStop
        | SafetyMode::ImmiSafeguardStop
        | SafetyMode::ProfisafeAutomaticModeSafeguardStop
        | SafetyMode::ProfisafeSafeguardStop
        | SafetyMode::SafetyApiSafeguardStop => "close the safeguard and press its reset, if any",
        SafetyMode::SystemEmergencyStop
        | SafetyMode::RobotEmergencyStop
        | SafetyMode::ImmiEmergencyStop
        | SafetyMode::ProfisafeEmergencyStop => "release the emergency stop, then bring the robot up",
        SafetyMode::Violation | SafetyMode::Fault => "find the cause at the robot, then recover",
        SafetyMode::SystemThreePositionEnablingStop | SafetyMode::TpThreePositionEnablingStop => {
            "hold the enabling device in its middle position"
        }
        SafetyMode::ValidateJointId => "confirm the joints on the teach pendant",
        SafetyMode::UndefinedSafetyMode
        | SafetyMode::ProfisafeWaitingForParameters
        | SafetyMode::IoPlaneStop
        | SafetyMode::Unknown(_) => "check the teach pendant",
    }
}
