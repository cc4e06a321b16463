//! The outcome of a dashboard call: the dashboard's reply with its value.

use outrigger_wire::dashboard::{OperationalMode, Refusal, Reply, UserRole};
use outrigger_wire::primary::Text;
use outrigger_wire::robot::ProgramState;

use crate::readings::robot_mode_number;
use outrigger_ros2_messages::{ProgramInformation, VersionInformation};

/// The outcome of a call to the controller's dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `true` if the requested operation was done or the question answered.
    pub success: bool,
    /// The dashboard's reply, or the reason why no request was sent: one line of UTF-8.
    pub text: String,
    /// The value in the dashboard's reply.
    pub value: Value,
}

/// The value in a reply, in the form of responses (`core/docs/protocol/ros2-surface.md` 5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value beside the text of the reply: the requested operation was done or refused.
    None,
    /// `true` if a program runs, or if the controller is in remote control.
    Flag(bool),
    /// A path, a model, the number of a report or the name of a file; empty if there is none.
    Name(String),
    /// The state and the name of the loaded program. PolyScope X reports no name.
    Program {
        /// The state of the loaded program: stopped, playing or paused.
        state: ProgramState,
        /// The loaded program's name, or empty.
        name: String,
    },
    /// The name of the loaded program, and whether it is saved.
    Saved {
        /// `true` if the loaded program is saved.
        saved: bool,
        /// The loaded program's name, or empty.
        name: String,
    },
    /// The number of the robot mode, -1 to 8.
    RobotMode(i8),
    /// The number of the safety mode or safety status, 1 to 23.
    Safety(i8),
    /// The role of the person at the pendant.
    Role(UserRole),
    /// The operational mode; `None` if no password is set for the choice.
    Mode(Option<OperationalMode>),
    /// The arm's serial number.
    Serial(u64),
    /// The version of the controller's software.
    Version(VersionInformation),
    /// The programs on the controller.
    Programs(Vec<ProgramInformation>),
}

impl Outcome {
    /// Returns the outcome of a successful dashboard call with this text.
    #[must_use]
    pub fn done(text: impl Into<String>) -> Self {
        Self { success: true, text: text.into(), value: Value::None }
    }

    /// Returns the outcome of a failed dashboard call with this text as the reason.
    #[must_use]
    pub fn failed(text: impl Into<String>) -> Self {
        Self { success: false, text: text.into(), value: Value::None }
    }

    /// Returns the outcome for `reply`, which was received as `line`. The line may be empty, because a Robot API has
    /// status codes instead of text.
    #[must_use]
    pub fn of(reply: &Reply<'_>, line: Text<'_>) -> Self {
        let value = match reply {
            Reply::Refused(refusal) => return Self::failed(refused(refusal, line)),
            Reply::Other(text) => return Self::failed(readable(*text)),
            Reply::Done(added) => Value::Name(readable(*added)),
            Reply::Running(yes) | Reply::RemoteControl(yes) => Value::Flag(*yes),
            Reply::RobotMode(mode) => match robot_mode_number(*mode) {
                Some(number) => Value::RobotMode(number),
                None => return Self::failed(readable(line)),
            },
            Reply::LoadedProgram(path) => Value::Name(path.map(readable).unwrap_or_default()),
            Reply::ProgramSaved { saved, program } => Value::Saved { saved: *saved, name: readable(*program) },
            Reply::ProgramState { state, program } => {
                Value::Program { state: *state, name: program.map(readable).unwrap_or_default() }
            }
            Reply::Software { version, text } => Value::Version(VersionInformation {
                major: version.major.into(),
                minor: version.minor.into(),
                bugfix: version.bugfix,
                build: build(*text),
            }),
            Reply::UserRole(role) => Value::Role(*role),
            Reply::OperationalMode(mode) => Value::Mode(*mode),
            Reply::Safety(mode) => match i8::try_from(mode.raw()) {
                Ok(number) => Value::Safety(number),
                Err(_) => return Self::failed(readable(line)),
            },
            Reply::SerialNumber(digits) => match digits.to_string().parse() {
                Ok(number) => Value::Serial(number),
                Err(_) => return Self::failed(readable(line)),
            },
            Reply::RobotModel(model) => Value::Name(readable(*model)),
        };
        let text = readable(line);
        Self { success: true, text: if text.is_empty() { "done".into() } else { text }, value }
    }

    /// Returns the name in the value of a dashboard reply (path, model, program); empty if the value contains none.
    pub(super) fn name(&self) -> String {
        match &self.value {
            Value::Name(name) | Value::Program { name, .. } | Value::Saved { name, .. } => name.clone(),
            _ => String::new(),
        }
    }

    /// Returns the flag in the value of a dashboard reply (running, remote control, saved); `false` if the value
    /// contains none.
    pub(super) const fn flag(&self) -> bool {
        match self.value {
            Value::Flag(yes) | Value::Saved { saved: yes, .. } => yes,
            _ => false,
        }
    }
}

