//! A controller in local control refuses text. It says so to everybody, whoever wrote the text.

use outrigger_wire::time::{Duration, Instant};

/// A refusal this long after our own text is of somebody else's.
const WITHIN: Duration = Duration::from_secs(1);

/// When we wrote, and when the controller refused what may have been ours.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Refusal {
    texted_at: Option<Instant>,
    refused_at: Option<Instant>,
}

impl Refusal {
    /// Text of ours went out.
    pub(super) const fn texted(&mut self, now: Instant) {
        self.texted_at = Some(now);
    }

    /// The controller refused some text. Whether it may have been ours.
    pub(super) fn refused(&mut self, now: Instant) -> bool {
        let ours = self.texted_at.is_some_and(|at| now.since(at) <= WITHIN);
        if ours {
            self.refused_at = Some(now);
        }
        ours
    }

    /// When text that may have been ours was refused, unless that is over.
    pub(super) const fn at(&self) -> Option<Instant> {
        self.refused_at
    }

    /// The refusal does not count any more.
    pub(super) const fn forget(&mut self) {
        self.refused_at = None;
    }
}
