//! Explores every short sequence of messages, levels, faults and time, against the rule about the permission to begin
//! motion: *Arming begins only after an explicit request newer than the last release or fallback, except for the one
//! automatic request.*
//!
//! The [`Operator`] is explored together with the real mode machine. Sequences that lead to the same world are
//! continued once. The rules are implemented here a second time, from what an observer of the operator's inputs and
//! outputs knows:
//!
//! * `Arming` begins by a message with the present epoch, by a rising edge of a request line that was low for long
//!   enough since the latest of boot, new epoch, return to `Monitor`, acknowledgement and refusal, or by the automatic
//!   request: once in the life of the process, within its time, before any other input and any latch.
//! * No request is granted while a held line is low or not observed, or a stop line is open or not observed.
//! * A held line that is low, and an open stop line, end `Arming` and `Command` within the configured number of states.
//! * After a release by a line no rising edge counts for a while.
//! * Within one state, the order is: stop, acknowledge, request.
//! * A refusal names the channel of the refused input.

mod small;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use outrigger_core::mode::{
    Acceptance, Activity, Channel, Contact, Epoch, Evidence, Mode, ModeMachine, Operator, OperatorAction,
    OperatorConfig, Outcome, PeerGate, Pendant, Refusal, RequestAs, TimedFact,
};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{RobotMode, Safety, SafetyMode};
use outrigger_wire::time::{Duration, Instant};

use self::small::{CYCLE, mode_config};

/// The longest gap between two states across which a level counts as known.
const GAP: Duration = CYCLE.times(5);

const LOW_FOR: Duration = CYCLE.times(2);
const RELEASED_FOR: Duration = CYCLE.times(4);
const START_WITHIN: Duration = CYCLE.times(20);

fn times() -> OperatorConfig {
    OperatorConfig { low_for: LOW_FOR, released_for: RELEASED_FOR, low_states: 2, ..OperatorConfig::default() }
}

/// The levels of the operator's lines on one channel: the robot's inputs, or the pins of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Levels {
    stop: bool,
    acknowledge: bool,
    request: bool,
}

/// The observed history of one operator line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    /// The latest level; `None` if it is not known.
    level: Option<bool>,
    /// The time since which the line has had this level.
    since: Instant,
    /// The number of consecutive states in which the line had this level, at most three.
    states: u8,
}

impl Seen {
    const NEVER: Self = Self { level: None, since: Instant::ZERO, states: 0 };

    fn look(&mut self, level: bool, now: Instant, settled: bool) {
        if self.level == Some(level) {
            self.states = (self.states + 1).min(3);
        } else {
            *self = Self { level: Some(level), since: now, states: if settled { 3 } else { 1 } };
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Established,
    LinkLost,
    /// A state one cycle later, with the present levels: at rest and ready, accepted, or at rest and not ready.
    Ready,
    Accepted,
    NotReady,
    /// A state one cycle later, too old to be acted on.
    Late,
    /// A state that shows a stop, or a pause, at the pendant.
    Stopped,
    Paused,
    /// This many cycles without a state.
    Wait(u8),
    Fault,
    /// A client requests to command, with the present epoch or an earlier one.
    Request,
    OldRequest,
    Release,
    Acknowledge,
    /// The level at the robot's inputs changes; every further state shows it.
    Input(Contact),
    /// The debounced level of a pin changes, and is reported.
    Pin(Contact),
    /// The process ends: a release, after which all requests are refused.
    End,
}

/// The explored state: the tested `Operator`, the mode machine, the levels, and the observer's record for the rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    operator: Operator,
    machine: ModeMachine,
    now: Instant,
    evidence: Option<(Event, Instant)>,
    inputs: Levels,
    pins: Levels,
    seen_inputs: [Seen; 3],
    seen_pins: [Seen; 3],
    last_state: Option<Instant>,
    /// `true` while no operator has acted, no reason was latched and no request was granted: the condition of the
    /// automatic request.
    unspoken: bool,
    /// The time of the latest of boot, acknowledgement and refusal. A request line counts only if it was low since
    /// then.
    spoken: Instant,
    line_released: Option<Instant>,
    automatic_grants: u8,
    lapsed: bool,
    ended: bool,
}

/// The answers of the tested `Operator` to one event.
#[derive(Default)]
struct Step {
    /// `true` if the event is a client's request to command with the present epoch.
    message: bool,
    outcome: Outcome,
    /// `true` if the time within which the automatic request may be granted has passed at this event.
    too_late: bool,
    refusal: Option<Refusal>,
    acknowledged: bool,
}

impl Step {
    const fn lapsed(&self) -> bool {
        self.too_late || self.outcome.lapsed
    }
}

const START: Instant = Instant::from_micros(1_000_000);

impl World {
    fn boot(config: OperatorConfig) -> Self {
        assert_eq!(config.check(), Ok(()));
        let mut operator = Operator::new(config);
        operator.start(START);
        Self {
            operator,
            machine: ModeMachine::new(mode_config()),
            now: START,
            evidence: None,
            inputs: Levels::default(),
            pins: Levels::default(),
            seen_inputs: [Seen::NEVER; 3],
            seen_pins: [Seen::NEVER; 3],
            last_state: None,
            unspoken: true,
            spoken: START,
            line_released: None,
            automatic_grants: 0,
            lapsed: false,
            ended: false,
        }
    }

