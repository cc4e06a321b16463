//! The robot as ROS 2 shows it, without a transport: messages as bytes, endpoints with their types and qualities of service, and
//! what is published, asked and answered at each.
//!
//! Bytes and names are those of `core/docs/protocol/ros2-surface.md`. Whoever has a transport (DDS in the `outrigger` command,
//! another tomorrow) publishes what this crate gives it and hands over what it receives.
#![deny(unsafe_code)]

pub mod arm;
pub mod calls;
pub mod cdr;
pub mod contact;
pub mod controller_state;
pub mod controllers;
pub mod dashboard;
pub mod driver;
pub mod endpoint;
pub mod environment;
pub mod follow;
pub mod forward;
pub mod goals;
pub mod health;
pub mod messages;
pub mod native;
pub mod native_calls;
pub mod neighbours;
pub mod parameters;
pub mod pose;
pub mod readings;
pub mod rosout;
pub mod scaling;
pub mod script;
pub mod set_mode;
pub mod type_hash;
pub mod urdf;
