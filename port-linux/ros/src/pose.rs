//! Converts poses, rotations and wrenches of a robot into the messages of ROS.

use outrigger_ros2_messages::{Pose, Quaternion, Transform, Wrench};

/// A rotation matrix of a coordinate frame, by rows.
type Rows = [[f64; 3]; 3];

/// Converts a position \[m\] and rotation vector \[rad\] into a pose message.
#[must_use]
pub(crate) fn pose([x, y, z, rx, ry, rz]: [f64; 6]) -> Pose {
    Pose { position: [x, y, z].into(), orientation: quaternion([rx, ry, rz]) }
}

/// Converts a position \[m\] and rotation vector \[rad\] into a transform message.
#[must_use]
pub(crate) fn transform([x, y, z, rx, ry, rz]: [f64; 6]) -> Transform {
    Transform { translation: [x, y, z].into(), rotation: quaternion([rx, ry, rz]) }
}

/// Converts a rotation vector \[rad\] into a unit quaternion.
#[must_use]
pub(crate) fn quaternion(vector: [f64; 3]) -> Quaternion {
    let angle = norm(vector);
    // The limit of sin(angle / 2) / angle is 1/2.
    let factor = if angle < 1e-9 { 0.5 } else { (angle / 2.0).sin() / angle };
    let [x, y, z] = vector.map(|v| v * factor);
    Quaternion { x, y, z, w: (angle / 2.0).cos() }
}

/// Converts a quaternion of any length above zero into a rotation vector \[rad\]; `None` if the length is nearly
/// zero or not finite.
#[must_use]
pub(crate) fn rotation_vector(of: Quaternion) -> Option<[f64; 3]> {
    let length = (of.x * of.x + of.y * of.y + of.z * of.z + of.w * of.w).sqrt();
    if !length.is_finite() || length < 1e-6 {
        return None;
    }
    // Of the two equal rotations, the one of at most half a turn.
    let sign = if of.w < 0.0 { -length } else { length };
    let [x, y, z, w] = [of.x, of.y, of.z, of.w].map(|v| v / sign);
    let sine = norm([x, y, z]);
    let factor = if sine < 1e-9 { 2.0 } else { 2.0 * sine.atan2(w) / sine };
    Some([x, y, z].map(|v| v * factor))
}

/// Returns the position \[m\] and rotation vector \[rad\] of a frame given as three rows of four: rotation, then
/// position \[m\]. Returns `None` if the rotation has a value that is not finite.
#[must_use]
pub(crate) fn of_rows(rows: &[f64; 12]) -> Option<[f64; 6]> {
    let [xx, xy, xz, x, yx, yy, yz, y, zx, zy, zz, z] = *rows;
    // The largest of the four is well above zero, and the others follow from it.
    let squares = [1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz, 1.0 + xx + yy + zz];
    let largest = (0..4).max_by(|a, b| squares[*a].total_cmp(&squares[*b]))?;
    let four = match largest {
        0 => [squares[0], xy + yx, xz + zx, zy - yz],
        1 => [xy + yx, squares[1], yz + zy, xz - zx],
        2 => [xz + zx, yz + zy, squares[2], yx - xy],
        _ => [zy - yz, xz - zx, yx - xy, squares[3]],
    };
    let [rx, ry, rz] = rotation_vector(four.into())?;
    Some([x, y, z, rx, ry, rz])
}

fn norm(vector: [f64; 3]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Returns the rotation matrix of a rotation vector \[rad\].
fn rows(vector: [f64; 3]) -> Rows {
    let Quaternion { x, y, z, w } = quaternion(vector);
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// Returns `vector` in the coordinates of a frame rotated by `rows`.
fn into(rows: &Rows, vector: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| rows[j][i] * vector[j]).sum())
}

