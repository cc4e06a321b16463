//! Laws followed by the governor, as the engine runs them.

use super::test_arm::{CYCLE, Plant};
use super::*;
use crate::command::Limits;
use crate::kinematics::DhParameters;
use crate::robot::wording;
use crate::trajectory::{Progress, Setpoint, Trajectory, Waypoint};
use outrigger_wire::math::{dot, norm, subtract};
use outrigger_wire::robot::{JointAccelerations, JointPositions, Pose, RobotModel, Twist};
use outrigger_wire::sensor::{Sample, SampleValue};
use outrigger_wire::time::Instant;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A working pose: elbow and wrist are well bent, and the tool points down.
const HOME: [f32; 6] = [0.2, -1.3, 1.6, -1.87, -1.57, 0.4];
const SENSOR: SourceId = SourceId(1);
const WANTED: f32 = 0.12;

fn chain() -> KinematicChain<6> {
    KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default())
}

#[test]
fn any_law_needs_kinematics_where_the_law_in_it_does() {
    let laws = [
        LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() },
        LawConfig::Standoff(StandoffConfig::new(SENSOR, WANTED)),
    ];
    let needs = laws.map(|config| AnyLaw::<6>::new(config).unwrap().needs_kinematics());
    assert_eq!(needs, [false, true]);
}

#[test]
fn a_push_is_brought_back_within_the_acceleration_limit_without_ringing() {
    for push in [0.01, 0.05, 0.15] {
        let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
        law.arm(&Start::at(&Plant::at(HOME).state)).unwrap();
        let mut pushed = Plant::at(HOME.map(|q| q + push)).held_to(Limits::default());
        let mut beyond = 0.0_f32;
        for _ in 0..500 {
            pushed.cycle(&mut law, &Samples::NONE).unwrap();
            beyond = beyond.max(HOME[0] - pushed.state.positions.0[0]);
        }
        let off = pushed.state.positions.zip_with(&HOME, |q, h| q - h).max_abs();
        assert!(beyond < 2e-4, "pushed by {push} rad, it swung {beyond} rad through");
        assert!(off < 1e-4, "off by {off} rad");
    }
}

