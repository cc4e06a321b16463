//! A run of a board with a controller of either vendor, from one event to the next.

use std::cell::{Ref, RefCell};
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

// Linked for the critical sections of the code that runs here.
use critical_section as _;
use embassy_net::{Stack, StackResources};
use outrigger_core::engine::{Controller, Engine, Event};
use outrigger_core::law::Law;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_embassy::{Handle, Observer};
use outrigger_emulated::executor::{BUSY, Task, clock, leak, run_all};
use outrigger_emulated::w5500::Pins;
use outrigger_emulated::wire::{Conditions, Wire};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::Instant;

use super::interface::{Attachment, Interface};

/// The longest time that a test without a time limit of its own waits for an event.
const PATIENCE: Duration = Duration::from_secs(30);

/// A direction on the wire between board and controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the board to the controller.
    Up,
    /// From the controller to the board.
    Down,
}

/// A controller at the far end of the wire, and the log of a run with it.
pub trait Side {
    /// The type of the events that the board's engine reports beyond those that every engine reports.
    type Event: Debug + 'static;
    /// The type of the counts of the board's engine.
    type Counts: Default + 'static;

    /// Delivers a frame to the controller.
    fn receive(&mut self, now: SimTime, frame: Vec<u8>);
    /// Executes the controller's work that is due at `now`.
    fn advance(&mut self, now: SimTime);
    /// Takes the next frame that the controller sends.
    fn transmit(&mut self) -> Option<Vec<u8>>;
    /// Returns the time of the next event at the controller, or at a sensor of the board, that is due without input.
    fn next_event(&mut self) -> SimTime;

    /// Begins a moment of the run: executed before the board's tasks run.
    fn begin(&mut self, _: SimTime, _: Handle<'static>) {}
    /// Notes a frame that leaves the board or the controller. Returns `false` if the frame is to be lost.
    fn passes(&mut self, way: Way, now: SimTime, frame: &[u8]) -> bool;
    /// Notes a frame that reaches the board.
    fn arrives(&mut self, _: SimTime, _: &[u8]) {}
    /// Logs the events that the engine has reported.
    fn report(&mut self, now: SimTime, events: Vec<Event<Self::Event>>);
    /// Ends a moment of the run: executed when neither board nor controller has more work that is due.
    fn end(&mut self, _: SimTime, _: Mode) {}
    /// Returns the log of the run as text, for the panic message of a test that waits in vain.
    fn story(&self) -> String;
}

/// A board with a simulated controller, in virtual time.
pub struct Rig<S: Side> {
    pub(super) side: S,
    /// The wire from the board to the controller.
    pub up: Wire,
    /// The wire from the controller to the board.
    pub down: Wire,
    attachment: Attachment,
    tasks: Vec<Task>,
    handle: Handle<'static>,
    now: SimTime,
    seen: Shown<S>,
}

/// The record of the board's observer, shared between the observer and the [`Rig`].
pub(super) type Shown<S> = Rc<RefCell<Seen<<S as Side>::Event, <S as Side>::Counts>>>;

/// The states, events and counts that the board's observer has seen.
pub(super) struct Seen<E, C> {
    events: Vec<Event<E>>,
    mode: Mode,
    latch: Option<Reason>,
    unmet: ReasonSet,
    /// The times at which the observer first saw each state of the robot that the engine had received.
    states: Vec<SimTime>,
    /// The number of received states of the robot at which the engine was in the mode `Command`.
    commanded: u64,
    newest: Option<ControllerTime>,
    pub(super) counts: C,
}

impl<E, C: Default> Default for Seen<E, C> {
    fn default() -> Self {
        Self {
            events: vec![],
            mode: Mode::Offline,
            latch: None,
            unmet: ReasonSet::default(),
            states: vec![],
            commanded: 0,
            newest: None,
            counts: C::default(),
        }
    }
}

/// The observer of a board, and the function that reads the counts from the engine's peer.
pub(super) struct Watch<E, C, P>(pub(super) Rc<RefCell<Seen<E, C>>>, pub(super) fn(&P) -> C);

impl<const N: usize, P: Controller<N>, L: Law<N>, C> Observer<N, P, L> for Watch<P::Event, C, P> {
    fn event(&mut self, event: Event<P::Event>) {
        self.0.borrow_mut().events.push(event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let seen = &mut *self.0.borrow_mut();
        (seen.mode, seen.latch, seen.unmet) = (engine.mode(), engine.latch(), engine.unmet(now));
        let newest = engine.state().map(|state| state.controller_time);
        if newest.is_some() && newest != seen.newest {
            seen.states.push(clock::sim_time(now));
            seen.commanded += u64::from(engine.mode() == Mode::Command);
        }
        seen.newest = newest;
        seen.counts = (self.1)(engine.peer());
    }
}

impl<S: Side> Rig<S> {
    /// Creates the board at time zero, with this `interface`, and `side` at the far end of wires under `conditions`.
    /// `seed` decides the random events of the wires and of the board's stack. `robot` makes the board's task, which
    /// writes its observations to the shared record.
    pub(super) fn with<const SOCKETS: usize, T: Future<Output = ()> + 'static>(
        side: S,
        (conditions, seed, interface): (Conditions, u64, Interface),
        robot: impl FnOnce(Stack<'static>, Shown<S>) -> (Handle<'static>, T),
    ) -> Self {
        clock::begin();
        let resources = leak(StackResources::<SOCKETS>::new());
        let (stack, attachment, mut tasks) = Attachment::new(interface, resources, seed);
        let seen = Shown::<S>::default();
        let (handle, task) = robot(stack, Rc::clone(&seen));
        tasks.push(Task::new(task));
        Self {
            side,
            up: Wire::under(seed, conditions),
            down: Wire::under(seed.wrapping_add(1), conditions),
            attachment,
            tasks,
            handle,
            now: SimTime::ZERO,
            seen,
        }
    }

