//! Explores every short sequence of requests, lines, faults and commands that make an arm ready, against two rules: *no
//! such command is sent while arming, commanding or stopping*, and *no Arming follows one without an explicit request
//! newer than it*. A third is about the line that requests `brake release`: *it requests once for a rising edge after
//! low for long enough, of an arm in `IDLE` that is not commanded*.
//!
//! [`CommandInterlock`] is explored together with the real [`Operator`] and mode machine, with the mailbox between clients and the
//! engine. Sequences that lead to the same world are continued once. What counts as newer than a command is defined
//! here independently: a message that was put into the mailbox after it, or a line whose rising edge was first observed
//! after it.

mod small;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use outrigger_core::client::dashboard::{
    BrakeConditions, BrakeLine, BrakeRefusal, CommandInterlock, InterlockInput, InterlockOutput, Outcome,
};
use outrigger_core::mode::{
    Acceptance, Activity, Channel, Contact, Epoch, Evidence, Mode, ModeMachine, Operator, OperatorConfig, PeerGate,
    RequestAs, TimedFact,
};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{RobotMode, Safety, SafetyMode, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

use self::small::{CYCLE, mode_config};

const GAP: Duration = CYCLE.times(5);
const START: Instant = Instant::from_micros(1_000_000);

const LOW_FOR: Duration = CYCLE.times(2);
const RELEASED_FOR: Duration = CYCLE.times(4);

fn times() -> OperatorConfig {
    OperatorConfig { low_for: LOW_FOR, released_for: RELEASED_FOR, low_states: 2, ..OperatorConfig::default() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Established,
    LinkLost,
    /// A state one cycle later: of an arm with closed brakes, of one that is ready, or of one that is ready and has
    /// accepted us.
    Idle,
    Running,
    Accepted,
    /// A time without a state, so long that states are missed.
    Wait,
    Fault,
    /// A client puts a request to command, with the present epoch, or a release into the mailbox. The release replaces
    /// a request that waits there.
    Request,
    Release,
    Acknowledge,
    /// The engine receives the first pending message.
    Take,
    /// The level of the request line changes, at the robot's input or at the pin.
    Input,
    Pin,
    /// The level of the line that requests to release the brakes changes.
    Brakes,
    /// A client requests a dashboard command that makes the arm ready. The interlock is told the mode as it is, or
    /// `Monitor` if it is behind.
    Ask,
    AskBehind,
    Listens,
    ListensBehind,
    /// The engine has processed the release that the interlock requested; reported only if no message waits.
    Released,
    Looked,
    Over,
}

/// The explored state: interlock, operator, mode machine, mailbox, lines, and the observer's record for the rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    operator: Operator,
    machine: ModeMachine,
    leave: CommandInterlock,
    now: Instant,
    evidence: Option<(Event, Instant)>,
    input: bool,
    pin: bool,
    /// The level of the request line at the robot's input in the newest state.
    shown: bool,
    line: BrakeLine,
    brakes: bool,
    /// The time since which the line that requests to release the brakes is low, and the time of its last rising edge.
    brakes_low: Option<Instant>,
    brakes_rose: Option<Instant>,
    release_waits: bool,
    request_waits: Option<Epoch>,
    /// `true` if the interlock requested a release and `Released` was not reported to it yet.
    released: bool,
    /// The number of dashboard commands sent since the interlock last requested a connection.
    sent: u8,
    /// `true` if a client requested to command, or a request line rose, since the last dashboard command; `None` before
    /// the first.
    requested_since: Option<bool>,
}

/// The observations of one event.
#[derive(Default)]
struct Step {
    output: Option<InterlockOutput>,
    /// `true` if the event first shows a rising edge of a request line.
    rose: bool,
}

impl World {
    fn boot(config: OperatorConfig) -> Self {
        assert_eq!(config.check(), Ok(()));
        let mut operator = Operator::new(config);
        operator.start(START);
        Self {
            line: BrakeLine::new(&config),
            brakes: false,
            brakes_low: None,
            brakes_rose: None,
            operator,
            machine: ModeMachine::new(mode_config()),
            leave: CommandInterlock::new(),
            now: START,
            evidence: None,
            input: false,
            pin: false,
            shown: false,
            release_waits: false,
            request_waits: None,
            released: false,
            sent: 0,
            requested_since: None,
        }
    }

    fn facts(&self) -> Evidence {
        let Some((seen, at)) = self.evidence else { return Evidence::default() };
        fn held<T>(value: T, at: Instant) -> Option<TimedFact<T>> {
            Some(TimedFact::new(value, at))
        }
        let program = if seen == Event::Accepted { Activity::Running } else { Activity::Stopped };
        let robot_mode = if seen == Event::Idle { RobotMode::Idle } else { RobotMode::Running };
        Evidence {
            timely: true,
            link_entry: held(true, at),
            robot_mode: held(robot_mode, at),
            safety: held(Safety::Mode(SafetyMode::Normal), at),
            sources: held(Ok(()), at),
            at_rest: held(true, at),
            following: held(true, at),
            moving_by_us: held(false, at),
            gate: held(PeerGate::Ready, at),
            acceptance: Acceptance { program_running: held(program, at), ..Acceptance::default() },
            ..Evidence::default()
        }
    }

    fn step(&mut self, event: Event) {
        let (before, mut step) = (self.clone(), Step::default());
        let mode = self.machine.mode();
        let asks = |input, mode| Some((input, mode));
        let mut leave = None;
        match event {
            Event::Established => drop(self.machine.established(self.now)),
            Event::LinkLost => drop(self.machine.link_lost(self.now, Reason::LinkClosed)),
            Event::Idle | Event::Running | Event::Accepted => {
                self.now = self.now + CYCLE;
                self.operator.wake(self.now);
                self.evidence = Some((event, self.now));
                let _ = self.machine.observe(self.now, &self.facts());
                step.rose = self.input && !self.shown;
                self.shown = self.input;
                let facts = self.facts();
                let _ = self.operator.observe(self.input.into(), true, GAP, &mut self.machine, &facts, self.now);
            }
            Event::Wait => {
                self.now = self.now + CYCLE.times(7);
                self.operator.wake(self.now);
                let _ = self.machine.tick(self.now);
            }
            Event::Fault => drop(self.machine.fault(self.now, Reason::VelocityLimit)),
            Event::Request => self.request_waits = Some(self.machine.epoch()),
            Event::Release => (self.release_waits, self.request_waits) = (true, None),
            Event::Acknowledge => drop(self.operator.acknowledge(Channel::Message, &mut self.machine, self.now)),
            Event::Take => self.take(),
            Event::Input => self.input ^= true,
            Event::Pin => {
                self.pin ^= true;
                step.rose = self.pin;
                let facts = self.facts();
                let _ = self.operator.pin(Contact::Request, self.pin, &mut self.machine, &facts, self.now);
            }
            Event::Brakes => {
                self.brakes ^= true;
                if self.press() {
                    leave = asks(InterlockInput::Asked, mode);
                }
            }
            Event::Ask => leave = asks(InterlockInput::Asked, mode),
            Event::AskBehind => leave = asks(InterlockInput::Asked, Mode::Monitor),
            Event::Listens => leave = asks(InterlockInput::Listens, mode),
            Event::ListensBehind => leave = asks(InterlockInput::Listens, Mode::Monitor),
            Event::Released if self.released && !self.release_waits && self.request_waits.is_none() => {
                self.released = false;
                leave = asks(InterlockInput::Released, mode);
            }
            Event::Released => {}
            Event::Looked => leave = asks(InterlockInput::Looked, mode),
            Event::Over => leave = asks(InterlockInput::Over, mode),
        }
        if let Some((input, mode)) = leave {
            let output = self.leave.handle(input, mode);
            if output == InterlockOutput::Release {
                (self.release_waits, self.request_waits, self.released) = (true, None, true);
            }
            step.output = Some(output);
        }
        self.check(&before, event, &step);
        let _ = self.machine.action();
    }

    /// Observes the level of the line that requests to release the brakes; returns whether it requests that now, and
    /// checks it by the rule.
    fn press(&mut self) -> bool {
        let fresh = self.evidence.filter(|(_, at)| self.now.since(*at) <= CYCLE.times(4));
        let robot_mode = fresh.map(|(seen, _)| if seen == Event::Idle { RobotMode::Idle } else { RobotMode::Running });
        let software = Some(SoftwareVersion::new(5, 15));
        let came =
            self.line.see(self.brakes, BrakeConditions { mode: self.machine.mode(), software, robot_mode }, self.now);
        // The rule, implemented a second time.
        let low = std::mem::replace(&mut self.brakes_low, (!self.brakes).then_some(self.now));
        let settled = low.is_some_and(|since| self.now.since(since) >= LOW_FOR);
        let calm = self.brakes_rose.is_none_or(|at| self.now.since(at) >= RELEASED_FOR);
        let counts = self.brakes && settled && calm;
        if self.brakes && low.is_some() {
            self.brakes_rose = Some(self.now);
        }
        let free = matches!(self.machine.mode(), Mode::Offline | Mode::Monitor);
        let granted = counts && free && robot_mode == Some(RobotMode::Idle);
        assert_eq!(came == Some(Ok(())), granted, "{came:?}");
        let held = self.brakes && low.is_some() && !counts;
        assert_eq!(came == Some(Err(BrakeRefusal::LineHeld)), held, "{came:?}");
        assert_eq!(
            came.is_some(),
            self.brakes && low.is_some(),
            "a fall, or a level that was not seen low before, says nothing"
        );
        granted
    }

    /// Passes the first pending message to the engine.
    fn take(&mut self) {
        if std::mem::take(&mut self.release_waits) {
            let _ = self.operator.release(&mut self.machine, self.now);
        } else if let Some(epoch) = self.request_waits.take() {
            let facts = self.facts();
            let _ = self.operator.request(epoch, &mut self.machine, &facts, self.now);
        }
    }

    fn check(&mut self, before: &Self, event: Event, step: &Step) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        if matches!(event, Event::Request) || step.rose {
            self.requested_since = self.requested_since.map(|_| true);
        }
        if from != Mode::Arming && to == Mode::Arming {
            assert_ne!(self.requested_since, Some(false), "armed by a request that is older than the command");
        }
        match step.output {
            Some(InterlockOutput::Send) => {
                assert!(matches!(to, Mode::Offline | Mode::Monitor), "a command goes out in {to:?}");
                assert_eq!(self.request_waits, None, "a request waits while it goes out");
                assert_eq!(self.sent, 0, "sent twice");
                assert!(!self.operator.asks_by_itself(), "this device still asks by itself");
                (self.sent, self.requested_since) = (1, Some(false));
            }
            Some(InterlockOutput::End(Outcome::Busy)) => assert_eq!(self.leave, before.leave),
            Some(InterlockOutput::End(outcome)) => {
                assert_eq!(outcome, Outcome::Commanding);
                assert!(!matches!(to, Mode::Offline | Mode::Monitor), "refused in {to:?}");
                assert!(!self.leave.is_busy());
            }
            Some(InterlockOutput::Connect) => self.sent = 0,
            Some(InterlockOutput::Release | InterlockOutput::Nothing) | None => {}
        }
        // A release is requested when a client requests a command and the server listens, and not before.
        if step.output == Some(InterlockOutput::Release) {
            assert!(matches!(event, Event::Listens | Event::ListensBehind) && before.leave.is_busy());
        }
    }

    fn fingerprint(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, self).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }
}

