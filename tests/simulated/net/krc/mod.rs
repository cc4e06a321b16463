//! Runs with a simulated KRC.

mod configured;
mod disturbed;
mod operated;

use outrigger_core::engine::krc::KrcOptions;
use std::time::Duration;

use outrigger_core::command::outputs::{DigitalOutput, Write};
use outrigger_core::command::{Samples, SourceConfig};
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{
    Control, JointImpedance, KrcConfig, KrlConvention, MirroredFrame, TaskFrame, ToolImpedance,
};
use outrigger_core::kinematics::Posture;
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Law, Reference, Start};
use outrigger_core::link::Grade;
use outrigger_core::mode::{Contact, Epoch, Mode};
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::krc::{
    Bridging, Convention, Fault, FrameOffset, MirroredFrame as Wanted, Move, OffsetAfterStop, OperationMode, Options,
};
use outrigger_sim::time::SimTime;
use outrigger_tests::fri::{Restless, Rig, Swing};
use outrigger_wire::fri::{Command, ControlScheme, KrlIndex, Quality};
use outrigger_wire::robot::{JointPositions, JointVelocities, State, Twist};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time as core;

use self::configured::{CONVENTIONS, frames, laws, periods, scales, schemes, unknowns, wrong};
use self::disturbed::{faults, host, networks};
use self::operated::{lines, operator};

use super::{Draw, Log, count, fault, marks, of_kind, spec, watched, wired, words};

/// The identifier of the sensor that the laws read.
const SENSOR: SourceId = SourceId(0);

/// A function that draws the plan of a regression run, from the run's number within its kind.
type Make = fn(&mut Draw, usize) -> Plan;

/// The kinds of runs: the number of runs of each kind, and the function that draws them.
const KINDS: [(usize, Make); 12] = [
    (FAULTS, faults),
    (30, schemes),
    (24, frames),
    (PERIODS.len() * 2, periods),
    (12, scales),
    (16, unknowns),
    (20, operator),
    (16, lines),
    (20, laws),
    (16, host),
    (17, wrong),
    (20, networks),
];
/// The number of runs with a single fault: three for each kind of fault.
const FAULTS: usize = 3 * disturbed::FAULT.len();
const PERIODS: [u64; 8] = [1, 2, 4, 5, 10, 12, 20, 50];
pub(crate) const RUNS: usize = count(&KINDS);

/// An action in a run, such as a fault or an input.
#[derive(Clone, Debug)]
enum Act {
    Say(Input),
    Request,
    Resume,
    /// A fault as on the command line, without a start: kind, direction, duration \[ms\], argument.
    Fault(&'static str, &'static str, Option<u64>, &'static str),
    Pause(u64),
    /// Sets the time from a measurement to its answer \[µs\], from now on.
    Thinking(u64),
    /// Sets the control scheme that measurements name, in place of the true one.
    Scheme(Option<ControlScheme>),
    /// Sets the digital inputs of the KRC.
    Inputs(u8),
    /// Presses or releases the enabling switch.
    Enabled(bool),
    Push(f64),
    /// Selects another control scheme, if it may be changed.
    Control(Control),
    /// Sets a boolean variable for the KRL program.
    Bool(u8, bool),
    Senses(Senses),
}

/// The behaviour of the sensor in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Senses {
    #[default]
    Well,
    Nothing,
    NoNumber,
    Far,
    Stuck,
}

/// The source of the motion in a run.
enum Motion {
    Swing(Swing),
    Restless(Restless),
    Law(Box<AnyLaw<7>>),
}

macro_rules! each {
    ($motion:expr, $law:ident => $call:expr) => {
        match $motion {
            Motion::Swing($law) => $call,
            Motion::Restless($law) => $call,
            Motion::Law($law) => $call,
        }
    };
}

impl Checkpoint for Motion {}

impl Law<7> for Motion {
    fn use_posture(&mut self, posture: &Posture<7>) {
        each!(self, law => law.use_posture(posture));
    }

    fn arm(&mut self, start: &Start<'_, 7>) -> Result<(), Reason> {
        each!(self, law => law.arm(start))
    }

    fn step(
        &mut self,
        state: &State<7>,
        samples: &Samples<'_>,
        dt: core::Duration,
    ) -> Result<JointVelocities<7>, Reason> {
        each!(self, law => law.step(state, samples, dt))
    }

