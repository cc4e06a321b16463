//! Explores every short sequence of requests, renewals, states and faults, against the rules of freedrive and force
//! mode: *such a motion begins only if a client requests it in `Command`, and continues only while that client renews
//! it and the arm stays within its limits.*
//!
//! The [`Guide`] is explored together with the real mode machine, and a program on the controller that obeys or does
//! not. The rules are implemented here a second time, from what an observer sees sent, and from its record of the
//! requests:
//!
//! * `Start` is sent once for each granted motion, and never after commanding has ended.
//! * From then on, states are answered only by `Start`, `Keep` or `Cancel`; and by `Keep` only while the client that
//!   began the motion renewed it in time, the tool was shown within its limits, and nobody requested the end.
//! * A renewal by another client is refused and changes nothing.
//! * If the renewal lapses, or a limit is exceeded, commanding has ended by the end of that very step, for that reason.
//! * A pause at the pendant has ended commanding by the end of that step, and latches no reason.
//! * A motion that has ended begins nothing: `Keep` is sent then, which moves nothing.

mod small;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use outrigger_core::mode::{
    Acceptance, Action, Activity, ClientNumber, Drive, Evidence, Guide, GuideLimits, Mirrored, Mode, ModeConfig,
    ModeMachine, MoveNumber, PeerGate, Pendant, TimedFact,
};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{Pose, RobotMode, Safety, SafetyMode, State, Twist};
use outrigger_wire::time::{Duration, Instant};

use self::small::CYCLE;

const RENEW: Duration = CYCLE.times(4);
const START: Instant = Instant::from_micros(1_000_000);

/// Returns a configuration with short timeouts, including those of moves that the controller executes.
fn mode_config() -> ModeConfig {
    let mut config = small::mode_config();
    config.delegated.mirror_age = CYCLE.times(4);
    config.delegated.state_timeout = CYCLE.times(4);
    config.delegated.start_timeout = CYCLE.times(3);
    config.delegated.cancel_timeout = CYCLE.times(2);
    assert_eq!(config.check(), Ok(()));
    config
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    /// A state one cycle later: the tool within its limits, too fast, too far, or not shown.
    Calm,
    Fast,
    Far,
    Blind,
    /// A state one cycle later, at rest.
    Rest,
    /// A state one cycle later, with the program paused at the pendant.
    Paused,
    /// Two cycles without a state.
    Wait,
    /// The program ends the motion by itself.
    GivesUp,
    Begin(u32),
    /// A client requests a move that the controller executes, or a force in addition to that move.
    Move,
    Join,
    Renew(u32),
    End,
    Release,
    Fault,
}

const EVENTS: [Event; 17] = [
    Event::Calm,
    Event::Fast,
    Event::Far,
    Event::Blind,
    Event::Rest,
    Event::Paused,
    Event::Wait,
    Event::GivesUp,
    Event::Begin(1),
    Event::Begin(2),
    Event::Move,
    Event::Join,
    Event::Renew(1),
    Event::Renew(2),
    Event::End,
    Event::Release,
    Event::Fault,
];

/// The observer's record of a granted motion by hand or force (freedrive, force mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Granted {
    number: MoveNumber,
    asker: u32,
    renewed: Instant,
    started: bool,
    ends: bool,
}

#[derive(Clone, Debug)]
struct World {
    machine: ModeMachine,
    guide: Guide,
    now: Instant,
    seen: Event,
    seen_at: Instant,
    shown: Mirrored,
    granted: Option<Granted>,
    /// The number of the latest move that the controller was asked to execute; `None` before the first.
    moved: Option<MoveNumber>,
    /// `true` if the program on the controller receives the outputs and obeys them.
    hears: bool,
    /// The events of the explored sequence so far, each with the output that the mode machine and the guide gave to it.
    story: Vec<(Event, Out)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    Nothing,
    Hold,
    Law,
    Start(MoveNumber),
    Keep,
    Cancel(MoveNumber),
    Stop,
}

