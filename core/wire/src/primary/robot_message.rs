//! Robot messages, type 20 (`core/docs/protocol/ur-client-interfaces.md 4.1–4.4`): the controller's messages about
//! events. They are sent on 30001; 30002 has only the version message and one undocumented kind.
//!
//! Several kinds changed their form between releases. If the release that made the change is not known, the part that
//! is common to all is decoded and the rest is raw.

mod message_payloads;
mod visit;

pub use message_payloads::{
    ErrorCode, ErrorDetail, Popup, PopupRequest, RequestPopup, RequestValue, SafetyDetail, SafetyModeMessage,
    ThreadLabel, ThreadLabels, Titled, Version,
};

use self::message_payloads::rest;
use super::{ROBOT_MESSAGE, Text, emit_message};
use crate::fields::{FieldVisitor, Value};
use crate::robot::{MessageSource, SoftwareVersion};
use crate::{Put, Take, WireError};
use zerocopy::big_endian::{I32, U64};

/// A robot message. The common header is decoded at once, the payload on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotMessage<'a> {
    /// The time of the message on the controller's clock, since the controller was started. The unit is unconfirmed:
    /// as in the robot mode data, ms on CB2 and µs after. All bits are ones in messages sent right after connecting.
    pub timestamp: u64,
    /// The part of the controller that sent the message, see [`MessageSource`].
    pub source: i8,
    /// The kind of robot message, as a number.
    pub robot_message_type: u8,
    bytes: Take<'a>,
}

/// The form of robot messages whose fields differ between software releases of the controller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The form of a robot message in software 1.x.
    Cb2,
    /// The form of a robot message in software 3.0 to 3.2.
    Cb3,
    /// The form of a robot message in software 3.14, 5.0 and later; it is documented from 5.9 on.
    Later,
    /// A form of a robot message that is not known: that of software 3.3 to 3.13, or of unknown software.
    Unclear,
}

impl Form {
    fn of(software: Option<SoftwareVersion>) -> Self {
        match software {
            Some(v) if v.major < 3 => Self::Cb2,
            Some(v) if v.at_least(3, 14) => Self::Later,
            Some(v) if !v.at_least(3, 3) => Self::Cb3,
            _ => Self::Unclear,
        }
    }
}

/// `true` if all known kinds of robot message are decoded, and not only versions and errors (feature `messages`).
const MESSAGES: bool = cfg!(feature = "messages");

