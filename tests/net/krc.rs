//! Runs beside a simulated KRC.

use outrigger_core::engine::krc::KrcOptions;
use std::time::Duration;

use outrigger_core::command::outputs::{DigitalOutput, Write};
use outrigger_core::command::{Sample, SampleValue, Samples, SourceConfig, SourceId};
use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{
    Control, JointImpedance, KrcConfig, KrlConvention, MirroredFrame, TaskFrame, ToolImpedance,
};
use outrigger_core::kinematics::Posture;
use outrigger_core::law::{
    AnyLaw, CartesianTwist, CartesianTwistConfig, JointServo, JointServoConfig, Law, Reference, SensorFeedForward,
    Standoff, StandoffConfig, TwistFrame, TwistInput,
};
use outrigger_core::link::Grade;
use outrigger_core::mode::{Contact, Epoch, Mode, OperatorConfig, RequestAs};
use outrigger_core::robot::{JointPositions, JointVelocities, Reason, State, Twist};
use outrigger_core::time as core;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_core::wire::fri::{Command, ControlScheme, KrlIndex, Quality};
use outrigger_sim::krc::{
    Bridging, Convention, Fault, FrameOffset, MirroredFrame as Wanted, Move, OffsetAfterStop, OperationMode, Options,
};
use outrigger_sim::time::SimTime;
use outrigger_tests::fri::{Restless, Rig, Swing};

use super::{Draw, Log, count, of_kind, spec, words};

/// Draws the run of this number, of its kind.
type Make = fn(&mut Draw, usize) -> Plan;

/// How many runs there are of each kind, and what each of them is.
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
/// Three of each kind of fault.
const FAULTS: usize = 3 * FAULT.len();
const PERIODS: [u64; 8] = [1, 2, 4, 5, 10, 12, 20, 50];
pub(crate) const RUNS: usize = count(&KINDS);

const SENSOR: SourceId = SourceId(0);

/// What is done to a run at some time.
#[derive(Clone, Debug)]
enum Act {
    Say(Input),
    Request,
    Resume,
    /// As on the command line, without a start: kind, direction, how long \[ms\], argument.
    Fault(&'static str, &'static str, Option<u64>, &'static str),
    Pause(u64),
    /// From a measurement to its answer \[µs\], from now on.
    Thinking(u64),
    /// The scheme that measurements name.
    Scheme(Option<ControlScheme>),
    /// Inputs of the KRC.
    Inputs(u8),
    /// The enabling switch.
    Enabled(bool),
    Push(f64),
    /// Another control, where it may be changed.
    Control(Control),
    /// A truth value for the program.
    Bool(u8, bool),
    Senses(Senses),
}

/// What the sensor reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Senses {
    #[default]
    Well,
    Nothing,
    NoNumber,
    Far,
    Stuck,
}

/// What moves the arm.
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

impl Law<7> for Motion {
    fn use_posture(&mut self, posture: &Posture<7>) {
        each!(self, law => law.use_posture(posture));
    }

    fn arm(&mut self, state: &State<7>) -> Result<(), Reason> {
        each!(self, law => law.arm(state))
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

    fn resume(&mut self, state: &State<7>) -> Result<(), Reason> {
        each!(self, law => law.resume(state))
    }
}

/// A run to be made.
struct Plan {
    about: String,
    options: Options,
    config: KrcConfig,
    motion: Motion,
    convention: KrlConvention,
    /// From when nothing spoke against a request, or from [`patience`](Self::patience) on.
    acts: Vec<(u64, Act)>,
    /// Somebody acknowledges and requests again whenever commanding has ended.
    insists: bool,
    patience: u64,
    length: u64,
}

impl Plan {
    /// A KRC of this period \[ms\], and a link that is judged as quickly as may be.
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

