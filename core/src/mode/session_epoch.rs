//! The epoch, a counter of connections and losses of authority, and values that are valid in one epoch only.

use crate::robot::Reason;

/// The number of the present epoch. It increases with each connection and each loss of authority. Values sent for an
/// earlier epoch are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch(u32);

impl Epoch {
    /// Creates the epoch with this number, as read from a report.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number of the epoch, for reports.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    pub(super) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// A value from an external client, with the epoch that it saw when it decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Intent<T> {
    /// The epoch that the client saw when it decided to send the value.
    pub epoch: Epoch,
    /// The value that the client requests to be applied.
    pub value: T,
}

impl<T> Intent<T> {
    /// Returns the client's value if it was sent for the epoch `current`.
    ///
    /// # Errors
    /// `WrongEpoch` if it was sent for another epoch.
    pub fn accept(self, current: Epoch) -> Result<T, Reason> {
        if self.epoch == current { Ok(self.value) } else { Err(Reason::WrongEpoch) }
    }
}
