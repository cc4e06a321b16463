//! Runs with a simulated controller of Universal Robots.

mod configured;
mod disturbed;
mod operated;

use outrigger_core::engine::ur::{UrEvent, link_name};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use outrigger_core::client::rtde::{Claim, Claims};
use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, ToolVoltage, Write, WriteOutcome};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::link::Grade;
use outrigger_core::mode::{Contact, Epoch, Mode};
use outrigger_wire::robot::{JointPositions, JointVelocities, RobotModel, SoftwareVersion, Twist};
use outrigger_wire::sensor::{Sample, SampleValue};

use outrigger_core::engine::ur::{FormChoice, OutputsBy, StatesFrom};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::trajectory::{Setpoint, Tolerances, Trajectory, Waypoint};
use outrigger_sim::controller::{Action, Controller, StartState};
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface};
use outrigger_tests::cosim::{Buffers, CrashPoint, Reading, Rig, SENSOR, Sensor, Setup, core_time};
use outrigger_wire::time as core;

use self::configured::{laws, outputs, short, starts, starved, texts, wrong};
use self::disturbed::{anything, faults, hands, host, sensors};
use self::operated::{lines, operator, pendant};

use super::{Draw, Log, count, fault, marks, of_kind, spec, starts_within, watched, wired, words};

/// A function that draws the plan of a regression run, from the run's number within its kind.
type Make = fn(&mut Draw, usize) -> Plan;

/// The kinds of runs: the number of runs of each kind, and the function that draws them.
const KINDS: [(usize, Make); 15] = [
    (FAULTS, faults),
    (TEXTS, texts),
    (24, outputs),
    (20, operator),
    (16, lines),
    (18, sensors),
    (28, wrong),
    (16, host),
    (14, pendant),
    (12, starts),
    (16, laws),
    (24, anything),
    (3, hands),
    (2, starved),
    (1, short),
];
/// The number of runs with a single fault: three for each kind of fault.
const FAULTS: usize = 3 * disturbed::FAULT.len();
const TEXTS: usize = SOFTWARE.len() * 6;
pub(crate) const RUNS: usize = count(&KINDS);

/// Software versions on both sides of each change in the execution of text, and of each generation.
const SOFTWARE: [SoftwareVersion; 15] = [
    SoftwareVersion::new(1, 6),
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 3),
    SoftwareVersion::new(3, 4),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 12),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 0),
    SoftwareVersion::new(5, 8),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(5, 25),
    SoftwareVersion::new(10, 12),
];