    /// With this convention; a program that is told no scheme starts in ours.
    fn converse(&mut self, which: usize) {
        self.options.program.scheme = self.config.peer.control.scheme();
        (self.convention, self.options.program.convention) = CONVENTIONS[which % CONVENTIONS.len()];
    }
}

const CONVENTIONS: [(KrlConvention, Convention); 5] = [
    (KrlConvention::RosControl, Convention::RosControl),
    (KrlConvention::FriControl, Convention::FriControl),
    (KrlConvention::Isir, Convention::Isir),
    (KrlConvention::SampleApp, Convention::SampleApp),
    (KrlConvention::None, Convention::Alone),
];

/// The control schemes with parameters of some kind.
fn control(draw: &mut Draw, which: usize) -> Control {
    let (damping, torque) = (draw.of(&[0.3, 0.7]), draw.of(&[0.0, 1.5]));
    match which % 3 {
        0 => Control::Position,
        1 => Control::JointImpedance(JointImpedance {
            damping: [damping; 7],
            torque: [torque; 7],
            ..JointImpedance::default()
        }),
        _ => {
            let mut tool = ToolImpedance::default();
            tool.wrench.force[2] = torque;
            Control::ToolImpedance(tool)
        }
    }
}

/// The kinds of faults with what they are given.
const FAULT: [(&str, &[&str]); 18] = [
    ("drop", &["1%", "10%", "60%"]),
    ("burst", &["1%", "10%"]),
    ("duplicate", &["10%", "60%"]),
    ("delay", &["300us", "1200us", "4ms"]),
    ("jitter", &["500us", "3ms"]),
    ("reorder", &["2%", "20%"]),
    ("silence", &[""]),
    ("garbage", &["10%", "60%"]),
    ("stale", &[""]),
    ("restart", &[""]),
    ("period", &["2ms", "5ms"]),
    ("close", &[""]),
    ("second-sender", &[""]),
    ("stop", &[""]),
    ("power-off", &[""]),
    ("release", &[""]),
    ("hand", &["20", "60"]),
    ("nan", &[""]),
];

/// One fault while commanding, in one direction or both, in every control scheme.
fn faults(draw: &mut Draw, number: usize) -> Plan {
    let (kind, arguments) = FAULT[number / 3];
    let period = draw.of(&[1, 1, 2, 4]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    let directed = format!("{kind}/up@1s").parse::<Fault>().is_ok();
    let place = if directed { draw.of(&["", "/up", "/down"]) } else { "" };
    let lasting = (kind != "stop" && kind != "restart").then(|| draw.of(&[4, 30, 200, 700]));
    plan.at(draw.between(600, 1_100), Act::Fault(kind, place, lasting, draw.of(arguments)));
    plan.insists = !draw.one_in(4);
    plan
}

/// Each control with each convention, changed where that may be.
fn schemes(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    plan.converse(number / 3);
    if number >= 15 {
        let other = control(draw, number + 1);
        plan.at(800, Act::Control(other)).at(1_000, Act::Say(Input::Release)).at(1_600, Act::Control(other));
        plan.at(1_700, Act::Request);
    }
    plan.insists = false;
    plan.length = 2_500;
    plan
}

/// Which frame is mirrored, which is wanted, in which frame the KRC measures; an arm that is pushed.
fn frames(draw: &mut Draw, number: usize) -> Plan {
    let ours = [MirroredFrame::Setpoint, MirroredFrame::Commanded, MirroredFrame::Measured][number % 3];
    let theirs = [Wanted::Setpoint, Wanted::Commanded, Wanted::Measured][number / 3 % 3];
    let mut plan = Plan::new(draw, 1);
    plan.config.peer.control = Control::ToolImpedance(ToolImpedance { mirrors: ours, ..ToolImpedance::default() });
    plan.options.mirrored_frame = theirs;
    plan.options.frame_offset = draw.of(&[FrameOffset::Added, FrameOffset::Product]);
    plan.config.peer.task_frame = [TaskFrame::Base, TaskFrame::Tool][number % 2];
    if number >= 12 {
        let twist = Twist { linear: [0.0, 0.03, -0.02], angular: [0.05, 0.0, 0.0] };
        let config = CartesianTwistConfig::new(TwistFrame::Tool, TwistInput::Constant(twist));
        plan.motion = Motion::Law(Box::new(AnyLaw::CartesianTwist(CartesianTwist::new(config))));
    }
    plan.insists = false;
    plan.at(600, Act::Say(Input::Release)).at(900, Act::Push(draw.of(&[0.0, 40.0]))).at(1_400, Act::Request);
    plan.length = 2_400;
    plan.about +=
        &format!(" mirrors {ours:?}, wanted {theirs:?}, measured in {:?}", plan.config.peer.task_frame).to_lowercase();
    plan
}

/// Each period, with losses.
fn periods(draw: &mut Draw, number: usize) -> Plan {
    let period = PERIODS[number / 2];
    let mut plan = Plan::new(draw, period);
    plan.options.rating.rise_after = 5;
    plan.config.peer.control = control(draw, number + number / 2);
    plan.patience = 2_500 + 400 * period;
    if number % 2 == 1 {
        plan.at(900, Act::Fault("drop", "", Some(600), "4%"));
    }
    plan.length = 1_500 + 80 * period;
    plan
}

/// The factor on the arm's limits that the program hands to `friStart`.
fn scales(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 5]);
    let mut plan = Plan::new(draw, period);
    let scale = [0.1, 0.2, 0.5, 0.8, 1.0, 0.35][number % 6];
    plan.options.program.scale = scale;
    plan.config.peer.control = control(draw, number / 2);
    plan.options.operation = [OperationMode::Automatic, OperationMode::T1, OperationMode::T2][number % 3];
    plan.options.enabled = true;
    if !number.is_multiple_of(3) {
        plan.at(900, Act::Enabled(false)).at(1_300, Act::Enabled(true));
    }
    plan.about += &format!(" scale {scale} {:?}", plan.options.operation).to_lowercase();
    plan
}

