//! The upload of a program to the controller.

use super::program_text::Made;
use super::{PIECE, ProgramStage, Reverse};
use crate::engine::ur::command_path::Delivery;
use crate::engine::ur::config::UrConfig;
use outrigger_wire::time::Instant;

impl Reverse {
    /// Starts to send the text of Outrigger's program to the controller, if the program is delivered as text. Does
    /// nothing while the program is connected or ends, and until the `start_timeout` of a text that was sent is over.
    pub(super) fn call(&mut self, now: Instant) {
        let due = match self.stage {
            ProgramStage::Away => true,
            ProgramStage::Called(since) => now.since(since) > self.config.start_timeout,
            ProgramStage::Ready | ProgramStage::Ending(..) => false,
        };
        if !due {
            return;
        }
        // If the URCap fetches it, it is started at the robot.
        if self.config.by == Delivery::Text {
            self.make(now);
        }
    }

    /// Makes the text of Outrigger's program for the controller and starts to send it. The URCap gets the same text
    /// throughout a session, so that another client that requests it cannot replace the program that runs, or is about
    /// to connect.
    pub(super) fn make(&mut self, now: Instant) {
        let (Some(software), Some(address)) = (self.software, self.address()) else { return };
        let again = self.script().is_some() && self.made.is_some();
        if !again {
            self.tokens = self.tokens.wrapping_add(1);
            // Another token after each start of this process, as far as the clock shows, and after each upload.
            let mut token = (now.as_micros() as i32 & 0x7FFF_0000) | i32::from(self.tokens);
            if self.is_foreign() {
                // Far from the numbers of a point, which carries it.
                token |= 0x4000_0000;
            }
            let port = self.config.port;
            self.made = Some(Made { path: self.path, kind: self.kind, software, address, port, token });
        }
        self.sent = Some(0);
        if !again || !self.is_ready() {
            self.hang_up(ProgramStage::Called(now));
        }
        self.called = true;
    }

    /// Returns `true` if the sending of the program's text to the controller has begun since the last call.
    pub(in crate::engine::ur) fn was_called(&mut self) -> bool {
        core::mem::take(&mut self.called)
    }

    /// Makes the next piece of the program's text, and returns its length \[B\]; `None` if all of it is sent, or none is to
    /// be sent.
    pub(super) fn next_piece(&mut self, config: &UrConfig) -> Option<usize> {
        let (made, sent) = (self.made?, self.sent?);
        let for_urcap = self.script().is_some();
        let piece = &mut self.piece;
        let read = made.with_text(config, for_urcap, |mut text| {
            // The part that was sent is read again and skipped: a position in a text that borrows its values cannot be
            // stored.
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
