//! Interpreter mode: the lines with which a controller replies at port 30020
//! (`core/docs/protocol/ur-external-control.md 3`).
//!
//! Each line of a client gets one line in reply. The punctuation of replies is not fixed: a word and a colon come
//! first, then blanks, then often a number.
//!
//! ```
//! use outrigger_wire::interpreter::Reply;
//!
//! let accepted = Reply::parse(b"ack: 7: movej([0, -1.57, 0, -1.57, 0, 0])");
//! assert!(matches!(accepted, Reply::Accepted { id: Some(7), .. }));
//! ```

use crate::decimal;
use crate::primary::Text;

/// The TCP port at which a controller in interpreter mode accepts URScript lines.
pub const PORT: u16 = 30_020;

/// The controller's reply to one line sent in interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The controller has accepted the line of URScript.
    Accepted {
        /// The number of the accepted line, from 1; `None` or 0 for a line that has none, such as `abort`.
        id: Option<u32>,
        /// The rest of the reply, which repeats the accepted line.
        line: Text<'a>,
    },
    /// The controller has discarded the line of URScript. The text is the reason, followed by the line.
    Discarded(Text<'a>),
    /// The number that answers a [`Query`] about the progress of the URScript statements.
    State {
        /// The statement number, or number of statements, that the query asked for.
        value: u32,
        /// The rest of the reply, which repeats the query.
        query: Text<'a>,
    },
    /// A reply of a kind that is not known, as the whole line.
    Other(Text<'a>),
}

impl<'a> Reply<'a> {
    /// Reads one reply of the controller, given without its line end.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Self {
        let line = line.trim_ascii();
        let other = Self::Other(Text(line));
        let Some((word, rest)) = split_at(line, b':') else { return other };
        match word.trim_ascii() {
            b"ack" => {
                let (id, line) = number(rest);
                Self::Accepted { id, line: Text(line) }
            }
            b"discard" => Self::Discarded(Text(rest.trim_ascii())),
            b"state" => match number(rest) {
                (Some(value), query) => Self::State { value, query: Text(query) },
                (None, _) => other,
            },
            _ => other,
        }
    }
}

/// Returns the reason in the text of [`Reply::Discarded`], without the discarded line at its end; the whole text if there
/// is no reason before that line. `sent` is the start of the line.
#[must_use]
pub fn reason<'a>(text: Text<'a>, sent: &[u8]) -> Text<'a> {
    let sent = sent.trim_ascii();
    let at = text.0.windows(sent.len().max(1)).rposition(|part| part == sent).unwrap_or(text.0.len());
    let before = text.0.get(..at).unwrap_or_default().trim_ascii();
    let before = before.strip_suffix(b":").unwrap_or(before).trim_ascii();
    Text(if before.is_empty() { text.0 } else { before })
}

/// A query about the progress of the URScript statements that were sent in interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The query for the number of the last URScript statement that was executed; 0 before the first.
    LastExecuted,
    /// The query for the number of the last URScript statement that was accepted.
    LastInterpreted,
    /// The query for the number of the last URScript statement that was cleared.
    LastCleared,
    /// The query for the number of URScript statements that were accepted and are not executed yet.
    Unexecuted,
}

impl Query {
    /// The list of all queries about the progress of the URScript statements.
    pub const ALL: [Self; 4] = [Self::LastExecuted, Self::LastInterpreted, Self::LastCleared, Self::Unexecuted];

    /// Returns the line of URScript that sends this query, with its line feed.
    #[must_use]
    pub const fn line(self) -> &'static str {
        match self {
            Self::LastExecuted => "statelastexecuted\n",
            Self::LastInterpreted => "statelastinterpreted\n",
            Self::LastCleared => "statelastcleared\n",
            Self::Unexecuted => "stateunexecuted\n",
        }
    }
}

fn split_at(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let mut parts = bytes.splitn(2, |byte| *byte == at);
    Some((parts.next()?, parts.next()?))
}

/// Splits off the number at the start of `rest`, a part of a reply; the second part is the text behind the number and its
/// colon. If there is no number, or text other than a colon follows it, the result is `None` and `rest`.
fn number(rest: &[u8]) -> (Option<u32>, &[u8]) {
    let rest = rest.trim_ascii();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at_checked(digits).unwrap_or((&[], rest));
    let behind = after.trim_ascii();
    // A statement may begin with a digit. A number of the controller is followed by a colon or by the end of the line.
    let Some(behind) = (if behind.is_empty() { Some(behind) } else { behind.strip_prefix(b":") }) else {
        return (None, rest);
    };
    match decimal::unsigned(number).and_then(|number| u32::try_from(number).ok()) {
        Some(number) => (Some(number), behind.trim_ascii()),
        None => (None, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(id: Option<u32>, line: &[u8]) -> Reply<'_> {
        Reply::Accepted { id, line: Text(line) }
    }

    #[test]
    fn replies_are_read_whatever_their_punctuation() {
        assert_eq!(Reply::parse(b"ack: 3: movej(q)"), accepted(Some(3), b"movej(q)"));
        assert_eq!(Reply::parse(b"ack:3:movej(q)\r"), accepted(Some(3), b"movej(q)"));
        assert_eq!(Reply::parse(b"ack : 3 "), accepted(Some(3), b""));
        assert_eq!(Reply::parse(b"ack: abort"), accepted(None, b"abort"));
        assert_eq!(Reply::parse(b"ack: 99999999999: x()"), accepted(None, b"99999999999: x()"));
        let state = Reply::State { value: 12, query: Text(b"statelastexecuted") };
        assert_eq!(Reply::parse(b"state: 12: statelastexecuted"), state);
        assert_eq!(Reply::parse(b"state: many: x"), Reply::Other(Text(b"state: many: x")));
        assert_eq!(Reply::parse(b"discard: Syntax error: a = ="), Reply::Discarded(Text(b"Syntax error: a = =")));
        assert_eq!(Reply::parse(b"Connected: Universal Robots"), Reply::Other(Text(b"Connected: Universal Robots")));
        assert_eq!(Reply::parse(b""), Reply::Other(Text(b"")));
    }

    #[test]
    fn a_reason_ends_where_the_statement_begins() {
        let read = |text: &'static [u8], sent: &[u8]| reason(Text(text), sent).0;
        assert_eq!(read(b"Syntax error: a = =", b"a = ="), b"Syntax error");
        assert_eq!(read(b"syntax error: line 1: a: a = =", b" a = =\n"), b"syntax error: line 1: a");
        assert_eq!(read(b"Too many interpreted messages", b"a()"), b"Too many interpreted messages");
        assert_eq!(read(b"a()", b"a()"), b"a()", "never empty where something is said");
        assert_eq!(read(b"Compile error:", b""), b"Compile error");
    }
}
