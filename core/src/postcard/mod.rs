//! The encoding of values in [postcard's format](https://postcard.jamesmunns.com/wire-format), with small code.
//!
//! All types share the same few functions, which are not generated again for each type. Errors are not checked after
//! each step: a value that does not fit or is invalid is noted, and the error is returned at the end. The size in a
//! board's image is in `tests/tables/board-budgets.md`. Tests compare the bytes with those of postcard's own
//! serializer.
//!
//! ```
//! use outrigger_core::postcard;
//!
//! let mut room = [0; 8];
//! let bytes = postcard::to_slice(&(300_u32, true), &mut room).expect("three bytes");
//! assert_eq!(bytes, [0xAC, 0x02, 1]);
//! assert_eq!(postcard::from_bytes(bytes), Some((300_u32, true)));
//! assert_eq!(postcard::from_bytes::<u32>(bytes), None, "a byte is left over");
//! ```

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use reader::take;
pub use writer::to_slice;

/// The error of encoding or decoding a value in postcard's format. It has no details because no caller uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error;

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no such value in postcard's format")
    }
}

impl core::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: core::fmt::Display>(_: T) -> Self {
        Self
    }
}

impl serde::de::Error for Error {
    fn custom<T: core::fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }

    fn invalid_value(_: serde::de::Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self
    }

    fn invalid_length(_: usize, _: &dyn serde::de::Expected) -> Self {
        Self
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }
}

/// Returns the value encoded by all of `bytes`; `None` if they encode something else, end early or have bytes left
/// over.
#[must_use]
pub fn from_bytes<'de, T: serde::Deserialize<'de>>(bytes: &'de [u8]) -> Option<T> {
    take(bytes).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}