#[test]
fn a_motion_that_passes_its_check_is_never_refused_on_the_way() {
    let waypoint = |q, millis| Waypoint {
        setpoint: Setpoint { positions: JointPositions([q; 6]), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let pi = core::f32::consts::PI;
    let motion = Trajectory::through(&[waypoint(0.0, 0), waypoint(-pi, 2_000), waypoint(0.0, 4_000)]).unwrap();
    let limits = Limits {
        velocity: JointVelocities([2.5; 6]),
        acceleration: JointAccelerations([6.0; 6]),
        braking: JointAccelerations([6.0; 6]),
        ..Limits::default()
    };
    let reference = Reference::Relative(motion);
    reference.check(&limits).unwrap();
    let config = JointServoConfig { joint_speed: 2.5, correction_deceleration: 3.0, ..JointServoConfig::default() };
    let mut law = JointServo::new(reference, config);
    let mut plant = Plant::at(HOME).held_to(limits);
    law.arm(&Start::at(&plant.state)).unwrap();
    for _ in 0..600 {
        plant.cycle(&mut law, &Samples::NONE).unwrap();
    }
    assert_eq!(law.status().progress, Progress::Finished);
    let off = plant.state.positions.zip_with(&HOME, |q, h| q - h).max_abs().to_degrees();
    assert!(off < 0.05, "{off}° off at the end");
}

/// A distance sensor with a reading every fourth cycle, 40 ms late, with half a millimetre of noise.
struct SlowSensor {
    late: VecDeque<f32>,
    reading: f32,
    cycle: u32,
    noise: u32,
}

impl SlowSensor {
    fn new(reading: f32) -> Self {
        Self { late: [reading; 5].into(), reading, cycle: 0, noise: 0x2545_f491 }
    }

    fn read(&mut self, distance: f32) -> [Sample; 1] {
        self.late.push_back(distance);
        let seen = self.late.pop_front().unwrap();
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 17;
        self.noise ^= self.noise << 5;
        if self.cycle.is_multiple_of(4) {
            self.reading = seen + 5e-4 * (f32::from(self.noise as u16) / 32_768.0 - 1.0);
        }
        self.cycle += 1;
        let value = SampleValue::scalar(self.reading);
        [Sample { source: SENSOR, value, seq: self.cycle, taken_at: Instant::ZERO }]
    }
}

/// Returns the distance of the tool from a plane perpendicular to its axis at the start, and `height` below it then.
fn distance(plant: &Plant, height: f32) -> f32 {
    let start = chain().posture(&JointPositions(HOME)).tcp;
    let now = chain().posture(&plant.state.positions).tcp;
    height - dot(subtract(now.position, start.position), start.rotation.z)
}

#[test]
fn standoff_settles_with_a_slow_late_and_noisy_sensor_behind_default_limits() {
    let mut law = Standoff::new(StandoffConfig::new(SENSOR, WANTED));
    let mut plant = Plant::at(HOME).held_to(Limits::default());
    law.arm(&Start::at(&plant.state).with_kinematics(&chain())).unwrap();
    let (mut sensor, mut nearest, mut worst) = (SlowSensor::new(0.3), f32::INFINITY, 0.0_f32);
    for cycle in 0..2_500 {
        let here = distance(&plant, 0.3);
        plant.cycle(&mut law, &Samples::new(&sensor.read(here))).unwrap();
        nearest = nearest.min(here);
        if cycle > 1_000 {
            worst = worst.max((here - WANTED).abs());
        }
    }
    assert!(nearest > WANTED - 0.008, "as near as {nearest} m");
    assert!(worst < 1e-3, "settled to {worst} m");
}

#[test]
fn a_redundant_arm_is_held_at_its_distance_as_well() {
    // Seven axes alternately along and across a straight arm, which is bent a little everywhere.
    let quarter = core::f64::consts::FRAC_PI_2;
    let alpha = [quarter, -quarter, -quarter, quarter, quarter, -quarter, 0.0];
    let dh = DhParameters::<7>::from_arrays([0.0; 7], [0.0; 7], [0.3, 0.0, 0.4, 0.0, 0.4, 0.0, 0.1], alpha).unwrap();
    let seven = KinematicChain::new(dh, &Pose::default());
    let state = State { positions: JointPositions([0.3, 0.6, -0.4, 1.2, 0.5, -0.9, 0.2]), ..State::default() };
    let mut law = AnyLaw::<7>::new(LawConfig::Standoff(StandoffConfig::new(SENSOR, WANTED))).unwrap();
    law.arm(&Start::at(&state).with_kinematics(&seven)).unwrap();
    let reading = [Sample { source: SENSOR, value: SampleValue::scalar(0.125), seq: 0, taken_at: Instant::ZERO }];
    let wanted = law.step(&state, &Samples::new(&reading), Duration::ZERO).unwrap();
    let posture = seven.posture(&state.positions);
    let made = posture.jacobian.twist(&wanted);
    let along = dot(made.linear, posture.tcp.rotation.z);
    assert!((along - 0.025).abs() < 1e-3, "5 mm at 5 /s: {along} m/s");
    assert!(norm(made.angular) < 1e-3 && (norm(made.linear) - along).abs() < 1e-4, "{made:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn standoff_follows_steps_of_the_surface_without_ever_being_refused(
        steps in prop::collection::vec(0.06_f32..0.3, 1..5),
    ) {
        let mut law = Standoff::new(StandoffConfig::new(SENSOR, WANTED));
        let mut plant = Plant::at(HOME).held_to(Limits::default());
        law.arm(&Start::at(&plant.state).with_kinematics(&chain())).unwrap();
        let mut height = 0.0;
        for step in steps {
            // Each time the surface jumps to this distance from the tool.
            height += step - distance(&plant, height);
            for _ in 0..1_500 {
                let value = SampleValue::scalar(distance(&plant, height));
                let reading = [Sample { source: SENSOR, value, seq: 0, taken_at: Instant::ZERO }];
                if let Err(reason) = plant.cycle(&mut law, &Samples::new(&reading)) {
                    // The path may leave the arm's workspace, but never exceeds the governor's limits.
                    prop_assert!(matches!(reason, Reason::Singular | Reason::PositionLimit), "{reason:?}");
                    return Ok(());
                }
            }
            let error = distance(&plant, height) - WANTED;
            prop_assert!(error.abs() < 2e-3, "{error} m off after 12 s");
        }
    }

    #[test]
    fn a_twist_of_any_direction_is_made_or_refused_with_its_reason(
        linear in prop::array::uniform3(-0.1_f32..0.1),
        angular in prop::array::uniform3(-0.5_f32..0.5),
        tool in any::<bool>(),
    ) {
        let frame = if tool { TwistFrame::Tool } else { TwistFrame::Base };
        let input = TwistInput::Constant(Twist { linear, angular });
        let mut law = CartesianTwist::new(CartesianTwistConfig::new(frame, input));
        let mut plant = Plant::at(HOME).held_to(Limits::default());
        law.arm(&Start::at(&plant.state).with_kinematics(&chain())).unwrap();
        for _ in 0..1_000 {
            let before = chain().posture(&plant.state.positions).tcp.position;
            match plant.cycle(&mut law, &Samples::NONE) {
                Ok(commanded) => prop_assert!(commanded.max_abs() <= 1.0),
                Err(reason) => {
                    prop_assert!(matches!(reason, Reason::Singular | Reason::PositionLimit), "{reason:?}");
                    break;
                }
            }
            let after = chain().posture(&plant.state.positions).tcp.position;
            let speed = norm(subtract(after, before)) / CYCLE.as_secs_f32();
            prop_assert!(speed <= 0.1 * 1.3, "{speed} m/s");
        }
    }
}

#[test]
fn settings_no_law_can_work_with_are_named() {
    let field = |config: LawConfig<6>| AnyLaw::new(config).err().map(|e| e.field);
    let servo = |change: fn(&mut JointServoConfig)| {
        let mut config = JointServoConfig::default();
        change(&mut config);
        field(LawConfig::JointServo { reference: Reference::Hold, config })
    };
    assert_eq!(servo(|_| {}), None);
    assert_eq!(servo(|c| c.proportional = f32::NAN), Some(wording("proportional")));
    assert_eq!(servo(|c| c.derivative = -1.0), Some(wording("derivative")));
    assert_eq!(servo(|c| c.feed_forward = 1.5), Some(wording("feed_forward")));
    assert_eq!(servo(|c| c.correction_limit = 0.0), Some(wording("correction_limit")));
    assert_eq!(servo(|c| c.path_tolerance = 0.0), Some(wording("path_tolerance")));

    let standoff = |change: fn(&mut StandoffConfig)| {
        let mut config = StandoffConfig::new(SourceId(1), 0.1);
        change(&mut config);
        field(LawConfig::Standoff(config))
    };
    assert_eq!(standoff(|_| {}), None);
    assert_eq!(standoff(|c| c.distance = -0.1), Some(wording("distance")));
    assert_eq!(standoff(|c| c.approach_limit = f32::INFINITY), Some(wording("approach_limit")));
    assert_eq!(standoff(|c| c.travel[1] = f32::NAN), Some(wording("travel")));
    assert_eq!(standoff(|c| c.tool_space.joint_speed = 0.0), Some(wording("joint_speed")));
    assert_eq!(standoff(|c| c.tool_space.solver.damping = 0.0), Some(wording("damping")));

    let twist = Twist { linear: [f32::NAN, 0.0, 0.0], angular: [0.0; 3] };
    let config = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Constant(twist));
    assert_eq!(field(LawConfig::CartesianTwist(config)), Some(wording("twist")));
}

#[test]
fn it_asks_for_the_sources_of_the_law_it_is() {
    let standoff = AnyLaw::<6>::new(LawConfig::Standoff(StandoffConfig::new(SourceId(7), 0.1))).unwrap();
    assert_eq!(standoff.sources(), [SourceId(7)]);
    let servo = LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() };
    assert_eq!(AnyLaw::<6>::new(servo).unwrap().sources(), []);
}
