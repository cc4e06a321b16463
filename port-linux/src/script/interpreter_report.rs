//! Describes a program in interpreter mode: lines for people, or JSON.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use outrigger_core::client::interpreter::{InterpreterEvent, InterpreterOutcome, PROGRAM, StatementFile};
use outrigger_core::client::script::{ScriptFile, UploadEvent, UploadOutcome};
use outrigger_wire::robot::Text;
use serde::Serialize;

use super::interpreter::{Interpreted, InterpreterObserver, InterpreterPorts};
use super::upload_report::Words;
use crate::exit::{Failure, Outcome, output_closed};
use crate::json;

/// The description, for people or scripts, of the execution of one file's statements.
pub struct InterpreterReport<'t> {
    json: bool,
    /// The name of the file in messages, as the user gave it.
    shown: String,
    at: SocketAddr,
    file: StatementFile<'t>,
    /// The description of the program in interpreter mode, which executes the statements.
    program: Words<'static>,
    /// The operating system's error of a connection to the controller.
    trouble: Option<String>,
    /// The error of a failed write to standard output.
    unprinted: Option<io::Error>,
    /// The number of statements that the controller has executed.
    executed: u32,
}

impl InterpreterObserver for InterpreterReport<'_> {
    fn statements(&mut self, event: &InterpreterEvent) {
        if let InterpreterEvent::Executed { .. } = event {
            self.executed = self.executed.saturating_add(1);
        }
        if self.json {
            self.print(&json::text(&told(event)));
        } else if let Some(line) = self.line(event) {
            self.print(&line);
        }
    }

    fn program(&mut self, event: &UploadEvent<'_>) {
        self.program.learn(event);
        if self.json {
            return self.print(&json::text(&super::upload_report::event_object(event)));
        }
        // The start of our own program is evident from what follows.
        let of_interest = matches!(event, UploadEvent::Message(_) | UploadEvent::Paused(_));
        if let Some(line) = self.program.line(event).filter(|_| of_interest) {
            self.print(&line);
        }
    }

    fn trouble(&mut self, trouble: String) {
        self.trouble = Some(trouble);
    }

    fn goes_on(&mut self) -> Outcome {
        let Some(error) = self.unprinted.take() else { return Ok(()) };
        output_closed(&error)?;
        Err(Failure::Fault("the output was closed: the statements were cancelled".into()))
    }
}

impl<'t> InterpreterReport<'t> {
    /// Creates the description of `file`, named `shown`.
    ///
    /// # Errors
    /// Returns an error if the program of interpreter mode is not a valid program, which is not expected.
    pub fn new(json: bool, shown: String, at: InterpreterPorts, file: StatementFile<'t>) -> Result<Self, Failure> {
        let program = ScriptFile::new(PROGRAM.as_bytes()).map_err(|error| Failure::BadInput(error.to_string()))?;
        let program = Words::new(json, "interpreter mode".into(), at.program, program);
        let at = at.statements;
        Ok(Self { json, shown, at, file, program, trouble: None, unprinted: None, executed: 0 })
    }

