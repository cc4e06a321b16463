#![cfg_attr(feature = "node", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "node"),
    doc = "A robot arm as ROS 2 shows it: endpoints and messages, without the node (feature `node`)."
)]
#![deny(unsafe_code)]
// The print macros panic if the reader of the output is gone.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arm;
pub mod command_acceptance;
pub mod contact_goals;
mod controller_state;
pub mod controllers;
pub mod dashboard;
pub mod driver;
pub mod driver_services;
#[cfg(any(test, feature = "node"))]
mod environment;
#[cfg(test)]
mod example_file_tests;
pub mod frames;
pub mod goals;
pub mod hand_back;
pub mod health;
pub mod joint_commands;
pub mod legacy;
pub mod native;
pub mod native_calls;
#[cfg(any(test, feature = "node"))]
#[cfg_attr(not(feature = "node"), expect(dead_code, reason = "only the node uses it, and its tests"))]
mod neighbours;
#[cfg(feature = "node")]
pub mod node;
pub mod parameters;
mod pose;
pub mod readings;
pub mod rosout;
pub mod rtde_topics;
mod scaling;
pub mod script;
pub mod set_mode;
#[cfg(test)]
mod simulation_tests;
#[cfg(test)]
mod tests;
mod topic_macros;
pub mod trajectory_goals;
mod urdf;