/// What is not known of a KRC, one way or another.
fn unknowns(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 4]);
    let mut plan = Plan::new(draw, period);
    let options = &mut plan.options;
    options.uses_late_answers = draw.one_in(2);
    options.max_bridge = draw.of(&[0, 3, 10]);
    options.bridging = draw.of(&[Bridging::Extrapolate, Bridging::Hold]);
    options.offset_after_stop = draw.of(&[OffsetAfterStop::Kept, OffsetAfterStop::TakenOver]);
    options.first_reflected = draw.of(&[0, 1, 40_000]);
    options.start_quality = draw.of(&[Quality::Bad, Quality::Ok, Quality::Perfect]);
    options.program.waits_for = draw.of(&[Quality::Ok, Quality::Perfect]);
    if draw.one_in(3) {
        options.limits.acceleration = Some([30.0; 7]);
    }
    if number % 4 == 3 {
        let mut there = options.start;
        there[0] = 0.5;
        options.motion =
            vec![Move::Ptp { to: there, speed: 0.2 }, Move::Ptp { to: options.start, speed: 0.2 }, Move::Wait(0.3)];
    }
    plan.config.peer.control = control(draw, number);
    plan.converse(number);
    plan.at(600, Act::Fault("drop", "", Some(900), "3%")).at(1_000, Act::Say(Input::Release)).at(1_500, Act::Request);
    plan.about += " unknowns";
    plan
}

/// Words of an operator, in any order.
fn operator(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2]);
    let mut plan = Plan::new(draw, period);
    plan.insists = false;
    plan.converse(number);
    if number.is_multiple_of(2) {
        let law = JointServo::new(Reference::Relative(trajectory()), JointServoConfig::default());
        plan.motion = Motion::Law(Box::new(AnyLaw::JointServo(law)));
    }
    let mut at = 0;
    for _ in 0..draw.between(3, 8) {
        at += draw.between(20, 600);
        let act = match draw.between(0, 10) {
            0 | 1 => Act::Request,
            2 | 3 => Act::Say(Input::Release),
            4 | 5 => Act::Say(Input::Acknowledge),
            6 => Act::Resume,
            7 => Act::Say(Input::Request(Epoch::from_number(9_999))),
            8 => Act::Fault("stop", "", None, ""),
            9 => Act::Say(Input::Set(Write::Digital { output: DigitalOutput::Standard(1), high: true })),
            _ => Act::Fault("silence", "/down", Some(20), ""),
        };
        plan.at(at, act);
    }
    if number % 5 == 4 {
        plan.at(draw.between(700, 1_500), Act::Say(Input::Shutdown)).at(1_800, Act::Request);
    }
    plan.length = at.max(2_000) + 400;
    plan.about += " words";
    plan
}

