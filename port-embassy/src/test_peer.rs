//! The port for a controller of tests, which connects to this device: the loop over one socket that listens. Not part
//! of the API.

use outrigger_core::engine::LinkId;
use outrigger_core::engine::test_peer::{TestEngine, TestPeer};
use outrigger_core::law::Law;

use crate::net::{Connections, Stack};
use crate::robot_mailbox::{Handle, Shared};
use crate::runner::Runner;

/// The buffers of the socket to the controller of tests. The transmit buffer is shorter than a long message, so that
/// the stack takes that in pieces.
#[derive(Debug)]
pub struct Buffers {
    receive: [u8; 1024],
    transmit: [u8; 64],
}

impl Default for Buffers {
    fn default() -> Self {
        Self { receive: [0; 1024], transmit: [0; 64] }
    }
}

/// Connects `engine` to the tests' controller, which connects to this device. Returns a handle for messages to the
/// engine, and the task to be run. Uses one of the stack's sockets.
///
/// # Panics
/// In the stack, if it has no socket left.
pub fn new<'d, 'm, L: Law<2>>(
    stack: Stack<'d>,
    engine: &'d mut TestEngine<'m, L>,
    buffers: &'d mut Buffers,
    shared: &'d Shared,
) -> (Handle<'d>, Runner<'d, 'm, 2, TestPeer, L, Connections<'d>>) {
    let Buffers { receive, transmit } = buffers;
    let net = Connections::listening(LinkId::CONTROL, stack, (receive, transmit), shared);
    (Handle::new(shared), Runner { net, engine, shared })
}
