//! The Jacobian of the chain, its time derivative, and joint speeds for a speed of the tool.

use super::{AxisLines, Chain, Pose6, Vec3, add, cross, scale, speed_of, sub};
use crate::linear_solver::solve;

/// The Jacobian of the tool: six columns, one per joint, each with the tool's speed in the base \[m, rad\] per rad of
/// that joint. Element `[j][axis]`.
pub type Jacobian = [[f64; 6]; 6];

/// Damping factor of the Jacobian's inverse near singular positions: joint speeds stay bounded there, and the tool
/// lags.
const DAMPING: f64 = 1e-3;

impl Chain {
    /// Returns the direction of each joint axis and a point on it, at joint positions `q` \[rad\].
    pub(crate) fn axis_lines(&self, q: &[f64; 6]) -> AxisLines {
        self.axis_lines_turned(&self.turns(q))
    }

    /// Returns the Jacobian of the tool's frame at `q` \[rad\], with the tool at `tcp` (pose in the flange).
    #[must_use]
    pub fn jacobian(&self, q: &[f64; 6], tcp: &Pose6) -> Jacobian {
        let tool = self.tool(q, tcp).position;
        self.axis_lines(q).map(|(direction, point)| spatial(cross(direction, sub(tool, point)), direction))
    }

    /// Returns the time derivative of the tool's Jacobian at joint positions `q` \[rad\] and joint speeds `qd`
    /// \[rad/s\].
    #[must_use]
    pub fn jacobian_time_derivative(&self, q: &[f64; 6], qd: &[f64; 6], tcp: &Pose6) -> Jacobian {
        let lines = self.axis_lines(q);
        let tool = self.tool(q, tcp).position;
        let tool_speed = speed_of(&lines, qd, tool).0;
        // The axes before this one turn its direction and move its point.
        let mut turning = [0.0; 3];
        let mut joint = 0;
        lines.map(|(direction, point)| {
            let turned = cross(turning, direction);
            let point_speed = speed_of(&lines[..joint], qd, point).0;
            let linear = add(cross(turned, sub(tool, point)), cross(direction, sub(tool_speed, point_speed)));
            turning = add(turning, scale(direction, qd[joint]));
            joint += 1;
            spatial(linear, turned)
        })
    }
}

/// Returns the joint torques \[Nm\] that are equivalent to `wrench` \[N, Nm\] at the tool.
#[must_use]
pub fn torques_of(jacobian: &Jacobian, wrench: &[f64; 6]) -> [f64; 6] {
    jacobian.map(|column| column.iter().zip(wrench).map(|(c, w)| c * w).sum())
}

/// Returns the tool's speed \[m/s, rad/s\] at joint speeds `qd` \[rad/s\].
#[must_use]
pub fn speed_at(jacobian: &Jacobian, qd: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|axis| jacobian.iter().zip(qd).map(|(column, qd)| column[axis] * qd).sum())
}

/// Returns the joint speeds \[rad/s\] whose tool speed is nearest to `speed` \[m/s, rad/s\], damped near singular
/// positions.
#[must_use]
pub fn joint_speeds(jacobian: &Jacobian, speed: &[f64; 6]) -> [f64; 6] {
    // Damped least squares: (JᵀJ + λ²) q̇ = Jᵀ v.
    let square: [[f64; 6]; 6] = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let both: f64 = jacobian[i].iter().zip(&jacobian[j]).map(|(a, b)| a * b).sum();
            if i == j { both + DAMPING * DAMPING } else { both }
        })
    });
    solve(square, torques_of(jacobian, speed)).unwrap_or_default()
}

fn spatial([x, y, z]: Vec3, [rx, ry, rz]: Vec3) -> [f64; 6] {
    [x, y, z, rx, ry, rz]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ArmModel;
    use crate::rng::Rng;
    use outrigger_wire::robot::RobotModel;

    const TCP: Pose6 = [0.01, -0.02, 0.15, 0.3, -0.2, 0.1];

    #[test]
    fn the_jacobian_is_the_change_of_the_pose_and_its_derivative_the_change_of_the_jacobian() {
        let mut rng = Rng::new(5, 0);
        for model in RobotModel::ALL {
            let chain = Chain::new(ArmModel::of(*model).lengths);
            let q: [f64; 6] = std::array::from_fn(|_| rng.unit() * 4.0 - 2.0);
            let qd: [f64; 6] = std::array::from_fn(|_| rng.unit() - 0.5);
            let h = 1e-6;
            let jacobian = chain.jacobian(&q, &TCP);
            for joint in 0..6 {
                let (mut before, mut after) = (q, q);
                before[joint] -= h;
                after[joint] += h;
                let (before, after) = (chain.tool(&before, &TCP), chain.tool(&after, &TCP));
                let moved = scale(sub(after.position, before.position), 0.5 / h);
                let turned = scale(after.rotation.after(before.rotation.inverse()).to_vector(), 0.5 / h);
                for (given, found) in jacobian[joint].iter().zip(spatial(moved, turned)) {
                    assert!((given - found).abs() < 1e-6, "{model:?}, joint {joint}: {given} is not {found}");
                }
            }
            let at = |time: f64| chain.jacobian(&std::array::from_fn(|j| q[j] + time * qd[j]), &TCP);
            let (before, after) = (at(-h), at(h));
            let derivative = chain.jacobian_time_derivative(&q, &qd, &TCP);
            for (joint, axis) in (0..36).map(|n| (n / 6, n % 6)) {
                let found = (after[joint][axis] - before[joint][axis]) * 0.5 / h;
                let given = derivative[joint][axis];
                assert!((given - found).abs() < 1e-6, "{model:?} [{joint}][{axis}]: {given} is not {found}");
            }
        }
    }

    #[test]
    fn joint_speeds_give_the_tools_speed_back_and_stay_bounded_where_the_arm_is_stretched() {
        let chain = Chain::new(ArmModel::of(RobotModel::Ur5e).lengths);
        let wanted = [0.1, -0.05, 0.02, 0.3, 0.1, -0.2];
        let jacobian = chain.jacobian(&[0.1, -1.5, -1.4, -1.6, 1.4, 0.2], &TCP);
        let speed = speed_at(&jacobian, &joint_speeds(&jacobian, &wanted));
        assert!(speed.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-4), "{speed:?}");
        let stretched = joint_speeds(&chain.jacobian(&[0.0; 6], &[0.0; 6]), &[0.1, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(stretched.iter().all(|qd| qd.abs() < 60.0), "{stretched:?}");
    }
}
