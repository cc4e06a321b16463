//! Kinematics of the simulator, in `f64`, by an independent method: the joint axes are lines in space at the zero
//! pose, turned one after another by unit quaternions. No Denavit-Hartenberg matrix occurs, so a mistake in the
//! core's chain cannot be repeated here. The tests compare it with poses of real controllers.

mod inverse;
mod jacobian;

pub use jacobian::{Jacobian, joint_speeds, speed_at, torques_of};

use crate::model::{Lengths, POSITION_LIMIT};

/// A vector with the components x, y, z.
pub type Vec3 = [f64; 3];

/// A pose: position \[m\] and rotation vector \[rad\], in UR's order x y z rx ry rz.
pub type Pose6 = [f64; 6];

/// Returns the vector sum `a + b`.
pub(crate) fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Returns the vector difference `a − b`.
pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Returns the vector `a` times the number `factor`.
pub(crate) fn scale(a: Vec3, factor: f64) -> Vec3 {
    a.map(|x| x * factor)
}

/// Returns the scalar product of two vectors.
pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the vector product `a` × `b`.
pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns the Euclidean length of a vector.
pub(crate) fn norm(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

/// A rotation as a unit quaternion (scalar first).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    w: f64,
    v: Vec3,
}

impl Default for Rotation {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Rotation {
    /// The identity rotation, which changes nothing.
    pub const IDENTITY: Self = Self { w: 1.0, v: [0.0; 3] };

    /// Returns a rotation by `angle` \[rad\] about the unit vector `axis`.
    #[must_use]
    pub fn about(axis: Vec3, angle: f64) -> Self {
        let (sin, cos) = (angle / 2.0).sin_cos();
        Self { w: cos, v: scale(axis, sin) }
    }

    /// Returns the rotation that a rotation vector \[rad\] represents.
    #[must_use]
    pub fn from_vector(vector: Vec3) -> Self {
        let angle = norm(vector);
        if angle < 1e-12 { Self::IDENTITY } else { Self::about(scale(vector, 1.0 / angle), angle) }
    }

    /// Returns the rotation as a rotation vector of length 0 … π \[rad\].
    #[must_use]
    pub fn to_vector(self) -> Vec3 {
        let flip = if self.w < 0.0 { -1.0 } else { 1.0 };
        let (w, v) = (self.w * flip, scale(self.v, flip));
        let sin = norm(v);
        if sin < 1e-12 { scale(v, 2.0) } else { scale(v, 2.0 * sin.atan2(w) / sin) }
    }

    /// Returns the inverse rotation: the same angle in the opposite direction.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { w: self.w, v: scale(self.v, -1.0) }
    }

    /// Returns the rotation as a matrix, row by row.
    #[must_use]
    pub fn to_rows(self) -> [Vec3; 3] {
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| self.turn(axis));
        [[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]]
    }

    /// Returns the rotation that a rotation matrix, given row by row, represents.
    #[must_use]
    pub fn from_rows([a, b, c]: [Vec3; 3]) -> Self {
        // Four times the square of each part. The division is by the largest one, so that no precision is lost.
        let squares =
            [1.0 + a[0] + b[1] + c[2], 1.0 + a[0] - b[1] - c[2], 1.0 - a[0] + b[1] - c[2], 1.0 - a[0] - b[1] + c[2]];
        let largest = (1..4).fold(0, |best, i| if squares[i] > squares[best] { i } else { best });
        let size = 2.0 * squares[largest].max(0.0).sqrt();
        let [w, x, y, z] = match largest {
            0 => [size / 4.0, (c[1] - b[2]) / size, (a[2] - c[0]) / size, (b[0] - a[1]) / size],
            1 => [(c[1] - b[2]) / size, size / 4.0, (a[1] + b[0]) / size, (a[2] + c[0]) / size],
            2 => [(a[2] - c[0]) / size, (a[1] + b[0]) / size, size / 4.0, (b[2] + c[1]) / size],
            _ => [(b[0] - a[1]) / size, (a[2] + c[0]) / size, (b[2] + c[1]) / size, size / 4.0],
        };
        let length = (w * w + x * x + y * y + z * z).sqrt();
        if length > 0.0 { Self { w: w / length, v: scale([x, y, z], 1.0 / length) } } else { Self::IDENTITY }
    }

    /// Returns the composition of two rotations: `first` is applied first, then `self`.
    #[must_use]
    pub fn after(self, first: Self) -> Self {
        let w = self.w * first.w - dot(self.v, first.v);
        let v = add(add(scale(first.v, self.w), scale(self.v, first.w)), cross(self.v, first.v));
        Self { w, v }
    }

    /// Returns `point`, rotated about the origin.
    #[must_use]
    pub fn turn(self, point: Vec3) -> Vec3 {
        let t = scale(cross(self.v, point), 2.0);
        add(point, add(scale(t, self.w), cross(self.v, t)))
    }
}

