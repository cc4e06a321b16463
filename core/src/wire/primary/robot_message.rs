//! Robot messages, type 20 (`ur-client-interfaces` 4.1 to 4.4): what the controller has to say, on 30001; on 30002
//! only the version message and one undocumented kind.
//!
//! Several kinds changed their form between releases. Where the release that made the change is not known, the
//! part that is common to all is decoded and the rest is given raw.

use super::{ROBOT_MESSAGE, Text, emit_message};
use crate::robot::{MessageSource, SafetyMode, SoftwareVersion};
use crate::wire::fields::{FieldVisitor, Group, Value};
use crate::wire::layout::Flag;
use crate::wire::{Put, Take, WireError, WireErrorKind};
use zerocopy::big_endian::{I32, U32, U64};

/// A robot message: the common header is decoded, the payload on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotMessage<'a> {
    /// All ones in the messages sent right after connecting, else the controller's clock (unit as in the robot mode
    /// data, unconfirmed).
    pub timestamp: u64,
    /// Who speaks, see [`MessageSource`].
    pub source: i8,
    /// The kind of message.
    pub robot_message_type: u8,
    bytes: Take<'a>,
}

/// Which form of a message that changed between releases is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Software 1.x.
    Cb2,
    /// 3.0 to 3.2.
    Cb3,
    /// As documented from 5.9 on; the change came before 5.0.
    Later,
    /// 3.3 to 3.15, or software unknown.
    Unclear,
}

impl Form {
    fn of(software: Option<SoftwareVersion>) -> Self {
        match software {
            Some(v) if v.major < 3 => Self::Cb2,
            Some(v) if v.at_least(5, 0) => Self::Later,
            Some(v) if !v.at_least(3, 3) => Self::Cb3,
            _ => Self::Unclear,
        }
    }
}

