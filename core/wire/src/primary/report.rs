//! Messages of the controller to people, stored by value.

use super::{ErrorDetail, RobotMessage, RobotMessagePayload, SafetyDetail};
use crate::WireError;
use crate::robot::{MessageSource, SafetyMode, SoftwareVersion, Text};
use crate::rtde::TextMessage;

/// The greatest stored length of the text of a controller's message \[B\]; the rest is dropped. Smaller without the feature
/// `messages`, because only errors are stored then.
const TEXT_LEN: usize = if cfg!(feature = "messages") { 64 } else { 16 };

/// The kind of a [`Report`], a message of the controller to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ReportKind {
    /// A message with a plain text, as a program sends by `textmsg`.
    Text,
    /// A message that is shown as a pop-up on the pendant, or a program's request to a person.
    Popup,
    /// A message about a change of the safety mode; `None` if it does not contain the new mode in a known form.
    Safety(Option<SafetyMode>),
    /// A message about an error or another report, shown to people as `C<code>A<argument>`.
    Error,
    /// A message that a program was started or stopped, or a titled message of a program.
    Key,
    /// A message about a failure of a program, with line and column if they are known.
    RuntimeException(Option<(i32, i32)>),
}

/// A message of the controller to people, with the beginning of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The kind of the controller's message.
    pub kind: ReportKind,
    /// The part of the controller that sent the message.
    pub source: MessageSource,
    /// The code of the controller's message; 0 if the kind has none.
    pub code: i32,
    /// The argument of the message's code; 0 if the kind has none.
    pub argument: i32,
    /// The beginning of the message's text; for [`ReportKind::Key`] of its title.
    pub text: Text<TEXT_LEN>,
}

/// The code of the controller's reply to a program that was sent while it is in local control.
pub const LOCAL_CONTROL: i32 = 210;

impl Report {
    /// Returns the report for a text message of the controller that arrived by RTDE.
    pub fn by_rtde(text: &TextMessage<'_>) -> Self {
        let text = Text::from_bytes(text.message);
        Self { kind: ReportKind::Text, source: MessageSource::Rtde, code: 0, argument: 0, text }
    }

    /// Returns whether the controller reports that it rejects programs because it is in local control.
    #[must_use]
    pub fn says_local_control(&self) -> bool {
        self.kind == ReportKind::Error && self.code == LOCAL_CONTROL
    }

    /// Returns the report for people in `message`; `None` for kinds that are not meant for people, and without the feature
    /// `messages` for all kinds except errors.
    ///
    /// # Errors
    /// The errors of [`RobotMessage::payload`].
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