    fn print(&mut self, line: &str) {
        let mut out = io::stdout().lock();
        if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.unprinted.get_or_insert(error);
        }
    }

    fn line(&self, event: &InterpreterEvent) -> Option<String> {
        Some(match event {
            InterpreterEvent::Entered => format!("interpreter mode at {}", self.at),
            InterpreterEvent::Executed { line, .. } => {
                format!("{}: executed{}", self.place(*line), self.source(*line, ": "))
            }
            InterpreterEvent::Discarded { line, reason } => {
                format!("{}: discarded: {reason}", self.place(*line))
            }
            InterpreterEvent::Connected | InterpreterEvent::Accepted { .. } | InterpreterEvent::Cleared { .. } => {
                return None;
            }
        })
    }

    fn place(&self, line: u32) -> String {
        format!("{}:{line}", self.shown)
    }

    /// Returns `before` and the source text of one line of the file. Empty if the file has no such line.
    fn source(&self, line: u32, before: &str) -> String {
        let source = self.file.source_line(line).map(|text| {
            let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            format!("{before}{}", text.trim())
        });
        source.unwrap_or_default()
    }

    /// Prints the result of the statements. Returns the outcome of the command.
    ///
    /// # Errors
    /// Returns an error if the statements did not succeed.
    pub fn outcome(&mut self, interpreted: &Interpreted) -> Outcome {
        if self.json {
            let ended = ended(&interpreted.statements, self.executed);
            self.print(&json::text(&ended));
        }
        let ended = self.judgement(interpreted);
        if let (Ok(line), false) = (&ended, self.json) {
            self.print(line);
        }
        self.goes_on()?;
        ended.map(|_| ())
    }

    /// Returns the text for a successful execution.
    ///
    /// # Errors
    /// Returns an error if the statements did not succeed.
    pub fn judgement(&self, interpreted: &Interpreted) -> Result<String, Failure> {
        let at = self.at;
        let stopped = match interpreted.program {
            Some(_) => "",
            None => "; a program in place of interpreter mode has stopped the arm",
        };
        let during = |line: Option<u32>| match line {
            Some(line) => format!("{}: ", self.place(line)),
            None => String::new(),
        };
        let executing = |line: Option<u32>| match line {
            Some(line) => format!(" while this was executed{}", self.source(line, ":\n  ")),
            None => String::new(),
        };
        match interpreted.statements {
            InterpreterOutcome::Done => Ok(format!("{} executed, interpreter mode ended", statements(self.executed))),
            InterpreterOutcome::Discarded { line, reason } => Err(Failure::BadInput(format!(
                "{}: discarded: {reason}{}\n{} before it {} executed, none after it{stopped}",
                self.place(line),
                self.source(line, "\n  "),
                statements(self.executed),
                if self.executed == 1 { "was" } else { "were" },
            ))),
            InterpreterOutcome::ProgramEnded { lines } => Err(self.program_ended(lines, interpreted.program)),
            InterpreterOutcome::Cancelled { ended } => {
                let by = interpreted.by.unwrap_or("cancelled");
                let end = if ended { "motion aborted, statements cleared" } else { "a statement did not end in time" };
                Err(Failure::Fault(format!("{by}: {end}{stopped}")))
            }
            InterpreterOutcome::NotEntered { reason } => Err(Failure::Fault(format!(
                "the program runs, but accepts no statements at {at}{}{stopped}",
                of(&reason)
            ))),
            InterpreterOutcome::NotEnded => Err(Failure::Fault(format!(
                "all statements were executed, but interpreter mode does not \
                                            end{stopped}"
            ))),
            InterpreterOutcome::Silent { line } => {
                Err(Failure::Connection(format!("{}{at} does not answer{stopped}", during(line))))
            }
            InterpreterOutcome::WrongService { reply } => Err(Failure::Connection(format!(
                "{at} answers '{reply}', which is not a reply of interpreter mode{stopped}"
            ))),
            InterpreterOutcome::ReplyTooLong { line } => {
                Err(Failure::Connection(format!("{}the reply is too long{stopped}", during(line))))
            }
            InterpreterOutcome::Refused => {
                let refused = || format!("{at} refuses the connection");
                Err(Failure::Connection(format!(
                    "{}; interpreter mode needs software 5.10 or PolyScope X",
                    self.trouble.clone().unwrap_or_else(refused)
                )))
            }
            InterpreterOutcome::NoConnection => Err(Failure::Connection(format!(
                "no answer from {at}: check the address, that the controller is on, and the firewall"
            ))),
            InterpreterOutcome::Closed { line } => Err(Failure::Connection(format!(
                "{}{at} closed the connection{}{stopped}",
                during(line),
                executing(line)
            ))),
        }
    }

    /// Describes the end of the program before the end of its statements.
    fn program_ended(&self, lines: Option<(u32, u32)>, program: Option<UploadOutcome>) -> Failure {
        let (place, source) = match lines {
            Some((line, last)) if last == line => (self.place(line), self.source(line, "\n  ")),
            Some((line, last)) => {
                let source = self.source(line, "\n  ");
                (self.place(line), format!("{source}\nin this statement or one of those up to line {last}"))
            }
            None => (self.shown.clone(), String::new()),
        };
        let ended = || Failure::Fault(format!("{place}: the program ended before the statements did{source}"));
        match program {
            Some(UploadOutcome::Failed { text, .. }) => {
                Failure::Fault(format!("{place}: stopped by an error: {text}{source}"))
            }
            Some(UploadOutcome::Ended(_)) | None => ended(),
            Some(other) => self.program.judgement(other).err().unwrap_or_else(ended),
        }
    }
}

