//! The memory of one robot's engine and sockets, which the caller provides.

use outrigger_core::engine::ur::{Memory, TextPath};

/// The engine's receive memory for one message of each of the links to the ports 30001 and 30003 of the controller.
#[derive(Debug)]
pub struct Windows {
    primary: [u8; Memory::LEAST_PRIMARY],
    realtime: [u8; Memory::LEAST_REALTIME],
}

impl Windows {
    /// Creates receive memory that is filled with zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self { primary: [0; Memory::LEAST_PRIMARY], realtime: [0; Memory::LEAST_REALTIME] }
    }

    /// Returns the receive memory for [`UrEngine::new`](outrigger_core::engine::ur::UrEngine::new), without RTDE. To
    /// receive states by RTDE, add [`Memory::rtde`] and provide room for it in [`Buffers`].
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

/// The buffers of the stack's TCP sockets for the ports of a UR controller.
///
/// `REALTIME` is the number of bytes for port 30003. With room for four packets or more, a lost packet is retransmitted
/// at once, because the following packets cause acknowledgements for it. With room for little more than one it is
/// retransmitted after a timeout of the sender. Five, the default, are sufficient even if the controller's TCP combines
/// states; more made no difference (`tests/tables/smoltcp.md`).
///
/// `RTDE` is the number of bytes for port 30004, if the engine has an
/// [`RtdeMemory`](outrigger_core::engine::ur::rtde::RtdeMemory); with 0 its socket has no buffers, or does not exist if
/// `REVERSE` is 0, too. 512 bytes are for requests, the rest for states of 432 bytes, at least four, for the reason
/// above.
///
/// `REVERSE` is the number of bytes for the connection of an Outrigger program to this device, if a program carries the
/// commands (feature `programs`, `session.path`); with 0 there is no such socket. [`FOR_A_PROGRAM`] is sufficient.
///
/// The memory in which the network interface stores frames until the processor takes them must be as large as the
/// receive buffers of all sockets plus about 60 bytes per packet, because after a stall that much arrives at once.
/// Otherwise the last frames are lost without later ones that would request them, and the controller retransmits only
/// after its timeout: 200 ms or more with a kernel like Linux', 1 s with smoltcp. A controller closes port 30004 when
/// its memory for a client is full. [`with_rtde`](Self::with_rtde) fits into 10 560 bytes, those of a LAN9118.
#[derive(Debug)]
pub struct Buffers<const REALTIME: usize = { 5 * PACKET }, const RTDE: usize = 0, const REVERSE: usize = 0> {
    /// The receive buffer of the connection to port 30001. Messages arrive every 100 ms and are read at once, so the
    /// rest of a longer message always has room.
    primary_receive: [u8; PRIMARY],
    realtime_receive: [u8; REALTIME],
    realtime_transmit: [u8; TRANSMIT],
    rtde: [u8; RTDE],
    reverse: [u8; REVERSE],
}

/// The size of the receive buffer of port 30001 \[B\]. It is less than a whole robot state, because messages are
/// assembled in the engine's window, not in the socket.
const PRIMARY: usize = 1024;

/// The size of the longest packet of port 30003 \[B\].
const PACKET: usize = 1220;
/// The size of a state by RTDE with every variable \[B\].
const STATE: usize = 432;

/// The size of the transmit buffer of port 30003, for commands \[B\]. At most one command waits, and behind it the zero
/// velocities and the `stopj` that end a motion. A command without room would end the connection.
const TRANSMIT: usize = 1024;
const _: () = assert!(TRANSMIT >= 5 * TextPath::MAX_LEN);

/// The size of the transmit buffer of port 30004 \[B\]: that of the longest request, the set-up of the outputs.
const RTDE_TRANSMIT: usize = 512;
/// The smallest size of both buffers of port 30004 \[B\]: four states may be in transit, so that three follow a lost
/// one.
const RTDE_LEAST: usize = RTDE_TRANSMIT + 4 * STATE;

/// The size of the buffers of the socket to which Outrigger's URScript program on the controller connects \[B\]:
/// several messages of the program, and eight commands to it.
pub const FOR_A_PROGRAM: usize = 512;
/// The size of the part of [`FOR_A_PROGRAM`] for messages that the URScript program sends \[B\].
const REVERSE_RECEIVE: usize = 128;
/// The smallest size of both buffers of the URScript program's connection \[B\]: its messages, and eight commands of 32
/// bytes.
const REVERSE_LEAST: usize = REVERSE_RECEIVE + 8 * 32;

/// The recommended size of the receive buffer of port 30003 with RTDE \[B\]: four packets. With eight states by RTDE,
/// the data of ports 30001, 30003 and 30004 then fits into the frame memory of small Ethernet controllers.
const REALTIME_WITH_RTDE: usize = 4 * PACKET;
const RTDE_RECOMMENDED: usize = RTDE_TRANSMIT + 8 * STATE;
/// The size of a network frame's headers and check sequence, in whole words \[B\].
const FRAME: usize = 60;
/// The size of the frame memory of a LAN9118 Ethernet controller \[B\].
const INTERFACE: usize = 10_560;
const _: () = assert!(PRIMARY + 4 * PACKET + 8 * STATE + (2 + 4 + 8) * FRAME <= INTERFACE);

impl Buffers {
    /// Creates socket buffers of zeros of the recommended size without RTDE.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

/// [`Buffers`] without RTDE for a board with little memory: they have room for four packets.
///
/// A lost packet is retransmitted at once, as with more room, unless the controller's TCP combines states (Nagle's
/// algorithm). In that case it costs a timeout of the controller, and ends commanding (`tests/tables/smoltcp.md`).
pub type SmallBuffers = Buffers<{ 4 * PACKET }>;

/// [`Buffers`] of the recommended size with room for RTDE.
pub type BuffersWithRtde<const REVERSE: usize = 0> = Buffers<REALTIME_WITH_RTDE, RTDE_RECOMMENDED, REVERSE>;

impl<const REVERSE: usize> BuffersWithRtde<REVERSE> {
    /// Creates buffers of zeros of the recommended size with RTDE. The buffer of port 30003 is smaller than without
    /// RTDE, but still sufficient for states from software without RTDE.
    #[must_use]
    pub const fn with_rtde() -> Self {
        Self::of_size()
    }
}

impl<const REALTIME: usize, const RTDE: usize, const REVERSE: usize> Buffers<REALTIME, RTDE, REVERSE> {
    /// Creates socket buffers of zeros of another size. Does not compile with too little room for RTDE, or for the
    /// connection of a URScript program.
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

    /// Returns the receive and transmit buffers of each socket.
    pub(crate) fn split(&mut self) -> Split<'_> {
        let Self { primary_receive, realtime_receive, realtime_transmit, rtde, reverse } = self;
        Split {
            // The driver sends nothing on the primary connection, so its transmit buffer is empty.
            primary: (primary_receive, &mut []),
            realtime: (realtime_receive, realtime_transmit),
            rtde: rtde.split_at_mut_checked(RTDE_TRANSMIT).map(|(transmit, receive)| (receive, transmit)),
            reverse: reverse.split_at_mut_checked(REVERSE_RECEIVE).filter(|(_, transmit)| !transmit.is_empty()),
        }
    }
}

/// The receive and transmit buffers of each socket.
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
