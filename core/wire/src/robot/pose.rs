//! Poses, twists and wrenches in the form of the controller.

use crate::math::double_conversion::to_f32;
use crate::math::{Rotation, dot, norm, subtract};

/// A frame: position \[m\] and rotation vector \[rad\] (axis times angle), as UR's `p[x,y,z,rx,ry,rz]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// The position x, y, z of the pose's origin \[m\].
    pub position: [f32; 3],
    /// The orientation of the pose as a rotation vector, axis times angle \[rad\].
    pub rotation: [f32; 3],
}

/// The linear \[m/s\] and angular \[rad/s\] velocity of one point, in the frame that the field or function names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Twist {
    /// The linear velocity vx, vy, vz of the twist \[m/s\].
    pub linear: [f32; 3],
    /// The angular velocity wx, wy, wz of the twist \[rad/s\].
    pub angular: [f32; 3],
}

/// A force \[N\] and a torque \[Nm\], e.g. at the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wrench {
    /// The force Fx, Fy, Fz of the wrench \[N\].
    pub force: [f32; 3],
    /// The torque Mx, My, Mz of the wrench \[Nm\].
    pub torque: [f32; 3],
}

/// Splits six numbers on the wire, of a pose, twist or wrench, into two triples, each rounded to the nearest `f32`.
fn halves(values: [f64; 6]) -> ([f32; 3], [f32; 3]) {
    let [a, b, c, d, e, f] = values.map(to_f32);
    ([a, b, c], [d, e, f])
}

impl Pose {
    /// Returns the pose from x, y, z, rx, ry, rz on the wire.
    #[must_use]
    pub fn from_wire(values: [f64; 6]) -> Self {
        let (position, rotation) = halves(values);
        Self { position, rotation }
    }

    /// Returns the distance between the origins of this pose and `other` \[m\].
    #[must_use]
    pub fn distance_to(&self, other: &Self) -> f32 {
        norm(subtract(other.position, self.position))
    }

    /// Returns the rotation to the orientation of `other`, as a rotation vector in this frame; its length is 0 … π
    /// \[rad\].
    #[must_use]
    pub fn turn_to(&self, other: &Self) -> [f32; 3] {
        let Rotation { x, y, z } = Rotation::from_vector(self.rotation);
        let to = Rotation::from_vector(other.rotation);
        let seen = |axis| [dot(x, axis), dot(y, axis), dot(z, axis)];
        Rotation { x: seen(to.x), y: seen(to.y), z: seen(to.z) }.to_vector()
    }

    /// Returns the angle of the rotation from this pose's orientation to that of `other` \[rad\].
    #[must_use]
    pub fn angle_to(&self, other: &Self) -> f32 {
        norm(self.turn_to(other))
    }

    /// Returns whether all numbers of the pose's position and rotation are finite: none is NaN or infinite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.iter().chain(&self.rotation).all(|value| value.is_finite())
    }
}

impl Twist {
    /// Returns the twist from vx, vy, vz, wx, wy, wz on the wire.
    #[must_use]
    pub fn from_wire(values: [f64; 6]) -> Self {
        let (linear, angular) = halves(values);
        Self { linear, angular }
    }
}

impl Wrench {
    /// Returns the wrench from Fx, Fy, Fz, Mx, My, Mz on the wire.
    #[must_use]
    pub fn from_wire(values: [f64; 6]) -> Self {
        let (force, torque) = halves(values);
        Self { force, torque }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_as_far_apart_as_their_origins_and_turned_by_the_shorter_way() {
        let pose = |position, rotation| Pose { position, rotation };
        let (a, b) = (pose([0.0, 0.3, 0.0], [0.0, 0.0, 3.0]), pose([0.4, 0.0, 0.0], [0.0, 0.0, -3.0]));
        assert!((a.distance_to(&b) - 0.5).abs() < 1e-6);
        let turn = a.turn_to(&b);
        assert!(
            (turn[2] - (core::f32::consts::TAU - 6.0)).abs() < 1e-5 && turn[0].abs() + turn[1].abs() < 1e-5,
            "{turn:?}"
        );
        assert!((a.angle_to(&b) - turn[2]).abs() < 1e-6 && a.angle_to(&a) < 1e-6);
        assert!(a.is_finite() && !pose([0.0; 3], [f32::NAN, 0.0, 0.0]).is_finite());
    }
}
