//! Traces of the machine: the sequence of inputs, and the permitted output after each.
//!
//! `state!(t 8, field = value => Hold)` reads: 8 ms later a state arrives in which `field` has become `value`,
//! and the cycle answers with zero velocity. `quiet!(t 8 => Hold)` is 8 ms without a state. Fields keep their
//! value until they are set again.

use super::*;
use crate::robot::ReasonSet;
use outrigger_wire::robot::{MasterSafetyState, RobotMode, Safety, SafetyMode};
use outrigger_wire::time::{Duration, Instant};

/// An [`Action`] without its authority and without the number of its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    Silent,
    Mirror,
    Hold,
    Move,
    Stop,
    Start,
    Keep,
    Cancel,
}

use Out::{Cancel, Hold, Keep, Mirror, Move, Silent, Start, Stop};

/// The facts about robot, link and program from which the [`Evidence`] for the tested machine is derived.
#[derive(Clone, Copy, Debug)]
struct World {
    timely: bool,
    link_entry: bool,
    robot_mode: RobotMode,
    safety: SafetyMode,
    master: Option<MasterSafetyState>,
    remote: Option<bool>,
    sources: Result<(), Reason>,
    at_rest: bool,
    following: bool,
    moving_by_us: bool,
    gate: PeerGate,
    mirrored: Option<bool>,
    program: Option<Activity>,
    pendant: Pendant,
    slowing: bool,
    mirror: Option<Mirrored>,
    paused: bool,
}

const GOOD: World = World {
    timely: true,
    link_entry: true,
    robot_mode: RobotMode::Running,
    safety: SafetyMode::Normal,
    master: None,
    remote: None,
    sources: Ok(()),
    at_rest: true,
    following: true,
    moving_by_us: false,
    gate: PeerGate::Ready,
    mirrored: None,
    program: Some(Activity::Stopped),
    pendant: Pendant::Go,
    slowing: true,
    mirror: None,
    paused: false,
};

impl World {
    fn evidence(&self, at: Instant) -> Evidence {
        fn held<T>(value: T, at: Instant) -> Option<TimedFact<T>> {
            Some(TimedFact::new(value, at))
        }
        Evidence {
            timely: self.timely,
            link_entry: held(self.link_entry, at),
            robot_mode: held(self.robot_mode, at),
            safety: held(Safety::Mode(self.safety), at),
            master_safety: self.master.and_then(|m| held(m, at)),
            remote: self.remote.and_then(|r| held(r, at)),
            sources: held(self.sources, at),
            at_rest: held(self.at_rest, at),
            strays: false,
            following: held(self.following, at),
            moving_by_us: held(self.moving_by_us, at),
            gate: held(self.gate, at),
            pendant: self.pendant,
            slowing: self.slowing,
            mirrored: self.mirror.and_then(|m| held(m, at)),
            paused: self.paused,
            acceptance: Acceptance {
                mirrored_counter: self.mirrored.and_then(|m| held(m, at)),
                program_state: None,
                program_running: self.program.and_then(|p| held(p, at)),
            },
        }
    }
}

struct Trace {
    machine: ModeMachine,
    now: Instant,
    world: World,
    evidence: Evidence,
    last: Option<Transition>,
}

impl Trace {
    /// Creates a trace (a mode machine with scripted evidence) with 8 ms cycles, three good cycles to command and two
    /// zero velocities to stop, then changes these settings with `configure`.
    fn with(configure: impl FnOnce(&mut ModeConfig)) -> Self {
        let mut config = ModeConfig { good_cycles: 3, stop_cycles: 2, ..ModeConfig::new(Duration::from_millis(8)) };
        configure(&mut config);
        assert_eq!(config.check(), Ok(()));
        let now = Instant::from_micros(1_000_000);
        Self { machine: ModeMachine::new(config), now, world: GOOD, evidence: GOOD.evidence(now), last: None }
    }

    fn new() -> Self {
        Self::with(|_| {})
    }

    fn connected() -> Self {
        let mut t = Self::new();
        t.connect();
        t
    }

    fn commanding() -> Self {
        let mut t = Self::connected();
        t.arm();
        t
    }

    fn connect(&mut self) {
        let transition = self.machine.established(self.now);
        assert_eq!(transition.map(|t| (t.from, t.to)), Some((Mode::Offline, Mode::Monitor)));
        self.state(8);
    }

    /// Takes the mode machine from `Monitor` to `Command` with the fewest events.
    fn arm(&mut self) {
        assert_eq!(self.request(), Ok(Mode::Arming));
        self.world.program = Some(Activity::Running);
        for _ in 0..self.machine.config().good_cycles {
            self.state(8);
        }
        assert_eq!(self.machine.mode(), Mode::Command);
        assert_eq!(self.out(), Move);
    }

    fn state(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        self.evidence = self.world.evidence(self.now);
        self.last = self.machine.observe(self.now, &self.evidence);
    }

    fn quiet(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
        self.last = self.machine.tick(self.now);
    }

    fn request(&mut self) -> Result<Mode, Reason> {
        self.machine.request(self.now, &self.evidence).map(|t| t.map_or(self.machine.mode(), |t| t.to))
    }

    fn fault(&mut self, reason: Reason) {
        self.last = self.machine.fault(self.now, reason);
    }

    fn out(&mut self) -> Out {
        match self.machine.action() {
            Action::Silent => Silent,
            Action::Mirror => Mirror,
            Action::Hold => Hold,
            Action::Move(_) => Move,
            Action::Stop => Stop,
            Action::Start(..) => Start,
            Action::Keep => Keep,
            Action::Cancel(_) => Cancel,
        }
    }

    /// Passes states at rest until the machine has left `Stopping`; asserts that nothing is sent before.
    fn rest(&mut self) {
        self.world.at_rest = true;
        for _ in 0..30 {
            self.state(8);
            if self.machine.mode() != Mode::Stopping {
                return;
            }
            assert_eq!(self.out(), Silent);
        }
        panic!("rest was not seen");
    }
}

macro_rules! state {
    ($t:ident $millis:literal $(, $field:ident = $value:expr)* => $out:expr) => {{
        $($t.world.$field = $value;)*
        $t.state($millis);
        assert_eq!($t.out(), $out, "in {:?}, latched {:?}", $t.machine.mode(), $t.machine.latch());
    }};
}

macro_rules! quiet {
    ($t:ident $millis:literal => $out:expr) => {{
        $t.quiet($millis);
        assert_eq!($t.out(), $out, "in {:?}, latched {:?}", $t.machine.mode(), $t.machine.latch());
    }};
}

macro_rules! expect {
    ($t:ident: $mode:ident) => {
        assert_eq!(($t.machine.mode(), $t.machine.latch()), (Mode::$mode, None))
    };
    ($t:ident: $mode:ident, $reason:ident) => {
        assert_eq!(($t.machine.mode(), $t.machine.latch()), (Mode::$mode, Some(Reason::$reason)))
    };
}

macro_rules! expect_transition {
    ($t:ident: $from:ident -> $to:ident) => {
        assert_eq!(
            $t.last,
            Some(Transition { from: Mode::$from, to: Mode::$to, reason: None, at: $t.now, epoch: $t.machine.epoch() })
        )
    };
    ($t:ident: $from:ident -> $to:ident, $reason:ident) => {
        assert_eq!(
            $t.last,
            Some(Transition {
                from: Mode::$from,
                to: Mode::$to,
                reason: Some(Reason::$reason),
                at: $t.now,
                epoch: $t.machine.epoch()
            })
        )
    };
}

mod arming;
mod commanding;
mod delegated;
mod stopping;