    fn config(&self) -> OperatorConfig {
        *self.operator.config()
    }

    fn facts(&self) -> Evidence {
        let Some((seen, at)) = self.evidence else { return Evidence::default() };
        fn held<T>(value: T, at: Instant) -> Option<TimedFact<T>> {
            Some(TimedFact::new(value, at))
        }
        let program = if seen == Event::Accepted { Activity::Running } else { Activity::Stopped };
        Evidence {
            timely: seen != Event::Late,
            link_entry: held(seen != Event::NotReady, at),
            robot_mode: held(RobotMode::Running, at),
            safety: held(Safety::Mode(SafetyMode::Normal), at),
            sources: held(Ok(()), at),
            at_rest: held(true, at),
            following: held(true, at),
            moving_by_us: held(false, at),
            gate: held(PeerGate::Ready, at),
            acceptance: Acceptance { program_running: held(program, at), ..Acceptance::default() },
            pendant: match seen {
                Event::Stopped => Pendant::Stopped,
                Event::Paused => Pendant::TextPaused,
                _ => Pendant::Go,
            },
            ..Evidence::default()
        }
    }

    fn bits(&self) -> u64 {
        let config = self.config();
        let bit = |input: Option<u8>, high: bool| input.map_or(0, |input| u64::from(high) << input);
        bit(config.stop_input, self.inputs.stop)
            | bit(config.acknowledge_input, self.inputs.acknowledge)
            | bit(config.request_input, self.inputs.request)
    }

    /// Returns the observed lines that stop the arm if they are low (request lines to be held, and stop lines), each
    /// with whether it is configured.
    fn lines(&self) -> [(bool, Seen); 4] {
        let config = self.config();
        let held = |there: bool, means: RequestAs| there && means == RequestAs::Held;
        let [input_stop, _, input_request] = self.seen_inputs;
        let [pin_stop, _, pin_request] = self.seen_pins;
        [
            (config.stop_input.is_some(), input_stop),
            (held(config.request_input.is_some(), config.input_as), input_request),
            (config.stop_pin, pin_stop),
            (held(config.request_pin, config.pin_as), pin_request),
        ]
    }

    /// Returns whether a rising edge of a request line requests to command now, if the line was observed as `before`
    /// until then.
    fn counts(&self, before: Seen) -> bool {
        let entered = self.machine.entered();
        let since = before.since.max(self.spoken).max(entered);
        before.level == Some(false)
            && self.now.since(since) >= LOW_FOR
            && self.line_released.is_none_or(|at| self.now.since(at) >= RELEASED_FOR)
    }

