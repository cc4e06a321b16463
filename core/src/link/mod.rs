//! The quality of a link and the decision whether it is good enough for commanding, by FRI's criteria on every kind of
//! link.
//!
//! One [`LinkMonitor`] per link takes the controller's time stamp and the arrival of each state and decides:
//!
//! | question | method | consequence |
//! |---|---|---|
//! | is this the newest state, is one missing, did the clock jump? | [`observe`](LinkMonitor::observe) | [`Observation`] |
//! | can it be a state of this arm? | [`is_possible`](LinkMonitor::is_possible) | an impossible state counts as lost |
//! | may this state be answered, and with motion? | [`answer`](LinkMonitor::answer) | one command per state; motion only if age ≤ 1 T + margin |
//! | may commanding begin? | [`entry`](LinkMonitor::entry) | the grade must be good enough |
//! | may it go on? | [`staying`](LinkMonitor::staying) | age, misses, our own stalls, a whole window of `Unacceptable` |
//! | when to check again? | [`next_deadline`](LinkMonitor::next_deadline) | the time of the next miss |
//!
//! *Age* is the arrival on our clock minus the controller's time mapped to our clock, so states queued during a stall
//! keep their true age however late they are read. A byte stream has no reflected counter: there the cycle number is
//! the controller's time in periods, *received* is the share of cycles published, *delay* is how much later than a
//! period the next state came, and figures that need a reflected counter are `None`, not zero. Links with a reflected
//! counter add [`Answers`]. Data that the peer has not acknowledged is judged by [`Unacked`]. Definitions:
//! `core/docs/protocol/kuka-fri.md C1–C5`; thresholds: [`LinkConfig`].
//!
//! ```
//! use outrigger_core::link::{Answer, LinkConfig, LinkMonitor};
//! use outrigger_wire::robot::ControllerTime;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! let mut link = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2)));
//! // Two states that were published 2 ms apart are read together, 30 ms after the first.
//! let at = |ms: u64| Instant::from_micros(ms * 1000);
//! let _ = link.observe(ControllerTime::from_micros(0), at(100), at(100));
//! let late = link.observe(ControllerTime::from_micros(2000), at(130), at(130));
//! assert_eq!(late.age.as_millis(), 27); // 28 ms, less what two clocks may drift
//! assert_eq!(link.answer(at(130)), Answer::Still, "too old to compute motion from");
//! ```

mod answer_statistics;
mod clock;
mod config;
mod grade;
mod histogram;
mod link_statistics;
mod monitor;
mod plausibility;
mod process_stall;
mod sequence;
mod timing;
mod unacked_supervision;

#[cfg(test)]
mod tests;

pub use answer_statistics::{AnswerFigures, Answers};
pub use config::{LinkConfig, LinkKind, LinkTuning};
pub use grade::{
    Grade, GradeCause, GradeChange, GradeLimits, GradeLimitsTuning, GradeLow, GradeTable, GradeTuning, Metric, Share,
    Unit,
};
pub use histogram::{BINS, Bin, Histogram};
pub use link_statistics::{Figures, Histograms};
pub use monitor::{Answer, LinkMonitor, Observation};
pub use plausibility::{Content, FASTEST_JOINT};
pub use sequence::{Counter, Sequence, SequenceJudge, SequenceRules, SequenceTotals};
pub use timing::{InterArrival, WINDOW};
pub use unacked_supervision::{Unacked, UnackedConfig, UnackedVerdict};
