//! Instructions that a Cortex-M4F executes for a control cycle where a program on the controller carries the commands. A program
//! of its own, as a board is built with these paths or without.
#![no_std]
#![no_main]

mod counting;

use core::hint::black_box;

use cortex_m_rt::entry;

use counting::{CYCLES, exit, instructions, report};
use outrigger_cycles::cycle;

#[entry]
fn main() -> ! {
    counting::start();
    let mut within = true;
    cycle::each_program(|name, limit, cycle| {
        let most = (0..CYCLES).map(|_| {
            cycle.prepare();
            let count = instructions(&mut || cycle.answer());
            assert!(cycle.is_commanding(), "every state is answered");
            count
        });
        within &= report(name, limit, most.max().unwrap_or(u32::MAX));
    });
    exit(black_box(within))
}
