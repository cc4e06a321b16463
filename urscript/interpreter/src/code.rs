//! What a program is compiled to: an instruction list per function, for a machine with an explicit stack.

use super::builtins::Signature;
use super::error::Position;

/// A function, a thread's body, or the program itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) code: Vec<Op>,
    /// Where each instruction comes from; as long as `code`.
    pub(super) positions: Vec<Position>,
    /// Slots of parameters, then local variables.
    pub(super) locals: u32,
}

/// A call with its arguments sorted: pushed value *k* goes to `slots[k]`.
#[derive(Clone, Debug)]
pub(super) struct CallSite {
    pub(super) target: Target,
    pub(super) slots: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Function(u32),
    Builtin(&'static Signature),
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Global(u32),
    Local(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Plus,
    Not,
    /// To a boolean, as a condition sees it.
    Truth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Xor,
}

/// An instruction. Numbers are indices: of constants, calls, functions, or of the instruction to go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Constant(u32),
    Load(Place),
    /// Takes this many indices; that of a member is its name.
    LoadElement(Place, u32),
    Store(Place),
    /// Takes a value and, below it, this many indices.
    StoreElement(Place, u32),
    /// Takes this many values.
    List(u32),
    /// Takes six values.
    Pose,
    /// Takes a value for each member of this constant, a struct.
    Struct(u32),
    /// Takes this many indices and, below them, what they point into.
    Index(u32),
    Unary(Unary),
    Binary(Binary),
    Jump(u32),
    /// Takes a condition.
    JumpUnless(u32),
    /// Looks at a condition: if it is false, makes it `False` and jumps, else drops it.
    And(u32),
    /// Likewise with true.
    Or(u32),
    /// Jumps if the parameter in this slot was given.
    JumpIfGiven(u32, u32),
    Call(u32),
    /// Calls a method that no object has: its name is this constant. Below this many arguments is the object.
    NoMethod(u32, u32),
    /// Starts this function as a thread.
    Run(u32),
    Join,
    Kill,
    Return,
    Halt,
    Discard,
    EnterCritical,
    ExitCritical,
}

/// How much of each had been compiled at a point between two lines of interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) functions: usize,
    pub(super) constants: usize,
    pub(super) calls: usize,
}
