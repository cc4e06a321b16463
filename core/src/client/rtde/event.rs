//! The events that an RTDE client reports.

use crate::link::Sequence;
use outrigger_wire::frame::FrameError;
use outrigger_wire::rtde::{ControllerVersion, DataType, PackageType, Protocol, RecipeData, RecipeError, TextMessage};
use outrigger_wire::time::Duration;
use outrigger_wire::{WireError, rtde};

/// An event of an RTDE [`Client`](super::Client). Names are borrowed from the recipes (`'n`), and the content of `Data`
/// and `Text` from the receive memory (`'e`); all other content is held by value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e, 'n> {
    /// The version of RTDE that is used on this connection from now on.
    Protocol(Protocol),
    /// The controller's software version, as it replied to the request for it.
    Controller(ControllerVersion),
    /// An optional output that this controller does not provide; its values are absent.
    Absent(RecipeError<'n>),
    /// The type of an output on the controller differs from that in this project's registry of RTDE variables; it is
    /// read as the controller sends it.
    OtherType {
        /// The name of the RTDE output whose type differs.
        name: &'n str,
        /// The type of the output in this project's registry of RTDE variables.
        expected: DataType,
        /// The type of the output on the controller.
        answered: DataType,
    },
    /// The outputs are set up: the controller has accepted their recipe.
    Outputs,
    /// This recipe of inputs is set up, and may be written once data flows.
    Inputs {
        /// The index of the recipe, in the order passed to the client.
        recipe: usize,
    },
    /// An input is owned by another client, or still by this client's previous connection; it is requested again.
    InUse {
        /// The index of the recipe of inputs, in the order passed to the client.
        recipe: usize,
        /// The name of the input that is in use.
        name: &'n str,
        /// The time until the input in use is requested again.
        again_in: Duration,
    },
    /// This recipe of inputs cannot be written on this connection. Outputs are not affected.
    InputsRefused {
        /// The index of the recipe of inputs, in the order passed to the client.
        recipe: usize,
        /// The cause for which the recipe of inputs cannot be written.
        error: RecipeError<'n>,
    },
    /// The controller has started to send RTDE data.
    Started,
    /// The controller's RTDE data is paused until [`Input::Start`](super::Input::Start).
    Paused,
    /// A data package with values of the outputs.
    Data(Data<'e, 'n>),
    /// A text message from the controller for its users.
    Text(TextMessage<'e>),
    /// The controller waits for a person to confirm its safety settings (PolyScope X), and sends no reply until then.
    Unconfirmed,
    /// A package of this type that no request has asked for; it was ignored.
    Unexpected(PackageType),
    /// A data package of a recipe that was not set up, with the recipe's number; ignored.
    UnknownRecipe(Option<u8>),
    /// A received package that cannot be parsed; it was ignored.
    Malformed(WireError),
    /// A received package longer than the receive memory was skipped.
    Skipped(FrameError),
    /// The RTDE connection failed and must be closed.
    Failed(Failure<'n>),
}

impl<'n> Event<'_, 'n> {
    /// Returns the event if no part of it is in the client's receive memory; otherwise `None`.
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

/// The content of one RTDE data package.
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

/// A request that the client sends to set up, start or pause the data, in the order of the negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum SetupStep {
    /// The request for a version of RTDE.
    Protocol,
    /// The request for the controller's software version.
    Controller,
    /// The request that sets up the recipe of outputs.
    Outputs,
    /// The request that sets up the recipe of inputs with this index.
    Inputs(u8),
    /// The request that the controller starts to send data.
    Start,
    /// The request that the controller pauses its data.
    Pause,
}

impl SetupStep {
    /// Returns the name of the set-up request used in reports.
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

/// The reason for which an RTDE connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Failure<'n> {
    /// A required output is missing or invalid on the controller: its name, and the fault.
    Outputs(RecipeError<'n>),
    /// The controller provides none of the requested outputs.
    NoOutputs,
    /// The controller sent no reply to a request after all attempts.
    NoReply(SetupStep),
    /// The controller refuses to start sending data.
    NotStarted,
    /// Nobody confirmed the controller's safety settings within the time allowed.
    Unconfirmed,
    /// The controller sent data, and then sent none for longer than the time allowed.
    Silent,
    /// The received stream does not consist of consecutive RTDE packages.
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
