//! The arguments of the functions that an engine calls on its controller.

use core::net::SocketAddr;

use super::Controller;
use crate::engine::config::Config;
use crate::engine::cycle::CycleMemory;
use crate::engine::event::Events;
use crate::engine::io::LinkId;
use outrigger_wire::time::Instant;

/// The parts of the engine that a controller may use in one call.
#[derive(Debug)]
pub struct Context<'c, const N: usize, C: Controller<N>> {
    pub(in crate::engine) now: Instant,
    pub(in crate::engine) config: &'c Config<N, C::Options>,
    pub(in crate::engine) cycle: &'c mut CycleMemory<N>,
    pub(in crate::engine) events: &'c mut Events<C::Event>,
    /// `true` if the engine was started and is not shutting down.
    pub(in crate::engine) running: bool,
}

/// A state of the arm on which the engine decided in this call whether the arm may be commanded (it was judged).
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// The time at which the judged state was read.
    pub(in crate::engine) arrival: Instant,
    /// `true` if the robot's inputs in this state acknowledged the latched reasons against commanding.
    pub(in crate::engine) acknowledged: bool,
}

/// Bytes that the port received on one link.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    pub(in crate::engine) link: LinkId,
    pub(in crate::engine) count: usize,
    /// The sender of the received datagram; `None` for bytes of a connection.
    pub(in crate::engine) from: Option<SocketAddr>,
    /// The time at which the received bytes were read.
    pub(in crate::engine) arrival: Instant,
}
