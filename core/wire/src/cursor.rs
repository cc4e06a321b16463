//! Cursors that read and write the fields of a binary message one after the other, from its front.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{WireError, WireErrorKind};
use crate::fields;

/// A cursor that reads a message from its front and counts the bytes read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Take<'a> {
    pub(crate) rest: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Take<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// Reads the next part of the message as the fixed-layout type `T`, without copying it.
    pub(crate) fn layout<T: FromBytes + KnownLayout + Immutable + Unaligned>(&mut self) -> Result<&'a T, WireError> {
        let Ok((layout, rest)) = T::ref_from_prefix(self.rest) else {
            return Err(self.error(WireErrorKind::Truncated, size_of::<T>(), self.rest.len()));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(size_of::<T>());
        Ok(layout)
    }

    /// Reads the next field of the message and returns its value in host byte order.
    pub(crate) fn value<T: fields::Wire + 'a>(&mut self) -> Result<T::Host, WireError> {
        self.layout::<T>().map(fields::Wire::host)
    }

    /// Reads the next `count` bytes of the message and returns them unchanged.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let Some((bytes, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.error(WireErrorKind::Truncated, count, self.rest.len()));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(count);
        Ok(bytes)
    }

    /// Returns the bytes of the message that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns an error of this kind at the offset of the message's next field, with `need` and `have` as in
    /// [`WireError`].
    pub(crate) fn error(&self, kind: WireErrorKind, need: usize, have: usize) -> WireError {
        WireError::new(kind, self.at, need, have)
    }
}

/// A cursor that writes a message of known size to the start of a buffer, part by part; the rest of the buffer is unchanged.
#[derive(Debug)]
pub(crate) struct Put<'b> {
    rest: &'b mut [u8],
    pub(crate) at: usize,
    size: usize,
}

impl<'b> Put<'b> {
    /// Starts a message of `size` bytes at the start of `out`.
    pub(crate) fn new(out: &'b mut [u8], size: usize) -> Result<Self, WireError> {
        let have = out.len();
        match out.get_mut(..size) {
            Some(rest) => Ok(Self { rest, at: 0, size }),
            None => Err(WireError::new(WireErrorKind::BufferTooSmall, 0, size, have)),
        }
    }

    /// Appends a value of a fixed-layout type to the message, as its bytes.
    pub(crate) fn layout<T: IntoBytes + Immutable>(&mut self, layout: &T) -> Result<(), WireError> {
        self.bytes(layout.as_bytes())
    }

    /// Appends one field to the message, given in host byte order.
    pub(crate) fn value<T: fields::Wire>(&mut self, value: T::Host) -> Result<(), WireError> {
        self.layout(&T::wire(value))
    }

    /// Appends bytes to the message unchanged.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        match core::mem::take(&mut self.rest).split_at_mut_checked(bytes.len()) {
            Some((place, rest)) => {
                place.copy_from_slice(bytes);
                self.rest = rest;
                self.at = self.at.saturating_add(bytes.len());
                Ok(())
            }
            None => {
                let need = self.at.saturating_add(bytes.len());
                Err(WireError::new(WireErrorKind::BufferTooSmall, self.at, need, self.size))
            }
        }
    }

    /// Returns the number of bytes of the message written so far.
    pub(crate) fn written(&self) -> usize {
        self.at
    }

    /// Returns the number of bytes of the message that are still to be written.
    pub(crate) fn space(&self) -> usize {
        self.rest.len()
    }

    /// Fills the rest of the message with zeros.
    pub(crate) fn zeros(self) {
        self.rest.fill(0);
    }
}
