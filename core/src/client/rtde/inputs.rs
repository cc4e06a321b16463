//! RTDE inputs that are written together, and the errors of writing them.

use outrigger_wire::WireError;
use outrigger_wire::rtde::DynamicRecipe;

/// A recipe of RTDE inputs, which are written together.
#[derive(Debug)]
pub struct Inputs<'n, 'm> {
    pub(super) recipe: DynamicRecipe<'n, 'm>,
    pub(super) number: Option<u8>,
}

impl<'n, 'm> Inputs<'n, 'm> {
    /// Creates a recipe of RTDE inputs that will be written together.
    #[must_use]
    pub const fn new(recipe: DynamicRecipe<'n, 'm>) -> Self {
        Self { recipe, number: None }
    }

    /// Returns the inputs of the recipe, each with its state on this connection.
    #[must_use]
    pub const fn recipe(&self) -> &DynamicRecipe<'n, 'm> {
        &self.recipe
    }

    /// Returns the controller's number for the recipe; `None` if it is not set up.
    #[must_use]
    pub const fn number(&self) -> Option<u8> {
        self.number
    }
}

/// The reason for which RTDE inputs, or a text for the controller's log, were not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WriteError {
    /// A text was not sent, because no RTDE connection is established, or it has failed.
    NotConnected,
    /// The inputs were not written, because the controller sends no data: it was not started or is paused, or no
    /// connection is established.
    NotStarted,
    /// The recipe of inputs does not exist, or the controller has refused it.
    NotSetUp,
    /// The values do not match the recipe, or the transmit memory has no room for them.
    Values(WireError),
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotConnected => f.write_str("there is no connection"),
            Self::NotStarted => f.write_str("no data received"),
            Self::NotSetUp => f.write_str("these inputs are not set up"),
            Self::Values(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for WriteError {}