    fn sources(&self) -> &[SourceId] {
        each!(self, law => law.sources())
    }

    fn suspend(&mut self) {
        each!(self, law => law.suspend());
    }
}

/// The plan of a run: its set-up, and the actions in it.
struct Plan {
    about: String,
    options: Options,
    config: KrcConfig,
    motion: Motion,
    convention: KrlConvention,
    /// The actions, each with its time \[ms\] from when a request would be accepted, at the latest from the end of
    /// [`patience`](Self::patience).
    acts: Vec<(u64, Act)>,
    /// `true` if an operator acknowledges and requests again whenever commanding has ended.
    insists: bool,
    patience: u64,
    length: u64,
}

impl Plan {
    /// Creates a plan with a KRC of this period \[ms\], and link thresholds that react as fast as possible.
    fn new(draw: &mut Draw, period: u64) -> Self {
        let mut options = Options {
            period: Duration::from_millis(period),
            seed: draw.between(1, 1 << 40),
            first_counter: draw.of(&[1, 700, 65_200, 64_000]),
            ..Options::default()
        };
        options.rating.rise_after = draw.of(&[5, 20, 100 / period.min(20) as u32]);
        let mut config = KrcConfig {
            peer: KrcOptions { first_counter: draw.of(&[1, 65_000]), ..KrcOptions::default() },
            ..KrcConfig::default()
        };
        if period > 2 || !draw.one_in(3) {
            config.mode.good_cycles = Some(draw.between(3, 40) as u32);
            config.link.rise_time = Some(core::Duration::ZERO);
        }
        let motion = if draw.one_in(2) {
            Motion::Swing(Swing::new(draw.of(&[0.1, 0.3, 0.9]), draw.of(&[1.0, 2.0])))
        } else {
            Motion::Restless(Restless::new(draw.of(&[0.2, 0.99]), draw.between(1, 1 << 40)))
        };
        Self {
            about: format!("{period} ms"),
            options,
            config,
            motion,
            convention: KrlConvention::RosControl,
            acts: vec![(0, Act::Request)],
            insists: true,
            patience: 2_500,
            length: draw.between(1_500, 2_500),
        }
    }

    fn at(&mut self, millis: u64, act: Act) -> &mut Self {
        self.acts.push((millis, act));
        self
    }

    /// Selects the convention with this index in [`CONVENTIONS`], by which driver and KRL program use the KRL
    /// variables, for both. Also makes the program start in the configured control scheme: not every convention
    /// transmits one.
    fn converse(&mut self, which: usize) {
        self.options.program.scheme = self.config.peer.control.scheme();
        (self.convention, self.options.program.convention) = CONVENTIONS[which % CONVENTIONS.len()];
    }
}

const fn instant(time: SimTime) -> core::Instant {
    core::Instant::from_micros(time.as_micros())
}

