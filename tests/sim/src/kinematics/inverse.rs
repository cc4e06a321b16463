//! The inverse kinematics, in closed form with the same axes in space as the forward kinematics. The base joint
//! follows from the distance of the wrist from the arm's plane, wrists 2, 1 and 3 from the remaining rotation,
//! shoulder and elbow from two links in that plane. Every solution is checked by the forward kinematics.

use std::f64::consts::{PI, TAU};

use super::{Chain, Frame, Pose6, Rotation, add, norm, scale, sub};

/// The largest permitted deviation of a solution's tool pose from the requested pose \[m, rad\].
const TOLERANCE: f64 = 1e-7;
/// The sine of wrist 2's angle below which wrists 1 and 3 turn about one line; wrist 3 then keeps its position.
const SINGULAR: f64 = 1e-9;

impl Chain {
    /// Returns the joint positions \[rad\] that move the tool at `tcp` to `pose`, within the joint ranges: of all
    /// solutions (up to eight, and whole turns more) the one nearest to `near`. `None` if the arm cannot reach the
    /// pose.
    #[must_use]
    pub fn inverse(&self, pose: &Pose6, tcp: &Pose6, near: &[f64; 6]) -> Option<[f64; 6]> {
        let flange = self.flange_of(pose, tcp);
        let distance = |q: &[f64; 6]| q.iter().zip(near).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let reached = |q: &[f64; 6]| {
            let found = self.tool(q, &[0.0; 6]);
            let turn = found.rotation.inverse().after(flange.rotation).to_vector();
            norm(sub(found.position, flange.position)) < TOLERANCE && norm(turn) < TOLERANCE
        };
        let all = self.postures(&flange, near).into_iter().filter_map(|q| self.turned(q, near)).filter(reached);
        all.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// Returns the pose of the flange if the tool, which is at `tcp` in the flange's frame, is at `pose`.
    fn flange_of(&self, pose: &Pose6, tcp: &Pose6) -> Frame {
        let rotation = |p: &Pose6| Rotation::from_vector([p[3], p[4], p[5]]);
        let flange = rotation(pose).after(rotation(tcp).inverse());
        let [x, y, z, ..] = *tcp;
        let [px, py, pz, ..] = *pose;
        Frame { position: sub([px, py, pz], flange.turn([x, y, z])), rotation: flange }
    }

    /// Returns every combination of joint positions for this flange frame, before whole turns are added. Some may be
    /// beyond reach.
    fn postures(&self, flange: &Frame, near: &[f64; 6]) -> Vec<[f64; 6]> {
        let l = self.lengths;
        let mut found = Vec::with_capacity(8);
        let wrist = sub(flange.position, scale(flange.z_axis(), l.d6));
        // The wrist is d4 beside the plane in which shoulder, elbow and wrist 1 turn.
        let radius = wrist[0].hypot(wrist[1]);
        let (towards, aside) = (wrist[1].atan2(wrist[0]), (l.d4 / radius).clamp(-1.0, 1.0).asin());
        for base in [towards + aside, towards - PI - aside] {
            let back = Rotation::about([0.0, 0.0, 1.0], -base);
            let w = back.turn(wrist);
            // The rotation of wrists 1 to 3, as angles about y, z and y of that plane.
            let m = back.after(flange.rotation).after(self.flange.rotation.inverse()).to_rows();
            for sign in [1.0, -1.0] {
                let b = sign * m[1][1].clamp(-1.0, 1.0).acos();
                let (a, c) = if m[1][0].hypot(m[1][2]) < SINGULAR {
                    let (total, c) = (m[0][2].atan2(m[2][2]), -near[5]);
                    (if m[1][1] > 0.0 { total - c } else { total + c }, c)
                } else {
                    ((sign * m[2][1]).atan2(-sign * m[0][1]), (sign * m[1][2]).atan2(sign * m[1][0]))
                };
                let (sum, wrist_2, wrist_3) = (-a, -b, -c);
                // The wrist is d5 away from wrist 1, in the plane; two links remain.
                let joint = add(w, scale([a.sin(), 0.0, a.cos()], l.d5));
                let (x, z) = (joint[0], joint[2] - l.d1);
                let bend = ((x * x + z * z - l.a2 * l.a2 - l.a3 * l.a3) / (2.0 * l.a2 * l.a3)).clamp(-1.0, 1.0).acos();
                for elbow in [bend, -bend] {
                    let shoulder = z.atan2(x) - (l.a3 * elbow.sin()).atan2(l.a2 + l.a3 * elbow.cos());
                    found.push([base, shoulder, elbow, sum - shoulder - elbow, wrist_2, wrist_3]);
                }
            }
        }
        found
    }

    /// Adds to every joint of a solution the whole turns that make it nearest to `near` within the joint's range.
    /// `None` if a joint has no such position.
    fn turned(&self, q: [f64; 6], near: &[f64; 6]) -> Option<[f64; 6]> {
        let mut out = q;
        for (number, (joint, near)) in out.iter_mut().zip(near).enumerate() {
            let nearest = *joint + TAU * ((near - *joint) / TAU).round();
            let turns = [nearest, nearest - TAU, nearest + TAU].into_iter().filter(|q| self.has(number, *q));
            *joint = turns.min_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()))?;
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ArmModel, POSITION_LIMIT};
    use crate::rng::Rng;
    use outrigger_wire::robot::RobotModel;

