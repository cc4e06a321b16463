//! Reassembles a recording or settings that a board has sent in pieces, with limits on bytes, pieces and time.

use std::collections::BTreeMap;

use outrigger_remote::telemetry::Chunk;
use outrigger_wire::time::{Duration, Instant};

/// The smallest average length of the pieces of a recording \[B\]. If there are more pieces than that allows, all
/// except the newest are dropped.
const LEAST: u32 = 64;
/// The number of pieces permitted beyond the limit that [`LEAST`] gives, because the last piece of each part may be
/// short.
const SPARE: usize = 8;
/// The longest time from the first piece of a recording to the last. The recording of the previous run is sent every
/// half minute.
const PATIENCE: Duration = Duration::from_secs(600);

/// The pieces of a board's recording or settings that were received so far, and have not been reassembled yet.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The largest accepted length of the data that are reassembled \[B\].
    most: u32,
    length: u32,
    bytes: BTreeMap<u32, Vec<u8>>,
    have: u64,
    /// The time at which the first of the stored pieces arrived.
    since: Instant,
}

/// The result of receiving one piece of a recording or of settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// The complete recording or settings, if this piece was the last that was missing.
    pub(super) whole: Option<Vec<u8>>,
    /// `true` if bytes were dropped: those of this piece, or those received before it.
    pub(super) dropped: bool,
}

impl Pieces {
    /// Creates an empty set of pieces, for data of at most `most` bytes.
    pub(super) const fn new(most: u32) -> Self {
        Self { most, length: 0, bytes: BTreeMap::new(), have: 0, since: Instant::ZERO }
    }

    /// Adds a piece that arrived at `now`. The piece is dropped if it is empty or exceeds the data or their limit.
    /// Those received before are dropped if they belong to other data, or are too many or too old.
    pub(super) fn take(&mut self, chunk: &Chunk<'_>, now: Instant) -> Taken {
        let Chunk { length, offset, bytes } = *chunk;
        let end = u64::from(offset) + bytes.len() as u64;
        if length > self.most || end > u64::from(length) || bytes.is_empty() {
            return Taken { whole: None, dropped: true };
        }
        let mut dropped = false;
        if length != self.length || now.since(self.since) > PATIENCE {
            dropped = self.begin_anew(length, now);
        }
        self.insert(offset, bytes);
        if self.have > u64::from(length) || self.bytes.len() > (length / LEAST) as usize + SPARE {
            dropped = self.begin_anew(length, now);
            self.insert(offset, bytes);
        }
        if self.have != u64::from(length) {
            return Taken { whole: None, dropped };
        }
        let pieces = std::mem::take(&mut self.bytes);
        self.begin_anew(0, now);
        let mut next = 0;
        for (offset, bytes) in &pieces {
            if *offset != next {
                return Taken { whole: None, dropped: true };
            }
            // This does not exceed `length`, the number of bytes received.
            next += bytes.len() as u32;
        }
        Taken { whole: Some(pieces.into_values().collect::<Vec<_>>().concat()), dropped }
    }

    fn insert(&mut self, offset: u32, bytes: &[u8]) {
        let before = self.bytes.insert(offset, bytes.to_vec());
        self.have += bytes.len() as u64;
        self.have -= before.map_or(0, |before| before.len() as u64);
    }

    /// Drops the pieces received so far, and starts with data of `length` bytes. Returns `true` if pieces were
    /// dropped.
    fn begin_anew(&mut self, length: u32, now: Instant) -> bool {
        let had = self.have > 0;
        *self = Self { length, since: now, ..Self::new(self.most) };
        had
    }

    /// Returns the number of bytes received so far, and the length of the complete data \[B\].
    pub(super) const fn progress(&self) -> (u64, u32) {
        (self.have, self.length)
    }

    /// Returns the numbers of bytes and pieces that are stored at present.
    #[cfg(test)]
    fn size(&self) -> (usize, usize) {
        (self.bytes.values().map(Vec::capacity).sum(), self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1 << 16;

    fn piece(offset: u32, bytes: &[u8]) -> Chunk<'_> {
        Chunk { length: 6, offset, bytes }
    }

    fn whole(bytes: &str) -> Taken {
        Taken { whole: Some(bytes.as_bytes().to_vec()), dropped: false }
    }

    const NOTHING: Taken = Taken { whole: None, dropped: false };
    const DROPPED: Taken = Taken { whole: None, dropped: true };

    #[test]
    fn pieces_in_any_order_and_twice_are_the_whole() {
        let mut pieces = Pieces::new(MOST);
        for (offset, bytes) in [(4, "ef"), (0, "abc"), (4, "ef")] {
            assert_eq!(pieces.take(&piece(offset, bytes.as_bytes()), Instant::ZERO), NOTHING);
        }
        assert_eq!(pieces.progress(), (5, 6));
        assert_eq!(pieces.take(&piece(3, b"d"), Instant::ZERO), whole("abcdef"));
        assert_eq!((pieces.progress(), pieces.size()), ((0, 0), (0, 0)));
    }

    #[test]
    fn pieces_that_do_not_fit_are_no_whole_and_the_newest_stay() {
        let mut pieces = Pieces::new(MOST);
        let mut take = |offset, bytes: &[u8]| pieces.take(&piece(offset, bytes), Instant::ZERO);
        assert_eq!(take(4, b"xyz"), DROPPED, "it ends behind the end");
        assert_eq!((take(0, b"abc"), take(1, b"bcd")), (NOTHING, DROPPED), "they overlap");
        assert_eq!((take(0, b"abcde"), take(2, b"cd"), take(5, b"f")), (NOTHING, DROPPED, NOTHING));
        assert_eq!(take(4, b"ef"), NOTHING);
        assert_eq!(pieces.take(&Chunk { length: MOST + 1, offset: 0, bytes: b"a" }, Instant::ZERO), DROPPED);
        assert_eq!(pieces.progress(), (5, 6));
        assert_eq!(
            pieces.take(&Chunk { length: 1, offset: 0, bytes: b"a" }, Instant::ZERO),
            Taken { dropped: true, ..whole("a") }
        );
    }

    #[test]
    fn pieces_of_one_byte_take_no_more_memory_than_a_whole() {
        let mut pieces = Pieces::new(MOST);
        let mut dropped = 0;
        for number in 0..100_000 {
            // The last piece is never sent, so there is no whole.
            let offset = number * 7 % (MOST - 1);
            dropped += u32::from(pieces.take(&Chunk { length: MOST, offset, bytes: b"x" }, Instant::ZERO).dropped);
            let (bytes, count) = pieces.size();
            assert!(bytes <= 16 * count && count <= (MOST / LEAST) as usize + SPARE, "{bytes} B in {count}");
        }
        assert!(dropped > 50, "{dropped}");
    }

    #[test]
    fn pieces_that_come_too_slowly_are_dropped() {
        let mut pieces = Pieces::new(MOST);
        let later = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(pieces.take(&piece(0, b"abc"), later(5)), NOTHING);
        assert_eq!(pieces.take(&piece(3, b"de"), later(605)), NOTHING);
        assert_eq!(pieces.take(&piece(5, b"f"), later(606)), DROPPED);
        assert_eq!(pieces.progress(), (1, 6));
    }
}
