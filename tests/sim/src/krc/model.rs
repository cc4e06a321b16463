//! The arm of an LWR 4+: axes as lines in space at the upright pose, turned one after another by unit quaternions.
//!
//! Lengths are the published ones. Masses, centres of mass and the motors' inertia are estimates: the arm weighs
//! about 16 kg, and KUKA has published no more. All values that are derived from them (mass matrix, gravity, torques)
//! are consistent with each other; they match a real arm only in their order of magnitude.

use crate::kinematics::{Frame, Rotation, Vec3, add, cross, dot, scale, sub};
use crate::linear_solver::solve;

/// The number of joints of the KRC's arm.
pub const JOINTS: usize = 7;

/// A value for each of the arm's joints, base joint first.
pub type Joints = [f64; JOINTS];

/// A spatial vector: along x, y, z, then about x, y, z.
pub type Spatial = [f64; 6];

/// The acceleration of gravity \[m/s²\].
const GRAVITY: f64 = 9.81;

/// One joint with the link behind it, at the upright pose.
struct Link {
    /// Direction of the joint's axis in the upright pose.
    axis: Vec3,
    /// Height of a point on the axis \[m\]; all axes intersect the upright line.
    height: f64,
    /// Mass of the link \[kg\], an estimate.
    mass: f64,
    /// Height of the link's centre of mass \[m\], an estimate.
    centre: f64,
    /// Inertia of rotor and gears at the joint \[kg·m²\], an estimate.
    motor: f64,
}

const UP: Vec3 = [0.0, 0.0, 1.0];
const LEFT: Vec3 = [0.0, 1.0, 0.0];
const RIGHT: Vec3 = [0.0, -1.0, 0.0];

const LINKS: [Link; JOINTS] = [
    Link { axis: UP, height: 0.0, mass: 2.7, centre: 0.22, motor: 0.3 },
    Link { axis: RIGHT, height: 0.3105, mass: 2.7, centre: 0.40, motor: 0.3 },
    Link { axis: UP, height: 0.0, mass: 2.7, centre: 0.62, motor: 0.2 },
    Link { axis: LEFT, height: 0.7105, mass: 2.7, centre: 0.80, motor: 0.2 },
    Link { axis: UP, height: 0.0, mass: 2.0, centre: 1.00, motor: 0.1 },
    Link { axis: RIGHT, height: 1.1005, mass: 1.6, centre: 1.11, motor: 0.05 },
    Link { axis: UP, height: 0.0, mass: 0.6, centre: 1.16, motor: 0.05 },
];

/// Height of the flange above the base in the upright pose \[m\].
const FLANGE: f64 = 1.1785;

/// The radius of gyration of each link, as of a ball \[m\], an estimate.
const GYRATION: f64 = 0.06;

/// The arm at given joint positions: sines, cosines and axes are computed once for all frames.
struct Posture {
    /// The rotation of each joint about its axis.
    turns: [Rotation; JOINTS],
    /// Direction of each joint's axis, and a point on it.
    axes: [(Vec3, Vec3); JOINTS],
}

impl Posture {
    fn new(q: &Joints) -> Self {
        let turns = std::array::from_fn(|joint| Rotation::about(LINKS[joint].axis, q[joint]));
        let axes = std::array::from_fn(|joint| {
            let here = carry(&turns, joint, upright(LINKS[joint].height));
            (here.rotation.turn(LINKS[joint].axis), here.position)
        });
        Self { turns, axes }
    }

    /// Returns the frame at `height` of the upright arm, fixed to the link after joint number `joints`.
    fn at(&self, joints: usize, height: f64) -> Frame {
        carry(&self.turns, joints, upright(height))
    }

    /// Returns the Jacobian of `point`, which is fixed to the link after joint number `joints`: one column per joint,
    /// zero for later joints.
    fn motion_of(&self, joints: usize, point: Vec3) -> [Spatial; JOINTS] {
        let mut columns = [[0.0; 6]; JOINTS];
        for (column, (axis, origin)) in columns.iter_mut().zip(self.axes).take(joints) {
            let [x, y, z] = cross(axis, sub(point, origin));
            *column = [x, y, z, axis[0], axis[1], axis[2]];
        }
        columns
    }
}

