#![doc = include_str!("../README.md")]
//! # Tasks
//!
//! | task | does |
//! |---|---|
//! | [`ur::Robot::run`] | the control loop; the only task whose timing is critical |
//! | [`keep`](Shared::keep) | log, lamp, watchdog |
//! | [`watch_link`](Shared::watch_link) | restarts an interface that receives nothing, if the board can do that |
//! | [`SerialSensor::run`], [`AnalogSensor::run`], [`BusSensor::run`], [`WrenchSensor::run`] | the sensors that the settings name |
//! | [`telemetry::send`] | datagrams from the state that the control loop shares, to a listener |
//! | [`requests::serve`] | requests over the network from clients with the key; only if the settings name a port |
//! | [`dashboard::carry_out`] | commands to the controller's dashboard server that make an arm ready, for clients with the key and for a contact; only if the settings name one of them |
//! | `provision::serve` (feature `provision`) | settings received over a serial line at the bench and stored in flash |
//! | [`Contacts::watch`] | the operator's contacts: stop, acknowledge, request, brake release |
//!
//! A board gets these tasks by [`board!`](crate::board!), with the names of [`ur`] or of [`krc`]; all else is the same
//! for both.
//!
//! All of them must run on one executor, together with the stack's own runner, because their shared state is in a
//! `RefCell` and not behind a lock. The executor has priorities; [`task_order`] defines them.
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]

#[macro_use]
mod log;

mod board;
pub mod boot;
mod contacts;
pub mod dashboard;
mod dashboard_command_queue;
pub mod krc;
mod lamp_patterns;
mod log_event;
mod network;
#[cfg(feature = "provision")]
pub mod provision;
mod recorder;
pub mod requests;
mod robot;
mod sensors;
mod shared;
mod stack_guard;
mod stack_usage;
pub mod task_order;
pub mod telemetry;
pub mod ur;

pub use contacts::Contacts;
pub use outrigger_core::engine::Ports;
pub use outrigger_core::mode::OperatorConfig;
pub use outrigger_embassy::link_watchdog::Restart;
pub use outrigger_embassy::sensor::Adc;
pub use outrigger_embassy::{Handle, hardware_address};
pub use outrigger_remote::telemetry::NetworkCounts;
pub use robot::{Ready, StartError};
pub use sensors::{AnalogSensor, BusSensor, SerialSensor, WrenchSensor};
pub use shared::Shared;
pub use stack_guard::{GUARD, Guard};
#[cfg(all(target_arch = "arm", target_os = "none"))]
pub use stack_guard::{guard_stack, stack_exceeded};

// Bounds of public functions; boards do not name it.
#[doc(hidden)]
pub use log_event::PeerEvent;
// Used only by the macro `board!`, which is expanded in a board's own crate.
#[doc(hidden)]
pub use network::network;
#[doc(hidden)]
pub use outrigger_core::engine::TelemetryTarget;
#[doc(hidden)]
pub use outrigger_embassy::arp_guard::{ArpGuard, Guarded};
#[doc(hidden)]
pub use outrigger_embassy::frame_monitor::FrameMonitor;
