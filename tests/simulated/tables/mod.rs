//! Figures of simulated runs, committed as tables and compared with those of the present code.
//!
//! `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables` writes the tables anew. All runs use virtual
//! time and seeded random numbers, so the text is the same on every machine; a difference is a change of behaviour.

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
