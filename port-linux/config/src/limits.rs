//! `[limits]`: what the arm may do.

use outrigger_core::command::{LimitField, Limits};
use outrigger_core::robot::{JointAccelerations, JointPositions, JointVelocities};

use crate::reader::Section;

/// Absent is as in `default`. What else the table has is left to the caller.
pub(crate) fn read<const N: usize>(section: &mut Section<'_, '_>, default: Limits<N>) -> Limits<N> {
    let limits = Limits {
        position_min: section
            .numbers("position_min", Limits::<N>::POSITION)
            .map_or(default.position_min, JointPositions),
        position_max: section
            .numbers("position_max", Limits::<N>::POSITION)
            .map_or(default.position_max, JointPositions),
        velocity: section.numbers("velocity", Limits::<N>::VELOCITY).map_or(default.velocity, JointVelocities),
        acceleration: section
            .numbers("acceleration", Limits::<N>::ACCELERATION)
            .map_or(default.acceleration, JointAccelerations),
        braking: section.numbers("braking", Limits::<N>::ACCELERATION).map_or(default.braking, JointAccelerations),
        velocity_margin: section.number_or("velocity_margin", default.velocity_margin, Limits::<N>::VELOCITY_MARGIN),
        reaction: section.duration_or("reaction", default.reaction, Limits::<N>::REACTION),
        longest_step: section.duration_or("longest_step", default.longest_step, Limits::<N>::LONGEST_STEP),
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
