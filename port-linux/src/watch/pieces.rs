//! Something long that came in pieces, put together again.

use std::collections::BTreeMap;

use outrigger_core::telemetry::Chunk;

/// Nothing a board sends is longer; pieces of something that claims to be are not kept.
const LENGTH_MAX: u32 = 32 << 20;

/// The pieces that came so far.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    length: u32,
    bytes: BTreeMap<u32, Vec<u8>>,
    have: u64,
}

impl Pieces {
    /// Takes a piece; one of something of another length begins anew.
    pub(super) fn take(&mut self, chunk: &Chunk<'_>) {
        let end = u64::from(chunk.offset) + chunk.bytes.len() as u64;
        if chunk.length > LENGTH_MAX || end > u64::from(chunk.length) || chunk.bytes.is_empty() {
            return;
        }
        if chunk.length != self.length {
            *self = Self { length: chunk.length, ..Self::default() };
        }
        let before = self.bytes.insert(chunk.offset, chunk.bytes.to_vec());
        self.have += chunk.bytes.len() as u64;
        self.have -= before.map_or(0, |before| before.len() as u64);
    }

    /// The whole, once every piece has come.
    pub(super) fn whole(&self) -> Option<Vec<u8>> {
        if self.length == 0 || self.have != u64::from(self.length) {
            return None;
        }
        let mut whole = Vec::with_capacity(usize::try_from(self.length).ok()?);
        for (offset, bytes) in &self.bytes {
            if usize::try_from(*offset) != Ok(whole.len()) {
                return None;
            }
            whole.extend_from_slice(bytes);
        }
        Some(whole)
    }

    /// How much came, of how much \[B\].
    pub(super) const fn progress(&self) -> (u64, u32) {
        (self.have, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u32, bytes: &[u8]) -> Chunk<'_> {
        Chunk { length: 6, offset, bytes }
    }

    #[test]
    fn pieces_in_any_order_and_twice_are_the_whole() {
        let mut pieces = Pieces::default();
        for (offset, bytes) in [(4, "ef"), (0, "abc"), (4, "ef"), (3, "d")] {
            assert_eq!(pieces.whole(), None);
            pieces.take(&piece(offset, bytes.as_bytes()));
        }
        assert_eq!(pieces.whole().as_deref(), Some(&b"abcdef"[..]));
        assert_eq!(pieces.progress(), (6, 6));
    }

    #[test]
    fn pieces_that_do_not_fit_are_no_whole() {
        let mut pieces = Pieces::default();
        pieces.take(&piece(4, b"xyz"));
        pieces.take(&piece(0, b"abc"));
        pieces.take(&piece(1, b"bcd"));
        assert_eq!((pieces.whole(), pieces.progress()), (None, (6, 6)));
        pieces.take(&Chunk { length: u32::MAX, offset: 0, bytes: b"a" });
        assert_eq!(pieces.progress(), (6, 6));
        pieces.take(&Chunk { length: 1, offset: 0, bytes: b"a" });
        assert_eq!(pieces.whole().as_deref(), Some(&b"a"[..]));
    }
}