/// The position and orientation of a frame in the robot's base frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Origin of the frame in the robot's base frame \[m\].
    pub position: Vec3,
    /// Orientation of the frame in the robot's base frame.
    pub rotation: Rotation,
}

impl Frame {
    /// Returns the frame in UR's notation: x y z rx ry rz.
    #[must_use]
    pub fn to_pose(self) -> Pose6 {
        let ([x, y, z], [rx, ry, rz]) = (self.position, self.rotation.to_vector());
        [x, y, z, rx, ry, rz]
    }

    /// Returns the frame that a pose describes, the inverse of [`to_pose`](Self::to_pose).
    #[must_use]
    pub fn from_pose(pose: &Pose6) -> Self {
        let [x, y, z, rx, ry, rz] = *pose;
        Self { position: [x, y, z], rotation: Rotation::from_vector([rx, ry, rz]) }
    }

    /// Returns the direction of the frame's z axis in the robot's base frame.
    #[must_use]
    pub fn z_axis(self) -> Vec3 {
        self.rotation.turn([0.0, 0.0, 1.0])
    }
}

/// The axis of one joint and a point on the axis, at the zero pose.
#[derive(Clone, Copy, Debug)]
struct Axis {
    direction: Vec3,
    point: Vec3,
}

/// The rotation of each joint about its axis.
type Turns = [Rotation; 6];

/// The direction of each joint axis and a point on it.
type AxisLines = [(Vec3, Vec3); 6];

/// The kinematic chain of an arm: six joint axes and the flange.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    axes: [Axis; 6],
    flange: Frame,
    elbow: Vec3,
    lengths: Lengths,
    /// The largest angle of each joint from zero, ± \[rad\].
    ranges: [f64; 6],
}

