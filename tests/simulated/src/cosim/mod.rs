//! End-to-end runs in virtual time: a co-controller and a simulated controller, with the network between them.
//!
//! ```text
//!  UrEngine ──links──► sockets of a simulated host ──delay, loss, stalls──► simulated controller ──► arm
//!  (outrigger-core)        (this module)                (outrigger-sim::net)                          the truth
//! ```
//!
//! A run uses no wall clock, no thread and no sleep. A [`Rig`] goes from one event to the next, and the same
//! [`Setup`] with the same seed gives the same run, bit by bit. A test triggers events (`rig.request()`,
//! `rig.cut_cable(..)`) and reads the [`Record`] of the consequences: modes, events, every text with its time, and
//! the true motion of the arm.
//!
//! [`Rules`] hold in every run and are checked at every text: a moving command at a moment when there must be none
//! fails any test, whatever its subject.

mod bound;
mod record;
mod rig;
mod rules;
mod setup;
mod socket;
mod way;

pub use bound::{rest_bound, stop_deceleration};
pub(crate) use record::speeds_of;
pub use record::{Command, Cycles, Motion, REST, Record, Speeds};
pub use rig::{Buffers, CrashPoint, Rig};
pub use rules::Rules;
pub use setup::{Read, Reading, SENSOR, Sensor, Setup, core_time, sim_time};
pub use way::Way;
