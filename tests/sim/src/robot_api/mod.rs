//! The Robot API of PolyScope X (`core/docs/protocol/ur-dashboard.md 6`): HTTP requests to the operator's interface,
//! from 10.11 on.
//!
//! Two generations are distinguished: 10.11, and 10.12 with queries and transfer of programs. Words for modes and
//! states are those of the dashboard, which is not confirmed, except `REMOTE`.

mod http;
mod options;
mod routes;

pub(crate) use http::{CONTINUE, Received, Request, Session, response};
pub use options::{MessageSchema, RobotApiOptions};

use serde_json::{Value, json};

use crate::controller::Action;
use crate::dashboard::nonsense;
use crate::firmware::Firmware;
use crate::pendant::{Operation, Outcome, Pendant};
use crate::program::Playing;
use crate::rng::Rng;
use crate::robot::Robot;
use crate::time::SimTime;

/// The prefix of all paths of the Robot API.
const BASE: &str = "/universal-robots/robot-api";

/// The state of the controller that a request of the Robot API reads, and the operator's interface that it changes.
pub(crate) struct Context<'a> {
    pub(crate) now: SimTime,
    pub(crate) firmware: Firmware,
    pub(crate) robot: &'a Robot,
    pub(crate) pendant: &'a mut Pendant,
    pub(crate) options: &'a RobotApiOptions,
    pub(crate) playing: Playing,
}

/// The content of an answer of the Robot API.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A JSON value as the content, sent as it is.
    Json(Value),
    /// A sentence for the client, in the format that [`RobotApiOptions::messages`] selects.
    Message(String),
    /// The text of a file as the content.
    Text(String),
}

/// The result of a request of the Robot API.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content: Content,
    pub(crate) action: Option<Action>,
    /// The operation that the request starts. If there is one, the answer is sent when it has finished, in place of
    /// this content.
    pub(crate) operation: Option<Operation>,
}

impl Answer {
    fn json(value: Value) -> Self {
        Self { status: 200, content: Content::Json(value), action: None, operation: None }
    }

    fn say(status: u16, message: impl Into<String>) -> Self {
        Self { status, content: Content::Message(message.into()), action: None, operation: None }
    }

    fn begin(operation: Operation) -> Self {
        Self { operation: Some(operation), ..Self::say(200, "") }
    }

    fn act(message: &str, action: Action) -> Self {
        Self { action: Some(action), ..Self::say(200, message) }
    }

    /// Returns the bytes of the HTTP response with this answer. `closes` is `true` if the connection ends after it.
    pub(crate) fn bytes(&self, options: &RobotApiOptions, closes: bool) -> Vec<u8> {
        let (kind, body) = match (&self.content, options.messages) {
            (Content::Json(value), _) => ("application/json", value.to_string()),
            (Content::Text(text), _) => ("text/plain", text.clone()),
            (Content::Message(text), MessageSchema::Message) => {
                ("application/json", json!({"message": text}).to_string())
            }
            (Content::Message(text), MessageSchema::Text) => ("text/plain", text.clone()),
            (Content::Message(text), MessageSchema::Problem) => {
                let title = if self.status < 400 { "OK" } else { "The request was refused" };
                ("application/json", json!({"title": title, "status": self.status, "detail": text}).to_string())
            }
        };
        response(self.status, kind, body.as_bytes(), closes)
    }
}

/// Returns the answer to bytes that are not a valid request; `status` is the HTTP status.
pub(crate) fn refused(status: u16) -> Answer {
    Answer::say(
        status,
        match status {
            413 => "the body is too long",
            431 => "the headers are too long, or too many",
            _ => "this is no HTTP request",
        },
    )
}

/// Returns the answer to a request of the Robot API.
pub(crate) fn answer(request: &Request, context: &mut Context<'_>) -> Answer {
    let missing = || Answer::say(404, format!("there is no {}", request.path));
    let Some(path) = request.path.strip_prefix(BASE) else { return missing() };
    let mut routes = routes::at(path, context.firmware).peekable();
    if routes.peek().is_none() {
        return missing();
    }
    let Some((route, tail)) = routes.find(|(route, _)| route.method == request.method) else {
        return Answer::say(405, format!("{} is not for {}", request.method, request.path));
    };
    if route.needs_remote && !context.robot.control.obeys_clients() {
        return Answer::say(403, "the robot is not in remote control");
    }
    (route.answer)(context, request, tail)
}

/// Returns the Robot API's answer to an operation that has finished.
pub(crate) fn over(operation: &Operation, outcome: Outcome) -> Answer {
    let name = |name: &String| Answer::say(200, format!("{name} is loaded"));
    match (operation, outcome) {
        (Operation::Load(program), Outcome::Done) => name(program),
        (Operation::Load(program), Outcome::NotFound) => Answer::say(404, format!("there is no program {program}")),
        (Operation::Load(program), Outcome::Failed) => Answer::say(500, format!("{program} could not be loaded")),
        (Operation::Play, Outcome::Done) => Answer::say(200, "the program runs"),
        (Operation::Pause, Outcome::Done) => Answer::say(200, "the program is paused"),
        (Operation::Stop, Outcome::Done) => Answer::say(200, "the program is stopped"),
        (Operation::ReachIdle, Outcome::Done) => Answer::say(200, "the arm has power"),
        (Operation::ReachRunning, Outcome::Done) => Answer::say(200, "the brakes are released"),
        (_, Outcome::Done) => Answer::say(200, "done"),
        (_, _) => Answer::say(409, "not possible in this state"),
    }
}

/// Returns a random wrong answer, as a faulty server sends it.
pub(crate) fn senseless(rng: &mut Rng) -> Vec<u8> {
    let body = nonsense(rng);
    match rng.up_to(3) {
        0 => body,
        1 => response(200, "application/json", &body, false),
        2 => response(200, "application/json", br#"{"mode":7,"state":[],"info":{"version":3}}"#, false),
        _ => response(500, "text/html", b"<html>Internal Server Error</html>", true),
    }
}