/// Formats a number of statements as text, as in `1 statement`.
fn statements(count: u32) -> String {
    format!("{count} statement{}", if count == 1 { "" } else { "s" })
}

fn of(reason: &Text<128>) -> String {
    if reason.as_str().is_empty() { String::new() } else { format!(": {reason}") }
}

/// The JSON object of an event of interpreter mode, for scripts.
#[derive(Serialize)]
#[serde(tag = "type", rename = "event")]
struct EventReport {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn told(event: &InterpreterEvent) -> EventReport {
    let (kind, line, id, reason) = match *event {
        InterpreterEvent::Connected => ("connected", None, None, None),
        InterpreterEvent::Entered => ("entered", None, None, None),
        InterpreterEvent::Accepted { line, id } => ("accepted", Some(line), Some(id), None),
        InterpreterEvent::Executed { line, id } => ("executed", Some(line), Some(id), None),
        InterpreterEvent::Discarded { line, reason } => ("discarded", Some(line), None, Some(reason.to_string())),
        InterpreterEvent::Cleared { id } => ("cleared", None, Some(id), None),
    };
    EventReport { kind, line, id, reason }
}

/// The JSON object of the result of the execution, for scripts.
#[derive(Serialize)]
#[serde(tag = "type", rename = "outcome")]
struct Ended {
    outcome: &'static str,
    executed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn ended(outcome: &InterpreterOutcome, executed: u32) -> Ended {
    use InterpreterOutcome as O;
    let (outcome, line, reason) = match *outcome {
        O::Done => ("done", None, None),
        O::Discarded { line, reason } => ("discarded", Some(line), Some(reason.to_string())),
        O::ProgramEnded { lines } => ("program-ended", lines.map(|(first, _)| first), None),
        O::Cancelled { ended: true } => ("cancelled", None, None),
        O::Cancelled { ended: false } => ("stopped", None, None),
        O::NotEntered { reason } => ("not-entered", None, Some(reason.to_string())),
        O::NotEnded => ("not-ended", None, None),
        O::Silent { line } => ("silent", line, None),
        O::WrongService { reply } => ("wrong-service", None, Some(reply.to_string())),
        O::ReplyTooLong { line } => ("reply-too-long", line, None),
        O::Refused => ("refused", None, None),
        O::NoConnection => ("no-connection", None, None),
        O::Closed { line } => ("closed", line, None),
    };
    Ended { outcome, executed, line, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_before_one_that_is_discarded_are_counted_in_words() {
        let at = SocketAddr::from(([127, 0, 0, 1], 30_020));
        let file = StatementFile::new(b"a = 1\nb = c\n").expect("statements");
        let ports = InterpreterPorts { program: at, statements: at };
        let mut said = InterpreterReport::new(false, "a.script".into(), ports, file).expect("a program");
        for (executed, words) in
            [(0, "0 statements before it were"), (1, "1 statement before it was"), (2, "2 statements before it were")]
        {
            said.executed = executed;
            let statements = InterpreterOutcome::Discarded { line: 2, reason: Text::from_bytes(b"Compile error") };
            let why = said.judgement(&Interpreted { statements, program: None, by: None }).expect_err("discarded");
            assert!(why.to_string().contains(&format!("\n{words} executed, none after it")), "{why}");
        }
        said.executed = 1;
        let interpreted = Interpreted { statements: InterpreterOutcome::Done, program: None, by: None };
        assert_eq!(said.judgement(&interpreted).expect("done"), "1 statement executed, interpreter mode ended");
    }
}
