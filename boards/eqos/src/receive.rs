//! The DMA ring of descriptors and buffers for received frames.

use crate::board_traits::{Bus, Cells};
use crate::registers::{
    CTXT, DMACRXDLAR, DMACRXDTPR, DMACRXRLR, DMADSR, DMADSR_RPS0, ES, FD, LD, LENGTH, OWN, RX_BUF1V, RX_IOC, SUSPENDED,
};

/// The descriptors and buffers of received frames, and the index of the next descriptor.
#[derive(Debug)]
pub struct ReceiveRing<M> {
    cells: M,
    next: usize,
    bad: u32,
}

impl<M: Cells> ReceiveRing<M> {
    /// Returns a receive ring that is not started.
    pub const fn new(cells: M) -> Self {
        Self { cells, next: 0, bad: 0 }
    }

    /// Gives all descriptors to a DMA that is not running, and lets it process all but the last.
    pub fn start(&mut self, bus: &impl Bus) {
        self.next = 0;
        let len = self.cells.len();
        for index in 0..len {
            self.fill(bus, index);
        }
        bus.write(DMACRXDLAR, self.cells.descriptor(0));
        bus.write(DMACRXRLR, len as u32 - 1);
        bus.complete();
        bus.write(DMACRXDTPR, self.cells.descriptor(len - 1));
    }

    /// Returns the length of the next usable frame \[B\]; `None` if there is none. Counts unusable frames and
    /// returns their buffers to the DMA, at most one ring of them.
    pub fn look(&mut self, bus: &impl Bus) -> Option<usize> {
        for _ in 0..self.cells.len() {
            let word = self.cells.load(self.next, 3);
            if word & OWN != 0 {
                return None;
            }
            // What the DMA wrote before it gave the descriptor back is read after this.
            bus.order();
            let length = (word & LENGTH) as usize;
            let whole = word & (CTXT | FD | LD | ES) == FD | LD;
            if whole && (1..=crate::memory::BUFFER).contains(&length) {
                return Some(length);
            }
            // Of a frame in pieces the last one counts.
            if word & LD != 0 && word & CTXT == 0 {
                self.bad = self.bad.saturating_add(1);
            }
            self.give_back(bus);
        }
        None
    }

    /// Lends the frame that [`look`](Self::look) has found to `f`, then returns its buffer to the DMA.
    pub fn take<R>(&mut self, bus: &impl Bus, length: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
        let result = self.cells.with(self.next, |buffer| f(&mut buffer[..length]));
        self.give_back(bus);
        result
    }

    /// Returns the number of unusable frames since the ring was made: damaged, in pieces, or longer than a buffer.
    pub const fn bad(&self) -> u32 {
        self.bad
    }

    /// Writes the tail pointer again if the DMA is suspended although it owns descriptors, and returns whether it was: a
    /// write in the moment of suspending may be missed.
    pub fn wake_if_asleep(&self, bus: &impl Bus) -> bool {
        let asleep = bus.read(DMADSR) >> DMADSR_RPS0 & 0xf == SUSPENDED;
        let asleep = asleep && self.cells.load(self.next, 3) & OWN != 0;
        if asleep {
            bus.complete();
            bus.write(DMACRXDTPR, self.cells.descriptor(self.before(self.next)));
        }
        asleep
    }

    fn before(&self, index: usize) -> usize {
        index.checked_sub(1).unwrap_or(self.cells.len() - 1)
    }

    /// Gives the next descriptor to the DMA. The tail pointer names it: the DMA may process the descriptors before
    /// it, but not this one.
    fn give_back(&mut self, bus: &impl Bus) {
        // The core has read the frame before the DMA may write the next one over it.
        bus.order();
        let given = self.next;
        self.fill(bus, given);
        self.next = if given + 1 == self.cells.len() { 0 } else { given + 1 };
        bus.complete();
        bus.write(DMACRXDTPR, self.cells.descriptor(given));
    }

    fn fill(&self, bus: &impl Bus, index: usize) {
        self.cells.store(index, 0, self.cells.buffer(index));
        self.cells.store(index, 1, 0);
        self.cells.store(index, 2, 0);
        bus.order();
        self.cells.store(index, 3, OWN | RX_IOC | RX_BUF1V);
    }
}
