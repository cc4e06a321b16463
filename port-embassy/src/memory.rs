//! Memory of one robot, by the caller.

use outrigger_core::session::{Memory, TextPath};

/// What the engine receives into: one message of each link.
#[derive(Debug)]
pub struct Windows {
    primary: [u8; Memory::LEAST_PRIMARY],
    realtime: [u8; Memory::LEAST_REALTIME],
}

impl Windows {
    /// All zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { primary: [0; Memory::LEAST_PRIMARY], realtime: [0; Memory::LEAST_REALTIME] }
    }

    /// For [`CoController::new`](outrigger_core::session::CoController::new).
    #[must_use]
    pub const fn memory(&mut self) -> Memory<'_> {
        Memory { primary: &mut self.primary, realtime: &mut self.realtime, rtde: None }
    }
}

impl Default for Windows {
    fn default() -> Self {
        Self::new()
    }
}

/// What the stack's sockets receive and send with.
///
/// `REALTIME` bytes wait for port 30003. With 8 KiB, seven packets, one that is lost is sent again at once, because
/// those that follow it ask for it; with little more than one packet it costs a time-out of the sender
/// (`tests/tables/smoltcp.md`).
#[derive(Debug)]
pub struct Buffers<const REALTIME: usize = 8192> {
    /// Messages are 100 ms apart and read as they come, so that the rest of one has room at once.
    pub(crate) primary_receive: [u8; PRIMARY],
    pub(crate) realtime_receive: [u8; REALTIME],
    pub(crate) realtime_transmit: [u8; TRANSMIT],
}

/// Less than a whole robot state: the engine's window, not the socket, is where one is put together.
const PRIMARY: usize = 1024;

/// One command waits at most; behind it go the zero velocities and the `stopj` that end a motion. A text that found no
/// room would cost the connection.
const TRANSMIT: usize = 1024;
const _: () = assert!(TRANSMIT >= 5 * TextPath::MAX_LEN);

impl Buffers {
    /// All zero, and as large as is recommended.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

impl<const REALTIME: usize> Buffers<REALTIME> {
    /// All zero, with another size.
    #[must_use]
    pub const fn of_size() -> Self {
        Self { primary_receive: [0; PRIMARY], realtime_receive: [0; REALTIME], realtime_transmit: [0; TRANSMIT] }
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}
