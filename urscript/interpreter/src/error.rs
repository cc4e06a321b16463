//! Compile-time and run-time errors of URScript programs.

use core::fmt;

/// A position in a program's text. Both numbers count from 1, as in a controller's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The number of the line in the program's text, from 1.
    pub line: u32,
    /// The number of the column in the line, from 1, in characters.
    pub column: u32,
}

impl Position {
    /// The position of the first character of a program's text.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The reason why a program's text was not compiled. No part of it runs.
///
/// `Display` writes the text that a controller would send with it, behind the position. Only
/// `compile_error_name_not_found` was recorded from a controller; the other texts imitate it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// The position of the error in the program's text.
    pub position: Position,
    /// The kind of compile-time error.
    pub kind: CompileErrorKind,
}

/// A kind of compile-time error of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileErrorKind {
    /// A name that the program neither assigns nor defines, and that the controller's software does not provide.
    NameNotFound(String),
    /// A function, a parameter of a function or a member of a struct is defined twice with this name.
    NameAlreadyDefined(String),
    /// A statement of interpreter mode declares a global variable that the program does not have.
    NewGlobal(String),
    /// The program's text has another token than the grammar requires.
    Syntax {
        /// The tokens that the grammar allows at this position.
        expected: &'static str,
        /// The token that the text has instead.
        found: String,
    },
    /// A number in the program's text is malformed or does not fit 32 bits.
    Number(String),
    /// The arguments of a call do not match the function.
    Arguments {
        /// The name of the called function.
        function: String,
        /// The mismatch between the call's arguments and the function's parameters.
        what: ArgumentsError,
    },
    /// Blocks or expressions are nested deeper than [`Limits::nesting`](super::Limits::nesting).
    NestedTooDeep,
    /// A function has more parameters than [`Limits::parameters`](super::Limits::parameters).
    TooManyParameters,
    /// The program's text is longer than [`Limits::source`](super::Limits::source).
    TooLong,
}

/// A mismatch between the arguments of a call and the function's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The call has more arguments than the function accepts.
    TooMany {
        /// The number of arguments that the function accepts.
        allowed: usize,
    },
    /// The call has no argument for this parameter, which has no default.
    Missing(String),
    /// The function has no parameter with this name of an argument.
    NoSuchName(String),
    /// The call has two arguments for the parameter with this name.
    Twice(String),
}

impl fmt::Display for CompileErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameNotFound(name) => write!(f, "compile_error_name_not_found:{name}:"),
            Self::NameAlreadyDefined(name) => write!(f, "compile_error_name_already_defined:{name}:"),
            Self::NewGlobal(name) => write!(f, "compile_error_new_global:{name}:"),
            Self::Syntax { expected, found } => write!(f, "compile_error_syntax:expected {expected}, found {found}:"),
            Self::Number(text) => write!(f, "compile_error_number:{text}:"),
            Self::Arguments { function, what } => {
                write!(f, "compile_error_arguments:{function}:")?;
                match what {
                    ArgumentsError::TooMany { allowed } => write!(f, "takes {allowed}:"),
                    ArgumentsError::Missing(name) => write!(f, "missing {name}:"),
                    ArgumentsError::NoSuchName(name) => write!(f, "has no {name}:"),
                    ArgumentsError::Twice(name) => write!(f, "{name} given twice:"),
                }
            }
            Self::NestedTooDeep => f.write_str("compile_error_nested_too_deep:"),
            Self::TooManyParameters => f.write_str("compile_error_too_many_parameters:"),
            Self::TooLong => f.write_str("compile_error_too_long:"),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.kind)
    }
}

impl core::error::Error for CompileError {}

/// The reason why a running program ended early.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The position of the failed operation in the program's text.
    pub position: Position,
    /// The kind of run-time error.
    pub kind: FaultKind,
}

/// A kind of run-time error of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An operation or function does not accept values of this kind.
    Type {
        /// The name of the operation that failed.
        operation: &'static str,
        /// The kind of the rejected value, see [`Value::kind`](super::Value::kind).
        found: &'static str,
    },
    /// A variable is read before anything was assigned to it.
    NotAssigned,
    /// A struct has no member of this name.
    NoMember(String),
    /// A value has no method of this name, or none that accepts these arguments.
    NoMethod {
        /// The name of the method that the URScript program called on a value, e.g. on a list.
        name: String,
        /// The kind of the value on which the method was called, see [`Value::kind`](super::Value::kind).
        found: &'static str,
    },
    /// A list, pose, struct or text has no element with this index.
    IndexOutOfRange {
        /// The index that the program used.
        index: i32,
        /// The number of elements of the indexed value.
        len: usize,
    },
    /// The result of this operation is a whole number that does not fit 32 bits.
    Overflow(&'static str),
    /// The lengths of two lists do not match, or a list does not have the length that the operation needs.
    Length {
        /// The name of the operation on the two lists.
        operation: &'static str,
        /// The number of elements of the left list; if it is a matrix that is multiplied, the number of its columns.
        left: usize,
        /// The number of elements of the right list; if it is a matrix that is multiplied, the number of its rows.
        right: usize,
    },
    /// A division by zero, a function's argument outside its domain, or a result that is not finite or too large; the
    /// name of the operation.
    Domain(&'static str),
    /// A limit on the program's resources is exceeded, such as one of [`Limits`](super::Limits); the name of the
    /// limited quantity or of the function.
    Limit(&'static str),
    /// A secondary program did not end within one control cycle: it called a function that takes time, started a
    /// thread, or spent the budget of instructions.
    TooMuchBehind,
    /// `interpreter_mode` is not possible at this place, for this reason.
    Interpreter(&'static str),
    /// The host does not have the function with this name.
    NotProvided(&'static str),
    /// A controller has the function with this name, but the devices that it uses are not simulated.
    NotSimulated(&'static str),
    /// A run-time error that the host reported, as text.
    Host(String),
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { operation, found } => write!(f, "type_error:{operation}:{found}:"),
            Self::NotAssigned => f.write_str("variable_not_assigned:"),
            Self::NoMember(name) => write!(f, "no_member:{name}:"),
            Self::NoMethod { name, found } => write!(f, "no_method:{name}:{found}:"),
            Self::IndexOutOfRange { index, len } => write!(f, "index_out_of_range:{index}:{len}:"),
            Self::Overflow(operation) => write!(f, "integer_overflow:{operation}:"),
            Self::Length { operation, left, right } => write!(f, "length_error:{operation}:{left}:{right}:"),
            Self::Domain(what) => write!(f, "domain_error:{what}:"),
            Self::Limit(which) => write!(f, "limit:{which}:"),
            Self::TooMuchBehind => f.write_str("Runtime is too much behind"),
            Self::Interpreter(why) => write!(f, "interpreter_mode:{why}:"),
            Self::NotProvided(name) => write!(f, "not_provided:{name}:"),
            Self::NotSimulated(name) => write!(f, "not_simulated:{name}:"),
            Self::Host(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.kind)
    }
}

impl core::error::Error for Fault {}
