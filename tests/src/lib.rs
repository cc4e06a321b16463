//! What the integration tests share: the oracle, runs in virtual time, and asking for what a plain machine may lack.
#![forbid(unsafe_code)]

pub mod board;
pub mod cosim;
pub mod fri;
pub mod noise;
#[path = "../oracle/mod.rs"]
pub mod oracle;
pub mod require;
