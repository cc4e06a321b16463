//! `[limits]`: what the arm may do.

use std::f32::consts::TAU;

use outrigger_core::command::{LimitField, Limits};
use outrigger_core::robot::{JointAccelerations, JointPositions, JointVelocities};

use crate::reader::Section;

/// Absent is as in `default`. What else the table has is left to the caller.
pub(crate) fn read<const N: usize>(section: &mut Section<'_, '_>, default: Limits<N>) -> Limits<N> {
    let angle = -2.0 * TAU..=2.0 * TAU;
    let limits = Limits {
        position_min: section
            .numbers("position_min", angle.clone(), "rad")
            .map_or(default.position_min, JointPositions),
        position_max: section.numbers("position_max", angle, "rad").map_or(default.position_max, JointPositions),
        velocity: section.numbers("velocity", 0.001..=TAU, "rad/s").map_or(default.velocity, JointVelocities),
        acceleration: section
            .numbers("acceleration", 0.01..=50.0, "rad/s²")
            .map_or(default.acceleration, JointAccelerations),
        braking: section.numbers("braking", 0.01..=50.0, "rad/s²").map_or(default.braking, JointAccelerations),
        velocity_margin: section.number_or("velocity_margin", default.velocity_margin, 0.0..=1.0, ""),
        reaction: section.duration_or("reaction", default.reaction, 0.0..=1.0),
        longest_step: section.duration_or("longest_step", default.longest_step, 0.001..=1.0),
    };
    if let Err(error) = limits.check() {
        let key = match error.field {
            LimitField::Position => "position_min",
            field => field.name(),
        };
        section.complain(key, error.to_string());
    }
    limits
}
