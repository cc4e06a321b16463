//! The conversation in which the URCap External Control gets a program (`core/docs/protocol/ur-external-control.md 1.1`).

use core::net::SocketAddr;

use super::door::Door;
use outrigger_wire::time::{Duration, Instant};

/// What it asks.
const REQUEST: &[u8] = b"request_program\n";
/// Whoever has not asked and left within this time is hung up on.
const PATIENCE: Duration = Duration::from_secs(2);
/// More than it asks.
const ROOM: usize = 32;

/// Our port that the URCap asks at.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Fetch {
    pub(super) door: Door,
    window: [u8; ROOM],
    filled: usize,
}

impl Fetch {
    /// Somebody has connected; how many have by now, where it is not the controller.
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

    /// Takes bytes. Returns whether they are the question now; what cannot become one is `None`.
    pub(super) fn commit(&mut self, count: usize) -> Option<bool> {
        let before = self.has_asked();
        self.filled = self.filled.saturating_add(count).min(ROOM);
        REQUEST.starts_with(self.said()).then_some(self.has_asked() && !before)
    }

    /// Returns whether the question has come.
    pub(super) fn has_asked(&self) -> bool {
        self.said() == REQUEST
    }

    /// The bytes that came.
    pub(super) fn said(&self) -> &[u8] {
        self.window.get(..self.filled).unwrap_or_default()
    }

    /// Hangs up on a connection that has not asked and closed in time. Returns whether it has not even asked.
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
