//! The division of the bytes received from a client into request lines.

use super::json::{Flaw, message_of};
use super::{Fault, FaultKind, Message};
use outrigger_wire::buffer_compaction::move_to_front;

/// The length of the longest request line \[B\], without the newline at its end.
pub const LINE_MAX: usize = 1024;

/// A buffer for the bytes of one sender of requests, which divides them into lines. A complete line contains a request
/// message or an error; an incomplete one waits for its end.
///
/// After a line that is too long nothing more is read: [`is_closed`](Self::is_closed).
#[derive(Clone, Debug)]
pub struct Lines {
    /// The received bytes, with room for the longest request line and its newline.
    buffer: [u8; LINE_MAX + 1],
    /// The index in the buffer of the first received byte that was not processed yet.
    start: usize,
    end: usize,
    closed: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// Creates a buffer for request lines that has received no bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self { buffer: [0; LINE_MAX + 1], start: 0, end: 0, closed: false }
    }

    /// Returns the free part of the buffer, to write received bytes to. The slice is empty while the buffer is full and
    /// a message waits for [`poll_message`](Self::poll_message), and after a line that was too long.
    pub fn receive_window(&mut self) -> &mut [u8] {
        if self.closed {
            return &mut [];
        }
        if self.start > 0 {
            self.end = move_to_front(&mut self.buffer, self.start..self.end);
            self.start = 0;
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// Processes `n` received bytes that were written to the beginning of the [window](Self::receive_window).
    pub fn commit(&mut self, n: usize) {
        self.end = self.end.saturating_add(n).min(self.buffer.len());
    }

    /// Returns the next request message, or the error in the next line; `None` if no line is complete. Blank lines are
    /// skipped.
    pub fn poll_message(&mut self) -> Option<Result<Message<'_>, Fault<'_>>> {
        let (from, to) = loop {
            let waiting = self.buffer.get(self.start..self.end)?;
            let Some(length) = waiting.iter().position(|byte| *byte == b'\n') else {
                if waiting.len() > LINE_MAX && !self.closed {
                    self.closed = true;
                    break (self.start, self.end);
                }
                return None;
            };
            let (from, to) = (self.start, self.start.saturating_add(length));
            self.start = to.saturating_add(1);
            if !waiting.get(..length).unwrap_or_default().trim_ascii().is_empty() {
                break (from, to);
            }
        };
        if self.closed {
            self.start = self.end;
        }
        let line = self.buffer.get_mut(from..to)?;
        let flaw = if self.closed { Err(Flaw::at(FaultKind::TooLong, LINE_MAX, END_OF_LINE)) } else { Ok(()) };
        Some(message_of(flaw, line))
    }

    /// Returns `true` after a request line that was too long: nothing more is read from its sender.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }
}

const END_OF_LINE: &str = "a newline after at most 1024 bytes";
