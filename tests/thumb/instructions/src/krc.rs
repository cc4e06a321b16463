//! Instructions that a Cortex-M4F executes for a control cycle beside a KRC. A program of its own, as a board has one of
//! the two engines: what both use is inlined where one alone uses it.
#![no_std]
#![no_main]

mod counting;

use core::hint::black_box;

use cortex_m_rt::entry;

use counting::{CYCLES, exit, instructions, report};
use outrigger_cycles::answering;

#[entry]
fn main() -> ! {
    counting::start();
    let mut within = true;
    answering::each(|name, limit, answering| {
        let most = (0..CYCLES).map(|_| {
            answering.prepare();
            let count = instructions(&mut || answering.answer());
            assert!(answering.is_commanding(), "every measurement is answered");
            count
        });
        within &= report(name, limit, most.max().unwrap_or(u32::MAX));
    });
    exit(black_box(within))
}
