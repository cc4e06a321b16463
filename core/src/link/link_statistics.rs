//! Statistics of a link for reports: figures since the controller's clock or counter last restarted (an epoch), and
//! histograms of the link's whole life.

use super::answer_statistics::AnswerFigures;
use super::grade::{Grade, GradeCause, GradeChange, GradeLow};
use super::histogram::Histogram;
use super::sequence::SequenceTotals;
use super::timing::InterArrival;
use outrigger_wire::time::Duration;

/// The histograms of the states of one link over its whole life.
#[derive(Clone, Debug, Default)]
pub struct Histograms {
    /// The histogram of the times between accepted states.
    pub interval: Histogram,
    /// The histogram of the ages of accepted states on arrival.
    pub age: Histogram,
    /// The histogram of the times from the arrival of a state until its answer has been written, if the port reports
    /// writing.
    pub turnaround: Histogram,
}

/// Figures of a link for reports. `None` means that this link cannot measure the figure; it is never shown as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Figures {
    /// The present grade of the link.
    pub grade: Grade,
    /// The grade of the link that is needed to begin commanding.
    pub needed: Grade,
    /// The most recent fall of the grade, with the figure as measured when it fell; `None` if the grade has only
    /// risen.
    pub fell: Option<GradeChange>,
    /// The measured figure that must improve for the next better grade.
    pub next: GradeCause,
    /// The number of restarts of the controller's clock or counter. Each begins a new *epoch*, the time for which
    /// figures are counted.
    pub epoch: u32,
    /// The totals of received and lost states in this epoch.
    pub sequence: SequenceTotals,
    /// The number of states in this session that could not be states of this arm; the totals do not include them.
    pub impossible: u32,
    /// The number of states in this epoch that arrived too old to be answered by a moving command.
    pub late: u64,
    /// The statistics of the times between states, since the controller's clock or counter last restarted.
    pub interval: InterArrival,
    /// The mean lateness of the last 100 states: by how much more than a period each followed the one before.
    pub lateness: Option<Duration>,
    /// The jitter of the arrivals of states as defined by RFC 3550.
    pub jitter: Duration,
    /// The jitter as defined by FRI: mean |age − previous age| of the last 100 states.
    pub age_variation: Option<Duration>,
    /// The share of the last 100 cycles that were received, in parts of 10 000.
    pub received: Option<u16>,
    /// The present age of the newest state; `None` before the first.
    pub age: Option<Duration>,
    /// The number of consecutive cycles without a state at present.
    pub consecutive_misses: u32,
    /// The answer rate and round trip, if the peer reflects a counter.
    pub answers: Option<AnswerFigures>,
    /// The number of times that this device stalled: it was woken later than the configured limit permits.
    pub local_stalls: u32,
    /// The longest delay of a wake-up of this device after the requested time.
    pub longest_late_wake: Duration,
}

impl Figures {
    /// Returns the present grade with the cause of its last fall and the figure that must improve.
    #[must_use]
    pub const fn grade_low(&self) -> GradeLow {
        GradeLow { grade: self.grade, needed: self.needed, fell: self.fell, next: self.next }
    }
}
