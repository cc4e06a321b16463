//! The result of running the recorded engine again.

use outrigger::Failure;
use outrigger::wire::time::Instant;
use outrigger_cli::replay::ReplayResults;
use pyo3::prelude::*;

/// The result of running the engine again over the recorded inputs.
#[pyclass(frozen, get_all, module = "outrigger_robot")]
pub(crate) struct Replay {
    /// True if the same inputs gave the same transitions and commands, to the byte.
    same: bool,
    /// The first difference as a sentence; None if there is none.
    difference: Option<String>,
    /// The number of replayed inputs.
    inputs: u32,
    /// The number of transitions of the mode that were the same.
    transitions: u32,
    /// The number of commands that were the same.
    commands: u32,
    /// The time between the first and the last input [s].
    seconds: f64,
    /// Transitions and changes of the link's quality: pairs of time since the start of the recorded process [s] and text.
    lines: Vec<(f64, String)>,
}

impl Replay {
    /// Creates the result of a replay that ended without an error, or with a difference.
    pub(super) fn new(results: ReplayResults, difference: Option<String>) -> Self {
        let (total, seconds) = (results.total, results.seconds());
        let line = |(at, text): (Instant, String)| (at.since(Instant::ZERO).as_secs_f64(), text);
        Self {
            same: difference.is_none(),
            difference,
            inputs: total.inputs,
            transitions: total.transitions,
            commands: total.texts,
            seconds,
            lines: results.lines.into_iter().map(line).collect(),
        }
    }
}

/// Returns the first difference if a replay ended with one, and its error if it could not be made.
pub(super) fn difference(ended: Result<(), Failure>) -> Result<Option<String>, Failure> {
    match ended {
        Ok(()) => Ok(None),
        Err(Failure::Fault(text)) => Ok(Some(text)),
        Err(failure) => Err(failure),
    }
}

#[pymethods]
impl Replay {
    fn __bool__(&self) -> bool {
        self.same
    }

    fn __repr__(&self) -> String {
        let same = if self.same { "True" } else { "False" };
        format!(
            "Replay(same={same}, inputs={}, transitions={}, commands={}, seconds={:.3})",
            self.inputs, self.transitions, self.commands, self.seconds
        )
    }
}
