//! Inputs that are written together, and why they are not.

use outrigger_wire::WireError;
use outrigger_wire::rtde::DynamicRecipe;

/// One recipe of inputs.
#[derive(Debug)]
pub struct Inputs<'n, 'm> {
    pub(super) recipe: DynamicRecipe<'n, 'm>,
    pub(super) number: Option<u8>,
}

impl<'n, 'm> Inputs<'n, 'm> {
    /// Inputs that will be written together.
    #[must_use]
    pub const fn new(recipe: DynamicRecipe<'n, 'm>) -> Self {
        Self { recipe, number: None }
    }

    /// The inputs, with what is known of each.
    #[must_use]
    pub const fn recipe(&self) -> &DynamicRecipe<'n, 'm> {
        &self.recipe
    }

    /// The controller's number for them; `None` where they are not set up.
    #[must_use]
    pub const fn number(&self) -> Option<u8> {
        self.number
    }
}

/// Why inputs were not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WriteError {
    /// There is no connection, or nothing more comes of it.
    NotConnected,
    /// Data does not flow.
    NotStarted,
    /// There is no such recipe, or the controller has refused it.
    NotSetUp,
    /// The values are not those of the recipe, or the transmit memory has no room for them.
    Values(WireError),
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotConnected => f.write_str("there is no connection"),
            Self::NotStarted => f.write_str("data does not flow"),
            Self::NotSetUp => f.write_str("these inputs are not set up"),
            Self::Values(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for WriteError {}
