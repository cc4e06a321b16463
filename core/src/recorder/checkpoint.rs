//! Values one after the other in caller memory, as postcard writes them: the content of a checkpoint.

use serde::{Deserialize, Serialize};

use crate::packed;

/// Writes values one after the other.
#[derive(Debug)]
pub struct Saver<'b> {
    out: &'b mut [u8],
    written: usize,
}

impl<'b> Saver<'b> {
    /// Writes to the start of `out`.
    #[must_use]
    pub const fn new(out: &'b mut [u8]) -> Self {
        Self { out, written: 0 }
    }

    /// Appends `value`; `None` where there is no room for it.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Option<()> {
        self.put_with(|rest| packed::to_slice(value, rest).map(|bytes| bytes.len()))
    }

    /// Appends what `write` puts into the room that is left; it returns how much that is.
    pub fn put_with(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<()> {
        let rest = self.out.get_mut(self.written..)?;
        let room = rest.len();
        let count = write(rest).filter(|count| *count <= room)?;
        self.written = self.written.saturating_add(count);
        Some(())
    }

    /// Bytes written.
    #[must_use]
    pub const fn written(&self) -> usize {
        self.written
    }
}

/// Reads values one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Loader<'b> {
    rest: &'b [u8],
}

impl<'b> Loader<'b> {
    /// Reads from the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next value; `None` where the bytes are none.
    pub fn take<T: Deserialize<'b>>(&mut self) -> Option<T> {
        let (value, rest) = packed::take(self.rest)?;
        self.rest = rest;
        Some(value)
    }

    /// What has not been read.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.rest
    }
}