    fn step(&mut self, event: Event) {
        let before = self.clone();
        let mut step = Step::default();
        let mut rises = [false; 2];
        match event {
            Event::Established => {
                let _ = self.machine.established(self.now);
            }
            Event::LinkLost => {
                let _ = self.machine.link_lost(self.now, Reason::LinkClosed);
            }
            Event::Ready | Event::Accepted | Event::NotReady | Event::Late | Event::Stopped | Event::Paused => {
                self.now = self.now + CYCLE;
                step.too_late = self.operator.wake(self.now);
                self.evidence = Some((event, self.now));
                let _ = self.machine.observe(self.now, &self.facts());
                rises[0] = self.look_at_inputs(event != Event::Late);
                step.outcome = self.judge(event != Event::Late);
            }
            Event::Wait(cycles) => {
                self.now = self.now + CYCLE.times(cycles.into());
                step.too_late = self.operator.wake(self.now);
                let _ = self.machine.tick(self.now);
            }
            Event::Fault => {
                let _ = self.machine.fault(self.now, Reason::VelocityLimit);
            }
            Event::Request | Event::OldRequest => {
                let epoch = self.machine.epoch();
                let old = Epoch::from_number(epoch.number().wrapping_sub(1));
                step.message = event == Event::Request;
                let facts = self.facts();
                let asked =
                    self.operator.request(if step.message { epoch } else { old }, &mut self.machine, &facts, self.now);
                if !step.message && !self.ended {
                    assert_eq!(asked, Err(Refusal::of_request(Channel::Message, Reason::WrongEpoch)));
                }
                step.outcome.requested = Some(asked);
            }
            Event::Release => {
                let _ = self.operator.release(&mut self.machine, self.now);
            }
            Event::Acknowledge => {
                let answer = self.operator.acknowledge(Channel::Message, &mut self.machine, self.now);
                step.refusal = answer.err();
                step.acknowledged = true;
            }
            Event::Input(contact) => flip(&mut self.inputs, contact),
            Event::Pin(contact) => {
                flip(&mut self.pins, contact);
                let high = level(self.pins, contact);
                let seen = &mut self.seen_pins[contact as usize];
                let was = *seen;
                seen.look(high, self.now, true);
                rises[1] = contact == Contact::Request && high && before.counts(was);
                let facts = self.facts();
                step.outcome = self.operator.pin(contact, high, &mut self.machine, &facts, self.now);
            }
            Event::End => {
                let _ = self.operator.end(&mut self.machine, self.now);
            }
        }
        self.check(&before, event, &step, rises);
        self.remember(&before, event, &step);
    }

    /// Observes the levels of the robot's inputs in a state; returns whether the request line has a rising edge that
    /// counts.
    fn look_at_inputs(&mut self, fresh: bool) -> bool {
        if self.last_state.is_none_or(|at| self.now.since(at) > GAP) {
            self.seen_inputs = [Seen::NEVER; 3];
        }
        self.last_state = Some(self.now);
        let was = self.seen_inputs[Contact::Request as usize];
        let counts = self.counts(was);
        for contact in [Contact::Stop, Contact::Acknowledge, Contact::Request] {
            let (high, seen) = (level(self.inputs, contact), &mut self.seen_inputs[contact as usize]);
            if fresh {
                seen.look(high, self.now, false);
            } else if high && seen.level == Some(false) {
                *seen = Seen::NEVER;
            }
        }
        fresh && self.inputs.request && counts
    }

    fn judge(&mut self, fresh: bool) -> Outcome {
        let (bits, facts) = (self.bits(), self.facts());
        let outcome = self.operator.observe(bits, fresh, GAP, &mut self.machine, &facts, self.now);
        outcome.unwrap_or_default()
    }

    fn check(&self, before: &Self, event: Event, step: &Step, [input_rose, pin_rose]: [bool; 2]) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        let config = self.config();
        let state = matches!(
            event,
            Event::Ready | Event::Accepted | Event::NotReady | Event::Late | Event::Stopped | Event::Paused
        );
        let acknowledged_here = matches!(step.outcome.acknowledged, Some(Ok(())));

        // The rule itself.
        if from != Mode::Arming && to == Mode::Arming {
            assert!(!self.ended && event != Event::End, "armed after the end");
            assert_eq!(self.machine.latch(), None, "armed over a latch");
            let message = event == Event::Request;
            let by_input = state && input_rose && config.request_input.is_some() && !acknowledged_here;
            let by_pin = event == Event::Pin(Contact::Request) && pin_rose && config.request_pin;
            let automatic = state
                && config.start_within.is_some()
                && before.unspoken
                && before.machine.latch().is_none()
                && self.automatic_grants == 0
                && self.now.since(START) <= START_WITHIN;
            assert!(message || by_input || by_pin || automatic, "armed by nobody");
            for (there, seen) in self.lines() {
                assert!(!there || seen.level == Some(true), "armed with a line low, open, or not seen");
            }
        }

