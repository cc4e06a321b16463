//! Cuts a byte stream into lines, in memory that the caller owns.

use super::FrameError;
use crate::buffer_compaction::move_to_front;

/// Cuts one stream into lines, as [`Assembler`](super::Assembler) cuts others into messages: read into
/// [`LineAssembler::window`], call [`LineAssembler::commit`], then [`LineAssembler::next_line`] until it returns
/// `None`.
///
/// A line ends with a line feed; a carriage return before it belongs to the end. A line longer than the memory is
/// skipped and reported once its end arrives.
#[derive(Debug)]
pub struct LineAssembler<'m> {
    memory: &'m mut [u8],
    /// The start of the bytes that were received and not yet returned as a line: these are `memory[start..end]`.
    start: usize,
    end: usize,
    /// The length so far of a line that is longer than the memory \[B\]; `None` if no line is being skipped.
    skipping: Option<u32>,
}

impl<'m> LineAssembler<'m> {
    /// Returns a line assembler for a stream that starts now. The longest line, including its end, is as long as
    /// `memory`.
    #[must_use]
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, start: 0, end: 0, skipping: None }
    }

    /// Discards the received bytes and the state of the line stream, because a new connection starts.
    pub fn reset(&mut self) {
        self.start = 0;
        self.end = 0;
        self.skipping = None;
    }

    /// Returns the memory for the next received bytes. Empty only while unfetched lines fill the memory; in this case
    /// call [`Self::next_line`] until it returns `None`.
    pub fn window(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.end = move_to_front(self.memory, self.start..self.end);
            self.start = 0;
        }
        self.memory.get_mut(self.end..).unwrap_or_default()
    }

    /// Records that `count` bytes were received into the window. A count beyond the window's length counts as the whole
    /// window.
    pub fn commit(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.memory.len());
    }

    /// Returns the number of bytes that are received and not yet fetched as a line.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns the next line without its end, or `FrameError::Oversize` with the length of a skipped line; `None` if
    /// more bytes are needed.
    pub fn next_line(&mut self) -> Option<Result<&[u8], FrameError>> {
        let live = self.memory.get(self.start..self.end).unwrap_or_default();
        let Some(length) = live.iter().position(|byte| *byte == b'\n') else {
            if self.skipping.is_some() || live.len() >= self.memory.len() {
                self.skipping = Some(skipped(self.skipping, live.len()));
                self.start = 0;
                self.end = 0;
            }
            return None;
        };
        let from = self.start;
        let to = from.saturating_add(length);
        self.start = to.saturating_add(1);
        if let Some(before) = self.skipping.take() {
            let size = skipped(Some(before), length.saturating_add(1));
            return Some(Err(FrameError::Oversize { size }));
        }
        let line = self.memory.get(from..to).unwrap_or_default();
        Some(Ok(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

fn skipped(before: Option<u32>, more: usize) -> u32 {
    before.unwrap_or(0).saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the lines that an assembler cuts out of a stream that arrives in `pieces`, and the bytes that remain.
    fn lines(memory: usize, pieces: impl Iterator<Item = Vec<u8>>) -> (Vec<Result<Vec<u8>, FrameError>>, usize) {
        let mut memory = vec![0xa5; memory];
        let mut assembler = LineAssembler::new(&mut memory);
        let mut found = Vec::new();
        for piece in pieces {
            let mut piece = piece.as_slice();
            while !piece.is_empty() {
                let window = assembler.window();
                let count = window.len().min(piece.len());
                assert!(count > 0, "room, for every line was taken");
                window[..count].copy_from_slice(&piece[..count]);
                assembler.commit(count);
                piece = &piece[count..];
                while let Some(line) = assembler.next_line() {
                    found.push(line.map(<[u8]>::to_vec));
                }
            }
        }
        (found, assembler.waiting())
    }

    #[test]
    fn lines_end_with_a_line_feed_and_a_carriage_return_before_it_is_no_part_of_them() {
        let (found, waiting) = lines(16, [b"one\ntwo\r\n\n\rfo".to_vec()].into_iter());
        assert_eq!(found, [Ok(b"one".to_vec()), Ok(b"two".to_vec()), Ok(vec![])]);
        assert_eq!(waiting, 3);
    }

    #[test]
    fn a_line_longer_than_the_memory_is_skipped_and_reported_with_its_length() {
        let stream = [&[b'x'; 40][..], b"\nafter\n"].concat();
        let (found, _) = lines(8, [stream].into_iter());
        assert_eq!(found, [Err(FrameError::Oversize { size: 41 }), Ok(b"after".to_vec())]);
        let exactly = [b"1234567\n12345678\n".to_vec()];
        let (found, _) = lines(8, exactly.into_iter());
        assert_eq!(found, [Ok(b"1234567".to_vec()), Err(FrameError::Oversize { size: 9 })]);
    }

    #[test]
    fn without_memory_nothing_is_found_and_nothing_breaks() {
        let mut assembler = LineAssembler::new(&mut []);
        assert!(assembler.window().is_empty());
        assembler.commit(5);
        assert_eq!(assembler.next_line(), None);
    }

    proptest! {
        #[test]
        fn a_stream_cut_anywhere_gives_the_same_lines(
            stream in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), b'a'..=b'd'], 0..200),
            pieces in prop::collection::vec(1..9_usize, 1..20),
        ) {
            let (whole, waiting) = lines(12, [stream.clone()].into_iter());
            let mut rest = stream.as_slice();
            let mut sizes = pieces.iter().cycle();
            let cut = std::iter::from_fn(|| {
                let size = *sizes.next()?;
                let (piece, after) = rest.split_at(size.min(rest.len()));
                rest = after;
                (!piece.is_empty()).then(|| piece.to_vec())
            });
            prop_assert_eq!(lines(12, cut), (whole.clone(), waiting));
            // The expected lines, from the standard library.
            let text = stream.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
            let expected: Vec<_> = text.map(|line| match line.len() {
                ..=12 => {
                    let line = line.strip_suffix(b"\n").unwrap_or(line);
                    Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
                }
                size => Err(FrameError::Oversize { size: u32::try_from(size).unwrap() }),
            }).collect();
            prop_assert_eq!(whole, expected);
        }
    }
}