impl World {
    /// Returns a world in `Command`, with an arm that was at rest long enough for a motion to begin.
    fn commanding(hears: bool) -> Self {
        let machine = ModeMachine::new(mode_config());
        let mut world = Self {
            machine,
            guide: Guide::default(),
            now: START,
            seen: Event::Rest,
            seen_at: START,
            shown: Mirrored::Idle,
            granted: None,
            moved: None,
            hears,
            story: vec![],
        };
        let _ = world.machine.established(world.now);
        for _ in 0..3 {
            world.step(Event::Rest);
        }
        let facts = world.facts();
        let _ = world.machine.request(world.now, &facts).expect("ready");
        for _ in 0..4 {
            world.step(Event::Rest);
        }
        assert_eq!(world.machine.mode(), Mode::Command);
        world
    }

    fn facts(&self) -> Evidence {
        fn held<T>(value: T, at: Instant) -> Option<TimedFact<T>> {
            Some(TimedFact::new(value, at))
        }
        let at = self.seen_at;
        let commands = matches!(self.machine.mode(), Mode::Arming | Mode::Command);
        Evidence {
            timely: true,
            link_entry: held(true, at),
            robot_mode: held(RobotMode::Running, at),
            safety: held(Safety::Mode(SafetyMode::Normal), at),
            sources: held(Ok(()), at),
            at_rest: held(self.seen == Event::Rest, at),
            following: held(true, at),
            moving_by_us: held(false, at),
            gate: held(PeerGate::Ready, at),
            mirrored: held(self.shown, at),
            slowing: self.seen == Event::Rest,
            pendant: if self.seen == Event::Paused { Pendant::Paused } else { Pendant::Go },
            acceptance: Acceptance {
                program_running: held(if commands { Activity::Running } else { Activity::Stopped }, at),
                ..Acceptance::default()
            },
            ..Evidence::default()
        }
    }

    fn state(&self) -> State<6> {
        let x = if self.seen == Event::Far { 0.7 } else { 0.1 };
        let speed = if self.seen == Event::Fast { 0.3 } else { 0.1 };
        let shows = self.seen != Event::Blind;
        State {
            tcp_pose: shows.then_some(Pose { position: [x, 0.0, 0.0], rotation: [0.0; 3] }),
            tcp_speed: shows.then_some(Twist { linear: [0.0, speed, 0.0], angular: [0.0; 3] }),
            ..State::default()
        }
    }

    /// Returns the output that mode machine and guide permit now, as the engine would send it.
    fn out(&mut self) -> Out {
        match self.machine.action() {
            Action::Silent | Action::Mirror => Out::Nothing,
            Action::Hold => Out::Hold,
            Action::Move(_) => Out::Law,
            Action::Start(_, number) => Out::Start(number),
            Action::Keep => self.guide.ending().map_or(Out::Keep, Out::Cancel),
            Action::Cancel(number) => Out::Cancel(number),
            Action::Stop => Out::Stop,
        }
    }