/// Executes the run with this number and returns its record.
pub(crate) fn run(draw: &mut Draw, number: usize) -> Log {
    let (make, index) = of_kind(&KINDS, number);
    let plan = make(draw, index);
    let Plan { mut about, options, config, motion, convention, mut acts, insists, patience, length } = plan;
    acts.sort_by_key(|(at, _)| *at);
    let scheme = |control: &Control| control.scheme().to_string();
    about += &format!(", {} {}", scheme(&config.peer.control), convention.name());
    let mut log = Log::default();
    let mut rig = Rig::new(options.clone(), config, motion, convention);
    rig.written = Some(vec![]);
    let mut sensor = Sensor { sensed: config.sources[0], ..Sensor::default() };
    let ready = |rig: &Rig<Motion>| rig.session.unmet(instant(rig.krc.now())).is_empty();
    while !ready(&rig) && rig.krc.now() < SimTime::from_millis(patience) {
        sensor.read(&mut rig);
        rig.advance(5);
    }
    let begun = rig.krc.now();
    let mut quiet = begun;
    let mut acts = acts.into_iter().peekable();
    loop {
        let passed = rig.krc.now().since(begun).as_millis() as u64;
        while let Some((at, act)) = acts.next_if(|(at, _)| *at <= passed) {
            about += &format!(", {at} {}", told(&act));
            does(&mut rig, &act, &mut sensor, &mut log);
        }
        if passed >= length {
            break;
        }
        sensor.read(&mut rig);
        let next = acts.peek().map_or(length, |(at, _)| *at).min(passed + 5).min(length);
        rig.advance(next - passed);
        if rig.session.mode() != Mode::Monitor || !insists || !rig.is_awake() {
            quiet = rig.krc.now();
        } else if rig.krc.now().since(quiet) >= Duration::from_millis(300) {
            quiet = rig.krc.now();
            rig.input(Input::Acknowledge);
            rig.request();
        }
    }
    log.about = about;
    for (at, event) in rig.event_times.iter().zip(&rig.events) {
        log.note(*at, event);
    }
    for (at, reason) in rig.krc.fallbacks() {
        log.mark("krc-left", format!("{reason:?}"));
        log.events.push((*at, format!("(the KRC left the command state: {reason:?})")));
    }
    log.events.sort_by_key(|(at, _)| *at);
    log.mark("period", format!("{} ms", options.period.as_millis()));
    if config.operator.start_within.is_some() && log.marks.contains("mode Arming") {
        log.mark("channel", "automatic");
    }
    let commanded = rig.transitions().any(|transition| transition.to == Mode::Command);
    if commanded {
        log.mark("commanded", scheme(&config.peer.control));
        log.mark("commanded", format!("{} {}", scheme(&config.peer.control), convention.name()));
        log.mark("commanded", format!("scale {}", options.program.scale));
        log.mark("commanded", format!("{} ms", options.period.as_millis()));
        log.mark("commanded", format!("{:?}", options.operation).to_lowercase());
        if let Control::ToolImpedance(tool) = config.peer.control {
            log.mark("commanded", format!("mirrors {:?}", tool.mirrors).to_lowercase());
            log.mark("commanded", format!("measured-in {:?}", config.peer.task_frame).to_lowercase());
        }
    }
    log.written = rig.written.take().unwrap_or_default().into_iter().map(|(at, bytes)| (at, "krc", bytes)).collect();
    log
}

/// A sensor with six values, read every 10 ms.
#[derive(Default)]
struct Sensor {
    sensed: Option<SourceConfig>,
    senses: Senses,
    next: SimTime,
    seq: u32,
    held: Option<SampleValue>,
}

impl Sensor {
    fn read(&mut self, rig: &mut Rig<Motion>) {
        let now = rig.krc.now();
        let Some(config) = self.sensed.filter(|_| now >= self.next && rig.is_awake()) else { return };
        self.next = now + Duration::from_millis(10);
        self.seq += 1;
        let wave = 0.05 * (now.as_micros() as f64 * 3e-6).sin() as f32;
        let mut value = [0.1 + wave, wave, 0.0, 0.0, -wave, 0.0];
        match self.senses {
            Senses::Well | Senses::Stuck => {}
            Senses::Nothing => return,
            Senses::NoNumber => value[0] = f32::NAN,
            Senses::Far => value[0] = 3.0,
        }
        let value = SampleValue::new(&value[..config.channels.into()]).expect("six numbers at most");
        let value = if self.senses == Senses::Stuck { *self.held.get_or_insert(value) } else { value };
        self.held = Some(value);
        rig.input(Input::Sample(Sample { source: config.id, value, seq: self.seq, taken_at: instant(now) }));
    }
}

fn does(rig: &mut Rig<Motion>, act: &Act, sensor: &mut Sensor, log: &mut Log) {
    if !rig.is_awake() && matches!(act, Act::Say(_) | Act::Request | Act::Resume | Act::Control(_) | Act::Bool(..)) {
        return;
    }
    match act {
        Act::Say(input) => {
            log.mark("input", words::input(input));
            rig.input(*input);
        }
        Act::Request => {
            log.mark("input", "request");
            rig.request();
        }
        Act::Resume => {
            log.mark("input", "resume");
            rig.input(Input::Resume(rig.session.mode_machine().epoch()));
        }
        Act::Fault(kind, place, lasting, argument) => {
            log.mark("fault", format!("{kind}{place}"));
            log.mark("fault", kind);
            let spec = spec(kind, place, &format!("{}us", rig.krc.now().as_micros() + 1), *lasting, argument);
            rig.krc.add_fault(spec.parse().expect("a fault"));
        }
        Act::Pause(lasting) => {
            log.mark("host", "paused");
            rig.pause_host(Duration::from_millis(*lasting));
        }
        Act::Thinking(micros) => {
            log.mark("host", "slow");
            rig.thinking = Duration::from_micros(*micros);
        }
        Act::Scheme(scheme) => rig.told_scheme = *scheme,
        Act::Inputs(inputs) => {
            log.mark("input", "truth-values");
            rig.krc.set_inputs(*inputs);
        }
        Act::Enabled(held) => rig.krc.set_enabled(*held),
        Act::Push(down) => rig.krc.push([0.0, 0.0, -down, 0.0, 0.0, 0.0]),
        Act::Control(control) => {
            let set = rig.session.monitoring().map(|monitoring| monitoring.set(*control).is_ok());
            log.mark("control-set", format!("{set:?}").to_lowercase());
        }
        Act::Bool(krl, value) => {
            rig.session.krl_mut().set_bool(KrlIndex::from_krl(*krl).expect("one of sixteen"), *value);
        }
        Act::Senses(senses) => {
            log.mark("sensor", format!("{senses:?}").to_lowercase());
            sensor.senses = *senses;
        }
    }
}

