//! The dashboard server (`core/docs/protocol/ur-dashboard.md 1–5`): one line in, one line out.
//!
//! Which requests exist depends on the software; requests that change something need remote control on e-Series,
//! as it was when the connection was opened. From 3.3 on an operation is answered when it is over, before that at once.

mod nonsense;
mod options;
mod requests;

use std::collections::VecDeque;

use crate::controller::Action;
use crate::firmware::Firmware;
use crate::model::ArmModel;
use crate::pendant::{Operation, Outcome, Pendant};
use crate::program::Playing;
use crate::robot::Robot;
use crate::time::SimTime;

pub(crate) use nonsense::nonsense;
pub use options::{DashboardOptions, OperationalReplies, ReportReplies};

/// Sent on connection.
pub(crate) const GREETING: &str = "Connected: Universal Robots Dashboard Server\n";
/// Longest request; a longer one is cut.
const REQUEST: usize = 4096;
/// Requests of one client that wait for the one before; more are dropped.
const WAITING: usize = 64;

const NEEDS_REMOTE: &str = "Command is not allowed due to safety reasons, please switch robot to Remote Control mode and \
                            reconnect to port 29999";

/// What a request looks at, and what it changes at the pendant.
pub(crate) struct Context<'a> {
    pub(crate) now: SimTime,
    pub(crate) firmware: Firmware,
    pub(crate) model: &'a ArmModel,
    pub(crate) serial_number: &'a str,
    pub(crate) robot: &'a Robot,
    pub(crate) pendant: &'a mut Pendant,
    pub(crate) options: &'a DashboardOptions,
    pub(crate) playing: Playing,
    /// Whether the connection was opened in remote control, and it still is.
    pub(crate) permitted: bool,
}

/// What becomes of one line.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reply {
    /// Said at once, without its line feed; where it is missing, the operation is answered when it is over.
    pub(crate) line: Option<String>,
    pub(crate) action: Option<Action>,
    pub(crate) operation: Option<Operation>,
    pub(crate) closes: bool,
}

impl Reply {
    fn say(line: impl Into<String>) -> Self {
        Self { line: Some(line.into()), ..Self::default() }
    }

    fn act(line: &str, action: Action) -> Self {
        Self { action: Some(action), ..Self::say(line) }
    }

    /// Answered when it is over; software that does not wait looks whether it can be done at all.
    fn begin(operation: Operation, context: &Context<'_>) -> Self {
        if context.firmware.dashboard_waits() {
            return Self { operation: Some(operation), ..Self::default() };
        }
        let outcome = foreseen(&operation, context);
        let line = Some(over(&operation, outcome, context));
        Self { line, operation: (outcome == Outcome::Done).then_some(operation), ..Self::default() }
    }
}

/// What can be said of an operation before it is tried.
fn foreseen(operation: &Operation, context: &Context<'_>) -> Outcome {
    let files = &context.pendant.files;
    match operation {
        Operation::Load(name) if files.program(name).is_none() => Outcome::NotFound,
        Operation::LoadInstallation(name) if files.installation(name).is_none() => Outcome::NotFound,
        Operation::Play if context.pendant.loaded.is_none() && !context.playing.paused => Outcome::Failed,
        Operation::Pause if !context.playing.runs() => Outcome::Failed,
        _ => Outcome::Done,
    }
}

/// The reply to `line`, given without its line feed. Requests are case-insensitive, what they name is not.
pub(crate) fn reply(line: &str, context: &mut Context<'_>) -> Reply {
    let asked = line.trim();
    let Some((request, argument)) = requests::find(asked, context) else {
        return Reply::say(context.options.unknown.replace("{}", asked));
    };
    if request.needs_remote && !context.permitted && context.firmware.has_remote_control() {
        return Reply::say(NEEDS_REMOTE);
    }
    (request.reply)(context, argument)
}

/// What is said when an operation is over.
pub(crate) fn over(operation: &Operation, outcome: Outcome, context: &Context<'_>) -> String {
    let path = |name: &String| context.pendant.files.resolve(name);
    match (operation, outcome) {
        (Operation::Load(name), Outcome::Done) => format!("Loading program: {}", path(name)),
        (Operation::Load(name) | Operation::LoadInstallation(name), Outcome::NotFound) => {
            format!("File not found: {name}")
        }
        (Operation::Load(name), Outcome::Failed) => format!("Error while loading program: {name}"),
        (Operation::LoadInstallation(name), Outcome::Done) => format!("Loading installation: {}", path(name)),
        (Operation::LoadInstallation(name), Outcome::Failed) => format!("Failed to load installation: {name}"),
        (Operation::Play, Outcome::Done) => "Starting program".to_owned(),
        (Operation::Play, _) => "Failed to execute: play".to_owned(),
        (Operation::Pause, Outcome::Done) => "Pausing program".to_owned(),
        (Operation::Pause, _) => "Failed to execute: pause".to_owned(),
        (Operation::Stop, Outcome::Done) => "Stopped".to_owned(),
        (Operation::Stop, _) => "Failed to execute: stop".to_owned(),
        (Operation::Report(_), Outcome::Done) => match context.options.reports {
            ReportReplies::Generated => format!("Flight Report generated with id:{}", context.pendant.reports()),
            ReportReplies::Number => format!("{}", context.pendant.reports()),
            ReportReplies::Generating => format!("Generating flight report: {}", context.pendant.reports()),
        },
        (Operation::SupportFile(folder), Outcome::Done) => {
            let file = format!("{}/support.zip", folder.trim_end_matches('/'));
            match context.options.reports {
                ReportReplies::Generated | ReportReplies::Number => format!("Completed successfully: {file}"),
                ReportReplies::Generating => format!("Generating support file: {file}"),
            }
        }
        (Operation::SaveLog, Outcome::Done) => "Log saved to disk".to_owned(),
        // Never asked for here.
        (Operation::ReachIdle | Operation::ReachRunning, _) => String::new(),
        // Texts of these failures are not documented.
        (Operation::Report(_), _) => "Error: a flight report of this kind was generated moments ago".to_owned(),
        (Operation::SupportFile(folder), _) => format!("Error: no folder {folder}"),
        (Operation::SaveLog, _) => "Error: the log was not saved".to_owned(),
    }
}

/// One client's conversation: lines out of bytes, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Session {
    line: Vec<u8>,
    requests: VecDeque<String>,
    /// Whether the last request is not answered yet.
    pub(crate) waits: bool,
}

impl Session {
    /// Bytes from the client, up to the end of a line; what follows is handed in again once that line was looked at.
    pub(crate) fn receive<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        let room = REQUEST - self.line.len();
        self.line.extend(piece.iter().take(room));
        if end.is_some() {
            let line = std::mem::take(&mut self.line);
            if self.requests.len() < WAITING {
                self.requests.push_back(String::from_utf8_lossy(&line).into_owned());
            }
        }
        rest.get(1..).unwrap_or_default()
    }

    /// The next request; none while the one before is not answered.
    pub(crate) fn next(&mut self) -> Option<String> {
        if self.waits { None } else { self.requests.pop_front() }
    }
}

#[cfg(test)]
mod tests;
