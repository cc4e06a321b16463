//! Registers of devices, as 32-bit words at constant offsets of a block.

/// The registers of one device: `SIZE` bytes from its base address on. A copy names the same device.
#[derive(Clone, Copy)]
pub(crate) struct Registers<const SIZE: usize> {
    base: usize,
}

impl<const SIZE: usize> Registers<SIZE> {
    /// Returns the registers from `base` on.
    ///
    /// # Safety
    /// All of `base..base + SIZE` must be one device of the machine, readable and writable in words at any time.
    /// Writing to it must not make it access memory: no access through this value can violate the compiler's
    /// assumptions.
    pub(crate) const unsafe fn new(base: usize) -> Self {
        assert!(base.is_multiple_of(4));
        Self { base }
    }

    /// Reads the device register at byte offset `OFFSET`.
    pub(crate) fn read<const OFFSET: usize>(self) -> u32 {
        // SAFETY: within the device and aligned, see `address`; the caller of `new` guarantees that reading is
        // harmless.
        unsafe { self.address::<OFFSET>().read_volatile() }
    }

    /// Writes the device register at byte offset `OFFSET`.
    pub(crate) fn write<const OFFSET: usize>(self, value: u32) {
        // SAFETY: as in `read`, for writing.
        unsafe { self.address::<OFFSET>().write_volatile(value) }
    }

    const fn address<const OFFSET: usize>(self) -> *mut u32 {
        const { assert!(OFFSET.is_multiple_of(4) && OFFSET + 4 <= SIZE, "no register of this device") };
        (self.base + OFFSET) as *mut u32
    }
}
