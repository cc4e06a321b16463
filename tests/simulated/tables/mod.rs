//! Figures of simulated runs, committed as tables and compared with what the code does now.
//!
//! `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables` writes them anew. Everything in them is virtual time
//! and seeded, so the text is the same on every machine; a difference is a change of behaviour.

mod bursts;
mod clock;
mod comparison;
mod compatibility;
mod faults;
mod fri;
mod kill;
mod lossy;
mod paths;
mod paused;
mod player;
mod servo;
mod smoltcp;
pub(crate) mod text;
