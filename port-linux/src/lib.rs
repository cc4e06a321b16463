#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
// These macros panic if the reader of the output has closed it. `say!` and `eprintln_lossy!` do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod boxed_law;
pub mod companion;
pub mod dashboard;
pub mod exit;
pub mod feed;
pub mod host;
pub mod json;
pub mod motion;
pub mod net;
pub mod panel;
pub mod record;
pub mod released;
pub mod requests;
pub mod robot;
pub mod run;
pub mod script;
pub mod sensor;
pub mod show;
pub mod tool_line;
pub mod vendor;

pub use outrigger_config as config;

pub use outrigger_core as core;
pub use outrigger_core::command::Samples;
pub use outrigger_core::engine::Event;
pub use outrigger_core::law::{Law, Start};
pub use outrigger_core::mode::Mode;
pub use outrigger_core::recorder::Checkpoint;
pub use outrigger_core::robot::Reason;
pub use outrigger_wire as wire;
pub use outrigger_wire::robot::{JointPositions, JointVelocities, State};
pub use outrigger_wire::sensor::SourceId;
pub use outrigger_wire::time::Duration;

pub use self::exit::Failure;
pub use self::motion::Motion;
pub use self::released::ReleasedBy;
pub use self::robot::{Arrival, Ended, Followed, Robot, Running, Sensor, SessionState, States, Stopped};

/// Compiles the example programs of the documentation page for Rust developers.
#[cfg(doctest)]
#[doc = include_str!("../docs/start-rust.md")]
struct StartRust;
