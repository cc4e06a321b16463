//! Every short sequence of events, from boot and from the middle of each mode, against the invariants of the
//! mode machine. Sequences that lead to the same machine at the same time are followed once: the 20⁸ from boot
//! (3 · 10¹⁰) meet in some 10⁵ worlds. Who may ask is `operator_exhaustive.rs`.
//!
//! The rules are written down here a second time, by what can be seen from outside:
//!
//! * `Move` in `Command` only, once per state, never for an old one; a fault is never followed by one.
//! * `Command` is entered from `Arming` only, after the good cycles and with acceptance shown since.
//! * `Arming` begins by a request only, without latch, with every precondition held; so nothing resumes by itself.
//! * `Stopping` says zero so many times, then stop exactly once, then nothing; rest counts only if measured after.
//! * A robot known to be stopped by itself is told nothing.
//! * The first reason stays latched, none is forgotten, until acknowledged.
//! * Losing sight of a commanded arm leaves `MotionUnknown`, and only measured rest clears it.
//! * Every transition is in the table for that event, and reported; epochs change with authority.
//! * Left alone, every mode ends in `Offline` by its time-outs, in a bounded number of wake-ups.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use outrigger_core::mode::{
    Acceptance, Action, Activity, Evidence, Held, Mode, ModeConfig, ModeMachine, PeerGate, Pendant,
};
use outrigger_core::robot::{Reason, ReasonSet, RobotMode, Safety, SafetyMode};
use outrigger_core::time::{Duration, Instant};

const CYCLE: Duration = Duration::from_millis(8);

/// Small numbers, so that short sequences get everywhere.
fn config() -> ModeConfig {
    let config = ModeConfig {
        good_cycles: 2,
        stop_cycles: 2,
        arming_timeout: CYCLE.times(5),
        state_timeout: CYCLE.times(3),
        stop_timeout: CYCLE.times(9),
        rest_window: CYCLE.times(2),
        evidence_age: CYCLE.times(4),
        offline_after: CYCLE.times(6),
        program_timeout: CYCLE.times(3),
        ..ModeConfig::new(CYCLE)
    };
    assert_eq!(config.check(), Ok(()));
    config
}

/// What a state shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Seen {
    /// At rest, no program.
    Idle,
    /// At rest, our program running.
    Accepted,
    /// Moving as told.
    Moving,
    /// Moving, and after a reconnect it is by our last command.
    MovingByUs,
    /// As `Moving`, but too old to answer with motion.
    Late,
    Protective,
    NotRunning,
    NotFollowing,
    SourceStale,
    LowGrade,
    /// What is commanded is too far from what is measured.
    Strays,
    /// At rest, our program running; perhaps stopped at the pendant.
    PendantWait,
    /// Moving on, although the program was stopped or paused at the pendant.
    PendantStopped,
    PendantPaused,
    /// A state from which nothing could be learned.
    Nothing,
}

impl Seen {
    const ALL: [Self; 15] = [
        Self::Idle,
        Self::Accepted,
        Self::Moving,
        Self::MovingByUs,
        Self::Late,
        Self::Protective,
        Self::NotRunning,
        Self::NotFollowing,
        Self::SourceStale,
        Self::LowGrade,
        Self::Strays,
        Self::PendantWait,
        Self::PendantStopped,
        Self::PendantPaused,
        Self::Nothing,
    ];

    fn evidence(self, at: Instant) -> Evidence {
        if self == Self::Nothing {
            return Evidence::default();
        }
        fn held<T>(value: T, at: Instant) -> Option<Held<T>> {
            Some(Held::new(value, at))
        }
        let program = if self == Self::Idle { Activity::Stopped } else { Activity::Running };
        let safety = if self == Self::Protective { SafetyMode::ProtectiveStop } else { SafetyMode::Normal };
        let mode = if self == Self::NotRunning { RobotMode::Idle } else { RobotMode::Running };
        let moving = !self.shows_rest();
        let pendant = match self {
            Self::PendantWait => Pendant::Wait,
            Self::PendantStopped => Pendant::Stopped,
            Self::PendantPaused => Pendant::Paused,
            _ => Pendant::Go,
        };
        Evidence {
            timely: self != Self::Late,
            link_entry: held(self != Self::LowGrade, at),
            robot_mode: held(mode, at),
            safety: held(Safety::Mode(safety), at),
            sources: held(if self == Self::SourceStale { Err(Reason::SourceStale) } else { Ok(()) }, at),
            at_rest: held(!moving, at),
            strays: self == Self::Strays,
            following: held(self != Self::NotFollowing, at),
            moving_by_us: held(self == Self::MovingByUs, at),
            gate: held(PeerGate::Ready, at),
            pendant,
            slowing: self == Self::Moving || !moving,
            acceptance: Acceptance { program_running: held(program, at), ..Acceptance::default() },
            ..Evidence::default()
        }
    }

