//! The only file of this package that reads a clock.

#![expect(clippy::disallowed_methods, reason = "this is the one file that reads the clock")]

use std::time::{Duration as StdDuration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use outrigger_wire::time::{Duration, Instant};

use crate::host::os;

/// The number of times that two system clocks are compared to find their difference. The fastest comparison is used.
const LOOKS: u32 = 8;

/// A monotonic clock of the process. Its epoch is the moment at which it was created.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: StdInstant,
    /// The system's monotonic time at the creation of this clock \[ns\], read just before `epoch`. `None` if the
    /// system has no such number.
    epoch_nanos: Option<u64>,
    /// The source of time if the clock runs at another rate than the system's. `None` for the system's rate.
    pace: Option<&'static dyn Pace>,
}

/// A source of time that runs at another rate than the system's clock. A demonstration slows its session and its
/// simulator in the same way.
pub trait Pace: std::fmt::Debug + Sync {
    /// Returns the current time of this source, which runs at another rate than the system's clock.
    fn now(&self) -> Instant;

    /// Returns the system's time at which this clock shows `at`. `None` if that time cannot be represented.
    fn std_instant(&self, at: Instant) -> Option<StdInstant>;

    /// Returns the factor by which this time runs slower than the system's.
    fn slowed(&self) -> u32;
}

impl Clock {
    /// Starts a clock at zero that runs at the rate of the system's clock.
    #[must_use]
    pub fn start() -> Self {
        // A thread may be suspended between two readings, so the closest pair of several is used.
        let look = || {
            let before = os::monotonic_nanos();
            let epoch = StdInstant::now();
            (os::monotonic_nanos().zip(before).map(|(after, before)| after.saturating_sub(before)), before, epoch)
        };
        let (_, epoch_nanos, epoch) = (1..LOOKS).map(|_| look()).fold(look(), std::cmp::min);
        Self { epoch, epoch_nanos, pace: None }
    }

    /// Starts a clock that shows the time of `pace`, which runs at another rate than the system's clock.
    pub fn paced(pace: &'static dyn Pace) -> Self {
        Self { pace: Some(pace), ..Self::start() }
    }

    /// Returns the time since the clock's start, in µs.
    #[must_use]
    pub fn now(&self) -> Instant {
        if let Some(pace) = self.pace {
            return pace.now();
        }
        // Called twice a cycle or more. The standard library's arithmetic on pairs of numbers takes three times as
        // long.
        if let (Some(epoch), Some(now)) = (self.epoch_nanos, os::monotonic_nanos()) {
            return Instant::from_micros(now.saturating_sub(epoch) / 1_000);
        }
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Converts a duration of the system's time to the time of this clock, at its current rate.
    #[must_use]
    pub fn span(&self, span: StdDuration) -> Duration {
        let span = self.pace.map_or(span, |pace| span / pace.slowed().max(1));
        Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }

    /// Returns the time at which the clock started, by the current system clock, since 1970 \[ns\].
    #[must_use]
    pub fn origin_unix_nanos(&self) -> u64 {
        // A thread may be suspended between two readings, so the closest pair of several is used.
        let look = || {
            let before = self.epoch.elapsed();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            (self.epoch.elapsed().saturating_sub(before), now.saturating_sub(before))
        };
        let (_, origin) = (1..LOOKS).map(|_| look()).fold(look(), std::cmp::min);
        u64::try_from(origin.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the standard library's instant at which this clock shows `at`, for timers. An instant that cannot be
    /// represented is replaced by one in an hour.
    #[must_use]
    pub fn std_instant(&self, at: Instant) -> StdInstant {
        // A deadline beyond the range of the platform's clock is replaced by one in an hour: the engine computes its
        // deadline anew after every wake-up.
        let hour = StdDuration::from_secs(3_600);
        let instant = match self.pace {
            Some(pace) => pace.std_instant(at),
            None => self.epoch.checked_add(StdDuration::from_micros(at.as_micros())),
        };
        instant.unwrap_or_else(|| StdInstant::now() + hour)
    }
}

/// Returns the system's current time as an instant of the standard library, for timers.
pub fn std_now() -> StdInstant {
    StdInstant::now()
}

/// Converts a duration of this project to the standard library's type.
#[must_use]
pub fn std_duration(span: Duration) -> StdDuration {
    StdDuration::from_micros(span.as_micros())
}

/// Returns the date and time in UTC for reports: `2026-01-31 12:00:00 UTC`.
#[must_use]
pub fn utc_now() -> String {
    let secs = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    utc_text(secs)
}

/// Formats `secs` since 1970 as a civil date, by the usual era arithmetic on a year that starts in March.
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
