//! Compliance of the arm: to a wanted force on chosen axes (force mode), or to a hand (freedrive).
//!
//! See `core/docs/protocol/ur-external-control.md 5.3`. The speed of the compliance is **assumed** and an option. The
//! speed grows with the error of the force up to the limits; that is why a contact settles. The drives themselves are
//! not compliant: on other axes the arm follows the program, whatever force acts on it, so deviation limits are never
//! reached.

use crate::kinematics::{
    Frame, Jacobian, Pose6, Rotation, Vec3, cross, dot, joint_speeds, norm, scale, sub, torques_of,
};

/// Properties of force mode, freedrive and direct torque that are not documented. Defaults are *assumed*.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceOptions {
    /// Force error divided by the speed \[N·s/m\] at which a compliant axis of force mode moves in free air, without
    /// damping.
    pub free_damping: f64,
    /// Speed of a compliant axis of force mode per newton of force error, in contact with a surface \[m/s per N\],
    /// without damping. Applies where at least [`contact_force`](Self::contact_force) is measured along the axis;
    /// below that the value is interpolated towards free air.
    pub force_gain: f64,
    /// Rotation speed of a compliant axis of force mode per error of the torque \[rad/s per Nm\], without damping.
    pub torque_gain: f64,
    /// Strength of full damping of force mode: damping of 1.0 divides the speeds by this number plus one.
    pub full_damping: f64,
    /// Damping of force mode before a program sets one, 0 … 1.
    pub damping: f64,
    /// Speed along a freed axis per force \[m/s per N\], and about a freed axis per torque \[rad/s per Nm\], in
    /// freedrive of chosen axes.
    pub freedrive_gain: [f64; 2],
    /// Torque per speed with which each joint resists a hand in freedrive \[Nm·s/rad\].
    pub freedrive_friction: [f64; 6],
    /// Measured force at the tool from which it counts as touching a surface \[N\]. The contact is dated back to the
    /// moment at which a fifth of this was exceeded.
    pub contact_force: f64,
    /// Friction of each joint under direct torque: viscous \[Nm·s/rad\], and dry friction against any motion \[Nm\].
    pub friction: [[f64; 6]; 2],
    /// Deceleration of the leading axis when a program ends its direct torques \[rad/s²\].
    pub torque_end_deceleration: f64,
}

/// The default force error divided by the speed of a compliant axis of force mode in free air \[N·s/m\]: 10 N move
/// the tool 3 cm in 0.6 s. The true value is not published.
pub const FREE_DAMPING: f64 = 200.0;

impl Default for ForceOptions {
    fn default() -> Self {
        Self {
            free_damping: FREE_DAMPING,
            force_gain: 5e-4,
            torque_gain: 0.02,
            full_damping: 9.0,
            damping: 0.005,
            freedrive_gain: [0.005, 0.1],
            freedrive_friction: [30.0, 30.0, 30.0, 5.0, 5.0, 5.0],
            contact_force: 5.0,
            friction: [[8.0, 8.0, 8.0, 2.0, 2.0, 2.0], [4.0, 4.0, 4.0, 1.0, 1.0, 1.0]],
            torque_end_deceleration: 10.0,
        }
    }
}

/// The kind of frame of force mode (argument `type` of the URScript function `force_mode`): fixed, or turned by the
/// tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceFrame {
    /// The y axis of the force frame points from the tool to the frame's origin.
    Point,
    /// The force frame does not move with the tool.
    Still,
    /// The x axis of the force frame is the tool's direction of motion, projected to the frame's x-y plane.
    Motion,
}

impl ForceFrame {
    /// Returns the kind of force frame for the number that the URScript function `force_mode` takes, 1 … 3; `None` for
    /// any other number.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        match number {
            1 => Some(Self::Point),
            2 => Some(Self::Still),
            3 => Some(Self::Motion),
            _ => None,
        }
    }
}

/// The arguments of a call of the URScript function `force_mode`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceMode {
    /// The pose of the force frame in the robot's base frame.
    pub frame: Pose6,
    /// `true` for each axis of the force frame, x y z rx ry rz, that is compliant.
    pub compliant: [bool; 6],
    /// The force and torque with which the tool shall press its surroundings along the compliant axes \[N, Nm\].
    pub wrench: [f64; 6],
    /// The kind of force frame: fixed, or turned by the tool.
    pub moves: ForceFrame,
    /// The highest speed of the tool along and about compliant axes \[m/s, rad/s\].
    pub limits: [f64; 6],
}

/// The kind of compliance of the arm: none, force mode or freedrive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Compliance {
    /// No compliance: the arm follows its joint targets.
    #[default]
    None,
    /// Force mode: chosen axes of a frame comply to a wanted force.
    Force(ForceMode),
    /// Freedrive: every joint yields to a person's hand.
    Freedrive,
    /// Freedrive of chosen axes of a frame: only these yield to a person's hand.
    FreedriveAlong {
        /// `true` for each axis, x y z rx ry rz, along or about which a hand can move the tool.
        axes: [bool; 6],
        /// The pose in the robot's base of the frame whose axes are freed; `None` is the tool's own frame.
        feature: Option<Pose6>,
    },
}