    /// No motion text may go out on this.
    fn forbids_text(self) -> bool {
        matches!(self, Self::Protective | Self::NotRunning)
    }

    fn shows_rest(self) -> bool {
        !matches!(
            self,
            Self::Moving
                | Self::MovingByUs
                | Self::Late
                | Self::NotFollowing
                | Self::PendantStopped
                | Self::PendantPaused
                | Self::Nothing
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Established,
    LinkLost,
    /// A cycle later, a state.
    State(Seen),
    /// A cycle later, nothing.
    Tick,
    /// Nothing for longer than any time-out.
    LongSilence,
    Fault(Reason),
    Request,
    Release,
    Acknowledge,
}

fn alphabet() -> Vec<Event> {
    let mut events: Vec<Event> = Seen::ALL.map(Event::State).to_vec();
    events.extend([
        Event::Established,
        Event::LinkLost,
        Event::Tick,
        Event::LongSilence,
        Event::Fault(Reason::VelocityLimit),
        Event::Fault(Reason::EmergencyStop),
        Event::Request,
        Event::Release,
        Event::Acknowledge,
    ]);
    events
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Out {
    Silent,
    Hold,
    Move,
    Stop,
}

/// A machine, the world around it, and what an observer remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    machine: ModeMachine,
    now: Instant,
    seen: Option<(Seen, Instant)>,
    /// In `Arming`: timely states in a row, and whether the last state showed our program.
    good: u32,
    shown: bool,
    /// In `Stopping`: holds and stops said; a message forbade all text.
    holds: u8,
    stops: u8,
    silenced: bool,
    /// In `Stopping`: why; and states in a row, the newest last, in which the arm did not slow down.
    why: Option<Reason>,
    unslowed: u8,
    /// When a state came last.
    heard: Instant,
    /// Stops said in `Monitor` since the connection stands.
    stray_stops: u8,
    /// Since when rest must be shown before the motion is known again.
    unknown_since: Option<Instant>,
    entered: Instant,
}

impl World {
    fn boot() -> Self {
        Self {
            machine: ModeMachine::new(config()),
            now: Instant::from_micros(1_000_000),
            seen: None,
            good: 0,
            shown: false,
            holds: 0,
            stops: 0,
            silenced: false,
            why: None,
            unslowed: 0,
            heard: Instant::ZERO,
            stray_stops: 0,
            unknown_since: None,
            entered: Instant::ZERO,
        }
    }

    fn evidence(&self) -> Evidence {
        self.seen.map_or_else(Evidence::default, |(seen, at)| seen.evidence(at))
    }

    fn out(&mut self) -> Out {
        match self.machine.action() {
            Action::Silent => Out::Silent,
            Action::Hold => Out::Hold,
            Action::Move(_) => Out::Move,
            Action::Stop => Out::Stop,
            Action::Mirror => panic!("nobody asked for a mirror"),
            Action::Start(..) | Action::Keep | Action::Cancel(_) => panic!("nobody gave a move away"),
        }
    }

    /// Plays `event` and checks everything that must hold of this one step.
    fn step(&mut self, event: Event) {
        let before = self.clone();
        let (from, latch, reasons) = (before.machine.mode(), before.machine.latch(), before.machine.reasons());
        let mut refused = None;
        let mut acknowledged = false;
        let mut requested = false;
        let transition = match event {
            Event::Established => self.machine.established(self.now),
            Event::LinkLost => self.machine.link_lost(self.now, Reason::LinkClosed),
            Event::State(seen) => {
                self.now = self.now + CYCLE;
                self.seen = Some((seen, self.now));
                self.machine.observe(self.now, &seen.evidence(self.now))
            }
            Event::Tick => {
                self.now = self.now + CYCLE;
                self.machine.tick(self.now)
            }
            Event::LongSilence => {
                self.now = self.now + CYCLE.times(20);
                self.machine.tick(self.now)
            }
            Event::Fault(reason) => self.machine.fault(self.now, reason),
            Event::Request => {
                requested = true;
                let answer = self.machine.request(self.now, &self.evidence());
                refused = answer.err();
                answer.ok().flatten()
            }
            Event::Release => self.machine.release(self.now),
            Event::Acknowledge => {
                acknowledged = self.machine.acknowledge().is_ok();
                None
            }
        };
        let to = self.machine.mode();

        // The transition reported is the one that happened, and the table allows it for this event.
        match transition {
            Some(t) => {
                assert_eq!((t.from, t.to, t.at), (from, to, self.now));
                assert!(allowed(from, to, event), "{from:?} → {to:?} by {event:?}");
                let upwards = matches!((from, to), (Mode::Offline, _) | (_, Mode::Arming | Mode::Command));
                assert_eq!(t.reason.is_none(), upwards, "a fallback has a reason, a rise has none");
            }
            None => assert_eq!(from, to, "an unreported transition"),
        }

        self.check_latch(latch, reasons, acknowledged, transition.and_then(|t| t.reason), event);
        self.check_way_up(&before, event, requested, refused);
        self.check_unknown(&before, event);
        let epoch_moves = match (from, to) {
            (Mode::Offline, Mode::Monitor) | (Mode::Arming, Mode::Monitor | Mode::Offline) => true,
            (Mode::Command, to) => to != Mode::Command,
            (Mode::Offline | Mode::Monitor | Mode::Arming | Mode::Stopping, _) => false,
        };
        assert_eq!(before.machine.epoch() != self.machine.epoch(), epoch_moves, "epoch of {from:?} → {to:?}");

        if from != to {
            self.entered = self.now;
            (self.good, self.shown) = (0, false);
            if to == Mode::Stopping {
                (self.holds, self.stops, self.unslowed) = (0, 0, 0);
                self.why = transition.and_then(|t| t.reason);
                self.heard = self.now;
            }
            if from == Mode::Offline {
                self.stray_stops = 0;
            }
        }
        match event {
            Event::State(seen) => {
                let forbids = seen.forbids_text();
                self.heard = self.now;
                let slows = seen == Seen::Moving || seen.shows_rest();
                self.unslowed =
                    if slows || from != Mode::Stopping { 0 } else { self.unslowed.saturating_add(1).min(3) };
                self.silenced = forbids || (self.silenced && to == Mode::Stopping && from == Mode::Stopping);
            }
            Event::Fault(Reason::EmergencyStop) => self.silenced = true,
            _ => {}
        }
        self.check_actions(event);
    }

    fn check_latch(
        &self,
        before: Option<Reason>,
        reasons_before: ReasonSet,
        acknowledged: bool,
        reason: Option<Reason>,
        event: Event,
    ) {
        let (after, reasons) = (self.machine.latch(), self.machine.reasons());
        if acknowledged {
            assert_eq!((after, reasons), (None, ReasonSet::EMPTY));
            return;
        }
        assert!(reasons_before.iter().all(|r| reasons.contains(r)), "a reason was forgotten without acknowledge");
        assert!(after.is_none_or(|first| reasons.contains(first)));
        match (before, after) {
            (Some(first), after) => assert_eq!(after, Some(first), "the first reason stays the latched one"),
            (None, None) => {
                assert!(reason.is_none_or(Reason::is_release) || self.machine.mode() == Mode::Offline);
            }
            (None, Some(new)) => {
                let cause = match event {
                    Event::Fault(reason) => Some(reason),
                    _ => reason,
                };
                assert!(Some(new) == cause || (new == Reason::MotionUnknown && cause == Some(Reason::StopTimeout)));
                assert!(!new.is_release());
            }
        }
    }

    fn check_way_up(&mut self, before: &Self, event: Event, requested: bool, refused: Option<Reason>) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        if requested && from == Mode::Monitor {
            let unmet = before.machine.unmet(&before.evidence(), self.now);
            assert_eq!(refused.is_none(), unmet.is_empty(), "refused for {refused:?}, unmet {unmet:?}");
            assert!(refused.is_none_or(|reason| unmet.contains(reason)));
        }
        if from != Mode::Arming && to == Mode::Arming {
            assert!(requested, "armed without a request");
            assert_eq!(before.machine.latch(), None, "armed over a latch");
            assert!(!before.machine.is_motion_unknown(), "armed without knowing that the arm rests");
            let (seen, at) = before.seen.expect("armed without a state");
            assert_eq!(seen, Seen::Idle, "armed on a state that forbids it");
            assert!(self.now.since(at) <= config().evidence_age, "armed on an old state");
        }
        if from == Mode::Arming && matches!(event, Event::State(_)) {
            let Event::State(seen) = event else { return };
            self.good = if seen == Seen::Late { 0 } else { self.good + 1 };
            self.shown = matches!(seen, Seen::Accepted | Seen::PendantWait);
        }
        if from != Mode::Command && to == Mode::Command {
            assert_eq!(from, Mode::Arming, "commanding without arming");
            assert!(self.good >= config().good_cycles, "commanding after {} good cycles", self.good);
            assert!(self.shown, "commanding without acceptance");
        }
    }

    fn check_unknown(&mut self, before: &Self, event: Event) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        let lost_sight = match (from, to) {
            (Mode::Command | Mode::Stopping, Mode::Offline) => true,
            (Mode::Stopping, Mode::Monitor) => {
                !matches!(event, Event::State(seen) if seen.shows_rest())
                    || self.now.since(before.entered) > config().stop_timeout
            }
            _ => false,
        };
        if lost_sight {
            assert!(self.machine.is_motion_unknown(), "{from:?} → {to:?} by {event:?}: nobody knows whether it moves");
            self.unknown_since = Some(self.now);
        }
        assert!(
            !self.machine.is_motion_unknown() || self.unknown_since.is_some(),
            "motion unknown without having lost sight of it"
        );
        if before.machine.is_motion_unknown() && !self.machine.is_motion_unknown() {
            assert!(from == Mode::Monitor && matches!(event, Event::State(seen) if seen.shows_rest()));
            let since = before.unknown_since.expect("since some time").max(before.entered);
            assert!(self.now.since(since) >= config().rest_window, "cleared by a rest too short");
            self.unknown_since = None;
        }
        if from == Mode::Stopping && to == Mode::Monitor && !lost_sight {
            assert!(self.now.since(before.entered) >= config().rest_window, "rest measured before the stop counts");
            let forbidden = before.silenced || matches!(event, Event::State(seen) if seen.forbids_text());
            let by_them = before.why == Some(Reason::ProgramStopped);
            assert!(before.stops == 1 || forbidden || by_them, "at rest before the stop was said");
        }
    }

