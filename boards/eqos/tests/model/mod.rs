//! A model of the controller, as a driver sees it: registers, two DMA processes, the memory they share with a core whose
//! stores arrive late, a transceiver, and a wire.
//!
//! # What it is made from
//!
//! * Tail pointers: the DMA processes descriptors up to the one that the tail names, and suspends there; writing the tail is
//!   what makes it look again (Synopsys, as quoted in the Linux commit "stmmac: add GMAC4 DMA/CORE", and Intel's Agilex 5
//!   manual 814346, 5.1.6.3.1). It suspends at a descriptor that is not its own, too, wherever the tail is.
//! * The first word of a descriptor is read before the last (oxidecomputer/hubris 750: a marker in the first word turned up in
//!   the DMA's register of the current buffer), and the write-back on reception uses the first word for VLAN tags (ST,
//!   `stm32h7xx_hal_eth.h`).
//! * A bus error (FBE) stops a process until the controller is reset. Bits of DMACSR are cleared by writing them, and those
//!   that DMACIER enables interrupt, level by level.
//! * Stores of a core to normal memory arrive in any order between two barriers; stores to registers are in order among
//!   themselves and do not wait for the former. Loads may return what was there at the last barrier.
//!
//! # What it does not show
//!
//! Whether this chip does what those sources say; anything about time on the bus, bursts, FIFOs of the MAC, checksums, frame
//! filters, pause, half duplex and collisions, caches; what else the reset does than end. Each word of a payload arrives with
//! its half of the frame, not by itself. That ends of the ring wrap is by number, not by address.
#![allow(dead_code, reason = "every test program has its own copy, and uses its own part")]

pub(crate) mod released;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Wake, Waker};

use outrigger_eqos::registers as r;
use outrigger_eqos::{Bus, Cells, Shared, memory::BUFFER};

/// Decides what happens where several things may.
pub(crate) trait Choose {
    /// One of `0..of`; 0 is "nothing".
    fn choose(&mut self, of: usize) -> usize;
}

/// By a seed (SplitMix64).
pub(crate) struct Seeded(pub(crate) u64);

impl Choose for Seeded {
    fn choose(&mut self, of: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % of as u64) as usize
    }
}

/// All ways in which a run can go with at most so many interventions: everywhere else the choice is "nothing".
#[derive(Clone)]
pub(crate) struct Every {
    /// What was chosen, of how many.
    made: Rc<RefCell<Vec<(usize, usize)>>>,
    at: Rc<RefCell<usize>>,
    interventions: usize,
}

impl Every {
    pub(crate) fn new(interventions: usize) -> Self {
        Self { made: Rc::default(), at: Rc::default(), interventions }
    }

    /// The next run; `false` when there is none.
    pub(crate) fn next(&self) -> bool {
        *self.at.borrow_mut() = 0;
        let mut made = self.made.borrow_mut();
        while let Some((choice, of)) = made.pop() {
            let left = made.iter().filter(|(choice, _)| *choice != 0).count() < self.interventions;
            if choice + 1 < of && left {
                made.push((choice + 1, of));
                return true;
            }
        }
        false
    }
}

impl Choose for Every {
    fn choose(&mut self, of: usize) -> usize {
        let (mut made, mut at) = (self.made.borrow_mut(), self.at.borrow_mut());
        if *at == made.len() {
            made.push((0, of));
        }
        *at += 1;
        made[*at - 1].0
    }
}

/// How the tail pointer is understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    /// As documented; the first word of a descriptor is read in a step of its own.
    Strict,
    /// Only as a call to look again: the DMA goes by OWN alone, and reads a descriptor at once.
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
    /// The next descriptor is read.
    Fetch,
    /// Its first words were read.
    Fetched {
        first: u32,
        third: u32,
    },
    /// It is the DMA's, the payload is next.
    Mine {
        buffer: u32,
        length: usize,
    },
    /// The payload is there, the descriptor is to be given back.
    Close {
        length: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Word(Side, usize, usize),
    /// Half of a buffer.
    Half(Side, usize, usize),
}

struct Store {
    epoch: u64,
    place: Place,
    word: u32,
    bytes: Vec<u8>,
}