/// The payload of a robot message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RobotMessagePayload<'a> {
    /// 0: a text.
    Text(Text<'a>),
    /// 1: a label of the running program was passed.
    ProgramLabel {
        /// Number of the label.
        id: i32,
        /// Its text.
        text: Text<'a>,
    },
    /// 2: a pop-up on the pendant.
    Popup(Popup<'a>),
    /// 3: the software, the first message of a connection.
    Version(Version<'a>),
    /// 5: the safety mode changed.
    SafetyMode(SafetyModeMessage<'a>),
    /// 6: an error or another report, `C<code>A<argument>` to people.
    ErrorCode(ErrorCode<'a>),
    /// 7: a titled event, among them the start and end of programs.
    Key(Titled<'a>),
    /// 8: a variable, software 1.x only.
    Variable(Titled<'a>),
    /// 9: the program asks a person for a value.
    RequestValue(RequestValue<'a>),
    /// 10: a program failed.
    RuntimeException {
        /// Line and column in the program, both from 1, where the form has them.
        position: Option<(i32, i32)>,
        /// What went wrong.
        text: Text<'a>,
    },
    /// 12: undocumented; sent after the version message.
    Undocumented {
        /// First number.
        first: i32,
        /// Second number.
        second: i32,
        /// Third number.
        third: u8,
    },
    /// 14: labels passed by each thread.
    ProgramLabelThreads(ThreadLabels<'a>),
    /// Any other kind, or a form that needs to know the software.
    Raw {
        /// The kind of message.
        robot_message_type: u8,
        /// The payload.
        bytes: Text<'a>,
    },
}

/// A pop-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Popup<'a> {
    /// What is asked; absent on 1.x.
    pub request: Option<PopupRequest>,
    /// Whether it is a warning.
    pub warning: bool,
    /// Whether it is an error.
    pub error: bool,
    /// Title, at most 255 bytes.
    pub title: Text<'a>,
    /// Text.
    pub text: Text<'a>,
}

/// The part of a pop-up that came with 3.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopupRequest {
    /// Number of the request.
    pub request_id: u32,
    /// Type of the value asked for, 8 for none.
    pub requested_type: u32,
    /// Whether the program waits.
    pub blocking: bool,
}

/// The version message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version<'a> {
    /// `URControl`; at most 255 bytes.
    pub project_name: Text<'a>,
    /// Major version.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
    /// Bug-fix version; up to 3.2 a revision of the source.
    pub bugfix: i32,
    /// Build number; absent up to 3.2.
    pub build_number: Option<i32>,
    /// `DD-MM-YYYY, hh:mm:ss`.
    pub build_date: Text<'a>,
}

impl Version<'_> {
    /// The software. What stands in the place of the bug-fix version up to 3.2 is no part of it.
    #[must_use]
    pub fn software(&self) -> SoftwareVersion {
        let bugfix = if self.build_number.is_some() { u32::try_from(self.bugfix).unwrap_or(0) } else { 0 };
        SoftwareVersion { major: self.major, minor: self.minor, bugfix }
    }
}

/// A change of the safety mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafetyModeMessage<'a> {
    /// Code of the report.
    pub code: i32,
    /// Argument of the code.
    pub argument: i32,
    /// The part whose form depends on the software.
    pub detail: SafetyDetail<'a>,
}

/// The part of a [`SafetyModeMessage`] that depends on the software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SafetyDetail<'a> {
    /// 1.x.
    Security(Text<'a>),
    /// 3.0 to 3.2.
    Mode {
        /// The safety mode.
        safety_mode_type: u8,
        /// A text.
        text: Text<'a>,
    },
    /// 5.0 and later.
    Report {
        /// The safety mode.
        safety_mode_type: u8,
        /// 2 a signed number, 3 a single-precision number, 4 hexadecimal, others unsigned.
        report_data_type: u32,
        /// The data.
        report_data: u32,
    },
    /// The software is unknown or of unclear form.
    Raw(Text<'a>),
}

impl SafetyDetail<'_> {
    /// The safety mode, where the form is known to have one.
    #[must_use]
    pub fn safety_mode(&self) -> Option<SafetyMode> {
        match *self {
            Self::Mode { safety_mode_type, .. } | Self::Report { safety_mode_type, .. } => {
                Some(SafetyMode::from_raw(safety_mode_type.into()))
            }
            Self::Security(_) | Self::Raw(_) => None,
        }
    }
}

/// An error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode<'a> {
    /// Code; 210 answers a program sent in local mode.
    pub code: i32,
    /// Argument of the code.
    pub argument: i32,
    /// The part whose form depends on the software.
    pub detail: ErrorDetail<'a>,
}

/// The part of an [`ErrorCode`] that depends on the software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorDetail<'a> {
    /// 1.x.
    Text(Text<'a>),
    /// 3.0 to 3.2.
    Warning {
        /// 1 info, 2 warning, 3 violation, 4 fault.
        warning_level: i32,
        /// A text.
        text: Text<'a>,
    },
    /// 5.0 and later.
    Report {
        /// 0 debug, 1 info, 2 warning, 3 violation, 4 fault, 5 critical fault; 128 more for developers.
        report_level: i32,
        /// 2 a signed number, 3 a single-precision number, 4 hexadecimal, others unsigned.
        data_type: u32,
        /// The data.
        data: u32,
        /// A text.
        text: Text<'a>,
    },
    /// The software is unknown or of unclear form.
    Raw(Text<'a>),
}

/// A message with code, title and text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Titled<'a> {
    /// Code.
    pub code: i32,
    /// Argument of the code.
    pub argument: i32,
    /// Title, at most 255 bytes.
    pub title: Text<'a>,
    /// Text; the program's name where a program starts or ends.
    pub text: Text<'a>,
}

/// A request for a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestValue<'a> {
    /// Number of the request.
    pub request_id: u32,
    /// 0 boolean, 1 integer, 2 float, 3 string, 4 pose, 5 joint vector, 6 waypoint, 7 expression, 8 none; absent on
    /// 1.x.
    pub requested_type: Option<u32>,
    /// Present exactly where the requested type is 8.
    pub popup: Option<RequestPopup<'a>>,
    /// Text.
    pub text: Text<'a>,
}

/// What a request for nothing shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestPopup<'a> {
    /// Whether it is a warning.
    pub warning: bool,
    /// Whether it is an error.
    pub error: bool,
    /// Whether the program waits.
    pub blocking: bool,
    /// Title, at most 255 bytes.
    pub title: Text<'a>,
}

/// A label passed by one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadLabel<'a> {
    /// Number of the label.
    pub label_id: i32,
    /// Name of the label.
    pub label_name: Text<'a>,
    /// Name of the thread.
    pub thread_name: Text<'a>,
}

