//! What a controller says in words, kept by value.

use super::{ErrorDetail, RobotMessage, RobotMessagePayload, SafetyDetail};
use crate::WireError;
use crate::robot::{MessageSource, SafetyMode, SoftwareVersion, Text};
use crate::rtde::TextMessage;

/// Kept of a text \[B\]: without the feature `messages`, of an error's alone.
const TEXT_LEN: usize = if cfg!(feature = "messages") { 64 } else { 16 };

/// Kind of a [`Report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ReportKind {
    /// A plain text, as from `textmsg`.
    Text,
    /// A pop-up on the pendant, or a program that asks a person.
    Popup,
    /// The safety mode changed.
    Safety(Option<SafetyMode>),
    /// An error or another report, `C<code>A<argument>` to people.
    Error,
    /// A program was started, stopped, or reports something titled.
    Key,
    /// A program failed, at this line and column where known.
    RuntimeException(Option<(i32, i32)>),
}

/// One message of the controller to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// What it is.
    pub kind: ReportKind,
    /// Which part of the controller speaks.
    pub source: MessageSource,
    /// Code; 0 where the kind has none.
    pub code: i32,
    /// Argument of the code; 0 where the kind has none.
    pub argument: i32,
    /// The beginning of its text; the title where there is one.
    pub text: Text<TEXT_LEN>,
}

/// The code that answers a program sent while the controller is in local control.
pub const LOCAL_CONTROL: i32 = 210;

impl Report {
    /// What RTDE says to people.
    pub fn by_rtde(text: &TextMessage<'_>) -> Self {
        let text = Text::from_bytes(text.message);
        Self { kind: ReportKind::Text, source: MessageSource::Rtde, code: 0, argument: 0, text }
    }

    /// Whether the controller says that it takes no programs because it is in local control.
    #[must_use]
    pub fn says_local_control(&self) -> bool {
        self.kind == ReportKind::Error && self.code == LOCAL_CONTROL
    }

    /// The report in `message`; `None` for kinds that are not for people.
    ///
    /// # Errors
    /// Those of [`RobotMessage::payload`].
    pub fn of(message: &RobotMessage<'_>, software: Option<SoftwareVersion>) -> Result<Option<Self>, WireError> {
        let (kind, code, argument, text) = match message.payload(software)? {
            RobotMessagePayload::Text(text) => (ReportKind::Text, 0, 0, text),
            RobotMessagePayload::Popup(popup) => (ReportKind::Popup, 0, 0, popup.text),
            RobotMessagePayload::RequestValue(request) => (ReportKind::Popup, 0, 0, request.text),
            RobotMessagePayload::SafetyMode(safety) => {
                let text = match safety.detail {
                    SafetyDetail::Security(text) | SafetyDetail::Mode { text, .. } => text,
                    SafetyDetail::Report { .. } | SafetyDetail::Raw(_) => Default::default(),
                };
                (ReportKind::Safety(safety.detail.safety_mode()), safety.code, safety.argument, text)
            }
            RobotMessagePayload::ErrorCode(error) => {
                let text = match error.detail {
                    ErrorDetail::Text(text) | ErrorDetail::Warning { text, .. } | ErrorDetail::Report { text, .. } => {
                        text
                    }
                    ErrorDetail::Raw(_) => Default::default(),
                };
                (ReportKind::Error, error.code, error.argument, text)
            }
            RobotMessagePayload::Key(key) => (ReportKind::Key, key.code, key.argument, key.title),
            RobotMessagePayload::RuntimeException { position, text } => {
                (ReportKind::RuntimeException(position), 0, 0, text)
            }
            _ => return Ok(None),
        };
        let (source, text) = (message.named_source(), Text::from_bytes(text.0));
        Ok(Some(Self { kind, source, code, argument, text }))
    }
}
