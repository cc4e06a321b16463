//! Control cycles that are measured: engines in `Command` and laws, the same on a host and on a board.
//!
//! [`commands`] has laws alone, whose bits a host and a board compare. [`cycle`] has a whole engine for a UR
//! controller, [`answering`] one for a KRC. Each is prepared, answers one state or measurement, and reports whether it
//! still commands.
#![no_std]

pub mod answering;
pub mod commands;
pub mod cycle;
mod limit;

pub use limit::{Limit, Limits};
