//! The primary and secondary interface, ports 30001, 30002 and their read-only twins 30011 and 30012
//! (`core/docs/protocol/ur-client-interfaces.md 1.1, 3, 4`).
//!
//! A message is a length that includes itself, a type byte and a body. Robot state (16) arrives at 10 Hz and is a
//! sequence of [`SubPackages`]. Robot messages (20) and program state (25) arrive on events. The other types are
//! internal to the vendor and skipped by length. The sub-packages of a state and their lengths depend on the software:
//! each is identified by its type byte and accepted in any size.
//!
//! ```
//! use outrigger_wire::primary::{Message, MessageKind};
//!
//! // A robot message: the version that a controller with software 5.12 greets with.
//! let greeting = b"\0\0\0\x37\x14\xff\xff\xff\xff\xff\xff\xff\xff\xfe\x03\x09URControl\x05\x0c\0\0\0\x02\0\0\0\0\
//!                  28-06-2022, 11:30:43";
//! let message = Message::new_checked(greeting)?;
//! assert_eq!(message.size(), greeting.len());
//! assert!(matches!(message.kind(), MessageKind::RobotMessage(_)));
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

mod hardware;
mod kinematics_packages;
mod package;
mod program_state;
mod report;
mod robot_message;
mod state;
mod status;
#[cfg(test)]
mod tests;

pub use hardware::{
    MasterboardData, MasterboardDataCb2, MasterboardDataCb2Repr, MasterboardDataRepr, ToolCommunicationInfo,
    ToolCommunicationInfoRepr, ToolData, ToolDataRepr, ToolModeInfo, ToolModeInfoRepr,
};
pub use kinematics_packages::{
    ConfigurationData, ConfigurationDataRepr, JointDynamics, JointLimits, KinematicsInfo, KinematicsInfoRepr,
};
pub use package::SubPackageRepr;
pub use program_state::{
    Element, MAX_DEPTH, Names, ProgramStateMessage, ProgramStatePayload, ValueNumbering, Variables,
};
#[doc(hidden)]
pub use report::LOCAL_CONTROL;
pub use report::{Report, ReportKind};
pub use robot_message::{
    ErrorCode, ErrorDetail, Popup, PopupRequest, RequestPopup, RequestValue, RobotMessage, RobotMessagePayload,
    SafetyDetail, SafetyModeMessage, ThreadLabel, ThreadLabels, Titled, Version,
};
pub use state::{RobotStateWriter, SubPackage, SubPackages, size_for};
pub use status::{
    AdditionalInfo, AdditionalInfoRepr, CalibrationData, CalibrationDataRepr, CartesianInfo, CartesianInfoRepr,
    ForceModeData, ForceModeDataRepr, Joint, JointData, JointDataRepr, RobotModeData, RobotModeDataRepr, SafetyData,
    SafetyDataRepr, SingularityInfo, SingularityInfoRepr,
};

use super::fields::{FieldVisitor, Value};
use super::{Put, Take, WireError, WireErrorKind};
use crate::robot::SoftwareVersion;
use zerocopy::big_endian::{F64, I32};

/// The size of a primary message's header \[B\]: size and type.
const HEADER_LEN: usize = 5;

/// The type byte of a disconnect notice among primary messages.
pub const DISCONNECT: u8 = 0xff;
/// The type byte of the robot state among primary messages.
pub const ROBOT_STATE: u8 = 16;
/// The type byte of robot messages, which report events, among primary messages.
pub const ROBOT_MESSAGE: u8 = 20;
/// The type byte of the safety compliance tolerances, a primary message internal to the vendor.
pub const SAFETY_COMPLIANCE_TOLERANCES: u8 = 24;
/// The type byte of the program state among primary messages.
pub const PROGRAM_STATE: u8 = 25;

/// A text in the controller's extended ASCII, of any length and without terminator.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Text<'a>(pub &'a [u8]);

impl core::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        use core::fmt::Write;
        // Latin-1 maps every byte to one character, so no byte is lost or rejected.
        self.0.iter().try_for_each(|byte| f.write_char(char::from(*byte)))
    }
}

impl core::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// A message of the primary interface in place, as received.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    size: usize,
    message_type: u8,
    kind: MessageKind<'a>,
}

