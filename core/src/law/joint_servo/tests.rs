use super::*;
use crate::law::Quantity;
use crate::law::test_arm::Plant;
use crate::trajectory::Waypoint;
use outrigger_wire::robot::JointAccelerations;
use outrigger_wire::sensor::{Sample, SampleValue};
use outrigger_wire::time::Instant;

#[cfg(feature = "motions")]
mod forward;
#[cfg(feature = "trajectories")]
mod motions;

const HOME: [f32; 6] = [0.1, -1.6, 1.5, -1.4, -1.6, 0.0];

/// A motion of joint 0 through half a turn and back in 4 s, as in Andersen's report.
fn half_turn_and_back() -> Trajectory<6> {
    let waypoint = |q, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([q, 0.0, 0.0, 0.0, 0.0, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let pi = core::f32::consts::PI;
    Trajectory::through(&[waypoint(0.0, 0), waypoint(-pi, 2_000), waypoint(0.0, 4_000)]).unwrap()
}

fn run(law: &mut JointServo<6>, plant: &mut Plant, cycles: usize) -> Result<f32, Reason> {
    let mut worst = 0.0_f32;
    for _ in 0..cycles {
        let wanted = plant.cycle(law, &Samples::NONE)?;
        worst = worst.max(wanted.max_abs());
    }
    Ok(worst)
}

fn home_error(plant: &Plant) -> f32 {
    plant.state.positions.zip_with(&HOME, |q, h| q - h).max_abs()
}

#[test]
fn arming_asks_for_no_motion() {
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    assert_eq!(run(&mut law, &mut plant, 100), Ok(0.0));
    assert_eq!(law.progress(), Progress::Endless);
}

#[test]
fn a_push_is_brought_back_without_ringing() {
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    law.arm(&Start::at(&Plant::at(HOME).state)).unwrap();
    let mut pushed = Plant::at(HOME.map(|q| q + 0.05));
    run(&mut law, &mut pushed, 250).unwrap();
    assert!(home_error(&pushed) < 1e-4, "off by {} rad", home_error(&pushed));
}

#[test]
fn half_a_turn_and_back_ends_where_it_began_with_feedback_and_drifts_without() {
    let end_error = |config| {
        let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), config);
        let mut plant = Plant::at(HOME);
        law.arm(&Start::at(&plant.state)).unwrap();
        run(&mut law, &mut plant, 250).unwrap();
        let middle = plant.state.positions.0[0] + core::f32::consts::PI - HOME[0];
        run(&mut law, &mut plant, 300).unwrap();
        assert_eq!(law.progress(), Progress::Finished);
        (middle.abs().to_degrees(), home_error(&plant).to_degrees())
    };
    let (_, end) = end_error(JointServoConfig::default());
    assert!(end < 0.05, "{end}° at the end");
    let blind = JointServoConfig { proportional: 0.0, derivative: 0.0, ..JointServoConfig::default() };
    let (middle, _) = end_error(blind);
    assert!(middle > 0.5, "half a per cent of half a turn is lost without feedback: {middle}°");
}

#[test]
#[cfg(feature = "programs")]
fn about_a_rest_feedback_asks_for_no_more_than_the_path_grants() {
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    law.arm(&Start::at(&Plant::at(HOME).state)).unwrap();
    let off = Plant::at(HOME.map(|q| q + 0.001));
    let cycle = Duration::from_millis(8);
    for (most, speed) in [(f32::INFINITY, 0.02), (100.0, 0.02), (4.0, 0.004)] {
        let samples = Samples::NONE.with_most_feedback(most);
        let wanted = law.step(&off.state, &samples, cycle).unwrap();
        assert!(wanted.0.iter().all(|v| (v + speed).abs() < 1e-5), "at most {most} /s: {wanted:?}");
    }
}

#[test]
fn an_absolute_motion_refuses_to_begin_elsewhere() {
    let mut law = JointServo::new(Reference::Absolute(half_turn_and_back()), JointServoConfig::default());
    assert_eq!(law.arm(&Start::at(&Plant::at(HOME).state)), Err(Reason::PathTolerance));
    assert_eq!(law.progress(), Progress::Waiting);
    assert_eq!(law.begins_at(), Some((JointPositions::ZERO, law.config.path_tolerance)));
    assert_eq!(law.arm(&Start::at(&Plant::at([0.0; 6]).state)), Ok(()));
    assert_eq!(law.begins_at(), None, "it has begun");
    let anywhere = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    assert_eq!(Motion::begins_at(&anywhere), None);
    assert_eq!(law.progress(), Progress::Running);
}

