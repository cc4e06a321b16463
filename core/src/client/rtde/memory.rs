//! What a client is made from, and why it cannot be.

use crate::robot::BadValue;
use outrigger_wire::WireError;

/// Memory of one client, from the caller.
#[derive(Debug)]
pub struct ClientMemory<'m> {
    /// What is received into: a package longer than it is skipped. 1 KiB holds 100 variables and the longest texts.
    pub receive: &'m mut [u8],
    /// What is transmitted from: a set-up is as long as its list of names and 11 bytes, data as its values and 4.
    pub transmit: &'m mut [u8],
}

/// A client that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ClientError {
    /// A threshold outside its range.
    Config(BadValue),
    /// Too little memory to receive into.
    Memory(WireError),
    /// More recipes of inputs than a controller numbers: 255.
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
