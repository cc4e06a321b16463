//! The detection of stalls of this process, by how late it was woken.

use outrigger_wire::time::{Duration, Instant};

/// A detector of stalls of this process: it compares the time of each wake-up with the requested time.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StallDetector {
    limit: Duration,
    /// The delay of a wake-up above which a state can miss its cycle.
    noticed_above: Duration,
    /// The time of this process's latest wake-up later than `noticed_above`, and the delay of that wake-up.
    noticed: Option<(Instant, Duration)>,
    /// The end of this process's latest stall, a wake-up later than the configured limit.
    stalled: Option<Instant>,
    /// The end of this process's latest wake-up later than half the configured limit: not a fault, but the likely cause
    /// of a stale state.
    noted: Option<Instant>,
    count: u32,
    longest: Duration,
}

impl StallDetector {
    /// Creates a detector of wake-ups late by more than `limit`, at least two periods, for states of this `period`.
    pub(super) const fn new(limit: Duration, period: Duration) -> Self {
        let noticed_above = period.percent(50);
        Self { limit, noticed_above, noticed: None, stalled: None, noted: None, count: 0, longest: Duration::ZERO }
    }

    /// Records a wake-up of this process at `now` that was requested for `due`. Returns the delay if it is a stall.
    pub(super) fn woken(&mut self, now: Instant, due: Option<Instant>) -> Option<Duration> {
        let late = due.map_or(Duration::ZERO, |due| now.since(due));
        self.longest = self.longest.max(late);
        if late <= self.noticed_above {
            return None;
        }
        self.noticed = Some((now, late));
        if late > self.limit.percent(50) {
            self.noted = Some(now);
        }
        if late <= self.limit {
            return None;
        }
        self.stalled = Some(now);
        self.count = self.count.saturating_add(1);
        Some(late)
    }

    /// Returns the delay of this process's latest wake-up that was late by more than half a period, if it was at most
    /// `span` before `now`; otherwise zero.
    pub(super) fn late_within(&self, span: Duration, now: Instant) -> Duration {
        match self.noticed {
            Some((ended, late)) if now.since(ended) <= span => late,
            Some(_) | None => Duration::ZERO,
        }
    }

    /// Returns whether a stall of this process, a wake-up later than the configured limit, ended at most `span` before
    /// `now`.
    pub(super) fn stalled_within(&self, span: Duration, now: Instant) -> bool {
        self.stalled.is_some_and(|ended| now.since(ended) <= span)
    }

    /// Returns whether a wake-up of this process later than half the configured limit ended at most `span` before
    /// `now`.
    pub(super) fn noted_within(&self, span: Duration, now: Instant) -> bool {
        self.noted.is_some_and(|ended| now.since(ended) <= span)
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    pub(super) const fn longest(&self) -> Duration {
        self.longest
    }
}
