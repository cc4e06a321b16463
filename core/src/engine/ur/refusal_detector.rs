//! The refusal of URScript text by a controller in local control. It reports the refusal to every client, whoever sent
//! the text.

use outrigger_wire::time::{Duration, Instant};

/// The time after this driver last sent URScript text beyond which a refusal must be of another client's text.
const WITHIN: Duration = Duration::from_secs(1);

/// The time at which this driver last sent URScript text, and at which the controller refused text that may have been
/// it.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Refusal {
    texted_at: Option<Instant>,
    refused_at: Option<Instant>,
}

impl Refusal {
    /// Records that this driver sends URScript text to the controller at `now`.
    pub(super) const fn texted(&mut self, now: Instant) {
        self.texted_at = Some(now);
    }

    /// Records that the controller has refused URScript text, because it is in local control. Returns `true` if the
    /// text may have been this driver's: it last sent some at most 1 s before.
    pub(super) fn refused(&mut self, now: Instant) -> bool {
        let ours = self.texted_at.is_some_and(|at| now.since(at) <= WITHIN);
        if ours {
            self.refused_at = Some(now);
        }
        ours
    }

    /// Returns the time at which the controller refused URScript text that may have been this driver's; `None` if it
    /// refused none, or the refusal was discarded by [`forget`](Self::forget).
    pub(super) const fn at(&self) -> Option<Instant> {
        self.refused_at
    }

    /// Discards the controller's refusal of URScript text of this driver.
    pub(super) const fn forget(&mut self) {
        self.refused_at = None;
    }
}
