//! How the arm gives way: to a wanted force on chosen axes (force mode), or to a hand (freedrive).
//!
//! `core/docs/protocol/ur-external-control.md 5.3`. How fast it gives way is **assumed** and an option; that the speed grows with
//! the error of the force, and ends at the limits, is what makes a contact settle. The drives themselves do not give way:
//! on axes that are not compliant the arm follows the program, whatever pushes, so deviation limits are never reached.

use crate::kinematics::{
    Frame, Jacobian, Pose6, Rotation, Vec3, cross, dot, joint_speeds, norm, scale, sub, torques_of,
};

/// What is not known of force mode, freedrive and torques. Defaults are *assumed*.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceOptions {
    /// Error of the force per speed of a compliant axis in free air \[N·s/m\], without damping.
    pub free_damping: f64,
    /// Speed of a compliant axis per error of the force in contact \[m/s per N\], without damping: where at least
    /// [`contact_force`](Self::contact_force) is measured along it. Below that the two merge.
    pub force_gain: f64,
    /// Speed about a compliant axis per error of the torque \[rad/s per Nm\], without damping.
    pub torque_gain: f64,
    /// What full damping (1.0) divides the speeds by, less one.
    pub full_damping: f64,
    /// Damping where no program has set one.
    pub damping: f64,
    /// Speed of a freed axis per force \[m/s per N\] and about it per torque \[rad/s per Nm\], where axes are chosen.
    pub freedrive_gain: [f64; 2],
    /// Torque per speed of each joint in freedrive \[Nm·s/rad\].
    pub freedrive_friction: [f64; 6],
    /// Force that is a contact \[N\]; it began where a fifth of this was passed.
    pub contact_force: f64,
    /// Friction of each joint under direct torque: per speed \[Nm·s/rad\], and against any motion \[Nm\].
    pub friction: [[f64; 6]; 2],
    /// Deceleration of the leading axis where a program ends its direct torques \[rad/s²\].
    pub torque_end_deceleration: f64,
}

/// Error of the force per speed in free air where nobody says otherwise \[N·s/m\]: 10 N move the tool 3 cm in 0.6 s. Nobody has
/// published it.
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

/// How the frame of force mode moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceFrame {
    /// Its y axis points from the tool to the frame's origin.
    Point,
    /// It stays.
    Still,
    /// Its x axis is the tool's direction of motion, seen in its x-y plane.
    Motion,
}

impl ForceFrame {
    /// By the number that `force_mode` takes.
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

/// What `force_mode` asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceMode {
    /// The force frame in the base.
    pub frame: Pose6,
    /// Which of its axes are compliant.
    pub compliant: [bool; 6],
    /// What the tool shall press its surroundings with, along these axes \[N, Nm\].
    pub wrench: [f64; 6],
    /// How the frame moves.
    pub moves: ForceFrame,
    /// Largest speed along and about compliant axes \[m/s, rad/s\].
    pub limits: [f64; 6],
}

/// What gives way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Compliance {
    /// Nothing: the arm follows its targets.
    #[default]
    None,
    /// Chosen axes of a frame, to a wanted force.
    Force(ForceMode),
    /// Every joint, to a hand.
    Freedrive,
    /// Chosen axes of a frame, to a hand.
    FreedriveAlong {
        /// Which axes are free.
        axes: [bool; 6],
        /// The frame in the base; the tool's own where none is given.
        feature: Option<Pose6>,
    },
}

impl Compliance {
    /// Whether a hand guides the arm.
    #[must_use]
    pub fn is_freedrive(&self) -> bool {
        matches!(self, Self::Freedrive | Self::FreedriveAlong { .. })
    }
}

/// What the arm is and feels, for one cycle.
pub(super) struct Situation<'a> {
    pub(super) jacobian: Jacobian,
    pub(super) tool: Frame,
    /// Speed that the program asks of the tool \[m/s, rad/s\].
    pub(super) programmed: [f64; 6],
    /// What the sensor says \[N, Nm\], in the base.
    pub(super) measured: [f64; 6],
    /// What really pushes \[N, Nm\], in the base.
    pub(super) push: [f64; 6],
    pub(super) options: &'a ForceOptions,
    pub(super) damping: f64,
    pub(super) gain_scaling: f64,
}

impl Situation<'_> {
    /// Joint speeds \[rad/s\] by which the arm leaves the programmed motion.
    pub(super) fn force_mode(&self, mode: &ForceMode) -> [f64; 6] {
        let axes = self.force_axes(mode);
        let share = self.gain_scaling / (1.0 + self.options.full_damping * self.damping);
        let away = along(&axes, &mode.compliant, |axis, part, direction| {
            let felt = dot(direction, half(&self.measured, part));
            let gain = if part == 0 { self.force_gain(felt) } else { self.options.torque_gain };
            let wanted = (gain * share * (mode.wrench[axis] + felt)).clamp(-mode.limits[axis], mode.limits[axis]);
            // What the program asks along this axis does not count: the force alone does.
            wanted - dot(direction, half(&self.programmed, part))
        });
        joint_speeds(&self.jacobian, &away)
    }

    /// Speed per error of the force \[m/s per N\] where `felt` \[N\] is measured along the axis: a stiff surface wants a much
    /// lower one than free air, or the contact bounces.
    fn force_gain(&self, felt: f64) -> f64 {
        let ForceOptions { free_damping, force_gain, contact_force, .. } = *self.options;
        let contact = (felt.abs() / contact_force).min(1.0);
        1.0 / (free_damping + (1.0 / force_gain - free_damping) * contact)
    }

    /// Joint speeds \[rad/s\] that a hand causes.
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

    /// Directions of the force frame, in the base.
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

/// The sum of speeds along (`part` 0) and about (1) the chosen axes, as \[m/s, rad/s\] in the base.
fn along(axes: &[Vec3; 3], chosen: &[bool; 6], speed: impl Fn(usize, usize, Vec3) -> f64) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for (axis, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen) {
        let (part, direction) = (axis / 3, axes[axis % 3]);
        let speed = speed(axis, part, direction);
        (0..3).for_each(|n| sum[3 * part + n] += speed * direction[n]);
    }
    sum
}

/// The linear half of a spatial vector, or the angular one.
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
