//! The only file of this package that reads a clock.

#![expect(clippy::disallowed_methods, reason = "this is the one file that reads the clock")]

use std::time::{Duration as StdDuration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use outrigger_wire::time::{Duration, Instant};

use crate::host::os;

/// Looks at two clocks, of which the quickest counts.
const LOOKS: u32 = 8;

/// The process's monotonic clock, with its epoch at the clock's making.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: StdInstant,
    /// The epoch as a number, just before it and never after; `None` where the system has none.
    epoch_nanos: Option<u64>,
    /// Time that passes at another pace than the system's.
    pace: Option<&'static dyn Pace>,
}

/// Time that passes at another pace than the system's: a demonstration slows its session and its simulator alike.
pub trait Pace: std::fmt::Debug + Sync {
    /// Returns the present.
    fn now(&self) -> Instant;

    /// Returns the system's time at which [`now`](Self::now) is `at`; none where that is out of reach.
    fn std_instant(&self, at: Instant) -> Option<StdInstant>;

    /// Returns how many times slower than the system's time it passes.
    fn slowed(&self) -> u32;
}

impl Clock {
    /// A clock that starts at zero now.
    #[must_use]
    pub fn start() -> Self {
        // A thread may be kept waiting between two looks: the closest pair of several is taken.
        let look = || {
            let before = os::monotonic_nanos();
            let epoch = StdInstant::now();
            (os::monotonic_nanos().zip(before).map(|(after, before)| after.saturating_sub(before)), before, epoch)
        };
        let (_, epoch_nanos, epoch) = (1..LOOKS).map(|_| look()).fold(look(), std::cmp::min);
        Self { epoch, epoch_nanos, pace: None }
    }

    /// A clock that shows the time of `pace`.
    pub fn paced(pace: &'static dyn Pace) -> Self {
        Self { pace: Some(pace), ..Self::start() }
    }

    /// Now, in µs since the clock's start.
    #[must_use]
    pub fn now(&self) -> Instant {
        if let Some(pace) = self.pace {
            return pace.now();
        }
        // Twice a cycle or more: the standard library's arithmetic on pairs of numbers takes three times as long.
        if let (Some(epoch), Some(now)) = (self.epoch_nanos, os::monotonic_nanos()) {
            return Instant::from_micros(now.saturating_sub(epoch) / 1_000);
        }
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Returns `span` of the system's time in the time of this clock, at its present pace.
    #[must_use]
    pub fn span(&self, span: StdDuration) -> Duration {
        let span = self.pace.map_or(span, |pace| span / pace.slowed().max(1));
        Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }

    /// When the clock started, in ns since 1970 by the system's clock as it stands now.
    #[must_use]
    pub fn origin_unix_nanos(&self) -> u64 {
        // A thread may be kept waiting between two looks: the closest pair of several says it.
        let look = || {
            let before = self.epoch.elapsed();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            (self.epoch.elapsed().saturating_sub(before), now.saturating_sub(before))
        };
        let (_, origin) = (1..LOOKS).map(|_| look()).fold(look(), std::cmp::min);
        u64::try_from(origin.as_nanos()).unwrap_or(u64::MAX)
    }

    /// The standard library's instant for `at`, for timers.
    #[must_use]
    pub fn std_instant(&self, at: Instant) -> StdInstant {
        // A deadline beyond what the platform's clock can hold is as good as an hour away: the engine is
        // asked again after every wake-up.
        let hour = StdDuration::from_secs(3_600);
        let instant = match self.pace {
            Some(pace) => pace.std_instant(at),
            None => self.epoch.checked_add(StdDuration::from_micros(at.as_micros())),
        };
        instant.unwrap_or_else(|| StdInstant::now() + hour)
    }
}

/// The standard library's instant of now, for timers.
pub fn std_now() -> StdInstant {
    StdInstant::now()
}

/// The longest the standard library needs to know of `span`.
#[must_use]
pub fn std_duration(span: Duration) -> StdDuration {
    StdDuration::from_micros(span.as_micros())
}

/// Date and time in UTC, `2026-01-31 12:00:00 UTC`, for reports.
#[must_use]
pub fn utc_now() -> String {
    let secs = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    utc_text(secs)
}

/// Civil date of `secs` since 1970, by the usual era arithmetic on a year that starts in March.
fn utc_text(secs: u64) -> String {
    let (days, of_day) = (secs / 86_400, secs % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        for (secs, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_767_225_599, "2025-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc_text(secs), text);
        }
    }
}
