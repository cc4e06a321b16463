//! The table `[limits]`: the limits of the arm's motion.

use outrigger_core::command::Limits;
use outrigger_wire::robot::JointPositions;

use crate::reader::Section;

/// Reads the limits of the joints. A limit that the file does not set has its value in `default`. The caller reads the
/// other keys of the table. The joint with the index `endless` may have position limits of any number of turns, or none
/// (`inf`).
pub(crate) fn read<const N: usize>(
    section: &mut Section<'_, '_>,
    default: Limits<N>,
    endless: Option<usize>,
) -> Limits<N> {
    let mut limits = default;
    let mut angles = |key| {
        let angles = section.angles(key, Limits::<N>::BOUNDED, endless.map(|joint| (joint, f32::INFINITY)))?;
        let bounded = |angle: f32| if angle.is_infinite() { Limits::<N>::NONE.copysign(angle) } else { angle };
        Some(JointPositions(angles.map(bounded)))
    };
    limits.position_min = angles("position_min").unwrap_or(limits.position_min);
    limits.position_max = angles("position_max").unwrap_or(limits.position_max);
    limits.read(section);
    if let Err(error) = limits.check() {
        // If two position limits cross, the problem is reported at the one that the file sets.
        let crossed = error.field == "position_min" && !section.has("position_min") && section.has("position_max");
        let field = if crossed { "position_max" } else { error.field };
        let of = error.joint.map_or(String::new(), |joint| format!(" for joint {}", joint + 1));
        section.complain(field, format!("{}{of}", error.expected));
    }
    limits
}
