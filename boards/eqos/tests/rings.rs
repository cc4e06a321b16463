//! Tests of both rings with the model of the DMA: every interleaving of short scenarios, random ones of long scenarios,
//! and the effect of the released HAL's order of writes and tail pointers in the same model.

mod model;

use std::cell::RefCell;
use std::rc::Rc;

use model::released::Rings as Released;
use model::{Choose, Every, Machine, ModelCells, Port, Seeded, Side, State, Tail, frame, number};
use outrigger_eqos::{Bus, ReceiveRing, TransmitRing, registers as r};

struct Rings {
    port: Port,
    tx: TransmitRing<ModelCells>,
    rx: ReceiveRing<ModelCells>,
}

impl Rings {
    fn start(choose: impl Choose + 'static, tail: Tail, tx: usize, rx: usize) -> Self {
        let mut machine = Machine::new(choose, tx, rx);
        machine.tail = tail;
        let port = Port::new(machine);
        let mut tx = TransmitRing::new(port.cells(Side::Tx));
        let mut rx = ReceiveRing::new(port.cells(Side::Rx));
        rx.start(&port);
        tx.start(&port);
        port.write(r::DMACTXCR, r::DMACTXCR_ST);
        port.write(r::DMACRXCR, r::DMACRXCR_SR);
        Self { port, tx, rx }
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let length = self.rx.look(&self.port)?;
        Some(self.rx.take(&self.port, length, |bytes| bytes.to_vec()))
    }

    fn send(&mut self, number: u32) -> bool {
        let bytes = frame(number);
        let room = self.tx.has_room(&self.port);
        if room {
            self.tx.send(&self.port, bytes.len(), |buffer| buffer.copy_from_slice(&bytes));
        }
        room
    }

    fn machine<V>(&self, f: impl FnOnce(&mut Machine) -> V) -> V {
        f(&mut self.port.machine.borrow_mut())
    }

    /// Runs the model until nothing is waiting, and returns the frames received meanwhile.
    fn settle(&mut self) -> Vec<Vec<u8>> {
        let mut received = Vec::new();
        loop {
            self.machine(Machine::settle);
            match self.receive() {
                Some(bytes) => received.push(bytes),
                None => return received,
            }
        }
    }
}

fn numbers(frames: &[Vec<u8>]) -> Vec<Option<u32>> {
    frames.iter().map(|bytes| number(bytes)).collect()
}

fn of(range: std::ops::Range<u32>) -> Vec<Option<u32>> {
    range.map(Some).collect()
}

/// Runs the test's function `story` once for every sequence of decisions with at most `interventions` events of the
/// model; returns the number of runs.
fn every(interventions: usize, mut story: impl FnMut(Every)) -> u64 {
    let all = Every::new(interventions);
    let mut runs = 0;
    loop {
        story(all.clone());
        runs += 1;
        if !all.next() {
            return runs;
        }
    }
}

/// Makes the decisions "no event" until it is armed, and those of the enumeration afterwards.
struct Late(Every, Rc<RefCell<bool>>);

impl Choose for Late {
    fn choose(&mut self, of: usize) -> usize {
        if *self.1.borrow() { self.0.choose(of) } else { 0 }
    }
}

/// Returns rings of `n` descriptors for sending and receiving. The order of events is enumerated while the returned
/// flag is `true`.
fn late(every: Every, tail: Tail, n: usize) -> (Rings, Rc<RefCell<bool>>) {
    let armed = Rc::new(RefCell::new(false));
    (Rings::start(Late(every, armed.clone()), tail, n, n), armed)
}

