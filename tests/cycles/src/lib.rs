//! Control cycles that are measured: engines in `Command` and laws, the same on a host and on a board.
//!
//! [`commands`] are laws alone, whose bits a host and a board compare. [`cycle`] is a whole engine beside a UR controller,
//! [`answering`] one beside a KRC: each is made ready, answers one state or measurement, and says whether it still commands.
#![no_std]

pub mod answering;
pub mod commands;
pub mod cycle;
mod limit;

pub use limit::{Limit, Limits};
