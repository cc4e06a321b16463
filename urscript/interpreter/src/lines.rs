//! Where interpreter mode stands: the lines that were accepted, and which of them is executed.

use std::collections::VecDeque;

use super::code::Mark;

/// Numbers of statements, as the state queries tell them; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// The last one that was executed to its end.
    pub executed: u32,
    /// The last one that was accepted.
    pub interpreted: u32,
    /// The last one that was removed by `clear_interpreter()`, or at the end of interpreter mode.
    pub cleared: u32,
    /// How many were accepted and are not executed yet.
    pub waiting: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Statement {
    pub(super) id: u32,
    pub(super) function: u32,
    /// The end of what it was compiled to.
    pub(super) end: Mark,
}

/// The state of interpreter mode in one machine.
#[derive(Default)]
pub(super) struct Interactive {
    /// While the main thread is in interpreter mode: the function that has called it, and the number of that call.
    pub(super) scope: Option<Scope>,
    pub(super) queue: VecDeque<Statement>,
    pub(super) current: Option<Statement>,
    /// Statements were asked to be cleared by the current one.
    pub(super) clears: bool,
    pub(super) ends: bool,
    /// Where the lines began.
    pub(super) first: Option<Mark>,
    /// Statements accepted since the last that clears.
    pub(super) kept: usize,
    pub(super) state: Statements,
}

#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) function: u32,
    pub(super) site: u32,
    pub(super) clear_on_end: bool,
}
