//! The result of a run, from which the exit code of the command follows.

use outrigger_core::link::GradeLow;
use outrigger_core::robot::{Reason, ReasonSet};

use crate::exit::{Failure, Outcome};
use crate::released::ReleasedBy;
use crate::show::reason_text::{self, Observer};

/// The result of a run (a process that commands a robot): its last fallback (end of commanding by a fault), its release
/// (requested end of commanding), or the rejection of its single request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunResult {
    /// The latched reason at the end of the run, otherwise the reason of the last fallback (end of commanding by a
    /// fault) or lost session, even if it was acknowledged. `None` if there was none since commanding started.
    pub(crate) fallback: Option<Reason>,
    /// The cause of the last release (requested end of commanding) since commanding started, otherwise the cause of the
    /// run's end.
    pub(crate) released: ReleasedBy,
    /// The unmet preconditions of the run's single request if it was never granted, and the cause of a low link
    /// grade at that time.
    pub(crate) refused: Option<(ReasonSet, GradeLow)>,
    /// `true` if the controller runs on this machine.
    pub(super) here: bool,
}

impl RunResult {
    /// Creates the result of a run that ended with this release and without a fault.
    #[cfg(test)]
    pub(crate) const fn of_release(released: ReleasedBy) -> Self {
        Self { fallback: None, released, refused: None, here: false }
    }

    /// Converts the result of the run to the outcome of the command.
    pub(super) fn outcome(self) -> Outcome {
        if let Some(why) = self.refusal() {
            return Err(Failure::Fault(why));
        }
        self.fallback.map_or(Ok(()), |reason| Err(failed_by(reason, self.here)))
    }

    /// Returns the reason why commanding never started, if the run's single request was not granted.
    pub(crate) fn refusal(&self) -> Option<String> {
        let (unmet, low) = self.refused?;
        let unmet = reason_text::of_unmet(unmet, Some(&low), Observer::Process, self.here);
        let what = if unmet.is_empty() { " The start was refused".into() } else { reason_text::one_per_line(&unmet) };
        Some(format!("commanding did not start.{what}"))
    }
}

/// Returns the error for a run that has ended after a fallback (end of commanding by a fault) for this `reason`, and
/// had not started commanding again.
fn failed_by(reason: Reason, here: bool) -> Failure {
    Failure::Fault(format!("{} ({}); {}", reason.text(), reason.name(), reason_text::advice(reason, here)))
}

#[cfg(test)]
mod tests {
    use outrigger_core::link::{Grade, GradeCause, Metric};

    use super::*;

    #[test]
    fn a_fallback_that_stands_and_a_request_that_was_never_granted_are_faults_with_their_reasons() {
        let told = |finished: RunResult| finished.outcome().err().map(|failure| (failure.code(), failure.to_string()));
        let well = RunResult { fallback: None, released: ReleasedBy::Finished, refused: None, here: false };
        assert_eq!(told(well), None);
        let (code, text) = told(RunResult { fallback: Some(Reason::StateStale), ..well }).expect("a fault");
        assert!(code == 4 && text.contains("(StateStale); "), "{text}");
        let unmet = ReasonSet::EMPTY.with(Reason::RobotNotRunning);
        let next = GradeCause { metric: Metric::Samples, grade: Grade::Ok, measured: 0, limit: 100 };
        let low = GradeLow { grade: Grade::Bad, needed: Grade::Ok, fell: None, next };
        let (code, text) = told(RunResult { refused: Some((unmet, low)), ..well }).expect("a fault");
        assert!(code == 4 && text.starts_with("commanding did not start. Not ready: "), "{text}");
        assert!(text.contains("(RobotNotRunning); in POWER_OFF or IDLE, power the arm on"), "{text}");
        let unnamed = told(RunResult { refused: Some((ReasonSet::EMPTY, low)), ..well });
        assert_eq!(unnamed, Some((4, "commanding did not start. The start was refused".into())));
    }
}
