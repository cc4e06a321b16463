//! Forward kinematics and the geometric Jacobian, in one pass over the joints.

use super::DhParameters;
use outrigger_wire::math::{Frame, Rotation, Vector3, add, cross, norm, scale, sin_cos, sqrt, subtract};
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose, Twist};

/// An arm with its tool: everything between joint angles and the tool centre point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KinematicChain<const N: usize> {
    dh: DhParameters<N>,
    tcp: Frame,
}

/// Twist of the tool centre point per unit speed of each joint, in the base frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Jacobian<const N: usize>(
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array"))] pub [Twist; N],
);

/// Where the tool is, and how the joints move it there.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Posture<const N: usize> {
    /// The tool centre point's frame in the base frame.
    pub tcp: Frame,
    /// Its Jacobian.
    pub jacobian: Jacobian<N>,
}

impl<const N: usize> KinematicChain<N> {
    /// The arm `dh` with its tool centre point at `tcp_offset` from the flange.
    #[must_use]
    pub fn new(dh: DhParameters<N>, tcp_offset: &Pose) -> Self {
        let tcp = Frame { position: tcp_offset.position, rotation: Rotation::from_vector(tcp_offset.rotation) };
        Self { dh, tcp }
    }

    /// The pose of the tool centre point in the base frame, as the controller's "Tool vector".
    #[must_use]
    pub fn forward(&self, q: &JointPositions<N>) -> Pose {
        let Frame { position, rotation } = self.trace(q, |_, _| {});
        Pose { position, rotation: rotation.to_vector() }
    }

    /// The frame of the tool centre point and the Jacobian there. Angles that are no numbers give such.
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

    /// The greatest distance the tool centre point can have from each joint's axis \[m\]: the links beyond it
    /// laid end to end, so somewhat more than is ever reached. Far too much for calibrated parameters, whose
    /// shifts along near-parallel axes cancel: take the model's nominal ones.
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

    /// Follows the joints from base to tool; `joint` sees the origin and axis each joint turns about.
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
    /// The twist of the tool centre point at these joint speeds, in the base frame.
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
