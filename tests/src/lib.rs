//! What the integration tests share: the oracle, and asking for what a plain machine may lack.
#![forbid(unsafe_code)]

pub mod noise;
#[path = "../oracle/mod.rs"]
pub mod oracle;
pub mod require;
