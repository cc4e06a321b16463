//! The lines that wait for their reply, and the statements that wait for their execution.

use heapless::Deque;
use outrigger_wire::time::{Duration, Instant};

/// The most of [`InterpreterConfig::unanswered`](super::InterpreterConfig::unanswered).
pub(super) const UNANSWERED: usize = 8;
/// The most of [`InterpreterConfig::ahead`](super::InterpreterConfig::ahead).
pub(super) const AHEAD: usize = 64;
/// Beside statements a question, and the four lines of an end by force.
pub(super) const OTHERS: usize = 5;

/// A line without its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent<'t> {
    /// A statement of the file, which begins with this part.
    Statement { line: u32, part: &'t str },
    /// The statement by which it is seen that the program takes statements.
    Probe,
    /// `clear_interpreter()`.
    Clear,
    /// `end_interpreter()`, `abort` or `skipbuffer`.
    Other,
    /// `statelastexecuted`.
    Query,
}

impl Sent<'_> {
    /// The line of a statement of the file.
    pub(super) const fn line(self) -> Option<u32> {
        match self {
            Self::Statement { line, .. } => Some(line),
            Self::Probe | Self::Clear | Self::Other | Self::Query => None,
        }
    }
}

/// A statement that was accepted and not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Its line in the file; `None` for one of ours.
    pub(super) line: Option<u32>,
    pub(super) id: u32,
    /// Set for `clear_interpreter()`.
    pub(super) clears: bool,
}

/// All that waits.
#[derive(Debug)]
pub(super) struct Pending<'t> {
    sent: Deque<(Sent<'t>, Instant), { UNANSWERED + OTHERS }>,
    ahead: Deque<Ahead, { AHEAD + UNANSWERED + OTHERS }>,
    /// The number of those at the front of `ahead` that were executed and are not reported yet.
    executed: usize,
}

impl<'t> Pending<'t> {
    pub(super) const fn new() -> Self {
        Self { sent: Deque::new(), ahead: Deque::new(), executed: 0 }
    }

    /// Returns `false` where there is no room.
    pub(super) fn sent(&mut self, sent: Sent<'t>, now: Instant) -> bool {
        self.sent.push_back((sent, now)).is_ok()
    }

    /// The line that the next reply is of.
    pub(super) fn replied(&mut self) -> Option<Sent<'t>> {
        self.sent.pop_front().map(|(sent, _)| sent)
    }

    /// The line that waits the longest, and when its wait is over.
    pub(super) fn oldest(&self, wait: Duration) -> Option<(Sent<'t>, Instant)> {
        self.sent.front().map(|(sent, since)| (*sent, *since + wait))
    }

    pub(super) fn asks(&self) -> bool {
        self.sent.iter().any(|(sent, _)| matches!(sent, Sent::Query))
    }

    /// Statements of the file and of ours without a reply.
    pub(super) fn unanswered(&self) -> usize {
        self.sent.iter().filter(|(sent, _)| !matches!(sent, Sent::Query)).count()
    }

    pub(super) fn accepted(&mut self, ahead: Ahead) {
        // No more go out than there is room for.
        let _ = self.ahead.push_back(ahead);
    }

    /// Statements that wait for their execution.
    pub(super) fn waiting(&self) -> usize {
        self.ahead.len().saturating_sub(self.executed)
    }

    /// The lines of the first and the last statement that wait for their execution, as far as is known.
    pub(super) fn lines(&self) -> Option<(u32, u32)> {
        let mut lines = self.ahead.iter().skip(self.executed).filter_map(|ahead| ahead.line);
        let first = lines.next()?;
        Some((first, lines.next_back().unwrap_or(first)))
    }

    /// The statement `id` and those before it were executed.
    pub(super) fn executed(&mut self, id: u32) {
        if let Some(at) = self.ahead.iter().position(|ahead| ahead.id == id) {
            self.executed = self.executed.max(at.saturating_add(1));
        }
    }

    pub(super) fn all_executed(&mut self) {
        self.executed = self.ahead.len();
    }

    /// The next that was executed and is not reported.
    pub(super) fn next_executed(&mut self) -> Option<Ahead> {
        self.executed = self.executed.checked_sub(1)?;
        self.ahead.pop_front()
    }
}
