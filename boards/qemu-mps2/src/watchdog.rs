//! The CMSDK watchdog: it interrupts if it is not fed for its period, and resets the machine after a second period.
//!
//! The machine has no register with the cause of its start. The interrupt leaves a note in memory that nothing clears.

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

/// The number of the watchdog's ticks in 0.5 s, half of the time after which a hanging device is reset.
const TICKS: u32 = machine::THIS.megahertz * 500_000;
/// The number of the watchdog's ticks in 50 ms. A greater delay of its interrupt shows that QEMU itself has stalled,
/// because the firmware never masks this interrupt.
const LATE: u32 = TICKS / 10;

// SAFETY: the watchdog of the MPS2 machines; it counts, interrupts and resets, and does not access memory.
const WATCHDOG: Registers<0x1000> = unsafe { Registers::new(machine::THIS.watchdog) };

/// The note of the previous run, which a reset leaves unchanged: `BOOTED`, `STARTED`, `UNFED` or `STOOD`, and any value
/// after power-up. It shows the cause of the next start, for which the machine has no register.
#[unsafe(link_section = ".uninit.watchdog")]
static NOTE: MaybeUninit<AtomicU32> = MaybeUninit::uninit();

/// The note that the machine has started without its watchdog, or was reset by request.
const BOOTED: u32 = 0x7e1d_b007;
/// The note that the watchdog was started, and has not expired since.
const STARTED: u32 = 0x7e1d_f00d;
/// The note that the watchdog was not fed for half its time.
const UNFED: u32 = 0x7e1d_dead;
/// The note that the watchdog was not fed for half its time, and that the interrupt itself was late.
const STOOD: u32 = 0x7e1d_57a9;

fn note() -> &'static AtomicU32 {
    // SAFETY: any bits are a number, and the memory is written only through this atomic.
    unsafe { NOTE.assume_init_ref() }
}

/// Returns the cause of the machine's start by the note of the previous run, and replaces the note by `BOOTED`. A stall
/// of QEMU is logged.
pub(crate) fn reset_cause() -> ResetCause {
    match note().swap(BOOTED, Ordering::Relaxed) {
        UNFED => ResetCause::Watchdog,
        STOOD => {
            defmt::info!("the watchdog was not fed because QEMU itself stood still");
            ResetCause::Watchdog
        }
        STARTED => {
            // Both periods were over before the processor ran again, or a reset was requested from outside.
            defmt::info!("QEMU itself stood still for a second, or its monitor reset the machine");
            ResetCause::Unknown
        }
        BOOTED => ResetCause::Software,
        _ => ResetCause::Power,
    }
}

/// Starts the watchdog, which must be fed from now on.
pub(crate) fn start() {
    note().store(STARTED, Ordering::Relaxed);
    start_with(TICKS);
}

/// Extends the time until the watchdog's interrupt to 10 s, and that until its reset to 20 s. The watchdog is not fed
/// any more, and a reset follows.
pub(crate) fn be_patient() {
    start_with(20 * TICKS);
}

/// Resets the emulated machine, after a note in memory that the reset was requested.
pub(crate) fn reset() -> ! {
    note().store(BOOTED, Ordering::Relaxed);
    boot::reset()
}

/// Resets the machine as a power failure would: with the note of a machine that was just powered up.
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

/// Restarts the watchdog's time, at whose end it would reset the machine.
pub(crate) fn feed() {
    WATCHDOG.write::<LOCK>(UNLOCK);
    WATCHDOG.write::<CLEAR>(0);
    WATCHDOG.write::<LOCK>(0);
}

/// Writes the note that the watchdog was not fed for half its time, and waits for the reset at the end of the other
/// half. The watchdog's counter was restarted when this interrupt was raised, and shows how late the handler runs.
#[cortex_m_rt::exception]
unsafe fn NonMaskableInt() {
    let late = TICKS.saturating_sub(WATCHDOG.read::<VALUE>());
    note().store(if late > LATE { STOOD } else { UNFED }, Ordering::Relaxed);
    loop {
        cortex_m::asm::wfi();
    }
}
