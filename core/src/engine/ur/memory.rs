//! Memory of one session, from the caller.

use super::rtde::{LEAST, StateMemory};

/// Memory of one session, from the caller.
#[derive(Debug)]
pub struct Memory<'m> {
    /// Receive memory of the primary link, at least [`LEAST_PRIMARY`](Self::LEAST_PRIMARY): a message longer than it is
    /// skipped with an event.
    pub primary: &'m mut [u8],
    /// Receive memory of the real-time link, at least [`LEAST_REALTIME`](Self::LEAST_REALTIME); 8 KiB hold a backlog of
    /// six packets.
    pub realtime: &'m mut [u8],
    /// An [`RtdeMemory`](super::rtde::RtdeMemory); without it states come from the real-time link.
    pub rtde: Option<&'m mut dyn StateMemory<'m>>,
}

impl Memory<'_> {
    /// Holds the longest robot state seen in the wild with room to spare \[B\].
    pub const LEAST_PRIMARY: usize = 2048;
    /// Holds the longest packet known, 1220 B, and a quarter more for those to come; more lets one read take in more of
    /// a backlog \[B\].
    pub const LEAST_REALTIME: usize = 1536;
    /// Holds a state by RTDE with all its values twice, and the longest texts; more lets one read take in more of a
    /// backlog \[B\].
    pub const LEAST_RTDE: usize = LEAST;
}
