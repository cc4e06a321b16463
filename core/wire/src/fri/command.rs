//! The FRI command, with which a remote computer answers each measurement (`core/docs/protocol/kuka-fri.md A6`).

use zerocopy::little_endian::{F32, U16, U32};

use super::cartesian_values::{FrameField, VectorField};
use super::header::EnvelopeField;
use super::krl::KrlField;
use super::{COMMAND_ID, COMMAND_LEN, CommandFlags, Datagram};
use crate::fields::FieldVisitor;
use crate::layout::{layout, total};
use crate::{Put, Take, WireError, WireErrorKind};

type CommandEnvelope = EnvelopeField<{ COMMAND_LEN as u16 }, COMMAND_ID>;

layout! {
    /// An FRI command in place, as a KRC receives it. Numbers pass through unchanged, NaN included.
    view Command;
    /// The values of an FRI command in host order.
    repr CommandRepr;
    size size;

    block header: Header at 0; {
          0 send_seq_count: U16, "–", "Counts the commands, 65 535 is followed by 0";
          2 refl_seq_count: U16, "–", "The counter of the measurement that is answered";
          4 envelope: CommandEnvelope, "B, –", "Size and number of the datagram";
    }
    block krl: Krl at 8; {
          8 krl: KrlField, "–", "What the KRL program reads";
        138 filler: U16, "–", "Unused";
    }
    block wanted: Wanted at 140; {
        140 cmd_flags: U32, "–", "Which of the fields below count";
        144 jnt_pos: [F32; 7], "rad", "Joint positions";
        172 cart_pos: FrameField, "m", "Frame of the tool";
        220 add_jnt_trq: [F32; 7], "Nm", "Joint torques to be added";
        248 add_tcp_ft: VectorField, "N, Nm", "Force and torque at the tool to be added";
        272 jnt_stiffness: [F32; 7], "Nm/rad", "Joint stiffness";
        300 jnt_damping: [F32; 7], "–", "Joint damping, normalised";
        328 cart_stiffness: VectorField, "N/m, Nm/rad", "Cartesian stiffness";
        352 cart_damping: VectorField, "–", "Cartesian damping, normalised";
    }
}

total! { 376 = 0 + Header + Krl + Wanted; }

/// The byte ranges of an FRI command that hold `f32` numbers.
const NUMBERS: [core::ops::Range<usize>; 2] = [8..72, 144..COMMAND_LEN];

impl<'a> Command<'a> {
    /// Returns the FRI command in `bytes`, which must be one datagram.
    ///
    /// # Errors
    /// `Truncated` or `BadLength` at 0 if `bytes` is not 376 bytes long; `BadType` at 6 if the header names another
    /// datagram; `BadLength` at 4 if the header names another size.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        Datagram::Command.check(bytes)?;
        Self::body(COMMAND_LEN, Take::new(bytes))
    }

    /// Returns the size of the FRI command datagram \[B\].
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Calls `visitor` for each field of the FRI command, in wire order.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
        self.visit_body(visitor);
    }

    /// Returns the set of the command's fields that are in effect.
    #[must_use]
    pub fn flags(&self) -> CommandFlags {
        CommandFlags::from_bits(self.cmd_flags())
    }
}

impl CommandRepr {
    /// Writes the FRI command to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the command. `BadValue` at the first number that is NaN or infinite,
    /// whether its flag is set or not; `out` is then filled with zeros, which are not a datagram.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.emit_body(COMMAND_LEN, Put::new(out, COMMAND_LEN)?)?;
        if let Some(at) = not_finite(out) {
            out.fill(0);
            return Err(WireError::new(WireErrorKind::BadValue, at, 0, 0));
        }
        Ok(COMMAND_LEN)
    }
}

/// Returns the offset of the command's first number that is NaN or infinite \[B\]; `None` if all numbers are finite.
fn not_finite(command: &[u8]) -> Option<usize> {
    for range in NUMBERS {
        let start = range.start;
        for (index, number) in command.get(range)?.as_chunks::<4>().0.iter().enumerate() {
            if !f32::from_le_bytes(*number).is_finite() {
                return Some(start.saturating_add(index.saturating_mul(4)));
            }
        }
    }
    None
}