/// Moves `frame`, which is fixed to the link after joint number `joints` at the upright pose, by the joint rotations.
fn carry(turns: &[Rotation; JOINTS], joints: usize, mut frame: Frame) -> Frame {
    for (link, turn) in LINKS.iter().zip(turns).take(joints).rev() {
        let origin = scale(UP, link.height);
        frame.position = add(origin, turn.turn(sub(frame.position, origin)));
        frame.rotation = turn.after(frame.rotation);
    }
    frame
}

fn upright(height: f64) -> Frame {
    Frame { position: scale(UP, height), rotation: Rotation::IDENTITY }
}

/// Returns the flange's frame in the base at joint positions `q` \[rad\].
#[must_use]
pub fn flange(q: &Joints) -> Frame {
    Posture::new(q).at(JOINTS, FLANGE)
}

/// Returns the Jacobian of the flange in the base's directions: one column per joint.
#[must_use]
pub fn jacobian(q: &Joints) -> [Spatial; JOINTS] {
    let posture = Posture::new(q);
    posture.motion_of(JOINTS, posture.at(JOINTS, FLANGE).position)
}

/// Returns the mass matrix of the arm at joint positions `q` \[rad\], in \[kg·m²\].
#[must_use]
pub fn mass_matrix(q: &Joints) -> [Joints; JOINTS] {
    let posture = Posture::new(q);
    let mut matrix = [[0.0; JOINTS]; JOINTS];
    for (index, link) in LINKS.iter().enumerate() {
        let columns = posture.motion_of(index + 1, posture.at(index + 1, link.centre).position);
        let round = link.mass * GYRATION * GYRATION;
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns.iter().enumerate() {
                let (linear, angular) = (dot(half(a, 0), half(b, 0)), dot(half(a, 3), half(b, 3)));
                matrix[i][j] += link.mass * linear + round * angular;
            }
        }
        matrix[index][index] += link.motor;
    }
    matrix
}

fn half(spatial: &Spatial, from: usize) -> Vec3 {
    [spatial[from], spatial[from + 1], spatial[from + 2]]
}

/// Returns the joint torques that hold the arm against gravity \[Nm\].
#[must_use]
pub fn gravity(q: &Joints) -> Joints {
    let posture = Posture::new(q);
    let mut torques = [0.0; JOINTS];
    for (index, link) in LINKS.iter().enumerate() {
        let columns = posture.motion_of(index + 1, posture.at(index + 1, link.centre).position);
        for (torque, column) in torques.iter_mut().zip(columns) {
            *torque += link.mass * GRAVITY * column[2];
        }
    }
    torques
}

/// Returns the joint torques of a force and torque at the flange: Jᵀ · `wrench`.
#[must_use]
pub fn torques_of(jacobian: &[Spatial; JOINTS], wrench: &Spatial) -> Joints {
    jacobian.map(|column| column.iter().zip(wrench).map(|(a, b)| a * b).sum())
}

/// Returns the speed of the flange at joint speeds `qd` \[rad/s\], linear \[m/s\] and angular \[rad/s\]: J · `qd`.
#[must_use]
pub fn speed_of(jacobian: &[Spatial; JOINTS], qd: &Joints) -> Spatial {
    let mut speed = [0.0; 6];
    for (column, qd) in jacobian.iter().zip(qd) {
        for (sum, part) in speed.iter_mut().zip(column) {
            *sum += part * qd;
        }
    }
    speed
}

/// Returns the force and torque at the flange that fit `torques` best, damped if the arm is nearly stretched.
#[must_use]
pub fn wrench_of(jacobian: &[Spatial; JOINTS], torques: &Joints) -> Spatial {
    solve(squared(jacobian, 1e-6), speed_of(jacobian, torques)).unwrap_or_default()
}

/// Returns the smallest joint speeds for the speed `wanted` of the flange, damped if the arm is nearly stretched.
#[must_use]
pub fn joint_speeds_for(jacobian: &[Spatial; JOINTS], wanted: &Spatial) -> Joints {
    solve(squared(jacobian, 1e-6), *wanted).map_or([0.0; JOINTS], |along| torques_of(jacobian, &along))
}

