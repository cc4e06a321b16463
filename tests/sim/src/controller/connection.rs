//! One client's connection: two directions of network, and what the controller remembers about it.

use std::net::IpAddr;

use outrigger_interpreter::LineAssembler;

use super::interpreter::LineBuffer;

use crate::dashboard;
use crate::net::Link;
use crate::port::Port;
use crate::rng::Rng;
use crate::robot_api;
use crate::rtde::Session;

/// A connection, as the driver names it. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conn(pub(crate) u64);

/// Bytes the controller queues for a client that does not read, 3 s of the fastest stream; whole messages beyond it
/// are dropped.
pub(crate) const SEND_QUEUE: usize = 2 * 1024 * 1024;
/// Bytes a client may have on the way to the controller; more is not taken.
pub(crate) const RECEIVE_QUEUE: usize = 64 * 1024;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// The client has closed; what it sent before is still read.
    ClosedByClient,
    /// The controller closes once everything sent has been read.
    Closing,
    Closed,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) port: Port,
    /// The client's address, where the driver knows one.
    pub(crate) peer: Option<IpAddr>,
    pub(crate) phase: Phase,
    /// Controller to client.
    pub(crate) down: Link,
    /// Client to controller.
    pub(crate) up: Link,
    /// Programs out of text (30001 to 30003).
    pub(crate) text: LineAssembler,
    /// Lines of 30020.
    pub(super) lines: LineBuffer,
    /// The conversation on 29999.
    pub(crate) dashboard: dashboard::Session,
    /// The conversation on 80.
    pub(crate) http: robot_api::Session,
    /// Whether the answer that is awaited on 80 is the last.
    pub(crate) closes_after_answer: bool,
    /// The conversation on 30004.
    pub(crate) session: Session,
    /// Whether it was opened in remote control.
    pub(crate) permitted: bool,
    /// Whether the next state message is its first.
    pub(crate) first_state: bool,
    /// Bytes the client has read.
    pub(crate) read: u64,
}

impl Connection {
    pub(crate) fn new(port: Port, peer: Option<IpAddr>, seed: u64, id: u64, permitted: bool) -> Self {
        Self {
            port,
            peer,
            phase: Phase::Open,
            down: Link::new(Rng::new(seed, id * 2 + 100)),
            up: Link::new(Rng::new(seed, id * 2 + 101)),
            text: LineAssembler::default(),
            lines: LineBuffer::default(),
            dashboard: dashboard::Session::default(),
            http: robot_api::Session::default(),
            closes_after_answer: false,
            session: Session::new(),
            permitted,
            first_state: true,
            read: 0,
        }
    }

    /// Whether the controller still sends to it.
    pub(crate) fn listens(&self) -> bool {
        self.phase == Phase::Open
    }
}
