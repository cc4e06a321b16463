//! Requests a motion of a run, shows its progress until it ends, and cancels it when this process is interrupted.

use std::path::Path;

use outrigger_remote::request::ClientRequest;
use outrigger_wire::time::Duration;
use serde_json::Value;

use super::{Conversation, LOOK, LineResult, answer_text, parsed};
use outrigger::exit::{Failure, Outcome};
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::motion::motion_text::Pieces;
use outrigger::released::ReleasedBy;
use outrigger::requests::failure_text;
use outrigger::show::{Progress, eprintln_lossy};

/// The checks for a refusal by the run while a motion file is sent to it: the number of pieces between two checks, and
/// the longest wait for a refusal in one check.
const LOOK_AFTER: (usize, Duration) = (64, Duration::from_millis(1));

impl Conversation<'_> {
    /// Requests that the run moves the arm to one target, and waits for the end of that motion. A signal to this
    /// process, such as SIGINT, cancels the motion.
    pub(super) fn follow(&mut self, asked: ClientRequest<'_>) -> Outcome {
        let signals = Signals::listen(OnSignal::Nothing)?;
        let (line, answer) = self.exchange(asked)?;
        self.stay(signals, &line, &answer)
    }

    /// Sends the pieces of the motion in `file` to the run, and waits for the end of that motion. Nothing moves before
    /// the run has received all of them.
    pub(super) fn along(&mut self, pieces: Pieces, file: &Path) -> Outcome {
        let mut signals = Signals::listen(OnSignal::Nothing)?;
        let epoch = self.epoch()?;
        self.send(ClientRequest::Move { epoch, how: &pieces.begin })?;
        let (line, answer) = self.answer()?;
        let named = |failure| match failure {
            Failure::BadInput(_) => Failure::at(failure, file),
            other => other,
        };
        if failure_text::failure(&answer).is_some() {
            return self.tell(&line, &answer).map_err(named);
        }
        let mut refused = None;
        for (number, rows) in (1..).zip(pieces.rows) {
            if let Some(who) = signals.heard() {
                let by = ReleasedBy::of_signal(who);
                let text = format!("{by}: the motion was not sent completely, and did not start");
                return Err(if by.is_interrupt() { Failure::Interrupted(text) } else { Failure::Fault(text) });
            }
            self.send(ClientRequest::Move { epoch, how: &rows })?;
            let (pieces, wait) = LOOK_AFTER;
            if number % pieces == 0 {
                refused = match self.hear(Some(self.clock.now() + wait))? {
                    LineResult::Line(line) => Some(line),
                    LineResult::Nothing => continue,
                    LineResult::Gone => {
                        return Err(Failure::Connection("the run ended before it received the motion".into()));
                    }
                };
                break;
            }
        }
        self.until = Some(self.patience());
        let (line, answer) = match refused {
            Some(line) => (line.clone(), parsed(&line)?),
            None => self.exchange(ClientRequest::Move { epoch, how: Pieces::END })?,
        };
        if failure_text::failure(&answer).is_some() {
            return self.tell(&line, &answer).map_err(named);
        }
        self.stay(signals, &line, &answer)
    }

    /// Shows the progress of the motion that `answer` reports as started, until its end. A signal to this process, such
    /// as SIGINT, cancels the motion.
    fn stay(&mut self, mut signals: Signals, line: &str, answer: &Value) -> Outcome {
        self.tell(line, answer)?;
        let Some(number) = number_of(answer) else { return Err(super::odd(answer)) };
        self.send(ClientRequest::Watch)?;
        self.until = None;
        let (mut said, mut interrupted) = (Progress::default(), false);
        loop {
            if let Some(who) = signals.heard() {
                said.end();
                let by = ReleasedBy::of_signal(who);
                interrupted |= by.is_interrupt();
                eprintln_lossy!("{by}: cancelling the motion; the arm stops, and stays commanded");
                self.send(ClientRequest::Cancel)?;
            }
            let line = match self.hear(Some(self.clock.now() + LOOK))? {
                LineResult::Line(line) => line,
                LineResult::Nothing => continue,
                LineResult::Gone => {
                    said.end();
                    return Err(Failure::Connection("the run ended before the motion did".into()));
                }
            };
            let answer = parsed(&line)?;
            // The answer to the request to cancel is skipped as well; the end of the motion shows its effect.
            if answer.get("do").and_then(Value::as_str) != Some("watch") {
                continue;
            }
            if self.args.json {
                self.print(&line)?;
            }
            if number_of(&answer) != Some(number) {
                said.end();
                return Err(Failure::Fault(
                    "another motion was started: check `status` for the end of this one".into(),
                ));
            }
            if let Some(end) = answer_text::end_of_motion(&answer, &self.args.robot) {
                said.end();
                return match end {
                    Ok(_) if self.args.json => Ok(()),
                    Ok(text) => self.print(&text),
                    Err(why) if interrupted => Err(Failure::Interrupted(why)),
                    Err(why) => Err(Failure::Fault(why)),
                };
            }
            if !self.args.json {
                show(&mut said, &answer);
            }
        }
    }
}

fn number_of(answer: &Value) -> Option<u64> {
    answer.get("motion")?.get("number")?.as_u64()
}

/// Displays the progress of a motion in percent, as reported by the run's answer.
fn show(progress: &mut Progress, answer: &Value) {
    let percent = answer.get("motion").and_then(|motion| motion.get("percent")).and_then(Value::as_u64);
    percent.into_iter().for_each(|percent| progress.show(&format!("{percent:3} %"), percent / 10));
}
