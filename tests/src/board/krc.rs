//! A board beside a simulated KRC: a run from one event to the next.

use outrigger_core::engine::krc::KrcEvent;
use std::cell::{Ref, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use embassy_net::StackResources;
use outrigger_core::engine::Event;
use outrigger_core::engine::krc::{KrcConfig, KrcCounts, KrcEngine};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::Instant;
use outrigger_embassy::{Handle, Observer, Shared, krc};
use outrigger_emulated::krc::{Answers, KrcPeer};
use outrigger_emulated::wire::{Conditions, Wire};
use outrigger_sim::krc::{Krc, Options};
use outrigger_sim::time::SimTime;

use super::cable::{Cable, address};
use super::clock;
use super::segment::datagram;
use super::task::{BUSY, Task, leak, run_all};

/// Bytes of frames that the emulated board's interface holds.
const INTERFACE: usize = 10_560;
/// Anything a test waits for without saying how long happens within this.
const PATIENCE: Duration = Duration::from_secs(30);

/// A datagram that reached the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// When.
    pub at: SimTime,
    /// Who sent it.
    pub from: SocketAddr,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// A board with its KRC.
pub struct KrcRig {
    peer: KrcPeer,
    /// The wire from the board.
    pub up: Wire,
    /// The wire to it.
    pub down: Wire,
    cable: Cable,
    tasks: Vec<Task>,
    handle: Handle<'static>,
    now: SimTime,
    seen: Rc<RefCell<Seen>>,
    events: Vec<(SimTime, Event<KrcEvent>)>,
    arrived: Vec<Arrived>,
    sent: Vec<(SocketAddr, Vec<u8>)>,
}

/// What the board's observer has seen.
#[derive(Debug)]
struct Seen {
    events: Vec<Event<KrcEvent>>,
    mode: Mode,
    latch: Option<Reason>,
    unmet: ReasonSet,
    counts: KrcCounts,
}

struct Watch(Rc<RefCell<Seen>>);

impl<L: Law<7>> Observer<7, outrigger_core::engine::krc::Krc, L> for Watch {
    fn event(&mut self, event: Event<KrcEvent>) {
        self.0.borrow_mut().events.push(event);
    }

    fn observe(&mut self, engine: &mut KrcEngine<'_, L>, now: Instant) {
        let seen = &mut *self.0.borrow_mut();
        (seen.mode, seen.latch, seen.unmet) = (engine.mode(), engine.latch(), engine.unmet(now));
        seen.counts = engine.peer().counts();
    }
}

impl KrcRig {
    /// At time zero, with the recommended buffers, and wires under `conditions` that are decided by the KRC's seed.
    ///
    /// # Panics
    /// Where options or configuration cannot be.
    #[must_use]
    pub fn new<L: Law<7> + 'static>(options: Options, config: KrcConfig, law: L, conditions: Conditions) -> Self {
        clock::begin();
        let seed = options.seed;
        let cable = Cable::new(INTERFACE);
        let resources = leak(StackResources::<1>::new());
        let (stack, mut stack_runner) = embassy_net::new(cable.clone(), address(), resources, seed);
        let (buffers, shared) = (leak(krc::Buffers::new()), leak(Shared::new()));
        let engine = leak(KrcEngine::new(config, law, ()).expect("a possible session"));
        let (handle, mut runner) = krc::new(stack, engine, buffers, shared);
        let seen = Rc::new(RefCell::new(Seen {
            events: vec![],
            mode: Mode::Offline,
            latch: None,
            unmet: ReasonSet::default(),
            counts: KrcCounts::default(),
        }));
        let mut watch = Watch(Rc::clone(&seen));
        let tasks = vec![
            Task::new(async move { stack_runner.run().await }),
            Task::new(async move { runner.run(&mut watch).await }),
        ];
        Self {
            peer: KrcPeer::new(Krc::new(options).expect("a possible KRC")),
            up: Wire::under(seed, conditions),
            down: Wire::under(seed.wrapping_add(1), conditions),
            cable,
            tasks,
            handle,
            now: SimTime::ZERO,
            seen,
            events: vec![],
            arrived: vec![],
            sent: vec![],
        }
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// How the board's firmware speaks to the robot's task.
    #[must_use]
    pub fn handle(&self) -> Handle<'static> {
        self.handle
    }

    /// The KRC.
    #[must_use]
    pub fn krc(&self) -> &Krc {
        self.peer.krc()
    }

    /// What passed between KRC and board.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        self.peer.answers()
    }

    /// Every datagram that reached the board, in order.
    #[must_use]
    pub fn arrived(&self) -> &[Arrived] {
        &self.arrived
    }

    /// Every datagram that the board sent, and to whom, in order.
    #[must_use]
    pub fn sent(&self) -> &[(SocketAddr, Vec<u8>)] {
        &self.sent
    }

    /// What the engine reported.
    #[must_use]
    pub fn events(&self) -> &[(SimTime, Event<KrcEvent>)] {
        &self.events
    }

    /// The engine's mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.seen().mode
    }

    /// The latched reason.
    #[must_use]
    pub fn latch(&self) -> Option<Reason> {
        self.seen().latch
    }

    /// What the engine has counted.
    #[must_use]
    pub fn counts(&self) -> KrcCounts {
        self.seen().counts
    }

    /// Why `Command` was left, each time.
    #[must_use]
    pub fn fallbacks(&self) -> Vec<Reason> {
        let reason = |transition: &Transition| transition.reason.filter(|_| transition.from == Mode::Command);
        let transition = |(_, event): &(_, Event<KrcEvent>)| match event {
            Event::Transition(transition) => reason(transition),
            _ => None,
        };
        self.events.iter().filter_map(transition).collect()
    }

    /// Whether the robot's task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.tasks.last().is_some_and(Task::is_over)
    }

    /// Plugs the board's cable in, or pulls it.
    pub fn plug(&mut self, plugged: bool) {
        self.cable.plug(plugged);
    }

    fn seen(&self) -> Ref<'_, Seen> {
        self.seen.borrow()
    }

    /// Lives on for this long.
    ///
    /// # Panics
    /// Where time does not pass.
    pub fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    /// Lives on until `done`, asked after each event, but for no longer than `limit`; says whether it is done.
    ///
    /// # Panics
    /// Where time does not pass.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + limit;
        self.settle();
        loop {
            if done(self) {
                return true;
            }
            if self.now >= end {
                return false;
            }
            let wires = self.up.next_event().min(self.down.next_event());
            let next = self.peer.next_event().min(wires).min(clock::next_alarm()).min(end);
            self.now = self.now.max(next);
            self.settle();
        }
    }

    /// Lives on until `done`.
    ///
    /// # Panics
    /// Where that does not happen, with the story so far.
    pub fn wait(&mut self, what: &str, done: impl FnMut(&Self) -> bool) {
        assert!(self.run_until(PATIENCE, done), "not seen: {what}\n{}", self.story());
    }

    /// Waits until nothing but a latched reason speaks against it, acknowledges, requests, and lives on into `Command`.
    ///
    /// # Panics
    /// Where that does not happen, with the story so far.
    pub fn command(&mut self) {
        self.wait("nothing speaks against a request", |rig| {
            let unmet = rig.seen().unmet;
            rig.mode() == Mode::Monitor && unmet.iter().all(|reason| reason == Reason::Latched)
        });
        self.handle.acknowledge();
        self.handle.request(self.handle.epoch());
        self.wait("command", |rig| rig.mode() == Mode::Command);
    }

    /// For a test that waits in vain.
    #[must_use]
    pub fn story(&self) -> String {
        let last = self.events.len().saturating_sub(40);
        let events: String = self.events[last..].iter().map(|(at, event)| format!("{at} {event:?}\n")).collect();
        let (krc, seen) = (self.krc(), self.seen());
        let unmet: Vec<Reason> = seen.unmet.iter().collect();
        format!("{events}{:?}, unmet {unmet:?}; {:?} {:?}", seen.mode, krc.state(), krc.fallbacks())
    }

    /// Everything that happens at this moment.
    fn settle(&mut self) {
        clock::advance(self.now);
        for _ in 0..BUSY {
            let mut busy = run_all(&mut self.tasks);
            let events = std::mem::take(&mut self.seen.borrow_mut().events);
            self.events.extend(events.into_iter().map(|event| (self.now, event)));
            busy |= self.carry();
            if !busy {
                return;
            }
        }
        panic!("the board does not come to rest at {}:\n{}", self.now, self.story());
    }

    /// Moves frames both ways; says whether one arrived.
    fn carry(&mut self) -> bool {
        let mut busy = false;
        while let Some(frame) = self.cable.take() {
            if let Some((_, to, bytes)) = datagram(&frame) {
                self.sent.push((to, bytes.to_vec()));
            }
            self.up.send(self.now, &frame);
        }
        while let Some(frame) = self.up.receive(self.now) {
            self.peer.receive(self.now, frame);
            busy = true;
        }
        self.peer.advance(self.now);
        while let Some(frame) = self.peer.transmit() {
            self.down.send(self.now, &frame);
        }
        while let Some(frame) = self.down.receive(self.now) {
            if let Some((from, _, bytes)) = datagram(&frame) {
                self.arrived.push(Arrived { at: self.now, from, bytes: bytes.to_vec() });
            }
            self.cable.deliver(frame);
            busy = true;
        }
        busy
    }
}
