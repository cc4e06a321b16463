//! The conversation in which the URCap External Control gets a program (`core/docs/protocol/ur-external-control.md 1.1`).

use core::net::SocketAddr;

use super::door::Door;
use crate::time::{Duration, Instant};

/// What it asks.
const REQUEST: &[u8] = b"request_program\n";
/// Whoever has not asked and left within this time is hung up on.
const PATIENCE: Duration = Duration::from_secs(2);
/// More than it asks.
const ROOM: usize = 32;

/// Our port that the URCap asks at.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Fetch {
    pub(super) door: Door,
    /// Since when somebody is connected.
    since: Option<Instant>,
    window: [u8; ROOM],
    filled: usize,
}

impl Fetch {
    /// Somebody has connected; how many have by now, where it is not the controller.
    pub(super) fn accepted(&mut self, from: SocketAddr, now: Instant) -> Option<u32> {
        if !self.door.accepted(from) {
            self.door.turn_away();
            return Some(self.door.strangers());
        }
        (self.since, self.filled) = (Some(now), 0);
        None
    }

    pub(super) fn window(&mut self) -> &mut [u8] {
        self.window.get_mut(self.filled..).unwrap_or_default()
    }

    /// Bytes have come: whether they are the question. What cannot become one is hung up on.
    pub(super) fn commit(&mut self, count: usize) -> bool {
        let asks = |said: &[u8]| said == REQUEST;
        let before = asks(self.window.get(..self.filled).unwrap_or_default());
        self.filled = self.filled.saturating_add(count).min(ROOM);
        let said = self.window.get(..self.filled).unwrap_or_default();
        if !REQUEST.starts_with(said) {
            self.door.hang_up();
            self.since = None;
            return false;
        }
        asks(said) && !before
    }

    pub(super) fn closed(&mut self) {
        self.door.closed();
        self.since = None;
    }

    pub(super) fn close(&mut self) {
        self.door.close();
        self.since = None;
    }

    pub(super) fn wake(&mut self, now: Instant) {
        self.door.wake(now);
        if self.since.is_some_and(|since| now.since(since) > PATIENCE) {
            self.door.hang_up();
            self.since = None;
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let patience = self.since.map(|since| since + PATIENCE + Duration::from_micros(1));
        patience.or(self.door.next_deadline())
    }
}
