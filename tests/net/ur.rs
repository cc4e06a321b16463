//! Runs beside a simulated controller of Universal Robots.

use outrigger_core::engine::ur::{UrEvent, link_name};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use outrigger_core::client::rtde::{Claim, Claims};
use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, ToolVoltage, Write, WriteNews};
use outrigger_core::command::{Sample, SampleValue, SourceConfig};
use outrigger_core::law::{
    AnyLaw, CartesianTwist, CartesianTwistConfig, JointServo, JointServoConfig, Reference, SensorFeedForward,
    TwistFrame, TwistInput,
};
use outrigger_core::link::Grade;
use outrigger_core::mode::{Contact, Epoch, Mode, OperatorConfig, RequestAs};
use outrigger_core::robot::{JointPositions, JointVelocities, RobotModel, SoftwareVersion, Twist};

use outrigger_core::engine::ur::{FormChoice, OutputsBy, StatesFrom};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::time as core;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::controller::{Action, Controller, StartState};
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::world::{DistanceSensor, Surface};
use outrigger_tests::cosim::{Buffers, Death, Reading, Rig, SENSOR, Sensor, Setup, core_time};

use super::{Draw, Log, count, of_kind, spec, words};

/// Draws the run of this number, of its kind.
type Make = fn(&mut Draw, usize) -> Plan;

/// How many runs there are of each kind, and what each of them is.
const KINDS: [(usize, Make); 12] = [
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
];
/// Three of each kind of fault.
const FAULTS: usize = 3 * 39;
const TEXTS: usize = SOFTWARE.len() * 6;
pub(crate) const RUNS: usize = count(&KINDS);

/// Software on both sides of each change in how text is executed, and of each generation.
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

/// What is done to a run at some time.
#[derive(Clone, Debug)]
enum Act {
    Say(Input),
    Request,
    Resume,
    /// A request by somebody who saw an earlier state of things.
    OldRequest,
    /// As on the command line, without a start: kind, where, how long \[ms\], argument.
    Fault(&'static str, &'static str, Option<u64>, &'static str),
    Cable(Option<u64>),
    Pause(u64),
    Kill(Death),
    Pendant(Action),
    Senses(Senses),
    /// A reading out of order, or of a sensor that nobody configured.
    Strange(Sample),
    /// Another client of the controller writes this to a port.
    Other(Port, &'static str),
}

/// What a sensor reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Senses {
    #[default]
    Well,
    Nothing,
    NoNumber,
    /// Beyond its range.
    Far,
    /// Within it, and back at once.
    Jumps,
    /// The same again and again.
    Stuck,
}

/// A run to be made.
struct Plan {
    about: String,
    setup: Setup,
    claims: Option<Claims>,
    /// Before anything is connected.
    early: Vec<Act>,
    senses: Rc<Cell<Senses>>,
    /// From when nothing spoke against a request, or from 3 s on.
    acts: Vec<(u64, Act)>,
    /// Somebody acknowledges and requests again whenever commanding has ended.
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
    /// A robot of this software, a motion that a sensor asks for, and a link that is judged as quickly as may be.
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
        let claims = (!draw.one_in(4)).then_some(Claims::NONE);
        let length = draw.between(2_000, 3_500);
        Self {
            about: software.to_string(),
            setup,
            claims,
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
        self.claims = Some(claims);
        self.setup.config.peer.connect.claims = claims;
        self.setup.config.peer.connect.states = StatesFrom::Auto;
    }

