//! What came of the messages of one connection.

/// Counts of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StreamCounts {
    /// Messages understood.
    pub messages: u64,
    /// Messages that could not be used.
    pub malformed: u32,
    /// Messages longer than the receive memory, skipped by counting.
    pub oversize: u32,
    /// Times the stream was no longer one message after the other.
    pub lost_sync: u32,
    /// Messages and parts of them of kinds this version of Outrigger does not know.
    pub unknown: u32,
}

impl StreamCounts {
    /// Of a connection that never was.
    pub const NONE: Self = Self { messages: 0, malformed: 0, oversize: 0, lost_sync: 0, unknown: 0 };
}

/// Adds one, and stays at the largest number.
pub fn count_one(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
