//! Tests of the language from outside: programs that compile, programs that run, and text rendered by
//! `outrigger-urscript`.

mod any_input;
mod compile_errors;
mod interpreter_mode;
mod manual;
mod methods;
mod programs;
mod round_trip;
mod shipped;
mod support;
mod values;
