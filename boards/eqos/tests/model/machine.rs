//! The two processes of the DMA, their memory, and the core's stores that have not arrived yet.

use std::collections::VecDeque;

use outrigger_eqos::{BUFFER, registers as r};

use super::Choose;

/// The DMA's interpretation of the tail pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    /// The documented behaviour. The first word of a descriptor is read in a separate step.
    Strict,
    /// Writing the tail pointer only makes the DMA look again. The DMA considers only OWN, and reads a descriptor at
    /// once.
    Ignored,
}

pub(crate) const RX_DESCRIPTORS: u32 = 0x2400_1000;
pub(crate) const TX_DESCRIPTORS: u32 = 0x2400_2000;
const RX_BUFFERS: u32 = 0x2401_0000;
const TX_BUFFERS: u32 = 0x2402_0000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Rx,
    Tx,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Stopped,
    Suspended,
    /// The next descriptor will be read.
    Fetch,
    /// The first words of the next descriptor were read.
    Fetched {
        first: u32,
        third: u32,
    },
    /// The DMA owns the descriptor; the payload is next.
    Mine {
        buffer: u32,
        length: usize,
    },
    /// The payload was transferred; the descriptor will be returned.
    Close {
        length: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Word(Side, usize, usize),
    /// The first or second half of a buffer in memory.
    Half(Side, usize, usize),
}

pub(super) struct Store {
    pub(super) epoch: u64,
    pub(super) place: Place,
    pub(super) word: u32,
    pub(super) bytes: Vec<u8>,
}

pub(crate) struct Ring {
    pub(crate) words: Vec<[u32; 4]>,
    pub(crate) buffers: Vec<Vec<u8>>,
    /// The content of a buffer that the core may still read, although the DMA has written it since the core's last
    /// barrier.
    pub(super) stale: Vec<Option<Vec<u8>>>,
    pub(crate) state: State,
    pub(crate) current: usize,
    pub(super) tail: u32,
    pub(super) length: usize,
}

impl Ring {
    fn new(n: usize) -> Self {
        Self {
            words: vec![[0; 4]; n],
            buffers: vec![vec![0; BUFFER]; n],
            stale: vec![None; n],
            state: State::Stopped,
            current: 0,
            tail: 0,
            length: 0,
        }
    }
}

pub(crate) struct Machine {
    pub(crate) choose: Box<dyn Choose>,
    pub(crate) tail: Tail,
    /// `true` if a process may miss a write of its tail pointer while it suspends.
    pub(crate) deaf: bool,
    pub(crate) rx: Ring,
    pub(crate) tx: Ring,
    pub(super) stores: Vec<Store>,
    pub(super) epoch: u64,
    /// The frames that are on the wire to the controller.
    pub(crate) wire: VecDeque<Vec<u8>>,
    /// The frames that were lost because the MAC's memory was full and the DMA took none from it.
    pub(crate) missed: Vec<Vec<u8>>,
    pub(crate) sent: Vec<Vec<u8>>,
    /// `true` if the transmitter's clock is stopped.
    pub(crate) jammed: bool,
    pub(crate) status: u32,
    pub(super) enabled: u32,
    pub(crate) now: u64,
    pub(crate) accesses: u64,
    // The controller without its DMA.
    pub(crate) clocked: bool,
    pub(super) resetting: Option<u64>,
    pub(crate) resets: Vec<u64>,
    pub(crate) maccr: u32,
    // The transceiver.
    pub(crate) phy: Option<u8>,
    pub(crate) phy_resets: u64,
    pub(crate) linked: bool,
    pub(crate) partner: u16,
    pub(crate) advertised: u16,
    pub(super) smi_until: Option<u64>,
    pub(crate) smi_works: bool,
    pub(super) smi_data: u32,
    pub(crate) transfers: u64,
    pub(super) phy_reset_until: u64,
    pub(crate) dma_started: Option<u64>,
}

