//! Reads a Universal Robots arm or a KUKA LWR every control cycle, judges whether the link is good enough to command it, and
//! moves it by a law of yours from local sensors.
//!
//! ```no_run
//! use outrigger::{Duration, JointVelocities, Law, Reason, Samples, SourceId, State};
//! use outrigger::{Robot, Sensor};
//!
//! /// Turns the last joint until a distance sensor reads 50 mm.
//! struct Follow;
//!
//! impl Law<6> for Follow {
//!     fn step(
//!         &mut self, _: &State<6>, samples: &Samples<'_>, _: Duration,
//!     ) -> Result<JointVelocities<6>, Reason> {
//!         let error = samples.first(SourceId(0))? - 0.050;
//!         Ok(JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * error]))
//!     }
//! }
//!
//! fn main() -> Result<(), outrigger::Failure> {
//!     let robot = Robot::ur("192.168.56.101")?;
//!     // or, with seven joints: Robot::krc("192.168.0.10", "0.0.0.0:49938")?
//!     robot.run(Follow, Sensor::udp("0.0.0.0:5005").from("192.168.56.7")?)?;
//!     Ok(())
//! }
//! ```
//!
//! * [`Robot::run`] commands until that is over, [`Robot::start`] in a thread of its own, [`Robot::states`] only reads.
//! * A [`Law`] is asked for joint speeds once for each fresh state; [`core::law`] has three that are ready-made.
//! * What a law wants is held to the [limits](core::command::Limits) of the [configuration](Robot::with_config), and goes out
//!   only while the link, the robot and every sensor are good enough: [`core::mode`] says when that is.
//! * The command `outrigger` of the same package does this from a file, shows, records and replays it, and has simulated
//!   controllers to try it on: `outrigger sim ur`.
//!
//! Outrigger is not a safety component: see the README for what to keep.
//!
//! Further modules are for programs with a loop of their own ([`host`]), and for what is shown, recorded and handed to others
//! ([`show`], [`record`], [`feed`]). Nothing here decides about a protocol: bytes, links, modes and laws are
//! [`outrigger_core`]'s.
#![deny(unsafe_code)]
// They panic where the reader of the output has gone: `say!` and `eprintln_lossy!` do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod ask;
mod attached;
mod beside;
mod board;
mod check;
#[doc(hidden)]
pub mod cli;
mod clock;
pub mod companion;
mod dashboard;
mod decode;
mod demo;
mod doctor;
mod engine;
mod example;
mod exit;
mod export;
pub mod feed;
mod fields;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod init;
mod io;
mod json;
mod latency;
mod law;
mod lines;
mod lock;
mod machine;
mod maker;
mod manual;
mod monitor;
pub mod motion;
mod moves;
mod net;
mod notice;
mod os;
mod pace;
mod page;
mod panel;
mod reactor;
pub mod record;
mod recordings;
mod released;
mod replay;
mod report;
pub mod requests;
mod robot;
#[cfg(feature = "ros2")]
mod ros2;
mod run;
mod runtime;
mod script;
mod sensor;
mod serve;
pub mod show;
mod signals;
mod simulate;
mod target;
mod terminal;
mod view;
mod watch;
mod worker;

pub mod host {
    //! For programs with a loop of their own: an engine's sockets, clock and sensors, the call of the kernel that all of them wait in,
    //! and what is asked of the operating system.
    //!
    //! ```no_run
    //! use outrigger::host::{Clock, Net, block_on};
    //!
    //! let listen = "0.0.0.0:49938".parse()?;
    //! block_on(async {
    //!     let net = Net::listening(listen, Clock::start(), None).await?;
    //!     println!("a KRC may send to {}", net.local()?);
    //!     // From here on `beside_krc`, or `core::drive` with an engine of one's own: see the examples `two_arms` and `haptic`.
    //!     Ok::<(), Box<dyn std::error::Error>>(())
    //! })?
    //! # ; Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use crate::clock::Clock;
    pub use crate::machine::{InForce, apply, describe, in_force};
    pub use crate::maker::krc::run as beside_krc;
    pub use crate::maker::ur::coast::describe as coast_of_ur;
    pub use crate::maker::ur::run as beside_ur;
    pub use crate::net::Net;
    pub use crate::os::set_fifo;
    pub use crate::reactor::{Datagrams, block_on, sleep_until};
    pub use crate::sensor::{Arrival, Sources};
    pub use crate::signals::{Leaves, Signals};
}

pub use outrigger_config as config;

pub use outrigger_core as core;
pub use outrigger_core::command::Samples;
pub use outrigger_core::law::Law;
pub use outrigger_core::mode::Mode;
pub use outrigger_core::robot::Reason;
pub use outrigger_wire as wire;
pub use outrigger_wire::robot::{JointPositions, JointVelocities, State};
pub use outrigger_wire::sensor::SourceId;
pub use outrigger_wire::time::Duration;

pub use self::exit::Failure;
pub use self::motion::Motion;
pub use self::released::ReleasedBy;
pub use self::robot::{Arrival, Ended, Followed, Robot, Running, Seen, Sensor, States, Stopped};
#[cfg(fuzzing)]
#[doc(hidden)]
pub use self::watch::fuzzing::watch as fuzz_watch;

/// The README's programs are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