    fn step(&mut self, event: Event) {
        let before = self.clone();
        let mut out = Out::Nothing;
        match event {
            Event::Calm | Event::Fast | Event::Far | Event::Blind | Event::Rest | Event::Paused => {
                self.now = self.now + CYCLE;
                (self.seen, self.seen_at) = (event, self.now);
                let facts = self.facts();
                let _ = self.machine.observe(self.now, &facts);
                let state = self.state();
                if let Some(reason) = self.guide.observe(&self.machine, &facts, &state, self.now) {
                    let _ = self.machine.fault(self.now, reason);
                }
                self.forget();
                out = self.out();
            }
            Event::Wait => {
                self.now = self.now + CYCLE.times(2);
                if let Some(reason) = self.guide.tick(self.now) {
                    let _ = self.machine.fault(self.now, reason);
                }
                let _ = self.machine.tick(self.now);
                self.forget();
                out = self.out();
            }
            Event::GivesUp => {
                if let Mirrored::Running(number) = self.shown {
                    self.shown = Mirrored::Ended(number);
                }
            }
            Event::Begin(asker) => {
                let (facts, state) = (self.facts(), self.state());
                let asked = ClientNumber(asker);
                let begun = self.guide.begin(asked, limits(), &mut self.machine, &facts, &state, self.now);
                if let Ok(number) = begun {
                    assert_eq!(before.machine.mode(), Mode::Command, "begun outside of Command");
                    assert!(before.seen == Event::Rest, "begun in motion");
                    assert!(before.granted.is_none_or(|granted| !before.runs(granted)), "begun twice");
                    let renewed = self.now;
                    self.granted = Some(Granted { number, asker, renewed, started: false, ends: false });
                }
            }
            Event::Move => {
                let facts = self.facts();
                if let Ok(number) = self.machine.delegate(self.now, &facts) {
                    self.guide.clear();
                    (self.granted, self.moved) = (None, Some(number));
                }
            }
            // The distance would be measured from there.
            Event::Join if self.seen == Event::Far => {}
            Event::Join => {
                let (facts, state) = (self.facts(), self.state());
                let joined = self.guide.join(ClientNumber(1), limits(), &self.machine, &facts, &state, self.now);
                if let Ok(number) = joined {
                    assert_eq!((before.machine.mode(), self.moved), (Mode::Command, Some(number)), "beside nothing");
                    assert_eq!(self.shown, Mirrored::Running(number), "beside what does not run");
                    assert!(!before.guide.is_on(), "joined twice");
                    let renewed = self.now;
                    self.granted = Some(Granted { number, asker: 1, renewed, started: true, ends: false });
                }
            }
            Event::Renew(asker) => match self.guide.renew(ClientNumber(asker), self.now) {
                Ok(()) => {
                    let granted = self.granted.as_mut().expect("renewed something");
                    assert_eq!(granted.asker, asker, "renewed by somebody else");
                    granted.renewed = self.now;
                }
                Err(reason) => {
                    assert_eq!(self.guide, before.guide, "refused, and changed");
                    let other = self.guide.is_on();
                    assert_eq!(reason, if other { Reason::NotYours } else { Reason::NotCommanding });
                }
            },
            Event::End => {
                if self.guide.end(&self.machine).is_ok() {
                    self.granted.as_mut().expect("something to end").ends = true;
                }
            }
            Event::Release => {
                let _ = self.machine.release(self.now);
                self.forget();
            }
            Event::Fault => {
                let _ = self.machine.fault(self.now, Reason::VelocityLimit);
                self.forget();
            }
        }
        self.story.push((event, out));
        self.check(&before, event, out);
        self.obey(out);
    }

    /// Clears the guide (the tested [`Guide`] of freedrive and force mode) when commanding is over, as the engine does.
    fn forget(&mut self) {
        if self.machine.mode() != Mode::Command {
            self.guide.clear();
        }
    }

    /// Returns whether the program may still be moving the arm by this motion.
    fn runs(&self, granted: Granted) -> bool {
        self.machine.mode() == Mode::Command
            && self.machine.drive() == Drive::Delegated(granted.number)
            && self.shown != Mirrored::Ended(granted.number)
    }

    fn check(&mut self, before: &Self, event: Event, out: Out) {
        let mode = self.machine.mode();
        let state =
            matches!(event, Event::Calm | Event::Fast | Event::Far | Event::Blind | Event::Rest | Event::Paused);
        if let Out::Start(number) = out
            && self.moved != Some(number)
        {
            let granted = self.granted.as_mut().expect("started, and nobody asked");
            assert_eq!(
                (granted.number, granted.started, mode),
                (number, false, Mode::Command),
                "started twice, or late"
            );
            assert!(self.now.since(granted.renewed) <= RENEW, "started for one who is gone");
            granted.started = true;
        }
        let Some(granted) = self.granted else {
            assert!(self.moved.is_some() || !matches!(out, Out::Keep | Out::Cancel(_)), "{out:?} of nothing");
            return;
        };
        if out == Out::Keep && self.runs(granted) {
            assert!(self.now.since(granted.renewed) <= RENEW, "goes on for one who is gone");
            assert!(!granted.ends, "goes on after its end was asked for");
            assert!(
                !matches!(event, Event::Fast | Event::Far | Event::Blind),
                "goes on beyond its limits: {:?}",
                self.story
            );
        }
        // The motion was running before this step, as the program showed then, and may have been continued.
        let ran = before.granted == Some(granted) && granted.started && before.runs(granted);
        if state && ran {
            assert!(!matches!(out, Out::Law | Out::Hold | Out::Start(_)), "{out:?} beside a hand");
        }
        let lapsed = self.now.since(granted.renewed) > RENEW;
        if ran && (state || event == Event::Wait) && lapsed {
            assert_ne!(mode, Mode::Command, "nobody renews it");
            self.ended_for(Reason::NotRenewed);
        }
        if ran && state && matches!(event, Event::Fast | Event::Far | Event::Blind) {
            assert_ne!(mode, Mode::Command, "{event:?}, and it goes on");
            let named = if event == Event::Blind { Reason::EvidenceMissing } else { Reason::GuideLimit };
            self.ended_for(if lapsed { Reason::NotRenewed } else { named });
        }
        if ran && event == Event::Paused {
            assert_ne!(mode, Mode::Command, "resuming would let it go on");
            assert_ne!(self.machine.latch(), Some(Reason::ProgramPaused), "a pause is no fault");
        }
        if ran && matches!(event, Event::Release | Event::Fault) {
            assert_eq!(mode, Mode::Stopping);
        }
        if mode == Mode::Stopping && granted.started && state {
            assert!(matches!(out, Out::Cancel(_) | Out::Keep | Out::Stop | Out::Nothing | Out::Hold), "{out:?}");
        }
        // Once commanding has ended, no motion is granted any more.
        if before.machine.mode() == Mode::Command && mode != Mode::Command {
            self.granted = granted.started.then_some(Granted { ends: true, ..granted });
        }
    }

