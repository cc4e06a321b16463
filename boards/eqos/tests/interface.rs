//! Tests of the whole interface with the model, polled as `embassy-net` does: start, link, floods, faults and recovery.

mod model;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use embassy_net_driver::{Driver, LinkState, RxToken, TxToken};
use model::{Choose, Machine, ModelCells, Port, Seeded, Side, State, Tail, Woken, frame, number};
use outrigger_eqos::registers as r;
use outrigger_eqos::{Cause, Fault, Interface, LinkMode, News};

const FAST: LinkMode = LinkMode { fast: true, full_duplex: true };
/// The number of received frames that the driver hands over at most before other tasks get their turn.
const BURST: usize = 8;

struct Rig {
    port: Port,
    interface: Interface<'static, Port, ModelCells, ModelCells>,
    woken: Arc<Woken>,
    waker: Waker,
    received: Vec<Vec<u8>>,
    /// The frames that the test's stack has to send.
    to_send: Vec<Vec<u8>>,
    /// The number of frames that the test's stack has sent.
    sent: u32,
    /// The greatest number of register accesses in one call of the driver.
    dearest: Cell<u64>,
    up: bool,
}

impl Rig {
    fn new(choose: impl Choose + 'static, tx: usize, rx: usize, change: impl FnOnce(&mut Machine)) -> Self {
        let mut machine = Machine::new(choose, tx, rx);
        change(&mut machine);
        let port = Port::new(machine);
        let address = [2, 0, 0, 0, 0, 7];
        let (tx, rx) = (port.cells(Side::Tx), port.cells(Side::Rx));
        let interface = Interface::new(port.clone(), port.shared, address, 200, tx, rx);
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        Self {
            port,
            interface,
            woken,
            waker,
            received: vec![],
            to_send: vec![],
            sent: 0,
            dearest: Cell::new(0),
            up: false,
        }
    }

    fn machine<V>(&self, f: impl FnOnce(&mut Machine) -> V) -> V {
        f(&mut self.port.machine.borrow_mut())
    }

    fn counted<V>(&mut self, f: impl FnOnce(&mut Self) -> V) -> V {
        let before = self.machine(|machine| machine.accesses);
        let value = f(self);
        let accesses = self.machine(|machine| machine.accesses) - before;
        self.dearest.set(self.dearest.get().max(accesses));
        value
    }

    /// Polls the interface once as the network's task does: takes received frames, sends waiting ones, reads the
    /// link. Returns the number of received frames.
    fn poll(&mut self) -> usize {
        self.woken.0.store(false, Ordering::Relaxed);
        let waker = self.waker.clone();
        let mut taken = 0;
        loop {
            let got = self.counted(|rig| {
                let (receive, _) = rig.interface.receive(&mut Context::from_waker(&waker))?;
                Some(receive.consume(|bytes| bytes.to_vec()))
            });
            let Some(bytes) = got else { break };
            self.received.push(bytes);
            taken += 1;
        }
        while !self.to_send.is_empty() {
            let bytes = self.to_send[0].clone();
            let sent = self.counted(|rig| {
                let token = rig.interface.transmit(&mut Context::from_waker(&waker));
                token.map(|token| token.consume(bytes.len(), |buffer| buffer.copy_from_slice(&bytes)))
            });
            if sent.is_none() {
                break;
            }
            self.to_send.remove(0);
            self.sent += 1;
        }
        self.up = self.counted(|rig| rig.interface.link_state(&mut Context::from_waker(&waker)) == LinkState::Up);
        taken
    }

    /// Runs the interface for a time \[µs\], and polls when the task is woken or due. Returns the greatest number of
    /// frames in one poll.
    fn run(&mut self, time: u64) -> usize {
        let end = self.port.machine.borrow().now + time;
        let mut most = 0;
        loop {
            most = most.max(self.poll());
            self.port.turn();
            self.machine(Machine::settle);
            self.port.interrupt();
            if self.woken.0.load(Ordering::Relaxed) {
                continue;
            }
            let wanted = self.port.wake_at.borrow().expect("link_state says when");
            let now = self.machine(|machine| machine.now);
            if wanted >= end {
                self.machine(|machine| machine.now = end);
                return most;
            }
            self.machine(|machine| machine.now = wanted.max(now));
        }
    }

