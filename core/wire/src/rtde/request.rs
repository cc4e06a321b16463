//! RTDE requests, the packages that clients send (`core/docs/protocol/ur-rtde.md 3`).

use super::text_message::TextMessage;
use super::{NameList, Package, PackageType, Protocol, payload, start};
use crate::{WireError, WireErrorKind};
use zerocopy::big_endian::{F64, U16};

/// An RTDE package from a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request<'a> {
    /// The package `V`: requests this version of the protocol.
    ProtocolVersion(u16),
    /// The package `v`: asks for the version of the controller's software.
    ControllerVersion,
    /// The package `M`: a text for the operator's log.
    Text(TextMessage<'a>),
    /// The package `O`: requests that the controller sends these outputs.
    SetupOutputs {
        /// The frequency of data packages \[Hz\]: 1 … 125, from e-Series on 1 … 500. `None` in version 1, which uses
        /// the highest.
        frequency: Option<f64>,
        /// The names of the requested outputs.
        names: NameList<'a>,
    },
    /// The package `I`: announces that the client will write these inputs.
    SetupInputs {
        /// The names of the inputs that the client will write.
        names: NameList<'a>,
    },
    /// The package `S`: makes the controller start sending data packages.
    Start,
    /// The package `P`: makes the controller pause sending data packages.
    Pause,
    /// The package `U`: the values of inputs.
    Data {
        /// The number of the input recipe to which the values belong.
        recipe: u8,
        /// The values of the inputs, in the order of the recipe.
        values: &'a [u8],
    },
    /// A package with a letter that no version of RTDE defines.
    Unknown {
        /// The letter of the unknown package.
        letter: u8,
        /// The payload of the unknown package.
        payload: &'a [u8],
    },
}

impl<'a> Request<'a> {
    /// Reads a package from a client, on a connection with this version of the protocol.
    ///
    /// # Errors
    /// `Truncated` if the payload is too short for its letter. A longer payload is accepted.
    pub fn parse(package: &Package<'a>, protocol: Protocol) -> Result<Self, WireError> {
        let mut bytes = payload(package);
        Ok(match package.package_type {
            PackageType::ProtocolVersion => Self::ProtocolVersion(bytes.value::<U16>()?),
            PackageType::ControllerVersion => Self::ControllerVersion,
            PackageType::Text => Self::Text(TextMessage::with_source(package)?),
            PackageType::SetupOutputs => {
                let frequency = match protocol {
                    Protocol::V1 => None,
                    Protocol::V2 => Some(bytes.value::<F64>()?),
                };
                Self::SetupOutputs { frequency, names: NameList(bytes.rest()) }
            }
            PackageType::SetupInputs => Self::SetupInputs { names: NameList(bytes.rest()) },
            PackageType::Start => Self::Start,
            PackageType::Pause => Self::Pause,
            PackageType::Data => Self::Data { recipe: bytes.value::<u8>()?, values: bytes.rest() },
            PackageType::Unknown(letter) => Self::Unknown { letter, payload: bytes.rest() },
        })
    }

    /// Writes the RTDE request and returns its length \[B\]. It has the form of version 2 if outputs have a frequency.
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter; `BadLength` for a text of more than 255 bytes or without a source, and for
    /// a package longer than [`MAX_SIZE`](super::MAX_SIZE).
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        match self {
            Self::ProtocolVersion(version) => {
                let mut put = start(out, PackageType::ProtocolVersion, 2)?;
                put.value::<U16>(*version)?;
                Ok(put.written())
            }
            Self::ControllerVersion => Ok(start(out, PackageType::ControllerVersion, 0)?.written()),
            // Only controllers use the short form.
            Self::Text(text) if text.source.is_none() => Err(WireError::new(WireErrorKind::BadLength, 0, 1, 0)),
            Self::Text(text) => text.emit(out),
            Self::SetupOutputs { frequency, names } => {
                let head = if frequency.is_some() { 8 } else { 0 };
                let mut put = start(out, PackageType::SetupOutputs, names.0.len().saturating_add(head))?;
                if let Some(frequency) = frequency {
                    put.value::<F64>(*frequency)?;
                }
                put.bytes(names.0)?;
                Ok(put.written())
            }
            Self::SetupInputs { names } => {
                let mut put = start(out, PackageType::SetupInputs, names.0.len())?;
                put.bytes(names.0)?;
                Ok(put.written())
            }
            Self::Start => Ok(start(out, PackageType::Start, 0)?.written()),
            Self::Pause => Ok(start(out, PackageType::Pause, 0)?.written()),
            Self::Data { recipe, values } => {
                let mut put = start(out, PackageType::Data, values.len().saturating_add(1))?;
                put.value::<u8>(*recipe)?;
                put.bytes(values)?;
                Ok(put.written())
            }
            Self::Unknown { letter, payload } => {
                let mut put = start(out, PackageType::Unknown(*letter), payload.len())?;
                put.bytes(payload)?;
                Ok(put.written())
            }
        }
    }
}