    /// Asserts that commanding ended for this reason, unless the mode machine had a reason of its own in the same step.
    fn ended_for(&self, reason: Reason) {
        let own = [Reason::MoveUnseen, Reason::MoveNotStarted, Reason::StateStale, Reason::EvidenceMissing];
        let latch = self.machine.latch().expect("a reason");
        assert!(latch == reason || own.contains(&latch), "{latch:?} in place of {reason:?}: {:?}", self.story);
    }

    fn obey(&mut self, out: Out) {
        if !self.hears {
            return;
        }
        match out {
            Out::Start(number) => self.shown = Mirrored::Running(number),
            Out::Cancel(number) => self.shown = Mirrored::Ended(number),
            Out::Nothing | Out::Hold | Out::Law | Out::Keep | Out::Stop => {}
        }
    }

    /// Returns a hash of the world without its `story`, by which worlds that were reached before are recognised.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.machine.hash(&mut hasher);
        format!("{:?}", self.guide).hash(&mut hasher);
        (self.now, self.seen, self.seen_at, self.shown, self.granted, self.moved, self.hears).hash(&mut hasher);
        hasher.finish()
    }
}

fn limits() -> GuideLimits {
    GuideLimits { renew_within: RENEW, ..GuideLimits::default() }
}

fn explore(from: World, steps: usize) -> usize {
    let (mut worlds, mut known) = (vec![from], HashSet::new());
    for _ in 0..steps {
        let mut next = vec![];
        for world in &worlds {
            for event in EVENTS {
                let mut world = world.clone();
                world.step(event);
                if known.insert(world.key()) {
                    next.push(world);
                }
            }
        }
        worlds = next;
    }
    known.len()
}

#[test]
fn from_commanding() {
    for hears in [true, false] {
        let known = explore(World::commanding(hears), 8);
        assert!(known > 20_000, "{known} worlds");
    }
}

#[test]
fn from_a_motion_that_runs() {
    let mut world = World::commanding(true);
    world.step(Event::Begin(1));
    for _ in 0..3 {
        world.step(Event::Rest);
        world.step(Event::Renew(1));
    }
    world.step(Event::Calm);
    world.step(Event::Renew(1));
    assert!(matches!(world.shown, Mirrored::Running(_)) && world.guide.is_on(), "{world:?}");
    for hears in [true, false] {
        let known = explore(World { hears, ..world.clone() }, 8);
        assert!(known > 20_000, "{known} worlds");
    }
}

#[test]
fn from_a_move_that_the_controller_makes() {
    let mut world = World::commanding(true);
    world.step(Event::Move);
    for _ in 0..3 {
        world.step(Event::Rest);
    }
    world.step(Event::Calm);
    assert!(matches!(world.shown, Mirrored::Running(_)) && !world.guide.is_on(), "{world:?}");
    for hears in [true, false] {
        let known = explore(World { hears, ..world.clone() }, 8);
        assert!(known > 20_000, "{known} worlds");
    }
}
