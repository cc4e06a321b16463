//! The functions with which a program sends messages to the operator
//! (`core/docs/protocol/ur-external-control.md 5.3`).

use outrigger_interpreter::{Call, CallResult};

use super::Notice;
use super::host::{ProgramHost, done};

impl ProgramHost<'_> {
    /// Executes `textmsg(s1, s2)`: adds a line with both texts joined to the log.
    pub(super) fn textmsg(&mut self, call: &Call<'_>) -> Option<CallResult> {
        self.notices.push(Notice::Text(format!("{}{}", call.arg(0), call.arg(1))));
        Some(done())
    }

    /// Executes `popup(s, title, warning, error, blocking)`. A blocking popup suspends the whole program, and the
    /// call returns when the program continues.
    pub(super) fn popup(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let flag = |index| call.arg(index).truth();
        let (warning, error, blocking) = (flag(2)?, flag(3)?, flag(4)?);
        if call.repeat > 0 {
            return Some(done());
        }
        self.notices.push(Notice::Popup {
            text: call.arg(0).to_string(),
            title: call.arg(1).to_string(),
            warning,
            error,
        });
        self.suspends |= blocking;
        Some(if blocking { CallResult::Again } else { done() })
    }
}
