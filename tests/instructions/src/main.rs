//! Instructions that a Cortex-M4F executes for the steps of a control cycle, against their budgets.
//!
//! `cargo run --release` in this folder. The numbers are exact to one instruction and the same in every run: QEMU is
//! told how much virtual time an instruction takes. They say nothing of cycles, caches or flash wait states.
#![no_std]
#![no_main]

mod commands;
mod cycle;
mod laws;
mod steps;

use core::hint::black_box;
use core::ptr::{read_volatile, write_volatile};

use cortex_m as _; // its critical section
use cortex_m_rt::{entry, exception};
use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;

use cycle::Limit;

/// The machine's timer 0 counts down at 25 MHz.
mod timer {
    pub const CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
    pub const VALUE: *mut u32 = 0x4000_0004 as *mut u32;
    pub const RELOAD: *mut u32 = 0x4000_0008 as *mut u32;
    /// ns per tick, and per instruction.
    pub const TICK: u32 = 40;
    pub const INSTRUCTION: u32 = 64;
}

/// Cycles of the engine that are counted; the dearest is reported.
const CYCLES: usize = 50;

/// Instructions of `step`, and of calling it.
#[inline(never)]
fn ticks(step: &mut dyn FnMut()) -> u32 {
    // SAFETY: `VALUE` is a readable register of this machine.
    let before = unsafe { read_volatile(timer::VALUE) };
    step();
    // SAFETY: as above.
    let after = unsafe { read_volatile(timer::VALUE) };
    before.wrapping_sub(after)
}

fn instructions(step: &mut dyn FnMut()) -> u32 {
    let nothing = ticks(&mut || {});
    ticks(step).saturating_sub(nothing) * timer::TICK / timer::INSTRUCTION
}

#[entry]
fn main() -> ! {
    // SAFETY: registers of the machine's timer, used by nobody else.
    unsafe {
        write_volatile(timer::RELOAD, u32::MAX);
        write_volatile(timer::VALUE, u32::MAX);
        write_volatile(timer::CONTROL, 1);
    }
    let mut within = true;
    let mut report = |name: &str, limit: Limit, count: u32| {
        let verdict = match count {
            count if count > limit.ceiling => "  GROWN",
            count if count > limit.budget => "  over budget",
            _ => "",
        };
        within &= count <= limit.ceiling;
        hprintln!("{:<58} {:>7} instructions, budget {:>6}{}", name, count, limit.budget, verdict);
    };
    let mut step = |name: &str, budget: u32, step: &mut dyn FnMut()| {
        step(); // the first run may set things up
        report(name, Limit { budget, ceiling: budget }, instructions(step));
    };
    steps::each(&mut step);
    laws::each(&mut step);
    cycle::each(|name, limit, cycle| {
        let most = (0..CYCLES).map(|_| {
            cycle.prepare();
            instructions(&mut || cycle.answer())
        });
        report(name, limit, most.max().unwrap_or(u32::MAX));
    });
    let same = commands::fingerprint() == commands::FINGERPRINT;
    hprintln!("commands of the laws: {} as on the host", if same { "the same bits" } else { "NOT the same bits" });
    exit(black_box(within && same))
}

fn exit(success: bool) -> ! {
    debug::exit(if success { EXIT_SUCCESS } else { EXIT_FAILURE });
    loop {}
}

/// A fault ends the run: the default handler would spin for ever.
#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    hprintln!("hard fault");
    exit(false)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    exit(false)
}