        // Lines that are low stop the arm.
        let looked = (state && event != Event::Late) || matches!(event, Event::Pin(_));
        if looked && matches!(to, Mode::Arming | Mode::Command) {
            for (there, seen) in self.lines() {
                assert!(!there || seen.level != Some(false) || seen.states < 2, "low, and {to:?} goes on");
            }
        }
        if let Some(stopped) = step.outcome.stopped {
            assert_eq!(stopped.reason, Some(Reason::Released));
            assert!(self.lines().iter().any(|(there, seen)| *there && seen.level == Some(false)), "stopped by no line");
        }
        let pendant = matches!(event, Event::Stopped | Event::Paused) && matches!(from, Mode::Arming | Mode::Command);
        if event == Event::Release || event == Event::End || pendant {
            assert!(!matches!(to, Mode::Arming | Mode::Command), "a release that releases nothing");
        }

        // Refusals name the channel.
        let refusals = [
            step.refusal,
            step.outcome.acknowledged.and_then(Result::err),
            step.outcome.requested.and_then(Result::err),
        ];
        for refusal in refusals.into_iter().flatten() {
            let by = match event {
                Event::Request | Event::OldRequest | Event::Acknowledge => Channel::Message,
                Event::Pin(_) => Channel::Pin,
                _ if refusal.by == Channel::Automatic => Channel::Automatic,
                _ => Channel::Input,
            };
            assert_eq!(refusal.by, by, "{refusal:?}");
            assert_eq!(
                refusal.word == OperatorAction::Acknowledge,
                step.outcome.requested.and_then(Result::err) != Some(refusal)
            );
            assert_eq!(to, if step.outcome.stopped.is_some() { to } else { self.machine.mode() });
        }
        // A refusal is predictable from the unmet preconditions.
        if event == Event::Request && !self.ended && from == Mode::Monitor {
            let facts = before.facts();
            let unmet = before.machine.unmet(&facts, self.now).union(before.operator.unmet());
            assert_eq!(unmet.is_empty(), to == Mode::Arming, "{unmet:?}");
        }
        // A rising edge that does not count is reported, and moves nothing.
        if let Some(Err(Refusal { reason: Reason::LineHeld, by, .. })) = step.outcome.requested {
            assert_ne!(to, Mode::Arming);
            let rose = if by == Channel::Pin { pin_rose } else { input_rose && !acknowledged_here };
            let rose = rose && step.outcome.stopped.is_none();
            assert!(!rose, "a rise that counts was told to be held");
        }
        assert!(!step.outcome.lapsed || self.machine.latch().is_some());
        assert!(!step.too_late || self.now.since(START) > START_WITHIN);
        if config.start_within.is_some() && self.operator.asks_by_itself() {
            assert!(self.now.since(START) <= START_WITHIN, "it still asks by itself");
        }
        if step.lapsed() {
            assert!(!self.lapsed, "lapsed twice");
            assert!(!self.operator.asks_by_itself());
        }
    }

    fn remember(&mut self, before: &Self, event: Event, step: &Step) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        let armed = from != Mode::Arming && to == Mode::Arming;
        let spoke =
            matches!(event, Event::Request | Event::OldRequest | Event::Release | Event::Acknowledge | Event::End);
        let rose = |seen: &[Seen; 3], was: &[Seen; 3]| {
            let (now, was) = (seen[Contact::Request as usize], was[Contact::Request as usize]);
            now.level == Some(true) && was.level == Some(false)
        };
        let config = self.config();
        let line_spoke = (config.request_input.is_some() && rose(&self.seen_inputs, &before.seen_inputs))
            || (config.request_pin && rose(&self.seen_pins, &before.seen_pins));
        let by_line = step.outcome.acknowledged.is_some() || step.outcome.stopped.is_some();
        let open =
            self.lines().iter().step_by(2).any(|(there, seen)| *there && seen.level == Some(false) && seen.states > 1);
        if armed && !spoke && !line_spoke {
            self.automatic_grants += 1;
            assert_eq!(self.automatic_grants, 1, "the automatic request was granted twice");
        }
        // A rising edge while the arm is commanded has no meaning.
        let line_spoke = line_spoke && !matches!(from, Mode::Arming | Mode::Command);
        self.unspoken &= !(spoke || line_spoke || by_line || open || armed || self.machine.latch().is_some());
        let refused = [step.refusal, step.outcome.acknowledged.and_then(Result::err)];
        let refused = refused.into_iter().flatten().next().is_some() || matches!(step.outcome.requested, Some(Err(_)));
        if step.acknowledged || step.outcome.acknowledged.is_some() || refused {
            self.spoken = self.now;
        }
        if step.outcome.stopped.is_some() {
            self.line_released = Some(self.now);
        }
        self.lapsed |= step.lapsed();
        self.ended |= event == Event::End;
        // The actions of the machine are not checked here; they must not pile up, however.
        let _ = self.machine.action();
    }

    /// Returns a 128-bit hash by which worlds that were reached before are recognised.
    fn fingerprint(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, self).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }
}

