//! The memory of an RTDE client, and the errors of creating one.

use crate::robot::BadValue;
use outrigger_wire::WireError;

/// The memory of one RTDE client, provided by the caller.
#[derive(Debug)]
pub struct ClientMemory<'m> {
    /// The receive memory: longer packages are skipped. 1 KiB holds 100 variables and the longest texts.
    pub receive: &'m mut [u8],
    /// The transmit memory: a set-up needs the length of its list of names plus 11 bytes, data that of its values plus
    /// 4.
    pub transmit: &'m mut [u8],
}

/// The reason for which an RTDE client cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ClientError {
    /// A setting of the client's configuration is outside its range.
    Config(BadValue),
    /// The receive memory provided for the client is too small.
    Memory(WireError),
    /// More recipes of inputs were passed than a controller can number, 255.
    TooManyInputs,
}

impl core::fmt::Display for ClientError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::Memory(error) => write!(f, "receive memory: {error}"),
            Self::TooManyInputs => f.write_str("more than 255 recipes of inputs"),
        }
    }
}

impl core::error::Error for ClientError {}