#[test]
fn in_every_interleaving_a_full_ring_is_given_back_whole_and_goes_on() {
    for (tail, steps) in (0..6).flat_map(|steps| [(Tail::Strict, steps), (Tail::Ignored, steps)]) {
        let runs = every(2, |choices| {
            let (mut rings, armed) = late(choices, tail, 3);
            for at in 0..6 {
                rings.machine(|machine| machine.arrive_frame(frame(at)));
            }
            rings.machine(Machine::settle);
            // The ring is full and the DMA suspended. The first return makes it look again, at the descriptor that is
            // returned next.
            let mut received: Vec<_> = rings.receive().into_iter().collect();
            for _ in 0..steps {
                rings.machine(|machine| machine.step(Side::Rx));
            }
            *armed.borrow_mut() = true;
            received.extend(rings.receive());
            *armed.borrow_mut() = false;
            received.extend(rings.settle());
            for at in 6..10 {
                rings.machine(|machine| machine.arrive_frame(frame(at)));
                received.extend(rings.settle());
            }
            assert_eq!(numbers(&received), of(0..10), "{tail:?} after {steps} steps");
            assert_ne!(rings.machine(|machine| machine.rx.state), State::Stopped);
        });
        assert!(runs > 1_000, "{runs}");
    }
}

#[test]
fn in_every_interleaving_frames_are_sent_whole_and_in_order() {
    for tail in [Tail::Strict, Tail::Ignored] {
        let runs = every(3, |choices| {
            let (mut rings, armed) = late(choices, tail, 3);
            // Once around the ring, so that buffers and descriptors have old content.
            for at in 0..3 {
                assert!(rings.send(at));
                rings.machine(Machine::settle);
            }
            *armed.borrow_mut() = true;
            assert!(rings.send(3));
            *armed.borrow_mut() = false;
            assert!(rings.send(4));
            rings.machine(Machine::settle);
            assert!(rings.send(5));
            rings.settle();
            assert_eq!(rings.machine(|machine| numbers(&machine.sent)), of(0..6), "{tail:?}");
        });
        assert!(runs > 20_000, "{runs}");
    }
}

#[test]
fn a_full_ring_of_transmission_refuses_and_goes_on_when_the_wire_does() {
    for n in 2..6 {
        let mut rings = Rings::start(Seeded(7), Tail::Strict, n, 2);
        rings.machine(|machine| machine.jammed = true);
        let taken = (0..9).take_while(|at| rings.send(*at)).count();
        assert_eq!(taken, n - 1, "one stays empty");
        rings.machine(|machine| machine.jammed = false);
        rings.machine(Machine::settle);
        assert!(rings.send(taken as u32), "there is room again");
        rings.settle();
        assert_eq!(rings.machine(|machine| numbers(&machine.sent)), of(0..taken as u32 + 1));
    }
}

/// Runs long scenarios from a seed, with floods and pauses, and counts received, sent and lost frames.
#[test]
fn by_seed_nothing_is_lost_while_there_are_buffers_and_what_comes_is_what_went() {
    let (mut lost, mut passed) = (0, 0);
    for seed in 0..3_000 {
        let mut dice = Seeded(seed ^ 0x5eed);
        let tail = if seed % 3 == 0 { Tail::Ignored } else { Tail::Strict };
        let (tx, rx) = (2 + dice.choose(4), 2 + dice.choose(4));
        let mut rings = Rings::start(Seeded(seed), tail, tx, rx);
        let (mut came, mut went, mut received) = (0, 0, Vec::new());
        for _ in 0..60 {
            match dice.choose(4) {
                0 => {
                    for _ in 0..=dice.choose(if seed % 7 == 0 { 12 } else { 2 }) {
                        let before = rings.machine(|machine| machine.missed.len());
                        rings.machine(|machine| machine.arrive_frame(frame(came)));
                        came += 1;
                        // A frame is lost only if every descriptor that the DMA may own is filled.
                        let (missed, words) = rings.machine(|machine| (machine.missed.len(), machine.rx.words.clone()));
                        if missed > before {
                            let filled = words.iter().filter(|words| words[3] & r::OWN == 0).count();
                            assert!(filled >= rx - 1, "seed {seed}: a frame was lost beside free buffers: {words:?}");
                        }
                    }
                }
                1 => went += u32::from(rings.send(went)),
                2 => received.extend(rings.receive()),
                _ => rings.port.turn(),
            }
        }
        received.extend(rings.settle());
        let missed = rings.machine(|machine| numbers(&machine.missed));
        let expected: Vec<_> = of(0..came).into_iter().filter(|number| !missed.contains(number)).collect();
        assert_eq!(numbers(&received), expected, "seed {seed}");
        assert_eq!(rings.machine(|machine| numbers(&machine.sent)), of(0..went), "seed {seed}");
        lost += missed.len();
        passed += received.len();
        // The ring is not stuck: one more frame passes.
        rings.machine(|machine| machine.arrive_frame(frame(came)));
        assert_eq!(numbers(&rings.settle()), [Some(came)], "seed {seed}");
    }
    assert!(lost > 100 && passed > 50_000, "{lost} lost in floods, {passed} passed");
}

