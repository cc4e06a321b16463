use super::*;
use crate::kinematics::{DhParameters, KinematicChain};
use crate::law::test_arm::{CYCLE, Plant};
use outrigger_wire::math::{dot, subtract};
use outrigger_wire::robot::{JointPositions, Pose, RobotModel};
use outrigger_wire::sensor::{Sample, SampleValue};
use outrigger_wire::time::Instant;

/// An ordinary working pose: elbow and wrist are well bent, and the tool points down.
const BENT: [f32; 6] = [0.2, -1.3, 1.6, -1.87, -1.57, 0.4];

fn chain() -> KinematicChain<6> {
    KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default())
}

fn law(frame: TwistFrame, input: TwistInput) -> CartesianTwist<6> {
    let mut law = CartesianTwist::new(CartesianTwistConfig::new(frame, input));
    law.tool_space.set_chain(&chain());
    law
}

fn linear(x: f32, y: f32, z: f32) -> TwistInput {
    TwistInput::Constant(Twist { linear: [x, y, z], angular: [0.0; 3] })
}

/// Returns the displacement of the tool \[m\] and the angle of its rotation \[rad\] after one second.
fn moved_in_a_second(law: &mut CartesianTwist<6>) -> ([f32; 3], f32) {
    let mut plant = Plant::at(BENT);
    let before = chain().posture(&plant.state.positions).tcp;
    law.arm(&Start::at(&plant.state)).unwrap();
    for _ in 0..125 {
        plant.cycle(law, &Samples::NONE).unwrap();
    }
    let after = chain().posture(&plant.state.positions).tcp;
    let turned = 1.0 - dot(before.rotation.z, after.rotation.z);
    (subtract(after.position, before.position), turned)
}

#[test]
fn the_tool_moves_along_the_base_axes() {
    let (moved, turned) = moved_in_a_second(&mut law(TwistFrame::Base, linear(0.05, 0.0, -0.02)));
    // The simulated arm adds two cycles of delay, one of lag, and runs 0.5 % too slowly.
    let expected = [0.05, 0.0, -0.02].map(|v| v * 0.976 * 0.995);
    assert!(norm(subtract(moved, expected)) < 1e-3, "{moved:?}");
    assert!(turned < 1e-5);
}

#[test]
fn the_tool_moves_along_its_own_axes() {
    let axes = chain().posture(&JointPositions(BENT)).tcp.rotation;
    let (moved, _) = moved_in_a_second(&mut law(TwistFrame::Tool, linear(0.0, 0.0, 0.05)));
    assert!(norm(subtract(moved, scale(axes.z, 0.05 * 0.976 * 0.995))) < 1e-3, "{moved:?} along {:?}", axes.z);
}

#[test]
fn the_tool_turns_about_its_own_axes() {
    let about_x = TwistInput::Constant(Twist { linear: [0.0; 3], angular: [0.3, 0.0, 0.0] });
    let mut law = law(TwistFrame::Tool, about_x);
    let mut plant = Plant::at(BENT);
    let before = chain().posture(&plant.state.positions).tcp;
    law.arm(&Start::at(&plant.state)).unwrap();
    for _ in 0..125 {
        plant.cycle(&mut law, &Samples::NONE).unwrap();
    }
    let after = chain().posture(&plant.state.positions).tcp;
    assert!(norm(subtract(after.position, before.position)) < 1e-3, "the tool centre point stays");
    assert!(dot(after.rotation.x, before.rotation.x) > 0.9999, "the axis stays: {:?}", after.rotation.x);
    // A right-handed turn about x takes y towards z.
    let turned = dot(after.rotation.y, before.rotation.z);
    assert!((turned - 0.29_f32.sin()).abs() < 5e-3, "{turned}");
}

#[test]
fn a_twist_that_is_too_fast_is_slowed_as_a_whole() {
    let state = Plant::at(BENT).state;
    let speeds = |input| law(TwistFrame::Base, input).step(&state, &Samples::NONE, CYCLE).unwrap();
    let (slow, fast) = (speeds(linear(0.06, 0.08, 0.0)), speeds(linear(0.6, 0.8, 0.0)));
    assert!(slow.zip_with(fast.as_array(), |a, b| a - b).max_abs() < 1e-6, "{slow:?} {fast:?}");
}

