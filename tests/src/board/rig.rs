//! A run: from one event to the next, with everything noted down.

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use std::cell::{Ref, RefCell};
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

// The critical sections of everything that runs here.
use critical_section as _;
use embassy_net::StackResources;
use outrigger_core::command::Sample;
use outrigger_core::engine::Event;
use outrigger_core::engine::ur::rtde::{RtdeRoom, RtdeStates, StateLink};
use outrigger_core::engine::ur::{Memory, UrEngine};
use outrigger_core::law::AnyLaw;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::Instant;
use outrigger_embassy::{Buffers, Handle, Observer, Shared, Windows};
use outrigger_emulated::peer::{Peer, PeerOptions};
use outrigger_emulated::wire::{Conditions, Wire};
use outrigger_sim::controller::Controller;
use outrigger_sim::time::SimTime;

use super::cable::{Cable, address};
use super::clock;
use super::task::{BUSY, Task, leak, run_all};
use crate::cosim::{Command, Motion, Record, Sensor, Setup, speeds_of};

/// Anything a test waits for without saying how long happens within this.
const PATIENCE: Duration = Duration::from_secs(30);

/// A direction on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the board to the controller.
    Up,
    /// From the controller to the board.
    Down,
}

/// The network between the two.
#[derive(Clone, Debug)]
pub struct Network {
    /// The controller's end.
    pub peer: PeerOptions,
    /// The address that the board takes for the robot's.
    pub robot: Ipv4Addr,
    /// The wire, both ways; a [`Setup`]'s latency is added to its delay.
    pub conditions: Conditions,
    /// Bytes of frames that the board's interface holds until the board takes them; what does not fit is lost.
    pub interface: usize,
    /// Seed of the board's stack, and of the wire.
    pub seed: u64,
}

/// The interface of the emulated board (LAN9118, as QEMU has it), the smallest that is known here.
const INTERFACE: usize = 10_560;

impl Default for Network {
    fn default() -> Self {
        let peer = PeerOptions::default();
        let conditions = Conditions::default();
        Self { robot: peer.address, peer, conditions, interface: INTERFACE, seed: 1 }
    }
}

/// Says whether a frame is lost.
type Loses = Box<dyn FnMut(Way, SimTime, &[u8]) -> bool>;

/// A board with its robot.
pub struct Rig {
    peer: Peer,
    up: Wire,
    down: Wire,
    loses: Loses,
    cable: Cable,
    tasks: Vec<Task>,
    handle: Handle<'static>,
    sensors: Vec<(Sensor, SimTime, u32)>,
    now: SimTime,
    seen: Rc<RefCell<Seen>>,
    record: Record,
    texts: usize,
}

/// What the board's observer has seen.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event<UrEvent>>,
    mode: Option<Mode>,
    latch: Option<Reason>,
    unmet: ReasonSet,
    /// When the engine was first seen with each state.
    states: Vec<SimTime>,
    commanded: u64,
    newest: Option<outrigger_core::robot::ControllerTime>,
}

struct Watch(Rc<RefCell<Seen>>);

impl<'m> Observer<6, Ur<'m>, AnyLaw<6>> for Watch {
    fn event(&mut self, event: Event<UrEvent>) {
        self.0.borrow_mut().events.push(event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, AnyLaw<6>>, now: Instant) {
        let seen = &mut *self.0.borrow_mut();
        seen.mode = Some(engine.mode());
        seen.latch = engine.latch();
        seen.unmet = engine.unmet(now);
        let newest = engine.state().map(|state| state.controller_time);
        let fresh = newest.is_some() && newest != seen.newest;
        if fresh {
            seen.states.push(clock::sim_time(now));
        }
        seen.commanded += u64::from(fresh && engine.mode() == Mode::Command);
        seen.newest = newest;
    }
}

impl Rig {
    /// At time zero, with the recommended buffers.
    ///
    /// # Panics
    /// Where the set-up cannot be run.
    #[must_use]
    pub fn new(setup: Setup, network: &Network) -> Self {
        Self::with_buffers(setup, network, Buffers::new())
    }