#[test]
fn a_frame_that_is_damaged_or_in_pieces_is_counted_and_its_place_given_back() {
    let mut rings = Rings::start(Seeded(1), Tail::Strict, 2, 4);
    for (at, status) in [
        (0, r::FD | r::LD | r::ES | 60),
        (1, r::FD | 1_536),
        (2, r::LD | 1_600),
        (3, r::CTXT | r::FD | r::LD),
        (0, r::FD | r::LD | 1_537),
        (1, r::FD | r::LD),
    ] {
        rings.machine(|machine| {
            machine.arrive_frame(frame(9));
            machine.settle();
            assert_eq!(machine.rx.words[at][3] & r::OWN, 0);
            machine.rx.words[at][3] = status;
        });
        assert_eq!(rings.receive(), None);
    }
    assert_eq!(rings.rx.bad(), 4, "the first piece and what is no frame are not counted");
    rings.machine(|machine| machine.arrive_frame(frame(3)));
    assert_eq!(numbers(&rings.settle()), [Some(3)]);
}

/// The results of a scenario with the released HAL's rings.
#[derive(Default, Debug)]
struct Released0_6 {
    runs: u64,
    /// The number of runs in which the DMA took VLAN tags for an address, the bus rejected it, and reception stopped
    /// permanently.
    wedged: u64,
    /// The number of runs with bytes that were sent but never written by the core, or received but never on the wire.
    corrupt: u64,
}

fn released(seed: u64, outcome: &mut Released0_6) {
    let mut dice = Seeded(seed ^ 0x5eed);
    let mut machine = Machine::new(Seeded(seed), 3, 3);
    machine.tail = Tail::Strict;
    let port = Port::new(machine);
    let mut rings = Released::start(&port, port.cells(Side::Tx), port.cells(Side::Rx));
    let (mut came, mut went) = (0, 0);
    let mut corrupt = false;
    for _ in 0..60 {
        match dice.choose(4) {
            0 => {
                for _ in 0..=dice.choose(6) {
                    port.machine.borrow_mut().arrive_frame(frame(came));
                    came += 1;
                }
            }
            1 if rings.has_room() => {
                rings.send(&port, &frame(went));
                went += 1;
            }
            2 => {
                let bytes = rings.receive(&port, |bytes| bytes.to_vec());
                corrupt |= bytes.is_some_and(|bytes| number(&bytes).is_none());
            }
            _ => port.turn(),
        }
    }
    let mut machine = port.machine.borrow_mut();
    machine.settle();
    let sent = numbers(&machine.sent);
    corrupt |= machine.status & r::FBE == 0 && sent != of(0..went);
    corrupt |= sent.iter().any(Option::is_none);
    outcome.runs += 1;
    outcome.wedged += u64::from(machine.status & r::FBE != 0 && machine.rx.state == State::Stopped);
    outcome.corrupt += u64::from(corrupt);
}

/// Checks that the model shows both known faults of embassy-stm32 0.6.0, with its order of writes and its tail
/// pointers: reception that stops permanently, and frames with bytes that were never written.
#[test]
fn the_released_hal_wedges_and_sends_what_was_not_written_yet_in_this_model() {
    let mut outcome = Released0_6::default();
    for seed in 0..3_000 {
        released(seed, &mut outcome);
    }
    println!("{outcome:?}");
    assert!(outcome.wedged > 100, "{outcome:?}");
    assert!(outcome.corrupt > 100, "{outcome:?}");
}

