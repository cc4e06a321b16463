//! The state of interpreter mode: the accepted lines, and the one in execution.

use std::collections::VecDeque;

use super::compiled_code::Mark;

/// The numbers of statements of interpreter mode, as state queries report them; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// The number of the last interpreter-mode statement that was executed completely.
    pub executed: u32,
    /// The number of the last interpreter-mode statement that the program accepted.
    pub interpreted: u32,
    /// The number of the last interpreter-mode statement that was removed by `clear_interpreter()`, or at the end of
    /// interpreter mode.
    pub cleared: u32,
    /// The number of interpreter-mode statements that were accepted and are not executed yet.
    pub waiting: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Statement {
    pub(super) id: u32,
    pub(super) function: u32,
    /// The numbers of compiled items directly after the statement's compiled form, see [`Mark`].
    pub(super) end: Mark,
}

/// The state of interpreter mode in one machine.
#[derive(Default)]
pub(super) struct Interactive {
    /// The function that called `interpreter_mode()`, and the number of that call; `None` unless the main thread is in
    /// interpreter mode.
    pub(super) scope: Option<Scope>,
    pub(super) queue: VecDeque<Statement>,
    pub(super) current: Option<Statement>,
    /// `true` if the current interpreter-mode statement requested the removal of statements.
    pub(super) clears: bool,
    pub(super) ends: bool,
    /// The counts of functions, constants and calls compiled before the first line of interpreter mode, where its code
    /// begins (see [`Mark`]). `None` if there is no such line yet.
    pub(super) first: Option<Mark>,
    /// The number of interpreter-mode statements accepted since the last one that removes statements.
    pub(super) kept: usize,
    pub(super) state: Statements,
}

#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) function: u32,
    pub(super) site: u32,
    pub(super) clear_on_end: bool,
}