/// Returns the rotation by `b` followed by `a`, as the matrix product `a`·`b`.
fn product(a: &Rows, b: &Rows) -> Rows {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transposed(of: &Rows) -> Rows {
    std::array::from_fn(|i| std::array::from_fn(|j| of[j][i]))
}

fn cross([ax, ay, az]: [f64; 3], [bx, by, bz]: [f64; 3]) -> [f64; 3] {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

fn halves([a, b, c, d, e, f]: [f64; 6]) -> ([f64; 3], [f64; 3]) {
    ([a, b, c], [d, e, f])
}

/// Converts force and torque along the base's axes into those at the tool: rotates them into the flange's frame, and
/// from there into that of the tool's centre point, including the lever arm between the two
/// (`core/docs/protocol/ros2-surface.md` 7.5, e-Series and later).
#[must_use]
pub(crate) fn wrench_at_tool(force: [f64; 6], target_pose: [f64; 6], tcp_offset: [f64; 6]) -> Wrench {
    let (_, turned) = halves(target_pose);
    let (offset, offset_turned) = halves(tcp_offset);
    let tool = rows(offset_turned);
    let flange = product(&rows(turned), &transposed(&tool));
    let (force, torque) = halves(force);
    let (force, torque) = (into(&flange, force), into(&flange, torque));
    let lever = cross(offset, force);
    let torque: [f64; 3] = std::array::from_fn(|i| torque[i] - lever[i]);
    Wrench { force: into(&tool, force).into(), torque: into(&tool, torque).into() }
}

/// Converts the force and torque of a CB2 or CB3, along the base's axes, which are only rotated into the tool's frame.
#[must_use]
pub(crate) fn wrench_turned(force: [f64; 6], target_pose: [f64; 6]) -> Wrench {
    let rows = rows(halves(target_pose).1);
    let (force, torque) = halves(force);
    Wrench { force: into(&rows, force).into(), torque: into(&rows, torque).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: [f64; 3], b: [f64; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_rotation_vector_is_a_unit_quaternion_and_comes_back() {
        assert_eq!(quaternion([0.0; 3]), [0.0, 0.0, 0.0, 1.0].into());
        for vector in [[0.0, 0.0, 0.0], [0.3, -1.2, 2.0], [1e-12, 0.0, 0.0], [0.0, 3.0, 0.0]] {
            let turned = quaternion(vector);
            let norm = turned.x * turned.x + turned.y * turned.y + turned.z * turned.z + turned.w * turned.w;
            assert!((norm - 1.0).abs() < 1e-12);
            assert!(near(rotation_vector(turned).expect("a rotation"), vector), "{vector:?}");
        }
        let other_way = Quaternion { x: -0.6, y: 0.0, z: 0.0, w: -0.8 };
        assert!(near(rotation_vector(other_way).expect("it"), [2.0 * 0.6_f64.atan2(0.8), 0.0, 0.0]));
        for nothing in [[0.0; 4], [f64::NAN, 0.0, 0.0, 1.0], [1e-9, 0.0, 0.0, 0.0]] {
            assert_eq!(rotation_vector(nothing.into()), None);
        }
    }

    #[test]
    fn a_frame_of_rows_is_the_pose_that_it_was() {
        for vector in [[0.0, 0.0, 0.0], [0.3, -1.2, 2.0], [3.0, 0.1, 0.0], [0.0, 3.1, 0.0], [0.1, 0.0, -3.1]] {
            let [a, b, c] = rows(vector);
            let frame = [a[0], a[1], a[2], 1.0, b[0], b[1], b[2], 2.0, c[0], c[1], c[2], 3.0];
            let [x, y, z, rx, ry, rz] = of_rows(&frame).expect("a rotation");
            assert_eq!([x, y, z], [1.0, 2.0, 3.0]);
            assert!(near([rx, ry, rz], vector), "{vector:?} {rx} {ry} {rz}");
        }
    }

    #[test]
    fn a_force_is_told_where_the_tool_is() {
        let half = std::f64::consts::PI;
        // The tool points down: it is rotated by 180° about x, so its z axis is the base's −z.
        let down = [0.4, 0.0, 0.5, half, 0.0, 0.0];
        let force = [0.0, 1.0, -10.0, 0.0, 0.0, 0.0];
        let plain = wrench_turned(force, down);
        assert!(near(plain.force.into(), [0.0, -1.0, 10.0]), "{plain:?}");
        assert_eq!(wrench_at_tool(force, down, [0.0; 6]), plain);
        // A tool of 0.2 m: a force measured at the flange has a lever arm to the tip.
        let long = wrench_at_tool(force, down, [0.0, 0.0, 0.2, 0.0, 0.0, 0.0]);
        assert!(near(long.force.into(), [0.0, -1.0, 10.0]), "{long:?}");
        assert!(near(long.torque.into(), [-0.2, 0.0, 0.0]), "{long:?}");
    }
}