/// Iterates the labels of a message of kind 14. An error is the last item.
#[derive(Clone, Copy, Debug)]
pub struct ThreadLabels<'a>(Take<'a>);

/// By their bytes, wherever those lie.
impl PartialEq for ThreadLabels<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.rest() == other.0.rest()
    }
}

impl<'a> ThreadLabels<'a> {
    /// `labels` as the payload of a message, written to `memory`.
    ///
    /// # Errors
    /// `BufferTooSmall` where `memory` does not hold them.
    pub fn write(labels: &[ThreadLabel<'_>], memory: &'a mut [u8]) -> Result<Self, WireError> {
        let size = memory.len();
        let mut put = Put::new(memory, size)?;
        for label in labels {
            put.value::<I32>(label.label_id)?;
            for name in [label.label_name, label.thread_name] {
                put.value::<I32>(i32::try_from(name.0.len()).unwrap_or(i32::MAX))?;
                put.bytes(name.0)?;
            }
        }
        let written = put.written();
        Ok(Self(Take::new(memory.get(..written).unwrap_or_default())))
    }
}

impl<'a> Iterator for ThreadLabels<'a> {
    type Item = Result<ThreadLabel<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.rest().is_empty() {
            return None;
        }
        let label = ThreadLabel::parse(&mut self.0);
        if label.is_err() {
            self.0 = Take::new(&[]);
        }
        Some(label)
    }
}

impl<'a> ThreadLabel<'a> {
    fn parse(bytes: &mut Take<'a>) -> Result<Self, WireError> {
        let name = |bytes: &mut Take<'a>| {
            let length = bytes.value::<I32>()?;
            let negative = bytes.error(WireErrorKind::BadLength, 0, 0);
            bytes.bytes(usize::try_from(length).map_err(|_| negative)?).map(Text)
        };
        Ok(Self { label_id: bytes.value::<I32>()?, label_name: name(bytes)?, thread_name: name(bytes)? })
    }
}

/// What is left, as text.
fn rest<'a>(bytes: &Take<'a>) -> Text<'a> {
    Text(bytes.rest())
}

/// A text with its length in one byte before it.
fn short_text<'a>(bytes: &mut Take<'a>) -> Result<Text<'a>, WireError> {
    let length = bytes.value::<u8>()?;
    bytes.bytes(length.into()).map(Text)
}

fn put_short_text(put: &mut Put<'_>, text: Text<'_>) -> Result<(), WireError> {
    let too_long = WireError::new(WireErrorKind::BadLength, put.written(), u8::MAX.into(), text.0.len());
    put.value::<u8>(u8::try_from(text.0.len()).map_err(|_| too_long)?)?;
    put.bytes(text.0)
}

impl<'a> RobotMessage<'a> {
    /// From the body of a message, which starts behind the type byte.
    pub(super) fn parse(mut body: Take<'a>) -> Result<Self, WireError> {
        Ok(Self {
            timestamp: body.value::<U64>()?,
            source: body.value::<i8>()?,
            robot_message_type: body.value::<u8>()?,
            bytes: body,
        })
    }

    /// Who speaks, by name.
    #[must_use]
    pub fn named_source(&self) -> MessageSource {
        MessageSource::from_raw(self.source.into())
    }