    fn news(&self) -> Vec<News> {
        std::iter::from_fn(|| self.port.shared.news()).collect()
    }

    fn bring_up(&mut self) {
        self.run(1_000_000);
        assert!(self.up);
        self.news();
    }
}

fn numbers(frames: &[Vec<u8>]) -> Vec<Option<u32>> {
    frames.iter().map(|bytes| number(bytes)).collect()
}

fn of(range: std::ops::Range<u32>) -> Vec<Option<u32>> {
    range.map(Some).collect()
}

#[test]
fn it_starts_finds_the_transceiver_at_any_address_and_negotiates() {
    for address in 0..32 {
        let mut rig = Rig::new(Seeded(address.into()), 4, 4, |machine| machine.phy = Some(address));
        rig.run(1_000_000);
        assert!(rig.up);
        let identifier = 0x0007_c131;
        assert_eq!(rig.news(), [News::Started { phy: address, identifier }, News::Link(Some(FAST))]);
        rig.machine(|machine| {
            assert_eq!(machine.advertised, 0x01e1);
            assert_eq!(machine.resets.len(), 1);
            assert!(machine.dma_started.is_some_and(|at| at >= 100_000), "after the transceiver's reset");
        });
    }
}

#[test]
fn the_mac_is_set_to_what_was_negotiated() {
    for (partner, fast, full_duplex) in [
        (0x0101, true, true),
        (0x0081, true, false),
        (0x0041, false, true),
        (0x0021, false, false),
        (0x01e1, true, true),
    ] {
        let mut rig = Rig::new(Seeded(1), 4, 4, |machine| machine.partner = partner);
        rig.run(1_000_000);
        assert_eq!(rig.news()[1], News::Link(Some(LinkMode { fast, full_duplex })));
        let mode = rig.machine(|machine| machine.maccr);
        assert_eq!(mode & r::MACCR_FES != 0, fast, "{partner:#x}");
        assert_eq!(mode & r::MACCR_DM != 0, full_duplex, "{partner:#x}");
        assert_eq!(mode & (r::MACCR_RE | r::MACCR_TE), r::MACCR_RE | r::MACCR_TE);
    }
}

#[test]
fn what_is_missing_at_the_start_is_named_tried_again_and_hangs_nothing() {
    type Change = fn(&mut Machine);
    let missing: [(Change, Change, Fault); 4] = [
        (|machine| machine.clocked = false, |machine| machine.clocked = true, Fault::NoReferenceClock),
        (|machine| machine.phy = None, |machine| machine.phy = Some(3), Fault::NoPhy),
        (|machine| machine.smi_works = false, |machine| machine.smi_works = true, Fault::TransferStuck),
        (|machine| machine.phy_resets = u64::MAX, |machine| machine.phy_resets = 1, Fault::PhyResetStuck(0)),
    ];
    for (seed, (cause, cure, fault)) in missing.into_iter().enumerate() {
        let mut rig = Rig::new(Seeded(seed as u64), 4, 4, cause);
        rig.run(10_000_000);
        assert!(!rig.up);
        let news = rig.news();
        assert_eq!(news[..2], [News::Failed(fault, 1), News::Failed(fault, 2)]);
        let resets = rig.machine(|machine| std::mem::take(&mut machine.resets));
        assert!((5..=10).contains(&resets.len()), "{fault:?}: {resets:?}");
        assert!(resets.windows(2).all(|two| two[1] - two[0] >= 1_000_000), "{resets:?}");
        rig.machine(cure);
        rig.run(3_000_000);
        assert!(rig.up, "{fault:?}");
    }
}

#[test]
fn a_link_is_lost_and_comes_back_and_is_asked_for_ten_times_a_second() {
    let mut rig = Rig::new(Seeded(5), 4, 4, |_| {});
    rig.bring_up();
    for _ in 0..3 {
        rig.machine(|machine| machine.linked = false);
        rig.run(300_000);
        assert_eq!((rig.up, rig.news()), (false, vec![News::Link(None)]));
        rig.machine(|machine| machine.linked = true);
        rig.run(300_000);
        assert_eq!((rig.up, rig.news()), (true, vec![News::Link(Some(FAST))]));
    }
    rig.machine(|machine| machine.arrive_frame(frame(1)));
    rig.run(1_000);
    assert_eq!(numbers(&rig.received), [Some(1)]);
    assert_eq!(rig.machine(|machine| machine.resets.len()), 1, "no restart for that");
}

