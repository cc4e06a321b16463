#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::std_instead_of_core,
        clippy::alloc_instead_of_core,
        clippy::float_cmp
    )
)]

mod arrays;
mod builtins;
mod compile;
mod compiled_code;
mod declaration_pass;
mod error;
mod front_removal_list;
mod host;
mod interactive;
mod interpreter_mode;
mod lexer;
mod limits;
mod machine;
mod operators;
mod program;
mod program_splitter;
mod pure;
mod thread;
mod value;

pub use builtins::Builtins;
pub use error::{ArgumentsError, CompileError, CompileErrorKind, Fault, FaultKind, Position};
pub use host::{Call, CallResult, Host};
pub use interactive::Discard;
pub use interpreter_mode::Statements;
pub use limits::Limits;
pub use machine::{Machine, Step};
pub use program::{Program, ProgramKind};
pub use program_splitter::{Assembled, LineAssembler, Service};
pub use value::{ThreadId, Value};
