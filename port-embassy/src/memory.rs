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

    /// For [`CoController::new`](outrigger_core::session::CoController::new). Without RTDE; whoever wants states from there
    /// adds [`Memory::rtde`], and gives [`Buffers`] room for it.
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
///
/// `RTDE` bytes are for port 30004, where the engine was handed an
/// [`RtdeStates`](outrigger_core::session::rtde::RtdeStates); with 0 there is no such socket. 512 of them
/// are for what is asked. Nothing is answered on this link, so that its states may be acknowledged 10 ms late, by the
/// stack's timer: 8 KiB hold what comes meanwhile and what a busy board leaves behind, eighteen states of 432 bytes, and
/// make up for it afterwards; with eight states, a board at 500 Hz that falls behind stays behind.
#[derive(Debug)]
pub struct Buffers<const REALTIME: usize = 8192, const RTDE: usize = 0> {
    /// Messages are 100 ms apart and read as they come, so that the rest of one has room at once.
    primary_receive: [u8; PRIMARY],
    realtime_receive: [u8; REALTIME],
    realtime_transmit: [u8; TRANSMIT],
    rtde: [u8; RTDE],
}

/// Less than a whole robot state: the engine's window, not the socket, is where one is put together.
const PRIMARY: usize = 1024;

/// One command waits at most; behind it go the zero velocities and the `stopj` that end a motion. A text that found no
/// room would cost the connection.
const TRANSMIT: usize = 1024;
const _: () = assert!(TRANSMIT >= 5 * TextPath::MAX_LEN);

/// The set-up of the outputs, the longest that is asked.
const RTDE_TRANSMIT: usize = 512;
/// Four states may be on their way, so that three follow one that is lost.
const RTDE_LEAST: usize = RTDE_TRANSMIT + 4 * 432;

impl Buffers {
    /// All zero, and as large as is recommended without RTDE.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

impl Buffers<8192, 8704> {
    /// All zero, and as large as is recommended with RTDE.
    #[must_use]
    pub const fn with_rtde() -> Self {
        Self::of_size()
    }
}

impl<const REALTIME: usize, const RTDE: usize> Buffers<REALTIME, RTDE> {
    /// All zero, with another size. Does not compile where RTDE is given too little.
    #[must_use]
    pub const fn of_size() -> Self {
        const { assert!(RTDE == 0 || RTDE >= RTDE_LEAST, "RTDE needs room for four states, or none") };
        Self {
            primary_receive: [0; PRIMARY],
            realtime_receive: [0; REALTIME],
            realtime_transmit: [0; TRANSMIT],
            rtde: [0; RTDE],
        }
    }

    /// Of each socket, to receive and to send.
    pub(crate) fn split(&mut self) -> Split<'_> {
        let Self { primary_receive, realtime_receive, realtime_transmit, rtde } = self;
        Split {
            // Nothing is ever written to it.
            primary: (primary_receive, &mut []),
            realtime: (realtime_receive, realtime_transmit),
            rtde: rtde.split_at_mut_checked(RTDE_TRANSMIT).map(|(transmit, receive)| (receive, transmit)),
        }
    }
}

/// What each socket receives and sends with.
pub(crate) struct Split<'d> {
    pub(crate) primary: (&'d mut [u8], &'d mut [u8]),
    pub(crate) realtime: (&'d mut [u8], &'d mut [u8]),
    pub(crate) rtde: Option<(&'d mut [u8], &'d mut [u8])>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}
