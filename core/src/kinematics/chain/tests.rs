use super::*;
use outrigger_wire::math::dot;
use outrigger_wire::robot::RobotModel;
use proptest::prelude::*;

fn nominal(model: RobotModel) -> KinematicChain<6> {
    KinematicChain::new(DhParameters::of(model), &Pose::default())
}

/// Returns the distance \[m\] and the angle \[rad\] between two poses.
fn apart(a: &Pose, b: &Pose) -> (f32, f32) {
    let turn = |r: &Rotation, v| [dot(r.x, v), dot(r.y, v), dot(r.z, v)];
    let (ra, rb) = (Rotation::from_vector(a.rotation), Rotation::from_vector(b.rotation));
    let between = Rotation { x: turn(&ra, rb.x), y: turn(&ra, rb.y), z: turn(&ra, rb.z) };
    (norm(subtract(a.position, b.position)), norm(between.to_vector()))
}

/// Computes the kinematics of a UR arm in `f64` from the shapes of its links, independently of the code under test.
fn by_hand([d1, a2, a3, d4, d5, d6]: [f64; 6], q: [f64; 6]) -> ([f64; 3], [f64; 3]) {
    let (s1, c1) = q[0].sin_cos();
    let (s2, c2) = q[1].sin_cos();
    let (s23, c23) = (q[1] + q[2]).sin_cos();
    let (s234, c234) = (q[1] + q[2] + q[3]).sin_cos();
    let (s5, c5) = q[4].sin_cos();
    // In the arm's plane: `out` along the arm, `up`; `side` is along the parallel axes.
    let (out, up, side) = ([c1, s1, 0.0], [0.0, 0.0, 1.0], [s1, -c1, 0.0]);
    let combine = |a: f64, b: f64, c: f64| [0, 1, 2].map(|i| a * out[i] + b * up[i] + c * side[i]);
    let approach = combine(-c234 * s5, -s234 * s5, c5);
    let wrist = combine(a2 * c2 + a3 * c23 + d5 * s234, d1 + a2 * s2 + a3 * s23 - d5 * c234, d4);
    ([0, 1, 2].map(|i| wrist[i] + d6 * approach[i]), approach)
}

/// Uses a state recorded on a real UR5 with software 1.8 (30003): its joint angles and the tool vector that the
/// controller sent.
#[test]
fn a_recorded_pose_of_a_real_ur5_is_reproduced() {
    let q = JointPositions([1.0455, -3.0191, 1.79928, -1.92684, 0.516016, -0.015_754_2]);
    let sent = Pose { position: [0.32087, 0.193182, 0.603869], rotation: [-1.22156, 1.20834, -1.22965] };
    let (distance, angle) = apart(&nominal(RobotModel::Ur5).forward(&q), &sent);
    assert!(distance < 3e-6, "{distance} m off");
    assert!(angle < 1.5e-5, "{angle} rad off");
}

/// Uses a message of a simulated UR5e of the vendor (5.8), with the kinematics-info sub-package of the same message.
#[test]
fn a_recorded_pose_is_reproduced_from_the_parameters_the_controller_sent() {
    let quarter = core::f64::consts::FRAC_PI_2;
    let dh = DhParameters::from_arrays(
        [0.0; 6],
        [0.0, -0.425, -0.3922, 0.0, 0.0, 0.0],
        [0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996],
        [quarter, 0.0, 0.0, quarter, -quarter, 0.0],
    )
    .unwrap();
    let q = JointPositions([-1.6007, -1.7271, -2.203, -0.808, 1.5951, -0.031]);
    let sent = Pose { position: [-0.143969, -0.43562, 0.20203], rotation: [-0.001221, 3.116277, 0.038892] };
    for chain in [KinematicChain::new(dh, &Pose::default()), nominal(RobotModel::Ur5e)] {
        let (distance, angle) = apart(&chain.forward(&q), &sent);
        // The angles of the record are rounded to 10⁻⁴ rad.
        assert!(distance < 1e-4 && angle < 2e-4, "{distance} m, {angle} rad off");
    }
}

#[test]
fn a_tool_offset_is_seen_from_the_flange() {
    let q = JointPositions([0.3, -1.2, 1.4, -0.7, -1.5, 0.9]);
    let flange = nominal(RobotModel::Ur10e).posture(&q).tcp;
    let offset = Pose { position: [0.0, 0.05, 0.2], rotation: [0.0, 0.0, core::f32::consts::FRAC_PI_2] };
    let tool = KinematicChain::new(DhParameters::of(RobotModel::Ur10e), &offset).posture(&q).tcp;
    let expected = add(flange.position, add(scale(flange.rotation.y, 0.05), scale(flange.rotation.z, 0.2)));
    assert!(norm(subtract(tool.position, expected)) < 1e-6);
    assert!(norm(subtract(tool.rotation.x, flange.rotation.y)) < 1e-6);
}

