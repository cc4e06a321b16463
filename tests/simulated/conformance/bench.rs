//! The interface by which a scenario controls a port and the robot opposite it.

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

/// A driver port under test (Linux or Embassy), with a simulated robot.
pub(crate) trait Bench {
    /// Starts the port, which connects or tries to. The simulated controller keeps all texts that it receives.
    fn start(setup: Setup) -> Self;

    /// Passes an input of an operator or a sensor to the port.
    fn tell(&mut self, input: Input);

    /// Executes an operator's action at the robot.
    fn act(&mut self, action: Action);

    /// Injects a fault from now on. It stays for good if no time is given.
    fn fault(&mut self, kind: FaultKind, lasting: Option<Duration>);

    /// Resets every connection of the port from the controller's side.
    fn reset(&mut self);

    /// Makes the TCP stack of the simulated controller accept no more bytes from the port from now on. It continues to
    /// send.
    fn take_nothing(&mut self);

    /// Runs the port and the robot until `done` returns `true`.
    ///
    /// # Panics
    /// If that does not happen within the time limit; the message has the log so far.
    fn wait(&mut self, what: &str, done: impl FnMut(&Look<'_>) -> bool);

    /// Returns the result of `at` for the present state of port and robot.
    fn look<R>(&mut self, at: impl FnOnce(&Look<'_>) -> R) -> R;

    /// Connects, and runs until a request to command the arm would be accepted.
    fn ready(&mut self) {
        self.wait("nothing speaks against a request", |look| look.mode == Mode::Monitor && look.unmet.is_empty());
    }

    /// Connects, requests, and runs until the arm is commanded to move.
    fn command(&mut self) {
        self.command_by(Input::Request);
    }

    /// Resumes the motion from where it was ended, and runs until the arm is commanded to move.
    fn resume(&mut self) {
        self.command_by(Input::Resume);
    }

    /// Passes an operator's input, which `edge` makes for the current epoch, to the port.
    fn ask(&mut self, edge: fn(Epoch) -> Input) {
        let epoch = self.look(|look| look.epoch);
        self.tell(edge(epoch));
    }

    /// Waits until a request would be accepted, passes the input that `edge` makes for the current epoch, and runs
    /// until the arm is commanded to move.
    fn command_by(&mut self, edge: fn(Epoch) -> Input) {
        self.ready();
        let before = self.look(|look| look.said(TextKind::Move));
        self.ask(edge);
        self.wait("the arm is commanded to move", |look| {
            look.mode == Mode::Command && look.said(TextKind::Move) > before
        });
    }
}

/// The visible state of the port and of its robot at one moment.
pub(crate) struct Look<'a> {
    pub(crate) events: &'a [Event<UrEvent>],
    pub(crate) mode: Mode,
    pub(crate) epoch: Epoch,
    pub(crate) latch: Option<Reason>,
    pub(crate) unmet: ReasonSet,
    /// The number of robot states that the engine received in [`Mode::Command`], each counted once.
    pub(crate) commanded: u64,
    /// `true` if the port has ended.
    pub(crate) over: bool,
    /// The kinds of all texts that the controller has received, in order.
    pub(crate) texts: &'a [TextKind],
    pub(crate) controller: &'a Controller,
}

/// The kinds of text that a port sends to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Move,
    /// A text that commands zero velocity.
    Hold,
    /// A text with a lone `stopj`.
    Stop,
}

impl TextKind {
    /// Adds the kinds of the texts that the controller has received since the last call. `known` has the kinds so far.
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
    /// Returns the number of received texts of this kind.
    pub(crate) fn said(&self, kind: TextKind) -> usize {
        self.texts.iter().filter(|said| **said == kind).count()
    }

    /// Returns the modes that the engine entered, in order.
    pub(crate) fn modes(&self) -> Vec<Mode> {
        let to =
            |event: &Event<UrEvent>| if let Event::Transition(transition) = event { Some(transition.to) } else { None };
        self.events.iter().filter_map(to).collect()
    }

    /// Returns the reason for each exit of the engine from [`Mode::Command`], in order.
    pub(crate) fn fallbacks(&self) -> Vec<Reason> {
        let reason = |event: &Event<UrEvent>| match event {
            Event::Transition(transition) if transition.from == Mode::Command => transition.reason,
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }

    /// Returns the causes for which this link went down, in order.
    pub(crate) fn downs(&self, of: LinkId) -> Vec<DownCause> {
        let cause = |event: &Event<UrEvent>| match event {
            Event::Peer(UrEvent::Down { link, cause, .. }) if *link == of => Some(*cause),
            _ => None,
        };
        self.events.iter().filter_map(cause).collect()
    }

    /// Returns the number of sessions established.
    pub(crate) fn sessions(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Peer(UrEvent::Established(_)))).count()
    }

    /// Returns the state and the last events as text, for the panic message of a test that waits in vain.
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

/// Returns a set-up with a robot at rest, and a co-controller that turns its base joint by 1 rad in 40 s without
/// pause.
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

/// The software with which most scenarios run. Its control cycle is the shortest, so that arming takes the least time.
pub(crate) const E_SERIES: SoftwareVersion = SoftwareVersion::new(5, 15);