fn alphabet(config: &OperatorConfig) -> Vec<Event> {
    use Event::*;
    let mut events = vec![
        Established,
        LinkLost,
        Idle,
        Running,
        Accepted,
        Wait,
        Fault,
        Request,
        Release,
        Acknowledge,
        Take,
        Ask,
        AskBehind,
        Brakes,
        Listens,
        ListensBehind,
        Released,
        Looked,
        Over,
    ];
    events.extend(config.request_input.map(|_| Input));
    events.extend(config.request_pin.then_some(Pin));
    events
}

/// The results of an exploration: the number of distinct worlds, of dashboard commands sent, and of transitions into
/// `Arming` after one.
#[derive(Debug, Default)]
struct Found {
    worlds: usize,
    sent: usize,
    armed_after: usize,
}

/// Explores every sequence of up to `depth` events after `prefix`, and adds the numbers to `found`.
fn explore(config: OperatorConfig, prefix: &[Event], depth: usize, found: &mut Found) {
    let events = alphabet(&config);
    let mut start = World::boot(config);
    prefix.iter().for_each(|event| start.step(*event));
    let mut known = HashSet::from([start.fingerprint()]);
    let mut ways: Vec<(usize, Event)> = vec![(0, Event::Fault)];
    let mut frontier = vec![(0, start)];
    for _ in 0..depth {
        let mut next = Vec::new();
        for (at, world) in frontier {
            for event in &events {
                let mut after = world.clone();
                let stepped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| after.step(*event)));
                if let Err(cause) = stepped {
                    let (mut back, mut at) = (vec![*event], at);
                    while at != 0 {
                        back.push(ways[at].1);
                        at = ways[at].0;
                    }
                    let way: Vec<_> = prefix.iter().chain(back.iter().rev()).collect();
                    eprintln!("after {way:?}\nwith {config:?}");
                    std::panic::resume_unwind(cause);
                }
                if !known.insert(after.fingerprint()) {
                    continue;
                }
                found.sent += usize::from(after.sent > world.sent);
                let armed = world.machine.mode() != Mode::Arming && after.machine.mode() == Mode::Arming;
                found.armed_after += usize::from(armed && after.requested_since.is_some());
                next.push((ways.len(), after));
                ways.push((at, *event));
            }
        }
        frontier = next;
    }
    found.worlds += known.len();
}

