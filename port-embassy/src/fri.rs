//! Beside a KRC: the Fast Research Interface, one command for each measurement, over a UDP socket.
//!
//! As with a controller of Universal Robots the caller owns all memory and the stack, [`Runner::run`] is the task of one
//! robot, the same [`Handle`] is how the rest of the firmware speaks to it, and an [`Observer`] is how it listens. The
//! KRC speaks first and says how often; who is listened to, what is answered and when nothing is, [`FriSession`] decides.
//!
//! ```
//! use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//! use outrigger_core::session::ConfigError;
//! use outrigger_core::session::fri::{FriConfig, FriSession, KrlConvention};
//! use outrigger_core::wire::fri::DEFAULT_PORT;
//! use outrigger_embassy::{Shared, fri};
//!
//! // In firmware each of the three is a `StaticCell`, and `robot` a task.
//! async fn robot(stack: embassy_net::Stack<'_>) -> Result<(), ConfigError> {
//!     let (mut buffers, shared) = (fri::Buffers::new(), Shared::new());
//!     let law = JointServo::<7>::new(Reference::Hold, JointServoConfig::default());
//!     let mut engine = FriSession::new(FriConfig::default(), law, KrlConvention::RosControl)?;
//!     let (handle, mut runner) = fri::new(stack, DEFAULT_PORT, &mut engine, &mut buffers, &shared);
//!     let _ = handle; // to whoever samples sensors and watches inputs
//!     runner.run(&mut ()).await; // until `handle.shutdown()` has been carried out
//!     Ok(())
//! }
//! ```
//!
//! # Memory
//!
//! | what | bytes on a 32-bit processor |
//! |---|---|
//! | `FriSession<AnyLaw<7>>` | 17 848 |
//! | [`Buffers`] with room for eight measurements | 8 680 |
//! | [`Shared`] | 296 |

use core::mem::MaybeUninit;
use core::net::SocketAddr;

use embassy_futures::poll_once;
use embassy_futures::select::{Either3, select3};
use embassy_net::IpEndpoint;
use embassy_net::udp::{PacketMetadata, UdpSocket};
use outrigger_core::drive::Clock as _;
use outrigger_core::law::Law;
use outrigger_core::session::Event;
use outrigger_core::session::fri::{FriInput, FriSession, KrlHandshake, Transmit};
use outrigger_core::time::Instant;
use outrigger_core::wire::fri::{COMMAND_LEN, MEASUREMENT_LEN};

use crate::handle::{Handle, Shared};
use crate::net::{EmbassyClock, Stack, now};

/// Commands that may wait for the wire. One is the rule; behind it goes the next, where the first waits for an address.
const COMMANDS: usize = 2;
/// Datagrams that may wait in each direction, of any length.
const DATAGRAMS: usize = 16;

/// What the stack's socket receives and sends with.
///
/// `MEASUREMENTS` may wait to be read. All that wait are read at once and only the newest is answered: eight are what a
/// driver takes off the wire in one go. As it begins with zeros, a static of it costs no flash.
#[derive(Debug)]
pub struct Buffers<const MEASUREMENTS: usize = 8> {
    receive: [[u8; MEASUREMENT_LEN]; MEASUREMENTS],
    transmit: [[u8; COMMAND_LEN]; COMMANDS],
    /// Written when a socket is made: an empty one is not all zeros.
    metadata: MaybeUninit<[[PacketMetadata; DATAGRAMS]; 2]>,
}

impl Buffers {
    /// Unused, and as large as is recommended.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

impl<const MEASUREMENTS: usize> Buffers<MEASUREMENTS> {
    /// Unused, with another size. Does not compile where there is room for less than two.
    #[must_use]
    pub const fn of_size() -> Self {
        const { assert!(MEASUREMENTS >= 2, "while one is read the next one comes") };
        Self {
            receive: [[0; MEASUREMENT_LEN]; MEASUREMENTS],
            transmit: [[0; COMMAND_LEN]; COMMANDS],
            metadata: MaybeUninit::uninit(),
        }
    }

