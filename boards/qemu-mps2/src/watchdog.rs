//! The CMSDK watchdog: unfed for its time it interrupts, unfed once more it resets the machine.

use crate::mmio::Registers;

const LOAD: usize = 0x000;
const CONTROL: usize = 0x008;
const CLEAR: usize = 0x00c;
const LOCK: usize = 0xc00;

const INTERRUPT: u32 = 1 << 0;
const RESET: u32 = 1 << 1;
const UNLOCK: u32 = 0x1acc_e551;

/// Half of the time after which a hanging device is reset: 0.5 s at 25 MHz.
const TICKS: u32 = 12_500_000;

// SAFETY: the watchdog of the MPS2 machines; it counts, interrupts and resets, and reaches no memory.
const WATCHDOG: Registers<0x1000> = unsafe { Registers::new(0x4000_8000) };

/// Starts it; from now on it wants to be fed.
pub(crate) fn start() {
    start_with(TICKS);
}

/// Lets it wait 20 s: what follows feeds it no more, and ends with a reset.
pub(crate) fn be_patient() {
    start_with(20 * TICKS);
}

fn start_with(ticks: u32) {
    WATCHDOG.write::<LOCK>(UNLOCK);
    WATCHDOG.write::<LOAD>(ticks);
    WATCHDOG.write::<CONTROL>(INTERRUPT | RESET);
    WATCHDOG.write::<LOCK>(0);
}

/// Begins its time anew.
pub(crate) fn feed() {
    WATCHDOG.write::<LOCK>(UNLOCK);
    WATCHDOG.write::<CLEAR>(0);
    WATCHDOG.write::<LOCK>(0);
}

/// Half the time is over. Nothing is repaired here: the second half ends with the reset.
#[cortex_m_rt::exception]
unsafe fn NonMaskableInt() {
    loop {
        cortex_m::asm::nop();
    }
}