#[test]
fn polls_between_two_looks_at_the_link_do_not_touch_the_transceiver() {
    let mut rig = Rig::new(Seeded(5), 4, 4, |_| {});
    rig.bring_up();
    let before = rig.machine(|machine| (machine.now, machine.transfers));
    for at in 0..10_000 {
        rig.machine(|machine| machine.now += 100);
        if at % 10 == 0 {
            rig.machine(|machine| machine.arrive_frame(frame(at)));
        }
        rig.poll();
    }
    let after = rig.machine(|machine| (machine.now, machine.transfers));
    assert_eq!(after.0 - before.0, 1_000_000);
    // Status and partner, each ten times.
    assert!((after.1 - before.1) <= 22, "{} transfers in a second of 10 000 polls", after.1 - before.1);
}

#[test]
fn a_flood_leaves_others_their_turn_and_costs_a_bounded_number_of_accesses() {
    let mut rig = Rig::new(Seeded(11), 8, 16, |_| {});
    rig.bring_up();
    rig.dearest.set(0);
    let mut came = 0;
    for _ in 0..500 {
        // As many frames as fit: near line rate there is always a frame.
        for _ in 0..20 {
            rig.machine(|machine| machine.arrive_frame(frame(came)));
            came += 1;
        }
        let taken = rig.poll();
        assert!(taken <= BURST, "{taken} frames in one poll");
        if taken == BURST {
            assert!(rig.woken.0.load(Ordering::Relaxed), "it comes back by itself");
        }
    }
    assert!(rig.received.len() > 3_000, "{}", rig.received.len());
    assert!(rig.dearest.get() < 200, "{} accesses in one call", rig.dearest.get());
    rig.run(200_000);
    let missed = rig.machine(|machine| numbers(&machine.missed));
    let expected: Vec<_> = of(0..came).into_iter().filter(|number| !missed.contains(number)).collect();
    assert_eq!(numbers(&rig.received), expected);
    assert!(rig.port.shared.counters().starved > 0);
}

#[test]
fn during_a_flood_the_interrupt_is_quiet() {
    let mut rig = Rig::new(Seeded(12), 8, 16, |_| {});
    rig.bring_up();
    let before = rig.woken.1.load(Ordering::Relaxed);
    for at in 0..1_000 {
        rig.machine(|machine| {
            machine.arrive_frame(frame(at));
            machine.settle();
        });
        rig.port.interrupt();
    }
    let woken = rig.woken.1.load(Ordering::Relaxed) - before;
    assert!(woken <= 2, "{woken} interrupts for 1000 frames that nobody has taken yet");
    rig.run(200_000);
    assert_eq!(rig.received.len(), 15 + 4, "what found a buffer, and the MAC's memory");
}

#[test]
fn after_a_bus_error_it_starts_anew_within_a_second_and_no_more_often() {
    let mut rig = Rig::new(Seeded(3), 4, 4, |_| {});
    rig.bring_up();
    for round in 0..6 {
        let side = if round % 2 == 0 { Side::Rx } else { Side::Tx };
        rig.machine(|machine| machine.fail(side));
        rig.port.interrupt();
        rig.run(2_000_000);
        assert!(rig.up);
        let news = rig.news();
        assert_eq!(news[0], News::Restarted(Cause::BusError));
        assert!(matches!(news[1..], [News::Started { phy: 0, .. }, News::Link(Some(FAST))]), "{news:?}");
        rig.machine(|machine| machine.arrive_frame(frame(round)));
        rig.to_send.push(frame(round));
        rig.run(1_000);
    }
    assert_eq!(numbers(&rig.received), of(0..6));
    assert_eq!(rig.machine(|machine| numbers(&machine.sent)), of(0..6));
    let counters = rig.port.shared.counters();
    assert_eq!((counters.restarts, counters.bus_errors, counters.timeouts, counters.link_losses), (6, 6, 0, 0));
    // A bus that never works again: still at most one start per second.
    rig.machine(|machine| machine.resets.clear());
    for _ in 0..1_000 {
        rig.machine(|machine| {
            if machine.rx.state != State::Stopped {
                machine.fail(Side::Rx);
            }
        });
        rig.port.interrupt();
        rig.run(10_000);
    }
    let resets = rig.machine(|machine| machine.resets.clone());
    assert!((8..=11).contains(&resets.len()), "{resets:?}");
    assert!(resets.windows(2).all(|two| two[1] - two[0] >= 1_000_000), "{resets:?}");
}