#[test]
fn no_joint_is_asked_to_exceed_its_speed() {
    let mut config = CartesianTwistConfig::new(TwistFrame::Base, linear(0.1, 0.0, 0.0));
    let state = Plant::at(BENT).state;
    let mut direction = None;
    for joint_speed in [0.02, 0.1, 10.0] {
        config.tool_space.joint_speed = joint_speed;
        let mut law = CartesianTwist::new(config);
        law.tool_space.set_chain(&chain());
        let wanted = law.step(&state, &Samples::NONE, CYCLE).unwrap();
        let fastest = wanted.max_abs();
        assert!(fastest <= joint_speed * 1.000_001);
        let unit = wanted.map(|v| v / fastest);
        let first = *direction.get_or_insert(unit);
        assert!(unit.zip_with(first.as_array(), |a, b| a - b).max_abs() < 1e-5, "the direction is kept");
    }
}

#[test]
fn a_direction_the_arm_cannot_move_in_ends_commanding() {
    // Stretched out: the tool cannot be moved further away.
    let mut stretched = Plant::at([0.0, -0.4, 0.0, -1.2, -1.57, 0.0]);
    let out = chain().posture(&stretched.state.positions).tcp.position;
    let away = scale(out, 0.05 / norm(out));
    let mut law = law(TwistFrame::Base, linear(away[0], away[1], away[2]));
    law.arm(&Start::at(&stretched.state)).unwrap();
    let ended = (0..500).find_map(|_| stretched.cycle(&mut law, &Samples::NONE).err());
    assert_eq!(ended, Some(Reason::Singular));
}

#[test]
fn unknown_kinematics_cannot_be_armed() {
    let mut law = CartesianTwist::<6>::new(CartesianTwistConfig::new(TwistFrame::Base, linear(0.0, 0.0, 0.0)));
    assert_eq!(law.arm(&Start::at(&Plant::at(BENT).state)), Err(Reason::KinematicsUnknown));
    assert_eq!(law.arm(&Start::at(&Plant::at(BENT).state).with_kinematics(&chain())), Ok(()));
    assert_eq!(law.arm(&Start::at(&Plant::at(BENT).state)), Ok(()), "it keeps them");
}

#[test]
fn the_twist_of_a_sensor_needs_six_finite_numbers() {
    let source = SourceId(2);
    let mut law = law(TwistFrame::Tool, TwistInput::Source(source));
    assert_eq!(law.sources(), [source]);
    let state = Plant::at(BENT).state;
    let mut step = |numbers: &[f32]| {
        let value = SampleValue::new(numbers).unwrap();
        let samples = [Sample { source, value, seq: 0, taken_at: Instant::ZERO }];
        law.step(&state, &Samples::new(&samples), CYCLE)
    };
    assert!(step(&[0.01, 0.0, 0.0, 0.0, 0.0, 0.1]).is_ok());
    assert_eq!(step(&[0.01, 0.0, 0.0, 0.0, 0.0]), Err(Reason::SourceOutOfRange));
    for bad in [f32::NAN, f32::INFINITY] {
        assert_eq!(step(&[0.01, 0.0, 0.0, 0.0, bad, 0.0]), Err(Reason::NotFinite), "{bad}");
    }
    assert_eq!(law.step(&state, &Samples::NONE, CYCLE), Err(Reason::SourceStale));
}

#[test]
fn a_state_with_nan_ends_commanding() {
    let mut state = Plant::at(BENT).state;
    state.positions.0[4] = f32::NAN;
    let mut law = law(TwistFrame::Base, linear(0.0, 0.0, 0.01));
    assert_eq!(law.arm(&Start::at(&state)), Err(Reason::NotFinite));
    assert_eq!(law.step(&state, &Samples::NONE, CYCLE), Err(Reason::NotFinite));
}