    /// The bytes of the payload.
    #[must_use]
    pub fn payload_bytes(&self) -> &'a [u8] {
        self.bytes.rest()
    }

    /// Decodes the payload in the form that `software` sends. Where it is `None`, kinds whose form changed between
    /// releases are decoded as far as all forms agree.
    ///
    /// # Errors
    /// `Truncated` where the payload ends before its fields do, `BadLength` where a length in it is negative.
    pub fn payload(&self, software: Option<SoftwareVersion>) -> Result<RobotMessagePayload<'a>, WireError> {
        use RobotMessagePayload as P;
        let form = Form::of(software);
        let mut bytes = self.bytes;
        Ok(match self.robot_message_type {
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

    /// Writes a robot message and returns its length.
    ///
    /// # Errors
    /// `BufferTooSmall` where `out` is shorter than the message, `BadLength` where a title has more than 255 bytes.
    pub fn emit(
        timestamp: u64,
        source: MessageSource,
        payload: &RobotMessagePayload<'_>,
        out: &mut [u8],
    ) -> Result<usize, WireError> {
        emit_message(ROBOT_MESSAGE, out, |put| {
            put.value::<U64>(timestamp)?;
            put.value::<i8>(i8::try_from(source.raw()).unwrap_or(i8::MAX))?;
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

/// A runtime exception. Where the software does not tell the form, the first byte does: no program has 2²⁴ lines and
/// no text starts with NUL.
fn runtime_exception(mut bytes: Take<'_>, form: Form) -> Result<RobotMessagePayload<'_>, WireError> {
    let numbered = match form {
        Form::Cb2 | Form::Cb3 => false,
        Form::Later => true,
        Form::Unclear => bytes.rest().first() == Some(&0) && bytes.rest().len() >= 8,
    };
    let position = if numbered { Some((bytes.value::<I32>()?, bytes.value::<I32>()?)) } else { None };
    Ok(RobotMessagePayload::RuntimeException { position, text: rest(&bytes) })
}

impl<'a> Popup<'a> {
    fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
        if form == Form::Cb2 {
            let (warning, error) = (bytes.value::<Flag>()?, bytes.value::<Flag>()?);
            let title = short_text(&mut bytes)?;
            return Ok(Self { request: None, warning, error, title, text: rest(&bytes) });
        }
        let (request_id, requested_type) = (bytes.value::<U32>()?, bytes.value::<U32>()?);
        let (warning, error, blocking) = (bytes.value::<Flag>()?, bytes.value::<Flag>()?, bytes.value::<Flag>()?);
        let title = short_text(&mut bytes)?;
        let request = Some(PopupRequest { request_id, requested_type, blocking });
        Ok(Self { request, warning, error, title, text: rest(&bytes) })
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        if let Some(request) = self.request {
            put.value::<U32>(request.request_id)?;
            put.value::<U32>(request.requested_type)?;
        }
        put.value::<Flag>(self.warning)?;
        put.value::<Flag>(self.error)?;
        if let Some(request) = self.request {
            put.value::<Flag>(request.blocking)?;
        }
        put_short_text(put, self.title)?;
        put.bytes(self.text.0)
    }
}

impl<'a> Version<'a> {
    fn parse(mut bytes: Take<'a>) -> Result<Self, WireError> {
        let project_name = short_text(&mut bytes)?;
        let (major, minor) = (bytes.value::<u8>()?, bytes.value::<u8>()?);
        let bugfix = bytes.value::<I32>()?;
        // A build number is below 2²⁴ and so starts with NUL; a date starts with a digit or letter.
        let dated = bytes.rest().first().is_none_or(u8::is_ascii_alphanumeric);
        let build_number = if dated { None } else { Some(bytes.value::<I32>()?) };
        Ok(Self { project_name, major, minor, bugfix, build_number, build_date: rest(&bytes) })
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        put_short_text(put, self.project_name)?;
        put.value::<u8>(self.major)?;
        put.value::<u8>(self.minor)?;
        put.value::<I32>(self.bugfix)?;
        if let Some(build_number) = self.build_number {
            put.value::<I32>(build_number)?;
        }
        put.bytes(self.build_date.0)
    }
}

impl<'a> SafetyModeMessage<'a> {
    fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
        let (code, argument) = (bytes.value::<I32>()?, bytes.value::<I32>()?);
        let detail = match form {
            Form::Cb2 => SafetyDetail::Security(rest(&bytes)),
            Form::Cb3 => SafetyDetail::Mode { safety_mode_type: bytes.value::<u8>()?, text: rest(&bytes) },
            Form::Later => SafetyDetail::Report {
                safety_mode_type: bytes.value::<u8>()?,
                report_data_type: bytes.value::<U32>()?,
                report_data: bytes.value::<U32>()?,
            },
            Form::Unclear => SafetyDetail::Raw(rest(&bytes)),
        };
        Ok(Self { code, argument, detail })
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        put.value::<I32>(self.code)?;
        put.value::<I32>(self.argument)?;
        match self.detail {
            SafetyDetail::Security(text) | SafetyDetail::Raw(text) => put.bytes(text.0),
            SafetyDetail::Mode { safety_mode_type, text } => {
                put.value::<u8>(safety_mode_type)?;
                put.bytes(text.0)
            }
            SafetyDetail::Report { safety_mode_type, report_data_type, report_data } => {
                put.value::<u8>(safety_mode_type)?;
                put.value::<U32>(report_data_type)?;
                put.value::<U32>(report_data)
            }
        }
    }
}

impl<'a> ErrorCode<'a> {
    fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
        let (code, argument) = (bytes.value::<I32>()?, bytes.value::<I32>()?);
        let detail = match form {
            Form::Cb2 => ErrorDetail::Text(rest(&bytes)),
            Form::Cb3 => ErrorDetail::Warning { warning_level: bytes.value::<I32>()?, text: rest(&bytes) },
            Form::Later => ErrorDetail::Report {
                report_level: bytes.value::<I32>()?,
                data_type: bytes.value::<U32>()?,
                data: bytes.value::<U32>()?,
                text: rest(&bytes),
            },
            Form::Unclear => ErrorDetail::Raw(rest(&bytes)),
        };
        Ok(Self { code, argument, detail })
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        put.value::<I32>(self.code)?;
        put.value::<I32>(self.argument)?;
        match self.detail {
            ErrorDetail::Text(text) | ErrorDetail::Raw(text) => put.bytes(text.0),
            ErrorDetail::Warning { warning_level, text } => {
                put.value::<I32>(warning_level)?;
                put.bytes(text.0)
            }
            ErrorDetail::Report { report_level, data_type, data, text } => {
                put.value::<I32>(report_level)?;
                put.value::<U32>(data_type)?;
                put.value::<U32>(data)?;
                put.bytes(text.0)
            }
        }
    }
}

impl<'a> Titled<'a> {
    fn parse(mut bytes: Take<'a>) -> Result<Self, WireError> {
        let (code, argument) = (bytes.value::<I32>()?, bytes.value::<I32>()?);
        let title = short_text(&mut bytes)?;
        Ok(Self { code, argument, title, text: rest(&bytes) })
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        put.value::<I32>(self.code)?;
        put.value::<I32>(self.argument)?;
        put_short_text(put, self.title)?;
        put.bytes(self.text.0)
    }
}

/// The requested type that asks for nothing and shows a pop-up.
const REQUEST_NONE: u32 = 8;

impl<'a> RequestValue<'a> {
    fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
        let request_id = bytes.value::<U32>()?;
        let requested_type = if form == Form::Cb2 { None } else { Some(bytes.value::<U32>()?) };
        let popup = if requested_type == Some(REQUEST_NONE) {
            Some(RequestPopup {
                warning: bytes.value::<Flag>()?,
                error: bytes.value::<Flag>()?,
                blocking: bytes.value::<Flag>()?,
                title: short_text(&mut bytes)?,
            })
        } else {
            None
        };
        Ok(Self { request_id, requested_type, popup, text: rest(&bytes) })
    }

    fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        put.value::<U32>(self.request_id)?;
        if let Some(requested_type) = self.requested_type {
            put.value::<U32>(requested_type)?;
        }
        if let Some(popup) = self.popup.filter(|_| self.requested_type == Some(REQUEST_NONE)) {
            put.value::<Flag>(popup.warning)?;
            put.value::<Flag>(popup.error)?;
            put.value::<Flag>(popup.blocking)?;
            put_short_text(put, popup.title)?;
        }
        put.bytes(self.text.0)
    }
}

impl RobotMessagePayload<'_> {
    /// The kind of message on the wire.
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

    fn visit(&self, visitor: &mut dyn FieldVisitor) -> Result<(), WireError> {
        let mut show = Show(visitor);
        match *self {
            Self::Text(text) => show.text("text", text),
            Self::ProgramLabel { id, text } => {
                show.signed("id", id);
                show.text("text", text);
            }
            Self::Popup(popup) => {
                if let Some(request) = popup.request {
                    show.unsigned("request_id", request.request_id);
                    show.unsigned("requested_type", request.requested_type);
                }
                show.flag("warning", popup.warning);
                show.flag("error", popup.error);
                if let Some(request) = popup.request {
                    show.flag("blocking", request.blocking);
                }
                show.text("title", popup.title);
                show.text("text", popup.text);
            }
            Self::Version(version) => {
                show.text("project_name", version.project_name);
                show.unsigned("major_version", version.major);
                show.unsigned("minor_version", version.minor);
                match version.build_number {
                    None => show.signed("svn_revision", version.bugfix),
                    Some(build_number) => {
                        show.signed("bugfix_version", version.bugfix);
                        show.signed("build_number", build_number);
                    }
                }
                show.text("build_date", version.build_date);
            }
            Self::SafetyMode(SafetyModeMessage { code, argument, detail }) => {
                show.signed("code", code);
                show.signed("argument", argument);
                match detail {
                    SafetyDetail::Security(text) => show.text("text", text),
                    SafetyDetail::Mode { safety_mode_type, text } => {
                        show.unsigned("safety_mode_type", safety_mode_type);
                        show.text("text", text);
                    }
                    SafetyDetail::Report { safety_mode_type, report_data_type, report_data } => {
                        show.unsigned("safety_mode_type", safety_mode_type);
                        show.unsigned("report_data_type", report_data_type);
                        show.unsigned("report_data", report_data);
                    }
                    SafetyDetail::Raw(bytes) => show.raw(bytes),
                }
            }
            Self::ErrorCode(ErrorCode { code, argument, detail }) => {
                show.signed("code", code);
                show.signed("argument", argument);
                match detail {
                    ErrorDetail::Text(text) => show.text("text", text),
                    ErrorDetail::Warning { warning_level, text } => {
                        show.signed("warning_level", warning_level);
                        show.text("text", text);
                    }
                    ErrorDetail::Report { report_level, data_type, data, text } => {
                        show.signed("report_level", report_level);
                        show.unsigned("data_type", data_type);
                        show.unsigned("data", data);
                        show.text("text", text);
                    }
                    ErrorDetail::Raw(bytes) => show.raw(bytes),
                }
            }
            Self::Key(Titled { code, argument, title, text })
            | Self::Variable(Titled { code, argument, title, text }) => {
                show.signed("code", code);
                show.signed("argument", argument);
                show.text("title", title);
                show.text("text", text);
            }
            Self::RequestValue(request) => {
                show.unsigned("request_id", request.request_id);
                if let Some(requested_type) = request.requested_type {
                    show.unsigned("requested_type", requested_type);
                }
                if let Some(popup) = request.popup {
                    show.flag("warning", popup.warning);
                    show.flag("error", popup.error);
                    show.flag("blocking", popup.blocking);
                    show.text("title", popup.title);
                }
                show.text("text", request.text);
            }
            Self::RuntimeException { position, text } => {
                if let Some((line, column)) = position {
                    show.signed("script_line_number", line);
                    show.signed("script_column_number", column);
                }
                show.text("text", text);
            }
            Self::Undocumented { first, second, third } => {
                show.signed("first", first);
                show.signed("second", second);
                show.unsigned("third", third);
            }
            Self::ProgramLabelThreads(labels) => return visit_labels(labels, visitor),
            Self::Raw { bytes, .. } => show.raw(bytes),
        }
        Ok(())
    }
}

