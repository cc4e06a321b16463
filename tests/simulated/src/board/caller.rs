//! A board that listens, and a robot that connects to it.

use std::cell::RefCell;
use std::rc::Rc;

use outrigger_core::command::JointMove;
use outrigger_core::engine::test_peer::{Robot, TestConfig, TestEngine, TestEvent, TestPeer};
use outrigger_core::engine::{Controller as _, Event};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_embassy::{Observer, Shared, test_peer};
use outrigger_emulated::executor::leak;
use outrigger_emulated::wire::Conditions;
use outrigger_sim::time::SimTime;
use outrigger_wire::time::Instant;

use super::rig::{Rig, Side, Watch, Way};
use super::ur::INTERFACE;

/// The robot that connects to the board, and the events of the run.
#[derive(Default)]
pub struct Caller {
    caller: outrigger_emulated::caller::Caller,
    now: SimTime,
    events: Vec<(SimTime, Event<TestEvent>)>,
    asked: Order,
}

/// The move that the board's engine delegates to the robot at its next event, if any.
type Order = Rc<RefCell<Option<JointMove<2>>>>;
type Law = JointServo<2>;

/// A board with a robot that connects to it.
pub type CallerRig = Rig<Caller>;

impl CallerRig {
    /// Creates the board and the robot that connects to it, at time zero. `conditions` describe the wires; `seed`
    /// decides their random events.
    ///
    /// # Panics
    /// If the configuration is invalid.
    #[must_use]
    pub fn new(config: TestConfig, conditions: Conditions, seed: u64) -> Self {
        let side = Caller::default();
        let asked = Rc::clone(&side.asked);
        Self::with::<1, _>(side, (conditions, seed, INTERFACE), |stack, seen| {
            let (buffers, shared) = (leak(test_peer::Buffers::default()), leak(Shared::new()));
            let law = Law::new(Reference::Hold, JointServoConfig::default());
            let engine = leak(TestEngine::new(config, law, ()).expect("a possible session"));
            let (handle, mut runner) = test_peer::new(stack, engine, buffers, shared);
            let mut mover = Mover { watch: Watch(seen, |peer: &TestPeer| peer.status().strangers), asked };
            (handle, async move { runner.run(&mut mover).await })
        })
    }

    /// Returns the robot's end of the network.
    pub fn caller(&mut self) -> &mut outrigger_emulated::caller::Caller {
        &mut self.side.caller
    }

    /// Returns the test robot with its state.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        self.side.caller.robot()
    }

    /// Returns whether the stranger, a client at another address than the robot's, is connected or connecting.
    #[must_use]
    pub fn is_stranger_in(&self) -> bool {
        self.side.caller.is_stranger_in()
    }

    /// Makes the board's engine delegate this move to the robot at the board's next event.
    pub fn ask(&mut self, asked: JointMove<2>) {
        *self.side.asked.borrow_mut() = Some(asked);
    }

    /// Returns the events that the engine reported, with their times.
    #[must_use]
    pub fn events(&self) -> &[(SimTime, Event<TestEvent>)] {
        &self.side.events
    }

    /// Returns the number of connections that the board turned away because they were not from the robot's address.
    #[must_use]
    pub fn strangers(&self) -> u32 {
        self.seen().counts
    }
}

struct Mover {
    watch: Watch<TestEvent, u32, TestPeer>,
    asked: Order,
}

impl Observer<2, TestPeer, Law> for Mover {
    fn event(&mut self, event: Event<TestEvent>) {
        Observer::<2, TestPeer, Law>::event(&mut self.watch, event);
    }

    fn observe(&mut self, engine: &mut TestEngine<'_, Law>, now: Instant) {
        self.watch.observe(engine, now);
        if let Some(asked) = self.asked.borrow_mut().take() {
            engine.delegate(asked, now).expect("a move that may be made");
        }
    }
}

impl Side for Caller {
    type Event = TestEvent;
    type Counts = u32;

    fn receive(&mut self, now: SimTime, frame: Vec<u8>) {
        self.caller.receive(now, frame);
    }

    fn advance(&mut self, now: SimTime) {
        self.now = now;
        self.caller.advance(now);
    }

    fn transmit(&mut self) -> Option<Vec<u8>> {
        self.caller.transmit()
    }

    fn next_event(&mut self) -> SimTime {
        self.caller.next_event(self.now)
    }

    fn passes(&mut self, _: Way, _: SimTime, _: &[u8]) -> bool {
        true
    }

    fn report(&mut self, now: SimTime, events: Vec<Event<TestEvent>>) {
        self.events.extend(events.into_iter().map(|event| (now, event)));
    }

    fn story(&self) -> String {
        let last = self.events.len().saturating_sub(40);
        let events = self.events[last..].iter().map(|(at, event)| format!("{at} {event:?}\n"));
        format!("{}{:?}", events.collect::<String>(), self.caller.robot().shown())
    }
}
