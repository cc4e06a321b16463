//! Converts the process's time into stamps of messages, which count from 1970.

use outrigger_wire::time::{Duration, Instant};

/// The interval at which the system's clock is read, and compared with the process's clock.
const PACE: Duration = Duration::from_secs(1);
/// The difference of two readings of the offset from which on the system's clock counts as set anew \[ns\]. Smaller
/// differences occur because a thread may have to wait while it reads.
const SET: u64 = 10_000_000;

/// A converter of the process's time into stamps, by the time at which the process's clock was zero \[ns since 1970\].
///
/// That time stays constant, so that stamps have the same intervals as states. It changes only if two readings in
/// succession agree that the system's clock has been set anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct StampClock {
    nanos: u64,
    seen: u64,
    next: Instant,
}

impl StampClock {
    pub(super) const fn new(nanos: u64) -> Self {
        Self { nanos, seen: nanos, next: Instant::ZERO }
    }

    /// Returns the instant `at` of the process's clock in nanoseconds since 1970.
    pub(super) fn nanos(&self, at: Instant) -> u64 {
        self.nanos.saturating_add(at.as_micros().saturating_mul(1_000))
    }

    /// Reads, if that is due at `now`, the time at which the process's clock was zero \[ns since 1970\] by calling
    /// `look`. Adopts it if two readings in succession agree that the system's clock was set anew.
    pub(super) fn follow(&mut self, now: Instant, look: impl FnOnce() -> u64) {
        if now < self.next {
            return;
        }
        self.next = now + PACE;
        let found = look();
        if found.abs_diff(self.nanos) >= SET && found.abs_diff(self.seen) < SET {
            self.nanos = found;
        }
        self.seen = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_lie_apart_as_states_do_and_follow_a_clock_that_was_set() {
        let mut origin = StampClock::new(1_000_000_000_000);
        let second = |number: u64| Instant::from_micros(number * 1_000_000);
        // Reading two clocks takes a while, and one reading was delayed by 30 ms.
        for (number, found) in [(1, 999_999_999_000), (2, 999_970_000_000), (3, 1_000_000_003_000)] {
            origin.follow(second(number), || found);
            assert_eq!(origin.nanos(second(number)), 1_000_000_000_000 + number * 1_000_000_000);
        }
        origin.follow(second(4), || 1_000_000_000_000 + 3_600_000_000_000);
        origin.follow(second(4) + Duration::from_millis(10), || unreachable!("it looked just now"));
        assert_eq!(origin.nanos(second(4)), 1_004_000_000_000);
        origin.follow(second(5), || 1_000_000_000_000 + 3_600_000_000_500);
        assert_eq!(origin.nanos(second(5)), 1_005_000_000_000 + 3_600_000_000_500);
    }
}
