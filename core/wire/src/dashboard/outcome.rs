//! The result of a dashboard command, in one word.

use super::reply::{Refusal, Reply};

/// The result of a dashboard command, reduced to what its requester needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Outcome {
    /// The controller accepted the command. Its effect shows in the robot mode and the safety mode.
    Taken,
    /// The controller is in local control and rejects commands from the network.
    LocalControl,
    /// The controller rejects the dashboard command in its present state, or has no file of the requested name.
    Refused,
    /// The controller does not unlock the protective stop, because it occurred less than 5 s ago.
    TooEarly,
    /// The controller's software does not support the dashboard command.
    NotKnown,
    /// The controller has no dashboard server: nothing listens at its port, or another service does.
    NotConnected,
    /// The dashboard server sent no reply in time, or one that is not understood. The command may have been executed.
    NoAnswer,
    /// The dashboard command was not sent, because another one is in progress.
    Busy,
    /// The arm is being commanded or stopped, so no dashboard command was sent.
    Commanding,
    /// This kind of controller has no dashboard server.
    NoDashboard,
}

impl Outcome {
    /// The list of all results of a dashboard command, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Taken,
        Self::LocalControl,
        Self::Refused,
        Self::TooEarly,
        Self::NotKnown,
        Self::NotConnected,
        Self::NoAnswer,
        Self::Busy,
        Self::Commanding,
        Self::NoDashboard,
    ];

    /// Returns the name of the result used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Taken => "Taken",
            Self::LocalControl => "LocalControl",
            Self::Refused => "Refused",
            Self::TooEarly => "TooEarly",
            Self::NotKnown => "NotKnown",
            Self::NotConnected => "NotConnected",
            Self::NoAnswer => "NoAnswer",
            Self::Busy => "Busy",
            Self::Commanding => "Commanding",
            Self::NoDashboard => "NoDashboard",
        }
    }

    /// Returns a description of the result with the operator's next step, as a clause that starts in lower case.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Taken => "the controller has accepted it; watch robot mode and safety mode",
            Self::LocalControl => {
                "the controller is in local control: switch it to remote control on the teach pendant"
            }
            Self::Refused => "the controller refuses it in the state that it is in: the teach pendant tells more",
            Self::TooEarly => "a protective stop is locked for 5 s after it occurred: ask again",
            Self::NotKnown => "this controller's software does not know the command: use the teach pendant",
            Self::NotConnected => {
                "the controller has no dashboard server at port 29999: see whether it is on, and its service is enabled"
            }
            Self::NoAnswer => "the dashboard server did not answer in time; it may have been done: look at the robot",
            Self::Busy => "another command to the dashboard server is under way: ask again",
            Self::Commanding => "the arm is commanded, or being stopped: stop it first",
            Self::NoDashboard => "this kind of controller has no dashboard server",
        }
    }

    /// Converts the dashboard server's reply to a command into the command's result.
    pub fn of_reply(reply: &Reply<'_>) -> Self {
        match reply {
            Reply::Done(_) => Self::Taken,
            Reply::Refused(Refusal::NeedsRemoteControl) => Self::LocalControl,
            Reply::Refused(Refusal::TooEarly) => Self::TooEarly,
            Reply::Refused(Refusal::NotUnderstood(_)) => Self::NotKnown,
            Reply::Refused(Refusal::FileNotFound(_) | Refusal::Failed(_)) => Self::Refused,
            _ => Self::NoAnswer,
        }
    }
}