#[test]
fn an_arm_pushed_off_its_path_ends_commanding() {
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    law.arm(&Start::at(&Plant::at(HOME).state)).unwrap();
    let far = Plant::at(HOME.map(|q| q + 0.21));
    assert_eq!(law.step(&far.state, &Samples::NONE, Duration::ZERO), Err(Reason::PathTolerance));
}

#[test]
fn a_paused_robot_is_waited_for() {
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 60).unwrap();
    plant.state.speed_scaling = Some(0.0);
    run(&mut law, &mut plant, 500).unwrap();
    plant.state.speed_scaling = Some(0.6);
    assert_eq!(law.progress(), Progress::Running);
    run(&mut law, &mut plant, 1_000).unwrap();
    assert_eq!(law.progress(), Progress::Finished);
    assert!(home_error(&plant).to_degrees() < 0.05);
}

#[test]
fn at_half_the_slider_the_arm_is_expected_to_move_half_as_fast() {
    let config = JointServoConfig { proportional: 0.0, derivative: 0.5, ..JointServoConfig::default() };
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), config);
    let mut state = Plant::at(HOME).state;
    state.speed_scaling = Some(0.5);
    law.arm(&Start::at(&state)).unwrap();
    let cycle = Duration::from_millis(100);
    let reference = half_turn_and_back().at_nanos(50_000_000);
    state.positions = state.positions.zip_with(reference.positions.as_array(), |q, r| q + r);
    state.velocities = reference.velocities.map(|v| 0.5 * v);
    let wanted = law.step(&state, &Samples::NONE, cycle).unwrap();
    let off = wanted.zip_with(reference.velocities.as_array(), |w, r| w - r).max_abs();
    assert!(off < 1e-6, "nothing to correct: {wanted:?} for {reference:?}");
}

#[test]
fn after_a_fallback_the_motion_waits_for_an_explicit_resume() {
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 60).unwrap();
    law.suspend();
    assert_eq!(law.progress(), Progress::Suspended);

    let stopped = plant.state.positions;
    let mut plant = Plant::at(stopped.0);
    law.arm(&Start::at(&plant.state)).unwrap();
    assert_eq!(run(&mut law, &mut plant, 300), Ok(0.0), "armed again, it holds");
    law.suspend();
    law.arm(&Start::at(&plant.state).resuming()).unwrap();
    run(&mut law, &mut plant, 700).unwrap();
    assert_eq!(law.progress(), Progress::Finished);
    assert!(home_error(&plant).to_degrees() < 0.05);
}

#[test]
fn resuming_without_a_motion_is_arming() {
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    law.arm(&Start::at(&Plant::at(HOME).state)).unwrap();
    law.suspend();
    let mut elsewhere = Plant::at(HOME.map(|q| q + 0.5));
    law.arm(&Start::at(&elsewhere.state).resuming()).unwrap();
    assert_eq!(run(&mut law, &mut elsewhere, 50), Ok(0.0));
}

#[test]
fn feedback_does_not_push_a_joint_beyond_its_speed_nor_hide_a_reference_that_is_too_fast() {
    let fastest = |joint_speed| {
        let config = JointServoConfig { joint_speed, correction_limit: 10.0, ..JointServoConfig::default() };
        let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), config);
        let mut plant = Plant::at(HOME);
        law.arm(&Start::at(&plant.state)).unwrap();
        let mut fastest = 0.0_f32;
        for _ in 0..200 {
            fastest = fastest.max(plant.cycle(&mut law, &Samples::NONE).unwrap().max_abs());
        }
        fastest
    };
    let peak = half_turn_and_back().peak_velocities().max_abs();
    let free = fastest(f32::INFINITY);
    assert!(free > peak + 0.012, "feedback makes up for the drive: {free} rad/s");
    assert!(fastest(peak + 0.005) <= peak + 0.005);
    assert!(fastest(0.1) > peak - 0.05);
}

