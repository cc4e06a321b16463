//! Both rings as embassy-stm32 0.6.0 drives them (`src/eth/v2/descriptors.rs`): the same words in the same order, and
//! its barriers and tail pointers.

use outrigger_eqos::{Bus, Cells, registers as r};

/// An address on the stack: the HAL writes the address of a variable as the tail.
const STACK: u32 = 0x2407_f000;

pub(crate) struct Rings<T, R> {
    pub(crate) tx: T,
    pub(crate) rx: R,
    tx_next: usize,
    rx_next: usize,
}

impl<T: Cells, R: Cells> Rings<T, R> {
    pub(crate) fn start(bus: &impl Bus, tx: T, rx: R) -> Self {
        for index in 0..tx.len() {
            (0..4).for_each(|word| tx.store(index, word, 0));
        }
        for index in 0..rx.len() {
            (0..4).for_each(|word| rx.store(index, word, 0));
            Self::set_ready(&rx, index);
        }
        bus.write(r::DMACTXRLR, tx.len() as u32 - 1);
        bus.write(r::DMACTXDTPR, 0);
        bus.write(r::DMACRXRLR, rx.len() as u32 - 1);
        bus.write(r::DMACRXDTPR, 0);
        bus.complete();
        bus.write(r::DMACTXCR, r::DMACTXCR_ST);
        bus.write(r::DMACRXCR, r::DMACRXCR_SR);
        Self { tx, rx, tx_next: 0, rx_next: 0 }
    }

    fn set_ready(rx: &R, index: usize) {
        rx.store(index, 0, rx.buffer(index));
        rx.store(index, 3, r::OWN | r::RX_IOC | r::RX_BUF1V);
    }

    pub(crate) fn receive<V>(&mut self, bus: &impl Bus, f: impl FnOnce(&mut [u8]) -> V) -> Option<V> {
        bus.order();
        let word = self.rx.load(self.rx_next, 3);
        if word & r::OWN != 0 {
            return None;
        }
        // `RxToken::consume` requests the frame again, and thus has the barrier that `receive` lacks.
        bus.order();
        let result = self.rx.with(self.rx_next, |buffer| f(&mut buffer[..(word & r::LENGTH) as usize]));
        Self::set_ready(&self.rx, self.rx_next);
        bus.order();
        bus.write(r::DMACRXDTPR, STACK);
        self.rx_next = (self.rx_next + 1) % self.rx.len();
        Some(result)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.tx.load(self.tx_next, 3) & r::OWN == 0
    }

    pub(crate) fn send(&mut self, bus: &impl Bus, bytes: &[u8]) {
        let index = self.tx_next;
        self.tx.with(index, |buffer| buffer[..bytes.len()].copy_from_slice(bytes));
        self.tx.store(index, 0, self.tx.buffer(index));
        self.tx.store(index, 2, bytes.len() as u32 | r::TX_IOC);
        self.tx.store(index, 3, r::OWN | r::FD | r::LD);
        bus.order();
        bus.write(r::DMACTXDTPR, STACK);
        self.tx_next = (index + 1) % self.tx.len();
    }
}
