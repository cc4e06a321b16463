//! The replies of the dashboard server.

use super::{OperationalMode, RequestKind, UserRole};
use crate::primary::Text;
use crate::robot::{Generation, ProgramState, RobotMode, SafetyMode, SoftwareVersion};

/// The dashboard server's reply to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The dashboard command was executed or has begun, with the path or number that the server adds (often empty).
    Done(Text<'a>),
    /// The reply `true` if a program is running on the controller.
    Running(bool),
    /// The robot mode that the controller reports.
    RobotMode(RobotMode),
    /// The file path of the loaded program; `None` if no program is loaded.
    LoadedProgram(Option<Text<'a>>),
    /// The loaded program's name, and whether it is saved.
    ProgramSaved {
        /// `true` if the loaded program is saved.
        saved: bool,
        /// The name of the loaded program; may be empty.
        program: Text<'a>,
    },
    /// The state of the loaded program, and the program's name.
    ProgramState {
        /// The state of the loaded program.
        state: ProgramState,
        /// The name of the loaded program; `None` if no program is loaded.
        program: Option<Text<'a>>,
    },
    /// The software version: as numbers that can be compared, and as the whole line with build and date.
    Software {
        /// The major, minor and bug-fix version of the controller's software.
        version: SoftwareVersion,
        /// The whole line of the version reply, with build and date.
        text: Text<'a>,
    },
    /// The user role in force: what a person at the pendant may do.
    UserRole(UserRole),
    /// The operational mode, manual or automatic; `None` if no password is set for the choice.
    OperationalMode(Option<OperationalMode>),
    /// The controller's safety mode, or its safety status, whichever the request asks for.
    Safety(SafetyMode),
    /// The reply `true` if the controller is in remote control.
    RemoteControl(bool),
    /// The serial number of the arm.
    SerialNumber(Text<'a>),
    /// The arm's model, without the `e` of e-Series: `UR5`.
    RobotModel(Text<'a>),
    /// The reply that the controller rejects the request, with the reason.
    Refused(Refusal<'a>),
    /// A line that no known software sends as the reply to this request.
    Other(Text<'a>),
}

/// The reason why the dashboard server rejected a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal<'a> {
    /// The connection was opened in local control. Switch to remote control, *then* connect again.
    NeedsRemoteControl,
    /// The protective stop was not unlocked, because it occurred less than 5 s ago.
    TooEarly,
    /// This software does not support the dashboard request, or the service does not offer it. Contains the whole line of
    /// the reply.
    NotUnderstood(Text<'a>),
    /// The controller has no file of this name, as repeated in the reply.
    FileNotFound(Text<'a>),
    /// The requested dashboard command failed. Contains the whole line of the reply.
    Failed(Text<'a>),
}

impl core::fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NeedsRemoteControl => {
                f.write_str("the controller was in local control when this connection was made")
            }
            Self::TooEarly => f.write_str("a protective stop is locked for 5 s after it occurred"),
            Self::NotUnderstood(_) => f.write_str("this software does not know the request"),
            Self::FileNotFound(name) => write!(f, "no such file on the controller: {name}"),
            Self::Failed(text) => write!(f, "{text}"),
        }
    }
}

/// The texts that precede the number of a flight report in a reply.
const REPORTED: &[&str] = &["Flight Report generated with id", "Generating flight report"];

impl<'a> Reply<'a> {
    /// Reads `line`, with or without its line end, as the reply to a dashboard request.
    ///
    /// Ignores case and surrounding blanks. Where sources disagree on the wording, each version is accepted.
    #[must_use]
    pub fn parse(request: RequestKind, line: &'a [u8]) -> Self {
        let line = line.trim_ascii();
        let refused = Refusal::find(line).map(Self::Refused);
        refused.or_else(|| Self::answer(request, line)).unwrap_or(Self::Other(Text(line)))
    }

    /// Reads `line` as the reply to a dashboard request that succeeded; `None` if it is not such a reply.
    fn answer(request: RequestKind, line: &'a [u8]) -> Option<Self> {
        use RequestKind as Ask;
        let done = |phrases: &[&str]| phrases.iter().find_map(|phrase| after(line, phrase)).map(Text).map(Self::Done);
        match request {
            Ask::Load => done(&["Loading program"]),
            Ask::Play => done(&["Starting program"]),
            Ask::Stop => done(&["Stopped"]),
            Ask::Pause => done(&["Pausing program"]),
            Ask::Quit => done(&["Disconnected"]),
            Ask::Shutdown => done(&["Shutting down"]),
            Ask::Running => flag(value(line)).map(Self::Running),
            Ask::RobotMode => robot_mode(value(line)).map(Self::RobotMode),
            Ask::LoadedProgram if after(line, "No program loaded").is_some() => Some(Self::LoadedProgram(None)),
            Ask::LoadedProgram => after(line, "Loaded program").map(|path| Self::LoadedProgram(Some(Text(path)))),
            Ask::Popup => done(&["showing popup"]),
            Ask::ClosePopup => done(&["closing popup"]),
            Ask::AddToLog => done(&["Added log message"]),
            Ask::IsProgramSaved => {
                let (word, program) = first_word(line);
                flag(word).map(|saved| Self::ProgramSaved { saved, program: Text(program) })
            }
            Ask::ProgramState => {
                let (word, program) = first_word(line);
                let unnamed = program.is_empty() || program.eq_ignore_ascii_case(b"<unnamed>");
                let program = (!unnamed).then_some(Text(program));
                named(ProgramState::NAMED, ProgramState::name, word).map(|state| Self::ProgramState { state, program })
            }
            Ask::PolyscopeVersion | Ask::Version => {
                let digits = after(line, "URSoftware").unwrap_or(line);
                software(digits).map(|version| Self::Software { version, text: Text(line) })
            }
            Ask::SetUserRole => done(&["Setting user role"]),
            Ask::UserRole => UserRole::from_word(value(line)).map(Self::UserRole),
            // The wording of UR's document, then that of newer software, with or without quotes around the mode.
            Ask::SetOperationalMode => done(&["Setting operational mode"])
                .or_else(|| done(&["Operational mode"]).filter(|_| ends_with(line, b"is set"))),
            Ask::ClearOperationalMode => {
                done(&["operational mode is no longer controlled", "No longer controlling the operational mode"])
            }
            Ask::OperationalMode if value(line).eq_ignore_ascii_case(b"none") => Some(Self::OperationalMode(None)),
            Ask::OperationalMode => {
                OperationalMode::from_word(value(line)).map(|mode| Self::OperationalMode(Some(mode)))
            }
            Ask::PowerOn => done(&["Powering on"]),
            Ask::PowerOff => done(&["Powering off"]),
            Ask::BrakeRelease => done(&["Brake releasing"]),
            Ask::SafetyMode | Ask::SafetyStatus => {
                named(SafetyMode::NAMED, SafetyMode::name, value(line)).map(Self::Safety)
            }
            Ask::UnlockProtectiveStop => done(&["Protective stop releasing"]),
            Ask::CloseSafetyPopup => done(&["closing safety popup"]),
            Ask::LoadInstallation => done(&["Loading installation"]),
            Ask::RestartSafety => done(&["Restarting safety"]),
            Ask::IsInRemoteControl => flag(value(line)).map(Self::RemoteControl),
            Ask::SerialNumber => {
                let plausible = !line.is_empty() && line.iter().all(u8::is_ascii_digit);
                plausible.then_some(Self::SerialNumber(Text(line)))
            }
            Ask::RobotModel => {
                let plausible = after(line, "UR").is_some() && line.iter().all(u8::is_ascii_alphanumeric);
                plausible.then_some(Self::RobotModel(Text(line)))
            }
            // The number follows words that sources disagree on, or is the whole line: then it is one word, since an
            // error text has several.
            Ask::GenerateFlightReport => done(REPORTED).or_else(|| match first_word(line) {
                (id, b"") if !id.is_empty() => Some(Self::Done(Text(id))),
                _ => None,
            }),
            Ask::GenerateSupportFile => done(&["Completed successfully", "Generating support file"]),
            Ask::SaveLog => done(&["Log saved to disk"]),
        }
    }
}

impl<'a> Refusal<'a> {
    /// Reads `line` as a rejection, by its first words, whatever the dashboard request was; `None` if it is no known
    /// rejection.
    fn find(line: &'a [u8]) -> Option<Self> {
        if after(line, "Command is not allowed due to safety reasons").is_some() {
            return Some(Self::NeedsRemoteControl);
        }
        if after(line, "Cannot unlock protective stop until").is_some() {
            return Some(Self::TooEarly);
        }
        if after(line, "could not understand").is_some() {
            return Some(Self::NotUnderstood(Text(line)));
        }
        if let Some(name) = after(line, "File not found") {
            return Some(Self::FileNotFound(Text(name)));
        }
        let failed = ["Failed", "Error", "No log message to add", "Cannot", "Could not"];
        failed.iter().any(|phrase| after(line, phrase).is_some()).then_some(Self::Failed(Text(line)))
    }
}

/// Returns the text behind `phrase` in a reply line, without colon and blanks; `None` if `line` does not start with
/// `phrase`.
fn after<'a>(line: &'a [u8], phrase: &str) -> Option<&'a [u8]> {
    let (head, rest) = line.split_at_checked(phrase.len())?;
    let rest = rest.trim_ascii_start();
    head.eq_ignore_ascii_case(phrase.as_bytes()).then(|| rest.strip_prefix(b":").unwrap_or(rest).trim_ascii_start())
}

fn ends_with(line: &[u8], end: &[u8]) -> bool {
    line.len().checked_sub(end.len()).and_then(|at| line.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Returns the text behind the last colon of a reply line (`RUNNING` of `Robotmode: RUNNING`), or the whole line if it
/// has no colon.
fn value(line: &[u8]) -> &[u8] {
    line.rsplit(|byte| *byte == b':').next().unwrap_or(line).trim_ascii()
}

/// Splits a line of a reply into its first word and the rest.
fn first_word(line: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = line.splitn(2, |byte| *byte == b' ');
    let word = parts.next().unwrap_or_default();
    (word, parts.next().unwrap_or_default().trim_ascii())
}

fn flag(word: &[u8]) -> Option<bool> {
    match word {
        _ if word.eq_ignore_ascii_case(b"true") => Some(true),
        _ if word.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

/// Reads the robot mode in a reply: a word from CB3 on, a number on CB2; `None` for an unknown word.
fn robot_mode(word: &[u8]) -> Option<RobotMode> {
    let cb2 = core::str::from_utf8(word).ok().and_then(|digits| digits.parse().ok());
    if let Some(raw) = cb2 {
        return Some(RobotMode::from_raw(Generation::Cb2, raw));
    }
    named(RobotMode::CB3, RobotMode::name, word)
}

fn named<T: Copy>(all: &[(T, i32)], name: fn(T) -> Option<&'static str>, word: &[u8]) -> Option<T> {
    let known =
        all.iter().find(|(value, _)| name(*value).is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(word)));
    known.map(|(value, _)| *value)
}

/// Reads a software version from a reply: `5.12.0` of `5.12.0.1101319 (Mar 22 2022)`; `None` if it begins with no version.
fn software(text: &[u8]) -> Option<SoftwareVersion> {
    let (numbers, _) = first_word(text);
    let mut numbers = numbers.split(|byte| *byte == b'.').map(core::str::from_utf8).map_while(Result::ok);
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    let bugfix = numbers.next().map_or(Ok(0), str::parse).ok()?;
    Some(SoftwareVersion { major, minor, bugfix })
}
