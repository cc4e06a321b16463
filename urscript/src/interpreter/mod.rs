//! The interpreter half: what a controller does with program text.
//!
//! [`LineAssembler`] cuts the bytes of a connection into programs and service lines, [`Program::compile`] makes a program
//! out of a text or says where it is wrong, and a [`Machine`] runs it on a [`Host`], one control cycle per
//! [`Machine::step`]. Nothing recurses as deep as its input likes, and nothing runs longer than its budget.
//!
//! What the language has here: whole and real numbers, booleans, strings, lists, matrices, poses, structs, indexing;
//! methods of what a host hands out;
//! arithmetic, also of lists and matrices, comparison and logic; assignment with `global` and `local`; `if`, `while`,
//! `break`, `continue`, `return`, `halt`, `pause`; nested functions with defaults and named arguments; threads with `run`,
//! `join`, `kill` and critical sections. In interpreter mode a program takes further
//! statements while it runs ([`Machine::interpret`]).

mod arrays;
mod assembler;
mod builtins;
mod code;
mod compile;
mod declare;
mod error;
mod growing;
mod host;
mod interactive;
mod lexer;
mod limits;
mod lines;
mod machine;
mod operators;
mod program;
mod pure;
mod thread;
mod value;

pub use assembler::{Assembled, LineAssembler, Service};
pub use builtins::Builtins;
pub use error::{ArgumentsError, CompileError, CompileErrorKind, Fault, FaultKind, Position};
pub use host::{Call, CallResult, Host};
pub use interactive::Discard;
pub use limits::Limits;
pub use lines::Statements;
pub use machine::{Machine, Step};
pub use program::{Program, ProgramKind};
pub use value::{ThreadId, Value};