    fn law(&mut self, law: AnyLaw<6>) {
        self.setup.law = law;
    }
}

/// The kinds of faults with what they are given, and the oldest software that has them.
const FAULT: [(&str, &[&str], (u8, u8)); 39] = [
    ("split", &["1", "7", "100"], (1, 6)),
    ("coalesce", &["2", "4"], (1, 6)),
    ("delay", &["4ms", "20ms"], (1, 6)),
    ("jitter", &["3ms", "10ms"], (1, 6)),
    ("stall", &[""], (1, 6)),
    ("backlog", &["100ms", "300ms"], (1, 6)),
    ("nagle", &["16ms", "40ms"], (1, 6)),
    ("loss", &["1%", "5%"], (1, 6)),
    ("quick-loss", &["1%", "10%"], (1, 6)),
    ("drop", &[""], (1, 6)),
    ("truncated", &["1", "8", "40"], (1, 6)),
    ("oversize", &["500", "20000"], (1, 6)),
    ("unknown", &[""], (1, 6)),
    ("extended", &["4", "12"], (1, 6)),
    ("polluted", &["3", "17"], (1, 6)),
    ("skip", &["2", "10"], (1, 6)),
    ("repeat", &["2", "10"], (1, 6)),
    ("wrong-type", &[""], (3, 4)),
    ("wrong-recipe", &["3", "10"], (3, 4)),
    ("clock-jump", &["5s", "-2s", "40ms"], (1, 6)),
    ("restart", &[""], (1, 6)),
    ("estop", &[""], (1, 6)),
    ("protective-stop", &[""], (1, 6)),
    ("safeguard", &[""], (1, 6)),
    ("violation", &[""], (1, 6)),
    ("safety-fault", &[""], (1, 6)),
    ("local", &[""], (5, 0)),
    ("service-off", &["rtde", "realtime", "primary"], (5, 10)),
    ("power-off", &[""], (1, 6)),
    ("slider", &["50%", "0", "5%"], (1, 6)),
    ("limiter", &["50%", "0"], (1, 6)),
    ("pause", &[""], (1, 6)),
    ("stop", &[""], (1, 6)),
    ("mute", &[""], (1, 6)),
    ("garbage", &[""], (3, 4)),
    ("hang-up", &[""], (1, 6)),
    ("second-commander", &["0.1", "0.5"], (1, 6)),
    ("foreign-program", &["0", "0.2"], (1, 6)),
    ("digital-input", &["0", "1"], (1, 6)),
];

/// One fault: early, while commanding, or from the start, on all connections or one.
fn faults(draw: &mut Draw, number: usize) -> Plan {
    let (kind, arguments, oldest) = FAULT[number / 3];
    let has: Vec<_> = SOFTWARE.into_iter().filter(|software| software.at_least(oldest.0, oldest.1)).collect();
    let software = draw.of(&has);
    let mut plan = Plan::new(draw, software);
    let argument = draw.of(arguments);
    let one_port = Fault::parse(&format!("{kind}/30003@1s")).is_ok();
    let one_way = Fault::parse(&format!("{kind}/up@1s")).is_ok();
    let place = match () {
        () if one_port && draw.one_in(3) => draw.of(&["/30003", "/30001", "/30004"]),
        () if one_way && draw.one_in(3) => draw.of(&["/up", "/down"]),
        () => "",
    };
    let lasting = draw.of(&[30, 120, 400, 1_500]);
    let lasting = lasts(kind).then_some(if kind == "protective-stop" { UNLOCKED } else { lasting });
    if number % 3 == 2 {
        let lasting = lasting.map(|lasting| lasting + draw.of(&[300, 3_000]));
        let spec = spec(kind, place, &format!("{}ms", draw.between(0, 900)), lasting, argument);
        plan.setup.controller.faults.push(Fault::parse(&spec).expect("a fault"));
        plan.about += &format!(" {spec}");
    } else {
        plan.at(draw.between(900, 1_500), Act::Fault(kind, place, lasting, argument));
    }
    if kind == "protective-stop" {
        plan.length = UNLOCKED + 2_500;
    }
    plan.insists = !draw.one_in(4);
    plan
}

/// How long a protective stop lasts that is unlocked at all \[ms\].
const UNLOCKED: u64 = 5_100;

fn lasts(kind: &str) -> bool {
    !matches!(kind, "clock-jump" | "stop")
}

/// Every form of text on every software, with states by either way.
fn texts(draw: &mut Draw, number: usize) -> Plan {
    let mut plan = Plan::new(draw, SOFTWARE[number / 6]);
    plan.setup.config.peer.text.form = [FormChoice::ByVersion, FormChoice::Bare, FormChoice::SelfEnding][number % 3];
    plan.setup.config.peer.connect.states = if number % 6 < 3 { StatesFrom::Realtime } else { StatesFrom::Auto };
    plan.claims = Some(Claims::NONE);
    if draw.one_in(2) {
        plan.setup.config.peer.text.hold = core::Duration::from_millis(draw.between(40, 120));
        plan.setup.config.peer.text.acceleration = draw.of(&[3.0, 10.0, 14.5]);
    }
    plan.about += &format!(" text {:?}", plan.setup.config.peer.text.form).to_lowercase();
    plan.at(1_400, Act::Say(Input::Release)).at(2_000, Act::Request);
    plan.insists = false;
    plan.length = 3_000;
    plan
}

fn write(draw: &mut Draw) -> Write {
    let high = draw.one_in(2);
    let level = draw.unit();
    match draw.between(0, 10) {
        0 | 1 => Write::Digital { output: DigitalOutput::Standard(draw.between(0, 8) as u8), high },
        2 | 3 => Write::Digital { output: DigitalOutput::Configurable(draw.between(0, 7) as u8), high },
        4 => Write::Digital { output: DigitalOutput::Tool(draw.between(0, 1) as u8), high },
        5 => {
            let domain = draw.of(&[None, Some(AnalogDomain::Voltage), Some(AnalogDomain::Current)]);
            Write::Analog { index: draw.between(0, 2) as u8, domain, level }
        }
        6 => Write::ToolVoltage(draw.of(&[ToolVoltage::V12, ToolVoltage::V24])),
        7 => Write::Flag { index: draw.between(0, 32) as u8, value: high },
        8 => {
            let center_of_gravity = draw.of(&[None, Some([0.01, -0.02, 0.05])]);
            Write::Payload { mass: 8.0 * level, center_of_gravity }
        }
        9 => Write::SpeedSlider(0.4 + level),
        _ => Write::ZeroForceTorqueSensor,
    }
}

/// Outputs beside the motion: by text, by RTDE, not at all; more than there is room for; with another writer.
fn outputs(draw: &mut Draw, number: usize) -> Plan {
    let by = [OutputsBy::Auto, OutputsBy::Text, OutputsBy::Rtde, OutputsBy::Off][number % 4];
    let software = if number.is_multiple_of(3) { draw.of(&SOFTWARE) } else { draw.of(&SOFTWARE[8..]) };
    let mut plan = Plan::new(draw, software);
    plan.setup.config.peer.connect.outputs = by;
    let every = [Claim::Standard, Claim::Configurable, Claim::Tool, Claim::Analog, Claim::SpeedSlider];
    if software.at_least(3, 4) && number % 4 != 1 {
        plan.claim(&every[..draw.between(1, 5) as usize]);
    }
    if number.is_multiple_of(5) {
        plan.setup.config.peer.model = Some(plan.setup.controller.model);
    }
    let (mut at, step) = (200, draw.of(&[3, 40, 170]));
    for _ in 0..draw.of(&[8, 40]) {
        at += draw.between(1, step);
        let set = write(draw);
        plan.at(at, Act::Say(Input::Set(set)));
    }
    match number / 4 {
        1 => {
            plan.at(700, Act::Other(Port::Secondary, "sec other():\n set_standard_digital_out(2,True)\nend\n"));
            plan.at(400, Act::Say(Input::Set(Write::Digital { output: DigitalOutput::Standard(2), high: false })));
        }
        2 => {
            plan.at(300, Act::Fault(draw.of(&["stall", "mute"]), "/30003", Some(1_600), ""));
            plan.length = 3_500;
        }
        3 if software.at_least(5, 0) => {
            plan.at(300, Act::Pendant(Action::SwitchToLocal)).at(1_500, Act::Pendant(Action::SwitchToRemote));
        }
        4 if software.at_least(3, 4) => {
            // As another client: the set-up of an input that is ours.
            plan.early.push(Act::Other(Port::Rtde, "\0\u{1a}Istandard_digital_output"));
            plan.claim(&[Claim::Standard, Claim::SpeedSlider]);
        }
        5 if software.at_least(3, 4) => {
            plan.claim(&[Claim::Force, Claim::Standard]);
            plan.setup.config.peer.force = Some(SENSOR);
            plan.at(900, Act::Senses(Senses::Nothing)).at(1_300, Act::Senses(Senses::Well));
        }
        _ => {}
    }
    plan.about += &format!(" outputs {by:?}").to_lowercase();
    plan
}

/// Words of an operator, in any order.
fn operator(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    plan.insists = false;
    if number.is_multiple_of(2) {
        let trajectory = trajectory();
        plan.law(AnyLaw::JointServo(JointServo::new(Reference::Relative(trajectory), JointServoConfig::default())));
    }
    let mut at = 0;
    for _ in 0..draw.between(3, 9) {
        at += draw.between(20, 700);
        let act = match draw.between(0, 9) {
            0 | 1 => Act::Request,
            2 | 3 => Act::Say(Input::Release),
            4 | 5 => Act::Say(Input::Acknowledge),
            6 => Act::Resume,
            7 => Act::OldRequest,
            8 => Act::Fault("safeguard", "", Some(200), ""),
            _ => Act::Fault("stall", "", Some(100), ""),
        };
        plan.at(at, act);
    }
    if number % 5 == 4 {
        let act = draw.of(&[Input::Shutdown, Input::Release]);
        plan.at(draw.between(700, 2_000), Act::Say(act)).at(2_500, Act::Say(Input::Shutdown)).at(2_600, Act::Request);
    }
    plan.length = at.max(2_700) + 400;
    plan.about += " words";
    plan
}

/// Pins of the device, inputs of the robot, and a request that nobody speaks.
fn lines(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    let meaning = draw.of(&[RequestAs::Held, RequestAs::Edge]);
    plan.insists = false;
    plan.acts.clear();
    let mut config = OperatorConfig { input_as: meaning, pin_as: meaning, ..OperatorConfig::default() };
    match number % 4 {
        0 => (config.request_pin, config.acknowledge_pin, config.stop_pin) = (true, true, number.is_multiple_of(8)),
        1 => {
            (config.request_input, config.acknowledge_input) = (Some(0), Some(1));
            config.stop_input = (number % 8 == 1).then_some(2);
        }
        2 => {
            config.start_within = Some(core::Duration::from_millis(draw.of(&[500, 60_000])));
            config.request_pin = number % 8 == 2;
        }
        _ => {
            config.request_input = Some(0);
            config.request_pin = true;
            config.start_within = draw.of(&[None, Some(core::Duration::from_secs(10))]);
        }
    }
    if config.start_within.is_some() {
        (config.pin_as, config.input_as) = (RequestAs::Edge, RequestAs::Edge);
    }
    plan.setup.config.operator = config;
    plan.at(0, Act::Say(Input::Pin(Contact::Stop, true)));
    plan.at(0, Act::Say(Input::Pin(Contact::Request, false))).at(0, Act::Say(Input::Pin(Contact::Acknowledge, false)));
    plan.early.push(Act::Pendant(Action::DigitalInputs(4)));
    let rise = draw.of(&[20, 300, 300]);
    plan.at(rise, Act::Say(Input::Pin(Contact::Request, true))).at(rise, Act::Pendant(Action::DigitalInputs(5)));
    let mut at = draw.of(&[400, 1_400]);
    for _ in 0..draw.between(4, 10) {
        at += draw.of(&[20, 80, 300, 1_100]);
        let high = !draw.one_in(3);
        let act = match draw.between(0, 8) {
            0 | 1 => Act::Say(Input::Pin(Contact::Request, high)),
            2 => Act::Say(Input::Pin(Contact::Acknowledge, high)),
            3 => Act::Say(Input::Pin(Contact::Stop, high)),
            4 | 5 => Act::Pendant(Action::DigitalInputs(draw.of(&[4, 5, 5, 6, 7, 1, 0]))),
            6 => Act::Fault("safeguard", "", Some(100), ""),
            7 => Act::Say(Input::Acknowledge),
            _ => Act::Request,
        };
        plan.at(at, act);
    }
    plan.length = at + 700;
    plan.about += &format!(" lines {}", ["pins", "inputs", "by itself", "all"][number % 4]);
    plan
}

/// Sensors that fall silent, repeat themselves, jump or leave their range.
fn sensors(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    let senses = [Senses::Nothing, Senses::NoNumber, Senses::Far, Senses::Jumps, Senses::Stuck][number % 5];
    plan.setup.config.sources[0] = Some(SourceConfig {
        stuck_after: Some(core::Duration::from_millis(150)),
        max_rate: 40.0,
        max_age: core::Duration::from_millis(draw.of(&[10, 30, 100])),
        bridge_cycles: draw.of(&[0, 2, 8]),
        ..SourceConfig::new(SENSOR, 6, -2.0, 2.0)
    });
    let begun = draw.between(700, 1_400);
    let lasting = if senses == Senses::Stuck { 400 } else { draw.of(&[16, 60, 400]) };
    plan.at(begun, Act::Senses(senses)).at(begun + lasting, Act::Senses(Senses::Well));
    if number % 4 == 1 {
        let value = SampleValue::scalar(0.1);
        for (after, seq) in [(100, 1), (110, 1), (120, 7)] {
            let source = if seq == 7 { outrigger_core::command::SourceId(9) } else { SENSOR };
            plan.at(after, Act::Strange(Sample { source, value, seq, taken_at: core::Instant::ZERO }));
        }
    }
    plan.about += &format!(" sensor {senses:?}").to_lowercase();
    plan
}

/// Configured in another way than the robot is, or than a motion needs.
fn wrong(draw: &mut Draw, number: usize) -> Plan {
    let software = match number {
        16 | 22..=25 => draw.of(&SOFTWARE[11..13]),
        26 => SOFTWARE[1],
        _ => draw.of(&[SOFTWARE[1], SOFTWARE[3], SOFTWARE[9], SOFTWARE[12], SOFTWARE[13], SOFTWARE[14]]),
    };
    let mut plan = Plan::new(draw, software);
    let newest = SoftwareVersion::new(5, 15);
    let config = &mut plan.setup.config;
    let what = match number {
        0 => {
            config.peer.connect.ports.realtime = 30002;
            "realtime port 30002"
        }
        1 => {
            config.peer.connect.ports.primary = Some(30003);
            "primary port 30003"
        }
        2 => {
            config.peer.connect.ports.rtde = 30003;
            "rtde port 30003"
        }
        3 => {
            config.peer.connect.ports.realtime = 29999;
            "realtime port 29999"
        }
        4 => {
            (config.peer.connect.ports.primary, config.peer.connect.ports.secondary) = (None, None);
            "no primary"
        }
        5 => {
            (config.peer.connect.ports.primary, config.peer.connect.ports.secondary) = (Some(29999), None);
            config.peer.connect.primary_required = true;
            "primary required at 29999"
        }
        6 => {
            config.peer.connect.states = StatesFrom::Rtde;
            "states by rtde"
        }
        7 => {
            config.peer.software = Some(SoftwareVersion::new(3, 1));
            "said to be 3.1"
        }
        8 => {
            config.peer.software = Some(newest);
            "said to be 5.15"
        }
        9 => {
            config.peer.model = Some(RobotModel::Ur10);
            "said to be a UR10"
        }
        10 => {
            config.limits.position_max.0[1] = -1.9;
            "outside of its range"
        }
        11 => {
            config.limits.position_max.0[0] = 0.02;
            "close to the end of its range"
        }
        12 => {
            config.limits.velocity.0 = [0.05; 6];
            config.limits.velocity_margin = 0.1;
            "slow limits"
        }
        13 => {
            config.limits.acceleration.0 = [0.05; 6];
            "weak limits"
        }
        14 => {
            config.mode.require_remote = true;
            "remote required"
        }
        15 => {
            config.mode.take_over = true;
            plan.acts.insert(0, (0, Act::Pendant(Action::StartForeignProgram(0.0))));
            "takes over"
        }
        16 => {
            plan.acts.insert(0, (0, Act::Pendant(Action::StartForeignProgram(0.0))));
            "another program"
        }
        17 => {
            config.mode.acceptance_unknown = true;
            (config.peer.connect.ports.primary, config.peer.connect.ports.secondary) = (None, None);
            "acceptance unknown"
        }
        18 => {
            config.mode.arming_timeout = Some(core::Duration::from_millis(400));
            config.mode.good_cycles = Some(6);
            plan.at(0, Act::Fault("mute", "", Some(900), ""));
            "arming times out"
        }
        19 => {
            config.mode.stop_cycles = Some(1);
            config.mode.stop_timeout = Some(core::Duration::from_millis(120));
            config.standstill.window = core::Duration::from_millis(40);
            plan.at(900, Act::Fault("stall", "", Some(350), ""));
            "stopping times out"
        }
        20 => {
            config.mode.stop_cycles = Some(draw.between(0, 6) as u8);
            config.mode.following.patience = Some(2);
            config.mode.following.tolerance = Some(0.002);
            config.mode.following.relative = Some(0.001);
            "followed closely"
        }
        21 => {
            config.mode.scaling.held_timeout = core::Duration::from_millis(300);
            plan.at(1_000, Act::Fault("slider", "", Some(900), "0"));
            "held by scaling"
        }
        22 => {
            config.link.max_misses = Some(3);
            plan.at(1_000, Act::Fault("stall", "", Some(34), ""));
            "few misses"
        }
        23 => {
            config.mode.good_cycles = Some(250);
            config.link.rise_time = Some(core::Duration::ZERO);
            // What it makes of the arm still counts as rest.
            (config.standstill.speed, config.standstill.target_speed, config.standstill.travel) = (0.5, 0.5, 0.1);
            plan.at(90, Act::Fault("mute", "/30003", Some(600), ""));
            plan.at(100, Act::Pendant(Action::SecondCommander(Some(0.1))));
            plan.at(700, Act::Pendant(Action::SecondCommander(None)));
            "another commander while arming"
        }
        24 => {
            config.mode.good_cycles = Some(40);
            config.mode.arming_timeout = Some(core::Duration::from_millis(400));
            (config.peer.connect.ports.primary, config.peer.connect.ports.secondary) = (None, None);
            config.mode.acceptance_unknown = true;
            config.peer.connect.states = StatesFrom::Realtime;
            (config.link.margin, config.link.entry) = (Some(core::Duration::from_millis(1)), Some(Grade::Bad));
            plan.at(10, Act::Fault("jitter", "", Some(900), "5ms"));
            "never enough good cycles"
        }
        25 => {
            config.peer.connect.states = StatesFrom::Realtime;
            plan.setup.law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
            plan.at(900, Act::Fault("mute", "", Some(900), ""));
            "a program that ends at rest"
        }
        26 => {
            // Only these connections tell them.
            (config.peer.connect.ports.primary, config.peer.connect.ports.secondary) = (None, None);
            config.mode.acceptance_unknown = true;
            plan.setup.law = AnyLaw::CartesianTwist(CartesianTwist::new(CartesianTwistConfig::new(
                TwistFrame::Base,
                TwistInput::Constant(Twist { linear: [0.0, 0.02, 0.0], angular: [0.0; 3] }),
            )));
            "no kinematics"
        }
        _ => {
            config.sources = [None; outrigger_core::command::MAX_SOURCES];
            "no source for the law"
        }
    };
    plan.about += &format!(" {what}");
    plan.at(1_500, Act::Say(Input::Release));
    plan
}

/// Our own side: pauses, a slow loop, a cable, the end of the process.
fn host(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    let at = draw.between(700, 1_400);
    match number % 8 {
        0 | 1 => {
            plan.at(at, Act::Pause(draw.of(&[15, 60, 200, 1_200])));
        }
        2 | 3 => plan.setup.reading = Reading::Every(ms(draw.of(&[1, 3, 10, 50]))),
        4 => {
            plan.at(at, Act::Cable(Some(draw.of(&[20, 300, 1_200]))));
        }
        5 => {
            plan.at(at, Act::Cable(None));
        }
        6 => {
            plan.at(at, Act::Kill(draw.of(&[Death::Reset, Death::Silent])));
        }
        _ => {
            plan.at(at, Act::Say(Input::Shutdown));
        }
    }
    plan.about += &format!(" host {}", number % 8);
    plan
}

/// What somebody does at the pendant.
fn pendant(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE[6..]);
    let mut plan = Plan::new(draw, software);
    plan.claims = (number % 4 != 3).then_some(Claims::NONE);
    plan.setup.config.peer.connect.states = StatesFrom::Auto;
    plan.insists = false;
    if number % 7 == 6 {
        plan.setup.controller.flicker = std::num::NonZeroU32::new(draw.of(&[3, 150]));
    }
    plan.setup.config.mode.pendant.stops = number % 5 != 4;
    let at = draw.between(50, 1_400);
    let act = [Action::StopProgram, Action::PauseProgram][number % 2];
    plan.at(at, Act::Pendant(act)).at(at + 300, Act::Pendant(Action::ResumeProgram)).at(at + 500, Act::Request);
    if number.is_multiple_of(3) && software.at_least(5, 0) {
        plan.at(2_200, Act::Pendant(Action::SwitchToLocal)).at(2_900, Act::Pendant(Action::SwitchToRemote));
    }
    plan.about += &format!(" pendant {act:?}").to_lowercase();
    plan
}