impl Machine {
    pub(crate) fn new(choose: impl Choose + 'static, tx: usize, rx: usize) -> Self {
        Self {
            choose: Box::new(choose),
            tail: Tail::Strict,
            deaf: false,
            rx: Ring::new(rx),
            tx: Ring::new(tx),
            stores: Vec::new(),
            epoch: 0,
            wire: VecDeque::new(),
            missed: Vec::new(),
            sent: Vec::new(),
            jammed: false,
            status: 0,
            enabled: 0,
            now: 0,
            accesses: 0,
            clocked: true,
            resetting: None,
            resets: Vec::new(),
            maccr: 0,
            phy: Some(0),
            phy_resets: 100_000,
            linked: true,
            partner: 0x41e1,
            advertised: 0,
            smi_until: None,
            smi_works: true,
            smi_data: 0,
            transfers: 0,
            phy_reset_until: 0,
            dma_started: None,
        }
    }

    pub(super) fn ring(&mut self, side: Side) -> &mut Ring {
        match side {
            Side::Rx => &mut self.rx,
            Side::Tx => &mut self.tx,
        }
    }

    pub(crate) fn descriptor(side: Side, index: usize) -> u32 {
        (if side == Side::Rx { RX_DESCRIPTORS } else { TX_DESCRIPTORS }) + 16 * index as u32
    }

    pub(crate) fn buffer(side: Side, index: usize) -> u32 {
        (if side == Side::Rx { RX_BUFFERS } else { TX_BUFFERS }) + (BUFFER * index) as u32
    }

    /// Returns the index of the buffer with this address.
    fn buffer_at(&self, side: Side, address: u32) -> Option<usize> {
        let count = if side == Side::Rx { self.rx.buffers.len() } else { self.tx.buffers.len() };
        (0..count).find(|index| Self::buffer(side, *index) == address)
    }

    /// Lets one of the core's oldest stores arrive that no barrier orders behind another; returns `false` if there is
    /// none.
    pub(super) fn drain_one(&mut self) -> bool {
        let Some(epoch) = self.stores.iter().map(|s| s.epoch).min() else { return false };
        let mut free: Vec<usize> = Vec::new();
        for (at, store) in self.stores.iter().enumerate() {
            let first = !self.stores[..at].iter().any(|s| s.place == store.place);
            if store.epoch == epoch && first {
                free.push(at);
            }
        }
        let picked = free[self.choose.choose(free.len())];
        self.arrive(picked);
        true
    }

    fn arrive(&mut self, at: usize) {
        let Store { place, word, bytes, .. } = self.stores.remove(at);
        match place {
            Place::Word(side, index, place) => self.ring(side).words[index][place] = word,
            Place::Half(side, index, half) => {
                let from = half * BUFFER / 2;
                self.ring(side).buffers[index][from..from + BUFFER / 2].copy_from_slice(&bytes);
            }
        }
    }

    /// Lets all stores before the last barrier arrive; with `all`, all stores.
    pub(super) fn drain(&mut self, all: bool) {
        while let Some(at) = self.stores.iter().position(|s| all || s.epoch < self.epoch) {
            self.arrive(at);
        }
    }

    fn raise(&mut self, bits: u32) {
        self.status |= bits;
        if bits & r::FBE != 0 {
            self.status |= r::AIS;
        }
        if self.status & self.enabled & (r::TI | r::RI) != 0 {
            self.status |= r::NIS;
        }
        if self.status & self.enabled & (r::RBU | r::RPS | r::TPS | r::FBE) != 0 {
            self.status |= r::AIS;
        }
    }

    pub(crate) fn interrupts(&self) -> bool {
        let normal = self.status & self.enabled & (r::TI | r::RI) != 0 && self.enabled & r::NIS != 0;
        let others = self.status & self.enabled & (r::RBU | r::RPS | r::TPS | r::FBE) != 0;
        normal || others && self.enabled & r::AIS != 0
    }

    fn suspend(&mut self, side: Side) {
        self.ring(side).state = State::Suspended;
        if side == Side::Rx {
            self.raise(r::RBU);
        }
    }

