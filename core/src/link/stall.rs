//! Did we ourselves stand still? Told from how late we were woken.

use outrigger_wire::time::{Duration, Instant};

/// Compares the time we are called with the time we asked to be called at.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StallDetector {
    limit: Duration,
    /// Wake-ups later than this can make a state miss its cycle.
    noticed_above: Duration,
    /// End of the last late wake-up beyond that, and how late it was.
    noticed: Option<(Instant, Duration)>,
    /// End of the last stall beyond the limit.
    stalled: Option<Instant>,
    /// End of the last stall beyond half of it: no fault, but the likely cause of a stale state.
    noted: Option<Instant>,
    count: u32,
    longest: Duration,
}

impl StallDetector {
    /// A detector of wake-ups late by more than `limit`, at least two periods, for states of this `period`.
    pub(super) const fn new(limit: Duration, period: Duration) -> Self {
        let noticed_above = period.percent(50);
        Self { limit, noticed_above, noticed: None, stalled: None, noted: None, count: 0, longest: Duration::ZERO }
    }

    /// Takes a call at `now` after `due` was asked for. Returns how late it is, where that is a stall.
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

    /// Returns how late the newest late wake-up was that ended at most `span` before `now`; else zero.
    pub(super) fn late_within(&self, span: Duration, now: Instant) -> Duration {
        match self.noticed {
            Some((ended, late)) if now.since(ended) <= span => late,
            Some(_) | None => Duration::ZERO,
        }
    }

    /// Whether a stall ended at most `span` before `now`.
    pub(super) fn stalled_within(&self, span: Duration, now: Instant) -> bool {
        self.stalled.is_some_and(|ended| now.since(ended) <= span)
    }

    /// The same for half a stall.
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
