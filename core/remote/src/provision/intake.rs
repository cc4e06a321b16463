//! Frames out of a stream of bytes, in fixed memory.

use heapless::Vec;

use super::wire::FRAME_MAX;
use outrigger_wire::bytes::move_to_front;
use outrigger_wire::checksum::crc32;
use outrigger_wire::stuffing::{self, CONTENT_MAX};

/// Bytes in any pieces; what is no whole frame with the right checksum is nothing.
#[derive(Clone, Debug)]
pub(super) struct Intake {
    buffer: [u8; FRAME_MAX],
    /// The first byte that was not read yet.
    start: usize,
    end: usize,
    /// Set while the bytes up to the next zero are the rest of something too long.
    skipping: bool,
    content: Vec<u8, CONTENT_MAX>,
    heard: bool,
}

impl Intake {
    pub(super) const fn new() -> Self {
        Self { buffer: [0; FRAME_MAX], start: 0, end: 0, skipping: false, content: Vec::new(), heard: false }
    }

    /// Returns the room for received bytes; never empty once everything was [polled](Self::poll).
    pub(super) fn window(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.end = move_to_front(&mut self.buffer, self.start..self.end);
            self.start = 0;
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    pub(super) fn commit(&mut self, n: usize) {
        self.end = self.end.saturating_add(n).min(self.buffer.len());
        self.heard |= n > 0;
    }

    /// Returns `true` once any byte was received.
    pub(super) const fn heard(&self) -> bool {
        self.heard
    }

    /// Returns `true` if there is another frame; [content](Self::content) is of that one then.
    pub(super) fn poll(&mut self) -> bool {
        loop {
            let waiting = self.buffer.get(self.start..self.end).unwrap_or_default();
            let Some(length) = waiting.iter().position(|byte| *byte == 0) else {
                if waiting.len() >= FRAME_MAX {
                    (self.start, self.end, self.skipping) = (0, 0, true);
                }
                return false;
            };
            let frame = waiting.get(..length).unwrap_or_default();
            let content = if core::mem::take(&mut self.skipping) { None } else { stuffing::content(frame) };
            self.start = self.start.saturating_add(length).saturating_add(1);
            if let Some(content) = content
                && let Some((said, sum)) = content.split_last_chunk()
                && crc32(said) == u32::from_le_bytes(*sum)
            {
                let length = said.len();
                self.content = content;
                self.content.truncate(length);
                return true;
            }
        }
    }

    /// Returns the content of the newest frame, without its checksum.
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }
}
