//! Runs that vary the configuration of the robot and its state at the start.

use outrigger_core::law::{
    AxisConfig, CartesianTwist, CartesianTwistConfig, SensorFeedForward, ToolAxes, ToolAxesConfig, TwistFrame,
    TwistInput,
};

use super::*;

/// Draws a run whose software, form of program text and interface for states depend on `number`.
pub(super) fn texts(draw: &mut Draw, number: usize) -> Plan {
    let mut plan = Plan::new(draw, SOFTWARE[number / 6]);
    plan.setup.config.peer.text.form = [FormChoice::ByVersion, FormChoice::Bare, FormChoice::SelfEnding][number % 3];
    plan.setup.config.peer.connect.states = if number % 6 < 3 { StatesFrom::Realtime } else { StatesFrom::Auto };
    plan.rtde = true;
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

pub(super) fn write(draw: &mut Draw) -> Write {
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

/// Draws a run in which outputs are set during the motion: by text, by RTDE, or not at all; more outputs than there is
/// room for; with another writer.
pub(super) fn outputs(draw: &mut Draw, number: usize) -> Plan {
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
            // Another client sets up an RTDE input that this run claims.
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

/// Draws a run with a configuration that does not match the robot or the motion.
pub(super) fn wrong(draw: &mut Draw, number: usize) -> Plan {
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
            // The motion by the other commander still counts as standstill.
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
            // The kinematics are reported only on these connections.
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

/// Draws a run in which the robot is found in the state that belongs to `number`, such as `power-off`.
pub(super) fn starts(draw: &mut Draw, number: usize) -> Plan {
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

/// Returns a motion to and fro, in 3 s.
pub(super) fn trajectory() -> Trajectory<6> {
    Trajectory::through(&to_and_fro()).expect("a trajectory")
}

fn to_and_fro() -> [Waypoint<6>; 4] {
    let at = |angle, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([angle, 0.0, 0.3 * angle, 0.0, 0.0, -angle]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: core::Duration::from_millis(millis),
    };
    [at(0.0, 0), at(0.2, 1_000), at(-0.1, 2_000), at(0.0, 3_000)]
}

/// Draws a run with a motion whose remaining waypoints never arrive.
pub(super) fn starved(draw: &mut Draw, number: usize) -> Plan {
    let software = draw.of(&SOFTWARE[1..]);
    let mut plan = Plan::new(draw, software);
    let beginning = Trajectory::beginning(to_and_fro().split_at(2 + number).0).expect("a trajectory");
    plan.law(AnyLaw::JointServo(JointServo::new(Reference::Relative(beginning), JointServoConfig::default())));
    plan.insists = false;
    plan.at(4_000, Act::Say(Input::Acknowledge)).at(4_300, Act::Resume);
    plan.length = 5_500;
    plan.about += " starved";
    plan
}

/// Draws a run with a motion that misses its goal for longer than permitted.
pub(super) fn short(draw: &mut Draw, _: usize) -> Plan {
    let software = draw.of(&SOFTWARE[1..]);
    let mut plan = Plan::new(draw, software);
    let config =
        JointServoConfig { proportional: 0.0, derivative: 0.0, feed_forward: 0.8, ..JointServoConfig::default() };
    let way = Trajectory::through(to_and_fro().split_at(2).0).expect("a trajectory");
    let tolerances = Tolerances {
        goal: JointPositions([0.01; 6]),
        goal_time: Some(core::Duration::from_millis(300)),
        ..Tolerances::DEFAULT
    };
    let law = JointServo::new(Reference::Relative(way), config).with_tolerances(tolerances);
    plan.law(AnyLaw::JointServo(law));
    plan.insists = false;
    plan.length = 4_500;
    plan.about += " falls short";
    plan
}

/// Draws a run with the law that belongs to `number`, suspended and resumed.
pub(super) fn laws(draw: &mut Draw, number: usize) -> Plan {
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
            // The wrist is singular: joint 5 is at zero.
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
            if number == 15 {
                let mut config = ToolAxesConfig::default();
                let [_, _, z, rx, ..] = &mut config.axes;
                *z = Some(AxisConfig::new(SENSOR, 0.1, -1.0));
                *rx = Some(AxisConfig { speed_limit: 0.01, ..AxisConfig::new(SENSOR, 0.1, 10.0) });
                setup.law = AnyLaw::ToolAxes(ToolAxes::new(config));
            }
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