#[test]
fn a_seven_joint_arm_is_followed_as_well() {
    // Joints that all turn about parallel axes, a tenth of a metre apart: a circle of links.
    let dh = DhParameters::<7>::from_arrays([0.0; 7], [0.1; 7], [0.0; 7], [0.0; 7]).unwrap();
    let q = JointPositions([core::f32::consts::TAU / 7.0; 7]);
    let Posture { tcp, jacobian } = KinematicChain::new(dh, &Pose::default()).posture(&q);
    assert!(norm(tcp.position) < 1e-6, "the last link ends where the first began: {:?}", tcp.position);
    assert!(jacobian.0.iter().all(|column| (norm(column.angular) - 1.0).abs() < 1e-6));
}

#[test]
fn angles_that_are_no_numbers_give_no_pose() {
    let q = JointPositions([0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0]);
    assert!(nominal(RobotModel::Ur5e).forward(&q).position.iter().any(|v| v.is_nan()));
}

/// Calibration shifts the parallel axes of a real arm by metres along each other; the pose must stay accurate.
#[test]
fn shifts_that_cancel_along_parallel_axes_cost_no_accuracy_worth_the_name() {
    let [d1, a2, a3, d4, d5, d6] = crate::kinematics::models::lengths(RobotModel::Ur10e).map(f64::from);
    let quarter = core::f64::consts::FRAC_PI_2;
    let alpha = [quarter, 0.0, 0.0, quarter, -quarter, 0.0];
    let drawn = |by: f64| [d1, by, 0.5 * by, d4 - 1.5 * by, d5, d6];
    let q = JointPositions([0.3, -1.2, 1.4, -0.7, -1.5, 0.9]);
    let expected = nominal(RobotModel::Ur10e).posture(&q);
    for by in [1.0, -30.0, 100.0] {
        let dh = DhParameters::from_arrays([0.0; 6], [0.0, a2, a3, 0.0, 0.0, 0.0], drawn(by), alpha).unwrap();
        let Posture { tcp, jacobian } = KinematicChain::new(dh, &Pose::default()).posture(&q);
        assert!(norm(subtract(tcp.position, expected.tcp.position)) < 5e-5, "{by} m: {:?}", tcp.position);
        for (column, expected) in jacobian.0.iter().zip(&expected.jacobian.0) {
            assert!(norm(subtract(column.linear, expected.linear)) < 5e-5, "{by} m: {column:?}");
        }
    }
}

#[test]
fn the_reach_of_a_ur5e_is_that_of_its_links_end_to_end() {
    let [base, .., wrist_2, wrist_3] = nominal(RobotModel::Ur5e).reach();
    assert!((base - 1.1498).abs() < 1e-4, "{base}");
    assert!((wrist_2 - 0.0996).abs() < 1e-6 && wrist_3 == 0.0);
}

fn any_model() -> impl Strategy<Value = RobotModel> {
    prop::sample::select(RobotModel::ALL)
}

proptest! {
    #[test]
    fn every_model_agrees_with_geometry_worked_out_by_hand(
        model in any_model(),
        q in prop::array::uniform6(-6.2_f32..6.2),
    ) {
        let tcp = nominal(model).posture(&JointPositions(q)).tcp;
        let (position, approach) = by_hand(crate::kinematics::models::lengths(model).map(f64::from), q.map(f64::from));
        prop_assert!(norm(subtract(tcp.position, position.map(|v| v as f32))) < 3e-6);
        prop_assert!(norm(subtract(tcp.rotation.z, approach.map(|v| v as f32))) < 3e-6);
    }

    #[test]
    fn the_jacobian_equals_finite_differences_of_the_pose(
        model in any_model(),
        q in prop::array::uniform6(-6.2_f32..6.2),
        offset in prop::array::uniform6(-0.3_f32..0.3),
    ) {
        let [x, y, z, rx, ry, rz] = offset;
        let tool = Pose { position: [x, y, z], rotation: [rx, ry, rz] };
        let chain = KinematicChain::new(DhParameters::of(model), &tool);
        let jacobian = chain.posture(&JointPositions(q)).jacobian;
        for (column, reach) in jacobian.0.iter().zip(chain.reach()) {
            prop_assert!(norm(column.linear) <= reach + 1e-5, "{} m from an axis, {reach} m at most", norm(column.linear));
        }
        for joint in 0..6 {
            let step = 1.0 / 128.0;
            let moved = |by: f32| {
                let mut moved = q;
                moved[joint] += by;
                // The step is taken as it was rounded by the sum.
                (chain.posture(&JointPositions(moved)).tcp, moved[joint])
            };
            let ((ahead, to), (behind, from)) = (moved(step), moved(-step));
            let per_radian = 1.0 / (to - from);
            let linear = scale(subtract(ahead.position, behind.position), per_radian);
            let column = jacobian.0[joint];
            prop_assert!(norm(subtract(linear, column.linear)) < 5e-4, "joint {joint}: {linear:?}, {column:?}");
            // The z axis of the tool turns by angular × z.
            let turning = scale(subtract(ahead.rotation.z, behind.rotation.z), per_radian);
            let expected = cross(column.angular, jacobian_z(&chain, &q));
            prop_assert!(norm(subtract(turning, expected)) < 5e-4, "joint {joint}: {turning:?}, {expected:?}");
        }
    }
}

fn jacobian_z(chain: &KinematicChain<6>, q: &[f32; 6]) -> Vector3 {
    chain.posture(&JointPositions(*q)).tcp.rotation.z
}
