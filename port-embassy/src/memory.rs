//! Memory of one robot, by the caller.

use outrigger_core::engine::ur::{Memory, TextPath};

/// The memory that the engine receives into: one message of each link.
#[derive(Debug)]
pub struct Windows {
    primary: [u8; Memory::LEAST_PRIMARY],
    realtime: [u8; Memory::LEAST_REALTIME],
}

impl Windows {
    /// Creates memory of zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self { primary: [0; Memory::LEAST_PRIMARY], realtime: [0; Memory::LEAST_REALTIME] }
    }

    /// Returns the receive memory for [`UrEngine::new`](outrigger_core::engine::ur::UrEngine::new), without RTDE. To receive states by
    /// RTDE, add [`Memory::rtde`] and give [`Buffers`] room for it.
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

/// The buffers of the stack's sockets.
///
/// `REALTIME` bytes wait for port 30003. With four packets or more, one that is lost is sent again at once, because
/// those that follow it ask for it; with little more than one it costs a time-out of the sender. Five, the default, are enough
/// where the controller's TCP puts states together, too; more changed nothing (`tests/tables/smoltcp.md`).
///
/// `RTDE` bytes are for port 30004, where the engine was handed an
/// [`RtdeMemory`](outrigger_core::engine::ur::rtde::RtdeMemory); with 0 there is no such socket. 512 of them are for what is
/// asked, the rest for states of 432 bytes, at least four, for the same reason.
///
/// `REVERSE` bytes are for the connection that a program of ours makes to this device, where one carries the commands (feature
/// `programs`, `session.path`); with 0 there is no such socket. [`FOR_A_PROGRAM`] are enough.
///
/// What all sockets receive into, with about 60 bytes more per packet, has to fit into the memory where the network
/// interface keeps frames until the processor takes them: after a stall that much comes at once. Where it does not fit, the
/// last frames are lost, nothing behind them asks for them, and the controller's time-out passes before it sends them
/// again: 200 ms or more with a kernel like Linux', 1 s with smoltcp. A controller closes port 30004 when what it keeps for
/// a client is full. [`with_rtde`](Self::with_rtde) fits into 10 560 bytes, those of a LAN9118.
#[derive(Debug)]
pub struct Buffers<const REALTIME: usize = { 5 * PACKET }, const RTDE: usize = 0, const REVERSE: usize = 0> {
    /// Messages are 100 ms apart and read as they come, so that the rest of one has room at once.
    primary_receive: [u8; PRIMARY],
    realtime_receive: [u8; REALTIME],
    realtime_transmit: [u8; TRANSMIT],
    rtde: [u8; RTDE],
    reverse: [u8; REVERSE],
}

/// Less than a whole robot state: the engine's window, not the socket, is where one is put together.
const PRIMARY: usize = 1024;

/// The longest packet of port 30003, and a state by RTDE with every variable.
const PACKET: usize = 1220;
const STATE: usize = 432;

/// One command waits at most; behind it go the zero velocities and the `stopj` that end a motion. A text that found no
/// room would cost the connection.
const TRANSMIT: usize = 1024;
const _: () = assert!(TRANSMIT >= 5 * TextPath::MAX_LEN);

/// The set-up of the outputs, the longest that is asked.
const RTDE_TRANSMIT: usize = 512;
/// Four states may be on their way, so that three follow one that is lost.
const RTDE_LEAST: usize = RTDE_TRANSMIT + 4 * STATE;

/// Bytes of the fourth socket: what a program says, several times, and eight orders.
pub const FOR_A_PROGRAM: usize = 512;
/// Room for the messages of a program, and orders of 32 bytes.
const REVERSE_RECEIVE: usize = 128;
const REVERSE_LEAST: usize = REVERSE_RECEIVE + 8 * 32;

/// Recommended with RTDE: four packets, and eight states, so that both links and the third fit into small interfaces.
const REALTIME_WITH_RTDE: usize = 4 * PACKET;
const RTDE_RECOMMENDED: usize = RTDE_TRANSMIT + 8 * STATE;
/// Headers and check sequence of a frame, in whole words; what a LAN9118 keeps.
const FRAME: usize = 60;
const INTERFACE: usize = 10_560;
const _: () = assert!(PRIMARY + 4 * PACKET + 8 * STATE + (2 + 4 + 8) * FRAME <= INTERFACE);

impl Buffers {
    /// Creates buffers of zeros, as large as is recommended without RTDE.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

/// [`Buffers`] without RTDE for a board that is short of memory: four packets have room.
///
/// One that is lost is sent again at once, as with more, unless the controller's TCP puts states together (Nagle's
/// algorithm): then it costs a time-out of the controller, and commanding (`tests/tables/smoltcp.md`).
pub type SmallBuffers = Buffers<{ 4 * PACKET }>;

/// [`Buffers`] with room for RTDE, as large as is recommended.
pub type BuffersWithRtde<const REVERSE: usize = 0> = Buffers<REALTIME_WITH_RTDE, RTDE_RECOMMENDED, REVERSE>;

impl<const REVERSE: usize> BuffersWithRtde<REVERSE> {
    /// Creates buffers of zeros, as large as is recommended with RTDE: 30003 has less room than without, and remains good for states
    /// where RTDE cannot give them.
    #[must_use]
    pub const fn with_rtde() -> Self {
        Self::of_size()
    }
}

impl<const REALTIME: usize, const RTDE: usize, const REVERSE: usize> Buffers<REALTIME, RTDE, REVERSE> {
    /// Creates buffers of zeros of another size. Does not compile where RTDE is given too little.
    #[must_use]
    pub const fn of_size() -> Self {
        const { assert!(RTDE == 0 || RTDE >= RTDE_LEAST, "RTDE needs room for four states, or none") };
        const { assert!(REVERSE == 0 || REVERSE >= REVERSE_LEAST, "a program needs room for eight orders, or none") };
        Self {
            primary_receive: [0; PRIMARY],
            realtime_receive: [0; REALTIME],
            realtime_transmit: [0; TRANSMIT],
            rtde: [0; RTDE],
            reverse: [0; REVERSE],
        }
    }

    /// Returns the parts for each socket, to receive and to send.
    pub(crate) fn split(&mut self) -> Split<'_> {
        let Self { primary_receive, realtime_receive, realtime_transmit, rtde, reverse } = self;
        Split {
            // Nothing is ever written to it.
            primary: (primary_receive, &mut []),
            realtime: (realtime_receive, realtime_transmit),
            rtde: rtde.split_at_mut_checked(RTDE_TRANSMIT).map(|(transmit, receive)| (receive, transmit)),
            reverse: reverse.split_at_mut_checked(REVERSE_RECEIVE).filter(|(_, transmit)| !transmit.is_empty()),
        }
    }
}

/// The buffers of each socket.
pub(crate) struct Split<'d> {
    pub(crate) primary: (&'d mut [u8], &'d mut [u8]),
    pub(crate) realtime: (&'d mut [u8], &'d mut [u8]),
    pub(crate) rtde: Option<(&'d mut [u8], &'d mut [u8])>,
    pub(crate) reverse: Option<(&'d mut [u8], &'d mut [u8])>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}
