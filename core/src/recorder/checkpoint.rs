//! Values one after the other in caller memory, as postcard writes them: the content of a checkpoint.

#[cfg(feature = "record")]
use serde::{Deserialize, Serialize};

#[cfg(feature = "record")]
use crate::packed;

/// A part of an engine that the recorder's checkpoints hold.
///
/// Without methods of its own it cannot be saved, and a recording ends when its memory is full:
///
/// ```
/// use outrigger_core::Checkpoint;
///
/// struct Stateless;
/// impl Checkpoint for Stateless {}
/// ```
///
/// What `serde` can write is saved and loaded by one line each:
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
    /// Writes everything that the value is and remembers, so that [`load`](Self::load) makes an equal one elsewhere. Returns
    /// `None` where there is no room, or where it cannot be saved.
    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        let _ = to;
        None
    }

    /// Becomes the value that was saved. Returns `None`, and stays as it is, where the bytes are none of this kind.
    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        let _ = from;
        None
    }
}

/// Writes values one after the other.
#[cfg(feature = "record")]
#[derive(Debug)]
pub struct Saver<'b> {
    out: &'b mut [u8],
    written: usize,
}

#[cfg(feature = "record")]
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
#[cfg(feature = "record")]
#[derive(Clone, Copy, Debug)]
pub struct Loader<'b> {
    rest: &'b [u8],
}

#[cfg(feature = "record")]
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
