//! The Robot API of PolyScope X over HTTP/1.1 (`core/docs/protocol/ur-dashboard.md 6`): requests are written to bytes,
//! and responses read from bytes.
//!
//! A [`Call`] is one HTTP request on a connection of its own. [`Response`] takes the response in pieces of any size, in
//! memory of its own, and extracts one member of its JSON text. The API has two generations, distinguished by the
//! version in its description: 3.1.4 came with software 10.12 and added most queries. The words for modes and states
//! are unconfirmed except `REMOTE`; those of the dashboard are expected.
//!
//! ```
//! use outrigger_wire::robot_api::{Call, Response, VERSION};
//!
//! let mut request = [0; Call::MAX_LEN];
//! let size = Call::DESCRIPTION.emit("192.168.56.101", &mut request)?;
//! assert!(request[..size].starts_with(b"GET /universal-robots/robot-api/openapi.json HTTP/1.1\r\n"));
//! let mut response = Response::new(VERSION);
//! let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n{\"info\": {\"version\":\"3.1.4\"}}";
//! assert_eq!(response.take(answer), Ok(true));
//! assert!(response.is_success());
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

mod json;
mod response;
#[cfg(test)]
mod tests;

pub use json::{Member, Value};
pub use response::{HttpError, Response};

use core::fmt::Write as _;

use super::{WireError, WireErrorKind};
use crate::dashboard::{Argument, RequestKind};
use crate::robot::SoftwareVersion;

/// The TCP port of the controller's web pages and of the Robot API.
pub const PORT: u16 = 80;
/// The path of the Robot API on the controller: all resources are below `http://<robot>` plus this path.
pub const BASE: &str = "/universal-robots/robot-api";

/// The first software that has the Robot API: state control, loading and playing programs.
pub const FIRST: SoftwareVersion = SoftwareVersion::new(10, 11);
/// The first software whose Robot API (version 3.1.4) has queries for modes and for the loaded program.
pub const WITH_QUESTIONS: SoftwareVersion = SoftwareVersion::new(10, 12);
/// The version of the Robot API that added queries for modes and for the loaded program.
const QUESTIONS_SINCE: [u32; 3] = [3, 1, 4];

const PROGRAM_STATE: &str = "/program/v1/state";
const PROGRAM: &str = "/program/v1/loaded";

/// An HTTP request to the Robot API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// Reads the resource at this path below [`BASE`].
    Get(&'static str),
    /// Sets the resource at this path to a JSON object with one member.
    Put {
        /// The path of the resource below [`BASE`].
        path: &'static str,
        /// The name of the JSON object's member.
        key: &'static str,
        /// The text that is the JSON member's value.
        value: &'a str,
    },
}

impl<'a> Call<'a> {
    /// An upper bound for the length of HTTP requests to a host whose name has at most 64 bytes \[B\].
    pub const MAX_LEN: usize = 320 + 2 * Argument::MAX_LEN;

    /// The request for the description of the Robot API; `info.version` in the response is the API's version.
    pub const DESCRIPTION: Self = Self::Get("/openapi.json");
    /// The request for the state of the controller's program.
    pub const PROGRAM_STATE: Self = Self::Get(PROGRAM_STATE);
    /// The request to resume a paused program. The dashboard server has no such request: its `play` also resumes.
    pub const RESUME: Self = Self::Put { path: PROGRAM_STATE, key: "action", value: "resume" };
    /// The request for the control mode of the controller: remote or local control.
    pub const CONTROL_MODE: Self = Self::Get("/system/v1/controlmode");

