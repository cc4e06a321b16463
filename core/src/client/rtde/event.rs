//! What a client reports.

use crate::link::Sequence;
use outrigger_wire::frame::FrameError;
use outrigger_wire::rtde::{ControllerVersion, DataType, PackageType, Protocol, RecipeData, RecipeError, TextMessage};
use outrigger_wire::time::Duration;
use outrigger_wire::{WireError, rtde};

/// Something that came of an input; names are those of the recipes (`'n`), everything else lies in receive memory.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e, 'n> {
    /// The form of packages from now on.
    Protocol(Protocol),
    /// The controller's software.
    Controller(ControllerVersion),
    /// An optional output that this controller does not give; its values are absent.
    Absent(RecipeError<'n>),
    /// The controller gives an output another type than the registry; it is read as that.
    OtherType {
        /// The output.
        name: &'n str,
        /// In the registry.
        expected: DataType,
        /// By the controller.
        answered: DataType,
    },
    /// The outputs are set up.
    Outputs,
    /// This recipe of inputs is set up, and may be written once data flows.
    Inputs {
        /// Which recipe, in the order in which they were handed in.
        recipe: usize,
    },
    /// An input is owned by another client, or by our own connection before this one; it is asked for again.
    InUse {
        /// Which recipe.
        recipe: usize,
        /// The input.
        name: &'n str,
        /// When again.
        again_in: Duration,
    },
    /// This recipe of inputs cannot be written in this connection. Outputs go on.
    InputsRefused {
        /// Which recipe.
        recipe: usize,
        /// Why.
        error: RecipeError<'n>,
    },
    /// Data flows.
    Started,
    /// Data does not flow, until [`Input::Start`](super::Input::Start).
    Paused,
    /// Values of the outputs.
    Data(Data<'e, 'n>),
    /// The controller says something.
    Text(TextMessage<'e>),
    /// The controller waits for a person to confirm its safety settings (PolyScope X), and answers nothing until then.
    Unconfirmed,
    /// A package that nobody has asked for; ignored.
    Unexpected(PackageType),
    /// Data of a recipe that was not set up; ignored.
    UnknownRecipe(Option<u8>),
    /// A package that cannot be used; ignored.
    Malformed(WireError),
    /// A package longer than the receive memory was skipped.
    Skipped(FrameError),
    /// Nothing more comes of this connection.
    Failed(Failure<'n>),
}

impl<'n> Event<'_, 'n> {
    /// The same event, where nothing of it lies in receive memory.
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
    /// The values.
    pub values: RecipeData<'e, 'n>,
    /// Where it stands among those before it; none where the recipe has neither `timestamp` nor `control_step`.
    pub sequence: Option<Sequence>,
    /// It came more than a period later after the one before it than the controller sent it; `false` without `timestamp`.
    pub late: bool,
}

/// A question of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Step {
    /// Which form packages have.
    Protocol,
    /// Which software this is.
    Controller,
    /// Which types the outputs have.
    Outputs,
    /// Which types the inputs of this recipe have.
    Inputs(u8),
    /// Whether data flows.
    Start,
    /// Whether it pauses.
    Pause,
}

impl Step {
    /// The name used in reports.
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

/// Why nothing more comes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Failure<'n> {
    /// An output that is needed: its name, and what is wrong with it.
    Outputs(RecipeError<'n>),
    /// The controller has none of the outputs.
    NoOutputs,
    /// A question was not answered, as often as it was asked.
    NoReply(Step),
    /// The controller refuses to send data.
    NotStarted,
    /// Its safety settings were not confirmed for too long.
    Unconfirmed,
    /// Data flowed, and then none came for too long.
    Silent,
    /// The stream is not one package after the other.
    LostSync(FrameError),
    /// A question does not fit into the transmit memory, or is longer than a controller takes.
    Request(WireError),
}

impl core::fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Outputs(error) => write!(f, "{error}"),
            Self::NoOutputs => f.write_str("this controller has none of the outputs"),
            Self::NoReply(step) => write!(f, "no answer to the {}", step.name()),
            Self::NotStarted => f.write_str("the controller refuses to send data"),
            Self::Unconfirmed => f.write_str("the controller's safety settings are not confirmed: confirm them there"),
            Self::Silent => f.write_str("data stopped flowing"),
            Self::LostSync(error) => write!(f, "{error}"),
            Self::Request(error) if usize::from(error.need) == rtde::MAX_NAMES => {
                write!(f, "{} bytes of names, and a controller takes {}", error.have, error.need)
            }
            Self::Request(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for Failure<'_> {}
