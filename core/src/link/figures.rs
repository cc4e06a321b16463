//! What a link was like, for reports: figures of an epoch, and histograms of its whole life.

use super::answers::AnswerFigures;
use super::grade::{Grade, GradeCause, GradeChange, GradeLow};
use super::histogram::Histogram;
use super::sequence::SequenceTotals;
use super::timing::InterArrival;
use outrigger_wire::time::Duration;

/// Histograms of one link, over its whole life.
#[derive(Clone, Debug, Default)]
pub struct Histograms {
    /// Time between accepted states.
    pub interval: Histogram,
    /// Age of accepted states on arrival.
    pub age: Histogram,
    /// From the arrival of a state to the end of writing the answer that it caused, as far as the port tells of writing.
    pub turnaround: Histogram,
}

/// Figures for reports. `None` is "this link cannot know", never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Figures {
    /// Grade now.
    pub grade: Grade,
    /// The grade that commanding needs to begin.
    pub needed: Grade,
    /// The newest fall of the grade, as measured then; `None` while it has only risen.
    pub fell: Option<GradeChange>,
    /// The figure that the next better grade waits for.
    pub next: GradeCause,
    /// Counts up with each restart of the controller's clock or counter.
    pub epoch: u32,
    /// Sequence totals of this epoch.
    pub sequence: SequenceTotals,
    /// States that could not be ones of this arm, in this session: not among the totals.
    pub impossible: u32,
    /// States older than a moving command may answer, in this epoch.
    pub late: u64,
    /// Spans between states, in this epoch.
    pub interval: InterArrival,
    /// Mean lateness over 100 states: how much longer than a period the next one took.
    pub lateness: Option<Duration>,
    /// RFC 3550 jitter.
    pub jitter: Duration,
    /// FRI-style jitter: mean |age − previous age| over 100 states.
    pub age_variation: Option<Duration>,
    /// Cycles received of the last 100, in parts of 10 000.
    pub received: Option<u16>,
    /// Age of the newest state now.
    pub age: Option<Duration>,
    /// Consecutive cycles missing now.
    pub consecutive_misses: u32,
    /// Answer rate and round trip, where the peer reflects a counter.
    pub answers: Option<AnswerFigures>,
    /// Times this device stood still too long.
    pub local_stalls: u32,
    /// Longest time this device was woken late.
    pub longest_late_wake: Duration,
}

impl Figures {
    /// The grade among them, with its cause.
    #[must_use]
    pub const fn grade_low(&self) -> GradeLow {
        GradeLow { grade: self.grade, needed: self.needed, fell: self.fell, next: self.next }
    }
}