impl Compliance {
    /// Returns whether freedrive is active, in which a person's hand guides the arm.
    #[must_use]
    pub fn is_freedrive(&self) -> bool {
        matches!(self, Self::Freedrive | Self::FreedriveAlong { .. })
    }
}

/// The state of the arm and the forces on it in one control cycle, from which the joint speeds of force mode and
/// freedrive are computed.
pub(super) struct Situation<'a> {
    pub(super) jacobian: Jacobian,
    pub(super) tool: Frame,
    /// The speed of the tool that the program commands \[m/s, rad/s\].
    pub(super) programmed: [f64; 6],
    /// The force and torque that the sensor measures at the tool \[N, Nm\], along the axes of the base.
    pub(super) measured: [f64; 6],
    /// The true force and torque on the tool \[N, Nm\], along the axes of the base.
    pub(super) push: [f64; 6],
    pub(super) options: &'a ForceOptions,
    pub(super) damping: f64,
    pub(super) gain_scaling: f64,
}

impl Situation<'_> {
    /// Returns the joint speeds \[rad/s\] that force mode adds to the programmed motion.
    pub(super) fn force_mode(&self, mode: &ForceMode) -> [f64; 6] {
        let axes = self.force_axes(mode);
        let share = self.gain_scaling / (1.0 + self.options.full_damping * self.damping);
        let away = along(&axes, &mode.compliant, |axis, part, direction| {
            let felt = dot(direction, half(&self.measured, part));
            let gain = if part == 0 { self.force_gain(felt) } else { self.options.torque_gain };
            let wanted = (gain * share * (mode.wrench[axis] + felt)).clamp(-mode.limits[axis], mode.limits[axis]);
            // The programmed speed along this axis is cancelled: the force alone decides.
            wanted - dot(direction, half(&self.programmed, part))
        });
        joint_speeds(&self.jacobian, &away)
    }

    /// Returns the speed of a compliant axis per newton of force error \[m/s per N\] if `felt` \[N\] is measured
    /// along the axis. A stiff surface needs a much lower value than free air, or the contact bounces.
    fn force_gain(&self, felt: f64) -> f64 {
        let ForceOptions { free_damping, force_gain, contact_force, .. } = *self.options;
        let contact = (felt.abs() / contact_force).min(1.0);
        1.0 / (free_damping + (1.0 / force_gain - free_damping) * contact)
    }

    /// Returns the joint speeds \[rad/s\] that a person's hand causes in freedrive.
    pub(super) fn freedrive(&self, compliance: &Compliance) -> [f64; 6] {
        let Compliance::FreedriveAlong { axes, feature } = compliance else {
            let torques = torques_of(&self.jacobian, &self.push);
            return std::array::from_fn(|joint| torques[joint] / self.options.freedrive_friction[joint]);
        };
        let rotation = feature.map_or(self.tool.rotation, |[.., rx, ry, rz]| Rotation::from_vector([rx, ry, rz]));
        let speed = along(&directions(rotation), axes, |_, part, direction| {
            self.options.freedrive_gain[part] * dot(direction, half(&self.push, part))
        });
        joint_speeds(&self.jacobian, &speed)
    }

    /// Returns the directions of the axes of the force frame, in the base.
    fn force_axes(&self, mode: &ForceMode) -> [Vec3; 3] {
        let [x, y, z, rx, ry, rz] = mode.frame;
        let given = directions(Rotation::from_vector([rx, ry, rz]));
        match mode.moves {
            ForceFrame::Still => given,
            ForceFrame::Point => {
                let to_origin = unit(sub([x, y, z], self.tool.position));
                let across = to_origin.and_then(|to_origin| unit(cross(to_origin, given[2])));
                match (across, to_origin) {
                    (Some(x), Some(y)) => [x, y, cross(x, y)],
                    _ => given,
                }
            }
            ForceFrame::Motion => {
                let linear = half(&self.programmed, 0);
                let flat = sub(linear, scale(given[2], dot(given[2], linear)));
                unit(flat).map_or(given, |x| [x, cross(given[2], x), given[2]])
            }
        }
    }
}

/// Returns the speed of the tool in the base \[m/s, rad/s\]: the sum of the speeds that `speed` returns for the axes
/// marked in `chosen`, along (its argument `part` is 0) or about (1) each of them.
fn along(axes: &[Vec3; 3], chosen: &[bool; 6], speed: impl Fn(usize, usize, Vec3) -> f64) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for (axis, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen) {
        let (part, direction) = (axis / 3, axes[axis % 3]);
        let speed = speed(axis, part, direction);
        (0..3).for_each(|n| sum[3 * part + n] += speed * direction[n]);
    }
    sum
}

/// Returns one half of a six-element vector of the tool: the linear one, x y z (`part` 0), or the angular one, rx ry
/// rz (`part` 1).
fn half(vector: &[f64; 6], part: usize) -> Vec3 {
    std::array::from_fn(|n| vector[3 * part + n])
}

fn directions(rotation: Rotation) -> [Vec3; 3] {
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| rotation.turn(axis))
}

fn unit(vector: Vec3) -> Option<Vec3> {
    let length = norm(vector);
    (length > 1e-6).then(|| scale(vector, 1.0 / length))
}