    fn check_actions(&mut self, event: Event) {
        let mode = self.machine.mode();
        let out = self.out();
        let is_state = matches!(event, Event::State(_));
        if out != Out::Silent {
            assert!(!self.silenced, "{out:?} to a robot that is stopped by its own safety system");
        }
        match (mode, out) {
            (_, Out::Silent) => {}
            (Mode::Command, Out::Move) => {
                assert!(is_state, "a move that answers no state");
                assert!(event != Event::State(Seen::Late), "a move that answers an old state");
                assert!(event != Event::State(Seen::PendantWait), "a move that hides a stop at the pendant");
            }
            (mode, Out::Move) => panic!("a move in {mode:?}"),
            (Mode::Arming, Out::Hold) => assert!(is_state, "a hold that answers no state"),
            (Mode::Stopping, Out::Hold) => {
                self.holds += 1;
                assert!(self.holds <= config().stop_cycles && self.stops == 0);
                let by_pendant = [Some(Reason::ProgramPaused), Some(Reason::ProgramStopped)].contains(&self.why);
                assert!(!by_pendant, "a zero velocity is a program too");
            }
            (Mode::Stopping, Out::Stop) => {
                self.stops += 1;
                assert_eq!(self.stops, 1);
                match self.why {
                    Some(Reason::ProgramPaused) => {}
                    Some(Reason::ProgramStopped) => {
                        let unseen = self.now.since(self.heard) > config().state_timeout;
                        assert!(self.unslowed >= 3 || unseen, "an arm that slows down is left alone");
                    }
                    _ => assert_eq!(self.holds, config().stop_cycles),
                }
            }
            (Mode::Monitor, Out::Stop) => {
                self.stray_stops += 1;
                assert_eq!(self.stray_stops, 1, "one stop for a stray arm");
                assert!(self.machine.is_motion_unknown() && event == Event::State(Seen::MovingByUs));
            }
            (mode, out) => panic!("{out:?} in {mode:?}"),
        }
        if let Event::Fault(_) = event {
            assert_ne!(mode, Mode::Command, "a fault leaves command");
        }
        assert_eq!(self.out(), Out::Silent, "asking twice gives nothing more");
    }