impl Chain {
    /// Returns the kinematic chain of an arm with these link lengths. At zero the arm points along −x; shoulder,
    /// elbow, wrist 1 and wrist 3 turn about −y, wrist 2 about −z, and the flange points along −y.
    #[must_use]
    pub fn new(l: Lengths) -> Self {
        const MINUS_Y: Vec3 = [0.0, -1.0, 0.0];
        let reach = l.a2 + l.a3;
        let axis = |direction, point| Axis { direction, point };
        let wrist = [reach, -l.d4, l.d1 - l.d5];
        Self {
            axes: [
                axis([0.0, 0.0, 1.0], [0.0; 3]),
                axis(MINUS_Y, [0.0, 0.0, l.d1]),
                axis(MINUS_Y, [l.a2, 0.0, l.d1]),
                axis(MINUS_Y, [reach, 0.0, l.d1]),
                axis([0.0, 0.0, -1.0], [reach, -l.d4, l.d1]),
                axis(MINUS_Y, wrist),
            ],
            flange: Frame {
                position: add(wrist, [0.0, -l.d6, 0.0]),
                rotation: Rotation::about([1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2),
            },
            elbow: [l.a2, 0.0, l.d1],
            lengths: l,
            ranges: [POSITION_LIMIT; 6],
        }
    }

    /// Returns the same kinematic chain with other joint ranges, ± \[rad\].
    #[must_use]
    pub const fn within(self, ranges: [f64; 6]) -> Self {
        Self { ranges, ..self }
    }

    /// Returns whether joint `joint` at `angle` \[rad\] is within its range.
    #[must_use]
    pub fn has(&self, joint: usize, angle: f64) -> bool {
        self.ranges.get(joint).is_some_and(|range| angle.abs() <= *range)
    }

    /// Returns the rotation of each joint about its axis at `q` \[rad\]. Sines and cosines are computed once for all
    /// frames that [`carry`](Self::carry) moves.
    fn turns(&self, q: &[f64; 6]) -> Turns {
        std::array::from_fn(|joint| Rotation::about(self.axes[joint].direction, q[joint]))
    }

    /// Moves `frame`, which is fixed to the link after joint number `joints` and given at the zero pose, by the first
    /// `joints` joint rotations.
    fn carry(&self, turns: &Turns, joints: usize, mut frame: Frame) -> Frame {
        for (axis, turn) in self.axes.iter().zip(turns).take(joints).rev() {
            frame.position = add(axis.point, turn.turn(sub(frame.position, axis.point)));
            frame.rotation = turn.after(frame.rotation);
        }
        frame
    }

    /// Returns the position of `point`, which is fixed to the link after joint number `joints` and given at the zero
    /// pose, and the rotation of that link.
    pub(crate) fn body(&self, q: &[f64; 6], joints: usize, point: Vec3) -> Frame {
        self.carry(&self.turns(q), joints, Frame { position: point, rotation: Rotation::IDENTITY })
    }

    /// Returns the tool's frame at joint positions `q` \[rad\], with the tool at `tcp` (pose in the flange).
    #[must_use]
    pub fn tool(&self, q: &[f64; 6], tcp: &Pose6) -> Frame {
        self.tool_turned(&self.turns(q), tcp)
    }

    fn tool_turned(&self, turns: &Turns, tcp: &Pose6) -> Frame {
        let [x, y, z, rx, ry, rz] = *tcp;
        let at_zero = Frame {
            position: add(self.flange.position, self.flange.rotation.turn([x, y, z])),
            rotation: self.flange.rotation.after(Rotation::from_vector([rx, ry, rz])),
        };
        self.carry(turns, 6, at_zero)
    }

    /// Returns the position of the elbow, the joint between upper arm and forearm, in the base frame at joint
    /// positions `q` \[rad\], in \[m\].
    #[must_use]
    pub fn elbow(&self, q: &[f64; 6]) -> Vec3 {
        self.elbow_turned(&self.turns(q))
    }

    fn elbow_turned(&self, turns: &Turns) -> Vec3 {
        self.carry(turns, 2, Frame { position: self.elbow, rotation: Rotation::IDENTITY }).position
    }

    /// Returns the direction of each joint axis and a point on it, turned by the joints before it.
    fn axis_lines_turned(&self, turns: &Turns) -> AxisLines {
        // The link before each axis: where the joints so far move what the zero pose has at the origin.
        let mut link = Frame { position: [0.0; 3], rotation: Rotation::IDENTITY };
        let mut turns = turns.iter();
        self.axes.map(|axis| {
            let direction = link.rotation.turn(axis.direction);
            let point = add(link.position, link.rotation.turn(axis.point));
            link.rotation = link.rotation.after(turns.next().copied().unwrap_or_default());
            link.position = sub(point, link.rotation.turn(axis.point));
            (direction, point)
        })
    }

    /// Returns the speed of the tool at joint positions `q` \[rad\] and joint speeds `qd` \[rad/s\], linear \[m/s\]
    /// and angular \[rad/s\], in the base frame.
    #[must_use]
    pub fn tool_speed(&self, q: &[f64; 6], qd: &[f64; 6], tcp: &Pose6) -> [f64; 6] {
        let turns = self.turns(q);
        let lines = self.axis_lines_turned(&turns);
        let ([x, y, z], [rx, ry, rz]) = speed_of(&lines, qd, self.tool_turned(&turns, tcp).position);
        [x, y, z, rx, ry, rz]
    }

    /// Returns the linear speed of the elbow at joint positions `q` \[rad\] and joint speeds `qd` \[rad/s\], in
    /// \[m/s\].
    #[must_use]
    pub fn elbow_speed(&self, q: &[f64; 6], qd: &[f64; 6]) -> Vec3 {
        let turns = self.turns(q);
        let lines = self.axis_lines_turned(&turns);
        speed_of(&lines[..2], qd, self.elbow_turned(&turns)).0
    }
}

/// Returns the linear and angular speed of a point of an arm at joint speeds `qd` \[rad/s\]. The joints that move the
/// point have these axes.
fn speed_of(lines: &[(Vec3, Vec3)], qd: &[f64; 6], point: Vec3) -> (Vec3, Vec3) {
    let mut linear = [0.0; 3];
    let mut angular = [0.0; 3];
    for ((direction, on_axis), speed) in lines.iter().zip(qd) {
        linear = add(linear, scale(cross(*direction, sub(point, *on_axis)), *speed));
        angular = add(angular, scale(*direction, *speed));
    }
    (linear, angular)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ArmModel;
    use crate::rng::Rng;
    use outrigger_wire::robot::RobotModel;

    fn chain(model: RobotModel) -> Chain {
        Chain::new(ArmModel::of(model).lengths)
    }

    fn assert_near(actual: &[f64], expected: &[f64], tolerance: f64) {
        for (a, e) in actual.iter().zip(expected) {
            assert!((a - e).abs() < tolerance, "{actual:?} is not {expected:?} within {tolerance}");
        }
    }

    #[test]
    fn reproduces_the_tool_pose_of_a_real_ur5_on_cb2() {
        let q = [1.0455, -3.0191, 1.79928, -1.92684, 0.516016, -0.0157542];
        let pose = chain(RobotModel::Ur5).tool(&q, &[0.0; 6]).to_pose();
        // The published joint values are rounded to 10⁻⁴ rad in the first places.
        assert_near(&pose, &[0.32087, 0.193182, 0.603869, -1.22156, 1.20834, -1.22965], 6e-5);
    }

    #[test]
    fn reproduces_the_rotation_of_a_second_real_ur5_whatever_its_tool() {
        let q = [-3.859885, -2.262535, 2.391686, -1.996109, 2.875521, -2.082074];
        let rotation = chain(RobotModel::Ur5).tool(&q, &[0.0; 6]).rotation.to_vector();
        assert_near(&rotation, &[1.306526, -0.398935, -0.848902], 1e-5);
    }

    #[test]
    fn reproduces_the_tool_pose_of_a_ur5e_on_software_5_8() {
        let q = [-1.6007, -1.7271, -2.203, -0.808, 1.5951, -0.031];
        let pose = chain(RobotModel::Ur5e).tool(&q, &[0.0; 6]).to_pose();
        assert_near(&pose, &[-0.143969, -0.43562, 0.20203, -0.001221, 3.116277, 0.038892], 1e-4);
    }

    #[test]
    fn tool_speed_is_the_derivative_of_the_tool_pose() {
        let mut rng = Rng::new(3, 0);
        let tcp = [0.01, -0.02, 0.15, 0.3, -0.2, 0.1];
        for model in RobotModel::ALL {
            let chain = chain(*model);
            let q: [f64; 6] = std::array::from_fn(|_| rng.unit() * 4.0 - 2.0);
            let qd: [f64; 6] = std::array::from_fn(|_| rng.unit() - 0.5);
            let h = 1e-6;
            let moved = |h: f64| std::array::from_fn(|j| q[j] + h * qd[j]);
            let (before, after) = (chain.tool(&moved(-h), &tcp), chain.tool(&moved(h), &tcp));
            let speed = chain.tool_speed(&q, &qd, &tcp);
            assert_near(&scale(sub(after.position, before.position), 0.5 / h), &speed[..3], 1e-6);
            let turned = after.rotation.after(before.rotation.inverse()).to_vector();
            assert_near(&scale(turned, 0.5 / h), &speed[3..], 1e-6);
            let elbow = sub(chain.elbow(&moved(h)), chain.elbow(&moved(-h)));
            assert_near(&scale(elbow, 0.5 / h), &chain.elbow_speed(&q, &qd), 1e-6);
        }
    }

    #[test]
    fn rotation_matrices_round_trip() {
        for vector in [[0.0; 3], [0.1, -0.2, 0.3], [3.1, 0.1, 0.0], [0.0, 3.1, 0.2], [0.1, 0.0, 3.1], [-2.0, 1.0, 1.5]]
        {
            let rows = Rotation::from_vector(vector).to_rows();
            assert_near(&Rotation::from_rows(rows).to_vector(), &vector, 1e-9);
        }
    }

    #[test]
    fn rotation_vectors_round_trip() {
        for vector in [[0.0; 3], [0.1, -0.2, 3.0], [3.1, 0.0, 0.0], [-1e-9, 0.0, 0.0]] {
            assert_near(&Rotation::from_vector(vector).to_vector(), &vector, 1e-12);
        }
    }
}
