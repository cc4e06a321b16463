//! Checks that both ports pass the same scenarios: counts, order, modes and reasons, never milliseconds.
//!
//! | bench | port | opposite it | time |
//! |---|---|---|---|
//! | [`embassy`] | `port-embassy` over `embassy-net` and frames in memory | the simulated controller behind smoltcp | virtual |
//! | `tests/system/conformance` | `port-linux` over kernel TCP | the simulated controller behind kernel TCP, and a relay between | real |
//!
//! [`embassy_w5500`] adds a board's network chip to the first. [`link_watchdog`] tests that chip alone, as a board
//! restarts it.
//!
//! With a KRC each port has scenarios of its own: [`embassy_fri`] byte by byte and in virtual time, `linux_fri` of
//! the suite in real time. A controller that connects to us ([`embassy_listening`]) is tested on `port-embassy`
//! alone, because no socket of `port-linux` listens for connections there.
//!
//! A scenario is a function over a [`Bench`]; `list.rs` names each once, and makes a test of it for each bench.

mod bench;
mod embassy;
mod embassy_fri;
mod embassy_listening;
mod embassy_rtde;
mod embassy_w5500;
mod link_watchdog;
#[macro_use]
mod list;
mod only_embassy;
mod scenarios;

use bench::Bench;

mod port_embassy {
    conformance!(crate::embassy::EmbassyBench);
}
