//! Is the link good enough to command over? The FRI idea, for every link.
//!
//! One [`LinkMonitor`] per link takes the controller's time stamp and the arrival of each state and says:
//!
//! | question | method | consequence |
//! |---|---|---|
//! | is this the newest state, is one missing, did the clock jump? | [`observe`](LinkMonitor::observe) | [`Observation`] |
//! | may this state be answered, and with motion? | [`answer`](LinkMonitor::answer) | one command per state; motion only if age ≤ 1 T + margin |
//! | may commanding begin? | [`entry`](LinkMonitor::entry) | the grade gates entry |
//! | may it go on? | [`staying`](LinkMonitor::staying) | age, misses, our own stall, a whole window of `Unacceptable` |
//! | when to look again? | [`next_deadline`](LinkMonitor::next_deadline) | the next miss |
//!
//! *Age* is the arrival on our clock minus the controller's time mapped to our clock, so a backlog read after a stall
//! is old however late it is read. A byte stream has no reflected counter: there the cycle number is the controller's
//! time in periods, *received* is the share of cycles published, *delay* is how much later than a period the next state
//! came, and what would need a reflection is `None`, not zero. Links with a mirrored counter add [`Answers`]. What the
//! peer has not acknowledged is judged by [`Unacked`]. Definitions: `core/docs/protocol/kuka-fri.md C1–C5`;
//! thresholds: [`LinkConfig`].

mod answers;
mod clock;
mod config;
mod grade;
mod histogram;
mod monitor;
mod sequence;
mod stall;
mod timing;
mod unacked;

#[cfg(test)]
mod tests;

pub use answers::{AnswerFigures, Answers};
pub use config::{LinkConfig, LinkKind, LinkTuning};
pub use grade::{
    Grade, GradeCause, GradeChange, GradeLimits, GradeLimitsTuning, GradeLow, GradeTable, GradeTuning, Metric, Share,
    Unit,
};
pub use histogram::{BINS, Bin, Histogram};
pub use monitor::{Answer, Figures, Histograms, LinkMonitor, Observation};
pub use sequence::{Counter, Sequence, SequenceJudge, SequenceRules, SequenceTotals};
pub use timing::{InterArrival, WINDOW};
pub use unacked::{Unacked, UnackedConfig, UnackedVerdict};
