//! Compares all methods by which an arm of Universal Robots has been commanded since 2015: half a turn and back in
//! four seconds.
//!
//! ```text
//!  mechanism ──► controller (outrigger-sim) ◄── clients: lines and programs as of 2015, by a clock of their own
//!      │                 ▲       │          ◄── paths: Outrigger's engine, each of its paths of commands
//!      │                 └───────┼───────────── mode: which of them, on which software, what the report of 2015 says
//!      └──► every delay comes from one of these        course: where the joint was, and the figures
//! ```
//!
//! Time is virtual and random numbers are seeded: the same command prints the same table. No mode has a delay of its
//! own.

mod clients;
mod course;
mod mechanism;
mod mode;
mod paths;
mod rows;

pub use clients::Client;
pub use course::{Course, Figures, Sample, Wanted};
pub use mechanism::{Mechanism, Mechanisms};
pub use mode::{Beside, Commander, Later, Mode, Reported};
pub use rows::{COLUMNS, NUMBERS, Row, compare, taken_away};
