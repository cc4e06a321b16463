//! Values that belong to one epoch.

use crate::robot::Reason;

/// Counts up with each connection and each loss of authority. Values sent for an earlier one are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch(u32);

impl Epoch {
    /// Epoch number `number`, as read from a report.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number, for reports.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    pub(super) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// A value from an outside commander, with the epoch it saw when it decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Intent<T> {
    /// The epoch the commander saw.
    pub epoch: Epoch,
    /// What it wants.
    pub value: T,
}

impl<T> Intent<T> {
    /// The value, if it belongs to `current`.
    ///
    /// # Errors
    /// `WrongEpoch`.
    pub fn accept(self, current: Epoch) -> Result<T, Reason> {
        if self.epoch == current { Ok(self.value) } else { Err(Reason::WrongEpoch) }
    }
}
