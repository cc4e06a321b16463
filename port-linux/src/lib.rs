//! Outrigger on Linux: what `outrigger-core` leaves to its host, and the `outrigger` command.
//!
//! | module | is |
//! |---|---|
//! | [`cli`], [`args`] | the command line and its exit codes; what each command takes |
//! | [`beside`] | `monitor`, `record`, `doctor`, `run`, `check-config`, `replay`: beside a controller of any kind |
//! | [`dashboard`], [`decode`], [`demo`], [`export`], [`mod@io`], [`script`], [`simulate`], [`watch`] | a command each |
//! | [`config`] | the configuration file: package `outrigger-config`, which boards use too |
//! | [`engine`], [`net`], [`clock`], [`timer`], [`sensor`] | the engine's memory, sockets, time and sensors |
//! | [`maker`] | one kind of controller each: how it is reached and run beside, and what a person sees of it |
//! | [`panel`] | the operator's side of a session |
//! | [`feed`], [`record`], [`serve`] | what arrives, goes out and happens, for many readers |
//! | [`recordings`] | recordings of fallbacks, as files |
//! | [`host`], [`latency`], [`lock`], [`signals`], [`syscalls`], [`worker`] | what is asked of the operating system |
//! | [`show`], [`json`], [`report`] | live view, plain and machine-readable lines, the report page |
//!
//! Nothing here decides about the protocol: bytes, links, modes and laws are the core's.
#![deny(unsafe_code)]

pub mod args;
pub mod beside;
mod check;
pub mod cli;
pub mod clock;
pub mod dashboard;
pub mod decode;
pub mod demo;
mod doctor;
pub mod engine;
pub mod exit;
pub mod export;
pub mod feed;
mod fields;
pub mod host;
pub mod io;
pub mod json;
pub mod latency;
mod law;
mod lines;
pub mod lock;
pub mod maker;
mod monitor;
pub mod net;
pub mod panel;
pub mod record;
pub mod recordings;
mod replay;
pub mod report;
mod robot;
mod run;
pub mod script;
pub mod sensor;
pub mod serve;
pub mod show;
pub mod signals;
pub mod simulate;
pub mod syscalls;
pub mod target;
mod terminal;
pub mod timer;
pub mod watch;
pub mod worker;

pub use outrigger_config as config;

pub use outrigger_core as core;
pub use outrigger_core::command::{Samples, SourceId};
pub use outrigger_core::law::Law;
pub use outrigger_core::mode::Mode;
pub use outrigger_core::robot::{JointPositions, JointVelocities, Reason, State};
pub use outrigger_core::time::Duration;

pub use self::exit::Failure;
pub use self::robot::{Ended, Robot, Running, Seen, Sensor, States};

/// The one-threaded runtime that every command with sockets runs on.
///
/// # Errors
/// [`Failure::BadInput`] with what the kernel refuses.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::BadInput(format!("cannot start the runtime: {error}")))
}