/// An action in a run, such as a fault or an input.
#[derive(Clone, Debug)]
enum Act {
    Say(Input),
    Request,
    Resume,
    /// A request of an operator who saw an earlier state (an old epoch).
    OldRequest,
    /// A fault as on the command line, without a start: kind, place, duration \[ms\], argument.
    Fault(&'static str, &'static str, Option<u64>, &'static str),
    Cable(Option<u64>),
    Pause(u64),
    Kill(CrashPoint),
    Pendant(Action),
    Senses(Senses),
    /// A reading out of order, or of a sensor that is not configured.
    Strange(Sample),
    /// Another client of the controller writes this text to a port.
    Other(Port, &'static str),
}

/// The behaviour of a sensor in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Senses {
    #[default]
    Well,
    Nothing,
    NoNumber,
    /// The sensor sends values beyond its range.
    Far,
    /// The sensor sends values within its range that jump to and fro.
    Jumps,
    /// The sensor repeats one value.
    Stuck,
}

/// The plan of a run: its set-up, and the actions in it.
struct Plan {
    about: String,
    setup: Setup,
    rtde: bool,
    /// Actions before any connection is established.
    early: Vec<Act>,
    senses: Rc<Cell<Senses>>,
    /// The actions, each with its time \[ms\] from when a request would be accepted, at the latest from 3 s after the
    /// start.
    acts: Vec<(u64, Act)>,
    /// `true` if an operator acknowledges and requests again whenever commanding has ended.
    insists: bool,
    length: u64,
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn wish(base: f64, now: f64) -> [f32; 6] {
    let swing = (now * 1.7).sin();
    [(0.35 * swing - 0.2 * base) as f32, 0.0, (0.1 * swing) as f32, 0.0, 0.0, (-0.3 * swing) as f32]
}

impl Plan {
    /// Creates a plan with a robot with this software, a motion commanded by a sensor, and link thresholds that react
    /// as fast as possible.
    fn new(draw: &mut Draw, software: SoftwareVersion) -> Self {
        let mut setup = Setup::sweep(software, 0.3);
        let senses = Rc::new(Cell::new(Senses::Well));
        let seen = Rc::clone(&senses);
        let mut held = None;
        let read = move |controller: &Controller| {
            let now = controller.now().as_micros() as f64 * 1e-6;
            let mut value = wish(controller.truth().q[0], now);
            match seen.get() {
                Senses::Well => held = None,
                Senses::Nothing => return None,
                Senses::NoNumber => value[2] = f32::NAN,
                Senses::Far => value[0] = 3.0,
                Senses::Jumps => value[0] = if controller.now().as_micros() % 4_000 < 2_000 { 1.8 } else { -1.8 },
                Senses::Stuck => value = *held.get_or_insert(value),
            }
            SampleValue::new(&value)
        };
        setup.sensors = vec![Sensor { id: SENSOR, period: ms(2), read: Box::new(read) }];
        setup.controller.seed = draw.between(1, 1 << 40);
        setup.latency = Duration::from_micros(draw.of(&[50, 100, 400, 1_200]));
        if !draw.one_in(6) {
            setup.config.link.rise_time = Some(core::Duration::ZERO);
            setup.config.mode.good_cycles = Some(draw.between(3, 40) as u32);
        }
        if draw.one_in(3) {
            setup.config.peer.connect.states = StatesFrom::Realtime;
        }
        let rtde = !draw.one_in(4);
        let length = draw.between(2_000, 3_500);
        Self {
            about: software.to_string(),
            setup,
            rtde,
            early: vec![],
            senses,
            acts: vec![(0, Act::Request)],
            insists: true,
            length,
        }
    }

    fn software(&self) -> SoftwareVersion {
        self.setup.controller.software
    }

    fn at(&mut self, millis: u64, act: Act) -> &mut Self {
        self.acts.push((millis, act));
        self
    }

    fn claim(&mut self, claims: &[Claim]) {
        let claims = claims.iter().fold(Claims::NONE, |claims, claim| claims.with(*claim));
        self.rtde = true;
        self.setup.config.peer.connect.claims = claims;
        self.setup.config.peer.connect.states = StatesFrom::Auto;
    }