/// Returns the text for a dashboard request that was rejected: the dashboard's own text if there is one, followed by
/// its meaning if the text does not state it.
fn refused(refusal: &Refusal<'_>, line: Text<'_>) -> String {
    match refusal {
        Refusal::NotUnderstood(text) | Refusal::Failed(text) => readable(*text),
        refusal if line.0.is_empty() => refusal.to_string(),
        // A Robot API returns a status here; local control was detected by another request.
        Refusal::NeedsRemoteControl => format!("{}: {refusal}", readable(line)),
        Refusal::TooEarly | Refusal::FileNotFound(_) => readable(line),
    }
}

/// Returns the build number of the controller's software, which follows the third point: 1101319 of `URSoftware
/// 5.12.0.1101319 (Mar 22 2022)`; 0 if there is none.
fn build(text: Text<'_>) -> u32 {
    let text = text.to_string();
    let last = text.split('.').nth(3).unwrap_or_default();
    let end = last.find(|c: char| !c.is_ascii_digit()).unwrap_or(last.len());
    last.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Converts text of the dashboard to UTF-8: valid UTF-8 is kept, other bytes are read as Latin-1. Control characters
/// are escaped, because a zero would end a text early in C.
fn readable(text: Text<'_>) -> String {
    let decoded = std::str::from_utf8(text.0).map_or_else(|_| text.to_string(), str::to_owned);
    if !decoded.contains(char::is_control) {
        return decoded;
    }
    decoded.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use outrigger_wire::dashboard::RequestKind;

    use super::*;

    fn read(kind: RequestKind, line: &str) -> Outcome {
        Outcome::of(&Reply::parse(kind, line.as_bytes()), Text(line.as_bytes()))
    }

    #[test]
    fn a_reply_gives_its_value_and_its_own_line() {
        for (kind, line, value) in [
            (RequestKind::Play, "Starting program", Value::Name(String::new())),
            (RequestKind::Running, "Program running: true", Value::Flag(true)),
            (RequestKind::RobotMode, "Robotmode: POWER_OFF", Value::RobotMode(3)),
            // CB2 has numbers of its own: 7 is NO_POWER.
            (RequestKind::RobotMode, "Robotmode: 7", Value::RobotMode(3)),
            (RequestKind::SafetyMode, "Safetymode: PROTECTIVE_STOP", Value::Safety(3)),
            (RequestKind::SafetyStatus, "Safetystatus: SAFETY_API_SAFEGUARD_STOP", Value::Safety(22)),
            (RequestKind::LoadedProgram, "Loaded program: /programs/a.urp", Value::Name("/programs/a.urp".into())),
            (RequestKind::LoadedProgram, "No program loaded", Value::Name(String::new())),
            (RequestKind::IsProgramSaved, "false a.urp", Value::Saved { saved: false, name: "a.urp".into() }),
            (
                RequestKind::ProgramState,
                "PAUSED a.urp",
                Value::Program { state: ProgramState::Paused, name: "a.urp".into() },
            ),
            (RequestKind::SerialNumber, "20175599999", Value::Serial(20_175_599_999)),
            (RequestKind::RobotModel, "UR10", Value::Name("UR10".into())),
            (RequestKind::OperationalMode, "NONE", Value::Mode(None)),
            (RequestKind::UserRole, "LOCKED", Value::Role(UserRole::Locked)),
            (RequestKind::GenerateFlightReport, "Flight Report generated with id: 7", Value::Name("7".into())),
        ] {
            assert_eq!(read(kind, line), Outcome { success: true, text: line.into(), value });
        }
        let version = |line| match read(RequestKind::PolyscopeVersion, line).value {
            Value::Version(VersionInformation { major, minor, bugfix, build }) => [major, minor, bugfix, build],
            other => panic!("{other:?}"),
        };
        assert_eq!(version("URSoftware 5.12.0.1101319 (Mar 22 2022)"), [5, 12, 0, 1_101_319]);
        assert_eq!(version("URSoftware 3.5"), [3, 5, 0, 0]);
    }

    #[test]
    fn what_is_no_answer_is_no_success_and_is_told_as_it_came() {
        for (kind, line) in [
            (RequestKind::Load, "File not found: a.urp"),
            (RequestKind::Play, "Failed to execute: play"),
            (RequestKind::RobotMode, "Robotmode: 99"),
            (RequestKind::RobotMode, "Robotmode: DANCING"),
            (RequestKind::SerialNumber, "99999999999999999999999"),
            (RequestKind::SafetyStatus, "could not understand: 'safetystatus'"),
        ] {
            assert_eq!(read(kind, line), Outcome::failed(line));
        }
        assert_eq!(read(RequestKind::Play, "a\0b\u{e9}").text, "a\\u{0}bé");
        assert_eq!(Outcome::of(&Reply::Other(Text(b"\xe9")), Text(b"")).text, "é");
    }

    #[test]
    fn a_robot_api_has_no_words_for_what_was_done() {
        assert_eq!(Outcome::of(&Reply::Done(Text(b"")), Text(b"")).text, "done");
        let local = Reply::Refused(Refusal::NeedsRemoteControl);
        let said = Outcome::of(&local, Text(b"not now (status 403)"));
        assert!(!said.success && said.text.starts_with("not now (status 403): the controller was in local control"));
        assert!(Outcome::of(&local, Text(b"")).text.starts_with("the controller was in local control"));
    }
}
