//! Interpreter mode: a program that accepts statements while it runs (`core/docs/protocol/ur-external-control.md 3`).
//!
//! `interpreter_mode()` blocks the main thread, which then executes lines in the order in which they were accepted, in
//! the scope of the call. A line is compiled when it arrives. A line that does not compile is discarded completely.
//! Later lines can call the functions of a line, up to the next `clear_interpreter()`.

use super::builtins::{Builtins, Order};
use super::error::{CompileError, FaultKind};
use super::interpreter_mode::{Interactive, Scope, Statement, Statements};
use super::machine::Machine;
use super::thread::{Pending, Thread};
use super::value::{ThreadId, Value};

/// The reason why a line for interpreter mode was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Discard {
    /// The program is not in interpreter mode, or has ended.
    NotInterpreting,
    /// The number of lines since the last `clear_interpreter()`, or of those that wait, has reached
    /// [`Limits::statements`](super::Limits::statements).
    TooMany,
    /// The line for interpreter mode does not compile within the program.
    Compile(CompileError),
}

impl Machine {
    /// Returns whether the program is in interpreter mode.
    #[must_use]
    pub fn interprets(&self) -> bool {
        self.interactive.scope.is_some() && !self.has_ended()
    }

    /// Accepts a line of statements for interpreter mode and returns its number, from 1. It is executed after the lines
    /// before it.
    ///
    /// # Errors
    /// [`Discard`] if the line is not accepted; no part of it is executed.
    pub fn interpret(&mut self, line: &str, builtins: &Builtins) -> Result<u32, Discard> {
        let Some(Scope { function: within, .. }) = self.interactive.scope.filter(|_| !self.has_ended()) else {
            return Err(Discard::NotInterpreting);
        };
        // Clearing waits for the statements before it; their number must be limited, too.
        let limit = self.program.limits.statements;
        if self.interactive.kept >= limit || self.interactive.queue.len() >= limit {
            return Err(Discard::TooMany);
        }
        let first = *self.interactive.first.get_or_insert(self.program.mark());
        let function = self.program.add_line(line, within, builtins).map_err(Discard::Compile)?;
        let clears = self.program.line_clears(function);
        let interactive = &mut self.interactive;
        interactive.kept = interactive.kept.saturating_add(1);
        if clears {
            interactive.kept = 0;
            self.program.unname_lines(first, self.program.mark());
        }
        let id = interactive.state.interpreted.checked_add(1).filter(|id| i32::try_from(*id).is_ok()).unwrap_or(1);
        interactive.state.interpreted = id;
        interactive.queue.push_back(Statement { id, function, end: self.program.mark() });
        Ok(id)
    }

    /// Drops all statements of interpreter mode that were accepted and have not begun.
    pub fn skip(&mut self) {
        self.interactive.queue.clear();
    }

    /// Returns the numbers of the last interpreter-mode statements that were executed, accepted and cleared, and the
    /// count of those that wait.
    #[must_use]
    pub fn statements(&self) -> Statements {
        let Interactive { state, queue, current, .. } = &self.interactive;
        let waiting = queue.len().saturating_add(usize::from(current.is_some()));
        Statements { waiting: u32::try_from(waiting).unwrap_or(u32::MAX), ..*state }
    }

    /// Executes one of the functions of interpreter mode; returns `false` if the call must be repeated in the next
    /// control cycle.
    pub(super) fn order(
        &mut self,
        order: Order,
        thread: &mut Thread,
        pending: &Pending,
        budget: &mut u32,
    ) -> Result<bool, FaultKind> {
        match order {
            Order::Enter if pending.repeat == 0 => self.enter(thread, pending)?,
            Order::Enter => {}
            Order::End => self.interactive.ends = self.interactive.scope.is_some(),
            Order::Clear => self.interactive.clears = self.interactive.scope.is_some(),
        }
        if order == Order::Enter {
            return self.next_statement(thread, budget);
        }
        thread.push(Value::None, &self.program.limits, budget).map(|()| true)
    }

    fn enter(&mut self, thread: &Thread, pending: &Pending) -> Result<(), FaultKind> {
        if thread.id != ThreadId::MAIN {
            return Err(FaultKind::Interpreter("only in the main thread"));
        }
        if self.interactive.scope.is_some() {
            return Err(FaultKind::Interpreter("already entered"));
        }
        let flag = |index: usize| pending.args.get(index).and_then(Value::truth).unwrap_or(true);
        let function = thread.function();
        // Statements that were accepted within another function are dropped.
        let fits = self.interactive.queue.iter().all(|statement| self.program.belongs(statement.function, function));
        if flag(0) || !fits {
            self.interactive.queue.clear();
        }
        self.interactive.ends = false;
        self.interactive.scope = Some(Scope { function, site: pending.site, clear_on_end: flag(1) });
        Ok(())
    }

    /// Ends the current statement of interpreter mode, then begins the next one, waits for one, or ends interpreter
    /// mode.
    pub(super) fn next_statement(&mut self, thread: &mut Thread, budget: &mut u32) -> Result<bool, FaultKind> {
        if let Some(over) = self.interactive.current.take() {
            self.interactive.state.executed = over.id;
            if core::mem::take(&mut self.interactive.clears) {
                self.interactive.state.cleared = over.id;
                self.interactive.kept = self.interactive.queue.len();
                let first = self.interactive.first.unwrap_or(over.end);
                self.program.unname_lines(first, over.end);
                self.program.forget(over.end);
            }
        }
        let Some(scope) = self.interactive.scope else { return Ok(true) };
        if core::mem::take(&mut self.interactive.ends) {
            self.interactive.scope = None;
            if scope.clear_on_end {
                self.interactive.queue.clear();
                self.interactive.kept = 0;
                self.interactive.state.cleared = self.interactive.state.interpreted;
                let end = self.program.mark();
                self.program.unname_lines(self.interactive.first.unwrap_or(end), end);
                self.program.forget(end);
            }
            return thread.push(Value::None, &self.program.limits, budget).map(|()| true);
        }
        let Some(next) = self.interactive.queue.pop_front() else {
            thread.pending = Some(Pending { site: scope.site, args: Vec::new(), repeat: 1, scratch: 0.0 });
            return Ok(false);
        };
        self.interactive.current = Some(next);
        thread.enter_line(&self.program, next.function)?;
        Ok(true)
    }
}
