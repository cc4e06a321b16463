//! The extraction of provisioning frames from a stream of bytes, in fixed memory.

use heapless::Vec;

use super::provision_messages::FRAME_MAX;
use outrigger_wire::buffer_compaction::move_to_front;
use outrigger_wire::checksum::crc32;
use outrigger_wire::cobs::{self, CONTENT_MAX};

/// A buffer for the bytes of a serial line, in portions of any size, from which provisioning frames are extracted. Data
/// without a complete frame with a valid checksum is ignored.
#[derive(Clone, Debug)]
pub(super) struct Intake {
    buffer: [u8; FRAME_MAX],
    /// The index in the buffer of the first received byte that was not processed yet.
    start: usize,
    end: usize,
    /// `true` while received bytes up to the next zero are skipped because their frame is too long.
    skipping: bool,
    content: Vec<u8, CONTENT_MAX>,
    heard: bool,
}

impl Intake {
    pub(super) const fn new() -> Self {
        Self { buffer: [0; FRAME_MAX], start: 0, end: 0, skipping: false, content: Vec::new(), heard: false }
    }

    /// Returns the free part of the buffer, to write received bytes to; never empty once all frames were
    /// [polled](Self::poll).
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

    /// Returns `true` if any byte was received on the serial line so far.
    pub(super) const fn heard(&self) -> bool {
        self.heard
    }

    /// Advances to the next provisioning frame. Returns `true` if there is one; [content](Self::content) then returns
    /// its content.
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
            let content = if core::mem::take(&mut self.skipping) { None } else { cobs::content(frame) };
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

    /// Returns the content of the newest complete provisioning frame, without its checksum.
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }
}
