//! A board with a simulated controller of Universal Robots.

use std::net::Ipv4Addr;
use std::time::Duration;

use outrigger_core::engine::Event;
use outrigger_core::engine::ur::rtde::{RtdeMemory, StateMemory};
use outrigger_core::engine::ur::{Memory, UrEngine, UrEvent};
use outrigger_core::mode::Mode;
use outrigger_embassy::{Buffers, Handle, Shared, Windows};
use outrigger_emulated::executor::leak;
use outrigger_emulated::peer::{Peer, PeerOptions};
use outrigger_emulated::wire::{Conditions, Wire};
use outrigger_sim::controller::Controller;
use outrigger_sim::time::SimTime;
use outrigger_wire::sensor::Sample;

use super::interface::Interface;
use super::rig::{Rig, Side, Watch, Way};
use crate::cosim::{Command, Motion, Record, Sensor, Setup, speeds_of};

/// The network between board and controller.
#[derive(Clone, Debug)]
pub struct Network {
    /// The options of the controller's end of the network.
    pub peer: PeerOptions,
    /// The address at which the board expects the robot.
    pub robot: Ipv4Addr,
    /// The conditions of the wire in both directions. The latency of a [`Setup`] is added to the delay.
    pub conditions: Conditions,
    /// The network interface of the board.
    pub interface: Interface,
    /// The seed of the board's stack and of the wire.
    pub seed: u64,
}

/// The interface of the emulated board (LAN9118, as QEMU emulates it): the smallest one known here.
pub(super) const INTERFACE: Interface = Interface::Memory(10_560);

impl Default for Network {
    fn default() -> Self {
        let peer = PeerOptions::default();
        let conditions = Conditions::default();
        Self { robot: peer.address, peer, conditions, interface: INTERFACE, seed: 1 }
    }
}

/// A function that decides whether a frame is lost.
type Loses = Box<dyn FnMut(Way, SimTime, &[u8]) -> bool>;

/// The simulated controller, the board's sensors, and the record of the run.
pub struct Ur {
    peer: Peer,
    loses: Loses,
    /// Each sensor with the time of its next reading and the sequence number of its last.
    sensors: Vec<(Sensor, SimTime, u32)>,
    record: Record,
    texts: usize,
    /// The number of control cycles that the controller had executed at the beginning of the present moment.
    cycles: u64,
}

/// A board with a simulated controller of Universal Robots, in virtual time.
pub type UrRig = Rig<Ur>;

impl UrRig {
    /// Creates the board and the simulated controller at time zero, with the recommended buffers.
    ///
    /// # Panics
    /// If the set-up is invalid.
    #[must_use]
    pub fn new(setup: Setup, network: &Network) -> Self {
        Self::with_buffers(setup, network, Buffers::new())
    }

    /// Creates the board and the simulated controller at time zero, with these buffers. The board uses RTDE if they
    /// have room for it.
    ///
    /// # Panics
    /// If the set-up is invalid.
    #[must_use]
    pub fn with_buffers<const REALTIME: usize, const RTDE: usize>(
        setup: Setup,
        network: &Network,
        buffers: Buffers<REALTIME, RTDE>,
    ) -> Self {
        let mut controller = Controller::new(setup.controller).unwrap();
        controller.keep_texts();
        let mut conditions = network.conditions;
        conditions.delay += setup.latency;
        let side = Ur {
            peer: Peer::new(controller, network.peer.clone()),
            loses: Box::new(|_, _, _| false),
            sensors: setup.sensors.into_iter().map(|sensor| (sensor, SimTime::ZERO, 0)).collect(),
            record: Record::default(),
            texts: 0,
            cycles: 0,
        };
        Self::with::<3, _>(side, (conditions, network.seed, network.interface), |stack, seen| {
            let (windows, buffers, shared) = (leak(Windows::new()), leak(buffers), leak(Shared::new()));
            let rtde = (RTDE > 0).then(|| leak(RtdeMemory::<1024, 1>::new()) as &mut dyn StateMemory<'_>);
            let memory = Memory { rtde, ..windows.memory() };
            let engine = leak(UrEngine::new(setup.config, setup.law, memory).unwrap());
            let (handle, mut runner) = outrigger_embassy::new(stack, network.robot, engine, buffers, shared);
            let mut watch = Watch(seen, |_| ());
            (handle, async move { runner.run(&mut watch).await })
        })
    }

    /// Returns the simulated controller.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        self.side.peer.controller()
    }

