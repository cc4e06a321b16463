//! The flash for settings: the last two sectors, in the bank from which no code runs.

use core::arch::asm;
use core::sync::atomic::{Ordering, compiler_fence};

use cortex_m::peripheral::SCB;
use embassy_stm32::flash::{Blocking, Error, Flash};
use embassy_stm32::pac;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

const SECTOR: u32 = 128 << 10;
/// The offset of the settings' sectors from the beginning of the flash \[B\]; `settings.x` excludes them from the
/// firmware.
const BEGIN: u32 = (2 << 20) - 2 * SECTOR;
/// The index of flash bank 2, which contains the settings' sectors.
const BANK: usize = 1;
/// The bit of CCR that makes handlers of priority -1 ignore bus faults of loads.
const IGNORE_BUS_FAULTS: u32 = 1 << 8;

/// The two sectors of flash in which settings are stored.
pub(crate) struct Sectors {
    flash: Flash<'static, Blocking>,
}

impl Sectors {
    pub(crate) const fn new(flash: Flash<'static, Blocking>) -> Self {
        Self { flash }
    }
}

impl ErrorType for Sectors {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Sectors {
    const READ_SIZE: usize = 1;

    /// Reads bytes of the flash. A word of 32 bytes whose write was interrupted has more wrong bits than can be
    /// corrected. The chip sets a flag, and may answer the load with a bus fault, which would end the firmware at
    /// every start. The fault is ignored, and the flag is checked.
    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        let bank = pac::FLASH.bank(BANK);
        bank.ccr().write(|clear| clear.set_clr_dbeccerr(true));
        let read = ignoring_bus_faults(|| self.flash.blocking_read(BEGIN + offset, bytes));
        let spoilt = bank.sr().read().dbeccerr();
        bank.ccr().write(|clear| clear.set_clr_dbeccerr(true));
        if read.is_err() || spoilt { Err(NorFlashErrorKind::Other) } else { Ok(()) }
    }

    fn capacity(&self) -> usize {
        2 * SECTOR as usize
    }
}

impl NorFlash for Sectors {
    const WRITE_SIZE: usize = 32;
    const ERASE_SIZE: usize = SECTOR as usize;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        self.flash.blocking_erase(BEGIN + from, BEGIN + to).map_err(kind)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        self.flash.blocking_write(BEGIN + offset, bytes).map_err(kind)
    }
}

const fn kind(_: Error) -> NorFlashErrorKind {
    NorFlashErrorKind::Other
}

/// Calls `read` at the priority of a hard fault, with bus faults ignored; nothing else runs meanwhile. Returns the
/// result of `read`.
fn ignoring_bus_faults<T>(read: impl FnOnce() -> T) -> T {
    // SAFETY: one bit of a register that no other code here writes; it is restored below, and nothing runs in between.
    let control = unsafe { &(*SCB::PTR).ccr };
    let before = control.read();
    // SAFETY: sets FAULTMASK, which is cleared below. Faulting loads return any value, and the flag of the flash shows
    // them.
    unsafe {
        asm!("cpsid f", "dsb", "isb");
        control.write(before | IGNORE_BUS_FAULTS);
        asm!("dsb", "isb");
    }
    compiler_fence(Ordering::SeqCst);
    let read = read();
    compiler_fence(Ordering::SeqCst);
    // SAFETY: restores the previous state.
    unsafe {
        asm!("dsb");
        control.write(before);
        asm!("dsb", "cpsie f", "isb");
    }
    read
}