/// States that a robot is found in.
fn starts(draw: &mut Draw, number: usize) -> Plan {
    let (state, name) = StartState::NAMED[number % StartState::NAMED.len()];
    let software = match state {
        StartState::Local | StartState::RemoteNotEnabled => draw.of(&SOFTWARE[10..14]),
        _ => draw.of(&SOFTWARE),
    };
    let mut plan = Plan::new(draw, software);
    plan.setup.controller.state = state;
    plan.setup.controller.limiter_rests = draw.one_in(2);
    plan.at(600, Act::Pendant(Action::ReleaseBrakes)).at(900, Act::Pendant(Action::CloseSafeguard));
    plan.about += &format!(" found {name}");
    plan
}

/// To and fro, in 3 s.
fn trajectory() -> Trajectory<6> {
    let at = |angle, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([angle, 0.0, 0.3 * angle, 0.0, 0.0, -angle]),
            velocities: JointVelocities::ZERO,
        },
        at: core::Duration::from_millis(millis),
    };
    Trajectory::through(&[at(0.0, 0), at(0.2, 1_000), at(-0.1, 2_000), at(0.0, 3_000)]).expect("a trajectory")
}

/// Every law, suspended and resumed.
fn laws(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE[1..]);
    let mut plan = Plan::new(draw, software);
    plan.insists = false;
    let twist = |draw: &mut Draw, input| {
        let frame = draw.of(&[TwistFrame::Base, TwistFrame::Tool]);
        AnyLaw::CartesianTwist(CartesianTwist::new(CartesianTwistConfig::new(frame, input)))
    };
    let model = plan.setup.controller.model;
    match number % 8 {
        0 => plan.law(AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()))),
        1 | 2 => {
            let config = JointServoConfig {
                sensor: (number % 8 == 2).then_some(SensorFeedForward { source: SENSOR, gain: 0.2 }),
                path_tolerance: draw.of(&[0.002, 0.2]),
                ..JointServoConfig::default()
            };
            plan.law(AnyLaw::JointServo(JointServo::new(Reference::Relative(trajectory()), config)));
        }
        3 => {
            let twist = twist(draw, TwistInput::Source(SENSOR));
            plan.law(twist);
        }
        4 | 5 => {
            plan.setup.config.peer.model = (number < 8).then_some(model);
            let speed = draw.of(&[0.02, -0.05]);
            let input = TwistInput::Constant(Twist { linear: [0.0, speed, speed], angular: [0.0, 0.1, 0.0] });
            let twist = twist(draw, input);
            plan.law(twist);
        }
        6 => {
            // The wrist is stretched: joint 5 at zero.
            plan.setup.controller.q[4] = 0.0;
            plan.setup.config.peer.model = Some(model);
            let input = TwistInput::Constant(Twist { linear: [0.0, 0.05, 0.0], angular: [0.0; 3] });
            let twist = twist(draw, input);
            plan.law(twist);
        }
        _ => {
            let mut setup = Setup::standoff(software, 0.1, Surface::plane([0.0; 3], [0.0, 0.0, 1.0]));
            let tool = Controller::new(setup.controller.clone()).expect("a controller").truth().tool().position;
            let surface = Surface::plane([tool[0], tool[1], tool[2] - 0.12], [0.0, 0.0, 1.0]);
            let (mut sensor, senses) = (DistanceSensor::new(7), Rc::clone(&plan.senses));
            let read = move |controller: &Controller| {
                let distance = sensor.read(&surface, controller.truth().tool(), controller.now())?;
                let value = if senses.get() == Senses::Well { distance as f32 } else { 0.6 };
                Some(SampleValue::scalar(value))
            };
            setup.sensors = vec![Sensor { id: SENSOR, period: ms(10), read: Box::new(read) }];
            setup.config.link = plan.setup.config.link;
            setup.config.mode = plan.setup.config.mode;
            setup.config.peer.connect = plan.setup.config.peer.connect;
            setup.config.peer.model = (number < 8).then_some(model);
            plan.setup = setup;
            plan.at(1_200, Act::Senses(Senses::Far)).at(1_600, Act::Senses(Senses::Well));
        }
    }
    plan.at(1_000, Act::Fault("stall", "", Some(draw.of(&[30, 120])), ""));
    plan.at(1_700, Act::Say(Input::Acknowledge))
        .at(2_000, if number.is_multiple_of(2) { Act::Resume } else { Act::Request });
    plan.length = 3_500;
    plan.about += &format!(" law {}", number % 8);
    plan
}

