//! The two traits that a board implements: registers with a clock, and memory shared with the DMA.

use core::task::Waker;

/// The registers of the Ethernet controller, a clock with an alarm, and the barriers of the core.
///
/// An implementation may be cloned or made twice: the driver has one, the interrupt handler another. No method fails or
/// waits.
pub trait Bus {
    /// Reads the 32-bit register at the byte offset `register`, one of [`registers`](crate::registers).
    ///
    /// The read is volatile, of device memory.
    fn read(&self, register: usize) -> u32;

    /// Writes the 32-bit register at the byte offset `register`.
    ///
    /// The write is volatile, in order with other accesses of registers. It need not be in order with normal memory: the
    /// driver calls [`complete`](Self::complete) first where that matters. Writing [`DMACRXDTPR`](crate::registers::DMACRXDTPR)
    /// lets the controller write to the memory of its ring.
    fn write(&self, register: usize, value: u32);

    /// Orders all earlier reads and writes of memory before all later ones: `dmb` on ARM.
    fn order(&self);

    /// Waits until earlier writes of memory are visible to the DMA, and orders as [`order`](Self::order): `dsb` on ARM.
    fn complete(&self);

    /// Enables the controller's clocks, pulses its reset and selects MII or RMII; returns at once.
    ///
    /// Called at the beginning of every start of the interface, at most once a second.
    fn enable(&self);

    /// Returns the time since boot \[µs\]; it never goes back.
    fn now(&self) -> u64;

    /// Wakes `waker` at the time `at` \[µs\] of [`now`](Self::now), or as soon as that has passed.
    ///
    /// With `embassy-time`: `embassy_time_driver::schedule_wake(Instant::from_micros(at).as_ticks(), waker)`.
    fn wake_at(&self, at: u64, waker: &Waker);
}

/// The memory of one DMA ring, shared between the core and the DMA: descriptors of four words, each with one buffer of
/// [`BUFFER`](crate::BUFFER) bytes.
///
/// [`RingMemory`](crate::RingMemory) implements it for memory that is not cached. Methods with an `index` take one below
/// [`len`](Self::len) and may panic at any other.
pub trait Cells {
    /// Returns the number of DMA descriptors in the ring, at least 2 and always the same.
    fn len(&self) -> usize;

    /// Returns `true` if the ring has no DMA descriptor: never, for a ring that can be started.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address of a DMA descriptor as the DMA sees it: a multiple of 4, and each 16 bytes behind the one
    /// before.
    fn descriptor(&self, index: usize) -> u32;

    /// Returns the address of a frame buffer as the DMA sees it: a multiple of the width of its bus, 8 bytes on the
    /// STM32H7.
    fn buffer(&self, index: usize) -> u32;

    /// Reads a word, 0 to 3, of a DMA descriptor. The DMA may write it at the same time: the access is atomic.
    fn load(&self, index: usize, word: usize) -> u32;

    /// Writes word `word`, 0 to 3, of the DMA descriptor `index`, atomically.
    fn store(&self, index: usize, word: usize, value: u32);

    /// Lends the frame buffer of descriptor `index`, [`BUFFER`](crate::BUFFER) bytes, to `f` and returns the result of
    /// `f`.
    ///
    /// The driver calls it only while the descriptor belongs to the core.
    fn with<R>(&mut self, index: usize, f: impl FnOnce(&mut [u8]) -> R) -> R;
}
