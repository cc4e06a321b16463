//! Describes the upload of a program: lines for people, or JSON.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use outrigger_core::client::script::{
    ControllerMessage, Evidence, ScriptFile, ScriptKind, Silence, UploadEvent, UploadOutcome,
};
use outrigger_wire::frame::Found;
use outrigger_wire::primary::ReportKind;
use outrigger_wire::robot::{RobotMode, SoftwareVersion};
use serde::Serialize;

use super::upload::UploadListener;
use crate::exit::{Failure, Outcome, output_closed};
use crate::json;

/// The description, for people or scripts, of the upload of one program.
pub struct Words<'t> {
    json: bool,
    /// The name of the file in messages, as the user gave it.
    shown: String,
    at: SocketAddr,
    file: ScriptFile<'t>,
    software: Option<SoftwareVersion>,
    /// The operating system's error of the upload's connection.
    trouble: Option<String>,
    /// The error of a failed write of the description to standard output.
    unprinted: Option<io::Error>,
    /// `true` after the uploaded program has started.
    started: bool,
    /// `true` if the reader of the output has closed it after the start.
    unread: bool,
}

impl UploadListener for Words<'_> {
    /// Prints a description of an event of the upload.
    fn event(&mut self, event: &UploadEvent<'_>) {
        self.learn(event);
        if self.json {
            return self.print(&json::text(&event_object(event)));
        }
        if let Some(line) = self.line(event) {
            self.print(&line);
        }
    }

    fn trouble(&mut self, trouble: String) {
        self.trouble = Some(trouble);
    }

    /// Ends the wait for a running program if the reader of the output has closed it. The command is then successful.
    fn goes_on(&mut self) -> Outcome {
        let Some(error) = self.unprinted.take() else { return Ok(()) };
        output_closed(&error)?;
        self.unread = self.started;
        if self.unread { Err(Failure::BadInput("the output was closed".into())) } else { Ok(()) }
    }
}

impl<'t> Words<'t> {
    /// Creates the description of the program `file`, named `shown`, which is uploaded to the controller `at`.
    pub const fn new(json: bool, shown: String, at: SocketAddr, file: ScriptFile<'t>) -> Self {
        Self { json, shown, at, file, software: None, trouble: None, unprinted: None, started: false, unread: false }
    }

