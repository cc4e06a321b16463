//! What a scenario can ask of a port and of the robot opposite it.

use outrigger_core::engine::ur::UrEvent;
use std::time::Duration;

use outrigger_core::engine::ur::{DownCause, StatesFrom};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::law::JointServoConfig;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::controller::{Action, Controller, Text};
use outrigger_sim::fault::FaultKind;
use outrigger_tests::cosim::Setup;
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time;

/// A port under test with its robot.
pub(crate) trait Bench {
    /// The port connects, or tries to; texts are kept by the controller.
    fn start(setup: Setup) -> Self;

    /// What an operator or a sensor tells the port.
    fn tell(&mut self, input: Input);

    /// What an operator does at the robot.
    fn act(&mut self, action: Action);

    /// What goes wrong from now on; for good where no time is given.
    fn fault(&mut self, kind: FaultKind, lasting: Option<Duration>);

    /// Every connection is reset by the controller's stack.
    fn reset(&mut self);

    /// From now on the controller's stack takes no more bytes from the port, and goes on sending.
    fn take_nothing(&mut self);

    /// Lives on until `done`.
    ///
    /// # Panics
    /// Where that does not happen within any patience, with what was seen instead.
    fn wait(&mut self, what: &str, done: impl FnMut(&Look<'_>) -> bool);

    /// What can be seen now.
    fn look<R>(&mut self, at: impl FnOnce(&Look<'_>) -> R) -> R;

    /// Connects, and lives on until nothing speaks against a request.
    fn ready(&mut self) {
        self.wait("nothing speaks against a request", |look| look.mode == Mode::Monitor && look.unmet.is_empty());
    }

    /// The same, then requests, and lives on until the arm is commanded to move.
    fn command(&mut self) {
        self.command_by(Input::Request);
    }

    /// The same again, from where the motion was ended.
    fn resume(&mut self) {
        self.command_by(Input::Resume);
    }

    /// Somebody, who sees how things stand, asks by this edge.
    fn ask(&mut self, edge: fn(Epoch) -> Input) {
        let epoch = self.look(|look| look.epoch);
        self.tell(edge(epoch));
    }

    /// The same by this edge.
    fn command_by(&mut self, edge: fn(Epoch) -> Input) {
        self.ready();
        let before = self.look(|look| look.said(TextKind::Move));
        self.ask(edge);
        self.wait("the arm is commanded to move", |look| {
            look.mode == Mode::Command && look.said(TextKind::Move) > before
        });
    }
}

/// What can be seen of the port and of its robot at one moment.
pub(crate) struct Look<'a> {
    pub(crate) events: &'a [Event<UrEvent>],
    pub(crate) mode: Mode,
    pub(crate) epoch: Epoch,
    pub(crate) latch: Option<Reason>,
    pub(crate) unmet: ReasonSet,
    /// States the engine was seen with in `Command`, each counted once.
    pub(crate) commanded: u64,
    /// Whether the port has ended.
    pub(crate) over: bool,
    /// The kinds of all texts the controller has heard, in order.
    pub(crate) texts: &'a [TextKind],
    pub(crate) controller: &'a Controller,
}

/// The kinds of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Move,
    /// Zero velocity.
    Hold,
    /// A lone `stopj`.
    Stop,
}

impl TextKind {
    /// Those of the texts that are not in `known` yet are added to it.
    pub(crate) fn learn(known: &mut Vec<Self>, controller: &Controller) {
        known.extend(controller.texts().iter().skip(known.len()).map(Self::of));
    }

    fn of(text: &Text) -> Self {
        if text.text.starts_with("stopj(") {
            return Self::Stop;
        }
        let speeds = text.text.split_once("speedj([").and_then(|(_, rest)| rest.split_once(']'));
        let (speeds, _) = speeds.unwrap_or_else(|| panic!("neither speedj nor stopj: {}", text.text));
        let still = speeds.split(',').all(|speed| speed.parse() == Ok(0.0));
        if still { Self::Hold } else { Self::Move }
    }
}

impl Look<'_> {
    /// How many of this kind.
    pub(crate) fn said(&self, kind: TextKind) -> usize {
        self.texts.iter().filter(|said| **said == kind).count()
    }

    /// The modes gone through, in order.
    pub(crate) fn modes(&self) -> Vec<Mode> {
        let to =
            |event: &Event<UrEvent>| if let Event::Transition(transition) = event { Some(transition.to) } else { None };
        self.events.iter().filter_map(to).collect()
    }

    /// Why `Command` was left, each time.
    pub(crate) fn fallbacks(&self) -> Vec<Reason> {
        let reason = |event: &Event<UrEvent>| match event {
            Event::Transition(transition) if transition.from == Mode::Command => transition.reason,
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }

    /// Why links went down, in order.
    pub(crate) fn downs(&self, of: LinkId) -> Vec<DownCause> {
        let cause = |event: &Event<UrEvent>| match event {
            Event::Peer(UrEvent::Down { link, cause, .. }) if *link == of => Some(*cause),
            _ => None,
        };
        self.events.iter().filter_map(cause).collect()
    }

    /// How many sessions were established.
    pub(crate) fn sessions(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Peer(UrEvent::Established(_)))).count()
    }

    /// For a test that waits in vain.
    pub(crate) fn story(&self) -> String {
        let last = self.events.len().saturating_sub(40);
        let events: Vec<String> = self.events[last..].iter().map(|event| format!("{event:?}")).collect();
        let unmet: Vec<Reason> = self.unmet.iter().collect();
        let texts = self.texts;
        let tail = &texts[texts.len().saturating_sub(8)..];
        format!(
            "{:?}, latch {:?}, unmet {unmet:?}, {} texts, the last {tail:?}\n{}",
            self.mode,
            self.latch,
            texts.len(),
            events.join("\n")
        )
    }
}

/// A robot that stands, and a co-controller that is to turn its base joint by 1 rad in 40 s: moving all the time.
pub(crate) fn slow_turn(software: SoftwareVersion) -> Setup {
    let at = |base, secs| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([base, 0.0, 0.0, 0.0, 0.0, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: time::Duration::from_secs(secs),
    };
    let turn = Trajectory::through(&[at(0.0, 0), at(1.0, 40)]).expect("two waypoints in order");
    let mut setup =
        Setup::servo(software, turn, JointServoConfig { path_tolerance: 6.0, ..JointServoConfig::default() });
    setup.config.peer.connect.states = StatesFrom::Realtime;
    setup
}

/// The software that most scenarios run with: the fastest to arm.
pub(crate) const E_SERIES: SoftwareVersion = SoftwareVersion::new(5, 15);
