//! Reduces an arm to a line from its base to its tool, for a picture.

use std::iter;

use outrigger::record::joint_axes;
use outrigger_core::kinematics::KinematicChain;
use outrigger_wire::math::Vector3;
use outrigger_wire::robot::JointPositions;

/// Returns the points through which an arm is drawn as a line: the base, a point on each joint's axis, and the tool
/// centre point, in the base frame \[m\].
pub(crate) fn outline<const N: usize>(chain: &KinematicChain<N>, q: &JointPositions<N>) -> Vec<Vector3> {
    let posture = chain.posture(q);
    let tool = posture.tcp.position;
    let points = joint_axes(tool, posture.jacobian.0).into_iter().map(|axis| axis.point);
    iter::once([0.0; 3]).chain(points).chain([tool]).collect()
}

/// Returns the tool's z axis in the base frame, the direction in which a distance sensor measures.
pub(super) fn tool_axis<const N: usize>(chain: &KinematicChain<N>, q: &JointPositions<N>) -> Vector3 {
    chain.posture(q).tcp.rotation.z
}

#[cfg(test)]
mod tests {
    use outrigger_core::kinematics::DhParameters;
    use outrigger_wire::math::dot;
    use outrigger_wire::robot::{Pose, RobotModel};

    use super::*;

    fn near(a: Vector3, b: Vector3) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4)
    }

    #[test]
    fn an_arm_laid_straight_has_its_joints_where_the_data_sheet_says() {
        let chain = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
        let points = outline(&chain, &JointPositions::ZERO);
        assert_eq!(points.len(), 8);
        // The dimensions of the ur5e: shoulder 162.5 mm above the base, upper arm 425 mm, forearm 392.2 mm, both
        // along -x.
        assert!(near(points[2], [0.0, 0.0, 0.1625]), "{points:?}");
        assert!(near(points[3], [-0.425, 0.0, 0.1625]), "{points:?}");
        assert!(near(points[4], [-0.8172, 0.0, 0.1625]), "{points:?}");
        assert!(near(points[7], chain.forward(&JointPositions::ZERO).position), "{points:?}");
    }

    /// Checks that links keep their lengths in any posture, apart from the parts along the axes themselves.
    #[test]
    fn upper_arm_and_forearm_keep_their_lengths_and_calibration_moves_nothing_far() {
        // The parameters of a calibrated arm: 12 m along the shoulder's axis, and back along the elbow's and the
        // wrist's.
        let (quarter, zero) = (std::f64::consts::FRAC_PI_2, [0.0; 6]);
        let (a, alpha) = ([0.0, -0.425, -0.3922, 0.0, 0.0, 0.0], [quarter, 1e-3, 0.0, quarter, -quarter, 0.0]);
        let d = [0.1625, 12.0, -12.0, 0.1333, 0.0997, 0.0996];
        let calibrated = DhParameters::from_arrays(zero, a, d, alpha).expect("parameters");
        for dh in [DhParameters::of(RobotModel::Ur5e), calibrated] {
            let chain = KinematicChain::new(dh, &Pose::default());
            let q = JointPositions([0.3, -1.2, 1.4, -0.7, 0.9, 0.2]);
            let points = outline(&chain, &q);
            let length =
                |i: usize| points[i].iter().zip(points[i + 1]).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
            assert!((length(2) - 0.425).abs() < 0.02 && (length(3) - 0.3922).abs() < 0.02, "{points:?}");
            assert!(points.iter().flatten().all(|value| value.abs() < 1.5), "{points:?}");
            assert!(near(*points.last().expect("a tool"), chain.forward(&q).position));
            assert!((dot(tool_axis(&chain, &q), tool_axis(&chain, &q)) - 1.0).abs() < 1e-5);
        }
    }
}