    const TCP: Pose6 = [0.02, -0.01, 0.15, 0.2, -0.4, 0.3];

    fn farthest(a: &[f64; 6], b: &[f64; 6]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn every_pose_an_arm_was_at_is_reached_again_from_near_by_with_the_same_joints() {
        let mut rng = Rng::new(7, 0);
        for model in RobotModel::ALL {
            let chain = Chain::new(ArmModel::of(*model).lengths);
            for _ in 0..500 {
                let q: [f64; 6] = std::array::from_fn(|_| (rng.unit() * 2.0 - 1.0) * TAU);
                // Near a posture that two solutions share, the nearest is not the one it came from.
                let clear = [q[2].sin(), q[4].sin()].iter().all(|sin| sin.abs() > 0.05);
                let pose = chain.tool(&q, &TCP).to_pose();
                let near = q.map(|q| q + (rng.unit() - 0.5) * 0.02);
                let found = chain.inverse(&pose, &TCP, &near).unwrap_or_else(|| panic!("{model:?}: {q:?}"));
                let again = chain.tool(&found, &TCP).to_pose();
                assert!(farthest(&again, &pose) < 1e-5 || again[3..] != pose[3..], "{model:?}: {again:?}, {pose:?}");
                assert!(!clear || farthest(&found, &q) < 0.05, "{model:?}: {found:?}, {q:?}");
            }
        }
    }

    #[test]
    fn of_all_postures_the_nearest_within_the_joint_ranges_is_taken() {
        let mut rng = Rng::new(8, 0);
        let chain = Chain::new(ArmModel::of(RobotModel::Ur5e).lengths);
        for _ in 0..300 {
            let mut draw = || -> [f64; 6] { std::array::from_fn(|_| (rng.unit() * 2.0 - 1.0) * TAU) };
            let (q, near) = (draw(), draw());
            let pose = chain.tool(&q, &TCP).to_pose();
            let found = chain.inverse(&pose, &TCP, &near).expect("it was there");
            let far = |q: &[f64; 6]| q.iter().zip(&near).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            assert!(found.iter().all(|q| q.abs() <= POSITION_LIMIT));
            assert!(far(&found) <= far(&q) + 1e-6, "{found:?} is farther from {near:?} than {q:?}");
        }
    }

    #[test]
    fn wrist_3_of_a_small_arm_stays_on_the_turn_it_is_on() {
        let model = ArmModel::of(RobotModel::Ur3e);
        let chain = Chain::new(model.lengths).within(model.position_limits());
        let q = [0.3, -1.2, 1.4, -0.5, -1.0, 12.628];
        let found = chain.inverse(&chain.tool(&q, &TCP).to_pose(), &TCP, &q).expect("it was there");
        assert!(farthest(&found, &q) < 1e-6, "{found:?}");
    }

    #[test]
    fn a_stretched_wrist_keeps_the_last_joint_and_is_solved() {
        let chain = Chain::new(ArmModel::of(RobotModel::Ur10).lengths);
        for wrist in [0.0, PI, -PI] {
            let q = [0.4, -1.2, 1.1, -0.7, wrist, 0.9];
            let found = chain.inverse(&chain.tool(&q, &TCP).to_pose(), &TCP, &q).expect("it was there");
            assert!(farthest(&found, &q) < 1e-6, "{found:?}, {q:?}");
        }
    }

    #[test]
    fn what_is_out_of_reach_has_no_solution() {
        let chain = Chain::new(ArmModel::of(RobotModel::Ur5).lengths);
        for position in [[2.0, 0.0, 0.3], [0.0, 0.0, 0.4], [0.05, 0.0, 1.4]] {
            let [x, y, z] = position;
            assert_eq!(chain.inverse(&[x, y, z, 0.0, 3.1, 0.0], &[0.0; 6], &[0.0; 6]), None, "{position:?}");
        }
    }
}
