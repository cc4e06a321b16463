//! Functions of poses (external control, 5.3). Rotation vectors in results are not longer than π.
#![expect(clippy::arithmetic_side_effects, reason = "vectors of doubles neither overflow nor panic")]

use glam::{DMat3, DQuat, DVec3, EulerRot};

use super::super::error::FaultKind;
use super::super::limits::Limits;
use super::super::value::Value;
use super::{Outcome, arg, float, number};

/// The greatest number of rows of a matrix that is inverted.
const ROWS: usize = 64;

/// The position and rotation of a pose.
#[derive(Clone, Copy)]
struct Frame {
    at: DVec3,
    turn: DQuat,
}

impl Frame {
    fn of(operation: &'static str, args: &[Value], index: usize) -> Result<Self, FaultKind> {
        let value = arg(args, index);
        let Value::Pose([x, y, z, rx, ry, rz]) = value else {
            return Err(FaultKind::Type { operation, found: value.kind() });
        };
        Ok(Self { at: DVec3::new(*x, *y, *z), turn: DQuat::from_scaled_axis(DVec3::new(*rx, *ry, *rz)) })
    }

    fn inverse(self) -> Self {
        let turn = self.turn.inverse();
        Self { at: -(turn * self.at), turn }
    }

    fn then(self, next: Self) -> Self {
        Self { at: self.at + self.turn * next.at, turn: self.turn * next.turn }
    }

    fn to_value(self) -> Value {
        let [x, y, z] = self.at.to_array();
        let [rx, ry, rz] = vector(self.turn);
        Value::Pose([x, y, z, rx, ry, rz])
    }
}

/// Returns the rotation vector of a quaternion \[rad\], with a length of at most π.
fn vector(turn: DQuat) -> [f64; 3] {
    let turn = turn.normalize();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    turn.to_scaled_axis().to_array()
}

fn list(values: &[f64]) -> Value {
    Value::List(values.iter().copied().map(Value::Float).collect())
}

/// Returns the numbers of an argument that must be a list of exactly `N` numbers, or a pose if `N` is 6.
fn numbers<const N: usize>(operation: &'static str, args: &[Value], index: usize) -> Result<[f64; N], FaultKind> {
    let value = arg(args, index);
    value.vector().ok_or(FaultKind::Type { operation, found: value.kind() })
}

pub(crate) fn pose_trans(args: &[Value], _: &Limits) -> Outcome {
    Ok(Frame::of("pose_trans", args, 0)?.then(Frame::of("pose_trans", args, 1)?).to_value())
}

pub(crate) fn pose_inv(args: &[Value], _: &Limits) -> Outcome {
    Ok(Frame::of("pose_inv", args, 0)?.inverse().to_value())
}

/// Adds the positions of two poses and composes their rotations.
pub(crate) fn pose_add(args: &[Value], _: &Limits) -> Outcome {
    let (a, b) = (Frame::of("pose_add", args, 0)?, Frame::of("pose_add", args, 1)?);
    Ok(Frame { at: a.at + b.at, turn: a.turn * b.turn }.to_value())
}

fn difference(to: Frame, from: Frame) -> Frame {
    Frame { at: to.at - from.at, turn: from.turn.inverse() * to.turn }
}

/// Returns the difference of two poses. Arguments: to, then from.
pub(crate) fn pose_sub(args: &[Value], _: &Limits) -> Outcome {
    Ok(difference(Frame::of("pose_sub", args, 0)?, Frame::of("pose_sub", args, 1)?).to_value())
}

/// Returns the distance of two poses: the square root of the sum of the squares of all six numbers of their difference
/// (m and rad). This is assumed, because the manual only says that positions and rotations count.
pub(crate) fn pose_dist(args: &[Value], _: &Limits) -> Outcome {
    let apart = difference(Frame::of("pose_dist", args, 1)?, Frame::of("pose_dist", args, 0)?);
    let turn = DVec3::from_array(vector(apart.turn));
    float("pose_dist", (apart.at.length_squared() + turn.length_squared()).sqrt())
}

pub(crate) fn point_dist(args: &[Value], _: &Limits) -> Outcome {
    let (a, b) = (Frame::of("point_dist", args, 0)?, Frame::of("point_dist", args, 1)?);
    float("point_dist", a.at.distance(b.at))
}

