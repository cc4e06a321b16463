//! Tests of the whole scenario in virtual time: engine, simulated controller, workpiece and sensor, with pauses of the
//! machine chosen by the test. Every bound that applies on some machine is tested, and every deliberate fault with
//! it.

use std::time::Duration as StdDuration;

use clap::ValueEnum as _;
use outrigger_core::engine::ur::UrEngine;
use outrigger_core::engine::{Input, LinkId, Output};
use outrigger_core::law::Standoff;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::{Action, Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface};
use outrigger_sim::time::SimTime;
use outrigger_wire::sensor::{Sample, SampleValue};
use outrigger_wire::time::{Duration, Instant};

use super::deliberate_faults::Broken;
use super::machine_pauses::{Pause, Pauses};
use super::pause_allowance::{Allowance, SENSOR};
use super::record::Record;
use super::scenario::{Effect, Scenario};
use super::scenario_steps::Script;
use super::self_checks::Bounds;
use super::simulated_cell::{options, stall, surface, truth};
use super::{DISTANCE, law};
use crate::report::{Check, Verdict};
use outrigger::vendor::ur::Windows;

/// The longest scenario that a test plays, in virtual time.
const LONGEST: Duration = Duration::from_secs(200);
const READING_EVERY: Duration = Duration::from_millis(2);

/// The time that a slow machine needs for a cycle of the simulated controller that is overdue.
const CATCHING_UP: Duration = Duration::from_micros(400);

/// A machine that pauses programs, for tests: a function that returns which of session and controller is paused at a
/// time, and until when.
type Machine = fn(Instant) -> Held;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Held {
    /// The time until which the session does not run; `None` if it is not paused.
    session: Option<Instant>,
    /// The time until which the simulated controller does not run; it then catches up at once. `None` if it is not
    /// paused.
    controller: Option<Instant>,
    /// `true` if the controller needs [`CATCHING_UP`] for each cycle that it catches up after a pause.
    catches_up_slowly: bool,
    /// `true` if the threads that measure pauses notice this pause.
    noticed: bool,
}

fn quiet(_: Instant) -> Held {
    Held::default()
}

/// Pauses the session and the controller alternately, every `every` ms, for `length` ms. `noticed` is `true` if the
/// threads that measure pauses notice it.
fn paused_by(now: Instant, every: u64, length: u64, noticed: bool) -> Held {
    let millis = now.as_micros() / 1_000;
    let (turn, into) = (millis / every, millis % every);
    let until = Instant::from_micros((turn * every + length) * 1_000);
    let held = (into < length && turn > 0).then_some(until);
    if turn.is_multiple_of(2) {
        Held { session: held, noticed, ..Held::default() }
    } else {
        Held { controller: held, noticed, ..Held::default() }
    }
}

/// The engine of the demo with its simulated surroundings, in virtual time.
struct Rig<'m> {
    controller: Controller,
    connections: [Option<Conn>; LinkId::MOST],
    engine: UrEngine<'m, Standoff<6>>,
    story: Scenario,
    surface: Surface,
    device: DistanceSensor,
    readings: u32,
    next_reading: Instant,
    cable_pulled: bool,
    pauses: Pauses,
    now: Instant,
}

/// The result of a finished run of the demo in virtual time.
struct FinishedRun {
    record: Record,
    script: Script,
    allowance: Allowance,
    options: Options,
    pauses: Pauses,
}

impl FinishedRun {
    fn checks(&self) -> Vec<Check> {
        let bounds = Bounds { allowance: self.allowance, options: &self.options, pauses: &self.pauses };
        self.record.checks(&self.script, &bounds)
    }

    fn failed(&self) -> Vec<&'static str> {
        self.checks().iter().filter(|check| check.failed()).map(|check| check.name).collect()
    }
}

fn tell(seconds: u64, worst: u64, broken: Option<Broken>, machine: Machine) -> FinishedRun {
    let allowance = Allowance::for_pauses(StdDuration::from_millis(worst));
    let (mut config, mut law) = (allowance.config(), law());
    if let Some(broken) = broken {
        broken.spoil_config(&mut config);
        broken.spoil_law(&mut law);
    }
    let options = options(broken);
    let mut controller = Controller::new(options.clone()).expect("a possible controller");
    controller.take_course();
    let surface = surface(&controller);
    let mut windows = Windows::new();
    let engine = UrEngine::new(config, Standoff::new(law), windows.lend()).expect("a possible session");
    let mut rig = Rig {
        device: DistanceSensor::new(options.seed),
        controller,
        connections: [None; LinkId::MOST],
        engine,
        story: Scenario::new(Instant::ZERO, seconds, DISTANCE, allowance, broken),
        surface,
        readings: 0,
        next_reading: Instant::ZERO,
        cable_pulled: false,
        pauses: Pauses::default(),
        now: Instant::ZERO,
    };
    rig.input(Input::Start);
    rig.run(machine);
    let Rig { story, pauses, .. } = rig;
    let Scenario { record, script, allowance, .. } = story;
    FinishedRun { record, script, allowance, options, pauses }
}

