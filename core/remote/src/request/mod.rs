//! Requests to a process that commands a robot, as lines of JSON: the protocol between `outrigger ctl` and `outrigger
//! run`.
//!
//! One object per line, of at most [`LINE_MAX`] bytes, in UTF-8. `do` is the kind of request; the answer repeats `id`:
//!
//! | `do` | further keys | requests |
//! |---|---|---|
//! | `status` | | the state of the session |
//! | `watch` | | the state of the session, and again after each change |
//! | `request` | `epoch` | to begin commanding |
//! | `resume` | `epoch` | to resume a suspended motion |
//! | `release` | | to stop the arm |
//! | `acknowledge` | | to clear the latched reason |
//! | `set` | `epoch`, `output` | to set an output, as `outrigger io` writes it: `"digital-out.3=on"` |
//! | `sample` | `epoch`, `source`, `values`, optional `seq` | to accept a reading: 1 to 6 numbers in the source's unit |
//! | `hand-back` | `epoch` | to end our program on the controller, so that the pendant's program around it continues |
//! | `resend` | `epoch` | to send that program again |
//! | `freedrive` | `epoch`, optional `how` | to let a hand move the arm, as long as the same sender renews it |
//! | `force` | `epoch`, `how` | to let a force move the arm, as long as the same sender renews it: `"z=-20"` |
//! | `tool-contact` | `epoch`, `how` | whether a contact of the tool ends motions of the controller: `"on"`, `"off"` |
//! | `renew` | | to renew `freedrive` or `force`, by the sender who began it |
//! | `stiffen` | | to end `freedrive` or `force`, whoever began it |
//! | `move` | `epoch`, `how` | to move to a target, or along a motion sent in pieces, while the sender is connected |
//! | `cancel` | | to end a motion, whoever began it |
//! | `dashboard` | `epoch`, `how` | one command to the dashboard server that makes the arm ready: `"brake-release"` |
//! | `withdraw` | `what` | to withdraw the request with this `id`; stops the arm if that request armed it |
//!
//! `epoch` is the number in the last answer that the sender received: a request with another one than the present is
//! refused by the process that carries it out. In requests that do not need it, it is permitted and ignored. The same
//! applies to `challenge`, the number of a recent answer: a request that [causes motion](ClientRequest::causes_motion) is refused
//! without one that was issued to its sender within [`FRESH_FOR`]; each is valid for one request. `id`, `epoch`, `seq`,
//! `challenge` and `what` are integers from 0 to 4294967295. Any other key, a repeated key, and a key that this `do`
//! does not have, are faults.
//!
//! This module reads no socket and makes no decision: [`Lines`] receives bytes in any pieces, and returns [`Message`]s
//! and [`Fault`]s, in bounded memory.
//!
//! ```
//! use outrigger_core::mode::Epoch;
//! use outrigger_remote::request::{Challenge, ClientRequest, Lines, Message};
//!
//! let mut lines = Lines::new();
//! for piece in [&b"{\"id\":7,\"do\":\"req"[..], b"uest\",\"epoch\":3,\"challenge\":9}\n"] {
//!     lines.receive_window()[..piece.len()].copy_from_slice(piece);
//!     lines.commit(piece.len());
//! }
//! let challenge = Some(Challenge::from_number(9));
//! let message = Message { id: Some(7), challenge, ask: ClientRequest::Request(Epoch::from_number(3)) };
//! assert_eq!(lines.poll_message(), Some(Ok(message)));
//! assert_eq!(message.to_string(), "{\"id\":7,\"do\":\"request\",\"epoch\":3,\"challenge\":9}");
//! ```

mod arming_request;
mod json;
mod json_keys;
mod json_number;
pub mod keyed;
mod line_splitter;
mod message;
mod request_freshness;
#[cfg(test)]
mod tests;

pub use arming_request::Armed;
pub use json_keys::Key;
pub use json_number::number;
pub use line_splitter::{LINE_MAX, Lines};
pub use message::{ClientRequest, Message};
pub use request_freshness::{Challenge, Challenges, FRESH_FOR};

/// An error in a request line. No part of such a line is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<'a> {
    /// The `id` of the request line, if it precedes the error.
    pub id: Option<u32>,
    /// The kind of the error in the request line.
    pub kind: FaultKind,
    /// The position of the error in the line: the number of bytes before it.
    pub at: usize,
    /// The JSON key that is missing, repeated or not accepted, or whose value is invalid; `None` if the error concerns no
    /// known key.
    pub key: Option<Key>,
    /// A description of the values accepted at the position of the error.
    pub expected: &'static str,
    /// The bytes at the position of the error: at most [`FOUND_MAX`](Self::FOUND_MAX), of any value.
    pub found: &'a [u8],
}

impl Fault<'_> {
    /// The largest number of erroneous bytes in [`found`](Self::found).
    pub const FOUND_MAX: usize = 32;
}

impl core::fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} at byte {}", self.kind.text(), self.at)?;
        if let Some(key) = self.key {
            write!(f, ", `{}`", key.name())?;
        }
        write!(f, ": expected {}", self.expected)?;
        if self.found.is_empty() { Ok(()) } else { write!(f, ", found '{}'", self.found.escape_ascii()) }
    }
}

/// The kind of an error in a request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The request line is longer than [`LINE_MAX`] bytes. Its end is unknown: nothing is read after it.
    TooLong,
    /// The request line is not UTF-8.
    NotText,
    /// The request line is not a valid JSON object.
    Syntax,
    /// The request line contains a JSON key that no request has.
    UnknownKey,
    /// The request line contains a JSON key more than once.
    RepeatedKey,
    /// The request line contains a JSON key that a request with this `do` does not accept.
    UnexpectedKey,
    /// The request line lacks a JSON key that a request with this `do` requires.
    MissingKey,
    /// The request line contains a value of another type than its JSON key accepts.
    WrongType,
    /// A number in the request line is out of range, or the number of values is, or a text is empty.
    OutOfRange,
    /// The value of the JSON key `do` is not the name of a request.
    UnknownWord,
}

impl FaultKind {
    /// Returns the name of the kind of error, as used in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooLong => "TooLong",
            Self::NotText => "NotText",
            Self::Syntax => "Syntax",
            Self::UnknownKey => "UnknownKey",
            Self::RepeatedKey => "RepeatedKey",
            Self::UnexpectedKey => "UnexpectedKey",
            Self::MissingKey => "MissingKey",
            Self::WrongType => "WrongType",
            Self::OutOfRange => "OutOfRange",
            Self::UnknownWord => "UnknownWord",
        }
    }

    /// Returns a description of the error in the request line for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::TooLong => "the line is too long",
            Self::NotText => "the line is not UTF-8",
            Self::Syntax => "the line is not a JSON object",
            Self::UnknownKey => "no message has this key",
            Self::RepeatedKey => "the key is repeated",
            Self::UnexpectedKey => "this message does not have the key",
            Self::MissingKey => "a key is missing",
            Self::WrongType => "the value is of another type",
            Self::OutOfRange => "the value is out of range",
            Self::UnknownWord => "there is no such request",
        }
    }
}
