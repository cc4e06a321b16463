//! The age of the oldest byte that the peer has not acknowledged, derived from a count that a socket reports.

use heapless::Deque;

use super::Unacked;
use outrigger_wire::time::Instant;

/// The writes to one connection with their times, until they are acknowledged.
///
/// It is for ports whose sockets report the number of unacknowledged bytes, but not their age.
#[derive(Debug, Default)]
pub struct Outstanding {
    written: u64,
    /// The byte count at the end of each write that is not fully acknowledged, and the time of the write.
    writes: Deque<(u64, Instant), { Self::MOST_WRITES }>,
}

impl Outstanding {
    /// The number of unacknowledged writes whose times are stored. A link with more is dead: further writes count as
    /// old as the last that had room.
    const MOST_WRITES: usize = 8;

    /// Records that `bytes` more were written to the connection at `at`.
    pub fn wrote(&mut self, bytes: usize, at: Instant) {
        self.written = self.written.saturating_add(bytes as u64);
        if self.writes.push_back((self.written, at)).is_err()
            && let Some((end, _)) = self.writes.back_mut()
        {
            *end = self.written;
        }
    }

    /// Returns number and age at `now` of the unacknowledged bytes, if the peer has not acknowledged the last `bytes`
    /// written.
    pub fn waiting(&mut self, bytes: usize, now: Instant) -> Unacked {
        let acknowledged = self.written.saturating_sub(bytes as u64);
        while self.writes.front().is_some_and(|(end, _)| *end <= acknowledged) {
            self.writes.pop_front();
        }
        let age = self.writes.front().map(|(_, at)| now.since(*at)).unwrap_or_default();
        Unacked { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), age }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::time::Duration;

    #[test]
    fn age_is_that_of_the_oldest_byte_not_acknowledged() {
        let at = Instant::from_micros;
        let mut outstanding = Outstanding::default();
        outstanding.wrote(10, at(1_000));
        outstanding.wrote(10, at(3_000));
        let mut waiting = |bytes| outstanding.waiting(bytes, at(5_000));
        assert_eq!(waiting(20), Unacked { bytes: 20, age: Duration::from_micros(4_000) });
        assert_eq!(waiting(15).age, Duration::from_micros(4_000));
        assert_eq!(waiting(10).age, Duration::from_micros(2_000));
        assert_eq!(waiting(0), Unacked::default());
    }

    #[test]
    fn a_dead_link_never_looks_younger_than_it_is() {
        let mut outstanding = Outstanding::default();
        for write in 0..10_000 {
            outstanding.wrote(1, Instant::from_micros(write));
        }
        let mut waiting = |bytes| outstanding.waiting(bytes, Instant::from_micros(20_000)).age.as_micros();
        assert_eq!(waiting(10_000), 20_000);
        assert!(waiting(100) >= 10_100, "the oldest of the last hundred bytes was written at 9 900");
        assert_eq!(waiting(0), 0);
    }
}
