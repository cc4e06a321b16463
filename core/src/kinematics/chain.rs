//! Forward kinematics and the geometric Jacobian, in one pass over the joints.

use super::DhParameters;
use outrigger_wire::math::{Frame, Rotation, Vector3, add, cross, norm, scale, sin_cos, sqrt, subtract};
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose, Twist};

/// An arm with its tool: the transformation from joint angles to the pose of the tool centre point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KinematicChain<const N: usize> {
    dh: DhParameters<N>,
    tcp: Frame,
}

/// The geometric Jacobian in the base frame: for each joint, the twist \[m/s, rad/s\] of the tool centre point per unit
/// of joint speed \[rad/s\].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Jacobian<const N: usize>(
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array_serde"))] pub [Twist; N],
);

/// The frame of the tool centre point and the Jacobian there, for one set of joint angles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Posture<const N: usize> {
    /// The frame of the tool centre point: its position \[m\] and its axes in the base frame.
    pub tcp: Frame,
    /// The Jacobian at the tool centre point, in the base frame.
    pub jacobian: Jacobian<N>,
}

impl<const N: usize> KinematicChain<N> {
    /// Builds the chain from the parameters `dh` of the arm and the pose of its tool centre point relative to the
    /// flange.
    #[must_use]
    pub fn new(dh: DhParameters<N>, tcp_offset: &Pose) -> Self {
        let tcp = Frame { position: tcp_offset.position, rotation: Rotation::from_vector(tcp_offset.rotation) };
        Self { dh, tcp }
    }

    /// Returns the pose of the tool centre point in the base frame \[m, rad\], in the form of the controller's "Tool
    /// vector".
    #[must_use]
    pub fn forward(&self, q: &JointPositions<N>) -> Pose {
        let Frame { position, rotation } = self.trace(q, |_, _| {});
        Pose { position, rotation: rotation.to_vector() }
    }

    /// Returns the frame of the tool centre point and the Jacobian there, for joint angles `q` \[rad\]. Angles that are
    /// NaN or infinite give NaN.
    #[must_use]
    pub fn posture(&self, q: &JointPositions<N>) -> Posture<N> {
        let mut columns = [Twist::default(); N];
        let mut joints = columns.iter_mut();
        let tcp = self.trace(q, |origin, axis| {
            if let Some(column) = joints.next() {
                *column = Twist { linear: origin, angular: axis };
            }
        });
        for column in &mut columns {
            column.linear = cross(column.angular, subtract(tcp.position, column.linear));
        }
        Posture { tcp, jacobian: Jacobian(columns) }
    }

    /// Returns an upper bound for the distance of the tool centre point from each joint's axis \[m\]: the lengths of
    /// the links beyond it added up, so somewhat more than the arm ever reaches. Use the model's nominal parameters:
    /// for calibrated ones, whose shifts along nearly parallel axes cancel, the bound is far too large.
    #[must_use]
    pub fn reach(&self) -> [f32; N] {
        let mut reach = [0.0; N];
        let mut beyond = norm(self.tcp.position);
        for (reach, joint) in reach.iter_mut().zip(&self.dh.joints).rev() {
            *reach = beyond + joint.a.abs();
            beyond += sqrt(joint.a * joint.a + joint.d * joint.d);
        }
        reach
    }

    /// Traverses the arm's joints from base to tool. Calls `joint` with the origin and the axis of rotation of each
    /// joint.
    fn trace(&self, q: &JointPositions<N>, mut joint: impl FnMut(Vector3, Vector3)) -> Frame {
        let Rotation { mut x, mut y, mut z } = Rotation::IDENTITY;
        let mut position = [0.0; 3];
        for (parameters, angle) in self.dh.joints.iter().zip(q.iter()) {
            joint(position, z);
            let (sin, cos) = sin_cos(angle + parameters.theta);
            let turned = subtract(scale(y, cos), scale(x, sin));
            x = add(scale(x, cos), scale(y, sin));
            position = add(position, add(scale(z, parameters.d), scale(x, parameters.a)));
            y = add(scale(turned, parameters.cos_alpha), scale(z, parameters.sin_alpha));
            z = subtract(scale(z, parameters.cos_alpha), scale(turned, parameters.sin_alpha));
        }
        Frame { position, rotation: Rotation { x, y, z } }.then(&self.tcp)
    }
}

impl<const N: usize> Jacobian<N> {
    /// Returns the twist of the tool centre point at these joint speeds, in the base frame \[m/s, rad/s\].
    #[must_use]
    pub fn twist(&self, velocities: &JointVelocities<N>) -> Twist {
        self.0.iter().zip(velocities.iter()).fold(Twist::default(), |sum, (column, v)| Twist {
            linear: add(sum.linear, scale(column.linear, v)),
            angular: add(sum.angular, scale(column.angular, v)),
        })
    }
}

#[cfg(test)]
mod tests;
