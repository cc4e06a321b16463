//! A compiled URScript program.

use super::compiled_code::{CallSite, Function};
use super::declaration_pass::Declarations;
use super::front_removal_list::Growing;
use super::limits::Limits;
use super::value::Value;

/// The kind of a URScript program, which determines how it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// A program `def name():` … `end`, which replaces the running program.
    Primary,
    /// A program `sec name():` … `end`, which runs in parallel to the running program, within one control cycle.
    Secondary,
    /// A program of a single line, which replaces the running program, like a primary program without a name.
    Line,
}

/// A program that passed all checks that a controller makes before starting one.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) kind: ProgramKind,
    /// The compiled functions; the program begins with function 0.
    pub(super) functions: Growing<Function>,
    pub(super) constants: Growing<Value>,
    pub(super) calls: Growing<CallSite>,
    /// The number of global variables of the program.
    pub(super) globals: u32,
    /// The names of functions and variables, for statements that are compiled into the program while it runs.
    pub(super) names: Declarations,
    /// `true` if operators accept lists and matrices in the controller's software.
    pub(super) arrays: bool,
    /// `true` if the operator `+` joins texts in the controller's software.
    pub(super) joins_texts: bool,
    pub(super) limits: Limits,
}

impl Program {
    /// Returns the kind of the program: how it runs on a controller.
    #[must_use]
    pub fn kind(&self) -> ProgramKind {
        self.kind
    }

    /// Returns the program's name after `def` or `sec`; `None` for a single line.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self.kind {
            ProgramKind::Line => None,
            ProgramKind::Primary | ProgramKind::Secondary => {
                self.functions.get(0).map(|function| function.name.as_str())
            }
        }
    }
}
