//! The error for bytes that are not a valid message of a robot or its controller.

/// The error for bytes that are not a valid message: its kind, and the offset of the offending field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WireError {
    /// The kind of error that the bytes of the message have.
    pub kind: WireErrorKind,
    /// The offset of the offending field in the message \[B\]; 65 535 if it is larger.
    pub at: u16,
    /// The number of bytes that are needed, or the length, type, depth or value that was expected, by the kind of error;
    /// 65 535 if it is larger, 0 if it is not known.
    pub need: u16,
    /// The number of bytes that are present, or the length, type or value that was found, by the kind of error; 65 535 if
    /// it is larger, 0 if it is not known.
    pub have: u16,
}

const _: () = assert!(size_of::<WireError>() <= 8, "errors travel in every result");

/// The kinds of error in a message, as [`WireError`] reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The bytes of the message end before the field does.
    Truncated,
    /// A length field of the message holds a length that no layout has, or that differs from the number of bytes given.
    BadLength,
    /// The type field of the message names another message than the requested one.
    BadType,
    /// A field of the message has a value that the field cannot have.
    BadValue,
    /// The values of the message are nested deeper than the parser follows.
    TooDeep,
    /// The caller's output buffer is too small for the message to be written.
    BufferTooSmall,
}

impl WireError {
    /// Returns an error about the field at byte `at`: `need` is the number of bytes that are needed, or what was expected,
    /// and `have` the number of bytes that are present, or what was found.
    #[must_use]
    pub fn new(kind: WireErrorKind, at: usize, need: usize, have: usize) -> Self {
        Self { kind, at: saturated(at), need: saturated(need), have: saturated(have) }
    }

    /// Returns `bytes` as an array of exactly `N`.
    ///
    /// # Errors
    /// `Truncated` if there are fewer bytes, `BadLength` if there are more.
    #[doc(hidden)]
    pub fn exactly<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Self> {
        match bytes.split_first_chunk() {
            Some((all, [])) => Ok(all),
            Some(_) => Err(Self::new(WireErrorKind::BadLength, 0, N, bytes.len())),
            None => Err(Self::new(WireErrorKind::Truncated, 0, N, bytes.len())),
        }
    }

    /// Returns this error with its offset in the message increased by `base` \[B\].
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
