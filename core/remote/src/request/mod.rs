//! Requests to a process that commands a robot, as lines of JSON: what `outrigger ask` sends to `outrigger run`.
//!
//! One object per line, of at most [`LINE_MAX`] bytes, in UTF-8. `do` says what is asked, `id` is given back in the answer:
//!
//! | `do` | further keys | asks |
//! |---|---|---|
//! | `status` | | how it stands |
//! | `watch` | | the same, and again with each change |
//! | `request` | `epoch` | to command |
//! | `resume` | `epoch` | to go on with a motion that was suspended |
//! | `release` | | to stop the arm |
//! | `acknowledge` | | to clear the latched reason |
//! | `set` | `epoch`, `output` | to set an output, as `outrigger io` writes it: `"digital-out.3=on"` |
//! | `sample` | `epoch`, `source`, `values`, perhaps `seq` | to take a reading of a source, 1 to 6 numbers in the source's unit |
//! | `hand-back` | `epoch` | to end our program on the controller, so that the pendant's program around it goes on |
//! | `resend` | `epoch` | to send that program again |
//! | `freedrive` | `epoch`, perhaps `how` | to let a hand move the arm, for as long as the same sender renews it |
//! | `force` | `epoch`, `how` | to let a force move it, likewise: `"z=-20"` |
//! | `tool-contact` | `epoch`, `how` | that a contact of the tool ends what the controller executes, `"on"`, or does not, `"off"` |
//! | `renew` | | that a hand or a force goes on moving the arm, by who began it |
//! | `stiffen` | | that it ends, whoever began it |
//! | `move` | `epoch`, `how` | to move the arm to one place, or along a motion that is sent in pieces, for as long as the same sender is there |
//! | `cancel` | | that it ends, whoever began it |
//! | `dashboard` | `epoch`, `how` | one command to the controller's dashboard server that makes the arm ready: `"brake-release"` |
//! | `withdraw` | `what` | to take back the request with this `id`; stops the arm if that request armed it |
//!
//! `epoch` is the number that the sender saw in the last answer: what is asked with another one than the present is refused
//! by whoever carries it out. Where none is needed it may stand, and is not looked at. So it is with `challenge`, the number of a
//! recent answer: a request that [causes motion](Ask::causes_motion) is refused without one that was issued to its sender within
//! [`FRESH_FOR`], each good for one request. `id`, `epoch`, `seq`, `challenge` and `what` are integers
//! from 0 to 4294967295. Any other key, a key that stands twice, and one that this `do` does not have, are faults.
//!
//! Nothing here reads a socket or decides anything: [`Lines`] takes bytes in any pieces, and gives [`Message`]s and
//! [`Fault`]s, in bounded memory.
//!
//! ```
//! use outrigger_core::mode::Epoch;
//! use outrigger_remote::request::{Ask, Challenge, Lines, Message};
//!
//! let mut lines = Lines::new();
//! for piece in [&b"{\"id\":7,\"do\":\"req"[..], b"uest\",\"epoch\":3,\"challenge\":9}\n"] {
//!     lines.receive_window()[..piece.len()].copy_from_slice(piece);
//!     lines.commit(piece.len());
//! }
//! let challenge = Some(Challenge::from_number(9));
//! let message = Message { id: Some(7), challenge, ask: Ask::Request(Epoch::from_number(3)) };
//! assert_eq!(lines.poll_message(), Some(Ok(message)));
//! assert_eq!(message.to_string(), "{\"id\":7,\"do\":\"request\",\"epoch\":3,\"challenge\":9}");
//! ```

mod armed;
mod fresh;
mod json;
mod key;
pub mod keyed;
mod lines;
mod message;
mod number;
#[cfg(test)]
mod tests;

pub use armed::Armed;
pub use fresh::{Challenge, Challenges, FRESH_FOR};
pub use key::Key;
pub use lines::{LINE_MAX, Lines};
pub use message::{Ask, Message};
pub use number::number;

/// An error in a line. None of such a line is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<'a> {
    /// The line's `id`, where it stands before the fault.
    pub id: Option<u32>,
    /// The kind of the error.
    pub kind: FaultKind,
    /// The place in the line: bytes before it.
    pub at: usize,
    /// The key whose value it is, or that is missing.
    pub key: Option<Key>,
    /// A description of the values that are accepted there.
    pub expected: &'static str,
    /// The bytes that stand there: at most [`FOUND_MAX`](Self::FOUND_MAX) of them, of any kind.
    pub found: &'a [u8],
}

impl Fault<'_> {
    /// Most bytes of [`found`](Self::found).
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

/// The kind of an error in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Longer than [`LINE_MAX`] bytes. Where it ends is unknown: nothing is read after it.
    TooLong,
    /// Not UTF-8.
    NotText,
    /// Not a JSON object.
    Syntax,
    /// A key that no message has.
    UnknownKey,
    /// A key that stands twice.
    RepeatedKey,
    /// A key that another `do` has.
    UnexpectedKey,
    /// A key that this `do` needs.
    MissingKey,
    /// A value of another type.
    WrongType,
    /// A number, or how many of them, beyond what is allowed; a text that is empty.
    OutOfRange,
    /// A `do` that nobody knows.
    UnknownWord,
}

impl FaultKind {
    /// Returns the name used in answers.
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

    /// Returns a description for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::TooLong => "the line is too long",
            Self::NotText => "the line is not UTF-8",
            Self::Syntax => "the line is not a JSON object",
            Self::UnknownKey => "no message has this key",
            Self::RepeatedKey => "the key stands twice",
            Self::UnexpectedKey => "this message does not have the key",
            Self::MissingKey => "a key is missing",
            Self::WrongType => "the value is of another type",
            Self::OutOfRange => "the value is out of range",
            Self::UnknownWord => "nothing of this name can be asked",
        }
    }
}
