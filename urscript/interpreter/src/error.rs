//! Why a text is no program, and why a program ended early.

use core::fmt;

/// A place in a text; both count from 1, as controllers report them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl Position {
    /// The first character.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a text was not compiled. Nothing of it runs.
///
/// `Display` gives the text a controller would send with it, after the place; only `compile_error_name_not_found` is
/// recorded from a controller, the other words are in its manner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// Where.
    pub position: Position,
    /// What.
    pub kind: CompileErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileErrorKind {
    /// A name nothing in the program assigns or defines, and the controller's software does not provide.
    NameNotFound(String),
    /// A function is defined twice.
    NameAlreadyDefined(String),
    /// A statement of interpreter mode declares a global variable that the program does not have.
    NewGlobal(String),
    /// The grammar wants something else here.
    Syntax {
        /// What could have stood here.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A number that is none, or has no room in 32 bits.
    Number(String),
    /// A call does not fit its function.
    Arguments {
        /// The function.
        function: String,
        /// What does not fit.
        what: ArgumentsError,
    },
    /// Blocks or expressions are nested deeper than [`Limits::nesting`](super::Limits::nesting).
    NestedTooDeep,
    /// A function has more parameters than [`Limits::parameters`](super::Limits::parameters).
    TooManyParameters,
    /// The text is longer than [`Limits::source`](super::Limits::source).
    TooLong,
}

/// How a call does not fit its function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// More than it takes.
    TooMany {
        /// How many it takes.
        allowed: usize,
    },
    /// This one has no default and is not given.
    Missing(String),
    /// It has no parameter of this name.
    NoSuchName(String),
    /// This one is given twice.
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

/// Why a running program ended early.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Where it was.
    pub position: Position,
    /// What happened.
    pub kind: FaultKind,
}

/// A run-time error.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An operation does not know values of this kind.
    Type {
        /// The operation.
        operation: &'static str,
        /// The kind, see [`Value::kind`](super::Value::kind).
        found: &'static str,
    },
    /// A variable is read before anything was assigned to it.
    NotAssigned,
    /// A struct has no member of this name.
    NoMember(String),
    /// A value has no method of this name, or none that takes these arguments.
    NoMethod {
        /// The method.
        name: String,
        /// The kind of the value, see [`Value::kind`](super::Value::kind).
        found: &'static str,
    },
    /// There is no such element.
    IndexOutOfRange {
        /// The index.
        index: i32,
        /// Elements there are.
        len: usize,
    },
    /// A whole number that does not fit 32 bits, and the operation that would have made it.
    Overflow(&'static str),
    /// Lists whose lengths do not go together.
    Length {
        /// The operation.
        operation: &'static str,
        /// Elements of the left one; of a matrix that is multiplied, its columns.
        left: usize,
        /// Elements of the right one; of a matrix that is multiplied, its rows.
        right: usize,
    },
    /// Division by zero, or a function outside its domain.
    Domain(&'static str),
    /// One of [`Limits`](super::Limits), by its field's name.
    Limit(&'static str),
    /// A secondary program called a function that takes time.
    TooMuchBehind,
    /// `interpreter_mode` where it cannot be entered.
    Interpreter(&'static str),
    /// The host has no such function.
    NotProvided(&'static str),
    /// A controller has this function, and nothing here stands for what it talks to.
    NotSimulated(&'static str),
    /// The host's own text.
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
