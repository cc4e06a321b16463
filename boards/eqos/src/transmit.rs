//! The DMA ring of descriptors and buffers for frames to be sent.

use crate::board_traits::{Bus, Cells};
use crate::registers::{DMACTXDLAR, DMACTXDTPR, DMACTXRLR, DMADSR, DMADSR_TPS0, ES, FD, LD, OWN, TX_IOC, TX_SUSPENDED};

/// The descriptors and buffers of frames to be sent. One descriptor stays empty, so that the tail pointer never
/// equals the position of the DMA while frames wait.
#[derive(Debug)]
pub struct TransmitRing<M> {
    cells: M,
    /// The index of the descriptor for the next frame to be sent.
    next: usize,
    /// The index of the oldest frame that was given to the DMA and not yet taken back.
    oldest: usize,
    waiting: usize,
    sent: u32,
    failed: u32,
}

impl<M: Cells> TransmitRing<M> {
    /// Returns a transmit ring that is not started.
    pub const fn new(cells: M) -> Self {
        Self { cells, next: 0, oldest: 0, waiting: 0, sent: 0, failed: 0 }
    }

    /// Empties the ring for a DMA that is not running. Frames that waited in the ring are lost, and counted as
    /// failed.
    pub fn start(&mut self, bus: &impl Bus) {
        self.failed = self.failed.saturating_add(self.waiting as u32);
        (self.next, self.oldest, self.waiting) = (0, 0, 0);
        let len = self.cells.len();
        for index in 0..len {
            for word in 0..4 {
                self.cells.store(index, word, 0);
            }
        }
        bus.write(DMACTXDLAR, self.cells.descriptor(0));
        bus.write(DMACTXRLR, len as u32 - 1);
        bus.complete();
        bus.write(DMACTXDTPR, self.cells.descriptor(0));
    }

    /// Takes sent frames back from the DMA, and returns whether the ring has room for another frame.
    pub fn has_room(&mut self, bus: &impl Bus) -> bool {
        while self.waiting > 0 {
            let word = self.cells.load(self.oldest, 3);
            if word & OWN != 0 {
                break;
            }
            if word & ES != 0 {
                self.failed = self.failed.saturating_add(1);
            } else {
                self.sent = self.sent.wrapping_add(1);
            }
            self.oldest = self.after(self.oldest);
            self.waiting -= 1;
        }
        // The DMA has read what is now written over.
        bus.order();
        self.waiting + 1 < self.cells.len()
    }

    /// Sends a frame of `length` bytes that `f` writes. Call only after [`has_room`](Self::has_room) has returned `true`.
    pub fn send<R>(&mut self, bus: &impl Bus, length: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
        let index = self.next;
        let result = self.cells.with(index, |buffer| f(&mut buffer[..length]));
        self.cells.store(index, 0, self.cells.buffer(index));
        self.cells.store(index, 1, 0);
        self.cells.store(index, 2, TX_IOC | length as u32);
        bus.order();
        self.cells.store(index, 3, OWN | FD | LD | length as u32);
        bus.complete();
        self.next = self.after(index);
        self.waiting += 1;
        bus.write(DMACTXDTPR, self.cells.descriptor(self.next));
        result
    }

    /// Writes the tail pointer again if the DMA is suspended although frames wait, and returns whether it was
    /// suspended.
    pub fn wake_if_asleep(&self, bus: &impl Bus) -> bool {
        let asleep = bus.read(DMADSR) >> DMADSR_TPS0 & 0xf == TX_SUSPENDED;
        let asleep = asleep && self.waiting > 0 && self.cells.load(self.oldest, 3) & OWN != 0;
        if asleep {
            bus.complete();
            bus.write(DMACTXDTPR, self.cells.descriptor(self.next));
        }
        asleep
    }

    /// Returns the number of frames that wait to be sent, or were sent and not yet taken back.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the number of frames that were sent, wrapping; the number changes while transmission works.
    pub const fn sent(&self) -> u32 {
        self.sent
    }

    /// Returns the number of frames that the controller gave up, or that a restart lost.
    pub const fn failed(&self) -> u32 {
        self.failed
    }

    fn after(&self, index: usize) -> usize {
        if index + 1 == self.cells.len() { 0 } else { index + 1 }
    }
}
