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
//! | `FriSession<AnyLaw<7>>` | 13 784 |
//! | [`Buffers`] with room for eight measurements | 8 592 |
//! | [`Shared`] | 584 |

use core::mem::MaybeUninit;

use embassy_futures::select::{Either3, select3};
use outrigger_core::drive::Clock as _;
use outrigger_core::law::Law;
use outrigger_core::session::Event;
use outrigger_core::session::fri::{FriInput, FriSession, KrlHandshake, Transmit};
use outrigger_core::time::Instant;
use outrigger_core::wire::fri::{COMMAND_LEN, MEASUREMENT_LEN};

use crate::handle::{Handle, Shared};
use crate::net::{Datagrams, EmbassyClock, Metadata, Stack, now};

/// Commands that may wait for the wire. One is the rule; behind it goes the next, where the first waits for an address.
const COMMANDS: usize = 2;

/// What the stack's socket receives and sends with.
///
/// `MEASUREMENTS` may wait to be read. All that wait are read at once and only the newest is answered: eight are what a
/// driver takes off the wire in one go. As it begins with zeros, a static of it costs no flash.
#[derive(Debug)]
pub struct Buffers<const MEASUREMENTS: usize = 8> {
    receive: [[u8; MEASUREMENT_LEN]; MEASUREMENTS],
    transmit: [[u8; COMMAND_LEN]; COMMANDS],
    /// Written when a socket is made: an empty one is not all zeros.
    metadata: MaybeUninit<Metadata>,
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
    let Buffers { receive, transmit, metadata } = buffers;
    let socket = Datagrams::new(stack, port, receive.as_flattened_mut(), transmit.as_flattened_mut(), metadata);
    (Handle::new(shared), Runner { socket, engine, shared })
}

/// The task of one robot.
pub struct Runner<'d, L, H> {
    socket: Datagrams<'d>,
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
            match select3(self.socket.ready(), self.shared.next(), sleep).await {
                Either3::First(()) => self.receive(observer),
                Either3::Second(mail) => self.input(mail.into(), observer),
                Either3::Third(()) => self.input(FriInput::Tick, observer),
            }
            self.shared.set_epoch(self.engine.mode_machine().epoch());
            observer.observe(self.engine, now());
        }
    }

    /// Everything that waits in the socket, then its end.
    fn receive(&mut self, observer: &mut impl Observer<L, H>) {
        let Self { socket, engine, .. } = self;
        while socket.read(|from, bytes| {
            let arrival = now();
            engine.handle(arrival, FriInput::Datagram { from, bytes, arrival });
        }) {
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
            self.socket.send(to, bytes);
            self.engine.written(now());
        }
        while let Some(event) = self.engine.poll_event() {
            observer.event(event);
        }
    }
}
