//! The events that a client reports.

use crate::link::Sequence;
use outrigger_wire::frame::FrameError;
use outrigger_wire::rtde::{ControllerVersion, DataType, PackageType, Protocol, RecipeData, RecipeError, TextMessage};
use outrigger_wire::time::Duration;
use outrigger_wire::{WireError, rtde};

/// An event of a [`Client`](super::Client). Names are those of the recipes (`'n`), all other data is in the receive
/// memory.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e, 'n> {
    /// The version of the protocol from now on.
    Protocol(Protocol),
    /// The controller's software version, as it replied to the request for it.
    Controller(ControllerVersion),
    /// An optional output that this controller does not provide; its values are absent.
    Absent(RecipeError<'n>),
    /// The type of an output on the controller differs from the registry; it is read as the controller sends it.
    OtherType {
        /// The name of the output.
        name: &'n str,
        /// The type in the registry.
        expected: DataType,
        /// The type on the controller.
        answered: DataType,
    },
    /// The outputs are set up.
    Outputs,
    /// This recipe of inputs is set up, and may be written once data flows.
    Inputs {
        /// The index of the recipe, in the order passed to the client.
        recipe: usize,
    },
    /// An input is owned by another client, or by our own previous connection; it is requested again.
    InUse {
        /// The index of the recipe.
        recipe: usize,
        /// The name of the input.
        name: &'n str,
        /// The time until the next attempt.
        again_in: Duration,
    },
    /// This recipe of inputs cannot be written on this connection. Outputs are not affected.
    InputsRefused {
        /// The index of the recipe.
        recipe: usize,
        /// The cause for which the recipe cannot be written.
        error: RecipeError<'n>,
    },
    /// Data flows.
    Started,
    /// The data is paused until [`Input::Start`](super::Input::Start).
    Paused,
    /// A data package with values of the outputs.
    Data(Data<'e, 'n>),
    /// A text message of the controller for its users.
    Text(TextMessage<'e>),
    /// The controller waits for a person to confirm its safety settings (PolyScope X), and sends no reply until then.
    Unconfirmed,
    /// A package of this type arrived without a request; it was ignored.
    Unexpected(PackageType),
    /// Data of a recipe that was not set up; ignored.
    UnknownRecipe(Option<u8>),
    /// A package that cannot be parsed; it was ignored.
    Malformed(WireError),
    /// A package longer than the receive memory was skipped.
    Skipped(FrameError),
    /// The connection failed and must be closed.
    Failed(Failure<'n>),
}

impl<'n> Event<'_, 'n> {
    /// Returns the event if no part of it is in the receive memory.
    pub(super) fn kept(self) -> Option<Event<'n, 'n>> {
        Some(match self {
            Self::Data(_) | Self::Text(_) => return None,
            Self::Protocol(protocol) => Event::Protocol(protocol),
            Self::Controller(version) => Event::Controller(version),
            Self::Absent(error) => Event::Absent(error),
            Self::OtherType { name, expected, answered } => Event::OtherType { name, expected, answered },
            Self::Outputs => Event::Outputs,
            Self::Inputs { recipe } => Event::Inputs { recipe },
            Self::InUse { recipe, name, again_in } => Event::InUse { recipe, name, again_in },
            Self::InputsRefused { recipe, error } => Event::InputsRefused { recipe, error },
            Self::Started => Event::Started,
            Self::Paused => Event::Paused,
            Self::Unconfirmed => Event::Unconfirmed,
            Self::Unexpected(package_type) => Event::Unexpected(package_type),
            Self::UnknownRecipe(number) => Event::UnknownRecipe(number),
            Self::Malformed(error) => Event::Malformed(error),
            Self::Skipped(error) => Event::Skipped(error),
            Self::Failed(failure) => Event::Failed(failure),
        })
    }
}

/// One data package.
#[derive(Clone, Copy, Debug)]
pub struct Data<'e, 'n> {
    /// The values of the outputs, in the order of the recipe.
    pub values: RecipeData<'e, 'n>,
    /// The position of the package in the sequence; `None` if the recipe has neither `timestamp` nor `control_step`.
    pub sequence: Option<Sequence>,
    /// `true` if the package followed the previous one more than a period later than the controller sent it; `false`
    /// if the recipe has no `timestamp`.
    pub late: bool,
}

/// A request that the client sends to the controller, in the order of the negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum SetupStep {
    /// The version of the protocol.
    Protocol,
    /// The software version of the controller.
    Controller,
    /// The set-up of the outputs.
    Outputs,
    /// The set-up of this recipe of inputs.
    Inputs(u8),
    /// The start of the data.
    Start,
    /// The pause of the data.
    Pause,
}

impl SetupStep {
    /// Returns the name of the request used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol version",
            Self::Controller => "controller version",
            Self::Outputs => "set-up of outputs",
            Self::Inputs(_) => "set-up of inputs",
            Self::Start => "start",
            Self::Pause => "pause",
        }
    }
}

/// The reason for which a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Failure<'n> {
    /// A required output is missing or invalid: its name, and the fault.
    Outputs(RecipeError<'n>),
    /// The controller has none of the requested outputs.
    NoOutputs,
    /// No reply to a request after all attempts.
    NoReply(SetupStep),
    /// The controller refuses to send data.
    NotStarted,
    /// The controller's safety settings were not confirmed for too long.
    Unconfirmed,
    /// Data flowed, and then stopped for too long.
    Silent,
    /// The stream does not consist of consecutive packages.
    LostSync(FrameError),
    /// A request does not fit into the transmit memory, or is longer than a controller accepts.
    Request(WireError),
}

impl core::fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Outputs(error) => write!(f, "{error}"),
            Self::NoOutputs => f.write_str("this controller has no such outputs"),
            Self::NoReply(step) => write!(f, "no answer to the {}", step.name()),
            Self::NotStarted => f.write_str("the controller refuses to send data"),
            Self::Unconfirmed => f.write_str("the controller's safety settings are not confirmed: confirm them there"),
            Self::Silent => f.write_str("data stopped"),
            Self::LostSync(error) => write!(f, "{error}"),
            Self::Request(error) if usize::from(error.need) == rtde::MAX_NAMES => {
                write!(f, "{} bytes of names, and a controller takes {}", error.have, error.need)
            }
            Self::Request(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for Failure<'_> {}
