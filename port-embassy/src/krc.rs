//! Beside a KRC: the Fast Research Interface, one command for each measurement, over a UDP socket.
//!
//! As with a controller of Universal Robots the caller owns all memory and the stack, [`Runner::run`] is the task of one
//! robot, the same [`Handle`] is how the rest of the firmware speaks to it, and an [`Observer`](crate::Observer) is how it
//! listens. The KRC speaks first and says how often; who is listened to, what is answered and when nothing is, the engine
//! decides.
//!
//! ```
//! use outrigger_core::engine::ConfigError;
//! use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
//! use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//! use outrigger_embassy::{Shared, krc};
//!
//! // In firmware each of the three is a `StaticCell`, and `robot` a task.
//! async fn robot(stack: embassy_net::Stack<'_>) -> Result<(), ConfigError> {
//!     let (mut buffers, shared) = (krc::Buffers::new(), Shared::new());
//!     let law = JointServo::<7>::new(Reference::Hold, JointServoConfig::default());
//!     let mut engine = KrcEngine::new(KrcConfig::default(), law, ())?;
//!     let (handle, mut runner) = krc::new(stack, &mut engine, &mut buffers, &shared);
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
//! | `KrcEngine<AnyLaw<7>>` | 13 784 |
//! | [`Buffers`] with room for eight measurements | 8 592 |
//! | [`Shared`] | 584 |

use core::mem::MaybeUninit;

use outrigger_core::engine::krc::{Krc, KrcEngine};
use outrigger_core::law::Law;
use outrigger_wire::fri::{COMMAND_LEN, MEASUREMENT_LEN};

use crate::handle::{Handle, Shared};
use crate::net::{Flow, Metadata, Stack};
use crate::runner::Runner;

/// Commands that may wait for the wire. One is the rule; behind it goes the next, where the first waits for an address.
const COMMANDS: usize = 2;

/// The buffers of the stack's socket.
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
    /// Creates unused buffers, as large as is recommended.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

impl<const MEASUREMENTS: usize> Buffers<MEASUREMENTS> {
    /// Creates unused buffers of another size. Does not compile where there is room for less than two.
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

/// Puts `engine` beside the KRC that sends to its configured UDP port: a handle to speak to it, and its task to be run.
///
/// Takes one of the stack's sockets for as long as the runner lives.
///
/// # Panics
/// In the stack, where it has no socket left.
pub fn new<'d, 'm, L: Law<7>, const MEASUREMENTS: usize>(
    stack: Stack<'d>,
    engine: &'d mut KrcEngine<'m, L>,
    buffers: &'d mut Buffers<MEASUREMENTS>,
    shared: &'d Shared,
) -> (Handle<'d>, KrcRunner<'d, 'm, L>) {
    let Buffers { receive, transmit, metadata } = buffers;
    let net = Flow::new(stack, receive.as_flattened_mut(), transmit.as_flattened_mut(), metadata);
    (Handle::new(shared), Runner { net, engine, shared })
}

/// The task beside a KRC.
pub type KrcRunner<'d, 'm, L> = Runner<'d, 'm, 7, Krc, L, Flow<'d>>;
