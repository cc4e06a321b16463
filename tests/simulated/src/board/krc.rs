//! A board with a simulated KRC.

use std::net::SocketAddr;

use outrigger_core::engine::Event;
use outrigger_core::engine::krc::{KrcConfig, KrcCounts, KrcEngine, KrcEvent};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_embassy::{Shared, krc};
use outrigger_emulated::executor::leak;
use outrigger_emulated::krc::{Answers, KrcPeer};
use outrigger_emulated::wire::Conditions;
use outrigger_sim::krc::Options;
use outrigger_sim::time::SimTime;

use super::rig::{Rig, Side, Watch, Way};
use super::segment::datagram;
use super::ur::INTERFACE;

/// A datagram that reached the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The time at which the datagram arrived.
    pub at: SimTime,
    /// The address of the datagram's sender.
    pub from: SocketAddr,
    /// The payload of the datagram.
    pub bytes: Vec<u8>,
}

/// The simulated KRC, and the record of the run.
pub struct Krc {
    peer: KrcPeer,
    events: Vec<(SimTime, Event<KrcEvent>)>,
    arrived: Vec<Arrived>,
    sent: Vec<(SocketAddr, Vec<u8>)>,
}

/// A board with a simulated KRC, in virtual time.
pub type KrcRig = Rig<Krc>;

impl KrcRig {
    /// Creates the board and the simulated KRC at time zero, with the recommended buffers. `conditions` describe the
    /// wires; the KRC's seed decides their random events.
    ///
    /// # Panics
    /// If the options or the configuration are invalid.
    #[must_use]
    pub fn new<L: Law<7> + 'static>(options: Options, config: KrcConfig, law: L, conditions: Conditions) -> Self {
        let seed = options.seed;
        let peer = KrcPeer::new(outrigger_sim::krc::Krc::new(options).expect("a possible KRC"));
        let side = Krc { peer, events: vec![], arrived: vec![], sent: vec![] };
        Self::with::<1, _>(side, (conditions, seed, INTERFACE), |stack, seen| {
            let (buffers, shared) = (leak(krc::Buffers::new()), leak(Shared::new()));
            let engine = leak(KrcEngine::new(config, law, ()).expect("a possible session"));
            let (handle, mut runner) = krc::new(stack, engine, buffers, shared);
            let mut watch = Watch(seen, |peer: &outrigger_core::engine::krc::Krc| peer.counts());
            (handle, async move { runner.run(&mut watch).await })
        })
    }

    /// Returns the simulated KRC.
    #[must_use]
    pub fn krc(&self) -> &outrigger_sim::krc::Krc {
        self.side.peer.krc()
    }

    /// Returns the recorded measurements of the KRC and commands of the board.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        self.side.peer.answers()
    }

    /// Returns every datagram that reached the board, in order.
    #[must_use]
    pub fn arrived(&self) -> &[Arrived] {
        &self.side.arrived
    }

    /// Returns every datagram that the board sent, with its destination, in order.
    #[must_use]
    pub fn sent(&self) -> &[(SocketAddr, Vec<u8>)] {
        &self.side.sent
    }

    /// Returns the events that the engine reported, with their times.
    #[must_use]
    pub fn events(&self) -> &[(SimTime, Event<KrcEvent>)] {
        &self.side.events
    }

    /// Returns the counts of the board's engine.
    #[must_use]
    pub fn counts(&self) -> KrcCounts {
        self.seen().counts
    }

    /// Returns the reason for each change of the engine's mode from `Command` to a lower one, in order.
    #[must_use]
    pub fn fallbacks(&self) -> Vec<Reason> {
        let reason = |transition: &Transition| transition.reason.filter(|_| transition.from == Mode::Command);
        let transition = |(_, event): &(_, Event<KrcEvent>)| match event {
            Event::Transition(transition) => reason(transition),
            _ => None,
        };
        self.events().iter().filter_map(transition).collect()
    }
}

impl Side for Krc {
    type Event = KrcEvent;
    type Counts = KrcCounts;

    fn receive(&mut self, now: SimTime, frame: Vec<u8>) {
        self.peer.receive(now, frame);
    }

    fn advance(&mut self, now: SimTime) {
        self.peer.advance(now);
    }

    fn transmit(&mut self) -> Option<Vec<u8>> {
        self.peer.transmit()
    }

    fn next_event(&mut self) -> SimTime {
        self.peer.next_event()
    }

    fn passes(&mut self, way: Way, _: SimTime, frame: &[u8]) -> bool {
        if let Some((_, to, bytes)) = datagram(frame).filter(|_| way == Way::Up) {
            self.sent.push((to, bytes.to_vec()));
        }
        true
    }

    fn arrives(&mut self, now: SimTime, frame: &[u8]) {
        if let Some((from, _, bytes)) = datagram(frame) {
            self.arrived.push(Arrived { at: now, from, bytes: bytes.to_vec() });
        }
    }

    fn report(&mut self, now: SimTime, events: Vec<Event<KrcEvent>>) {
        self.events.extend(events.into_iter().map(|event| (now, event)));
    }

    fn story(&self) -> String {
        let last = self.events.len().saturating_sub(40);
        let events: String = self.events[last..].iter().map(|(at, event)| format!("{at} {event:?}\n")).collect();
        format!("{events}{:?} {:?}; ", self.peer.krc().state(), self.peer.krc().fallbacks())
    }
}
