#![doc = include_str!("../README.md")]
//!
//! # Run an engine
//!
//! [`Engine`] operates one robot: it connects, detects the software, judges link and robot, commands, stops and
//! reconnects. [`engine::ur::UrEngine`] and [`engine::krc::KrcEngine`] are its two kinds; [`engine`] has a runnable
//! loop. On Linux the crate `outrigger` runs it for you, on a microcontroller `outrigger-embassy`. Functions that need
//! no engine (upload a program, bring the arm up, read any RTDE variable) are in [`client`].
//! `core/docs/mode-machine.md` defines when the arm may be moved.
//!
//! # Write a law
//!
//! A [`Law`] computes the joint speeds for each fresh [`State`]; the engine holds them to the limits, stops the arm
//! when anything it depends on fails, and restarts the law only after a request. [`law`] has four ready-made laws;
//! `core/docs/write-a-law.md` writes and tests another one.
//!
//! # Port it
//!
//! A port hands over one input, drains [`Engine::poll_output`] and [`Engine::poll_event`], and sleeps until
//! [`Engine::poll_timeout`]: `core/examples/bare_loop.rs` is the whole of it. With the feature `async`, `drive` is that
//! loop over `embedded-io-async` sockets. `core/docs/port-it.md` goes through both.
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `texts` * | errors in a configuration and a UR's own messages in words |
//! | `outputs` * | writes to a UR's outputs |
//! | `histograms` * | histograms of the link's times |
//! | `rtde` * | states by RTDE, beside port 30003 |
//! | `trajectories` * | motions that are fed while they run, quintic between waypoints with accelerations |
//! | `programs` | commands by a program on the controller |
//! | `urcap` | programs that speak External Control's protocol |
//! | `motions` | streamed speeds, positions and torques, moves of the tool, tolerances of moves by the controller |
//! | `record` | recordings that replay, and settings of a board as bytes |
//! | `async` | the loop over asynchronous sockets |
//! | `defmt` | log formatting on a microcontroller |
//!
//! Those with an asterisk are on by default; a board short of flash or memory leaves out what it does not use.
#![cfg_attr(not(test), no_std)]
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

// The code of the pages is compiled, and run where it can be.
#[cfg(doctest)]
#[doc = include_str!("../docs/write-a-law.md")]
struct WriteALaw;
#[cfg(doctest)]
#[doc = include_str!("../docs/write-a-law-reference.md")]
struct WriteALawReference;
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../docs/port-it.md")]
struct PortIt;
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../docs/port-it-reference.md")]
struct PortItReference;
#[cfg(doctest)]
#[doc = include_str!("../docs/add-a-firmware-field.md")]
struct AddAFirmwareField;

// The peer of the examples is a test's peer too, and names this package as examples do.
#[cfg(test)]
extern crate self as outrigger_core;
#[cfg(test)]
#[path = "../examples/peer/mod.rs"]
pub(crate) mod peer;

pub mod bridges;
pub mod client;
pub mod command;
#[cfg(feature = "async")]
pub mod drive;
pub mod engine;
pub mod kinematics;
pub mod law;
pub mod link;
pub mod mode;
#[cfg(feature = "record")]
pub mod postcard;
pub mod recorder;
pub mod robot;
pub mod trajectory;

pub use command::Samples;
pub use engine::{Config, Engine, Event, Input, Output};
pub use law::{Law, Start};
pub use mode::Mode;
pub use recorder::Checkpoint;
pub use robot::Reason;

pub use outrigger_wire::robot::{JointPositions, JointVelocities, State};
pub use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
pub use outrigger_wire::time::{Duration, Instant};