    fn print(&mut self, line: &str) {
        let mut out = io::stdout().lock();
        if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.unprinted.get_or_insert(error);
        }
    }

    /// Stores the facts of an upload's event on which later descriptions depend.
    pub fn learn(&mut self, event: &UploadEvent<'_>) {
        match event {
            UploadEvent::Software(software) => self.software = Some(*software),
            UploadEvent::Started(_) => self.started = true,
            _ => {}
        }
    }

    /// Returns the output line for an event of the upload. `None` if it is not shown.
    pub fn line(&self, event: &UploadEvent<'_>) -> Option<String> {
        Some(match event {
            UploadEvent::Software(_) => return None,
            UploadEvent::Sent { replaces } => {
                let software = self.software.map_or(String::new(), |software| format!(", software {software}"));
                let replaces = if *replaces { "; it replaces the running program" } else { "" };
                format!("{} sent to {}{software}{replaces}", self.subject(), self.at)
            }
            UploadEvent::Started(evidence) => format!("{} runs ({})", self.subject(), evidence_words(*evidence)),
            UploadEvent::Paused(true) => "paused, by a person or by a stop".into(),
            UploadEvent::Paused(false) => "continues".into(),
            UploadEvent::Message(message) => spoken(message)?,
        })
    }

    /// Returns `true` if the reader of the output has closed it while the program was running.
    pub const fn is_unread(&self) -> bool {
        self.unread
    }

    fn subject(&self) -> String {
        match (self.file.name(), self.file.kind()) {
            (Some(name), ScriptKind::Secondary) => format!("secondary program '{}'", printable(name.as_bytes())),
            (Some(name), _) => format!("program '{}'", printable(name.as_bytes())),
            (None, _) => "the statement".into(),
        }
    }

    /// Prints the result of the upload. Returns the outcome of the command.
    pub fn outcome(&mut self, outcome: UploadOutcome) -> Outcome {
        if self.json {
            self.print(&json::text(&self.outcome_object(&outcome)));
        }
        let ended = self.judgement(outcome);
        if let (Ok(line), false) = (&ended, self.json) {
            self.print(line);
        }
        self.goes_on()?;
        ended.map(|_| ())
    }

    /// Returns the text for a successful upload.
    ///
    /// # Errors
    /// Returns an error if the program did not succeed.
    pub fn judgement(&self, outcome: UploadOutcome) -> Result<String, Failure> {
        let (subject, at) = (self.subject(), self.at);
        match outcome {
            UploadOutcome::Started(_) => Ok("no error so far; --wait waits until it ends".into()),
            UploadOutcome::Ended(evidence) => Ok(format!("{subject} ended ({})", evidence_words(evidence))),
            UploadOutcome::NoResultExpected => {
                Ok("no error was reported; a secondary program reports nothing else".into())
            }
            UploadOutcome::Failed { started, position, text } => {
                let what = if started { "stopped by an error" } else { "not started" };
                let text = format!("{}{subject} {what}: {}", self.place(position), text.as_str());
                let text = format!("{text}{}", self.excerpt(position));
                Err(if started { Failure::Fault(text) } else { Failure::BadInput(text) })
            }
            UploadOutcome::LocalControl => Err(Failure::Connection(format!(
                "{at} is in local control and accepts no programs (C210): choose remote control at the pendant, then \
                 send it again"
            ))),
            UploadOutcome::Reported { code, argument, text } => Err(Failure::Fault(format!(
                "{subject} was not seen to start, and the controller reports C{code}A{argument} {}",
                text.as_str()
            ))),
            UploadOutcome::Replaced => Err(Failure::Fault(format!("another program took the place of {subject}"))),
            UploadOutcome::Unheard(silence) => Err(Failure::Connection(self.unheard(&silence))),
            UploadOutcome::Refused => {
                let refused = || format!("{at} refuses the connection");
                Err(Failure::Connection(self.trouble.clone().unwrap_or_else(refused)))
            }
            UploadOutcome::NoConnection => Err(Failure::Connection(format!(
                "no answer from {at}: check the address, that the controller is on, and the firewall"
            ))),
            UploadOutcome::NoGreeting => Err(Failure::Connection(format!(
                "{at} accepts the connection and sends nothing: is it a controller, and started?"
            ))),
            UploadOutcome::WrongService(found) => Err(Failure::Connection(format!(
                "{at} sends {}, expected a controller's primary messages: check the port base",
                service(found)
            ))),
            UploadOutcome::Closed { sent: false } => {
                Err(Failure::Connection(format!("{at} closed the connection before the program was sent")))
            }
            UploadOutcome::Closed { sent: true } => Err(Failure::Connection(format!(
                "{at} closed the connection after {subject} was sent, without a report: older software does that in \
                 local control; check the pendant"
            ))),
        }
    }

    /// Returns `FILE:LINE:COLUMN: ` for a position that the controller reports. If the line in the file is not known,
    /// gives the line and column by the count of the controller; without a position, only `FILE: `.
    fn place(&self, position: Option<(i32, i32)>) -> String {
        let Some((line, column)) = position else { return format!("{}: ", self.shown) };
        match self.file.source_line(line) {
            Some((line, _)) => format!("{}:{line}:{column}: ", self.shown),
            None => format!("{}: line {line}, column {column} as the controller counts: ", self.shown),
        }
    }

    /// Returns the source line at a position, with a mark below the column. Empty if the position is not known.
    fn excerpt(&self, position: Option<(i32, i32)>) -> String {
        let Some((line, column)) = position else { return String::new() };
        let Some((_, source)) = self.file.source_line(line) else { return String::new() };
        let before = usize::try_from(column).unwrap_or(1).saturating_sub(1);
        // Tabs are kept, so that the mark is below the column in a terminal.
        let mark: String = source.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        format!("\n  {}\n  {mark}^", source.replace(|c: char| c.is_control() && c != '\t', " ").trim_end())
    }

    fn unheard(&self, silence: &Silence) -> String {
        let subject = self.subject();
        let software = self.software.map_or(String::new(), |software| format!(" (software {software})"));
        match *silence {
            Silence { robot_mode: Some(mode), .. } if mode != RobotMode::Running => format!(
                "no report on {subject}, and the robot is {mode}: bring it to RUNNING (power on, release the \
                 brakes), then send it again"
            ),
            Silence { ran_before: true, .. } => format!(
                "no report on {subject}: this software{software} does not name programs, and one ran before, so that \
                 'a program runs' proves nothing; stop that one first, or check the pendant"
            ),
            Silence { robot_mode: None, .. } => {
                format!("no report on {subject}, and no robot state received: is the controller busy or starting?")
            }
            Silence { .. } => format!(
                "no report on {subject}, neither a start nor an error, and no state{software} showed a program \
                 running: shorter than 0.1 s is not seen on old software; otherwise, is the robot in local control?"
            ),
        }
    }

    fn outcome_object(&self, outcome: &UploadOutcome) -> Ended<'_> {
        let detail = match *outcome {
            UploadOutcome::Started(evidence) | UploadOutcome::Ended(evidence) => {
                Some(Detail::Seen { evidence: evidence_name(evidence) })
            }
            UploadOutcome::Failed { started, position, text } => {
                let place = position.map(|(line, column)| ErrorPosition {
                    line: self.file.source_line(line).map(|(line, _)| line),
                    column,
                    controller_line: line,
                });
                Some(Detail::Failed { started, text: text.as_str().to_owned(), place })
            }
            UploadOutcome::Reported { code, argument, text } => {
                Some(Detail::Reported { code, argument, text: text.as_str().to_owned() })
            }
            UploadOutcome::Unheard(silence) => Some(Detail::Unheard {
                robot_mode: silence.robot_mode.map(|mode| mode.to_string()),
                program_before: silence.ran_before,
                program_now: silence.runs_now,
            }),
            _ => None,
        };
        Ended { outcome: name(outcome), program: self.file.name(), detail }
    }
}

