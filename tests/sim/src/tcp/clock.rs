//! The clock of the simulator: the only file that reads a system clock.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::time::SimTime;

/// The number of changes of the pace of time that a clock can store.
const CHANGES: usize = 8;
/// The delay after which a change of the pace of time takes effect: by then every thread reads it, and time never
/// runs backwards.
const NOTICE: Duration = Duration::from_millis(500);

/// Simulated time from the system's monotonic clock: as fast as that, or slower by an integral factor.
///
/// A controller on a slowed clock slows its cycles, its timers and its faults alike; a program that measures the delays
/// of its connection has to use the same clock.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    /// The changes of the pace of simulated time, in their order. Each is written once, so that a reader never waits.
    changes: [OnceLock<Change>; CHANGES],
}

/// The pace of simulated time, relative to the system's clock, from a certain time on.
#[derive(Clone, Copy, Debug)]
struct Change {
    from: Instant,
    at: SimTime,
    slowed: u32,
}

impl Clock {
    /// Returns a clock that starts at zero now, as fast as the system's.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the file that reads the clock")]
    pub fn start() -> Self {
        Self { start: Instant::now(), changes: [const { OnceLock::new() }; CHANGES] }
    }

    /// Returns the present simulated time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the file that reads the clock")]
    pub fn now(&self) -> SimTime {
        self.time_of(Instant::now())
    }

    /// Returns the simulated time at the real time `instant`.
    fn time_of(&self, instant: Instant) -> SimTime {
        let Change { from, at, slowed } = self.pace(|change| change.from <= instant);
        at + instant.saturating_duration_since(from) / slowed
    }

    /// Returns the system's time at which this clock shows `at`, by the changes of pace known now. `None` if it is
    /// beyond the range of the system's clock.
    #[must_use]
    pub fn instant(&self, at: SimTime) -> Option<Instant> {
        let pace = self.pace(|change| change.at <= at);
        pace.from.checked_add(at.since(pace.at).checked_mul(pace.slowed)?)
    }

    /// Returns the real time that passes until this clock shows `at`.
    #[expect(clippy::disallowed_methods, reason = "the file that reads the clock")]
    pub(crate) fn left_until(&self, at: SimTime) -> Duration {
        self.instant(at).map_or(Duration::MAX, |instant| instant.saturating_duration_since(Instant::now()))
    }

    /// Slows time by the factor `times` against the system's, half a second after this call, or later if an earlier
    /// change is still to begin. Returns `false` if the clock has no room for another change; it stores 8.
    #[expect(clippy::disallowed_methods, reason = "the file that reads the clock")]
    pub fn slow(&self, times: u32) -> bool {
        self.slow_from(Instant::now() + NOTICE, times)
    }

    fn slow_from(&self, from: Instant, times: u32) -> bool {
        let last = self.pace(|_| true);
        let from = from.max(last.from);
        let at = last.at + from.saturating_duration_since(last.from) / last.slowed;
        let change = Change { from, at, slowed: times.max(1) };
        self.changes.iter().any(|room| room.set(change).is_ok())
    }

    /// Returns the factor by which this clock is slower than the system's, or will be after the last change.
    #[must_use]
    pub fn slowed(&self) -> u32 {
        self.pace(|_| true).slowed
    }

    /// Returns the pace that the last change for which `holds` returns `true` set, or the pace at the start if there is
    /// none.
    fn pace(&self, holds: impl Fn(&Change) -> bool) -> Change {
        let changes = self.changes.iter().map_while(OnceLock::get).copied();
        let first = Change { from: self.start, at: SimTime::ZERO, slowed: 1 };
        changes.filter(holds).last().unwrap_or(first)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::micros;

    #[test]
    fn slowed_time_goes_on_where_it_was() {
        let clock = Clock::start();
        let after = |millis| clock.start + Duration::from_millis(millis);
        let shown = |millis| micros(clock.time_of(after(millis)).since(SimTime::ZERO)) / 1_000;
        assert!(clock.slow_from(after(1_000), 4) && clock.slow_from(after(3_000), 2));
        assert_eq!([0, 999, 1_000, 1_400, 3_000, 3_200].map(shown), [0, 999, 1_000, 1_100, 1_500, 1_600]);
        assert_eq!(clock.slowed(), 2);
        for millis in [0, 500, 1_000, 2_600, 3_000, 9_000] {
            assert_eq!(clock.instant(clock.time_of(after(millis))), Some(after(millis)), "{millis} ms");
        }
    }

    #[test]
    fn a_change_never_begins_before_the_one_that_was_announced_first() {
        let clock = Clock::start();
        let after = |millis| clock.start + Duration::from_millis(millis);
        assert!(clock.slow_from(after(500), 4) && clock.slow_from(after(400), 8));
        assert_eq!(clock.time_of(after(1_300)), SimTime::from_millis(600));
    }

    #[test]
    fn changes_without_room_are_refused() {
        let clock = Clock::start();
        let done = (0..=CHANGES).filter(|_| clock.slow(2)).count();
        assert_eq!(done, CHANGES);
    }
}
