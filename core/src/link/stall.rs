//! Did we ourselves stand still? Told from how late we were woken.

use crate::time::{Duration, Instant};

/// Compares the time we are called with the time we asked to be called at.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StallDetector {
    limit: Duration,
    /// End of the last stall beyond the limit.
    stalled: Option<Instant>,
    /// End of the last stall beyond half of it: no fault, but the likely cause of a stale state.
    noted: Option<Instant>,
    count: u32,
    longest: Duration,
}

impl StallDetector {
    pub(super) const fn new(limit: Duration) -> Self {
        Self { limit, stalled: None, noted: None, count: 0, longest: Duration::ZERO }
    }

    /// Called at `now` after `due` was asked for; whether that is a stall.
    pub(super) fn woken(&mut self, now: Instant, due: Option<Instant>) -> bool {
        let late = due.map_or(Duration::ZERO, |due| now.since(due));
        self.longest = self.longest.max(late);
        if late > self.limit.percent(50) {
            self.noted = Some(now);
        }
        if late <= self.limit {
            return false;
        }
        self.stalled = Some(now);
        self.count = self.count.saturating_add(1);
        true
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