#[test]
fn who_asks_gets_a_restart_and_one_for_many_words() {
    let mut rig = Rig::new(Seeded(4), 4, 4, |_| {});
    rig.bring_up();
    (0..5).for_each(|_| rig.port.shared.restart());
    rig.run(3_000_000);
    let news = rig.news();
    assert!(matches!(news[..], [News::Restarted(Cause::Asked), News::Started { .. }, News::Link(Some(_))]), "{news:?}");
    assert_eq!(rig.machine(|machine| machine.resets.len()), 2);
}

#[test]
fn transmission_that_stands_for_two_seconds_with_a_link_is_started_anew() {
    let mut rig = Rig::new(Seeded(6), 4, 4, |_| {});
    rig.bring_up();
    rig.machine(|machine| machine.jammed = true);
    rig.to_send.extend((0..5).map(frame));
    rig.run(1_900_000);
    assert_eq!(rig.news(), [], "not yet");
    rig.run(400_000);
    assert_eq!(rig.news()[..1], [News::Restarted(Cause::TransmissionStuck)]);
    rig.machine(|machine| machine.jammed = false);
    rig.run(2_000_000);
    // Three frames were lost with the restart, and are counted.
    assert_eq!(rig.machine(|machine| numbers(&machine.sent)), of(3..5));
    assert_eq!(rig.port.shared.counters().unsent, 3);
}

/// Mixes arrivals, floods, sending, pauses, missed tail writes and lost links at random from seeds.
#[test]
fn by_seed_what_comes_is_passed_on_once_whole_and_in_order() {
    let (mut passed, mut lost, mut asleep) = (0, 0, 0);
    for seed in 0..600 {
        let mut dice = Seeded(seed ^ 0xd1ce);
        let (tx, rx) = (2 + dice.choose(7), 2 + dice.choose(15));
        let mut rig = Rig::new(Seeded(seed), tx, rx, |machine| {
            machine.tail = if seed % 3 == 0 { Tail::Ignored } else { Tail::Strict };
            machine.deaf = seed % 2 == 0;
        });
        rig.bring_up();
        rig.dearest.set(0);
        let (mut came, mut went) = (0, 0);
        for _ in 0..40 {
            match dice.choose(8) {
                0..3 => {
                    for _ in 0..=dice.choose(if seed % 5 == 0 { 40 } else { 3 }) {
                        rig.machine(|machine| machine.arrive_frame(frame(came)));
                        came += 1;
                    }
                }
                3 | 4 => {
                    rig.to_send.push(frame(went));
                    went += 1;
                }
                5 => drop(rig.poll()),
                6 => rig.machine(|machine| machine.linked = !machine.linked),
                _ => drop(rig.run(dice.choose(150_000) as u64)),
            }
        }
        rig.run(1_000_000);
        let missed = rig.machine(|machine| numbers(&machine.missed));
        let expected: Vec<_> = of(0..came).into_iter().filter(|number| !missed.contains(number)).collect();
        assert_eq!(numbers(&rig.received), expected, "seed {seed}");
        assert_eq!(rig.machine(|machine| numbers(&machine.sent)), of(0..went), "seed {seed}");
        assert_eq!(rig.machine(|machine| machine.resets.len()), 1, "seed {seed}: {:?}", rig.news());
        assert!(rig.dearest.get() < 250, "seed {seed}: {} accesses in one call", rig.dearest.get());
        passed += rig.received.len();
        lost += missed.len();
        asleep += rig.port.shared.counters().asleep;
    }
    assert!(passed > 20_000 && lost > 100 && asleep > 0, "{passed} passed, {lost} lost, {asleep} asleep");
}

#[test]
fn the_stack_is_told_of_no_burst_for_it_would_announce_a_window_of_that_many_packets() {
    let rig = Rig::new(Seeded(1), 8, 16, |_| {});
    assert_eq!(rig.interface.capabilities().max_burst_size, None);
}
