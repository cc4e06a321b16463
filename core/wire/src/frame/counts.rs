//! Counts of the messages of one connection.

/// The counts of messages received on one connection, by how they were handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StreamCounts {
    /// The number of messages that were decoded.
    pub messages: u64,
    /// The number of messages that could not be decoded.
    pub malformed: u32,
    /// The number of messages longer than the receive memory; they were skipped.
    pub oversize: u32,
    /// The number of times that no message started at the expected position in the stream.
    pub lost_sync: u32,
    /// The number of messages, and parts of messages, of kinds that this version of Outrigger does not know.
    pub unknown: u32,
}

impl StreamCounts {
    /// The message counts of a connection that has not been opened: all zero.
    pub const NONE: Self = Self { messages: 0, malformed: 0, oversize: 0, lost_sync: 0, unknown: 0 };
}

/// Increments a counter by one, unless it already has its greatest value.
pub fn count_one(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