    /// Left alone, every mode ends in `Offline`, without a move and without spinning on a deadline.
    fn check_left_alone(&self) {
        let mut alone = self.clone();
        for _ in 0..12 {
            let Some(deadline) = alone.machine.next_deadline() else {
                assert_eq!(alone.machine.mode(), Mode::Offline, "a mode without a way out by time");
                return;
            };
            alone.now = deadline.max(alone.now);
            let _ = alone.machine.tick(alone.now);
            assert_ne!(alone.out(), Out::Move);
            let next = alone.machine.next_deadline();
            assert!(next.is_none_or(|next| next > alone.now), "a deadline that has passed: {alone:?}");
        }
        panic!("no way out by time: {self:?}");
    }
}

/// The table of the module, by event.
fn allowed(from: Mode, to: Mode, event: Event) -> bool {
    use Event::{Established, Fault, LinkLost, LongSilence, Release, Request, State, Tick};
    match (from, to) {
        (Mode::Offline, Mode::Monitor) => event == Established,
        (Mode::Monitor, Mode::Offline) => matches!(event, LinkLost | LongSilence | Tick),
        (Mode::Monitor, Mode::Arming) => event == Request,
        (Mode::Arming, Mode::Offline) => event == LinkLost,
        (Mode::Arming, Mode::Monitor) | (Mode::Command, Mode::Stopping) => {
            matches!(event, State(_) | Tick | LongSilence | Fault(_) | Release)
        }
        (Mode::Arming, Mode::Command) => matches!(event, State(_)),
        (Mode::Command | Mode::Stopping, Mode::Offline) => event == LinkLost,
        (Mode::Stopping, Mode::Monitor) => matches!(event, State(_) | Tick | LongSilence),
        _ => false,
    }
}

