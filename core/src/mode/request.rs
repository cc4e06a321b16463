//! Who asks: edges of a level, and values that belong to one epoch.

use crate::robot::Reason;

/// Counts up with each connection and each loss of authority. Values sent for an earlier one are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
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

/// What a level did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// From low to high.
    Rise,
    /// From high to low, after a rise.
    Fall,
}

/// Makes edges of a level. It must have been low since the last [`RequestLine::disarm`] before it can rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum RequestLine {
    /// Not seen low yet: high says nothing.
    Unknown,
    /// Seen low: it may rise.
    Low,
    /// It rose.
    High,
}

impl RequestLine {
    /// Takes the level as it is now; what it did, if anything.
    pub fn observe(&mut self, high: bool) -> Option<Edge> {
        let (next, edge) = match (*self, high) {
            (Self::Unknown, true) => (Self::Unknown, None),
            (Self::Unknown | Self::Low, false) => (Self::Low, None),
            (Self::Low, true) => (Self::High, Some(Edge::Rise)),
            (Self::High, true) => (Self::High, None),
            (Self::High, false) => (Self::Low, Some(Edge::Fall)),
        };
        *self = next;
        edge
    }

    /// Whatever the level is now was said before: only a new rise counts.
    pub const fn disarm(&mut self) {
        *self = Self::Unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_high_at_boot_is_no_edge() {
        let mut line = RequestLine::Unknown;
        assert_eq!([true, true].map(|l| line.observe(l)), [None, None]);
        assert_eq!(
            [false, true, true, false].map(|l| line.observe(l)),
            [None, Some(Edge::Rise), None, Some(Edge::Fall)]
        );
    }

    #[test]
    fn a_level_high_across_a_fallback_is_no_edge() {
        let mut line = RequestLine::High;
        line.disarm();
        assert_eq!(line.observe(true), None);
        assert_eq!(line.observe(false), None);
        assert_eq!(line.observe(true), Some(Edge::Rise));
    }
}
