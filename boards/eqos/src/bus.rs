//! What a board gives the driver.

use core::task::Waker;

/// The controller, its clock and the core's barriers. Offsets are bytes from the controller's first register.
pub trait Bus {
    /// Content of a register.
    fn read(&self, register: usize) -> u32;

    /// Writes a register; it is device memory, in order with other registers and not with normal memory.
    fn write(&self, register: usize, value: u32);

    /// Keeps reads and writes of memory before from those after (`dmb`).
    fn order(&self);

    /// The same, and what was written before has arrived where the DMA sees it (`dsb`).
    fn complete(&self);

    /// Switches on the controller's clocks, resets all of it and selects the wiring of its transceiver. Ends at once.
    fn enable(&self);

    /// Time since boot \[µs\].
    fn now(&self) -> u64;

    /// Wakes `waker` at this time \[µs\].
    fn wake_at(&self, at: u64, waker: &Waker);
}

/// The memory of one ring, which core and DMA share: descriptors of four words, each with one buffer of
/// [`BUFFER`](crate::BUFFER) bytes.
pub trait Cells {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the DMA finds a descriptor.
    fn descriptor(&self, index: usize) -> u32;

    /// Where the DMA finds a buffer.
    fn buffer(&self, index: usize) -> u32;

    /// One word of a descriptor.
    fn load(&self, index: usize, word: usize) -> u32;

    /// Writes one word of a descriptor.
    fn store(&self, index: usize, word: usize, value: u32);

    /// Lends a buffer; its descriptor must not be the DMA's.
    fn with<R>(&mut self, index: usize, f: impl FnOnce(&mut [u8]) -> R) -> R;
}