/// The kind of a primary message, with its content.
#[derive(Clone, Copy, Debug)]
pub enum MessageKind<'a> {
    /// Type 16: the robot state, as a sequence of sub-packages.
    RobotState(SubPackages<'a>),
    /// Type 20: a robot message, which reports an event.
    RobotMessage(RobotMessage<'a>),
    /// Type 25: a program-state message, with the names or values of a program's variables.
    ProgramState(ProgramStateMessage<'a>),
    /// A message of any other type: internal to the vendor, to be skipped.
    Internal {
        /// The type byte of the vendor-internal message.
        message_type: u8,
        /// The vendor-internal message without its header.
        body: &'a [u8],
    },
}

impl<'a> Message<'a> {
    /// Returns the primary message that fills `bytes` to the end.
    ///
    /// # Errors
    /// `Truncated` if bytes are missing (also of the fixed part of a robot or program-state message); `BadLength` if
    /// the length field is no message's or not that of `bytes`.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (size, message_type) = package::header(bytes)?;
        if size != bytes.len() {
            return Err(WireError::new(WireErrorKind::BadLength, 0, bytes.len(), size));
        }
        let mut body = Take::new(bytes);
        body.bytes(HEADER_LEN)?;
        let kind = match message_type {
            ROBOT_STATE => MessageKind::RobotState(SubPackages::new(body.rest())),
            ROBOT_MESSAGE => MessageKind::RobotMessage(RobotMessage::parse(body)?),
            PROGRAM_STATE => MessageKind::ProgramState(ProgramStateMessage::parse(body)?),
            _ => MessageKind::Internal { message_type, body: body.rest() },
        };
        Ok(Self { size, message_type, kind })
    }

    /// Returns the length of the primary message \[B\].
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns the type byte of the primary message.
    #[must_use]
    pub const fn message_type(&self) -> u8 {
        self.message_type
    }

    /// Returns the kind of the primary message, with its content.
    #[must_use]
    pub const fn kind(&self) -> MessageKind<'a> {
        self.kind
    }

    /// Calls `visitor` for each field of the primary message. Parts whose form depends on the controller's software are
    /// decoded in the form of `software`. They are reported as bytes named `raw` if `software` is `None` and the forms
    /// differ, or if the form is not known.
    ///
    /// # Errors
    /// The first error inside the body. The fields before it have been visited, except those of unknown sub-packages.
    pub fn visit(&self, software: Option<SoftwareVersion>, visitor: &mut dyn FieldVisitor) -> Result<(), WireError> {
        visitor.field("message_size", Value::Signed(i64::try_from(self.size).unwrap_or(i64::MAX)));
        visitor.field("message_type", Value::Unsigned(self.message_type.into()));
        match self.kind {
            MessageKind::RobotState(packages) => packages.visit(visitor),
            MessageKind::RobotMessage(message) => message.visit(software, visitor),
            MessageKind::ProgramState(message) => message.visit(software, visitor),
            MessageKind::Internal { message_type, body } => {
                match Take::new(body).value::<[F64; 22]>() {
                    Ok(values)
                        if message_type == SAFETY_COMPLIANCE_TOLERANCES && body.len() == size_of_val(&values) =>
                    {
                        visitor.field("internal", Value::F64s(&values));
                    }
                    _ => visitor.field("body", Value::Bytes(body)),
                }
                Ok(())
            }
        }
    }
}

/// Writes a primary message of any type from its body and returns its length \[B\].
///
/// # Errors
/// `BufferTooSmall` if `out` is shorter than the message.
pub fn emit_raw(message_type: u8, body: &[u8], out: &mut [u8]) -> Result<usize, WireError> {
    emit_message(message_type, out, |put| put.bytes(body))
}

/// Writes a primary message's header, calls `body` to write the body, and then fills in the length.
fn emit_message(
    message_type: u8,
    out: &mut [u8],
    body: impl FnOnce(&mut Put<'_>) -> Result<(), WireError>,
) -> Result<usize, WireError> {
    let size = out.len();
    let mut put = Put::new(out, size)?;
    put.value::<I32>(0)?;
    put.value::<u8>(message_type)?;
    body(&mut put)?;
    let written = put.written();
    Put::new(out, HEADER_LEN)?.value::<I32>(i32::try_from(written).unwrap_or(i32::MAX))?;
    Ok(written)
}
