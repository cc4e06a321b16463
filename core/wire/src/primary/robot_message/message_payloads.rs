//! The robot-message payloads that have several fields, with reading and writing of each.

use super::{Form, Text};
use crate::layout::Flag;
use crate::robot::{SafetyMode, SoftwareVersion};
use crate::{Put, Take, WireError, WireErrorKind};
use zerocopy::big_endian::{I32, U32};

/// A pop-up that the controller shows on the pendant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Popup<'a> {
    /// The program's request that belongs to the pop-up; `None` on software 1.x.
    pub request: Option<PopupRequest>,
    /// `true` if the pop-up is a warning.
    pub warning: bool,
    /// `true` if the pop-up is an error.
    pub error: bool,
    /// The title of the pop-up, at most 255 bytes.
    pub title: Text<'a>,
    /// The text that the pop-up shows.
    pub text: Text<'a>,
}

/// The request of a pop-up to a person, which the message contains since 3.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopupRequest {
    /// The number by which the program's request to the person is identified.
    pub request_id: u32,
    /// The number of the type of the value that the pop-up requests, as in [`RequestValue::requested_type`]; 8 for none.
    pub requested_type: u32,
    /// `true` if the program waits for the person's answer to the pop-up.
    pub blocking: bool,
}

/// The version message, which contains the controller's software version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version<'a> {
    /// The name of the software, `URControl`; at most 255 bytes.
    pub project_name: Text<'a>,
    /// The major version of the controller's software.
    pub major: u8,
    /// The minor version of the controller's software.
    pub minor: u8,
    /// The bug-fix version of the controller's software; up to 3.2 a revision number of the source.
    pub bugfix: i32,
    /// The build number of the controller's software; absent up to 3.2.
    pub build_number: Option<i32>,
    /// The build date of the controller's software, `DD-MM-YYYY, hh:mm:ss`.
    pub build_date: Text<'a>,
}

impl Version<'_> {
    /// Returns the software version. Up to 3.2 its bug-fix version is 0, because the field has another meaning there.
    #[must_use]
    pub fn software(&self) -> SoftwareVersion {
        let bugfix = if self.build_number.is_some() { u32::try_from(self.bugfix).unwrap_or(0) } else { 0 };
        SoftwareVersion { major: self.major, minor: self.minor, bugfix }
    }
}

/// A message about a change of the safety mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafetyModeMessage<'a> {
    /// The code of the message about a change of the safety mode.
    pub code: i32,
    /// The argument of the code in the message about a change of the safety mode.
    pub argument: i32,
    /// The further content of the message: the new safety mode, text and value, as far as the form of the software has them.
    pub detail: SafetyDetail<'a>,
}

/// The detail of a [`SafetyModeMessage`], whose form depends on the software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SafetyDetail<'a> {
    /// The detail of a safety report as software 1.x sends it: a text.
    Security(Text<'a>),
    /// The detail of a safety report as software 3.0 to 3.2 sends it: the safety mode and a text.
    Mode {
        /// The number of the new safety mode.
        safety_mode_type: u8,
        /// The text of the safety report.
        text: Text<'a>,
    },
    /// The detail of a safety report as software 3.14, 5.0 and later send it: the safety mode and a value.
    Report {
        /// The number of the new safety mode.
        safety_mode_type: u8,
        /// The type of `report_data`: 2 a signed number, 3 a single-precision number, 4 hexadecimal, others
        /// unsigned.
        report_data_type: u32,
        /// The value of the safety report, whose type is given by `report_data_type`.
        report_data: u32,
    },
    /// The undecoded detail of a safety report, if the software is unknown or if the form that it sends is unknown.
    Raw(Text<'a>),
}

impl SafetyDetail<'_> {
    /// Returns the new safety mode in the safety report; `None` if the report's form is not known to have one.
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

/// A message about an error or another report with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode<'a> {
    /// The code of the error report; 210 is the reply to a program sent in local control.
    pub code: i32,
    /// The argument of the error code: the second number of `C<code>A<argument>`.
    pub argument: i32,
    /// The further content of the message: severity, text and value, as far as the form of the software has them.
    pub detail: ErrorDetail<'a>,
}

/// The detail of an [`ErrorCode`], whose form depends on the software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorDetail<'a> {
    /// The detail of an error report as software 1.x sends it: a text.
    Text(Text<'a>),
    /// The detail of an error report as software 3.0 to 3.2 sends it: a warning level and a text.
    Warning {
        /// The severity of the error report: 1 info, 2 warning, 3 violation, 4 fault.
        warning_level: i32,
        /// The text of the error report.
        text: Text<'a>,
    },
    /// The detail of an error report as software 3.14, 5.0 and later send it: a report level, a value and a text.
    Report {
        /// The severity of the error report: 0 debug, 1 info, 2 warning, 3 violation, 4 fault, 5 critical fault; 128 is
        /// added for reports to developers.
        report_level: i32,
        /// The type of `data`: 2 a signed number, 3 a single-precision number, 4 hexadecimal, others unsigned.
        data_type: u32,
        /// The value of the error report, whose type is given by `data_type`.
        data: u32,
        /// The text of the error report.
        text: Text<'a>,
    },
    /// The undecoded detail of an error report, if the software is unknown or if the form that it sends is unknown.
    Raw(Text<'a>),
}

/// A robot message with code, title and text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Titled<'a> {
    /// The code of the titled message.
    pub code: i32,
    /// The argument of the titled message's code.
    pub argument: i32,
    /// The title of the message, at most 255 bytes.
    pub title: Text<'a>,
    /// The text of the titled message; at the start or end of a program the program's name.
    pub text: Text<'a>,
}