/// Pins of the device, truth values of the program, and a request that nobody speaks.
fn lines(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2]);
    let mut plan = Plan::new(draw, period);
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
            config.start_within = Some(core::Duration::from_millis(draw.of(&[300, 60_000])));
            config.request_pin = number % 8 == 2;
        }
        _ => (config.request_input, config.request_pin) = (Some(0), true),
    }
    if config.start_within.is_some() {
        (config.pin_as, config.input_as) = (RequestAs::Edge, RequestAs::Edge);
    }
    plan.config.operator = config;
    plan.options.program.inputs = 4;
    plan.at(0, Act::Say(Input::Pin(Contact::Stop, true)));
    plan.at(0, Act::Say(Input::Pin(Contact::Request, false)));
    plan.at(0, Act::Say(Input::Pin(Contact::Acknowledge, false)));
    let rise = draw.of(&[20, 300, 300]);
    plan.at(rise, Act::Say(Input::Pin(Contact::Request, true))).at(rise, Act::Inputs(5));
    let mut at = draw.of(&[400, 1_400]);
    for _ in 0..draw.between(4, 10) {
        at += draw.of(&[20, 80, 300, 1_100]);
        let high = !draw.one_in(3);
        let act = match draw.between(0, 8) {
            0 | 1 => Act::Say(Input::Pin(Contact::Request, high)),
            2 => Act::Say(Input::Pin(Contact::Acknowledge, high)),
            3 => Act::Say(Input::Pin(Contact::Stop, high)),
            4 | 5 => Act::Inputs(draw.of(&[4, 5, 5, 6, 7, 1, 0])),
            6 => Act::Fault("stop", "", None, ""),
            7 => Act::Bool(draw.between(1, 16) as u8, high),
            _ => Act::Request,
        };
        plan.at(at, act);
    }
    plan.length = at + 600;
    plan.about += &format!(" lines {}", ["pins", "inputs", "by itself", "all"][number % 4]);
    plan
}

/// To and fro, in 2 s.
fn trajectory() -> Trajectory<7> {
    let at = |angle, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([angle, 0.0, 0.3 * angle, 0.0, 0.0, -angle, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        at: core::Duration::from_millis(millis),
    };
    Trajectory::through(&[at(0.0, 0), at(0.15, 700), at(-0.1, 1_400), at(0.0, 2_000)]).expect("a trajectory")
}

/// Every law, by sensors that read well and ill.
fn laws(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 4]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    plan.config.sources[0] = Some(SourceConfig {
        stuck_after: Some(core::Duration::from_millis(150)),
        max_rate: 40.0,
        max_age: core::Duration::from_millis(draw.of(&[10, 30, 100])),
        bridge_cycles: draw.of(&[0, 2, 8]),
        ..SourceConfig::new(SENSOR, if number % 5 == 4 { 1 } else { 6 }, -1.0, 1.0)
    });
    let frame = draw.of(&[TwistFrame::Base, TwistFrame::Tool]);
    let law = match number % 5 {
        0 => AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default())),
        1 => {
            let config = JointServoConfig { path_tolerance: draw.of(&[0.002, 0.2]), ..JointServoConfig::default() };
            AnyLaw::JointServo(JointServo::new(Reference::Relative(trajectory()), config))
        }
        2 => {
            let config = JointServoConfig {
                sensor: Some(SensorFeedForward { source: SENSOR, gain: 1.0 }),
                path_tolerance: 6.0,
                proportional: 0.0,
                derivative: 0.0,
                ..JointServoConfig::default()
            };
            AnyLaw::JointServo(JointServo::new(Reference::Hold, config))
        }
        3 => AnyLaw::CartesianTwist(CartesianTwist::new(CartesianTwistConfig::new(frame, TwistInput::Source(SENSOR)))),
        _ => AnyLaw::Standoff(Standoff::new(StandoffConfig::new(SENSOR, 0.1))),
    };
    plan.motion = Motion::Law(Box::new(law));
    let begun = draw.between(500, 1_000);
    let senses = draw.of(&[Senses::Nothing, Senses::NoNumber, Senses::Far, Senses::Stuck]);
    let lasting = if senses == Senses::Stuck { 400 } else { draw.of(&[16, 60, 400]) };
    plan.at(begun, Act::Senses(senses)).at(begun + lasting, Act::Senses(Senses::Well));
    plan.at(1_500, Act::Say(Input::Release)).at(1_700, Act::Say(Input::Acknowledge));
    plan.at(1_800, if number.is_multiple_of(2) { Act::Resume } else { Act::Request });
    plan.insists = number.is_multiple_of(3);
    plan.length = 2_500;
    plan.about += &format!(" law {}", number % 5);
    plan
}