pub(crate) struct Ring {
    pub(crate) words: Vec<[u32; 4]>,
    pub(crate) buffers: Vec<Vec<u8>>,
    /// What the core may still read of a buffer that the DMA has written since the core's last barrier.
    stale: Vec<Option<Vec<u8>>>,
    pub(crate) state: State,
    pub(crate) current: usize,
    tail: u32,
    length: usize,
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
    /// A tail that is written to a process while it suspends may go by unseen.
    pub(crate) deaf: bool,
    pub(crate) rx: Ring,
    pub(crate) tx: Ring,
    stores: Vec<Store>,
    epoch: u64,
    /// Frames on their way in, and those that found no buffer.
    pub(crate) wire: VecDeque<Vec<u8>>,
    pub(crate) missed: Vec<Vec<u8>>,
    pub(crate) sent: Vec<Vec<u8>>,
    /// The transmitter's clock stands.
    pub(crate) jammed: bool,
    pub(crate) status: u32,
    enabled: u32,
    pub(crate) now: u64,
    pub(crate) accesses: u64,
    // The controller without its DMA.
    pub(crate) clocked: bool,
    resetting: Option<u64>,
    pub(crate) resets: Vec<u64>,
    pub(crate) maccr: u32,
    // The transceiver.
    pub(crate) phy: Option<u8>,
    pub(crate) phy_resets: u64,
    pub(crate) linked: bool,
    pub(crate) partner: u16,
    pub(crate) advertised: u16,
    smi_until: Option<u64>,
    pub(crate) smi_works: bool,
    smi_data: u32,
    pub(crate) transfers: u64,
    phy_reset_until: u64,
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

