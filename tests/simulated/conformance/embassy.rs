//! The conformance bench for `port-embassy`, in virtual time.

use outrigger_core::engine::ur::UrEvent;
use std::time::Duration;

use outrigger_core::engine::{Event, Input};
use outrigger_sim::controller::Action;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_tests::board::{Network, UrRig, Way};
use outrigger_tests::cosim::Setup;

use crate::bench::{Bench, Look, TextKind};

pub(crate) struct EmbassyBench {
    rig: UrRig,
    /// The engine's events up to the last call of `seen`, without their times.
    events: Vec<Event<UrEvent>>,
    texts: Vec<TextKind>,
}

impl EmbassyBench {
    fn seen(&mut self) -> Look<'_> {
        let new = self.rig.record().events.iter().skip(self.events.len());
        self.events.extend(new.map(|(_, event)| *event));
        TextKind::learn(&mut self.texts, self.rig.controller());
        Look {
            events: &self.events,
            texts: &self.texts,
            mode: self.rig.mode(),
            epoch: self.rig.handle().epoch(),
            latch: self.rig.latch(),
            unmet: self.rig.unmet(),
            commanded: self.rig.commanded(),
            over: self.rig.is_finished(),
            controller: self.rig.controller(),
        }
    }
}

impl Bench for EmbassyBench {
    fn start(setup: Setup) -> Self {
        Self { rig: UrRig::new(setup, &Network::default()), events: vec![], texts: vec![] }
    }

    fn tell(&mut self, input: Input) {
        let handle = self.rig.handle();
        match input {
            Input::Request(epoch) => handle.request(epoch),
            Input::Resume(epoch) => handle.resume(epoch),
            Input::Release => handle.release(),
            Input::Acknowledge => handle.acknowledge(),
            Input::Shutdown => handle.shutdown(),
            Input::Sample(sample) => handle.sample(sample),
            other => panic!("nobody outside says {other:?}"),
        }
    }

    fn act(&mut self, action: Action) {
        self.rig.peer().controller_mut().act(action);
    }

    fn fault(&mut self, kind: FaultKind, lasting: Option<Duration>) {
        let start = self.rig.now() + Duration::from_micros(1);
        self.rig.peer().controller_mut().inject(Fault::new(kind, start, lasting));
    }

    fn reset(&mut self) {
        self.rig.peer().reset_clients();
    }

    fn take_nothing(&mut self) {
        // No frame from the board arrives, so none of its data are acknowledged.
        self.rig.lose(|way, _, _| way == Way::Up);
    }

    fn wait(&mut self, what: &str, mut done: impl FnMut(&Look<'_>) -> bool) {
        for _ in 0..20_000 {
            if done(&self.seen()) {
                return;
            }
            self.rig.run_for(Duration::from_millis(1));
        }
        panic!("not seen within 20 s: {what}\n{}", self.seen().story());
    }

    fn look<R>(&mut self, at: impl FnOnce(&Look<'_>) -> R) -> R {
        at(&self.seen())
    }
}