/// Several of all that, at once.
fn anything(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE);
    let mut plan = Plan::new(draw, software);
    plan.setup.config.peer.text.form = draw.of(&[FormChoice::ByVersion, FormChoice::Bare, FormChoice::SelfEnding]);
    if number.is_multiple_of(2) && software.at_least(3, 4) {
        plan.claim(&[Claim::Standard, Claim::Tool, Claim::Analog]);
    }
    plan.insists = number % 4 != 3;
    let mut at = 300;
    for _ in 0..draw.between(4, 9) {
        at += draw.between(30, 600);
        let (kind, arguments, oldest) = draw.of(&FAULT);
        let lasting = draw.of(&[20, 80, 300, 900]);
        let act = match draw.between(0, 6) {
            0..=2 if software.at_least(oldest.0, oldest.1) => {
                let lasting = (lasts(kind) && kind != "protective-stop").then_some(lasting);
                Act::Fault(kind, "", lasting, draw.of(arguments))
            }
            3 => Act::Say(Input::Set(write(draw))),
            4 => Act::Pause(draw.of(&[10, 50, 150])),
            5 => Act::Senses(draw.of(&[Senses::Nothing, Senses::Far, Senses::Well, Senses::Stuck])),
            _ => Act::Say(draw.of(&[Input::Release, Input::Acknowledge])),
        };
        plan.at(at, act);
    }
    plan.length = at + 1_500;
    plan.about += " anything";
    plan
}

