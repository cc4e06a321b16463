//! Lines for interpreter mode and their answers (`core/docs/protocol/ur-external-control.md 3`).

use outrigger_interpreter::{Call, CallResult, CompileErrorKind, Discard, Machine, ThreadId};

use super::host::{ProgramHost, done};
use super::{Body, Plant, Programs};
use crate::arm::Motion;

/// The move functions that interpreter mode's `abort` can end.
const ABORTED: [&str; 2] = ["movej", "movel"];

impl Programs {
    /// Executes one line that a client of interpreter mode has sent. Returns the answer.
    pub(crate) fn interpret(&mut self, line: &str, plant: &mut Plant) -> String {
        let words = line.trim();
        let machine = match &mut self.primary {
            Some(running) => match &mut running.body {
                Body::Script(machine) => Some(machine.as_mut()),
                Body::Foreign { .. } => None,
            },
            None => None,
        };
        if let Some(state) = state(words, machine.as_deref()) {
            return format!("state: {state}: {words}");
        }
        let Some(machine) = machine else { return format!("discard: Program is not running: {line}") };
        match words {
            "abort" => {
                plant.aborts |= machine.interprets() && machine.main_waits_for().is_some_and(|f| ABORTED.contains(&f));
                format!("ack: 0: {words}")
            }
            "skipbuffer" => {
                machine.skip();
                format!("ack: 0: {words}")
            }
            _ => match machine.interpret(line, &self.builtins) {
                Ok(id) => format!("ack: {id}: {line}"),
                Err(discard) => format!("discard: {}: {line}", reason(&discard)),
            },
        }
    }
}

/// Returns the number that answers a client's query about the statements of interpreter mode; `None` if the line is no
/// query.
fn state(query: &str, machine: Option<&Machine>) -> Option<u32> {
    let statements = machine.map(Machine::statements).unwrap_or_default();
    match query {
        "statelastexecuted" => Some(statements.executed),
        "statelastinterpreted" => Some(statements.interpreted),
        "statelastcleared" => Some(statements.cleared),
        "stateunexecuted" => Some(statements.waiting),
        _ => None,
    }
}

fn reason(discard: &Discard) -> &'static str {
    match discard {
        Discard::NotInterpreting => "Program is in an invalid state",
        Discard::TooMany => "Too many interpreted messages",
        Discard::Compile(error) if matches!(error.kind, CompileErrorKind::Syntax { .. }) => "Syntax error",
        _ => "Compile error",
    }
}

impl ProgramHost<'_> {
    /// Executes a `movej` or `movel` call of the main thread that interpreter mode's `abort` ends: brakes the arm, and
    /// lets the call return when the arm is at rest. `None` if no abort is in progress, or `call` is another one.
    pub(super) fn aborted(&mut self, call: &Call<'_>) -> Option<CallResult> {
        if !self.plant.aborts || call.thread != ThreadId::MAIN || !ABORTED.contains(&call.name) {
            return None;
        }
        self.moves = true;
        let Plant { arm, aborts, stop_deceleration, .. } = &mut *self.plant;
        if arm.targets.qd == [0.0; 6] {
            *aborts = false;
            arm.motion = Motion::Rest;
            return Some(done());
        }
        arm.motion = Motion::Stop { deceleration: *stop_deceleration };
        Some(CallResult::Again)
    }
}
