//! Poses, twists and wrenches as the controller gives them.

use crate::math::double::to_f32;

/// A frame: position \[m\] and rotation vector \[rad\] (axis times angle), as UR's `p[x,y,z,rx,ry,rz]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// x, y, z \[m\].
    pub position: [f32; 3],
    /// Rotation vector \[rad\].
    pub rotation: [f32; 3],
}

/// Linear \[m/s\] and angular \[rad/s\] velocity of one point, in one named frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Twist {
    /// vx, vy, vz \[m/s\].
    pub linear: [f32; 3],
    /// wx, wy, wz \[rad/s\].
    pub angular: [f32; 3],
}

/// Force \[N\] and torque \[Nm\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Wrench {
    /// Fx, Fy, Fz \[N\].
    pub force: [f32; 3],
    /// Mx, My, Mz \[Nm\].
    pub torque: [f32; 3],
}

/// The six wire values in UR's order as two `f32` triples.
fn halves(values: [f64; 6]) -> ([f32; 3], [f32; 3]) {
    let [a, b, c, d, e, f] = values.map(to_f32);
    ([a, b, c], [d, e, f])
}

impl Pose {
    /// From x, y, z, rx, ry, rz on the wire.
    #[must_use]
    pub fn from_wire(values: [f64; 6]) -> Self {
        let (position, rotation) = halves(values);
        Self { position, rotation }
    }
}

impl Twist {
    /// From vx, vy, vz, wx, wy, wz on the wire.
    #[must_use]
    pub fn from_wire(values: [f64; 6]) -> Self {
        let (linear, angular) = halves(values);
        Self { linear, angular }
    }
}

impl Wrench {
    /// From Fx, Fy, Fz, Mx, My, Mz on the wire.
    #[must_use]
    pub fn from_wire(values: [f64; 6]) -> Self {
        let (force, torque) = halves(values);
        Self { force, torque }
    }
}