fn level(levels: Levels, contact: Contact) -> bool {
    match contact {
        Contact::Stop => levels.stop,
        Contact::Acknowledge => levels.acknowledge,
        Contact::Request => levels.request,
    }
}

fn flip(levels: &mut Levels, contact: Contact) {
    match contact {
        Contact::Stop => levels.stop ^= true,
        Contact::Acknowledge => levels.acknowledge ^= true,
        Contact::Request => levels.request ^= true,
    }
}

fn alphabet(config: &OperatorConfig) -> Vec<Event> {
    let mut events = vec![
        Event::Established,
        Event::LinkLost,
        Event::Ready,
        Event::Accepted,
        Event::NotReady,
        Event::Stopped,
        Event::Paused,
        Event::Wait(1),
        Event::Wait(7),
        Event::Fault,
        Event::Request,
        Event::OldRequest,
        Event::Release,
        Event::Acknowledge,
        Event::End,
    ];
    let lines = [
        (config.stop_input.is_some(), Event::Input(Contact::Stop)),
        (config.acknowledge_input.is_some(), Event::Input(Contact::Acknowledge)),
        (config.request_input.is_some(), Event::Input(Contact::Request)),
        (config.request_input.is_some(), Event::Late),
        (config.stop_pin, Event::Pin(Contact::Stop)),
        (config.acknowledge_pin, Event::Pin(Contact::Acknowledge)),
        (config.request_pin, Event::Pin(Contact::Request)),
        (config.start_within.is_some(), Event::Wait(30)),
    ];
    events.extend(lines.into_iter().filter_map(|(there, event)| there.then_some(event)));
    events
}

/// Explores every sequence of up to `depth` events after `prefix`. Returns the number of distinct worlds (operator,
/// mode machine, levels and record), and that of transitions into `Arming`.
fn explore(config: OperatorConfig, prefix: &[Event], depth: usize) -> (usize, usize) {
    let events = alphabet(&config);
    let mut start = World::boot(config);
    prefix.iter().for_each(|event| start.step(*event));
    let mut known = HashSet::from([start.fingerprint()]);
    let mut ways: Vec<(usize, Event)> = vec![(0, Event::Fault)];
    let mut frontier = vec![(0, start)];
    let mut arms = 0;
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
                arms += usize::from(world.machine.mode() != Mode::Arming && after.machine.mode() == Mode::Arming);
                next.push((ways.len(), after));
                ways.push((at, *event));
            }
        }
        frontier = next;
    }
    (known.len(), arms)
}

const TO_MONITOR: [Event; 2] = [Event::Established, Event::Ready];

fn then(events: &[Event], more: &[Event]) -> Vec<Event> {
    [events, more].concat()
}

/// Explores with this configuration from boot, from `Monitor`, from the end of `to_command` (in `Command`), and after a
/// release and a fault from there.
fn explore_all(config: OperatorConfig, to_command: &[Event], depth: usize) {
    let reached = |events: &[Event]| {
        let mut world = World::boot(config);
        events.iter().for_each(|event| world.step(*event));
        world.machine.mode()
    };
    assert_eq!(reached(to_command), Mode::Command, "the way to the middle of it");
    let rest = [Event::Ready; 4];
    let released = then(&then(to_command, &[Event::Release]), &rest);
    let fallen = then(&then(to_command, &[Event::Fault]), &rest);
    assert_eq!((reached(&released), reached(&fallen)), (Mode::Monitor, Mode::Monitor));
    let mut all = (0, 0);
    for prefix in [&[], &TO_MONITOR[..], to_command, &released, &fallen] {
        let (worlds, arms) = explore(config, prefix, depth);
        all = (all.0 + worlds, all.1 + arms);
    }
    println!("{} worlds, {} ways into Arming", all.0, all.1);
    assert!(all.0 > 20_000 && all.1 > 50, "{all:?}");
}

