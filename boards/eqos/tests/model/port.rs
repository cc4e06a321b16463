//! The model as the driver's bus and memory.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Wake, Waker};

use outrigger_eqos::{BUFFER, Bus, Cells, Shared};

use super::machine::{Machine, Place, Side, Store};

/// A waker that counts how often it was woken.
#[derive(Default)]
pub(crate) struct Woken(pub(crate) AtomicBool, pub(crate) AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// The controller as the driver's bus, with an interrupt that may occur between any two accesses.
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