/// Returns J · Jᵀ for a Jacobian J, with `damping` added to its diagonal.
fn squared(jacobian: &[Spatial; JOINTS], damping: f64) -> [Spatial; 6] {
    let mut matrix = [[0.0; 6]; 6];
    for (i, row) in matrix.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            *value = jacobian.iter().map(|column| column[i] * column[j]).sum();
        }
        row[i] += damping;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn near(actual: &[f64], expected: &[f64], tolerance: f64) {
        for (a, e) in actual.iter().zip(expected) {
            assert!((a - e).abs() < tolerance, "{actual:?} is not {expected:?} within {tolerance}");
        }
    }

    fn any_pose(rng: &mut Rng) -> Joints {
        std::array::from_fn(|_| 3.0 * rng.unit() - 1.5)
    }

    #[test]
    fn upright_and_stretched_poses_are_where_the_lengths_say() {
        near(&flange(&[0.0; 7]).position, &[0.0, 0.0, 1.1785], 1e-12);
        // A quarter turn of the second joint lays the arm forward along −x: it turns about −y.
        let q = [0.0, std::f64::consts::FRAC_PI_2, 0.0, 0.0, 0.0, 0.0, 0.0];
        near(&flange(&q).position, &[-0.868, 0.0, 0.3105], 1e-12);
        // Elbow at a right angle, upper arm upright: the forearm turns about +y.
        let q = [0.0, 0.0, 0.0, std::f64::consts::FRAC_PI_2, 0.0, 0.0, 0.0];
        near(&flange(&q).position, &[0.468, 0.0, 0.7105], 1e-12);
    }

    #[test]
    fn the_jacobian_is_the_derivative_of_the_flange() {
        let mut rng = Rng::new(5, 0);
        for _ in 0..20 {
            let q = any_pose(&mut rng);
            let columns = jacobian(&q);
            for (joint, column) in columns.iter().enumerate() {
                let h = 1e-6;
                let moved = |by: f64| flange(&std::array::from_fn(|j| if j == joint { q[j] + by } else { q[j] }));
                let (before, after) = (moved(-h), moved(h));
                near(&scale(sub(after.position, before.position), 0.5 / h), &column[..3], 1e-6);
                let turned = after.rotation.after(before.rotation.inverse()).to_vector();
                near(&scale(turned, 0.5 / h), &column[3..], 1e-6);
            }
        }
    }

    #[test]
    fn the_mass_matrix_is_symmetric_and_every_motion_has_energy() {
        let mut rng = Rng::new(6, 0);
        for _ in 0..20 {
            let matrix = mass_matrix(&any_pose(&mut rng));
            let qd = any_pose(&mut rng);
            let energy: f64 = (0..7).map(|i| (0..7).map(|j| qd[i] * matrix[i][j] * qd[j]).sum::<f64>()).sum();
            assert!(energy > 0.0);
            for (i, row) in matrix.iter().enumerate() {
                near(row, &matrix.map(|other| other[i]), 1e-12);
            }
        }
    }

    #[test]
    fn gravity_is_the_slope_of_the_potential_energy() {
        let energy = |q: &Joints| -> f64 {
            let links = LINKS.iter().enumerate();
            links.map(|(i, link)| link.mass * GRAVITY * Posture::new(q).at(i + 1, link.centre).position[2]).sum()
        };
        let q = [0.3, 0.7, -0.4, -1.1, 0.5, 0.9, 0.1];
        let slope: Joints = std::array::from_fn(|joint| {
            let moved = |by: f64| energy(&std::array::from_fn(|j| if j == joint { q[j] + by } else { q[j] }));
            (moved(1e-6) - moved(-1e-6)) / 2e-6
        });
        near(&gravity(&q), &slope, 1e-5);
    }

    #[test]
    fn a_wrench_is_found_again_in_its_torques() {
        let columns = jacobian(&[0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.0]);
        let wrench = [10.0, -20.0, 30.0, 1.0, -2.0, 3.0];
        near(&wrench_of(&columns, &torques_of(&columns, &wrench)), &wrench, 0.05);
        let speed = [0.1, -0.05, 0.2, 0.1, 0.0, -0.3];
        near(&speed_of(&columns, &joint_speeds_for(&columns, &speed)), &speed, 1e-3);
    }
}