/// How long a run waits until nothing speaks against a request.
const PATIENCE: Duration = Duration::from_secs(3);

/// The run of this number.
pub(crate) fn run(draw: &mut Draw, number: usize) -> Log {
    let (make, index) = of_kind(&KINDS, number);
    let mut plan = make(draw, index);
    plan.acts.sort_by_key(|(at, _)| *at);
    let software = plan.software();
    let mut log = Log::default();
    let mut about = plan.about.clone();
    let mut buffers = plan.claims.map_or_else(Buffers::default, Buffers::claiming);
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

/// Does it; whether the process lives on.
fn does(rig: &mut Rig<'_>, act: &Act, senses: &Cell<Senses>, log: &mut Log) -> bool {
    if !rig.is_awake() && matches!(act, Act::Say(_) | Act::Request | Act::Resume | Act::OldRequest | Act::Strange(_)) {
        return true;
    }
    match act {
        Act::Say(input) => {
            log.mark("input", word(input));
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

/// An act in a word or two.
fn told(act: &Act) -> String {
    match act {
        Act::Say(Input::Set(write)) => format!("set {}", words::set(write)),
        Act::Say(input) => word(input).to_owned(),
        Act::Request => "request".into(),
        Act::Resume => "resume".into(),
        Act::OldRequest => "old request".into(),
        Act::Fault(kind, place, lasting, argument) => {
            let lasting = lasting.map_or(String::new(), |lasting| format!(" {lasting}ms"));
            let argument = if argument.is_empty() { String::new() } else { format!(" {argument}") };
            format!("{kind}{place}{lasting}{argument}")
        }
        Act::Cable(lasting) => lasting.map_or("cable".into(), |lasting| format!("cable {lasting}ms")),
        Act::Pause(lasting) => format!("pause {lasting}ms"),
        Act::Kill(death) => format!("kill {death:?}").to_lowercase(),
        Act::Pendant(action) => format!("{action:?}"),
        Act::Senses(what) => format!("senses {what:?}").to_lowercase(),
        Act::Strange(sample) => format!("sample {} of {}", sample.seq, sample.source.0),
        Act::Other(port, _) => format!("client of {}", port.number()),
    }
}

const fn word(input: &Input) -> &'static str {
    match input {
        Input::Request(_) => "request",
        Input::Resume(_) => "resume",
        Input::Release => "release",
        Input::Acknowledge => "acknowledge",
        Input::Shutdown => "shutdown",
        Input::Pin(Contact::Request, true) => "request-pin high",
        Input::Pin(Contact::Request, false) => "request-pin low",
        Input::Pin(Contact::Acknowledge, true) => "acknowledge-pin high",
        Input::Pin(Contact::Acknowledge, false) => "acknowledge-pin low",
        Input::Pin(Contact::Stop, true) => "stop-pin high",
        Input::Pin(Contact::Stop, false) => "stop-pin low",
        Input::Set(_) => "set",
        Input::Sample(_) => "sample",
        _ => "other",
    }
}

/// Moves what the rig recorded to the log, and marks what it was.
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
    let sets = |news: &(Write, WriteNews)| news.1 == WriteNews::Sent;
    if record.settings.is_empty() && record.news().any(|news| sets(&news)) {
        log.mark("output", "by-rtde");
    }
    let written = record.written.as_deref().unwrap_or_default();
    log.written = written.iter().map(|(at, link, bytes)| (*at, link_name(*link), bytes.clone())).collect();
    log.events.sort_by_key(|(at, _)| *at);
}

/// What has to occur.
pub(crate) fn required() -> Vec<String> {
    let of = |class: &str, names: &[&str]| names.iter().map(|name| format!("{class} {name}")).collect::<Vec<_>>();
    let mut all: Vec<String> = Fault::kinds().map(|kind| format!("fault {kind}")).collect();
    all.extend(SOFTWARE.iter().map(|software| format!("software {software}")));
    all.extend(of("mode", &["Offline", "Monitor", "Arming", "Command", "Stopping"]));
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
        "held-by-scaling",
        "lapsed",
        "pendant-overridden",
    ];
    all.extend(of("event", &events));
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
    all.extend(of("text", &texts));
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
    all.extend(of("output", &news));
    all.extend(of("input", &["request", "resume", "release", "acknowledge", "shutdown", "set", "robot-inputs"]));
    all.extend(of("states-by", &["realtime", "rtde"]));
    all.extend(of("channel", &["automatic", "message", "robot input", "pin"]));
    all.extend(of("host", &["cable", "killed", "paused"]));
    all.extend(of("sensor", &["nothing", "nonumber", "far", "jumps", "stuck", "strange"]));
    all
}

/// What was written, for a person: text as it is, packages in hexadecimal.
pub(crate) fn read(link: &'static str, bytes: &[u8]) -> String {
    if link == link_name(LinkId::RTDE) {
        return bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    format!("{:?}", String::from_utf8_lossy(bytes))
}
