//! `outrigger replay`: runs the engine again from a recording; the same inputs must give the same transitions and the same
//! commands, to the byte.

use std::io::Write as _;
use std::path::Path;

use outrigger_core::engine::{ReplayError, Replayed, dump_end, recorded_transitions};
use outrigger_core::time::Instant;

use crate::args::ReplayArgs;
use crate::exit::{Failure, Outcome, output_closed};
use crate::maker::{krc, ur};
use crate::record::{ENGINE, LOG, each_message, is_recording};

/// Where recordings of versions before have their engine's inputs.
const FIRST_FORM: &str = "/engine/inputs";

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is no recording, [`Failure::Fault`] with the first difference.
pub fn run(args: &ReplayArgs) -> Outcome {
    let path = args.dump.as_path();
    let mut story = Story::default();
    let ended = if is_recording(path) { run_of(path, &mut story) } else { fallback_of(path, &mut story) };
    if ended.is_ok() {
        story.total();
    }
    write!(std::io::stdout(), "{}", story.text).or_else(|error| output_closed(&error))?;
    ended.map_err(|failure| failure.at(path))
}

/// The recording of a fallback: one dump.
fn fallback_of(path: &Path, story: &mut Story) -> Outcome {
    let dump = std::fs::read(path).map_err(|error| Failure::BadInput(format!("cannot be read: {error}")))?;
    story.replay(&dump)
}

/// The recording of a whole run: what the engine's recorder held, half by half, each of which begins with a checkpoint.
fn run_of(path: &Path, story: &mut Story) -> Outcome {
    let (mut header, mut half, mut is_first_form) = (Vec::new(), Vec::new(), false);
    let mut ended = |header: &[u8], half: &mut Vec<u8>| {
        let entries = std::mem::take(half);
        if entries.is_empty() {
            return Ok(());
        }
        let end = dump_end(header.len() + entries.len());
        story.replay(&[header, &entries, &end].concat())
    };
    each_message(path, |topic, _, data| {
        match topic {
            ENGINE if header.is_empty() => header = data.to_vec(),
            ENGINE if data.is_empty() => return ended(&header, &mut half),
            ENGINE => half.extend_from_slice(data),
            LOG => return whole_by(data),
            _ => is_first_form |= topic == FIRST_FORM,
        }
        Ok(())
    })?;
    ended(&header, &mut half)?;
    match (header.is_empty(), is_first_form) {
        (false, _) => Ok(()),
        (true, true) => Err(Failure::BadInput(format!(
            "its engine's inputs are in the first form ({FIRST_FORM}), and this version reads the second ({ENGINE}): replay \
             it with the version that wrote it"
        ))),
        (true, false) => Err(Failure::BadInput(
            "nothing ran: what `outrigger record` keeps can be looked at, not run again; replay what `outrigger run \
             --record FILE` keeps"
                .into(),
        )),
    }
}

/// Whether a line of the log says that something is missing.
fn whole_by(line: &[u8]) -> Outcome {
    let line: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
    let word = |name: &str| line.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    if word("name") == "recorder" {
        return Err(Failure::BadInput(format!("{}; a recording with gaps cannot be replayed", word("message"))));
    }
    Ok(())
}

/// What was replayed so far.
#[derive(Debug, Default)]
struct Story {
    text: String,
    from: Option<Instant>,
    total: Replayed,
}

impl Story {
    /// One dump, beside whichever controller it was made.
    fn replay(&mut self, dump: &[u8]) -> Outcome {
        let replayed = match ur::replay(dump) {
            Err(ReplayError::OtherKind) => krc::replay(dump),
            replayed => replayed,
        };
        let advice = match &replayed {
            Err(ReplayError::NoDump) => {
                "; give a file of run.recordings, one that `watch` wrote, or the .mcap of `run --record`"
            }
            Err(ReplayError::OtherFormat(_)) => "; replay it with the version that wrote it",
            Err(ReplayError::CutOff) => "; what is missing cannot be told from it: use another copy",
            _ => {
                self.transitions(dump);
                ""
            }
        };
        match replayed {
            Ok(Replayed { inputs, transitions, texts, from, to }) => {
                self.from.get_or_insert(from);
                self.total.inputs = self.total.inputs.saturating_add(inputs);
                self.total.transitions = self.total.transitions.saturating_add(transitions);
                self.total.texts = self.total.texts.saturating_add(texts);
                self.total.to = to;
                Ok(())
            }
            Err(error @ ReplayError::Diverged { .. }) => Err(Failure::Fault(format!("first difference: {error}"))),
            Err(error) => Err(Failure::BadInput(format!("{error}{advice}"))),
        }
    }

    fn transitions(&mut self, dump: &[u8]) {
        for transition in recorded_transitions(dump) {
            let seconds = transition.at.since(Instant::ZERO).as_secs_f64();
            self.text.push_str(&format!("{seconds:9.3} s  {} → {}", transition.from.name(), transition.to.name()));
            if let Some(reason) = transition.reason {
                self.text.push_str(&format!(": {} ({})", reason.text(), reason.name()));
            }
            self.text.push('\n');
        }
    }

    fn total(&mut self) {
        let Replayed { inputs, transitions, texts, to, .. } = self.total;
        let span = to.since(self.from.unwrap_or(to)).as_secs_f64();
        self.text.push_str(&format!(
            "{span:.3} s replayed: {inputs} inputs gave the same {transitions} transitions and the same {texts} commands\n"
        ));
    }
}
