//! A simulated NOR flash for settings. The machine has none, so it is a part of memory to which nothing is loaded, and
//! which a reset of the machine therefore leaves unchanged. It behaves like a real flash: an erasure sets a sector's
//! bits, a write only clears bits and is in whole units, and the power can fail in the middle of either.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

use crate::semihosting_calls::Cut;
use crate::{machine, watchdog};

/// The base address of the simulated flash, in the machine's PSRAM.
const BASE: usize = machine::THIS.kept;
/// The address of the simulated flash's content. Before it is the state that this model preserves over a reset.
const CELLS: usize = BASE + 0x1000;
/// The capacity of the simulated flash \[B\]: two copies of the longest image, each with a page for its header, in
/// whole sectors.
const CAPACITY: usize = 6 * SECTOR;
const SECTOR: usize = 4096;
/// The size of a unit of the flash that is written at once \[B\], as on an STM32H7.
const UNIT: usize = 32;

/// The mark of a simulated flash that was connected before. Without the mark, its memory contains the zeros with which
/// QEMU starts, and is first filled with ones, like a new, erased flash.
const KNOWN: u32 = u32::from_le_bytes(*b"NOR1");

/// The state of the simulated flash that is preserved over a reset.
#[repr(C)]
struct Past {
    known: u32,
    /// The number of units written and sectors erased in the flash since QEMU was started.
    operations: u32,
    /// The number of units written and sectors erased in the flash since the last reset.
    recent: u32,
    /// 1 if the power failed at the end of the previous run, otherwise 0.
    was_cut: u32,
    /// The number of the flash operation since a reset, from 1, in which the power fails next, with [`Cut::Each`].
    next: u32,
}

/// The simulated flash of the emulated board; there is only one.
pub(crate) struct Nor {
    past: &'static mut Past,
    cells: &'static mut [u8],
    cut: Option<Cut>,
}

impl Nor {
    /// Returns the simulated flash with its previous content. May be called only once.
    pub(crate) fn connect(cut: Option<Cut>) -> Self {
        // SAFETY: RAM of the machine, aligned, any bits of which are values of these types. The linker does not use it,
        // and this is the only place that makes references to it, once.
        let (past, cells) =
            unsafe { (&mut *(BASE as *mut Past), core::slice::from_raw_parts_mut(CELLS as *mut u8, CAPACITY)) };
        if past.known != KNOWN {
            cells.fill(0xff);
            *past = Past { known: KNOWN, operations: 0, recent: 0, was_cut: 0, next: 1 };
        } else if past.recent > 0 && past.was_cut == 0 {
            past.next = 1;
        }
        (past.recent, past.was_cut) = (0, 0);
        Self { past, cells, cut }
    }

    /// Applies an operation to `length` bytes of the flash from `from` on, or only to the first half of them if the
    /// power fails.
    fn operate(&mut self, from: usize, length: usize, each: impl Fn(&mut u8, usize)) {
        let past = &mut *self.past;
        past.operations += 1;
        past.recent += 1;
        let cut = match self.cut {
            None => false,
            Some(Cut::At(at)) => past.operations == at,
            Some(Cut::Each) => past.recent == past.next,
        };
        let done = if cut { length / 2 } else { length };
        self.cells[from..from + done].iter_mut().enumerate().for_each(|(at, cell)| each(cell, at));
        if cut {
            past.was_cut = 1;
            past.next += 1;
            defmt::warn!("flash: the power goes in operation {}", past.recent);
            watchdog::lose_power();
        }
    }
}

impl ErrorType for Nor {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Nor {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        bytes.copy_from_slice(&self.cells[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }
}

impl NorFlash for Nor {
    const WRITE_SIZE: usize = UNIT;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        for sector in (from as usize..to as usize).step_by(SECTOR) {
            self.operate(sector, SECTOR, |cell, _| *cell = 0xff);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        for (unit, bytes) in (offset as usize..).step_by(UNIT).zip(bytes.chunks(UNIT)) {
            self.operate(unit, UNIT, |cell, at| *cell &= bytes[at]);
        }
        Ok(())
    }
}