    fn socket<'d>(&'d mut self, stack: Stack<'d>) -> UdpSocket<'d> {
        let Self { receive, transmit, metadata } = self;
        let [received, sent] = metadata.write([[PacketMetadata::EMPTY; DATAGRAMS]; 2]);
        UdpSocket::new(stack, received, receive.as_flattened_mut(), sent, transmit.as_flattened_mut())
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}

/// Listens to a robot's task: telemetry, a status lamp, a pin toggled in every cycle.
///
/// Called by the loop, between an answer and the next measurement: what it does must be done in a few µs.
pub trait Observer<L, H> {
    /// Something happened.
    fn event(&mut self, event: Event);

    /// Once after each input and all that follows from it.
    fn observe(&mut self, engine: &FriSession<L, H>, now: Instant);
}

/// Nobody listens.
impl<L, H> Observer<L, H> for () {
    fn event(&mut self, _: Event) {}
    fn observe(&mut self, _: &FriSession<L, H>, _: Instant) {}
}

/// Puts `engine` beside the KRC that sends to UDP port `port`: a handle to speak to it, and its task to be run.
///
/// Takes one of the stack's sockets for as long as the runner lives. Port 0 is one that the stack chooses.
///
/// # Panics
/// In the stack, where it has no socket left.
pub fn new<'d, L: Law<7>, H: KrlHandshake, const MEASUREMENTS: usize>(
    stack: Stack<'d>,
    port: u16,
    engine: &'d mut FriSession<L, H>,
    buffers: &'d mut Buffers<MEASUREMENTS>,
    shared: &'d Shared,
) -> (Handle<'d>, Runner<'d, L, H>) {
    let mut socket = buffers.socket(stack);
    // Refused for a socket that is bound already, which a new one is not.
    let _ = socket.bind(port);
    (Handle::new(shared), Runner { socket, engine, shared })
}

/// The task of one robot.
pub struct Runner<'d, L, H> {
    socket: UdpSocket<'d>,
    engine: &'d mut FriSession<L, H>,
    shared: &'d Shared,
}

impl<L: core::fmt::Debug, H: core::fmt::Debug> core::fmt::Debug for Runner<'_, L, H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Runner").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl<L: Law<7>, H: KrlHandshake> Runner<'_, L, H> {
    /// Answers measurements, and does what the engine decides; ends once a [`shutdown`](Handle::shutdown) has been
    /// carried out.
    ///
    /// Dropping the future before leaves the arm to what the KRC does without answers.
    pub async fn run(&mut self, observer: &mut impl Observer<L, H>) {
        while !self.engine.is_finished() {
            let deadline = self.engine.poll_timeout();
            let sleep = async {
                match deadline {
                    Some(at) => EmbassyClock.sleep_until(at).await,
                    None => core::future::pending().await,
                }
            };
            // Measurements first. They starve nobody: all that wait are taken at once, and until this waits no more come.
            match select3(self.socket.wait_recv_ready(), self.shared.next(), sleep).await {
                Either3::First(()) => self.receive(observer),
                Either3::Second(mail) => self.input(mail.into(), observer),
                Either3::Third(()) => self.input(FriInput::Tick, observer),
            }
            observer.observe(self.engine, now());
        }
    }

    /// Everything that waits in the socket, then its end.
    fn receive(&mut self, observer: &mut impl Observer<L, H>) {
        let Self { socket, engine, .. } = self;
        loop {
            let read = poll_once(socket.recv_from_with(|bytes, about| {
                let arrival = now();
                engine.handle(arrival, FriInput::Datagram { from: about.endpoint.into(), bytes, arrival });
            }));
            if read.is_pending() {
                break;
            }
            while let Some(event) = engine.poll_event() {
                observer.event(event);
            }
        }
        self.input(FriInput::Drained, observer);
    }

    /// One input, the command that follows from it, and what there is to say about it.
    fn input(&mut self, input: FriInput<'_>, observer: &mut impl Observer<L, H>) {
        self.engine.handle(now(), input);
        while let Some(Transmit { to, bytes }) = self.engine.poll_transmit() {
            if let SocketAddr::V4(to) = to {
                // What finds no room is lost, as on any network; the KRC and the link monitor notice.
                let _ = poll_once(self.socket.send_to(bytes, IpEndpoint::from(to)));
            }
        }
        while let Some(event) = self.engine.poll_event() {
            observer.event(event);
        }
    }
}
