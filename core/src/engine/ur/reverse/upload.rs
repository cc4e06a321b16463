//! How a program gets to the controller.

use super::text::Made;
use super::{PIECE, Reverse, Stage};
use crate::engine::ur::config::UrConfig;
use crate::engine::ur::path::Delivery;
use crate::time::Instant;

impl Reverse {
    /// A program of ours is to be sent, unless one is waited for.
    pub(super) fn call(&mut self, now: Instant) {
        let due = match self.stage {
            Stage::Away => true,
            Stage::Called(since) => now.since(since) > self.config.start_timeout,
            Stage::Greeting(_) | Stage::Ready | Stage::Ending(..) => false,
        };
        if !due {
            return;
        }
        // Where the URCap fetches it, somebody at the robot starts it.
        if self.config.by == Delivery::Text {
            self.make(now);
        }
    }

    /// The text of a program goes out.
    pub(super) fn make(&mut self, now: Instant) {
        let (Some(software), Some(address)) = (self.software, self.address()) else { return };
        self.tokens = self.tokens.wrapping_add(1);
        // Another one after each start of ours, as far as the clock tells, and after each call.
        let token = (now.as_micros() as i32 & 0x7FFF_0000) | i32::from(self.tokens);
        self.made = Some(Made { path: self.path, kind: self.kind, software, address, port: self.config.port, token });
        self.sent = Some(0);
        self.hang_up(Stage::Called(now));
        self.called = true;
    }

    /// Whether its text has begun to go out.
    pub(in crate::engine::ur) fn was_called(&mut self) -> bool {
        core::mem::take(&mut self.called)
    }

    /// The next piece of the text: its length.
    pub(super) fn next_piece(&mut self, config: &UrConfig) -> Option<usize> {
        let (made, sent) = (self.made?, self.sent?);
        let piece = &mut self.piece;
        let read = made.with_text(config, self.fetch.is_some(), |mut text| {
            // What has gone out is passed over: a place in a text that borrows its values cannot be kept.
            let mut left = sent;
            while left > 0 {
                let room = left.min(PIECE);
                let read = text.read(piece.get_mut(..room).unwrap_or_default());
                left = if read == 0 { 0 } else { left.saturating_sub(read) };
            }
            text.read(piece)
        });
        let count = read.filter(|count| *count > 0);
        self.sent = count.map(|count| sent.saturating_add(count));
        count
    }
}
