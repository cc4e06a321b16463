//! A compiled program.

use super::code::{CallSite, Function};
use super::declare::Declarations;
use super::growing::Growing;
use super::limits::Limits;
use super::value::Value;

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// `def name():` … `end`: replaces the program that runs.
    Primary,
    /// `sec name():` … `end`: runs beside it, within one control cycle.
    Secondary,
    /// A single line: replaces the program that runs, like a primary program without a name.
    Line,
}

/// A program that passed every check a controller makes before starting one.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) kind: ProgramKind,
    /// Function 0 is where the program begins.
    pub(super) functions: Growing<Function>,
    pub(super) constants: Growing<Value>,
    pub(super) calls: Growing<CallSite>,
    /// How many global variables there are.
    pub(super) globals: u32,
    /// For statements that are compiled into it while it runs.
    pub(super) names: Declarations,
    /// Whether operators take lists and matrices.
    pub(super) arrays: bool,
    /// Set if `+` joins texts.
    pub(super) joins_texts: bool,
    pub(super) limits: Limits,
}

impl Program {
    /// How it runs.
    #[must_use]
    pub fn kind(&self) -> ProgramKind {
        self.kind
    }

    /// The name after `def` or `sec`; `None` for a single line.
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
