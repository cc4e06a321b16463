//! The dashboard server, port 29999 (`core/docs/protocol/ur-dashboard.md 1–4`): one line asks, one line answers.
//!
//! It belongs to the controller's user interface: it powers the arm, releases brakes, loads and plays programs and
//! tells about all of it. It cannot move the arm by itself. CB2 from software 1.4 on, CB3 and e-Series have it;
//! PolyScope X has a Robot API over HTTP in its place, for which [`RequestKind::support`] knows the same requests.
//!
//! * After connecting, the server speaks first: one line, [`is_greeting`].
//! * A [`Request`] is one line of ASCII. Words may be in any case, arguments keep theirs.
//! * A reply is one line, read by [`Reply::parse`] with the request it answers: the line alone does not tell.
//!   Wordings differ between releases, and sources disagree about some; any known one is taken, in any case.
//! * There are no numbers that tie a reply to its request: after one that never came, only a new connection helps.
//!
//! Which software knows a request is data: [`RequestKind::support`].
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

mod kind;
mod outcome;
mod reply;
mod request;
#[cfg(test)]
mod tests;

pub use kind::{Request, RequestKind, Support, Unsupported};
pub use outcome::Outcome;
pub use reply::{Refusal, Reply};
pub use request::{Argument, BadArgument, FlightReport, OperationalMode, UserRole};

/// Where a controller serves it.
pub const PORT: u16 = 29_999;

/// What a connection begins with.
pub const GREETING: &str = "Connected: Universal Robots Dashboard Server";

/// Whether a line is what a dashboard server begins a connection with, whatever else later releases add to it.
#[must_use]
pub fn is_greeting(line: &[u8]) -> bool {
    const NAME: &[u8] = b"dashboard server";
    line.windows(NAME.len()).any(|part| part.eq_ignore_ascii_case(NAME))
}