/// The payload of a robot message, which reports one event on the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RobotMessagePayload<'a> {
    /// A message of kind 0: a text, as a program sends by `textmsg`.
    Text(Text<'a>),
    /// A message of kind 1: the running program passed a label.
    ProgramLabel {
        /// The number of the label that the program passed.
        id: i32,
        /// The text of the label that the program passed.
        text: Text<'a>,
    },
    /// A message of kind 2: a pop-up on the pendant.
    Popup(Popup<'a>),
    /// A message of kind 3: the software version; the first message of a connection.
    Version(Version<'a>),
    /// A message of kind 5: a change of the safety mode.
    SafetyMode(SafetyModeMessage<'a>),
    /// A message of kind 6: an error or another report, shown to people as `C<code>A<argument>`.
    ErrorCode(ErrorCode<'a>),
    /// A message of kind 7: a titled event, among them the start and end of programs.
    Key(Titled<'a>),
    /// A message of kind 8: a variable of the program, software 1.x only.
    Variable(Titled<'a>),
    /// A message of kind 9: a program's request for a value from a person.
    RequestValue(RequestValue<'a>),
    /// A message of kind 10: a failure of a program.
    RuntimeException {
        /// The line and column of the failure in the program, both from 1; `None` if the form has none.
        position: Option<(i32, i32)>,
        /// The description of the program's failure.
        text: Text<'a>,
    },
    /// A message of kind 12: undocumented; sent after the version message.
    Undocumented {
        /// The first number of the undocumented message; its meaning is unknown.
        first: i32,
        /// The second number of the undocumented message; its meaning is unknown.
        second: i32,
        /// The third number of the undocumented message; its meaning is unknown.
        third: u8,
    },
    /// A message of kind 14: the program labels that each thread passed.
    ProgramLabelThreads(ThreadLabels<'a>),
    /// A message of any other kind, or of a form that cannot be decoded without the software version.
    Raw {
        /// The kind of robot message, as a number.
        robot_message_type: u8,
        /// The undecoded payload of the robot message.
        bytes: Text<'a>,
    },
}

impl<'a> RobotMessage<'a> {
    /// Reads the common header from the body of a robot message, which starts behind the type byte.
    pub(super) fn parse(mut body: Take<'a>) -> Result<Self, WireError> {
        Ok(Self {
            timestamp: body.value::<U64>()?,
            source: body.value::<i8>()?,
            robot_message_type: body.value::<u8>()?,
            bytes: body,
        })
    }

    /// Returns the part of the controller that sent the message, by name.
    #[must_use]
    #[inline(never)]
    pub fn named_source(&self) -> MessageSource {
        MessageSource::from_raw(self.source)
    }

    /// Returns the bytes of the robot message's payload.
    #[must_use]
    pub fn payload_bytes(&self) -> &'a [u8] {
        self.bytes.rest()
    }

    /// Decodes the payload in the form that `software` sends. If `software` is `None`, kinds of message whose form
    /// changed between releases are decoded as far as all forms agree. Without the feature `messages`, kinds other than
    /// 3 (version) and 6 (error) remain raw.
    ///
    /// # Errors
    /// `Truncated` if the payload ends before its fields do; `BadLength` if a length in it is negative.
    pub fn payload(&self, software: Option<SoftwareVersion>) -> Result<RobotMessagePayload<'a>, WireError> {
        use RobotMessagePayload as P;
        let form = Form::of(software);
        let mut bytes = self.bytes;
        Ok(match self.robot_message_type {
            other if !(MESSAGES || matches!(other, 3 | 6)) => P::Raw { robot_message_type: other, bytes: rest(&bytes) },
            0 => P::Text(rest(&bytes)),
            1 => P::ProgramLabel { id: bytes.value::<I32>()?, text: rest(&bytes) },
            2 if software.is_some() => P::Popup(Popup::parse(bytes, form)?),
            3 => P::Version(Version::parse(bytes)?),
            5 => P::SafetyMode(SafetyModeMessage::parse(bytes, form)?),
            6 => P::ErrorCode(ErrorCode::parse(bytes, form)?),
            7 => P::Key(Titled::parse(bytes)?),
            8 => P::Variable(Titled::parse(bytes)?),
            9 if software.is_some() => P::RequestValue(RequestValue::parse(bytes, form)?),
            10 => runtime_exception(bytes, form)?,
            12 => P::Undocumented {
                first: bytes.value::<I32>()?,
                second: bytes.value::<I32>()?,
                third: bytes.value::<u8>()?,
            },
            14 => P::ProgramLabelThreads(ThreadLabels(bytes)),
            robot_message_type => P::Raw { robot_message_type, bytes: rest(&bytes) },
        })
    }

    /// Writes a robot message and returns its length \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the message; `BadLength` if a title, or the name of the
    /// software, has more than 255 bytes.
    pub fn emit(
        timestamp: u64,
        source: MessageSource,
        payload: &RobotMessagePayload<'_>,
        out: &mut [u8],
    ) -> Result<usize, WireError> {
        emit_message(ROBOT_MESSAGE, out, |put| {
            put.value::<U64>(timestamp)?;
            put.value::<i8>(source.raw())?;
            put.value::<u8>(payload.robot_message_type())?;
            payload.emit(put)
        })
    }

    pub(super) fn visit(
        &self,
        software: Option<SoftwareVersion>,
        visitor: &mut dyn FieldVisitor,
    ) -> Result<(), WireError> {
        visitor.field("timestamp", Value::Unsigned(self.timestamp));
        visitor.field("source", Value::Signed(self.source.into()));
        visitor.field("robot_message_type", Value::Unsigned(self.robot_message_type.into()));
        self.payload(software)?.visit(visitor)
    }
}

/// Reads a runtime exception, the message about a program's failure. If the software does not determine the form, the
/// first byte does: no program has 2²⁴ lines and no text starts with NUL.
fn runtime_exception(mut bytes: Take<'_>, form: Form) -> Result<RobotMessagePayload<'_>, WireError> {
    let numbered = match form {
        Form::Cb2 | Form::Cb3 => false,
        Form::Later => true,
        Form::Unclear => bytes.rest().first() == Some(&0) && bytes.rest().len() >= 8,
    };
    let position = if numbered { Some((bytes.value::<I32>()?, bytes.value::<I32>()?)) } else { None };
    Ok(RobotMessagePayload::RuntimeException { position, text: rest(&bytes) })
}

impl RobotMessagePayload<'_> {
    /// Returns the number of the robot message's kind on the wire.
    #[must_use]
    pub const fn robot_message_type(&self) -> u8 {
        match self {
            Self::Text(_) => 0,
            Self::ProgramLabel { .. } => 1,
            Self::Popup(_) => 2,
            Self::Version(_) => 3,
            Self::SafetyMode(_) => 5,
            Self::ErrorCode(_) => 6,
            Self::Key(_) => 7,
            Self::Variable(_) => 8,
            Self::RequestValue(_) => 9,
            Self::RuntimeException { .. } => 10,
            Self::Undocumented { .. } => 12,
            Self::ProgramLabelThreads(_) => 14,
            Self::Raw { robot_message_type, .. } => *robot_message_type,
        }
    }

    /// Returns the name of the robot message's kind in the specification, in snake_case.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::ProgramLabel { .. } => "program_label",
            Self::Popup(_) => "popup",
            Self::Version(_) => "version",
            Self::SafetyMode(_) => "safety_mode",
            Self::ErrorCode(_) => "error_code",
            Self::Key(_) => "key",
            Self::Variable(_) => "variable",
            Self::RequestValue(_) => "request_value",
            Self::RuntimeException { .. } => "runtime_exception",
            Self::Undocumented { .. } => "undocumented",
            Self::ProgramLabelThreads(_) => "program_label_threads",
            Self::Raw { .. } => "raw",
        }
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        match self {
            Self::Text(text) => put.bytes(text.0),
            Self::ProgramLabel { id, text } => {
                put.value::<I32>(*id)?;
                put.bytes(text.0)
            }
            Self::Popup(popup) => popup.emit(put),
            Self::Version(version) => version.emit(put),
            Self::SafetyMode(message) => message.emit(put),
            Self::ErrorCode(error) => error.emit(put),
            Self::Key(titled) | Self::Variable(titled) => titled.emit(put),
            Self::RequestValue(request) => request.emit(put),
            Self::RuntimeException { position, text } => {
                if let Some((line, column)) = position {
                    put.value::<I32>(*line)?;
                    put.value::<I32>(*column)?;
                }
                put.bytes(text.0)
            }
            Self::Undocumented { first, second, third } => {
                put.value::<I32>(*first)?;
                put.value::<I32>(*second)?;
                put.value::<u8>(*third)
            }
            Self::ProgramLabelThreads(labels) => put.bytes(labels.0.rest()),
            Self::Raw { bytes, .. } => put.bytes(bytes.0),
        }
    }
}