/// A program's request for a value from a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestValue<'a> {
    /// The number by which the program's request for a value is identified.
    pub request_id: u32,
    /// The type of the requested value: 0 boolean, 1 integer, 2 float, 3 string, 4 pose, 5 joint vector, 6 waypoint, 7
    /// expression, 8 none; absent on software 1.x.
    pub requested_type: Option<u32>,
    /// The pop-up of the program's request; present exactly if the requested type is 8.
    pub popup: Option<RequestPopup<'a>>,
    /// The text with which the program asks for the value.
    pub text: Text<'a>,
}

/// The pop-up of a program's request that asks a person for no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestPopup<'a> {
    /// `true` if the pop-up is a warning.
    pub warning: bool,
    /// `true` if the pop-up is an error.
    pub error: bool,
    /// `true` if the program waits for the person's answer to the pop-up.
    pub blocking: bool,
    /// The title of the pop-up, at most 255 bytes.
    pub title: Text<'a>,
}

/// A program label that one thread of the program passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadLabel<'a> {
    /// The number of the program label.
    pub label_id: i32,
    /// The name of the program label.
    pub label_name: Text<'a>,
    /// The name of the thread that passed the label.
    pub thread_name: Text<'a>,
}

/// An iterator over the program labels of a robot message of kind 14. An error is the last item.
#[derive(Clone, Copy, Debug)]
pub struct ThreadLabels<'a>(pub(super) Take<'a>);

/// Compares the bytes of the program labels that were not yet iterated over.
impl PartialEq for ThreadLabels<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.rest() == other.0.rest()
    }
}

impl<'a> ThreadLabels<'a> {
    /// Writes `labels` to `memory` and returns them as the payload of a robot message.
    ///
    /// # Errors
    /// `BufferTooSmall` if `memory` is too small for them.
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
    pub(super) fn parse(bytes: &mut Take<'a>) -> Result<Self, WireError> {
        let name = |bytes: &mut Take<'a>| {
            let length = bytes.value::<I32>()?;
            let negative = bytes.error(WireErrorKind::BadLength, 0, 0);
            bytes.bytes(usize::try_from(length).map_err(|_| negative)?).map(Text)
        };
        Ok(Self { label_id: bytes.value::<I32>()?, label_name: name(bytes)?, thread_name: name(bytes)? })
    }
}

/// Returns the unread bytes of a robot message's payload as text.
pub(super) fn rest<'a>(bytes: &Take<'a>) -> Text<'a> {
    Text(bytes.rest())
}

/// Reads a text of a robot message's payload that is preceded by its length in one byte.
fn short_text<'a>(bytes: &mut Take<'a>) -> Result<Text<'a>, WireError> {
    let length = bytes.value::<u8>()?;
    bytes.bytes(length.into()).map(Text)
}

fn put_short_text(put: &mut Put<'_>, text: Text<'_>) -> Result<(), WireError> {
    let too_long = WireError::new(WireErrorKind::BadLength, put.written(), u8::MAX.into(), text.0.len());
    put.value::<u8>(u8::try_from(text.0.len()).map_err(|_| too_long)?)?;
    put.bytes(text.0)
}

impl<'a> Popup<'a> {
    pub(super) fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
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

    pub(super) fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
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
    pub(super) fn parse(mut bytes: Take<'a>) -> Result<Self, WireError> {
        let project_name = short_text(&mut bytes)?;
        let (major, minor) = (bytes.value::<u8>()?, bytes.value::<u8>()?);
        let bugfix = bytes.value::<I32>()?;
        // A build number is below 2²⁴ and so starts with NUL; a date starts with a digit or letter.
        let dated = bytes.rest().first().is_none_or(u8::is_ascii_alphanumeric);
        let build_number = if dated { None } else { Some(bytes.value::<I32>()?) };
        Ok(Self { project_name, major, minor, bugfix, build_number, build_date: rest(&bytes) })
    }

    pub(super) fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
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
    pub(super) fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
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

    pub(super) fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
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
    pub(super) fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
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

    pub(super) fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
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
    pub(super) fn parse(mut bytes: Take<'a>) -> Result<Self, WireError> {
        let (code, argument) = (bytes.value::<I32>()?, bytes.value::<I32>()?);
        let title = short_text(&mut bytes)?;
        Ok(Self { code, argument, title, text: rest(&bytes) })
    }

    pub(super) fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
        put.value::<I32>(self.code)?;
        put.value::<I32>(self.argument)?;
        put_short_text(put, self.title)?;
        put.bytes(self.text.0)
    }
}

/// The requested type of a request that asks for no value and shows a pop-up.
const REQUEST_NONE: u32 = 8;

impl<'a> RequestValue<'a> {
    pub(super) fn parse(mut bytes: Take<'a>, form: Form) -> Result<Self, WireError> {
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

    pub(super) fn emit(&self, put: &mut Put<'_>) -> Result<(), WireError> {
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