const ASKED: [Event; 5] = [Event::Established, Event::Ready, Event::Request, Event::Accepted, Event::Accepted];

#[test]
fn messages_alone() {
    explore_all(times(), &ASKED, 5);
}

#[test]
fn the_automatic_request() {
    let config = OperatorConfig { start_within: Some(START_WITHIN), ..times() };
    let by_itself = [Event::Established, Event::Ready, Event::Ready, Event::Accepted, Event::Accepted];
    explore_all(config, &by_itself, 5);
}

#[test]
fn the_automatic_request_beside_an_edge_and_a_stop_input() {
    let config = OperatorConfig {
        start_within: Some(START_WITHIN),
        request_input: Some(0),
        stop_input: Some(1),
        input_as: RequestAs::Edge,
        ..times()
    };
    let by_itself =
        [Event::Input(Contact::Stop), Event::Established, Event::Ready, Event::Ready, Event::Accepted, Event::Accepted];
    explore_all(config, &by_itself, 5);
}

const RAISED: [Event; 8] = [
    Event::Established,
    Event::Ready,
    Event::Ready,
    Event::Ready,
    Event::Input(Contact::Request),
    Event::Ready,
    Event::Accepted,
    Event::Accepted,
];

#[test]
fn a_held_input_beside_an_acknowledge_input() {
    let config = OperatorConfig { request_input: Some(0), acknowledge_input: Some(1), ..times() };
    explore_all(config, &RAISED, 5);
}

#[test]
fn an_edge_at_an_input_beside_an_acknowledge_input() {
    let config =
        OperatorConfig { request_input: Some(0), acknowledge_input: Some(1), input_as: RequestAs::Edge, ..times() };
    explore_all(config, &RAISED, 5);
}

#[test]
fn pins_held_with_a_stop() {
    let config = OperatorConfig { request_pin: true, acknowledge_pin: true, stop_pin: true, ..times() };
    let raised = [
        Event::Pin(Contact::Stop),
        Event::Pin(Contact::Request),
        Event::Established,
        Event::Ready,
        Event::Pin(Contact::Request),
        Event::Ready,
        Event::Ready,
        Event::Pin(Contact::Request),
        Event::Accepted,
        Event::Accepted,
    ];
    explore_all(config, &raised, 5);
}

#[test]
fn a_pin_and_an_input_held_together() {
    let config = OperatorConfig { request_pin: true, request_input: Some(3), ..times() };
    let raised = [
        Event::Established,
        Event::Pin(Contact::Request),
        Event::Ready,
        Event::Ready,
        Event::Ready,
        Event::Input(Contact::Request),
        Event::Ready,
        Event::Accepted,
        Event::Accepted,
    ];
    explore_all(config, &raised, 5);
}

#[test]
fn long_random_walks_meet_every_way_to_ask() {
    let configs = [
        OperatorConfig { start_within: Some(START_WITHIN), ..times() },
        OperatorConfig { request_input: Some(0), acknowledge_input: Some(1), stop_input: Some(2), ..times() },
        OperatorConfig { request_pin: true, acknowledge_pin: true, stop_pin: true, ..times() },
        OperatorConfig { request_pin: true, pin_as: RequestAs::Edge, request_input: Some(9), ..times() },
    ];
    let mut armed = [0; 4];
    for (config, armed) in configs.into_iter().zip(&mut armed) {
        let events = alphabet(&config);
        for seed in 1..=200_u64 {
            let mut world = World::boot(config);
            let mut x = seed;
            for _ in 0..400 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let roll = (x >> 33) as usize;
                let helpful = match world.machine.mode() {
                    Mode::Offline => Event::Established,
                    Mode::Monitor if roll % 8 == 3 && world.machine.latch().is_some() => Event::Acknowledge,
                    Mode::Monitor | Mode::Stopping => Event::Ready,
                    Mode::Arming | Mode::Command => Event::Accepted,
                };
                let event = if roll.is_multiple_of(3) { events[roll / 3 % events.len()] } else { helpful };
                let before = world.machine.mode();
                if event != Event::End {
                    world.step(event);
                }
                *armed += usize::from(before != Mode::Arming && world.machine.mode() == Mode::Arming);
            }
        }
    }
    assert!(armed.iter().all(|armed| *armed > 100), "{armed:?}");
}