/// Runs `check`, and on a failure prints the events that led there.
fn explained<T>(trace: impl Fn() -> Vec<Event>, check: impl FnOnce() -> T) -> T {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or_else(|cause| {
        eprintln!("after these events:");
        for event in trace() {
            eprintln!("    {event:?}");
        }
        std::panic::resume_unwind(cause)
    })
}

/// 128 bits instead of the world itself: two of 10⁶ worlds share one with a chance below 10⁻²⁶.
fn fingerprint(world: &World) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, world).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// Follows every sequence of up to `depth` events after `prefix`; gives how many distinct worlds there are.
fn explore(prefix: &[Event], depth: usize) -> usize {
    let events = alphabet();
    let mut start = World::boot();
    for event in prefix {
        start.step(*event);
    }
    let mut known = HashSet::from([fingerprint(&start)]);
    // Each with the way that led there, for the report of a failure.
    let mut ways: Vec<(usize, Event)> = vec![(0, Event::Tick)];
    let mut frontier = vec![(0, start)];
    for level in 0..depth {
        let mut next = Vec::new();
        for (at, world) in frontier {
            for event in &events {
                let way = || {
                    let mut back: Vec<Event> = vec![*event];
                    let mut at = at;
                    while at != 0 {
                        back.push(ways[at].1);
                        at = ways[at].0;
                    }
                    prefix.iter().copied().chain(back.into_iter().rev()).collect()
                };
                let after = explained(way, || {
                    let mut after = world.clone();
                    after.step(*event);
                    after
                });
                if !known.insert(fingerprint(&after)) {
                    continue;
                }
                explained(way, || after.check_left_alone());
                if level + 1 < depth {
                    next.push((ways.len(), after));
                    ways.push((at, *event));
                }
            }
        }
        frontier = next;
    }
    known.len()
}

