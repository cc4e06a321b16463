//! Counts instructions, and says whether they keep to their limits. The numbers are exact to one instruction and the
//! same in every run: QEMU is told how much virtual time an instruction takes. They say nothing of cycles, caches or
//! flash wait states.

use core::ptr::{read_volatile, write_volatile};

use cortex_m as _; // its critical section
use cortex_m_rt::exception;
use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;

use outrigger_cycles::Limit;

/// The machine's timer 0 counts down at 25 MHz.
mod timer {
    pub const CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
    pub const VALUE: *mut u32 = 0x4000_0004 as *mut u32;
    pub const RELOAD: *mut u32 = 0x4000_0008 as *mut u32;
    /// ns per tick, and per instruction.
    pub const TICK: u32 = 40;
    pub const INSTRUCTION: u32 = 64;
}

/// Cycles of an engine that are counted; the dearest is reported.
pub const CYCLES: usize = 50;

/// Starts the timer; before anything is counted.
pub fn start() {
    // SAFETY: registers of the machine's timer, used by nobody else.
    unsafe {
        write_volatile(timer::RELOAD, u32::MAX);
        write_volatile(timer::VALUE, u32::MAX);
        write_volatile(timer::CONTROL, 1);
    }
}

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

/// Instructions of `step`.
pub fn instructions(step: &mut dyn FnMut()) -> u32 {
    let nothing = ticks(&mut || {});
    ticks(step).saturating_sub(nothing) * timer::TICK / timer::INSTRUCTION
}

/// Prints a count; whether it keeps to its limit.
pub fn report(name: &str, limit: Limit, count: u32) -> bool {
    let Limit { budget, ceiling } = limit;
    let verdict = match count {
        count if count > ceiling => "  GROWN",
        count if budget.is_some_and(|budget| count > budget) => "  over budget",
        _ => "",
    };
    match budget {
        Some(budget) => hprintln!("{:<58} {:>7} instructions, budget {:>6}{}", name, count, budget, verdict),
        None => hprintln!("{:<58} {:>7} instructions, no budget{}", name, count, verdict),
    }
    count <= ceiling
}

/// Ends the emulation.
pub fn exit(success: bool) -> ! {
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
