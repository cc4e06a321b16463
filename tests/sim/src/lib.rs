//! Simulated Universal Robots controller.
#![forbid(unsafe_code)]

pub mod arm;
pub mod controller;
mod dashboard;
pub mod fault;
pub mod firmware;
pub mod io;
pub mod kinematics;
pub mod model;
pub mod net;
pub mod port;
mod program;
mod publish;
pub mod rng;
pub mod robot;
pub mod tcp;
pub mod time;
pub mod world;
