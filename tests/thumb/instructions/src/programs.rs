//! Counts the instructions that a Cortex-M4F executes for a control cycle if a program on the controller carries the
//! commands. It is a separate program, because a board is built either with these paths or without.
#![no_std]
#![no_main]

mod counting;

use core::hint::black_box;

use cortex_m_rt::entry;

use counting::{cycles, exit, instructions};
use outrigger_cycles::cycle;

#[entry]
fn main() -> ! {
    counting::start();
    let mut within = true;
    cycle::each_program(|name, limits, cycle| {
        within &= cycles(name, limits, || {
            cycle.prepare();
            let parts = [instructions(&mut || cycle.decide()), instructions(&mut || cycle.account())];
            assert!(cycle.is_commanding(), "every state is answered");
            parts
        });
    });
    exit(black_box(within))
}
