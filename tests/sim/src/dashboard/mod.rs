//! The dashboard server (`core/docs/protocol/ur-dashboard.md 1–5`): one line in, one line out.
//!
//! The set of requests depends on the software. Requests that change something need remote control on e-Series, as it
//! was when the connection was opened. From 3.3 on an operation is answered when it has finished, before that at
//! once.

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

/// The line that the dashboard server sends to every new client.
pub(crate) const GREETING: &str = "Connected: Universal Robots Dashboard Server\n";
/// The longest dashboard request \[bytes\]; a longer one is cut.
const REQUEST: usize = 4096;
/// The number of requests of one client that may wait while an earlier one is unanswered; further ones are dropped.
const WAITING: usize = 64;

const NEEDS_REMOTE: &str = "Command is not allowed due to safety reasons, please switch robot to Remote Control mode and \
                            reconnect to port 29999";

/// The state that a dashboard request reads, and the operator's interface that it changes.
pub(crate) struct Context<'a> {
    pub(crate) now: SimTime,
    pub(crate) firmware: Firmware,
    pub(crate) model: &'a ArmModel,
    pub(crate) serial_number: &'a str,
    pub(crate) robot: &'a Robot,
    pub(crate) pendant: &'a mut Pendant,
    pub(crate) options: &'a DashboardOptions,
    pub(crate) playing: Playing,
    /// `true` if the controller accepted commands of clients when the connection was opened, and accepts them now;
    /// `false` in local control.
    pub(crate) permitted: bool,
}

/// The result of one dashboard request: its reply, and an operation that it starts.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reply {
    /// The immediate answer, without its line feed. `None` if the operation is answered when it has finished.
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

    /// Returns the reply to a dashboard request that starts `operation`. On software that answers when the operation
    /// has finished it contains no line; older software answers at once with the predicted outcome.
    fn begin(operation: Operation, context: &Context<'_>) -> Self {
        if context.firmware.dashboard_waits() {
            return Self { operation: Some(operation), ..Self::default() };
        }
        let outcome = foreseen(&operation, context);
        let line = Some(over(&operation, outcome, context));
        Self { line, operation: (outcome == Outcome::Done).then_some(operation), ..Self::default() }
    }
}

/// Returns the outcome of an operation as it can be predicted before the operation is tried.
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

/// Returns the reply to the dashboard request `line`, which has no line feed. Requests are case-insensitive; names in
/// them are not.
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

/// Returns the dashboard's answer to an operation that has finished.
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
        // No request starts these.
        (Operation::ReachIdle | Operation::ReachRunning, _) => String::new(),
        // Texts of these failures are not documented.
        (Operation::Report(_), _) => "Error: a flight report of this kind was generated moments ago".to_owned(),
        (Operation::SupportFile(folder), _) => format!("Error: no folder {folder}"),
        (Operation::SaveLog, _) => "Error: the log was not saved".to_owned(),
    }
}

/// The connection of one dashboard client: splits bytes into lines and processes one request at a time.
#[derive(Debug, Default)]
pub(crate) struct Session {
    line: Vec<u8>,
    requests: VecDeque<String>,
    /// `true` if the client's last dashboard request is still unanswered.
    pub(crate) waits: bool,
}

impl Session {
    /// Takes bytes from the client up to the end of a line. Returns the bytes after it; the caller passes them again
    /// after it has processed that line.
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

    /// Returns the client's next dashboard request; `None` if no request waits or the one before is not answered yet.
    pub(crate) fn next(&mut self) -> Option<String> {
        if self.waits { None } else { self.requests.pop_front() }
    }
}

#[cfg(test)]
mod tests;
