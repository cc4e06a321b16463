//! The header of both datagrams (`core/docs/protocol/kuka-fri.md A3`), and the identification of a datagram by it.

use zerocopy::little_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{COMMAND_ID, COMMAND_LEN, MEASUREMENT_ID, MEASUREMENT_LEN};
use crate::fields::{FieldVisitor, Value, Wire};
use crate::{WireError, WireErrorKind};

/// The offset of the size field in measurements and commands \[B\].
const SIZE_AT: usize = 4;
/// The offset of the number that identifies the kind of FRI datagram \[B\].
const ID_AT: usize = 6;

/// The two kinds of FRI datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Datagram {
    /// The measurement, from the KRC (KUKA's controller) to the remote computer.
    Measurement,
    /// The command, from the remote computer to the KRC (KUKA's controller).
    Command,
}

impl Datagram {
    /// The size of the header of an FRI datagram \[B\].
    pub const HEADER_LEN: usize = 8;

    /// Returns the size of an FRI datagram of this kind \[B\].
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Measurement => MEASUREMENT_LEN,
            Self::Command => COMMAND_LEN,
        }
    }

    const fn id(self) -> u16 {
        match self {
            Self::Measurement => MEASUREMENT_ID,
            Self::Command => COMMAND_ID,
        }
    }

    /// Returns the kind of FRI datagram that has this header.
    ///
    /// # Errors
    /// `BadType` if the identifying number in the header is that of neither kind; `BadLength` if the size in the header
    /// is not that of the identified kind.
    pub fn of(header: &[u8; Self::HEADER_LEN]) -> Result<Self, WireError> {
        let [.., size_low, size_high, id_low, id_high] = *header;
        let id = u16::from_le_bytes([id_low, id_high]);
        let datagram = match id {
            MEASUREMENT_ID => Self::Measurement,
            COMMAND_ID => Self::Command,
            _ => return Err(WireError::new(WireErrorKind::BadType, ID_AT, MEASUREMENT_ID.into(), id.into())),
        };
        let size = u16::from_le_bytes([size_low, size_high]).into();
        if size != datagram.size() {
            return Err(WireError::new(WireErrorKind::BadLength, SIZE_AT, datagram.size(), size));
        }
        Ok(datagram)
    }

    /// Checks that `bytes` are an FRI datagram of this kind: first the number of bytes, then the size and the
    /// identifying number in the header.
    pub(super) fn check(self, bytes: &[u8]) -> Result<(), WireError> {
        let (need, have) = (self.size(), bytes.len());
        let header = match bytes.first_chunk() {
            Some(header) if have == need => header,
            _ if have > need => return Err(WireError::new(WireErrorKind::BadLength, 0, need, have)),
            _ => return Err(WireError::new(WireErrorKind::Truncated, 0, need, have)),
        };
        match Self::of(header)? {
            found if found == self => Ok(()),
            found => Err(WireError::new(WireErrorKind::BadType, ID_AT, self.id().into(), found.id().into())),
        }
    }
}

/// The constant size \[B\] and identifying number in the header of one kind of FRI datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope<const SIZE: u16, const ID: u16>;

/// The size and identifying number in the header of every measurement.
pub type MeasurementEnvelope = Envelope<{ MEASUREMENT_LEN as u16 }, MEASUREMENT_ID>;

/// The size and identifying number in the header of every command.
pub type CommandEnvelope = Envelope<{ COMMAND_LEN as u16 }, COMMAND_ID>;

/// The size and identifying number in an FRI header, [`Envelope`], in the form in which they are transmitted.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct EnvelopeField<const SIZE: u16, const ID: u16> {
    size: U16,
    id: U16,
}

impl<const SIZE: u16, const ID: u16> Wire for EnvelopeField<SIZE, ID> {
    type Host = Envelope<SIZE, ID>;
    fn host(&self) -> Self::Host {
        Envelope
    }
    fn wire(_: Self::Host) -> Self {
        Self { size: U16::new(SIZE), id: U16::new(ID) }
    }
    fn visit(_: Self::Host, _: &str, visitor: &mut dyn FieldVisitor) {
        visitor.field("packet_size", Value::Unsigned(SIZE.into()));
        visitor.field("datagram_id", Value::Unsigned(ID.into()));
    }
}
