//! Tests in virtual time, in one program, so that it is linked once.

mod fri;
mod limits;
mod net;
mod same_bits;
mod same_kinematics;
mod scenarios;
mod settings;
mod tables;
mod telemetry;
