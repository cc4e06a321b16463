//! Outrigger's core: everything about a robot link that is not a socket, a clock or a task.
//!
//! `no_std`, no heap, no `unsafe`, no reachable panic in a release build (held by a link proof).
//! Modules stand on floors and import only downward:
//!
//! | floor | modules |
//! |---|---|
//! | 6 | `drive` (feature `async`), `telemetry` (feature `postcard`) |
//! | 5 | [`engine`] |
//! | 4 | [`client`] |
//! | 3 | [`frame`], [`law`], [`sensor`] |
//! | 2 | [`command`], [`wire`], [`link`], [`trajectory`], [`kinematics`], [`mode`], [`recorder`] |
//! | 1 | [`robot`], [`time`], [`math`], [`checksum`], `packed` (feature `postcard`) |
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

// The peer of the examples is a test's peer too, and names this package as examples do.
#[cfg(test)]
extern crate self as outrigger_core;
#[cfg(test)]
#[path = "../examples/peer/mod.rs"]
pub(crate) mod peer;

pub mod checksum;
pub mod client;
pub mod command;
#[cfg(feature = "async")]
pub mod drive;
pub mod engine;
pub mod frame;
pub mod kinematics;
pub mod law;
pub mod link;
pub mod math;
pub mod mode;
#[cfg(feature = "postcard")]
mod packed;
pub mod recorder;
pub mod robot;
pub mod sensor;
#[cfg(feature = "postcard")]
pub mod telemetry;
pub mod time;
pub mod trajectory;
pub mod wire;
