//! The conversation in which the URCap External Control gets a program
//! (`core/docs/protocol/ur-external-control.md 1.1`).

use core::net::SocketAddr;

use super::listener::Listener;
use outrigger_wire::time::{Duration, Instant};

/// The bytes with which the URCap requests a program.
const REQUEST: &[u8] = b"request_program\n";
/// The time within which a client must have sent its request for the program and closed the connection.
const PATIENCE: Duration = Duration::from_secs(2);
/// The size of the receive buffer \[B\], larger than the URCap's request.
const ROOM: usize = 32;

/// A port of ours at which the URCap requests a program.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ScriptServer {
    pub(super) door: Listener,
    window: [u8; ROOM],
    filled: usize,
}

impl ScriptServer {
    /// Takes a connection to the port at which the URCap requests a program. If it is not from the controller, returns
    /// the number of such connections so far.
    pub(super) fn accepted(&mut self, from: SocketAddr, now: Instant) -> Option<u32> {
        if !self.door.accepted(from, now) {
            self.door.turn_away();
            return Some(self.door.strangers());
        }
        self.filled = 0;
        None
    }

    pub(super) fn window(&mut self) -> &mut [u8] {
        self.window.get_mut(self.filled..).unwrap_or_default()
    }

    /// Takes `count` received bytes. Returns `true` if they complete the URCap's request for a program, `false` if more is to
    /// follow or the request was complete before, and `None` if they are no part of it.
    pub(super) fn commit(&mut self, count: usize) -> Option<bool> {
        let before = self.has_asked();
        self.filled = self.filled.saturating_add(count).min(ROOM);
        REQUEST.starts_with(self.said()).then_some(self.has_asked() && !before)
    }

    /// Returns `true` if the URCap's request has arrived.
    pub(super) fn has_asked(&self) -> bool {
        self.said() == REQUEST
    }

    /// Returns the bytes that have arrived of the URCap's request.
    pub(super) fn said(&self) -> &[u8] {
        self.window.get(..self.filled).unwrap_or_default()
    }

    /// Resets a connection that has not sent its request for the program and closed in time. Returns `true` if it has
    /// not even sent the request.
    pub(super) fn wake(&mut self, now: Instant) -> bool {
        self.door.wake(now);
        let overdue = self.door.is_overdue(PATIENCE, now);
        if overdue {
            self.door.hang_up();
        }
        overdue && !self.has_asked()
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.door.next_deadline(PATIENCE)
    }
}
