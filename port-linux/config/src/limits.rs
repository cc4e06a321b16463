//! `[limits]`: what the arm may do.

use outrigger_core::command::Limits;

use crate::reader::Section;

/// Absent is as in `default`. What else the table has is left to the caller.
pub(crate) fn read<const N: usize>(section: &mut Section<'_, '_>, default: Limits<N>) -> Limits<N> {
    let mut limits = default;
    limits.read(section);
    if let Err(error) = limits.check() {
        section.complain(error.field, error.to_string());
    }
    limits
}
