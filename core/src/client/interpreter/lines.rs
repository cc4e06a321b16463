//! The lines that are to be sent, and their bytes.

use heapless::Deque;

use super::pending::{OTHERS, UNANSWERED};
use super::statements::{Statement, split_part};

/// A line on its way out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line<'t> {
    /// A statement of the file.
    Statement(Statement<'t>),
    /// A line of ours, with its end.
    Own(&'static str),
}

/// The most lines that wait for the port: as many as may wait for a reply.
const WAITING: usize = UNANSWERED + OTHERS;

/// Lines that are written in pieces, in their order.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    waiting: Deque<Line<'t>, WAITING>,
    /// The rest of the statement that is being written.
    rest: Option<&'t str>,
    /// A blank is due before its next part.
    blank: bool,
}

impl<'t> Lines<'t> {
    pub(super) const fn new() -> Self {
        Self { waiting: Deque::new(), rest: None, blank: false }
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        (self.rest, self.blank) = (None, false);
    }

    /// Returns `false` where there is no room.
    pub(super) fn push(&mut self, line: Line<'t>) -> bool {
        self.waiting.push_back(line).is_ok()
    }

    /// The next piece to be written.
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