const TO_MONITOR: [Event; 2] = [Event::Established, Event::State(Seen::Idle)];
const TO_ARMING: [Event; 3] = [Event::Established, Event::State(Seen::Idle), Event::Request];
const TO_COMMAND: [Event; 6] = [
    Event::Established,
    Event::State(Seen::Idle),
    Event::Request,
    Event::State(Seen::Accepted),
    Event::State(Seen::Accepted),
    Event::State(Seen::Moving),
];

/// The end of `events`, and the mode it must be in for the test to mean anything.
fn reaches(events: &[Event], mode: Mode) -> World {
    let mut world = World::boot();
    for event in events {
        world.step(*event);
    }
    assert_eq!(world.machine.mode(), mode);
    world
}

fn then(events: &[Event], more: &[Event]) -> Vec<Event> {
    [events, more].concat()
}

#[test]
fn the_prefixes_lead_where_they_say() {
    let _ = reaches(&TO_MONITOR, Mode::Monitor);
    let _ = reaches(&TO_ARMING, Mode::Arming);
    let _ = reaches(&TO_COMMAND, Mode::Command);
    let _ = reaches(&then(&TO_COMMAND, &[Event::Release]), Mode::Stopping);
    let lost = reaches(&then(&TO_COMMAND, &[Event::LinkLost]), Mode::Offline);
    assert!(lost.machine.is_motion_unknown());
}

#[test]
fn every_short_sequence_from_boot_keeps_the_invariants() {
    let worlds = explore(&[], 8);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_from_arming_keeps_the_invariants() {
    let worlds = explore(&TO_ARMING, 6);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_from_command_keeps_the_invariants() {
    let worlds = explore(&TO_COMMAND, 6);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_from_stopping_keeps_the_invariants() {
    let said = [Event::Release, Event::State(Seen::Moving), Event::State(Seen::Moving), Event::State(Seen::Moving)];
    let worlds = explore(&then(&TO_COMMAND, &said), 6);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_after_losing_sight_of_the_arm_keeps_the_invariants() {
    let worlds = explore(&then(&TO_COMMAND, &[Event::LinkLost, Event::Established]), 7);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn long_random_walks_keep_the_invariants_and_visit_everything() {
    let events = alphabet();
    let mut visited = HashSet::new();
    for seed in 1..=40_u64 {
        let mut world = World::boot();
        let mut walked = Vec::new();
        let mut x = seed;
        for _ in 0..2_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let roll = (x >> 33) as usize;
            // Three steps of four follow the way to command, or walks would hardly ever leave Monitor.
            let event = if !roll.is_multiple_of(4) { helpful(&world) } else { events[roll / 4 % events.len()] };
            walked.push(event);
            explained(|| walked.clone(), || world.step(event));
            visited.insert(world.machine.mode());
        }
    }
    assert_eq!(visited.len(), Mode::ALL.len());
}

/// What somebody would do who wants the arm to be commanded.
fn helpful(world: &World) -> Event {
    match world.machine.mode() {
        Mode::Offline => Event::Established,
        Mode::Monitor if world.machine.latch().is_some() && !world.machine.is_motion_unknown() => Event::Acknowledge,
        Mode::Monitor if world.seen.is_some_and(|(seen, at)| seen == Seen::Idle && at == world.now) => Event::Request,
        Mode::Monitor => Event::State(Seen::Idle),
        Mode::Arming => Event::State(Seen::Accepted),
        Mode::Command => Event::State(Seen::Moving),
        Mode::Stopping => Event::State(Seen::Idle),
    }
}
