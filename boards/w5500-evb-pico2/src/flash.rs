//! The flash for settings: its end, which `memory.x` excludes from the firmware.

use embassy_rp::flash::{Blocking, ERASE_SIZE, Error, Flash};
use embassy_rp::peripherals::FLASH;
use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};

/// The size of the board's flash \[B\].
pub(crate) const SIZE: usize = 2 << 20;
/// The capacity for settings \[B\]: two copies of the longest image, each with a page for its header, in whole
/// sectors.
const CAPACITY: usize = 6 * ERASE_SIZE;
const BEGIN: u32 = (SIZE - CAPACITY) as u32;

/// The last sectors of the flash, in which settings are stored. While they are written, the flash cannot be read, and
/// no other code runs.
pub(crate) struct Sectors {
    flash: Flash<'static, FLASH, Blocking, SIZE>,
}

impl Sectors {
    pub(crate) const fn new(flash: Flash<'static, FLASH, Blocking, SIZE>) -> Self {
        Self { flash }
    }
}

/// Returns the address in the flash chip of an offset in the settings' sectors \[B\]. The HAL rejects addresses beyond
/// the end.
const fn place(offset: u32) -> u32 {
    BEGIN.saturating_add(offset)
}

impl ErrorType for Sectors {
    type Error = Error;
}

impl ReadNorFlash for Sectors {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Error> {
        self.flash.blocking_read(place(offset), bytes)
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }
}

impl NorFlash for Sectors {
    /// The size of a page of the flash \[B\]. Whole pages are programmed: a page has the content of one write, and
    /// no byte is written twice.
    const WRITE_SIZE: usize = 256;
    const ERASE_SIZE: usize = ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Error> {
        self.flash.blocking_erase(place(from), place(to))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        self.flash.blocking_write(place(offset), bytes)
    }
}