    /// Returns the robot's end of the network.
    pub fn peer(&mut self) -> &mut Peer {
        &mut self.side.peer
    }

    /// Returns the wire from the board and the wire to it.
    pub fn wires(&mut self) -> (&mut Wire, &mut Wire) {
        (&mut self.up, &mut self.down)
    }

    /// Loses each frame from now on for which `loses` returns `true`.
    pub fn lose(&mut self, loses: impl FnMut(Way, SimTime, &[u8]) -> bool + 'static) {
        self.side.loses = Box::new(loses);
    }

    /// Replaces the robot's network stack by a new one, with the same controller. The new stack knows none of the
    /// connections.
    pub fn forget_connections(&mut self) {
        self.side.peer.forget_connections();
    }

    /// Removes the sensors: no more readings arrive.
    pub fn kill_sensors(&mut self) {
        self.side.sensors.clear();
    }

    /// Returns the record of the run so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.side.record
    }
}

impl Side for Ur {
    type Event = UrEvent;
    type Counts = ();

    fn receive(&mut self, now: SimTime, frame: Vec<u8>) {
        self.peer.receive(now, &frame);
    }

    fn advance(&mut self, now: SimTime) {
        self.peer.advance(now);
    }

    fn transmit(&mut self) -> Option<Vec<u8>> {
        self.peer.transmit()
    }

    fn next_event(&mut self) -> SimTime {
        let sensors = self.sensors.iter().map(|(_, next, _)| *next).min().unwrap_or(SimTime::MAX);
        self.peer.next_event().min(sensors)
    }

    /// Delivers the sensor readings that are due.
    fn begin(&mut self, now: SimTime, handle: Handle<'static>) {
        for (sensor, next, seq) in &mut self.sensors {
            if *next > now {
                continue;
            }
            *next = now + sensor.period;
            *seq = seq.wrapping_add(1);
            if let Some(value) = (sensor.read)(self.peer.controller()) {
                handle.sample(Sample { source: sensor.id, value, seq: *seq, taken_at: outrigger_embassy::now() });
            }
        }
        self.cycles = self.peer.controller().cycles();
    }

    fn passes(&mut self, way: Way, now: SimTime, frame: &[u8]) -> bool {
        !(self.loses)(way, now, frame)
    }

    fn report(&mut self, now: SimTime, events: Vec<Event<UrEvent>>) {
        self.record.events.extend(events.into_iter().map(|event| (now, event)));
    }

    /// Records the texts that the robot received, and the position of its arm.
    fn end(&mut self, now: SimTime, mode: Mode) {
        let controller = self.peer.controller();
        let received = controller.texts().iter().skip(self.texts);
        let commands = received.map(|received| Command {
            at: received.at,
            mode,
            speeds: speeds_of(&received.text),
            torques: None,
            text: received.text.clone(),
            state_age: Duration::ZERO,
        });
        self.record.commands.extend(commands);
        self.texts = controller.texts().len();
        if controller.cycles() != self.cycles {
            // At the beginning of a cycle, the simulation moves the arm to its position at the end of that cycle.
            let (at, arm) = (now + controller.period(), controller.truth());
            self.record.motion.push(Motion {
                at,
                q: arm.q,
                qd: arm.qd,
                qd_target: arm.targets.qd,
                torque: None,
                scaling: arm.scaling,
            });
        }
    }

    fn story(&self) -> String {
        self.record.story()
    }
}
