//! Compiled programs: a list of instructions per function, for a machine with an explicit stack.

use super::builtins::Signature;
use super::error::Position;

/// The compiled form of a function, of a thread's body, or of the program itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) code: Vec<Op>,
    /// The position of each instruction in the program's text; as long as `code`.
    pub(super) positions: Vec<Position>,
    /// The number of slots for the function's variables: parameters, then local variables.
    pub(super) locals: u32,
}

/// A call of a function with the places of its arguments: pushed value *k* goes to `slots[k]`.
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

/// The location of a variable: its slot, among the global or the local variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableSlot {
    Global(u32),
    Local(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Plus,
    Not,
    /// The conversion of a value to a boolean, as in a condition.
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

/// An instruction of a compiled program. A number in it is the index of a constant, a call, a function or the
/// instruction to continue with, unless the comment of the instruction says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Constant(u32),
    Load(VariableSlot),
    /// Pushes an element of a variable, selected by this number of indices from the stack; a member's index is its
    /// name.
    LoadElement(VariableSlot, u32),
    Store(VariableSlot),
    /// Stores a value from the stack in an element of a variable, selected by this number of indices below the
    /// value.
    StoreElement(VariableSlot, u32),
    /// Makes a list of this number of values from the stack.
    List(u32),
    /// Makes a pose of six values from the stack, and pushes it.
    Pose,
    /// Makes a struct of a value from the stack for each member; the constant with this index is a struct that has
    /// the members' names.
    Struct(u32),
    /// Pushes an element of a value from the stack, selected by this number of indices above the value.
    Index(u32),
    Unary(Unary),
    Binary(Binary),
    Jump(u32),
    /// Takes a condition from the stack and jumps to another instruction if it is false.
    JumpUnless(u32),
    /// Examines a condition: if it is false, replaces it with `False` and jumps, otherwise drops it.
    And(u32),
    /// Examines a condition: if it is true, replaces it with `True` and jumps, otherwise drops it.
    Or(u32),
    /// Jumps to another instruction if the call has given an argument for the parameter in this slot.
    JumpIfGiven(u32, u32),
    Call(u32),
    /// Ends the program with an error, because no simulated object has the called method. The first number is the
    /// constant with the method's name, the second the number of arguments, below which the object is on the stack.
    NoMethod(u32, u32),
    /// Starts the function with this number as a thread.
    Run(u32),
    Join,
    Kill,
    Return,
    Halt,
    Discard,
    EnterCritical,
    ExitCritical,
}

/// The numbers of functions, constants and calls that had been compiled at a point between two lines of interpreter
/// mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) functions: usize,
    pub(super) constants: usize,
    pub(super) calls: usize,
}