    /// Receives a frame from the wire. If the MAC's memory is full and the DMA cannot take a frame from it, the frame
    /// is lost and recorded in `missed`.
    pub(crate) fn arrive_frame(&mut self, frame: Vec<u8>) {
        // The MAC's memory holds a few frames.
        while self.wire.len() >= 4 && self.step(Side::Rx) {}
        if self.wire.len() >= 4 { self.missed.push(frame) } else { self.wire.push_back(frame) }
    }

    /// Runs one step of the DMA's process for this side; returns `false` if the process waits.
    pub(crate) fn step(&mut self, side: Side) -> bool {
        let (tail, strict) = (self.ring(side).tail, self.tail == Tail::Strict);
        let current = self.ring(side).current;
        if self.resetting.is_some() {
            return false;
        }
        match self.ring(side).state {
            State::Stopped | State::Suspended => return false,
            State::Fetch if strict && tail == Self::descriptor(side, current) => self.suspend(side),
            State::Fetch => {
                let [first, _, third, _] = self.ring(side).words[current];
                self.ring(side).state = State::Fetched { first, third };
                if !strict {
                    return self.step(side);
                }
            }
            State::Fetched { first, third } => {
                let last = self.ring(side).words[current][3];
                if last & r::OWN == 0 {
                    self.suspend(side);
                } else {
                    self.ring(side).state = State::Mine { buffer: first, length: (third & 0x3fff) as usize };
                }
            }
            State::Mine { buffer, length } => return self.payload(side, buffer, length),
            State::Close { length } => self.close(side, length),
        }
        true
    }

    fn payload(&mut self, side: Side, buffer: u32, length: usize) -> bool {
        let waits = if side == Side::Rx { self.wire.is_empty() } else { self.jammed };
        if waits {
            return false;
        }
        let Some(index) = self.buffer_at(side, buffer) else {
            self.fail(side);
            return true;
        };
        let length = if side == Side::Rx {
            let frame = self.wire.pop_front().expect("one waits");
            // The core may continue to read the content as of its last barrier until the next one.
            if self.rx.stale[index].is_none() {
                self.rx.stale[index] = Some(self.rx.buffers[index].clone());
            }
            self.rx.buffers[index][..frame.len()].copy_from_slice(&frame);
            frame.len()
        } else {
            let frame = self.tx.buffers[index][..length].to_vec();
            self.sent.push(frame);
            length
        };
        self.ring(side).state = State::Close { length };
        true
    }

    fn close(&mut self, side: Side, length: usize) {
        let ring = self.ring(side);
        let index = ring.current;
        ring.current = (index + 1) % ring.words.len();
        ring.state = State::Fetch;
        if side == Side::Rx {
            // VLAN tags, in the place of the address.
            ring.words[index] = [0x0001_8100, 0, 0, r::FD | r::LD | length as u32];
            self.raise(r::RI);
        } else {
            ring.words[index][3] &= !r::OWN;
            if ring.words[index][2] & r::TX_IOC != 0 {
                self.raise(r::TI);
            }
        }
    }

    /// Makes the bus reject an access of a process.
    pub(crate) fn fail(&mut self, side: Side) {
        self.ring(side).state = State::Stopped;
        self.raise(r::FBE);
    }

    /// Lets events of the model happen between two accesses of the CPU core: steps of the DMA, and stores that arrive.
    pub(super) fn turn(&mut self) {
        self.accesses += 1;
        loop {
            match self.choose.choose(4) {
                1 => drop(self.step(Side::Rx)),
                2 => drop(self.step(Side::Tx)),
                3 => drop(self.drain_one()),
                _ => return,
            }
        }
    }

    /// Runs the DMA until it needs the core.
    pub(crate) fn settle(&mut self) {
        self.drain(true);
        loop {
            let moved = self.step(Side::Rx);
            if !self.step(Side::Tx) && !moved {
                return;
            }
        }
    }
}
