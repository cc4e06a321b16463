//! One client's connection: two directions of network, and the state that the controller stores for it.

use std::net::IpAddr;

use outrigger_interpreter::LineAssembler;

use super::interpreter::LineBuffer;

use crate::dashboard;
use crate::net::Link;
use crate::port::Port;
use crate::rng::Rng;
use crate::robot_api;
use crate::rtde::Session;

/// The identifier of one connection to or from the controller. It is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conn(pub(crate) u64);

/// The number of bytes that the controller queues for a client that does not read, 3 s of the fastest stream.
/// Messages that do not fit in the queue are dropped as a whole.
pub(crate) const SEND_QUEUE: usize = 2 * 1024 * 1024;
/// The number of bytes that a client may have in transit to the controller; more are not accepted.
pub(crate) const RECEIVE_QUEUE: usize = 64 * 1024;

/// The state of a client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// The client has closed the connection; bytes that it sent before are still read.
    ClosedByClient,
    /// The controller closes the connection once the client has read all bytes sent to it.
    Closing,
    Closed,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) port: Port,
    /// The client's IP address; `None` if the caller that connected the client did not pass it.
    pub(crate) peer: Option<IpAddr>,
    pub(crate) phase: Phase,
    /// The simulated network from the controller to the client.
    pub(crate) down: Link,
    /// The simulated network from the client to the controller.
    pub(crate) up: Link,
    /// The assembler of complete programs from the client's text (ports 30001 to 30003).
    pub(crate) text: LineAssembler,
    /// The client's incomplete line on port 30020 (interpreter mode).
    pub(super) lines: LineBuffer,
    /// The state of the client's dashboard conversation, on port 29999.
    pub(crate) dashboard: dashboard::Session,
    /// The state of the client's HTTP conversation, on port 80.
    pub(crate) http: robot_api::Session,
    /// `true` if the connection is to be closed after the pending HTTP answer on port 80.
    pub(crate) closes_after_answer: bool,
    /// The state of the client's RTDE conversation, on port 30004.
    pub(crate) session: Session,
    /// `true` if the controller accepted commands of clients, so was not in local control, when the connection was
    /// opened.
    pub(crate) permitted: bool,
    /// `true` until the first state message was sent to the client.
    pub(crate) first_state: bool,
    /// The number of bytes that the client has read from its connection.
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

    /// Returns whether the connection is open, so that the controller still sends states and messages to the client.
    pub(crate) fn listens(&self) -> bool {
        self.phase == Phase::Open
    }
}
