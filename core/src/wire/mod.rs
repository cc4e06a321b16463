//! Bytes ↔ values. Knows no time, no sockets, no state: every function here is pure.
//!
//! The rules every format keeps:
//!
//! * **One table.** A fixed layout is written once, a field a line with offset, type, unit and meaning, as the
//!   specification has it (`core/docs/protocol/ur-client-interfaces.md`). The line becomes a `zerocopy` field, a
//!   getter, a field of the `Repr` and a line of the [`fields`] visitor; its offset is checked when compiling.
//! * **Checked once.** `new_checked` validates all lengths; the getters of a view are total.
//! * **By size.** Controllers append fields between releases. A field exists where its end is within the message;
//!   an absent one is `None`; bytes after the last known field are ignored.
//! * **Measurements are data.** NaN, infinities and unknown enumeration values pass through. Refusing them is the
//!   business of whoever computes a command from them.
//! * **Emit is separate.** A `Repr` holds host-order values; `emit` writes every byte of what it claims to write
//!   and never reads the buffer.
//!
//! All values are big-endian (`fri`: little-endian) and unpadded; offsets count from the start of the message or sub-package.
//!
//! ```
//! # const PACKET: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/realtime-5.15.bin"));
//! use outrigger_core::wire::{WireErrorKind, realtime};
//!
//! assert!(realtime::Packet::new_checked(PACKET).is_ok());
//! let error = realtime::Packet::new_checked(&PACKET[..500]).unwrap_err();
//! assert_eq!((error.kind, error.need, error.have), (WireErrorKind::Truncated, 1220, 500));
//! ```

pub mod dashboard;
pub mod external_control;
pub mod fields;
pub mod forward;
pub mod fri;
mod layout;
pub mod player;
pub mod primary;
pub mod program;
pub mod realtime;
pub mod robot_api;
pub mod rtde;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What is wrong with some bytes, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct WireError {
    /// What is wrong.
    pub kind: WireErrorKind,
    /// Offset of the offending field \[B\], saturated.
    pub at: u16,
    /// What the field needed: bytes, or the smallest acceptable value; saturated.
    pub need: u16,
    /// What was there: bytes, or the value; saturated.
    pub have: u16,
}

const _: () = assert!(size_of::<WireError>() <= 8, "errors travel in every result");

/// The kinds of [`WireError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The bytes end before the field does.
    Truncated,
    /// A length field holds a length that no layout has, or not the length of the bytes given.
    BadLength,
    /// A type field names another message than the one asked for.
    BadType,
    /// A value that the field cannot have.
    BadValue,
    /// Values are nested deeper than is followed.
    TooDeep,
    /// The caller's output buffer is too small.
    BufferTooSmall,
}

impl WireError {
    pub(crate) fn new(kind: WireErrorKind, at: usize, need: usize, have: usize) -> Self {
        Self { kind, at: saturated(at), need: saturated(need), have: saturated(have) }
    }

    /// All of `bytes`, where there are exactly `N`.
    ///
    /// # Errors
    /// `Truncated` or `BadLength` where there are fewer or more.
    #[doc(hidden)]
    pub fn exactly<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Self> {
        match bytes.split_first_chunk() {
            Some((all, [])) => Ok(all),
            Some(_) => Err(Self::new(WireErrorKind::BadLength, 0, N, bytes.len())),
            None => Err(Self::new(WireErrorKind::Truncated, 0, N, bytes.len())),
        }
    }

    /// The same error with its offset counted from `base` bytes earlier.
    #[must_use]
    pub(crate) fn offset_by(self, base: usize) -> Self {
        Self { at: self.at.saturating_add(saturated(base)), ..self }
    }
}

fn saturated(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

impl core::fmt::Display for WireError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { kind, at, need, have } = self;
        match kind {
            WireErrorKind::Truncated => write!(f, "byte {at}: {need} bytes needed, {have} left"),
            WireErrorKind::BadLength => write!(f, "byte {at}: length {have} where {need} was expected"),
            WireErrorKind::BadType => write!(f, "byte {at}: type {have} where {need} was expected"),
            WireErrorKind::BadValue => write!(f, "byte {at}: impossible value"),
            WireErrorKind::TooDeep => write!(f, "byte {at}: values nested deeper than {need}"),
            WireErrorKind::BufferTooSmall => write!(f, "output buffer of {have} bytes where {need} are needed"),
        }
    }
}

impl core::error::Error for WireError {}

/// Reads from the front of a message and knows how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Take<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Take<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// The next fixed layout, in place.
    fn layout<T: FromBytes + KnownLayout + Immutable + Unaligned>(&mut self) -> Result<&'a T, WireError> {
        let Ok((layout, rest)) = T::ref_from_prefix(self.rest) else {
            return Err(self.error(WireErrorKind::Truncated, size_of::<T>(), self.rest.len()));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(size_of::<T>());
        Ok(layout)
    }

    /// The next field, in host order.
    fn value<T: fields::Wire + 'a>(&mut self) -> Result<T::Host, WireError> {
        self.layout::<T>().map(fields::Wire::host)
    }

    /// The next `count` bytes.
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let Some((bytes, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.error(WireErrorKind::Truncated, count, self.rest.len()));
        };
        self.rest = rest;
        self.at = self.at.saturating_add(count);
        Ok(bytes)
    }

    /// What has not been read.
    fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// An error about the next field.
    fn error(&self, kind: WireErrorKind, need: usize, have: usize) -> WireError {
        WireError::new(kind, self.at, need, have)
    }
}

/// Writes to the front of a buffer that is exactly as long as the message.
#[derive(Debug)]
struct Put<'b> {
    rest: &'b mut [u8],
    at: usize,
    size: usize,
}

impl<'b> Put<'b> {
    /// A message of `size` bytes at the start of `out`.
    fn new(out: &'b mut [u8], size: usize) -> Result<Self, WireError> {
        let have = out.len();
        match out.get_mut(..size) {
            Some(rest) => Ok(Self { rest, at: 0, size }),
            None => Err(WireError::new(WireErrorKind::BufferTooSmall, 0, size, have)),
        }
    }

    /// Writes a fixed layout.
    fn layout<T: IntoBytes + Immutable>(&mut self, layout: &T) -> Result<(), WireError> {
        self.bytes(layout.as_bytes())
    }

    /// Writes one field.
    fn value<T: fields::Wire>(&mut self, value: T::Host) -> Result<(), WireError> {
        self.layout(&T::wire(value))
    }

    /// Writes bytes as they are.
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), WireError> {
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

    /// Bytes written so far.
    fn written(&self) -> usize {
        self.at
    }

    /// Bytes of the message that are still to be written.
    fn space(&self) -> usize {
        self.rest.len()
    }

    /// Fills what is left of the message with zeros.
    fn zeros(self) {
        self.rest.fill(0);
    }
}