/// The JSON object of the result of an upload, for scripts.
#[derive(Serialize)]
#[serde(tag = "type", rename = "outcome")]
struct Ended<'t> {
    outcome: &'static str,
    program: Option<&'t str>,
    #[serde(flatten)]
    detail: Option<Detail>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Detail {
    Seen {
        evidence: &'static str,
    },
    Failed {
        started: bool,
        text: String,
        #[serde(flatten)]
        place: Option<ErrorPosition>,
    },
    Reported {
        code: i32,
        argument: i32,
        text: String,
    },
    Unheard {
        robot_mode: Option<String>,
        program_before: bool,
        program_now: bool,
    },
}

/// The JSON object of an error's position: the line in the file, if it is known, and the line by the controller's
/// count.
#[derive(Serialize)]
struct ErrorPosition {
    line: Option<u32>,
    column: i32,
    controller_line: i32,
}

const fn name(outcome: &UploadOutcome) -> &'static str {
    match outcome {
        UploadOutcome::Started(_) => "started",
        UploadOutcome::Ended(_) => "ended",
        UploadOutcome::NoResultExpected => "no-result-expected",
        UploadOutcome::Failed { .. } => "failed",
        UploadOutcome::LocalControl => "local-control",
        UploadOutcome::Reported { .. } => "reported",
        UploadOutcome::Replaced => "replaced",
        UploadOutcome::Unheard(_) => "unheard",
        UploadOutcome::Refused => "refused",
        UploadOutcome::NoConnection => "no-connection",
        UploadOutcome::NoGreeting => "no-greeting",
        UploadOutcome::WrongService(_) => "wrong-service",
        UploadOutcome::Closed { .. } => "closed",
    }
}

