//! The control messages from a driver to the program of UR's URCap External Control
//! (`core/docs/protocol/ur-external-control.md 1.3`).
//!
//! ```
//! use outrigger_wire::external_control::{Control, ControlMode, ControlRepr};
//!
//! let mut sent = [0; Control::LEN];
//! let speeds = ControlRepr { timeout: 20, values: [100_000, 0, 0, 0, 0, 0], mode: ControlMode::SpeedJ };
//! assert_eq!(speeds.emit(&mut sent), Ok(32));
//! assert_eq!(Control::new_checked(&sent)?.repr(), speeds);
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

use zerocopy::big_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{WireError, WireErrorKind};
use crate::robot::wire_enum;

wire_enum! {
    /// The control mode that a control message requests from the External Control program.
    ControlMode: i32 {
        Stopped = -2 "MODE_STOPPED" "End, so that the program of the pendant goes on",
        Uninitialized = -1 "MODE_UNINITIALIZED" "Before the first message",
        Idle = 0 "MODE_IDLE" "Rest, and go on listening",
        ServoJ = 1 "MODE_SERVOJ" "Joint positions",
        SpeedJ = 2 "MODE_SPEEDJ" "Joint speeds",
        Forward = 3 "MODE_FORWARD" "What the trajectory connection brings",
        SpeedL = 4 "MODE_SPEEDL" "A twist of the tool",
        Pose = 5 "MODE_POSE" "A pose of the tool",
        Freedrive = 6 "MODE_FREEDRIVE" "Hand guiding",
        ToolInContact = 7 "MODE_TOOL_IN_CONTACT" "The program's own",
        Torque = 8 "MODE_TORQUE" "Joint torques",
    }
}

/// A control message from a driver to the External Control program, as transmitted.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Control {
    /// The timeout of the External Control program's next read \[ms\]; 0 waits forever.
    timeout: I32,
    /// The six values of the message, whose meaning its mode determines: joint speeds \[µrad/s\], joint positions \[µrad\],
    /// …; in mode [`ControlMode::Forward`] an [`Instruction`](crate::trajectory_messages::Instruction) and a number of trajectory points.
    values: [I32; 6],
    /// The control mode that the message requests, as the number of a [`ControlMode`].
    mode: I32,
}

/// A control message, [`Control`], with its fields in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlRepr {
    /// The timeout of the External Control program's next read \[ms\]; 0 waits forever.
    pub timeout: i32,
    /// The six values of the message, whose meaning its mode determines: joint speeds \[µrad/s\], joint positions \[µrad\],
    /// …; in mode [`ControlMode::Forward`] an [`Instruction`](crate::trajectory_messages::Instruction) and a number of trajectory points.
    pub values: [i32; 6],
    /// The control mode that the message requests from the External Control program.
    pub mode: ControlMode,
}

impl Control {
    /// The size of a control message \[B\].
    pub const LEN: usize = size_of::<Self>();

    /// Returns the control message in `bytes`, which must contain nothing else.
    ///
    /// # Errors
    /// `BadLength` at 0 if the size differs; `BadValue` at 0 if the timeout is negative.
    pub fn new_checked(bytes: &[u8]) -> Result<&Self, WireError> {
        let control = Self::ref_from_bytes(bytes)
            .map_err(|_| WireError::new(WireErrorKind::BadLength, 0, Self::LEN, bytes.len()))?;
        let sound = control.timeout.get() >= 0;
        if sound { Ok(control) } else { Err(WireError::new(WireErrorKind::BadValue, 0, 0, 0)) }
    }

    /// Returns the control message with its fields in host order.
    #[must_use]
    pub fn repr(&self) -> ControlRepr {
        let mode = ControlMode::from_raw(self.mode.get());
        ControlRepr { timeout: self.timeout.get(), values: self.values.map(I32::get), mode }
    }
}

impl ControlRepr {
    /// Writes the control message to the start of `out` and returns its size \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the message.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let (timeout, mode) = (I32::new(self.timeout), I32::new(self.mode.raw()));
        let control = Control { timeout, values: self.values.map(I32::new), mode };
        let written = control.write_to_prefix(out).map(|()| Control::LEN);
        written.map_err(|_| WireError::new(WireErrorKind::BufferTooSmall, 0, Control::LEN, out.len()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(timeout in 0..i32::MAX, values: [i32; 6], mode: i32) {
            let control = ControlRepr { timeout, values, mode: ControlMode::from_raw(mode) };
            let mut bytes = [0; Control::LEN];
            prop_assert_eq!(control.emit(&mut bytes), Ok(Control::LEN));
            prop_assert_eq!(Control::new_checked(&bytes).map(Control::repr), Ok(control));
        }
    }

    #[test]
    fn the_words_lie_where_the_page_has_them() {
        let control = ControlRepr { timeout: 20, values: [1, 2, 3, 4, 5, 6], mode: ControlMode::Stopped };
        let mut bytes = [0; Control::LEN];
        assert_eq!(control.emit(&mut bytes), Ok(32));
        let words: Vec<i32> = bytes.chunks(4).map(|word| i32::from_be_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [20, 1, 2, 3, 4, 5, 6, -2]);
        assert_eq!(Control::new_checked(&[0; 28]).unwrap_err().kind, WireErrorKind::BadLength);
        assert_eq!(Control::new_checked(&[0xFF; 32]).unwrap_err().kind, WireErrorKind::BadValue);
        assert_eq!(control.emit(&mut [0; 31]).unwrap_err().kind, WireErrorKind::BufferTooSmall);
    }
}
