//! The dashboard server, port 29999 (`core/docs/protocol/ur-dashboard.md 1–4`): one line per request, one per reply.
//!
//! The server belongs to the controller's user interface. It powers the arm, releases brakes, loads and plays programs
//! and reports the state of all of these. It cannot move the arm by itself. CB2 from software 1.4 on, CB3 and e-Series
//! have it; PolyScope X has a Robot API over HTTP instead, for which [`RequestKind::support`] covers the same requests.
//!
//! * After connecting, the server sends the first line: a greeting, see [`is_greeting`].
//! * A [`Request`] is one line of ASCII. Its words may be in any case; the case of arguments is kept.
//! * A reply is one line. [`Reply::parse`] needs the request as well, because the line alone is ambiguous. Wordings
//!   differ between releases, and sources disagree about some; every known wording is accepted, in any case.
//! * No number ties a reply to its request. After a missing reply, only a new connection restores the pairing.
//!
//! Support of each request by each software is a table: [`RequestKind::support`].
//!
//! ```
//! use outrigger_wire::robot::{RobotMode, SoftwareVersion};
//! use outrigger_wire::dashboard::{Reply, RequestKind};
//!
//! let kind = RequestKind::RobotMode;
//! assert_eq!(kind.words(), "robotmode");
//! assert_eq!(Reply::parse(kind, b"Robotmode: RUNNING"), Reply::RobotMode(RobotMode::Running));
//! println!("{:?}", RequestKind::SafetyStatus.support(SoftwareVersion::new(5, 3)));
//! ```

mod outcome;
mod reply;
mod request;
mod request_kind;
#[cfg(test)]
mod tests;

pub use outcome::Outcome;
pub use reply::{Refusal, Reply};
pub use request::{Argument, BadArgument, BadRequest, FlightReport, OperationalMode, UserRole};
pub use request_kind::{Request, RequestKind, Support, Unsupported};

/// The TCP port of the dashboard server.
pub const PORT: u16 = 29_999;

/// The line that the dashboard server sends first on every connection.
pub const GREETING: &str = "Connected: Universal Robots Dashboard Server";

/// Returns whether a line is a dashboard server's greeting. Text that later releases add to it is ignored.
#[must_use]
pub fn is_greeting(line: &[u8]) -> bool {
    const NAME: &[u8] = b"dashboard server";
    line.windows(NAME.len()).any(|part| part.eq_ignore_ascii_case(NAME))
}
