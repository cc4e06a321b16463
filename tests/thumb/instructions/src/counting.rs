//! Counts instructions, and compares them with their limits. The numbers are exact to one instruction and the same in
//! every run, because QEMU is configured with a fixed virtual time per instruction. They do not represent cycles,
//! caches or flash wait states.

use core::ptr::{read_volatile, write_volatile};

use cortex_m as _; // its critical section
use cortex_m_rt::exception;
use cortex_m_semihosting::debug::{self, EXIT_FAILURE, EXIT_SUCCESS};
use cortex_m_semihosting::hprintln;

use outrigger_cycles::{Limit, Limits};

/// The registers of timer 0 of the emulated machine, which counts down at 25 MHz.
mod timer {
    pub const CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
    pub const VALUE: *mut u32 = 0x4000_0004 as *mut u32;
    pub const RELOAD: *mut u32 = 0x4000_0008 as *mut u32;
    /// The time of a tick of the timer \[ns\]; `INSTRUCTION` is the virtual time of an instruction.
    pub const TICK: u32 = 40;
    pub const INSTRUCTION: u32 = 64;
}

/// The number of engine cycles that are counted; the greatest count is reported.
const CYCLES: usize = 50;

/// Starts the timer. Call it before anything is counted.
pub fn start() {
    // SAFETY: registers of the machine's timer, which no other code uses.
    unsafe {
        write_volatile(timer::RELOAD, u32::MAX);
        write_volatile(timer::VALUE, u32::MAX);
        write_volatile(timer::CONTROL, 1);
    }
}

/// Returns the number of timer ticks that `step` takes, including its call.
#[inline(never)]
fn ticks(step: &mut dyn FnMut()) -> u32 {
    // SAFETY: `VALUE` is a readable register of this machine.
    let before = unsafe { read_volatile(timer::VALUE) };
    step();
    // SAFETY: as above.
    let after = unsafe { read_volatile(timer::VALUE) };
    before.wrapping_sub(after)
}

/// Returns the number of instructions that `step` executes.
pub fn instructions(step: &mut dyn FnMut()) -> u32 {
    let nothing = ticks(&mut || {});
    ticks(step).saturating_sub(nothing) * timer::TICK / timer::INSTRUCTION
}

/// Prints the number of instructions of the operation `name`; returns `true` if it is within its limit.
pub fn report(name: &str, limit: Limit, count: u32) -> bool {
    report_part(name, "", limit, count)
}

/// Prints the number of instructions of a `part` of the operation `name`; returns `true` if it is within its limit.
fn report_part(name: &str, part: &str, limit: Limit, count: u32) -> bool {
    let width = 88_usize.saturating_sub(name.len());
    let Limit { budget, ceiling } = limit;
    let verdict = match count {
        count if count > ceiling => "  GROWN",
        count if budget.is_some_and(|budget| count > budget) => "  over budget",
        _ => "",
    };
    match budget {
        Some(budget) => {
            hprintln!("{}{:<width$} {:>7} instructions, budget {:>6}{}", name, part, count, budget, verdict);
        }
        None => hprintln!("{}{:<width$} {:>7} instructions, no budget{}", name, part, count, verdict),
    }
    count <= ceiling
}

/// Counts the instructions of [`CYCLES`] engine cycles, and reports the greatest counts: until the bytes of the answer
/// are ready, and in all. `cycle` executes one and returns the counts of its two parts. Returns `true` if both are
/// within their limits.
pub fn cycles(name: &str, limits: Limits, mut cycle: impl FnMut() -> [u32; 2]) -> bool {
    let (mut decided, mut all) = (0, 0);
    for _ in 0..CYCLES {
        let [before, after] = cycle();
        (decided, all) = (decided.max(before), all.max(before + after));
    }
    let answered = report_part(name, ": until its bytes are there", limits.decided, decided);
    report(name, limits.all, all) && answered
}

/// Ends the emulation.
pub fn exit(success: bool) -> ! {
    debug::exit(if success { EXIT_SUCCESS } else { EXIT_FAILURE });
    loop {}
}

/// Ends the run after a fault, because the default handler would loop forever.
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