    /// At time zero, with these buffers; with RTDE where they have room for it.
    ///
    /// # Panics
    /// Where the set-up cannot be run.
    #[must_use]
    pub fn with_buffers<const REALTIME: usize, const RTDE: usize>(
        setup: Setup,
        network: &Network,
        buffers: Buffers<REALTIME, RTDE>,
    ) -> Self {
        clock::begin();
        let mut controller = Controller::new(setup.controller).unwrap();
        controller.keep_texts();
        let mut conditions = network.conditions;
        conditions.delay += setup.latency;

        let cable = Cable::new(network.interface);
        let resources = leak(StackResources::<3>::new());
        let (stack, mut stack_runner) = embassy_net::new(cable.clone(), address(), resources, network.seed);

        let (windows, buffers, shared) = (leak(Windows::new()), leak(buffers), leak(Shared::new()));
        let rtde = (RTDE > 0).then(|| leak(RtdeStates::new(leak(<RtdeRoom>::new())).unwrap()) as &mut dyn StateLink);
        let memory = Memory { rtde, ..windows.memory() };
        let engine = leak(UrEngine::new(setup.config, setup.law, memory).unwrap());
        let (handle, mut runner) = outrigger_embassy::new(stack, network.robot, engine, buffers, shared);
        let seen = Rc::new(RefCell::new(Seen::default()));
        let mut watch = Watch(Rc::clone(&seen));
        let tasks = vec![
            Task::new(async move { stack_runner.run().await }),
            Task::new(async move { runner.run(&mut watch).await }),
        ];
        Self {
            peer: Peer::new(controller, network.peer.clone()),
            up: Wire::under(network.seed, conditions),
            down: Wire::under(network.seed + 1, conditions),
            loses: Box::new(|_, _, _| false),
            cable,
            tasks,
            handle,
            sensors: setup.sensors.into_iter().map(|sensor| (sensor, SimTime::ZERO, 0)).collect(),
            now: SimTime::ZERO,
            seen,
            record: Record::default(),
            texts: 0,
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

    /// The robot.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        self.peer.controller()
    }

    /// The robot's end of the network.
    pub fn peer(&mut self) -> &mut Peer {
        &mut self.peer
    }

    /// The wire from the board, and the one to it.
    pub fn wires(&mut self) -> (&mut Wire, &mut Wire) {
        (&mut self.up, &mut self.down)
    }

    /// From now on a frame is lost where `loses` says so.
    pub fn lose(&mut self, loses: impl FnMut(Way, SimTime, &[u8]) -> bool + 'static) {
        self.loses = Box::new(loses);
    }

    /// Plugs the board's cable in, or pulls it.
    pub fn plug(&mut self, plugged: bool) {
        self.cable.plug(plugged);
    }

    /// The robot's stack begins anew, with the same controller: of connections it knows nothing any more.
    pub fn forget_connections(&mut self) {
        self.peer.forget_connections();
    }

    /// A frame that nobody asked for reaches the board.
    pub fn deliver(&mut self, frame: Vec<u8>) {
        self.cable.deliver(frame);
    }

    /// The sensors fall silent.
    pub fn kill_sensors(&mut self) {
        self.sensors.clear();
    }

    /// What happened so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The engine's mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.seen().mode.unwrap_or(Mode::Offline)
    }

    /// The latched reason.
    #[must_use]
    pub fn latch(&self) -> Option<Reason> {
        self.seen().latch
    }

    /// What speaks against a request.
    #[must_use]
    pub fn unmet(&self) -> ReasonSet {
        self.seen().unmet
    }

    /// When the engine was first seen with each of its states.
    #[must_use]
    pub fn states(&self) -> Vec<SimTime> {
        self.seen().states.clone()
    }