    fn law(&mut self, law: AnyLaw<6>) {
        self.setup.law = law;
    }
}

/// The longest time that a run waits at its start until a request would be accepted.
const PATIENCE: Duration = Duration::from_secs(3);

/// Executes the run with this number and returns its record.
pub(crate) fn run(draw: &mut Draw, number: usize) -> Log {
    let (make, index) = of_kind(&KINDS, number);
    let mut plan = make(draw, index);
    plan.acts.sort_by_key(|(at, _)| *at);
    let software = plan.software();
    let mut log = Log::default();
    let mut about = plan.about.clone();
    let mut buffers = if plan.rtde { Buffers::with_rtde() } else { Buffers::default() };
    let mut rig = Rig::new(plan.setup, &mut buffers);
    rig.keep_bytes();
    let by_itself = rig.engine().config().operator.start_within.is_some();
    if by_itself {
        rig.expect_arming();
    }
    for act in &plan.early {
        about += &format!(", early {}", told(act));
        does(&mut rig, act, &plan.senses, &mut log);
    }
    rig.run_until(PATIENCE, |rig| rig.engine().unmet(core_time(rig.now())).is_empty());
    let begun = rig.now();
    let mut quiet = begun;
    let mut acts = plan.acts.into_iter().peekable();
    let mut alive = true;
    loop {
        let passed = rig.now().since(begun).as_millis() as u64;
        while let Some((at, act)) = acts.next_if(|(at, _)| *at <= passed) {
            if alive {
                about += &format!(", {at} {}", told(&act));
                alive = does(&mut rig, &act, &plan.senses, &mut log);
            }
        }
        if passed >= plan.length {
            break;
        }
        let next = acts.peek().map_or(plan.length, |(at, _)| *at).min(passed + 50).min(plan.length);
        rig.run_for(ms(next - passed));
        if rig.engine().mode() != Mode::Monitor || !plan.insists || !alive || !rig.is_awake() {
            quiet = rig.now();
        } else if rig.now().since(quiet) >= ms(400) {
            quiet = rig.now();
            rig.input(Input::Acknowledge);
            rig.request();
        }
    }
    log.about = about;
    note(&mut log, &rig, software);
    if by_itself && log.marks.contains("mode Arming") {
        log.mark("channel", "automatic");
    }
    log
}

/// Executes an action. Returns whether the co-controller's process continues.
fn does(rig: &mut Rig<'_>, act: &Act, senses: &Cell<Senses>, log: &mut Log) -> bool {
    if !rig.is_awake() && matches!(act, Act::Say(_) | Act::Request | Act::Resume | Act::OldRequest | Act::Strange(_)) {
        return true;
    }
    match act {
        Act::Say(input) => {
            log.mark("input", words::input(input));
            if matches!(input, Input::Pin(..)) {
                rig.expect_arming();
            }
            rig.input(*input);
        }
        Act::Request => {
            log.mark("input", "request");
            rig.request();
        }
        Act::Resume => {
            log.mark("input", "resume");
            rig.resume();
        }
        Act::OldRequest => rig.input(Input::Request(Epoch::from_number(9_999))),
        Act::Fault(kind, place, lasting, argument) => {
            log.mark("fault", kind);
            let spec = spec(kind, place, &format!("{}us", rig.now().as_micros() + 1), *lasting, argument);
            rig.controller.inject(Fault::parse(&spec).expect("a fault"));
        }
        Act::Cable(lasting) => {
            log.mark("host", "cable");
            rig.cut_cable(lasting.map(ms));
        }
        Act::Pause(lasting) => {
            log.mark("host", "paused");
            rig.pause_host(ms(*lasting));
        }
        Act::Kill(death) => {
            log.mark("host", "killed");
            rig.kill(*death);
            return false;
        }
        Act::Pendant(action) => {
            if matches!(action, Action::DigitalInputs(_)) {
                log.mark("input", "robot-inputs");
                rig.expect_arming();
            }
            rig.controller.act(*action);
        }
        Act::Senses(what) => {
            log.mark("sensor", format!("{what:?}").to_lowercase());
            senses.set(*what);
        }
        Act::Strange(sample) => {
            log.mark("sensor", "strange");
            let taken_at = core_time(rig.now());
            rig.input(Input::Sample(Sample { taken_at, ..*sample }));
        }
        Act::Other(port, text) => {
            if let Ok(conn) = rig.controller.connect(*port) {
                rig.controller.write(conn, text.as_bytes());
            }
        }
    }
    true
}

/// Returns a short name of an action, for the data file.
fn told(act: &Act) -> String {
    match act {
        Act::Say(Input::Set(write)) => format!("set {}", words::set(write)),
        Act::Say(input) => words::input(input).to_owned(),
        Act::Request => "request".into(),
        Act::Resume => "resume".into(),
        Act::OldRequest => "old request".into(),
        Act::Fault(kind, place, lasting, argument) => fault(kind, place, *lasting, argument),
        Act::Cable(lasting) => lasting.map_or("cable".into(), |lasting| format!("cable {lasting}ms")),
        Act::Pause(lasting) => format!("pause {lasting}ms"),
        Act::Kill(death) => format!("kill {death:?}").to_lowercase(),
        Act::Pendant(action) => format!("{action:?}"),
        Act::Senses(what) => format!("senses {what:?}").to_lowercase(),
        Act::Strange(sample) => format!("sample {} of {}", sample.seq, sample.source.0),
        Act::Other(port, _) => format!("client of {}", port.number()),
    }
}

/// Copies the recorded events and writes of a run to the log, with the marks (named occurrences) for them.
fn note(log: &mut Log, rig: &Rig<'_>, software: SoftwareVersion) {
    let record = rig.record();
    let mut by = "nothing";
    for (at, event) in &record.events {
        log.note(*at, event);
        if let Event::Output { news, .. } = event {
            let news = words::became(news);
            log.mark("output", words::kind(&news));
        }
        if let Event::Peer(UrEvent::Established(identity)) = event {
            by = link_name(identity.states);
            log.mark("states-by", by);
        }
    }
    let generation = format!("{:?}", software.generation()).to_lowercase();
    log.mark("software", software);
    for command in record.commands.iter().filter(|command| command.moves()) {
        let ends = if command.text.contains("stopj") { "self-ending" } else { "bare" };
        let arguments = command.text.split_once("speedj([").and_then(|(_, rest)| rest.split_once(']'));
        let time =
            arguments.and_then(|(_, rest)| rest.split_once(')')).map_or(0, |(rest, _)| rest.matches(',').count());
        let time = if time > 1 { "with-t" } else { "without-t" };
        log.mark("text", format!("{ends} {time} {generation} {by}"));
    }
    if !record.settings.is_empty() {
        log.mark("output", "by-text");
    }
    let sets = |news: &(Write, WriteOutcome)| news.1 == WriteOutcome::Sent;
    if record.settings.is_empty() && record.news().any(|news| sets(&news)) {
        log.mark("output", "by-rtde");
    }
    let written = record.written.as_deref().unwrap_or_default();
    log.written = written.iter().map(|(at, link, bytes)| (*at, link_name(*link), bytes.clone())).collect();
    log.events.sort_by_key(|(at, _)| *at);
}

/// Returns the marks (named occurrences such as `mode Command`) that must occur in the runs with a controller of
/// Universal Robots.
pub(crate) fn required() -> Vec<String> {
    let mut all: Vec<String> = Fault::kinds().map(|kind| format!("fault {kind}")).collect();
    all.extend(SOFTWARE.iter().map(|software| format!("software {software}")));
    all.extend(marks("mode", &["Offline", "Monitor", "Arming", "Command", "Stopping"]));
    let events = [
        "opening",
        "opened",
        "down",
        "established",
        "mode",
        "refused",
        "grade",
        "clock-jump",
        "local-stall",
        "bridged",
        "output",
        "not-ours",
        "report",
        "skipped",
        "malformed",
        "held",
        "lapsed",
        "pendant-overridden",
    ];
    all.extend(marks("event", &events));
    let texts = [
        "bare with-t cb2 realtime",
        "bare with-t cb3 realtime",
        "bare with-t cb3 rtde",
        "bare with-t eseries realtime",
        "bare with-t eseries rtde",
        "bare with-t polyscopex realtime",
        "bare with-t polyscopex rtde",
        "bare without-t cb3 realtime",
        "self-ending with-t cb2 realtime",
        "self-ending with-t cb3 realtime",
        "self-ending with-t cb3 rtde",
        "self-ending with-t eseries realtime",
        "self-ending with-t eseries rtde",
        "self-ending with-t polyscopex realtime",
        "self-ending with-t polyscopex rtde",
        "self-ending without-t cb3 realtime",
    ];
    all.extend(marks("text", &texts));
    let news = [
        "by-text",
        "by-rtde",
        "sent",
        "confirmed",
        "never-shown",
        "not-confirmed",
        "superseded",
        "overwritten",
        "refused:",
    ];
    all.extend(marks("output", &news));
    all.extend(marks("input", &["request", "resume", "release", "acknowledge", "shutdown", "set", "robot-inputs"]));
    all.extend(marks("states-by", &["realtime", "rtde"]));
    all.extend(marks("channel", &["automatic", "message", "robot input", "pin"]));
    all.extend(marks("host", &["cable", "killed", "paused"]));
    all.extend(marks("sensor", &["nothing", "nonumber", "far", "jumps", "stuck", "strange"]));
    all
}

/// Returns bytes written to a link as readable text: text as it is, packages in hexadecimal.
pub(crate) fn read(link: &'static str, bytes: &[u8]) -> String {
    if link == link_name(LinkId::RTDE) {
        return bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    format!("{:?}", String::from_utf8_lossy(bytes))
}