    fn ring(&mut self, side: Side) -> &mut Ring {
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

    /// Which buffer an address is of.
    fn buffer_at(&self, side: Side, address: u32) -> Option<usize> {
        let count = if side == Side::Rx { self.rx.buffers.len() } else { self.tx.buffers.len() };
        (0..count).find(|index| Self::buffer(side, *index) == address)
    }

    /// One store of the core arrives: the oldest to its place, of those that no barrier keeps behind others.
    fn drain_one(&mut self) -> bool {
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

    /// What is before the last barrier arrives; with `all`, everything.
    fn drain(&mut self, all: bool) {
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

    /// A frame arrives. Where no buffer is the DMA's, it is lost, and counted.
    pub(crate) fn arrive_frame(&mut self, frame: Vec<u8>) {
        // The MAC's memory holds a few.
        while self.wire.len() >= 4 && self.step(Side::Rx) {}
        if self.wire.len() >= 4 { self.missed.push(frame) } else { self.wire.push_back(frame) }
    }

    /// One step of a process; `false` if it waits for something.
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
            // What the core has read at its last barrier it may go on reading until the next one.
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
            // Tags of a VLAN, in the place of the address.
            ring.words[index] = [0x0001_8100, 0, 0, r::FD | r::LD | length as u32];
            self.raise(r::RI);
        } else {
            ring.words[index][3] &= !r::OWN;
            if ring.words[index][2] & r::TX_IOC != 0 {
                self.raise(r::TI);
            }
        }
    }

    /// The bus refuses an access.
    pub(crate) fn fail(&mut self, side: Side) {
        self.ring(side).state = State::Stopped;
        self.raise(r::FBE);
    }

    /// Something may happen between two accesses of the core.
    fn turn(&mut self) {
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

    /// Everything that can happen without the core happens.
    pub(crate) fn settle(&mut self) {
        self.drain(true);
        loop {
            let moved = self.step(Side::Rx);
            if !self.step(Side::Tx) && !moved {
                return;
            }
        }
    }

    fn read(&mut self, register: usize) -> u32 {
        match register {
            r::DMACSR => self.status,
            r::DMACIER => self.enabled,
            r::DMAMR => {
                if self.resetting.is_some_and(|until| self.now >= until && self.clocked) {
                    self.resetting = None;
                }
                u32::from(self.resetting.is_some())
            }
            r::DMADSR => {
                let reception = match self.rx.state {
                    State::Stopped => r::STOPPED,
                    State::Suspended => r::SUSPENDED,
                    _ => 3,
                };
                let transmission = match self.tx.state {
                    State::Stopped => 0,
                    State::Suspended => r::TX_SUSPENDED,
                    _ => 3,
                };
                reception << r::DMADSR_RPS0 | transmission << r::DMADSR_TPS0
            }
            r::MACCR => self.maccr,
            r::MACMDIOAR => u32::from(self.smi_until.is_some_and(|until| self.now < until || !self.smi_works)),
            r::MACMDIODR => self.smi_data,
            _ => 0,
        }
    }

    fn write(&mut self, register: usize, value: u32) {
        // A register is written after what is before the last barrier, and does not wait for anything else.
        self.drain(false);
        match register {
            r::DMACSR => self.status &= !value,
            r::DMACIER => self.enabled = value,
            r::DMAMR => {
                self.reset();
                self.resetting = Some(self.now + 2_000);
                self.resets.push(self.now);
            }
            r::DMACRXDTPR => self.demand(Side::Rx, value),
            r::DMACTXDTPR => self.demand(Side::Tx, value),
            r::DMACRXRLR => self.rx.length = value as usize + 1,
            r::DMACTXRLR => self.tx.length = value as usize + 1,
            r::DMACRXCR if value & r::DMACRXCR_SR != 0 => {
                assert_eq!(self.rx.length, self.rx.words.len(), "length of the ring");
                self.rx.state = State::Fetch;
                self.dma_started = Some(self.now);
            }
            r::DMACTXCR if value & r::DMACTXCR_ST != 0 => {
                assert_eq!(self.tx.length, self.tx.words.len(), "length of the ring");
                self.tx.state = State::Fetch;
            }
            r::MACCR => self.maccr = value,
            r::MACMDIODR => self.smi_data = value,
            r::MACMDIOAR => self.transfer(value),
            _ => {}
        }
    }

    fn demand(&mut self, side: Side, tail: u32) {
        let unseen = self.deaf && self.choose.choose(4) == 1;
        let ring = self.ring(side);
        ring.tail = tail;
        if ring.state == State::Suspended && !unseen {
            ring.state = State::Fetch;
        }
    }

    fn reset(&mut self) {
        (self.status, self.enabled, self.maccr, self.smi_until) = (0, 0, 0, None);
        for side in [Side::Rx, Side::Tx] {
            let ring = self.ring(side);
            (ring.state, ring.current, ring.tail, ring.length) = (State::Stopped, 0, 0, 0);
        }
    }

    fn transfer(&mut self, command: u32) {
        assert!(self.resetting.is_none(), "a transfer while the controller is in reset");
        assert!(self.smi_until.is_none_or(|until| self.now >= until), "a transfer while another is under way");
        self.transfers += 1;
        self.smi_until = Some(self.now + 33);
        let (phy, register) = ((command >> 21 & 0x1f) as u8, command >> 16 & 0x1f);
        let answers = self.phy == Some(phy);
        if command >> 2 & 3 == 3 {
            self.smi_data = if answers { self.phy_read(register).into() } else { 0xffff };
        } else if answers {
            match (register, self.smi_data as u16) {
                (0, control) if control & 1 << 15 != 0 => {
                    self.phy_reset_until = self.now.saturating_add(self.phy_resets)
                }
                (4, abilities) => self.advertised = abilities,
                _ => {}
            }
        }
    }

    fn phy_read(&self, register: u32) -> u16 {
        match register {
            0 => u16::from(self.now < self.phy_reset_until) << 15 | 0x1000,
            1 => 0x7809 | if self.linked { 1 << 5 | 1 << 2 } else { 0 },
            2 => 0x0007,
            3 => 0xc131,
            5 => self.partner,
            _ => 0,
        }
    }
}

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Woken(pub(crate) AtomicBool, pub(crate) AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// The controller as the driver has it, with an interrupt that comes between any two accesses.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) machine: Rc<RefCell<Machine>>,
    pub(crate) shared: &'static Shared,
    interrupting: Rc<RefCell<bool>>,
    pub(crate) wake_at: Rc<RefCell<Option<u64>>>,
}

impl Port {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine: Rc::new(RefCell::new(machine)),
            shared: Box::leak(Box::new(Shared::new())),
            interrupting: Rc::default(),
            wake_at: Rc::default(),
        }
    }

    pub(crate) fn turn(&self) {
        self.machine.borrow_mut().turn();
        self.interrupt();
    }

