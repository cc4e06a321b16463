//! How a run ended.

use outrigger_core::robot::{Reason, ReasonSet};

use crate::exit::{Failure, Outcome};
use crate::show::words;

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// The last fallback, where nobody has acknowledged it or commanded again.
    pub(crate) fallback: Option<Reason>,
    /// What the one request would have been refused for, where it was never granted.
    pub(crate) refused: Option<ReasonSet>,
    /// The controller runs on this machine.
    pub(super) here: bool,
}

impl Finished {
    /// For the command.
    pub(super) fn outcome(self) -> Outcome {
        if let Some(why) = self.refusal() {
            return Err(Failure::Fault(why));
        }
        self.fallback.map_or(Ok(()), |reason| Err(failed_by(reason, self.here)))
    }

    /// Why commanding never began, where the one request was not granted.
    pub(crate) fn refusal(&self) -> Option<String> {
        let each = self
            .refused?
            .iter()
            .map(|reason| format!("{} ({}): {}", reason.text(), reason.name(), words::advice(reason, self.here)));
        let each: Vec<_> = each.collect();
        let what = if each.is_empty() { "it was refused".into() } else { format!("not met: {}", each.join("; ")) };
        Some(format!("commanding never began: {what}"))
    }
}

/// How a run ends whose last fallback stands.
fn failed_by(reason: Reason, here: bool) -> Failure {
    Failure::Fault(format!("{} ({}); {}", reason.text(), reason.name(), words::advice(reason, here)))
}