/// Returns a pose between two poses. Arguments: from, to, and the share of the way, which may be outside 0 … 1.
pub(crate) fn interpolate_pose(args: &[Value], _: &Limits) -> Outcome {
    let (from, to) = (Frame::of("interpolate_pose", args, 0)?, Frame::of("interpolate_pose", args, 1)?);
    let share = number("interpolate_pose", args, 2)?;
    let turn = DVec3::from_array(vector(from.turn.inverse() * to.turn));
    let turn = from.turn * DQuat::from_scaled_axis(turn * share);
    Ok(Frame { at: from.at + (to.at - from.at) * share, turn }.to_value())
}

/// Expresses a force with torque in another frame. Arguments: the frame of the result, and force with torque. The
/// torque is reduced by the moment of the force about the new origin. This is assumed, because the manual only says
/// that the torque scales with the distance.
pub(crate) fn wrench_trans(args: &[Value], _: &Limits) -> Outcome {
    let frame = Frame::of("wrench_trans", args, 0)?;
    let [fx, fy, fz, mx, my, mz] = numbers("wrench_trans", args, 1)?;
    let (force, torque) = (DVec3::new(fx, fy, fz), DVec3::new(mx, my, mz));
    let back = frame.turn.inverse();
    let [fx, fy, fz] = (back * force).to_array();
    let [mx, my, mz] = (back * (torque - frame.at.cross(force))).to_array();
    Ok(list(&[fx, fy, fz, mx, my, mz]))
}

/// Converts angles into a rotation vector \[rad\]. Arguments: roll, pitch and yaw, about x, then y, then z of the fixed
/// frame.
pub(crate) fn rpy2rotvec(args: &[Value], _: &Limits) -> Outcome {
    let [roll, pitch, yaw] = numbers("rpy2rotvec", args, 0)?;
    Ok(list(&vector(DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll))))
}

pub(crate) fn rotvec2rpy(args: &[Value], _: &Limits) -> Outcome {
    let turn = DQuat::from_scaled_axis(DVec3::from_array(numbers("rotvec2rpy", args, 0)?));
    let (yaw, pitch, roll) = DMat3::from_quat(turn).to_euler(EulerRot::ZYX);
    Ok(list(&[roll, pitch, yaw]))
}

/// Returns the inverse of a pose or of a square matrix.
pub(crate) fn inv(args: &[Value], limits: &Limits) -> Outcome {
    let Value::List(rows) = arg(args, 0) else { return pose_inv(args, limits) };
    let size = rows.len();
    if size > ROWS {
        return Err(FaultKind::Limit("inv"));
    }
    let mut left = Vec::with_capacity(size);
    for row in rows {
        let Value::List(row) = row else { return Err(FaultKind::Type { operation: "inv", found: row.kind() }) };
        if row.len() != size {
            return Err(FaultKind::Length { operation: "inv", left: size, right: row.len() });
        }
        let number = |item: &Value| item.number().ok_or(FaultKind::Type { operation: "inv", found: item.kind() });
        left.push(row.iter().map(number).collect::<Result<Vec<f64>, _>>()?);
    }
    let inverse = inverse(left).ok_or(FaultKind::Domain("inv"))?;
    Ok(Value::List(inverse.iter().map(|row| list(row)).collect()))
}