    /// Returns the Robot API call that is equivalent to a dashboard request with this argument on this software; `None` if
    /// the API has none.
    #[must_use]
    pub fn of(request: RequestKind, argument: &'a str, software: SoftwareVersion) -> Option<Self> {
        let action = |path, value| Some(Self::Put { path, key: "action", value });
        let state = |value| action("/robotstate/v1/state", value);
        match request {
            RequestKind::PowerOn => state("POWER_ON"),
            RequestKind::PowerOff => state("POWER_OFF"),
            RequestKind::BrakeRelease => state("BRAKE_RELEASE"),
            RequestKind::UnlockProtectiveStop => state("UNLOCK_PROTECTIVE_STOP"),
            RequestKind::RestartSafety => state("RESTART_SAFETY"),
            RequestKind::RobotMode => Some(Self::Get("/robotstate/v1/robotmode")),
            RequestKind::SafetyMode => Some(Self::Get("/robotstate/v1/safetymode")),
            RequestKind::Load if software >= WITH_QUESTIONS => {
                Some(Self::Put { path: PROGRAM, key: "name", value: argument })
            }
            RequestKind::Load => Some(Self::Put { path: "/program/v1/load", key: "programName", value: argument }),
            RequestKind::Play => action(PROGRAM_STATE, "play"),
            RequestKind::Pause => action(PROGRAM_STATE, "pause"),
            RequestKind::Stop => action(PROGRAM_STATE, "stop"),
            RequestKind::ProgramState => Some(Self::PROGRAM_STATE),
            RequestKind::LoadedProgram => Some(Self::Get(PROGRAM)),
            RequestKind::IsInRemoteControl => Some(Self::CONTROL_MODE),
            RequestKind::OperationalMode => Some(Self::Get("/system/v1/operationalmode")),
            _ => None,
        }
    }

    /// Writes the HTTP request to `out` and returns its length \[B\]. `host` is the controller as a URL names it. The
    /// request asks the controller to close the connection after its response.
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter; [`Self::MAX_LEN`] bytes hold any call that is equivalent to a dashboard
    /// request. `BadValue` if the value contains control characters.
    pub fn emit(&self, host: &str, out: &mut [u8]) -> Result<usize, WireError> {
        if let Self::Put { value, .. } = self
            && let Some(at) = value.bytes().position(|byte| byte.is_ascii_control())
        {
            return Err(WireError::new(WireErrorKind::BadValue, at, 1, value.len()));
        }
        let have = out.len();
        let mut text = Cursor { out, len: 0 };
        let written = match *self {
            Self::Get(path) => write!(
                text,
                "GET {BASE}{path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
            ),
            Self::Put { path, key, value } => {
                let escapes = value.bytes().filter(|byte| is_escaped(*byte)).count();
                let length = key.len().saturating_add(value.len()).saturating_add(escapes).saturating_add(7);
                write!(
                    text,
                    "PUT {BASE}{path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nContent-Type: \
                     application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{{\"{key}\":\""
                )
                .and_then(|()| {
                    value.chars().try_for_each(|c| {
                        if matches!(c, '"' | '\\') {
                            text.write_char('\\')?;
                        }
                        text.write_char(c)
                    })
                })
                .and_then(|()| text.write_str("\"}"))
            }
        };
        let len = text.len;
        written
            .map(|()| len)
            .map_err(|_| WireError::new(WireErrorKind::BufferTooSmall, 0, have.saturating_add(1), have))
    }
}

const fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\')
}

/// Returns the JSON member of the Robot API's response that contains the answer to a dashboard request; `None` if the HTTP
/// status is the whole answer.
#[must_use]
pub const fn member(request: RequestKind) -> Option<Member> {
    match request {
        RequestKind::RobotMode
        | RequestKind::SafetyMode
        | RequestKind::OperationalMode
        | RequestKind::IsInRemoteControl => Some(Member { path: &[("", "mode")] }),
        RequestKind::ProgramState => Some(Member { path: &[("", "state")] }),
        RequestKind::LoadedProgram => Some(Member { path: &[("", "name")] }),
        _ => None,
    }
}

/// The member of the API's description that contains the version of the API.
pub const VERSION: Member = Member { path: &[("info", "version")] };
/// The member of an error response that contains its text. The form of such responses is not documented, so each of
/// the likely members is accepted.
pub const REFUSAL: Member = Member { path: &[("", "message"), ("", "detail"), ("", "error"), ("", "title")] };

/// Returns the oldest software that has this version of the API; `None` if `version` is not a version.
#[must_use]
pub fn software(version: &[u8]) -> Option<SoftwareVersion> {
    let number = |part: &[u8]| core::str::from_utf8(part).ok()?.parse::<u32>().ok();
    let mut numbers = version.split(|byte| matches!(byte, b'.' | b'-' | b'+')).map_while(number);
    let api = [numbers.next()?, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    Some(if api >= QUESTIONS_SINCE { WITH_QUESTIONS } else { FIRST })
}

/// A cursor that writes text to memory of the caller, and fails if the memory is full.
struct Cursor<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl core::fmt::Write for Cursor<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.len.saturating_add(text.len());
        let room = self.out.get_mut(self.len..end).ok_or(core::fmt::Error)?;
        for (to, from) in room.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        self.len = end;
        Ok(())
    }
}