fn visit_labels(labels: ThreadLabels<'_>, visitor: &mut dyn FieldVisitor) -> Result<(), WireError> {
    visitor.begin("labels", Group::List);
    for label in labels {
        let label = label?;
        visitor.begin("", Group::Record);
        visitor.field("label_id", Value::Signed(label.label_id.into()));
        visitor.field("label_name", Value::Text(label.label_name.0));
        visitor.field("thread_name", Value::Text(label.thread_name.0));
        visitor.end();
    }
    visitor.end();
    Ok(())
}

/// Short calls for the long list above.
struct Show<'v>(&'v mut dyn FieldVisitor);

impl Show<'_> {
    fn text(&mut self, name: &str, text: Text<'_>) {
        self.0.field(name, Value::Text(text.0));
    }
    fn raw(&mut self, bytes: Text<'_>) {
        self.0.field("raw", Value::Bytes(bytes.0));
    }
    fn signed(&mut self, name: &str, value: i32) {
        self.0.field(name, Value::Signed(value.into()));
    }
    fn unsigned(&mut self, name: &str, value: impl Into<u64>) {
        self.0.field(name, Value::Unsigned(value.into()));
    }
    fn flag(&mut self, name: &str, value: bool) {
        self.0.field(name, Value::Bool(value));
    }
}