/// Inverts a matrix by Gauss-Jordan elimination, with the largest element of a column as pivot; `None` if it is
/// singular.
fn inverse(mut left: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = left.len();
    let unit = |row: usize| (0..size).map(|column| if row == column { 1.0 } else { 0.0 }).collect();
    let mut right: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for column in 0..size {
        let value = |left: &[Vec<f64>], row: usize| left.get(row)?.get(column).copied();
        let pivot = (column..size).max_by(|a, b| {
            let size = |row| value(&left, row).unwrap_or(0.0).abs();
            size(*a).total_cmp(&size(*b))
        })?;
        left.swap(column, pivot);
        right.swap(column, pivot);
        let scale = value(&left, column).filter(|scale| scale.abs() > 1e-300)?;
        for side in [&mut left, &mut right] {
            side.get_mut(column)?.iter_mut().for_each(|item| *item /= scale);
        }
        let (by_left, by_right) = (left.get(column)?.clone(), right.get(column)?.clone());
        for row in (0..size).filter(|row| *row != column) {
            let factor = value(&left, row)?;
            for (side, by) in [(&mut left, &by_left), (&mut right, &by_right)] {
                side.get_mut(row)?.iter_mut().zip(by).for_each(|(item, by)| *item -= factor * by);
            }
        }
    }
    right.iter().flatten().all(|item| item.is_finite()).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: Value = Value::Pose([0.2, 0.5, 0.1, 1.57, 0.0, 0.0]);
    const B: Value = Value::Pose([0.2, 0.5, 0.6, 1.57, 0.0, 0.0]);

    fn near(found: Outcome, expected: [f64; 6]) {
        let found: [f64; 6] = found.unwrap().vector().unwrap();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} is not {expected:?}");
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "the manual's own numbers")]
    fn poses_follow_the_vectors_of_the_manual() {
        let limits = Limits::default();
        near(pose_add(&[A, B], &limits), [0.4, 1.0, 0.7, 3.14, 0.0, 0.0]);
        near(pose_trans(&[A, B], &limits), [0.4, -0.099_602, 0.600_478, 3.14, 0.0, 0.0]);
        near(pose_sub(&[A, B], &limits), [0.0, 0.0, -0.5, 0.0, 0.0, 0.0]);
        let turned = pose_inv(&[Value::Pose([0.2, 0.5, 0.1, 1.57, 0.0, 3.14])], &limits).unwrap();
        let [_, _, _, rx, ry, rz] = turned.vector().unwrap();
        assert!((rx - 1.23993).abs() < 1e-5 && ry.abs() < 1e-5 && (rz - 2.47985).abs() < 1e-5, "{rx} {ry} {rz}");
    }

    #[test]
    fn distances_and_ways_between_poses() {
        let limits = Limits::default();
        assert_eq!(point_dist(&[A, B], &limits), Ok(Value::Float(0.5)));
        assert_eq!(pose_dist(&[A, A], &limits), Ok(Value::Float(0.0)));
        near(interpolate_pose(&[A, B, Value::Float(0.5)], &limits), [0.2, 0.5, 0.35, 1.57, 0.0, 0.0]);
        near(interpolate_pose(&[A, B, Value::Int(2)], &limits), [0.2, 0.5, 1.1, 1.57, 0.0, 0.0]);
        assert!(pose_trans(&[A, Value::List(vec![])], &limits).is_err());
    }

    #[test]
    fn a_force_makes_a_torque_about_another_point() {
        let frame = Value::Pose([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        let wrench = list(&[2.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        near(wrench_trans(&[frame, wrench], &Limits::default()), [2.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one_and_a_singular_one_has_none() {
        let matrix = Value::List(vec![list(&[0.0, 2.0]), list(&[4.0, 0.0])]);
        let expected = Value::List(vec![list(&[0.0, 0.25]), list(&[0.5, 0.0])]);
        assert_eq!(inv(&[matrix], &Limits::default()), Ok(expected));
        let singular = Value::List(vec![list(&[1.0, 2.0]), list(&[2.0, 4.0])]);
        assert_eq!(inv(&[singular], &Limits::default()), Err(FaultKind::Domain("inv")));
    }

    fn poses() -> impl Strategy<Value = [f64; 6]> {
        prop::array::uniform6(-1.5..1.5_f64)
    }

    proptest! {
        #[test]
        fn a_pose_after_its_inverse_is_none(pose in poses()) {
            let limits = Limits::default();
            let inverse = pose_inv(&[Value::Pose(pose)], &limits).unwrap();
            near(pose_trans(&[Value::Pose(pose), inverse], &limits), [0.0; 6]);
        }

        #[test]
        fn the_ways_ends_are_its_poses(a in poses(), b in poses()) {
            let limits = Limits::default();
            let way = |share| interpolate_pose(&[Value::Pose(a), Value::Pose(b), Value::Float(share)], &limits);
            let same = |value| pose_trans(&[Value::Pose([0.0; 6]), Value::Pose(value)], &limits).unwrap().vector().unwrap();
            near(way(0.0), same(a));
            near(way(1.0), same(b));
        }

        #[test]
        fn what_was_subtracted_can_be_added(a in poses(), b in poses()) {
            let limits = Limits::default();
            let apart = pose_sub(&[Value::Pose(a), Value::Pose(b)], &limits).unwrap();
            let again = pose_add(&[Value::Pose(b), apart], &limits);
            let same = pose_add(&[Value::Pose(a), Value::Pose([0.0; 6])], &limits).unwrap();
            near(again, same.vector().unwrap());
        }

        #[test]
        fn angles_come_back(roll in -1.5..1.5_f64, pitch in -1.5..1.5_f64, yaw in -1.5..1.5_f64) {
            let limits = Limits::default();
            let turn = rpy2rotvec(&[list(&[roll, pitch, yaw])], &limits).unwrap();
            let [r, p, y] = rotvec2rpy(&[turn], &limits).unwrap().vector().unwrap();
            prop_assert!((r - roll).abs() < 1e-6 && (p - pitch).abs() < 1e-6 && (y - yaw).abs() < 1e-6);
        }
    }
}
