//! Text messages of RTDE (`core/docs/protocol/ur-rtde.md 3.3`).

use super::{Package, PackageType, Protocol, payload, start};
use crate::{Take, WireError, WireErrorKind};

/// The severity of an RTDE text message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Level {
    /// Severity level 0: an exception.
    Exception,
    /// Severity level 1: an error.
    Error,
    /// Severity level 2: a warning.
    Warning,
    /// Severity level 3: information.
    Info,
    /// A severity level whose number has no name.
    Unknown(u8),
}

impl Level {
    /// Returns the severity level with this number.
    #[must_use]
    pub const fn from_raw(raw: u8) -> Self {
        match raw {
            0 => Self::Exception,
            1 => Self::Error,
            2 => Self::Warning,
            3 => Self::Info,
            other => Self::Unknown(other),
        }
    }

    /// Returns the number of the severity level.
    #[must_use]
    pub const fn raw(self) -> u8 {
        match self {
            Self::Exception => 0,
            Self::Error => 1,
            Self::Warning => 2,
            Self::Info => 3,
            Self::Unknown(other) => other,
        }
    }
}

/// An RTDE text message, in the characters that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextMessage<'a> {
    /// The severity of the text message.
    pub level: Level,
    /// The text of the message; at most 255 bytes if there is a source.
    pub message: &'a [u8],
    /// The sender of the text message, at most 255 bytes; `None` in messages of a controller in version 1.
    pub source: Option<&'a [u8]>,
}

impl<'a> TextMessage<'a> {
    /// Reads a text message that has a source: from any client, and from controllers in version 2.
    pub(super) fn with_source(package: &Package<'a>) -> Result<Self, WireError> {
        let mut bytes = payload(package);
        let message = counted(&mut bytes)?;
        let source = counted(&mut bytes)?;
        Ok(Self { level: Level::from_raw(bytes.value::<u8>()?), message, source: Some(source) })
    }

    /// Reads a text message from a controller, whose form depends on the version of the protocol.
    pub(super) fn from_controller(package: &Package<'a>, protocol: Protocol) -> Result<Self, WireError> {
        match protocol {
            Protocol::V1 => {
                let mut bytes = payload(package);
                Ok(Self { level: Level::from_raw(bytes.value::<u8>()?), message: bytes.rest(), source: None })
            }
            Protocol::V2 => Self::with_source(package),
        }
    }

    /// Writes the text message's package: with lengths if there is a source, otherwise in the short form of version 1.
    pub(super) fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let Some(source) = self.source else {
            let mut put = start(out, PackageType::Text, self.message.len().saturating_add(1))?;
            put.value::<u8>(self.level.raw())?;
            put.bytes(self.message)?;
            return Ok(put.written());
        };
        let (message_len, source_len) = (length(self.message)?, length(source)?);
        let texts = self.message.len().saturating_add(source.len());
        let mut put = start(out, PackageType::Text, texts.saturating_add(3))?;
        put.value::<u8>(message_len)?;
        put.bytes(self.message)?;
        put.value::<u8>(source_len)?;
        put.bytes(source)?;
        put.value::<u8>(self.level.raw())?;
        Ok(put.written())
    }
}

/// Reads a byte of an RTDE text message that contains a length, and then as many bytes.
fn counted<'a>(bytes: &mut Take<'a>) -> Result<&'a [u8], WireError> {
    let count = bytes.value::<u8>()?;
    bytes.bytes(count.into())
}

fn length(text: &[u8]) -> Result<u8, WireError> {
    let most = usize::from(u8::MAX);
    u8::try_from(text.len()).map_err(|_| WireError::new(WireErrorKind::BadLength, 0, most, text.len()))
}