/// Explores from boot, `Monitor`, commanding, and each stage of a dashboard command that makes the arm ready, with
/// closed and with open brakes.
fn explore_all(config: OperatorConfig, depth: usize) {
    use Event::*;
    let ready: &[Event] = &[Established, Running];
    let commanding: &[Event] = &[Established, Running, Running, Running, Input, Pin, Running, Request, Take, Accepted];
    let listening: &[Event] = &[Established, Idle, Idle, Idle, Ask, Listens];
    let waiting: &[Event] = &[Established, Running, Request, Ask, Listens];
    let out: &[Event] = &[Established, Idle, Idle, Idle, Ask, Listens, Take, Released];
    // With the request line raised and held as well.
    let pressed: &[Event] =
        &[Established, Idle, Brakes, Idle, Brakes, Idle, Idle, Idle, Input, Pin, Brakes, Listens, Take, Released];
    let done: &[Event] = &[Established, Idle, Idle, Idle, Ask, Listens, Take, Released, Over, Running];
    let mut found = Found::default();
    for prefix in [&[], ready, commanding, listening, waiting, out, pressed, done] {
        // A world has only the lines that are configured.
        let there = |event: &&Event| match event {
            Input => config.request_input.is_some(),
            Pin => config.request_pin,
            _ => true,
        };
        let prefix: Vec<_> = prefix.iter().filter(there).copied().collect();
        explore(config, &prefix, depth, &mut found);
    }
    println!("{found:?}");
    assert!(found.worlds > 20_000 && found.sent > 50 && found.armed_after > 10, "{found:?}");
}

#[test]
fn messages_alone() {
    explore_all(times(), 6);
}

#[test]
fn a_device_that_asks_by_itself() {
    explore_all(OperatorConfig { start_within: Some(CYCLE.times(40)), ..times() }, 6);
}

#[test]
fn a_line_that_is_held() {
    explore_all(OperatorConfig { request_input: Some(0), ..times() }, 6);
    explore_all(OperatorConfig { request_pin: true, ..times() }, 5);
}

#[test]
fn a_line_that_is_an_edge() {
    explore_all(OperatorConfig { request_input: Some(0), input_as: RequestAs::Edge, ..times() }, 6);
    explore_all(OperatorConfig { request_pin: true, pin_as: RequestAs::Edge, ..times() }, 5);
}
