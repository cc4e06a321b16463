//! The CMSDK watchdog: unfed for its time it interrupts, unfed once more it resets the machine.
//!
//! The machine has no register that says why it starts. The interrupt leaves a note in memory that nobody clears.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use outrigger_app::boot::{self, ResetCause};

use crate::machine;
use crate::mmio::Registers;

const LOAD: usize = 0x000;
const VALUE: usize = 0x004;
const CONTROL: usize = 0x008;
const CLEAR: usize = 0x00c;
const LOCK: usize = 0xc00;

const INTERRUPT: u32 = 1 << 0;
const RESET: u32 = 1 << 1;
const UNLOCK: u32 = 0x1acc_e551;

/// Half of the time after which a hanging device is reset: 0.5 s.
const TICKS: u32 = machine::THIS.megahertz * 500_000;
/// An interrupt that comes so late, 50 ms, was not late because of the firmware: nothing masks it.
const LATE: u32 = TICKS / 10;

// SAFETY: the watchdog of the MPS2 machines; it counts, interrupts and resets, and reaches no memory.
const WATCHDOG: Registers<0x1000> = unsafe { Registers::new(machine::THIS.watchdog) };

/// What the boot before left: one of the words below, and anything at all after power.
#[unsafe(link_section = ".uninit.watchdog")]
static NOTE: MaybeUninit<AtomicU32> = MaybeUninit::uninit();

/// The machine has begun, and its watchdog is not started; or its reset was asked for.
const BOOTED: u32 = 0x7e1d_b007;
/// The watchdog was started, and nothing has happened since.
const STARTED: u32 = 0x7e1d_f00d;
/// It was not fed for half its time.
const UNFED: u32 = 0x7e1d_dead;
/// The same, and the interrupt itself came late.
const STOOD: u32 = 0x7e1d_57a9;

fn note() -> &'static AtomicU32 {
    // SAFETY: any bits are a number, and the memory is written by nothing but this atomic.
    unsafe { NOTE.assume_init_ref() }
}

/// Why the machine starts; the note is taken away. What it says of QEMU goes to the log.
pub(crate) fn reset_cause() -> ResetCause {
    match note().swap(BOOTED, Ordering::Relaxed) {
        UNFED => ResetCause::Watchdog,
        STOOD => {
            defmt::info!("the watchdog was not fed because QEMU itself stood still");
            ResetCause::Watchdog
        }
        STARTED => {
            // Both its times were over before the processor ran again, or somebody asked for it.
            defmt::info!("QEMU itself stood still for a second, or its monitor reset the machine");
            ResetCause::Unknown
        }
        BOOTED => ResetCause::Software,
        _ => ResetCause::Power,
    }
}

/// Starts it; from now on it wants to be fed.
pub(crate) fn start() {
    note().store(STARTED, Ordering::Relaxed);
    start_with(TICKS);
}

/// Lets it wait 20 s: what follows feeds it no more, and ends with a reset.
pub(crate) fn be_patient() {
    start_with(20 * TICKS);
}

/// Resets the machine: somebody asked for it.
pub(crate) fn reset() -> ! {
    note().store(BOOTED, Ordering::Relaxed);
    boot::reset()
}

/// Resets the machine as power that goes and comes does.
pub(crate) fn lose_power() -> ! {
    note().store(0, Ordering::Relaxed);
    boot::reset()
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

/// Half the time is over. Nothing is repaired here: the second half ends with the reset. The counter began anew when it
/// expired, and tells how long ago that is.
#[cortex_m_rt::exception]
unsafe fn NonMaskableInt() {
    let late = TICKS.saturating_sub(WATCHDOG.read::<VALUE>());
    note().store(if late > LATE { STOOD } else { UNFED }, Ordering::Relaxed);
    loop {
        cortex_m::asm::wfi();
    }
}