impl Rig<'_> {
    fn run(&mut self, machine: Machine) {
        let (mut session_until, mut controller_until) = (Instant::ZERO, Instant::ZERO);
        while !self.engine.is_finished() && self.now < Instant::ZERO + LONGEST {
            let due = self.engine.poll_timeout().unwrap_or(self.next_reading).min(self.next_reading);
            let cycle = Instant::from_micros(self.controller.next_event().as_micros());
            let cycle = cycle.max(controller_until);
            let session = due.max(session_until);
            self.now = cycle.min(session).max(self.now + Duration::from_micros(1));
            let held = machine(self.now);
            let begun = [(held.session, &mut session_until), (held.controller, &mut controller_until)];
            for (until, known) in begun {
                if let Some(until) = until.filter(|until| until > known) {
                    *known = until;
                    if held.noticed {
                        self.pauses.note(Pause { from: self.now, until });
                    }
                }
            }
            if self.now >= controller_until {
                let (now, cycle) = (self.now.as_micros(), self.controller.next_event().as_micros());
                let overdue = held.catches_up_slowly && cycle + CATCHING_UP.as_micros() < now;
                self.controller.advance_to(SimTime::from_micros(if overdue { cycle } else { now }));
                if overdue {
                    controller_until = self.now + CATCHING_UP;
                }
                let course = self.controller.take_course();
                self.story.record.truths.extend(course.iter().filter_map(|moment| truth(&self.surface, moment)));
            }
            if self.now >= session_until {
                self.session();
            }
        }
    }

    /// Runs one turn of the session's control loop.
    fn session(&mut self) {
        for link in (0..LinkId::MOST as u8).filter_map(LinkId::new) {
            while let Some(conn) = self.connections[link.index()] {
                let mut bytes = [0; 4_096];
                let count = self.controller.read(conn, &mut bytes);
                if count == 0 {
                    break;
                }
                let mut rest = &bytes[..count];
                while !rest.is_empty() {
                    let window = self.engine.receive_window(link);
                    let taken = rest.len().min(window.len());
                    window[..taken].copy_from_slice(&rest[..taken]);
                    rest = &rest[taken..];
                    // More data may be waiting. As on a socket, all of it is read at once.
                    self.engine.commit(link, taken, self.now, self.now);
                    self.drain();
                }
            }
        }
        if self.next_reading <= self.now {
            self.next_reading = (self.next_reading + READING_EVERY).max(self.now);
            self.read_sensor();
        }
        self.input(Input::Tick);
        while let Some(input) = self.story.input() {
            self.input(input);
        }
    }

    fn read_sensor(&mut self) {
        let (tool, now) = (self.controller.truth().tool(), self.controller.now());
        let Some(distance) = self.device.read(&self.surface, tool, now).filter(|_| !self.cable_pulled) else { return };
        self.readings += 1;
        let (value, seq) = (SampleValue::scalar(distance as f32), self.readings);
        self.input(Input::Sample(Sample { source: SENSOR, value, seq, taken_at: self.now }));
    }

    fn input(&mut self, input: Input) {
        self.engine.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        loop {
            let mut told = None;
            match self.engine.poll_output() {
                None => break,
                Some(Output::Open { link, endpoint }) => {
                    let port = Port::from_number(endpoint.port).expect("a port of the controller");
                    let conn = self.controller.connect(port).ok();
                    self.connections[link.index()] = conn;
                    told = Some(if conn.is_some() { Input::Opened(link) } else { Input::Refused(link) });
                }
                Some(Output::Abort(link)) => {
                    if let Some(conn) = self.connections[link.index()].take() {
                        self.controller.disconnect(conn);
                    }
                }
                Some(Output::Transmit { link, bytes, .. }) => {
                    if let Some(conn) = self.connections[link.index()] {
                        self.controller.write(conn, bytes);
                    }
                    let _ = self.engine.written(self.now);
                }
                Some(Output::Listen { link, .. }) => told = Some(Input::Refused(link)),
            }
            if let Some(input) = told {
                self.engine.handle(self.now, input);
            }
        }
        while let Some(event) = self.engine.poll_event() {
            self.story.event(self.now, &event);
        }
        let pauses = &self.pauses;
        for effect in self.story.observe(&self.engine, self.now, &|| pauses.clone()) {
            match effect {
                Effect::StallLink(span) => stall(&mut self.controller, self.now, span),
                Effect::PullCable(pulled) => self.cable_pulled = pulled,
                Effect::SecondCommander => self.controller.act(Action::SecondCommander(Some(0.05))),
                // A test's clock has no other clock that it could be slower than.
                Effect::Say(_) | Effect::Slow(_) => {}
            }
        }
    }
}

/// The longest pause of each of three machines within two seconds \[ms\]. The first calls for the usual limits, the
/// second for the widest limits, and the third for time slowed as far as possible.
const MACHINES: [u64; 3] = [4, 30, 10_000];

