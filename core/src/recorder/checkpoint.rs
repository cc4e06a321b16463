//! The content of a checkpoint: values in postcard's format, one after the other in memory of the caller.

#[cfg(feature = "record")]
use serde::{Deserialize, Serialize};

#[cfg(feature = "record")]
use crate::postcard;

/// A part of an engine whose state is saved in the recorder's checkpoints.
///
/// The default methods cannot save it: a recording then ends when its memory is full.
///
/// ```
/// use outrigger_core::Checkpoint;
///
/// struct Stateless;
/// impl Checkpoint for Stateless {}
/// ```
///
/// A type that `serde` can write is saved and loaded by one line each:
///
#[cfg_attr(feature = "record", doc = "```")]
#[cfg_attr(not(feature = "record"), doc = "```ignore")]
/// use outrigger_core::Checkpoint;
/// use outrigger_core::recorder::{Loader, Saver};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Counter(u32);
///
/// impl Checkpoint for Counter {
///     fn save(&self, to: &mut Saver<'_>) -> Option<()> {
///         to.put(self)
///     }
///     fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
///         *self = from.take()?;
///         Some(())
///     }
/// }
/// ```
pub trait Checkpoint {
    /// Writes the complete state of the value to a checkpoint, so that [`load`](Self::load) restores an equal one
    /// elsewhere. Returns `None` if there is no room or the value cannot be saved.
    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        let _ = to;
        None
    }

    /// Restores the state that was saved in a checkpoint. Returns `None`, and changes nothing, if the bytes are not of
    /// this type.
    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        let _ = from;
        None
    }
}

/// A writer of consecutive values to a checkpoint.
#[cfg(feature = "record")]
#[derive(Debug)]
pub struct Saver<'b> {
    out: &'b mut [u8],
    written: usize,
}

#[cfg(feature = "record")]
impl<'b> Saver<'b> {
    /// Creates a writer of a checkpoint that begins at the start of `out`.
    #[must_use]
    pub const fn new(out: &'b mut [u8]) -> Self {
        Self { out, written: 0 }
    }

    /// Appends `value` to the checkpoint; returns `None` if there is no room for it.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Option<()> {
        self.put_with(|rest| postcard::to_slice(value, rest).map(|bytes| bytes.len()))
    }

    /// Appends the bytes that `write` puts into the remaining room. `write` returns their number, or `None` to append
    /// nothing.
    pub fn put_with(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<()> {
        let rest = self.out.get_mut(self.written..)?;
        let room = rest.len();
        let count = write(rest).filter(|count| *count <= room)?;
        self.written = self.written.saturating_add(count);
        Some(())
    }

    /// Returns the number of bytes of the checkpoint written so far.
    #[must_use]
    pub const fn written(&self) -> usize {
        self.written
    }
}

/// A reader of consecutive values of a checkpoint.
#[cfg(feature = "record")]
#[derive(Clone, Copy, Debug)]
pub struct Loader<'b> {
    rest: &'b [u8],
}

#[cfg(feature = "record")]
impl<'b> Loader<'b> {
    /// Creates a reader of a checkpoint that begins at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Reads the next value of the checkpoint; returns `None` if the bytes do not encode one.
    pub fn take<T: Deserialize<'b>>(&mut self) -> Option<T> {
        let (value, rest) = postcard::take(self.rest)?;
        self.rest = rest;
        Some(value)
    }

    /// Returns the bytes of the checkpoint that have not been read.
    #[must_use]
    pub const fn rest(&self) -> &'b [u8] {
        self.rest
    }
}
