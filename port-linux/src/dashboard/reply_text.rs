//! Formats replies of a dashboard server for people and for programs.

use outrigger_wire::dashboard::{Refusal, Reply};
use outrigger_wire::primary::Text;
use serde::Serialize;

/// Decodes text from a controller for a terminal: UTF-8 if it is valid, otherwise Latin-1. Control characters are
/// escaped.
#[must_use]
pub fn readable(text: Text<'_>) -> String {
    let decoded = std::str::from_utf8(text.0).map_or_else(|_| text.to_string(), str::to_owned);
    let spelt = decoded.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() });
    spelt.collect()
}

/// Returns a dashboard server's reply as text for people. A plain success is `done`.
#[must_use]
pub fn words(reply: &Reply<'_>) -> String {
    match reply {
        Reply::Done(added) if added.0.is_empty() => "done".into(),
        // Only the request for a flight report is answered with a number.
        Reply::Done(added) if added.0.iter().all(u8::is_ascii_digit) => {
            format!("done: flight report {}", readable(*added))
        }
        Reply::Done(added) => format!("done: {}", readable(*added)),
        Reply::Running(yes) | Reply::RemoteControl(yes) => (if *yes { "yes" } else { "no" }).into(),
        Reply::RobotMode(mode) => mode.to_string(),
        Reply::LoadedProgram(None) => "none".into(),
        Reply::LoadedProgram(Some(path)) => readable(*path),
        Reply::ProgramSaved { saved, program } => {
            format!("{} {}", if *saved { "yes" } else { "no" }, readable(*program)).trim_end().into()
        }
        Reply::ProgramState { state, program: None } => state.to_string(),
        Reply::ProgramState { state, program: Some(name) } => format!("{state} {}", readable(*name)),
        Reply::Software { text, .. } => readable(*text),
        Reply::UserRole(role) => role.word().into(),
        Reply::OperationalMode(mode) => mode.map_or("none (no password set)", |mode| mode.word()).into(),
        Reply::Safety(mode) => mode.to_string(),
        Reply::SerialNumber(text) | Reply::RobotModel(text) | Reply::Other(text) => readable(*text),
        Reply::Refused(Refusal::NotUnderstood(_)) => "not known to this controller".into(),
        Reply::Refused(Refusal::Failed(text)) => readable(*text),
        Reply::Refused(refusal) => refusal.to_string(),
    }
}

/// The value of a dashboard server's reply for a JSON key.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// The dashboard server's answer to a yes-or-no question; `true` also for a request that was carried out.
    Flag(bool),
    /// A reply of the dashboard server that is a text.
    Text(String),
    /// The state of a program on the controller, and its name.
    Program {
        /// The state of the program, as the dashboard server names it.
        state: String,
        /// The name of the program on the controller, if one is loaded.
        program: Option<String>,
    },
    /// No value: the dashboard server refused the request, or its reply contains none, e.g. no loaded program.
    Null,
}

/// Returns the value of a dashboard server's reply for a JSON key. [`Value::Null`] for a refusal, and for a reply
/// without a value.
#[must_use]
pub fn value(reply: &Reply<'_>) -> Value {
    match reply {
        Reply::Done(_) => Value::Flag(true),
        Reply::Running(yes) | Reply::RemoteControl(yes) | Reply::ProgramSaved { saved: yes, .. } => Value::Flag(*yes),
        Reply::RobotMode(mode) => Value::Text(mode.to_string()),
        Reply::LoadedProgram(Some(path)) => Value::Text(readable(*path)),
        Reply::ProgramState { state, program } => {
            Value::Program { state: state.to_string(), program: program.map(readable) }
        }
        Reply::Software { version, .. } => Value::Text(version.to_string()),
        Reply::UserRole(role) => Value::Text(role.word().into()),
        Reply::OperationalMode(Some(mode)) => Value::Text(mode.word().into()),
        Reply::Safety(mode) => Value::Text(mode.to_string()),
        Reply::SerialNumber(text) | Reply::RobotModel(text) => Value::Text(readable(*text)),
        Reply::LoadedProgram(None) | Reply::OperationalMode(None) | Reply::Refused(_) | Reply::Other(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use outrigger_tests::require::committed::hold;
    use outrigger_wire::robot::{ProgramState, RobotMode, SafetyMode, SoftwareVersion};

    use super::*;
    use crate::json::text;

    #[test]
    fn a_number_that_says_nothing_by_itself_is_named() {
        assert_eq!(words(&Reply::Done(Text(b"1"))), "done: flight report 1");
        assert_eq!(words(&Reply::Done(Text(b""))), "done");
    }

    #[test]
    fn the_values_for_scripts_are_those_that_are_committed() {
        let state = ProgramState::Playing;
        let replies = [
            Reply::Done(Text(b"")),
            Reply::Running(false),
            Reply::RobotMode(RobotMode::Running),
            Reply::LoadedProgram(None),
            Reply::LoadedProgram(Some(Text(b"/programs/a\"b\x1b.urp"))),
            Reply::ProgramSaved { saved: true, program: Text(b"a") },
            Reply::ProgramState { state, program: None },
            Reply::ProgramState { state, program: Some(Text(b"weld.urp")) },
            Reply::Software { version: SoftwareVersion::new(5, 15), text: Text(b"URSoftware 5.15") },
            Reply::OperationalMode(None),
            Reply::Safety(SafetyMode::Normal),
            Reply::RemoteControl(true),
            Reply::SerialNumber(Text(b"20195500000\xe9")),
            Reply::Refused(Refusal::TooEarly),
            Reply::Other(Text(b"?")),
        ];
        let lines = replies.iter().map(|reply| format!("{}\n", text(&value(reply))));
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/dashboard/golden/values.jsonl"), &lines.collect::<String>());
    }
}
