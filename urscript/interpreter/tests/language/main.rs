//! The language from outside: what is rendered, what is read, and that both agree.

mod any_input;
mod compile_errors;
mod interpreter_mode;
mod methods;
mod programs;
mod round_trip;
mod shipped;
mod support;
mod values;
