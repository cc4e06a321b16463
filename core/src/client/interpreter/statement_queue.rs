//! The queue of URScript lines to send to the interpreter, and their conversion to bytes.

use heapless::Deque;

use super::pending_statements::{OTHERS, UNANSWERED};
use super::statement_file::{Statement, split_part};

/// A line to send to the interpreter: a statement in URScript, or a line of the client itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line<'t> {
    /// A statement of the file that is being sent.
    Statement(Statement<'t>),
    /// A line that the client itself sends, with its line end.
    Own(&'static str),
}

/// The most lines that wait to be taken and transmitted by the caller: as many as may wait for a reply.
const WAITING: usize = UNANSWERED + OTHERS;

/// The lines to send to the interpreter, in order. A statement is taken for transmission in parts.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    waiting: Deque<Line<'t>, WAITING>,
    /// The rest of the statement whose first parts were already taken for transmission; `None` between two lines.
    rest: Option<&'t str>,
    /// `true` if a blank has to be sent before the next part of the statement.
    blank: bool,
}

impl<'t> Lines<'t> {
    pub(super) const fn new() -> Self {
        Self { waiting: Deque::new(), rest: None, blank: false }
    }

    /// Discards all lines that wait to be sent to the interpreter, and the rest of the one that is being sent.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        (self.rest, self.blank) = (None, false);
    }

    /// Appends a statement, or a line of the client itself, to the queue of lines to send; returns `false` if there is
    /// no room.
    pub(super) fn push(&mut self, line: Line<'t>) -> bool {
        self.waiting.push_back(line).is_ok()
    }

    /// Returns the next part of a queued line to transmit to the controller; `None` if all was taken.
    pub(super) fn next(&mut self) -> Option<&'t str> {
        let Some(rest) = self.rest else {
            return match self.waiting.pop_front()? {
                Line::Own(text) => Some(text),
                Line::Statement(statement) => {
                    let (part, rest) = statement.split_part()?;
                    (self.rest, self.blank) = (Some(rest), true);
                    Some(part)
                }
            };
        };
        let Some((part, rest)) = split_part(rest) else {
            self.rest = None;
            return Some("\n");
        };
        if core::mem::take(&mut self.blank) {
            return Some(" ");
        }
        (self.rest, self.blank) = (Some(rest), true);
        Some(part)
    }
}