#[test]
fn the_story_holds_its_checks_under_every_limit() {
    for worst in MACHINES {
        let told = tell(50, worst, None, quiet);
        assert_eq!(told.failed(), Vec::<&str>::new(), "{worst} ms: {:#?}", told.checks());
        assert!(told.script.stops.is_empty(), "{worst} ms: {:?}", told.script.stops);
    }
}

#[test]
fn pauses_within_the_limits_end_nothing_and_keep_the_bounds() {
    let told = tell(50, 30, None, |now| paused_by(now, 430, 60, true));
    assert_eq!(told.failed(), Vec::<&str>::new(), "{:#?}", told.checks());
    assert!(told.script.stops.is_empty(), "{:?}", told.script.stops);
}

#[test]
fn a_measured_pause_beyond_the_limits_is_counted_and_the_arm_re_armed() {
    let told = tell(50, 30, None, |now| paused_by(now, 9_000, 180, true));
    assert_eq!(told.failed(), Vec::<&str>::new(), "{:#?}", told.checks());
    let stops = told.script.by_this_machine().count();
    assert!((1..=3).contains(&stops), "{:?}", told.script.stops);
    let counted: Vec<_> = told.checks().into_iter().filter(|check| check.verdict == Verdict::Counted).collect();
    assert_eq!(counted.len(), 1);
    assert!(counted[0].detail.starts_with(&format!("{stops} of at most 3: ")), "{}", counted[0].detail);
}

/// Pauses the controller for 3.8 ms in every 6 ms, for a tenth of a second of every 9 s. It catches up slowly.
fn slow_by(now: Instant, noticed: bool) -> Held {
    let micros = now.as_micros();
    let until = Instant::from_micros(micros / 6_000 * 6_000 + 3_800);
    let held = micros >= 9_000_000 && micros % 9_000_000 < 100_000 && now < until;
    Held { controller: held.then_some(until), catches_up_slowly: true, noticed, ..Held::default() }
}

#[test]
fn short_pauses_that_lower_the_grade_are_counted_if_they_were_measured() {
    let machines: [(Machine, &[&str]); 2] =
        [(|now| slow_by(now, true), &[]), (|now| slow_by(now, false), &["no-other-fallback"])];
    for (machine, failed) in machines {
        let told = tell(50, MACHINES[0], None, machine);
        assert!(told.script.stops.iter().any(|stop| stop.reason == Reason::GradeLow), "{:?}", told.script.stops);
        assert_eq!(told.failed(), failed, "{:#?}", told.checks());
    }
}

#[test]
fn pauses_that_do_not_end_are_not_counted_for_ever() {
    let told = tell(50, 30, None, |now| paused_by(now, 1_500, 250, true));
    assert!(told.failed().contains(&"paused-by-this-machine"), "{:#?}", told.checks());
}

#[test]
fn a_pause_that_nobody_measured_is_no_excuse() {
    let told = tell(50, 30, None, |now| paused_by(now, 9_000, 180, false));
    assert!(told.failed().contains(&"no-other-fallback"), "{:#?}", told.checks());
}

#[test]
fn every_committed_fault_fails_its_check_under_every_limit() {
    for broken in Broken::value_variants() {
        let check = match broken {
            Broken::NoGain | Broken::WrongDistance => "error-in-bounds",
            Broken::NoFallback => "link-stall-reason",
            Broken::StaleSensor => "sensor-cable-reason",
            Broken::WrongReason => "link-stall-reason",
            Broken::NoReArming | Broken::NoAcknowledgement => "link-stall-re-armed",
            Broken::ResumesByItself => "commanding-only-when-requested",
            Broken::KeepsMoving => "link-stall-at-rest-in-time",
            Broken::SecondCommander => "still-when-not-commanding",
            Broken::SecretStalls => "no-other-fallback",
            Broken::NoRelease => "completed",
        };
        for worst in MACHINES {
            // A machine with pauses is no excuse either.
            for machine in [quiet as Machine, |now| paused_by(now, 430, 30, true)] {
                if machine(Instant::from_micros(500_000)) != Held::default() && worst == MACHINES[0] {
                    continue;
                }
                let told = tell(30, worst, Some(*broken), machine);
                assert!(told.failed().contains(&check), "{broken:?} at {worst} ms: {:#?}", told.checks());
            }
        }
    }
}

#[test]
fn a_check_without_readings_fails_and_prints_no_numbers() {
    let mut told = tell(1, 5, None, quiet);
    told.record.truths.clear();
    for name in [
        "error-in-bounds",
        "link-stall-at-rest-in-time",
        "link-stall-queued-text-harmless",
        "still-when-not-commanding",
    ] {
        let checks = told.checks();
        let check = checks.iter().find(|check| check.name == name).expect("one of the checks");
        assert!(check.failed(), "{name}");
        assert_eq!(check.detail, "not measured: no readings", "{name}");
    }
}