#[test]
fn a_motion_beyond_the_limits_is_found_before_it_is_run() {
    let roomy =
        Limits { velocity: JointVelocities([2.4; 6]), acceleration: JointAccelerations([5.0; 6]), ..Limits::default() };
    let check = |reference: &Reference<6>, change: fn(&mut Limits<6>)| {
        let mut limits = roomy;
        change(&mut limits);
        reference.check(&limits).map_err(|(to, excess)| (to, excess.joint, excess.quantity, excess.allowed))
    };
    let absolute = Reference::Absolute(half_turn_and_back());
    let relative = Reference::Relative(half_turn_and_back());
    assert_eq!(check(&absolute, |_| {}), Ok(()));
    assert_eq!(check(&relative, |l| l.velocity.0[0] = 2.3), Err((1, 0, Quantity::Velocity, 2.3)));
    assert_eq!(check(&relative, |l| l.acceleration.0[0] = 4.7), Err((1, 0, Quantity::Acceleration, 4.7)));
    assert_eq!(check(&absolute, |l| l.position_min.0[0] = -3.1), Err((1, 0, Quantity::Position, -3.1)));
    assert_eq!(check(&absolute, |l| l.position_min.0[3] = 0.1), Err((1, 3, Quantity::Position, 0.1)));
    assert_eq!(check(&relative, |l| l.position_min.0[0] = -3.1), Ok(()), "it depends on where it begins");
    assert_eq!(check(&Reference::Hold, |l| l.velocity.0[0] = 0.1), Ok(()));
}

#[test]
fn resuming_far_away_is_refused() {
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 60).unwrap();
    law.suspend();
    let elsewhere = Plant::at(plant.state.positions.0.map(|q| q + 0.5));
    law.arm(&Start::at(&elsewhere.state)).unwrap();
    assert_eq!(law.arm(&Start::at(&elsewhere.state).resuming()), Err(Reason::PathTolerance));
    assert_eq!(law.progress(), Progress::Suspended);
}

#[test]
fn a_motion_that_is_over_is_not_gone_back_to() {
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 600).unwrap();
    law.suspend();
    let mut elsewhere = Plant::at(HOME.map(|q| q + 0.5));
    law.arm(&Start::at(&elsewhere.state)).unwrap();
    assert_eq!(run(&mut law, &mut elsewhere, 50), Ok(0.0));
}

#[test]
fn a_sensor_adds_its_speeds_joint_by_joint() {
    let source = SourceId(1);
    let sensor = Some(SensorFeedForward { source, gain: 0.5 });
    let mut law = JointServo::new(Reference::Hold, JointServoConfig { sensor, ..JointServoConfig::default() });
    assert_eq!(Law::<6>::sources(&law), [source]);
    let state = Plant::at(HOME).state;
    law.arm(&Start::at(&state)).unwrap();
    assert_eq!(law.step(&state, &Samples::NONE, Duration::ZERO), Err(Reason::SourceStale));
    let with = |numbers: &[f32]| {
        [Sample { source, value: SampleValue::new(numbers).unwrap(), seq: 0, taken_at: Instant::ZERO }]
    };
    let wanted = law.step(&state, &Samples::new(&with(&[0.2, -0.4])), Duration::ZERO).unwrap();
    assert_eq!(wanted, JointVelocities([0.1, -0.2, 0.0, 0.0, 0.0, 0.0]));
    assert_eq!(law.step(&state, &Samples::new(&with(&[f32::NAN])), Duration::ZERO), Err(Reason::NotFinite));
}

#[test]
fn a_state_with_nan_ends_commanding() {
    let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let good = Plant::at(HOME).state;
    law.arm(&Start::at(&good)).unwrap();
    for joint in 0..6 {
        let mut bad = good;
        bad.positions.0[joint] = f32::NAN;
        assert_eq!(law.arm(&Start::at(&bad)), Err(Reason::NotFinite));
        assert_eq!(law.step(&bad, &Samples::NONE, Duration::ZERO), Err(Reason::NotFinite));
        let mut bad = good;
        bad.velocities.0[joint] = f32::INFINITY;
        assert_eq!(law.step(&bad, &Samples::NONE, Duration::ZERO), Err(Reason::NotFinite));
    }
}
