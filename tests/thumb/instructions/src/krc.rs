//! Counts the instructions that a Cortex-M4F executes for a control cycle with a KRC. It is a separate program, because
//! a board has only one of the two engines, and common code is inlined if only one of them uses it.
#![no_std]
#![no_main]

mod counting;

use core::hint::black_box;

use cortex_m_rt::entry;

use counting::{cycles, exit, instructions};
use outrigger_cycles::answering;

#[entry]
fn main() -> ! {
    counting::start();
    let mut within = true;
    answering::each(|name, limits, answering| {
        within &= cycles(name, limits, || {
            answering.prepare();
            let parts = [instructions(&mut || answering.decide()), instructions(&mut || answering.account())];
            assert!(answering.is_commanding(), "every measurement is answered");
            parts
        });
    });
    exit(black_box(within))
}