    pub(crate) fn interrupt(&self) {
        if *self.interrupting.borrow() || !self.machine.borrow().interrupts() {
            return;
        }
        *self.interrupting.borrow_mut() = true;
        self.shared.interrupt(self);
        *self.interrupting.borrow_mut() = false;
    }

    pub(crate) fn cells(&self, side: Side) -> ModelCells {
        ModelCells { port: self.clone(), side }
    }
}

impl Bus for Port {
    fn read(&self, register: usize) -> u32 {
        self.turn();
        self.machine.borrow_mut().read(register)
    }

    fn write(&self, register: usize, value: u32) {
        self.turn();
        self.machine.borrow_mut().write(register, value);
        self.turn();
    }

    fn order(&self) {
        self.turn();
        let mut machine = self.machine.borrow_mut();
        machine.epoch += 1;
        let Machine { rx, tx, .. } = &mut *machine;
        rx.stale.iter_mut().chain(&mut tx.stale).for_each(|stale| *stale = None);
    }

    fn complete(&self) {
        self.order();
        self.machine.borrow_mut().drain(true);
    }

    fn enable(&self) {
        self.machine.borrow_mut().reset();
    }

    fn now(&self) -> u64 {
        self.machine.borrow().now
    }

    fn wake_at(&self, at: u64, _: &Waker) {
        *self.wake_at.borrow_mut() = Some(at);
    }
}

/// The memory of one ring, as the core sees it.
pub(crate) struct ModelCells {
    port: Port,
    side: Side,
}

impl ModelCells {
    fn put(&self, place: Place, word: u32, bytes: Vec<u8>) {
        let mut machine = self.port.machine.borrow_mut();
        let epoch = machine.epoch;
        machine.stores.push(Store { epoch, place, word, bytes });
    }
}

impl Cells for ModelCells {
    fn len(&self) -> usize {
        self.port.machine.borrow_mut().ring(self.side).words.len()
    }

    fn descriptor(&self, index: usize) -> u32 {
        Machine::descriptor(self.side, index)
    }

    fn buffer(&self, index: usize) -> u32 {
        Machine::buffer(self.side, index)
    }

    fn load(&self, index: usize, word: usize) -> u32 {
        self.port.turn();
        let mut machine = self.port.machine.borrow_mut();
        let place = Place::Word(self.side, index, word);
        let own = machine.stores.iter().rev().find(|store| store.place == place).map(|store| store.word);
        own.unwrap_or_else(|| machine.ring(self.side).words[index][word])
    }

    fn store(&self, index: usize, word: usize, value: u32) {
        self.port.turn();
        self.put(Place::Word(self.side, index, word), value, Vec::new());
        self.port.turn();
    }

    fn with<R>(&mut self, index: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
        self.port.turn();
        let mut seen = {
            let mut machine = self.port.machine.borrow_mut();
            let early = machine.choose.choose(2) == 1;
            let ring = machine.ring(self.side);
            let stale = ring.stale[index].clone().filter(|_| early);
            let mut seen = stale.unwrap_or_else(|| ring.buffers[index].clone());
            for store in &machine.stores {
                if let Place::Half(side, at, half) = store.place
                    && (side, at) == (self.side, index)
                {
                    let from = half * BUFFER / 2;
                    seen[from..from + BUFFER / 2].copy_from_slice(&store.bytes);
                }
            }
            seen
        };
        let before = seen.clone();
        let result = f(&mut seen);
        for half in 0..2 {
            let range = half * BUFFER / 2..(half + 1) * BUFFER / 2;
            if before[range.clone()] != seen[range.clone()] {
                self.put(Place::Half(self.side, index, half), 0, seen[range].to_vec());
            }
        }
        self.port.turn();
        result
    }
}

/// A frame that is told from any other: its number, and bytes that follow from it, in both halves of a buffer.
pub(crate) fn frame(number: u32) -> Vec<u8> {
    let length = 60 + (number as usize * 389) % 1_455;
    let mut frame: Vec<u8> = (0..length).map(|at| (number as usize * 31 + at * 7) as u8).collect();
    frame[..4].copy_from_slice(&number.to_le_bytes());
    frame
}

/// The number of a frame, if it is one of those.
pub(crate) fn number(bytes: &[u8]) -> Option<u32> {
    let number = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    (frame(number) == bytes).then_some(number)
}