    /// Returns the present virtual time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the handle by which the board's firmware controls the robot's task.
    #[must_use]
    pub fn handle(&self) -> Handle<'static> {
        self.handle
    }

    /// Plugs the board's network cable in, or pulls it.
    pub fn plug(&mut self, plugged: bool) {
        self.attachment.plug(plugged);
    }

    /// Returns the pins of the network chip, if the board has one.
    #[must_use]
    pub fn pins(&self) -> Option<&Pins> {
        self.attachment.pins()
    }

    /// Delivers an unsolicited frame to the board.
    pub fn deliver(&mut self, frame: Vec<u8>) {
        self.attachment.deliver(frame);
    }

    /// Returns the mode of the board's engine.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.seen().mode
    }

    /// Returns the reason that the board's engine has latched, if any.
    #[must_use]
    pub fn latch(&self) -> Option<Reason> {
        self.seen().latch
    }

    /// Returns the unmet preconditions of a request for the mode `Command`.
    #[must_use]
    pub fn unmet(&self) -> ReasonSet {
        self.seen().unmet
    }

    /// Returns the times at which each state of the robot was first seen in the board's engine.
    #[must_use]
    pub fn states(&self) -> Vec<SimTime> {
        self.seen().states.clone()
    }

    /// Returns the number of received states of the robot at which the board's engine was in the mode `Command`.
    #[must_use]
    pub fn commanded(&self) -> u64 {
        self.seen().commanded
    }

    /// Returns whether the robot's task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.tasks.last().is_some_and(Task::is_over)
    }

    pub(super) fn seen(&self) -> Ref<'_, Seen<S::Event, S::Counts>> {
        self.seen.borrow()
    }

    /// Runs for this long.
    ///
    /// # Panics
    /// If the board's tasks stay busy without time passing.
    pub fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    /// Runs until `done` returns `true`, which is evaluated after each event, but for no longer than `limit`. Returns
    /// whether `done` returned `true`.
    ///
    /// # Panics
    /// If the board's tasks stay busy without time passing.
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
            let board = clock::next_alarm().min(self.attachment.next_event());
            let next = self.side.next_event().min(wires).min(board).min(end);
            self.now = self.now.max(next);
            self.settle();
        }
    }

    /// Runs until `done` returns `true`.
    ///
    /// # Panics
    /// If that does not happen within 30 s; the message has the log so far.
    pub fn wait(&mut self, what: &str, done: impl FnMut(&Self) -> bool) {
        assert!(self.run_until(PATIENCE, done), "not seen: {what}\n{}", self.story());
    }

    /// Waits until no precondition but a latched reason is unmet, acknowledges that reason, requests `Command`, and
    /// runs until the engine is in `Command`.
    ///
    /// # Panics
    /// If that does not happen within 30 s; the message has the log so far.
    pub fn command(&mut self) {
        self.wait("nothing speaks against a request", |rig| {
            rig.mode() == Mode::Monitor && rig.unmet().iter().all(|reason| reason == Reason::Latched)
        });
        if self.unmet().contains(Reason::Latched) {
            self.handle.acknowledge();
        }
        self.handle.request(self.handle.epoch());
        self.wait("command", |rig| rig.mode() == Mode::Command);
    }

    /// Returns the log of the run as text, for the panic message of a test that waits in vain.
    #[must_use]
    pub fn story(&self) -> String {
        let seen = self.seen();
        let unmet: Vec<Reason> = seen.unmet.iter().collect();
        format!("{}{:?}, unmet {unmet:?}", self.side.story(), seen.mode)
    }

    /// Executes all work of the board and the controller that is due at this moment.
    fn settle(&mut self) {
        clock::advance(self.now);
        self.side.begin(self.now, self.handle);
        for _ in 0..BUSY {
            self.attachment.advance(self.now);
            let mut busy = run_all(&mut self.tasks);
            let events = std::mem::take(&mut self.seen.borrow_mut().events);
            self.side.report(self.now, events);
            busy |= self.carry();
            if !busy {
                self.side.end(self.now, self.mode());
                return;
            }
        }
        panic!("the board does not come to rest at {}:\n{}", self.now, self.story());
    }

    /// Moves frames in both directions. Returns whether a frame arrived.
    fn carry(&mut self) -> bool {
        let mut busy = false;
        while let Some(frame) = self.attachment.take() {
            if self.side.passes(Way::Up, self.now, &frame) {
                self.up.send(self.now, &frame);
            }
        }
        while let Some(frame) = self.up.receive(self.now) {
            self.side.receive(self.now, frame);
            busy = true;
        }
        self.side.advance(self.now);
        while let Some(frame) = self.side.transmit() {
            if self.side.passes(Way::Down, self.now, &frame) {
                self.down.send(self.now, &frame);
            }
        }
        while let Some(frame) = self.down.receive(self.now) {
            self.side.arrives(self.now, &frame);
            self.attachment.deliver(frame);
            busy = true;
        }
        busy
    }
}