    /// States with which the engine was in `Command`.
    #[must_use]
    pub fn commanded(&self) -> u64 {
        self.seen().commanded
    }

    /// Whether the robot's task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.tasks.last().is_some_and(Task::is_over)
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
            let sensors = self.sensors.iter().map(|(_, next, _)| *next).min().unwrap_or(SimTime::MAX);
            let next = self.peer.next_event().min(wires).min(sensors).min(clock::next_alarm()).min(end);
            self.now = self.now.max(next);
            self.settle();
        }
    }

    /// Lives on until `done`.
    ///
    /// # Panics
    /// Where that does not happen, with the story so far.
    pub fn wait(&mut self, what: &str, done: impl FnMut(&Self) -> bool) {
        assert!(self.run_until(PATIENCE, done), "not seen: {what}\n{}", self.record.story());
    }

    /// Connects, waits until nothing speaks against it, requests, and lives on into `Command`.
    ///
    /// # Panics
    /// Where that does not happen, with the story so far.
    pub fn command(&mut self) {
        self.wait("nothing speaks against a request", |rig| rig.mode() == Mode::Monitor && rig.unmet().is_empty());
        self.handle.request(self.handle.epoch());
        self.wait("command", |rig| rig.mode() == Mode::Command);
    }

    /// Everything that happens at this moment.
    fn settle(&mut self) {
        clock::advance(self.now);
        self.sample();
        let cycles = self.controller().cycles();
        for _ in 0..BUSY {
            let mut busy = run_all(&mut self.tasks);
            self.note_events();
            busy |= self.carry();
            if !busy {
                self.note_robot(cycles);
                return;
            }
        }
        panic!("the board does not come to rest at {}:\n{}", self.now, self.record.story());
    }

    fn sample(&mut self) {
        for (sensor, next, seq) in &mut self.sensors {
            if *next > self.now {
                continue;
            }
            *next = self.now + sensor.period;
            *seq = seq.wrapping_add(1);
            if let Some(value) = (sensor.read)(self.peer.controller()) {
                let taken_at = outrigger_embassy::now();
                self.handle.sample(Sample { source: sensor.id, value, seq: *seq, taken_at });
            }
        }
    }

    /// Moves frames both ways; says whether one arrived.
    fn carry(&mut self) -> bool {
        let mut busy = false;
        while let Some(frame) = self.cable.take() {
            if !(self.loses)(Way::Up, self.now, &frame) {
                self.up.send(self.now, &frame);
            }
        }
        while let Some(frame) = self.up.receive(self.now) {
            self.peer.receive(self.now, &frame);
            busy = true;
        }
        self.peer.advance(self.now);
        while let Some(frame) = self.peer.transmit() {
            if !(self.loses)(Way::Down, self.now, &frame) {
                self.down.send(self.now, &frame);
            }
        }
        while let Some(frame) = self.down.receive(self.now) {
            self.cable.deliver(frame);
            busy = true;
        }
        busy
    }

    fn note_events(&mut self) {
        let now = self.now;
        let events = std::mem::take(&mut self.seen.borrow_mut().events);
        self.record.events.extend(events.into_iter().map(|event| (now, event)));
    }

    /// What the robot heard, and where its arm is.
    fn note_robot(&mut self, cycles: u64) {
        let mode = self.mode();
        let controller = self.peer.controller();
        let heard = controller.texts().iter().skip(self.texts);
        let commands = heard.map(|heard| Command {
            at: heard.at,
            mode,
            speeds: speeds_of(&heard.text),
            text: heard.text.clone(),
            state_age: Duration::ZERO,
        });
        self.record.commands.extend(commands);
        self.texts = controller.texts().len();
        if controller.cycles() != cycles {
            // The simulation moves the arm at the beginning of a cycle to where it is at its end.
            let (at, arm) = (self.now + controller.period(), controller.truth());
            self.record.motion.push(Motion { at, q: arm.q, qd: arm.qd, qd_target: arm.targets.qd });
        }
    }
}