/// Checks in the smallest scenario that a tail pointer outside of the ring stops the DMA, although all barriers are
/// there.
#[test]
fn a_tail_outside_of_the_ring_wedges_it_even_with_every_barrier() {
    /// This driver's bus, except that the tail is an address of the stack.
    struct Elsewhere(Port);
    impl Bus for Elsewhere {
        fn read(&self, register: usize) -> u32 {
            self.0.read(register)
        }
        fn write(&self, register: usize, value: u32) {
            let tail = matches!(register, r::DMACRXDTPR | r::DMACTXDTPR);
            self.0.write(register, if tail { 0x2407_f000 } else { value });
        }
        fn order(&self) {
            self.0.order();
        }
        fn complete(&self) {
            self.0.complete();
        }
        fn enable(&self) {}
        fn now(&self) -> u64 {
            0
        }
        fn wake_at(&self, _: u64, _: &std::task::Waker) {}
    }
    let mut wedged = 0;
    let runs = every(3, |choices| {
        let armed = Rc::new(RefCell::new(false));
        let port = Port::new(Machine::new(Late(choices, armed.clone()), 3, 3));
        let bus = Elsewhere(port.clone());
        let mut rx = ReceiveRing::new(port.cells(Side::Rx));
        rx.start(&bus);
        port.write(r::DMACRXCR, r::DMACRXCR_SR);
        for at in 0..6 {
            port.machine.borrow_mut().arrive_frame(frame(at));
        }
        port.machine.borrow_mut().settle();
        let mut take = |armed_now: bool| {
            *armed.borrow_mut() = armed_now;
            let length = rx.look(&bus);
            length.map(|length| rx.take(&bus, length, |bytes| bytes.len()));
            *armed.borrow_mut() = false;
        };
        // The first return makes the DMA look again; it reads the second descriptor while that is being returned.
        take(false);
        for _ in 0..4 {
            assert!(port.machine.borrow_mut().step(Side::Rx));
        }
        take(true);
        let mut machine = port.machine.borrow_mut();
        machine.settle();
        wedged += u64::from(machine.status & r::FBE != 0);
    });
    assert!(wedged > 0, "{wedged} of {runs}");
}

#[test]
fn own_before_what_it_stands_for_sends_old_bytes_even_with_good_tails() {
    /// This driver's bus, without the barriers before OWN.
    struct Unordered(Port);
    impl Bus for Unordered {
        fn read(&self, register: usize) -> u32 {
            self.0.read(register)
        }
        fn write(&self, register: usize, value: u32) {
            self.0.write(register, value);
        }
        fn order(&self) {}
        fn complete(&self) {
            self.0.complete();
        }
        fn enable(&self) {}
        fn now(&self) -> u64 {
            0
        }
        fn wake_at(&self, _: u64, _: &std::task::Waker) {}
    }
    let mut corrupt = 0;
    for seed in 0..2_000 {
        let mut machine = Machine::new(Seeded(seed), 3, 2);
        // If the tail does not hold it back, the DMA reads the descriptor that is being written.
        machine.tail = Tail::Ignored;
        let port = Port::new(machine);
        let bus = Unordered(port.clone());
        let mut tx = TransmitRing::new(port.cells(Side::Tx));
        tx.start(&bus);
        port.write(r::DMACTXCR, r::DMACTXCR_ST);
        let mut went = 0;
        // A stop of the DMA also ends the scenario.
        for _ in 0..400 {
            if went < 12 && tx.has_room(&bus) {
                let bytes = frame(went);
                tx.send(&bus, bytes.len(), |buffer| buffer.copy_from_slice(&bytes));
                went += 1;
            }
            port.turn();
        }
        let mut machine = port.machine.borrow_mut();
        machine.settle();
        corrupt += u64::from(numbers(&machine.sent) != of(0..12));
    }
    assert!(corrupt > 10, "{corrupt} of 2000");
}
