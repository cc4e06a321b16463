//! Counts the instructions that a Cortex-M4F executes for the steps of a control cycle, and compares them with their
//! budgets.
//!
//! Run `cargo run --release` in this folder; for a KRC, `cargo run --release --bin krc`.
#![no_std]
#![no_main]

mod counting;
mod laws;
mod steps;

use core::hint::black_box;

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;

use counting::{cycles, exit, instructions, report};
use outrigger_cycles::{Limit, commands, cycle};

#[entry]
fn main() -> ! {
    counting::start();
    let mut within = true;
    let mut step = |name: &str, budget: u32, step: &mut dyn FnMut()| {
        step(); // the first run may set things up
        within &= report(name, Limit { budget: Some(budget), ceiling: budget }, instructions(step));
    };
    steps::each(&mut step);
    laws::each(&mut step);
    cycle::each(|name, limits, cycle| {
        within &= cycles(name, limits, || {
            cycle.prepare();
            [instructions(&mut || cycle.decide()), instructions(&mut || cycle.account())]
        });
    });
    let same = commands::fingerprints() == commands::FINGERPRINTS;
    hprintln!("commands of the laws: {} as on the host", if same { "the same bits" } else { "NOT the same bits" });
    exit(black_box(within && same))
}