const fn evidence_name(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::KeyMessage => "key-message",
        Evidence::RobotModeData => "robot-mode-data",
        Evidence::OwnWords => "own-words",
    }
}

const fn evidence_words(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::KeyMessage => "the controller names it",
        Evidence::RobotModeData => "by isProgramRunning of the robot mode data",
        Evidence::OwnWords => "it said what stands in it",
    }
}

const fn service(found: Found) -> &'static str {
    match found {
        Found::Realtime => "real-time packets",
        Found::Primary => "primary messages",
        Found::Text => "text, as a dashboard or web server does",
        Found::Unknown => "bytes of an unknown service",
    }
}

/// Returns an output line for a message of the controller. `None` for a message that the result contains already.
fn spoken(message: &ControllerMessage<'_>) -> Option<String> {
    let text = printable(message.text);
    let (code, argument) = message.code;
    Some(match message.kind {
        ReportKind::Text => text,
        ReportKind::Popup if message.title.is_empty() => format!("pop-up: {text}"),
        ReportKind::Popup => format!("pop-up: {}: {text}", printable(message.title)),
        ReportKind::Safety(mode) => format!("safety mode {}", mode.map_or("changed".into(), |mode| mode.to_string())),
        ReportKind::Error => format!("C{code}A{argument} {text}"),
        _ => return None,
    })
}

/// The JSON object of an event of an upload, for scripts.
#[derive(Serialize)]
#[serde(tag = "type", rename = "event")]
pub(super) struct UploadReport {
    kind: &'static str,
    #[serde(flatten)]
    what: UploadDetail,
}

#[derive(Serialize)]
#[serde(untagged)]
enum UploadDetail {
    Software {
        software: String,
    },
    Sent {
        replaces: bool,
    },
    Started {
        evidence: &'static str,
    },
    Paused {
        paused: bool,
    },
    Message {
        source: i8,
        #[serde(flatten)]
        about: Option<About>,
        #[serde(skip_serializing_if = "String::is_empty")]
        title: String,
        text: String,
    },
}

/// The JSON members that depend on the kind of a controller's message.
#[derive(Serialize)]
#[serde(untagged)]
enum About {
    Safety { safety_mode: String },
    Place { controller_line: i32, column: i32 },
    Code { code: i32, argument: i32 },
}

pub(super) fn event_object(event: &UploadEvent<'_>) -> UploadReport {
    let (kind, what) = match event {
        UploadEvent::Software(software) => ("software", UploadDetail::Software { software: software.to_string() }),
        UploadEvent::Sent { replaces } => ("sent", UploadDetail::Sent { replaces: *replaces }),
        UploadEvent::Started(evidence) => ("started", UploadDetail::Started { evidence: evidence_name(*evidence) }),
        UploadEvent::Paused(paused) => ("paused", UploadDetail::Paused { paused: *paused }),
        UploadEvent::Message(message) => message_object(message),
    };
    UploadReport { kind, what }
}

fn message_object(message: &ControllerMessage<'_>) -> (&'static str, UploadDetail) {
    let (code, argument) = message.code;
    let (kind, about) = match message.kind {
        ReportKind::Text => ("text", None),
        ReportKind::Popup => ("popup", None),
        ReportKind::Safety(mode) => ("safety", mode.map(|mode| About::Safety { safety_mode: mode.to_string() })),
        ReportKind::Error => ("error", Some(About::Code { code, argument })),
        ReportKind::Key => ("key", None),
        ReportKind::RuntimeException(position) => {
            let place = position.map(|(controller_line, column)| About::Place { controller_line, column });
            ("runtime-exception", place)
        }
        _ => ("other", None),
    };
    let (title, text) = (json::latin1(message.title), json::latin1(message.text));
    (kind, UploadDetail::Message { source: message.source.raw(), about, title, text })
}

/// Decodes a controller's extended ASCII, and replaces control characters, so that it cannot control the terminal.
fn printable(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests;
