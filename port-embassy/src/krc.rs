//! The port for a KRC: the Fast Research Interface over a UDP socket, with one command for each measurement.
//!
//! As for a controller of Universal Robots, the caller owns all memory and the stack, and [`Runner::run`] is the task
//! of one robot. The rest of the firmware sends it messages by the same [`Handle`] and receives events by an
//! [`Observer`](crate::Observer). The KRC sends first and determines the rate. The engine decides which sender is
//! accepted, the contents of the answer, and when none is sent.
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

use crate::net::{Flow, Metadata, Stack};
use crate::robot_mailbox::{Handle, Shared};
use crate::runner::Runner;

/// The number of commands that may wait for the wire. Normally it is one; the next one waits behind it while the first
/// waits for a hardware address.
const COMMANDS: usize = 2;

/// The buffers of the stack's UDP socket for a KRC: received measurements, and commands to be sent.
///
/// `MEASUREMENTS` is the number of measurements that may wait to be read. All of them are read at once and only the
/// newest is answered; eight is the number that a driver takes off the wire in one turn. The initial content is zeros,
/// so a static of it takes no flash.
#[derive(Debug)]
pub struct Buffers<const MEASUREMENTS: usize = 8> {
    receive: [[u8; MEASUREMENT_LEN]; MEASUREMENTS],
    transmit: [[u8; COMMAND_LEN]; COMMANDS],
    /// The metadata of waiting datagrams, written when a socket is created, because its initial content is not all
    /// zeros.
    metadata: MaybeUninit<Metadata>,
}

impl Buffers {
    /// Creates unused socket buffers of the recommended size.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

impl<const MEASUREMENTS: usize> Buffers<MEASUREMENTS> {
    /// Creates unused buffers of another size. Does not compile with room for fewer than two measurements.
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

/// Connects `engine` to the KRC that sends to its configured UDP port. Returns a handle for messages to the engine, and
/// the task to be run.
///
/// Uses one of the stack's sockets for as long as the runner lives.
///
/// # Panics
/// In the stack, if it has no socket left.
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

/// The task that runs the engine of a robot with a KRC.
pub type KrcRunner<'d, 'm, L> = Runner<'d, 'm, 7, Krc, L, Flow<'d>>;
