//! What runs in virtual time, and what only reads sources: one program, so that it is linked once.

mod citations;
mod clocks;
mod examples;
mod fri;
mod layering;
mod limits;
mod net;
mod same_bits;
mod same_kinematics;
mod scenarios;
mod settings;
mod tables;
mod telemetry;
