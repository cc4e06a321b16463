//! The lines that wait for their reply, and the statements that wait for their execution.

use heapless::Deque;
use outrigger_wire::time::{Duration, Instant};

/// The greatest number of sent statements without a reply: the maximum of
/// [`InterpreterConfig::unanswered`](super::InterpreterConfig::unanswered).
pub(super) const UNANSWERED: usize = 8;
/// The greatest number of statements sent but not executed: the maximum of
/// [`InterpreterConfig::ahead`](super::InterpreterConfig::ahead).
pub(super) const AHEAD: usize = 64;
/// The most lines other than statements of the file that wait for a reply: a query, and the four of a cancellation.
pub(super) const OTHERS: usize = 5;

/// A line sent to the controller that waits for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent<'t> {
    /// A statement of the file, with its line number and the part with which it begins.
    Statement { line: u32, part: &'t str },
    /// The probe: the statement `sync()` of the client, whose execution shows that the program accepts statements.
    Probe,
    /// The line `clear_interpreter()`, which clears executed statements from the controller's memory.
    Clear,
    /// A line `end_interpreter()`, `abort` or `skipbuffer`, or the `clear_interpreter()` of a cancellation, sent by the
    /// client itself.
    Other,
    /// The query `statelastexecuted`, which asks for the number of the last executed statement.
    Query,
}

impl Sent<'_> {
    /// Returns the line number of a statement in the file; `None` for lines that are not of the file.
    pub(super) const fn line(self) -> Option<u32> {
        match self {
            Self::Statement { line, .. } => Some(line),
            Self::Probe | Self::Clear | Self::Other | Self::Query => None,
        }
    }
}

/// A statement that the controller has accepted, until its execution is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// The line of the statement in the file; `None` for a statement of the client itself.
    pub(super) line: Option<u32>,
    pub(super) id: u32,
    /// `true` if the statement is `clear_interpreter()`.
    pub(super) clears: bool,
}

/// The sent lines that wait for a reply, and the accepted statements that wait for execution.
#[derive(Debug)]
pub(super) struct Pending<'t> {
    sent: Deque<(Sent<'t>, Instant), { UNANSWERED + OTHERS }>,
    ahead: Deque<Ahead, { AHEAD + UNANSWERED + OTHERS }>,
    /// The number of executed statements at the front of `ahead` that are not reported yet.
    executed: usize,
}

impl<'t> Pending<'t> {
    pub(super) const fn new() -> Self {
        Self { sent: Deque::new(), ahead: Deque::new(), executed: 0 }
    }

    /// Appends a line that was sent to the controller at `now` to those that wait for a reply; returns `false` if there
    /// is no room.
    pub(super) fn sent(&mut self, sent: Sent<'t>, now: Instant) -> bool {
        self.sent.push_back((sent, now)).is_ok()
    }

    /// Removes and returns the sent line to which the controller's next reply belongs; `None` if no line waits for one.
    pub(super) fn replied(&mut self) -> Option<Sent<'t>> {
        self.sent.pop_front().map(|(sent, _)| sent)
    }

    /// Returns the sent line that has waited longest for a reply, and the end of its wait; `None` if no line waits.
    pub(super) fn oldest(&self, wait: Duration) -> Option<(Sent<'t>, Instant)> {
        self.sent.front().map(|(sent, since)| (*sent, *since + wait))
    }

    pub(super) fn asks(&self) -> bool {
        self.sent.iter().any(|(sent, _)| matches!(sent, Sent::Query))
    }

    /// Returns the number of lines other than queries, of the file and of the client itself, that wait for a reply.
    pub(super) fn unanswered(&self) -> usize {
        self.sent.iter().filter(|(sent, _)| !matches!(sent, Sent::Query)).count()
    }

    pub(super) fn accepted(&mut self, ahead: Ahead) {
        // At most as many are sent as there is room for.
        let _ = self.ahead.push_back(ahead);
    }

    /// Returns the number of accepted statements that wait for their execution.
    pub(super) fn waiting(&self) -> usize {
        self.ahead.len().saturating_sub(self.executed)
    }

    /// Returns the lines of the first and the last statement of the file that wait for their execution, as far as is
    /// known; `None` if none waits.
    pub(super) fn lines(&self) -> Option<(u32, u32)> {
        let mut lines = self.ahead.iter().skip(self.executed).filter_map(|ahead| ahead.line);
        let first = lines.next()?;
        Some((first, lines.next_back().unwrap_or(first)))
    }

    /// Records that the controller has executed the statement `id` and those before it.
    pub(super) fn executed(&mut self, id: u32) {
        if let Some(at) = self.ahead.iter().position(|ahead| ahead.id == id) {
            self.executed = self.executed.max(at.saturating_add(1));
        }
    }

    pub(super) fn all_executed(&mut self) {
        self.executed = self.ahead.len();
    }

    /// Removes and returns the next executed statement that is not reported yet; `None` if all are reported.
    pub(super) fn next_executed(&mut self) -> Option<Ahead> {
        self.executed = self.executed.checked_sub(1)?;
        self.ahead.pop_front()
    }
}