/// Our own side: pauses, answers that take long, the end.
fn host(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 5]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    let at = draw.between(500, 1_000);
    match number % 4 {
        0 | 1 => plan.at(at, Act::Pause(draw.of(&[3, 15, 60, 300]))),
        2 => plan.at(at, Act::Thinking(period * draw.of(&[700, 1_100, 3_500]))).at(at + 600, Act::Thinking(150)),
        _ => plan.at(at, Act::Say(Input::Shutdown)),
    };
    plan.about += &format!(" host {}", number % 4);
    plan
}

/// Configured in another way than the KRC is, or than a motion needs.
fn wrong(draw: &mut Draw, number: usize) -> Plan {
    let mut plan = Plan::new(draw, 1);
    let what = match number {
        0 | 1 => {
            plan.config.peer.address = Some(if number == 0 { [192, 0, 2, 1].into() } else { [192, 0, 2, 7].into() });
            "a peer"
        }
        2..=5 => {
            (plan.options.program.convention, plan.convention) = (Convention::SampleApp, KrlConvention::SampleApp);
            let schemes = [ControlScheme::Position, ControlScheme::JointImpedance, ControlScheme::CartesianImpedance];
            plan.options.program.scheme = schemes[number % 3];
            plan.config.peer.control = control(draw, number / 2);
            "another scheme"
        }
        6 | 7 => {
            let scheme = [ControlScheme::Other, ControlScheme::Unknown(9)][number % 2];
            plan.at(800, Act::Scheme(Some(scheme))).at(1_300, Act::Scheme(None));
            "the scheme named changes"
        }
        8 => {
            plan.convention = KrlConvention::FriControl;
            "another convention"
        }
        9 => {
            plan.config.limits.position_max.0[1] = 0.3;
            "outside of its range"
        }
        10 => {
            plan.config.limits.position_max.0[0] = 0.05;
            "close to the end of its range"
        }
        11 => {
            plan.config.peer.tracking.joints = Some([0.003; 7]);
            plan.at(900, Act::Push(60.0));
            "tracked closely"
        }
        12 => {
            plan.config.mode.arming_timeout = Some(core::Duration::from_millis(700));
            plan.config.mode.good_cycles = Some(6);
            plan.config.link.rise_time = Some(core::Duration::ZERO);
            plan.options.program.convention = Convention::Isir;
            "arming times out"
        }
        13 => {
            plan.config.mode.stop_cycles = Some(1);
            plan.config.mode.stop_timeout = Some(core::Duration::from_millis(400));
            plan.config.standstill.window = core::Duration::from_millis(40);
            // The program moves the arm on its own account.
            plan.length = 3_000;
            let mut there = plan.options.start;
            there[0] = 1.5;
            plan.options.motion = vec![Move::Wait(1.3), Move::Ptp { to: there, speed: 0.3 }];
            "stopping times out"
        }
        14 => {
            plan.config.limits.velocity.0 = [0.05; 7];
            plan.config.limits.velocity_margin = 0.1;
            "slow limits"
        }
        15 => {
            plan.config.link.max_misses = Some(1);
            plan.at(900, Act::Fault("silence", "/down", Some(3), ""));
            "few misses"
        }
        _ => {
            plan.config.link.entry = Some(Grade::Perfect);
            plan.options.program.waits_for = Quality::Perfect;
            plan.at(400, Act::Fault("jitter", "", Some(900), "900us"));
            "the best grade"
        }
    };
    plan.at(1_500, Act::Say(Input::Release));
    plan.about += &format!(" {what}");
    plan
}

