//! The positions at which messages start in a stream, for readers that may miss pieces of it.

use super::{Framing, MAX_PRIMARY_SIZE, MIN_PRIMARY_SIZE};
use crate::rtde;

/// A follower of the message lengths in a stream, piece by piece, which does not store the stream.
///
/// A reader that has lost pieces of a length-prefixed stream cannot find the next message by itself. The sender of the
/// pieces therefore states with each piece where the first message in it starts ([`Self::first_start`]); a reader
/// resumes there.
#[derive(Clone, Copy, Debug)]
pub struct Boundaries {
    framing: Framing,
    /// The bytes of the length field received so far; their number is in `have`.
    head: [u8; 4],
    have: usize,
    /// The number of bytes of the current message that are still to come, once its length is known.
    to_go: usize,
    /// `true` if the length of a message was invalid, so that the rest of this stream is not followed.
    lost: bool,
}

impl Boundaries {
    /// Returns a follower of message boundaries for a stream that starts now.
    #[must_use]
    pub const fn new(framing: Framing) -> Self {
        Self { framing, head: [0; 4], have: 0, to_go: 0, lost: false }
    }

    /// Takes the next piece of the stream and returns the offset of the first message that starts in it. `None` if no
    /// message starts there, or if an earlier length was invalid.
    pub fn first_start(&mut self, mut piece: &[u8]) -> Option<usize> {
        let whole = piece.len();
        let mut first = None;
        while !piece.is_empty() && !self.lost {
            if self.to_go > 0 {
                let passed = self.to_go.min(piece.len());
                self.to_go = self.to_go.saturating_sub(passed);
                piece = piece.get(passed..).unwrap_or_default();
                continue;
            }
            if self.have == 0 {
                first = first.or(Some(whole.saturating_sub(piece.len())));
            }
            let Some((byte, rest)) = piece.split_first() else { break };
            piece = rest;
            if let Some(slot) = self.head.get_mut(self.have) {
                *slot = *byte;
            }
            self.have = self.have.saturating_add(1);
            if self.have == self.length_len() {
                self.begin();
            }
        }
        first
    }

    const fn length_len(&self) -> usize {
        match self.framing {
            Framing::Primary | Framing::Realtime => 4,
            Framing::Rtde => 2,
            // Number and size, two bytes each.
            Framing::Fri => 4,
        }
    }

    /// Evaluates a message's complete length field; marks the stream as lost if no message can have that length.
    fn begin(&mut self) {
        let [a, b, c, d] = self.head;
        let (size, least, most) = match self.framing {
            Framing::Primary | Framing::Realtime => {
                (u32::from_be_bytes([a, b, c, d]), MIN_PRIMARY_SIZE, MAX_PRIMARY_SIZE)
            }
            Framing::Rtde => (u16::from_be_bytes([a, b]).into(), rtde::HEADER_LEN, rtde::MAX_SIZE),
            Framing::Fri => (u16::from_le_bytes([c, d]).into(), 4, usize::MAX),
        };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.lost = size < least || size > most;
        self.to_go = size.saturating_sub(self.have);
        self.have = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(sizes: &[usize]) -> Vec<u8> {
        let message = |size: &usize| {
            let mut bytes = vec![7; *size];
            bytes[..4].copy_from_slice(&u32::try_from(*size).unwrap().to_be_bytes());
            bytes
        };
        sizes.iter().flat_map(message).collect()
    }

    #[test]
    fn each_piece_is_told_with_the_first_message_that_starts_in_it() {
        let sizes = [5, 9, 300, 6, 5, 1000, 55];
        let stream = messages(&sizes);
        let starts: Vec<usize> = sizes.iter().scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
        for length in [1, 2, 3, 7, 64, 301, 5000] {
            let mut boundaries = Boundaries::new(Framing::Primary);
            for (n, piece) in stream.chunks(length).enumerate() {
                let from = n * length;
                let expected = starts.iter().find(|start| (from..from + piece.len()).contains(*start));
                assert_eq!(boundaries.first_start(piece), expected.map(|start| start - from), "{length}, piece {n}");
            }
        }
    }

    #[test]
    fn packages_of_rtde_have_a_length_of_two_bytes() {
        let mut boundaries = Boundaries::new(Framing::Rtde);
        let pieces: [(&[u8], _); 4] =
            [(b"\0\x04V\x01\0", Some(0)), (b"\x0bU\x01", None), (b"1234567", None), (b"\0\x03S", Some(0))];
        for (piece, expected) in pieces {
            assert_eq!(boundaries.first_start(piece), expected, "{piece:?}");
        }
    }

    #[test]
    fn after_a_length_that_is_no_messages_nothing_starts_any_more() {
        let mut boundaries = Boundaries::new(Framing::Primary);
        assert_eq!(boundaries.first_start(&[messages(&[5]), b"Connected".to_vec()].concat()), Some(0));
        assert_eq!(boundaries.first_start(&messages(&[5, 5])), None);
    }
}
