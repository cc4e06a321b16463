//! The refusal of text by a controller in local control. It reports the refusal to every client, whoever sent the text.

use outrigger_wire::time::{Duration, Instant};

/// The time after our own text beyond which a refusal must be of another client's text.
const WITHIN: Duration = Duration::from_secs(1);

/// The time of our last text, and of the refusal of a text that may have been ours.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Refusal {
    texted_at: Option<Instant>,
    refused_at: Option<Instant>,
}

impl Refusal {
    /// Records that text of ours was sent to the controller.
    pub(super) const fn texted(&mut self, now: Instant) {
        self.texted_at = Some(now);
    }

    /// Records that the controller refused some text. Returns `true` if the text may have been ours.
    pub(super) fn refused(&mut self, now: Instant) -> bool {
        let ours = self.texted_at.is_some_and(|at| now.since(at) <= WITHIN);
        if ours {
            self.refused_at = Some(now);
        }
        ours
    }

    /// Returns the time at which text that may have been ours was refused; `None` if there was none, or it was
    /// forgotten.
    pub(super) const fn at(&self) -> Option<Instant> {
        self.refused_at
    }

    /// Discards the controller's refusal of our text.
    pub(super) const fn forget(&mut self) {
        self.refused_at = None;
    }
}
