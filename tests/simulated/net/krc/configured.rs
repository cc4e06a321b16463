//! Runs that vary the configuration of the KRC and its unknown properties.

use outrigger_core::law::{
    AxisConfig, CartesianTwist, CartesianTwistConfig, SensorFeedForward, Standoff, StandoffConfig, ToolAxes,
    ToolAxesConfig, TwistFrame, TwistInput,
};

use super::operated::trajectory;
use super::*;

pub(super) const CONVENTIONS: [(KrlConvention, Convention); 5] = [
    (KrlConvention::RosControl, Convention::RosControl),
    (KrlConvention::FriControl, Convention::FriControl),
    (KrlConvention::Isir, Convention::Isir),
    (KrlConvention::SampleApp, Convention::SampleApp),
    (KrlConvention::None, Convention::Alone),
];

/// Returns one of the control schemes, with drawn parameters.
pub(super) fn control(draw: &mut Draw, which: usize) -> Control {
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

/// Draws a run whose control scheme and program convention depend on `number`. In some runs the scheme changes if the
/// KRC permits it.
pub(super) fn schemes(draw: &mut Draw, number: usize) -> Plan {
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

/// Draws a run in tool impedance, with one choice of the frame that the driver mirrors, of the frame that the KRC
/// expects to be mirrored, and of the frame in which it measures. The arm is pushed in some runs.
pub(super) fn frames(draw: &mut Draw, number: usize) -> Plan {
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

/// Draws a run with the period that belongs to `number`, with or without losses.
pub(super) fn periods(draw: &mut Draw, number: usize) -> Plan {
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

/// Draws a run with the factor on the arm's limits that the program passes to `friStart`.
pub(super) fn scales(draw: &mut Draw, number: usize) -> Plan {
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

/// Draws a run with a random choice for each property of a KRC that no source documents.
pub(super) fn unknowns(draw: &mut Draw, number: usize) -> Plan {
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

/// Draws a run with the law that belongs to `number`, and a sensor that fails for some time.
pub(super) fn laws(draw: &mut Draw, number: usize) -> Plan {
    let period = draw.of(&[1, 2, 4]);
    let mut plan = Plan::new(draw, period);
    plan.config.peer.control = control(draw, number);
    plan.config.sources[0] = Some(watched(draw, SENSOR, if number % 5 == 4 { 1 } else { 6 }, -1.0, 1.0));
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
        _ if number < 10 => AnyLaw::Standoff(Standoff::new(StandoffConfig::new(SENSOR, 0.1))),
        _ => {
            let mut config = ToolAxesConfig::default();
            let [x, .., rz] = &mut config.axes;
            *x = Some(AxisConfig::new(SENSOR, 0.1, 5.0));
            *rz = Some(AxisConfig::new(SENSOR, 0.1, -5.0));
            AnyLaw::ToolAxes(ToolAxes::new(config))
        }
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

/// Draws a run with a configuration that does not match the KRC or the motion.
pub(super) fn wrong(draw: &mut Draw, number: usize) -> Plan {
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
            // The KRL program moves the arm by itself.
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
