#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
// The print macros panic if the reader of the output is gone; `say!` and `eprintln_lossy!` do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod angle;
mod args;
mod board;
mod bound;
mod check;
#[doc(hidden)]
pub mod cli;
mod ctl;
mod dashboard;
#[doc(hidden)]
pub mod decode;
mod demo;
mod dispatch;
mod doctor;
mod example;
mod export;
mod foxglove;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod init;
mod io;
mod latency;
mod manual;
mod monitor;
mod moves;
mod page;
mod record;
#[doc(hidden)]
pub mod replay;
mod report;
#[cfg(feature = "ros2")]
mod ros2;
mod screen;
mod script;
mod serve;
mod simulate;
mod terminal;
mod tool;
mod view;
mod watch;

#[doc(hidden)]
pub use self::report::simulated_run;
#[cfg(fuzzing)]
#[doc(hidden)]
pub use self::watch::fuzzing::watch as fuzz_watch;