/// Several faults of network and KRC at once.
fn networks(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 4, 5]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    plan.options.uses_late_answers = draw.one_in(2);
    plan.options.offset_after_stop = draw.of(&[OffsetAfterStop::Kept, OffsetAfterStop::TakenOver]);
    let mut at = 300;
    for _ in 0..draw.between(4, 8) {
        at += draw.between(20, 500);
        let (kind, arguments) = draw.of(&FAULT);
        let lasting = (kind != "stop" && kind != "restart").then(|| draw.of(&[5, 60, 300, 900]));
        plan.at(at, Act::Fault(kind, "", lasting, draw.of(arguments)));
    }
    plan.insists = number % 4 != 3;
    plan.length = at + 1_000;
    plan.about += " anything";
    plan
}

const fn instant(time: SimTime) -> core::Instant {
    core::Instant::from_micros(time.as_micros())
}

/// The run of this number.
pub(crate) fn run(draw: &mut Draw, number: usize) -> Log {
    let (make, index) = of_kind(&KINDS, number);
    let plan = make(draw, index);
    let Plan { mut about, options, config, motion, convention, mut acts, insists, patience, length } = plan;
    acts.sort_by_key(|(at, _)| *at);
    let scheme = |control: &Control| control.scheme().name();
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

/// Reads six numbers every 10 ms.
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
            log.mark("input", word(input));
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

/// An act in a word or two.
fn told(act: &Act) -> String {
    match act {
        Act::Say(Input::Set(write)) => format!("set {}", words::set(write)),
        Act::Say(input) => word(input).to_owned(),
        Act::Request => "request".into(),
        Act::Resume => "resume".into(),
        Act::Fault(kind, place, lasting, argument) => {
            let lasting = lasting.map_or(String::new(), |lasting| format!(" {lasting}ms"));
            let argument = if argument.is_empty() { String::new() } else { format!(" {argument}") };
            format!("{kind}{place}{lasting}{argument}")
        }
        Act::Pause(lasting) => format!("pause {lasting}ms"),
        Act::Thinking(micros) => format!("answers after {micros}us"),
        Act::Scheme(scheme) => scheme.map_or("its own scheme".into(), |scheme| format!("scheme {}", scheme.raw())),
        Act::Inputs(inputs) => format!("inputs {inputs:03b}"),
        Act::Enabled(held) => format!("enabled {held}"),
        Act::Push(down) => format!("push {down}N"),
        Act::Control(control) => format!("control {}", control.scheme().name()),
        Act::Bool(krl, value) => format!("bool {krl} {value}"),
        Act::Senses(senses) => format!("senses {senses:?}").to_lowercase(),
    }
}

const fn word(input: &Input) -> &'static str {
    match input {
        Input::Request(_) => "old-request",
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
        _ => "other",
    }
}

/// What has to occur.
pub(crate) fn required() -> Vec<String> {
    let of = |class: &str, names: &[&str]| names.iter().map(|name| format!("{class} {name}")).collect::<Vec<_>>();
    let mut all: Vec<String> = Fault::kinds().map(|kind| format!("fault {kind}")).collect();
    all.extend(of("mode", &["Offline", "Monitor", "Arming", "Command", "Stopping"]));
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
    all.extend(of("event", &events));
    all.extend(of("input", &["request", "resume", "release", "acknowledge", "shutdown", "set", "truth-values"]));
    all.extend(of("control-set", &["none", "some(true)"]));
    all.extend(of("channel", &["automatic", "message", "robot input", "pin"]));
    all.extend(of("host", &["paused", "slow"]));
    all.extend(of("sensor", &["nothing", "nonumber", "far", "stuck"]));
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
    all.extend(of("commanded", &rest));
    all
}

/// A command for a person: what is answered, flags, where to, and all of it as a number.
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