/// Returns a short name of an action, for the data file.
fn told(act: &Act) -> String {
    match act {
        Act::Say(Input::Set(write)) => format!("set {}", words::set(write)),
        Act::Say(input) => words::input(input).to_owned(),
        Act::Request => "request".into(),
        Act::Resume => "resume".into(),
        Act::Fault(kind, place, lasting, argument) => fault(kind, place, *lasting, argument),
        Act::Pause(lasting) => format!("pause {lasting}ms"),
        Act::Thinking(micros) => format!("answers after {micros}us"),
        Act::Scheme(scheme) => scheme.map_or("its own scheme".into(), |scheme| format!("scheme {}", scheme.raw())),
        Act::Inputs(inputs) => format!("inputs {inputs:03b}"),
        Act::Enabled(held) => format!("enabled {held}"),
        Act::Push(down) => format!("push {down}N"),
        Act::Control(control) => format!("control {}", control.scheme()),
        Act::Bool(krl, value) => format!("bool {krl} {value}"),
        Act::Senses(senses) => format!("senses {senses:?}").to_lowercase(),
    }
}

/// Returns the marks (named occurrences such as `mode Command`) that must occur in the runs with a KRC.
pub(crate) fn required() -> Vec<String> {
    let mut all: Vec<String> = Fault::kinds().map(|kind| format!("fault {kind}")).collect();
    all.extend(marks("mode", &["Offline", "Monitor", "Arming", "Command", "Stopping"]));
    let events = [
        "mode",
        "refused",
        "grade",
        "clock-jump",
        "local-stall",
        "bridged",
        "output",
        "lapsed",
        "krc-found",
        "krc-silent",
        "krc-foreign",
        "krc-malformed",
        "krc-state",
        "krc-quality",
        "krc-scheme",
        "krc-power",
        "krc-other-scheme",
    ];
    all.extend(marks("event", &events));
    all.extend(marks("input", &["request", "resume", "release", "acknowledge", "shutdown", "set", "truth-values"]));
    all.extend(marks("control-set", &["none", "some(true)"]));
    all.extend(marks("channel", &["automatic", "message", "robot input", "pin"]));
    all.extend(marks("host", &["paused", "slow"]));
    all.extend(marks("sensor", &["nothing", "nonumber", "far", "stuck"]));
    for (convention, _) in CONVENTIONS {
        for scheme in ["POSITION", "JNT_IMP", "CART_IMP"] {
            all.push(format!("commanded {scheme} {}", convention.name()));
        }
    }
    all.extend(PERIODS.iter().map(|period| format!("commanded {period} ms")));
    let rest = [
        "mirrors setpoint",
        "mirrors commanded",
        "mirrors measured",
        "measured-in base",
        "measured-in tool",
        "scale 0.1",
        "scale 0.5",
        "scale 1",
        "automatic",
        "t1",
        "t2",
    ];
    all.extend(marks("commanded", &rest));
    all
}

/// Returns the bytes of a command as readable text: the counter that it answers, the flags, the positions, and a
/// checksum of all bytes.
pub(crate) fn read(_: &'static str, bytes: &[u8]) -> String {
    let Ok(command) = Command::new_checked(bytes) else { return format!("{bytes:02x?}") };
    let sum = bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte));
    let (to, frame) = (command.jnt_pos(), command.cart_pos().position);
    format!(
        "answers {} flags {:x} to {to:?} {frame:?} all {sum:016x}",
        command.refl_seq_count(),
        command.flags().bits()
    )
}
