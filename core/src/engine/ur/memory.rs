//! The memory for one session with a controller, passed in by the caller.

use super::rtde::{LEAST, StateMemory};

/// The memory for one session with a controller, passed in by the caller.
#[derive(Debug)]
pub struct Memory<'m> {
    /// The receive memory of the primary link, at least [`LEAST_PRIMARY`](Self::LEAST_PRIMARY). A longer message is
    /// skipped with an event.
    pub primary: &'m mut [u8],
    /// The receive memory of the real-time link, at least [`LEAST_REALTIME`](Self::LEAST_REALTIME); 8 KiB hold a
    /// backlog of six packets.
    pub realtime: &'m mut [u8],
    /// An [`RtdeMemory`](super::rtde::RtdeMemory); without it states come from the real-time link.
    pub rtde: Option<&'m mut dyn StateMemory<'m>>,
}

impl Memory<'_> {
    /// The minimum size of the memory of the primary link \[B\]: it holds the longest robot state seen in the wild with
    /// room to spare.
    pub const LEAST_PRIMARY: usize = 2048;
    /// The minimum size of the memory of the real-time link \[B\]: it holds the longest packet known, 1220 B, and a
    /// quarter more for future ones. With more, one read takes more of a backlog.
    pub const LEAST_REALTIME: usize = 1536;
    /// The minimum size of the memory of RTDE \[B\]: it has room for two complete states, and for the longest text. A
    /// larger memory lets one read fetch more of the packages that have piled up.
    pub const LEAST_RTDE: usize = LEAST;
}
