//! The states of the last half minute, for browsers that open the live page later.

use std::collections::VecDeque;
use std::sync::Arc;

use outrigger_wire::time::{Duration, Instant};

/// The time for which states are stored.
const SPAN: Duration = Duration::from_millis(30_000);
/// The shortest time between two stored states.
const INTERVAL: Duration = Duration::from_millis(100);
/// The largest size of all stored states together \[B\]. A state has about 2 kB.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// The stored states, at most ten for each second of the last 30 s and at most [`MOST_BYTES`].
#[derive(Debug, Default)]
pub(super) struct PastStates {
    states: VecDeque<(Instant, Arc<str>)>,
    bytes: usize,
}

impl PastStates {
    /// Stores the state of the instant `at` if the last stored one is old enough, and drops states that are too old.
    pub(super) fn put(&mut self, at: Instant, text: &Arc<str>) {
        if self.states.back().is_some_and(|(last, _)| at.since(*last) < INTERVAL) {
            return;
        }
        self.states.push_back((at, Arc::clone(text)));
        self.bytes = self.bytes.saturating_add(text.len());
        while let Some((first, _)) = self.states.front()
            && (at.since(*first) > SPAN || self.bytes > MOST_BYTES)
        {
            let dropped = self.states.pop_front().map_or(0, |(_, text)| text.len());
            self.bytes = self.bytes.saturating_sub(dropped);
        }
    }

    /// Returns the stored states, oldest first.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Arc<str>> {
        self.states.iter().map(|(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(1_000 * millis)
    }

    #[test]
    fn ten_states_a_second_are_stored_for_half_a_minute() {
        let mut past = PastStates::default();
        for frame in 0..6_000 {
            past.put(at(frame * 16), &format!("{frame}").into());
        }
        let texts: Vec<u64> = past.texts().map(|text| text.parse().expect("a number")).collect();
        assert!((260..=301).contains(&texts.len()), "{} states", texts.len());
        assert!(texts.windows(2).all(|two| (7..=9).contains(&(two[1] - two[0]))));
        assert!(texts[0] * 16 + 30_200 > 5_999 * 16);
        assert_eq!(past.bytes, past.texts().map(|text| text.len()).sum::<usize>());
    }

    #[test]
    fn long_states_never_need_more_than_the_memory_for_all() {
        let mut past = PastStates::default();
        for (number, size) in [(0, MOST_BYTES), (1, 100), (2, MOST_BYTES + 1), (3, 100)] {
            past.put(at(number * 200), &"x".repeat(size).into());
            assert!(past.bytes <= MOST_BYTES);
        }
        assert_eq!(past.texts().map(|text| text.len()).collect::<Vec<_>>(), [100]);
    }
}
