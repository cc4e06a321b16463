//! Outrigger on Linux: what `outrigger-core` leaves to its host, and the `outrigger` command.
//!
//! | module | is |
//! |---|---|
//! | [`cli`] | the command line and its exit codes |
//! | [`decode`] | a command each |
//! | [`config`] | the configuration file |
//! | [`net`], [`clock`], [`sensor`] | sockets, time and sensors for the engine |
//! | [`host`], [`lock`], [`syscalls`] | what is asked of the operating system |
//! | [`json`], [`report`] | machine-readable lines, the report page |
//!
//! Nothing here decides about the protocol: bytes, links, modes and laws are the core's.
#![deny(unsafe_code)]

pub mod address;
pub mod cli;
pub mod clock;
pub mod config;
pub mod decode;
pub mod exit;
pub mod host;
pub mod json;
pub mod lock;
pub mod net;
pub mod report;
pub mod sensor;
pub mod syscalls;
