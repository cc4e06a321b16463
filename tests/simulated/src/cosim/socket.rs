//! The host's end of one TCP connection.

use std::collections::VecDeque;
use std::time::Duration;

use outrigger_sim::controller::{Conn, Controller};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_wire::time as core;

use super::setup::core_span;

/// A socket, used for one connection after another.
#[derive(Debug, Default)]
pub(super) struct Socket {
    phase: Phase,
    /// The number of bytes that the host has written to this connection.
    written: u64,
    /// The writes that may still be un-acknowledged, each with its time and the total number of bytes written with
    /// it.
    unacked: VecDeque<(SimTime, u64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Closed,
    Opening {
        port: u16,
        done: SimTime,
    },
    /// The socket listens on this port of the host.
    Listening(u16),
    Open(Conn),
}

impl Socket {
    /// Listens for connections to this port of the host.
    pub(super) fn listen(&mut self, port: u16) {
        *self = Self { phase: Phase::Listening(port), ..Self::default() };
    }

    /// Accepts the connection if the socket listens on this port. Returns whether it was accepted.
    pub(super) fn accept(&mut self, port: u16, conn: Conn) -> bool {
        let listens = self.phase == Phase::Listening(port);
        if listens {
            self.phase = Phase::Open(conn);
        }
        listens
    }

    /// Begins to connect; the peer's answer arrives at `done`.
    pub(super) fn open(&mut self, port: u16, done: SimTime) {
        *self = Self { phase: Phase::Opening { port, done }, ..Self::default() };
    }

    /// Returns the time at which a connection attempt ends; [`SimTime::MAX`] if there is none.
    pub(super) fn opens_at(&self) -> SimTime {
        if let Phase::Opening { done, .. } = self.phase { done } else { SimTime::MAX }
    }

    /// Ends a connection attempt whose time has come. Returns whether the connection was established; `None` if no
    /// attempt ends now.
    pub(super) fn opened(&mut self, controller: &mut Controller) -> Option<bool> {
        let Phase::Opening { port, done } = self.phase else { return None };
        if done > controller.now() {
            return None;
        }
        let conn = Port::from_number(port).and_then(|port| controller.connect(port).ok());
        self.phase = conn.map_or(Phase::Closed, Phase::Open);
        Some(conn.is_some())
    }

    /// Returns the connection while it is open.
    pub(super) fn conn(&self) -> Option<Conn> {
        if let Phase::Open(conn) = self.phase { Some(conn) } else { None }
    }

    /// Returns whether the peer has closed the connection and all its bytes were read.
    pub(super) fn closed_by_peer(&mut self, controller: &Controller) -> bool {
        let closed = self.conn().is_some_and(|conn| !controller.is_open(conn) && controller.pending(conn) == 0);
        if closed {
            self.phase = Phase::Closed;
        }
        closed
    }

    /// Writes all of `bytes`, like a socket that always has room for one text.
    pub(super) fn write(&mut self, controller: &mut Controller, bytes: &[u8]) {
        let Some(conn) = self.conn() else { return };
        self.written += controller.write(conn, bytes) as u64;
        self.unacked.push_back((controller.now(), self.written));
    }

    /// Returns the number of bytes that the peer has not acknowledged, and the age of the oldest of them.
    pub(super) fn unacked(&mut self, controller: &Controller) -> (u32, core::Duration) {
        let Some(conn) = self.conn() else { return (0, core::Duration::ZERO) };
        let bytes = controller.in_flight(conn);
        let acknowledged = self.written - bytes as u64;
        while self.unacked.front().is_some_and(|(_, end)| *end <= acknowledged) {
            self.unacked.pop_front();
        }
        let age = self.unacked.front().map_or(Duration::ZERO, |(at, _)| controller.now().since(*at));
        (u32::try_from(bytes).unwrap_or(u32::MAX), core_span(age))
    }

    /// Resets the connection: queued data are dropped.
    pub(super) fn abort(&mut self, controller: &mut Controller) {
        if let Some(conn) = self.conn() {
            controller.reset(conn);
        }
        self.phase = Phase::Closed;
    }
}
