//! Counts of the messages of one connection.

/// The message counts of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StreamCounts {
    /// Messages that were understood.
    pub messages: u64,
    /// Messages that could not be decoded.
    pub malformed: u32,
    /// Messages longer than the receive memory; they were skipped.
    pub oversize: u32,
    /// The number of times that no message started at the expected position.
    pub lost_sync: u32,
    /// Messages, and parts of messages, of kinds that this version of Outrigger does not know.
    pub unknown: u32,
}

impl StreamCounts {
    /// The counts of a connection that has not been opened.
    pub const NONE: Self = Self { messages: 0, malformed: 0, oversize: 0, lost_sync: 0, unknown: 0 };
}

/// Increments a counter by one, unless it already has its greatest value.
pub fn count_one(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
