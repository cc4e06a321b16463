//! A dashboard's side of a session (`ur-dashboard`): one connection, and what is done over it.
//!
//! * [`Client`] speaks with a dashboard server over TCP: greeting, one request at a time, deadlines.
//! * A [`Sequence`] is what a user means by one word: [`BringUp`], [`Recovery`], [`ProgramControl`], [`Pendant`]. It
//!   yields the next request from the last reply, and knows neither sockets nor HTTP: whoever carries requests to a
//!   controller runs it. Every step is told in words; where it stops it says why, and what a person can do.
//!
//! Nothing here moves the arm but the opening of its brakes. A stop is never cleared by itself: [`Recovery`] takes an
//! [`Acknowledgement`], which only a [`Finding`] that a caller has seen can become.

mod bring_up;
mod client;
mod course;
mod obstacle;
mod pendant;
mod program;
mod recovery;
#[cfg(test)]
mod tests;

pub use bring_up::{BringUp, BringUpConfig};
pub use client::{Busy, Client, ClientEvent, ClientOutput, Timeouts};
pub use course::{Progress, Sequence, Step};
pub use obstacle::Obstacle;
pub use pendant::{Before, Pendant};
pub use program::{ProgramConfig, ProgramControl, ProgramGoal};
pub use recovery::{Acknowledgement, Diagnosis, Finding, Recovery, RecoveryConfig};
