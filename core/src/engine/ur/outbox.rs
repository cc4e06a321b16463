//! A text for the controller that waits to be transmitted.

/// The one text for the controller that waits, of at most `N` bytes, and the text that was made in this call of the
/// engine.
#[derive(Debug)]
pub(super) struct Outbox<const N: usize> {
    bytes: [u8; N],
    len: usize,
    /// The length of the text for the controller that was made in this call \[B\], even if it was taken.
    #[cfg(feature = "record")]
    made: usize,
}

impl<const N: usize> Outbox<N> {
    pub(super) const EMPTY: Self = Self {
        bytes: [0; N],
        len: 0,
        #[cfg(feature = "record")]
        made: 0,
    };

    /// Marks the beginning of a call of the engine: no text for the controller was made in it yet.
    #[cfg(feature = "record")]
    pub(super) const fn begin(&mut self) {
        self.made = 0;
    }

    /// Replaces the waiting text for the controller by the one that `write` makes. Returns its length \[B\], 0 if there
    /// is none.
    ///
    /// # Errors
    /// Those of `write`; then no text waits.
    pub(super) fn put<E>(&mut self, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<usize, E> {
        self.clear();
        self.len = write(&mut self.bytes)?;
        #[cfg(feature = "record")]
        {
            self.made = self.len;
        }
        Ok(self.len)
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
        #[cfg(feature = "record")]
        {
            self.made = 0;
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the text for the controller that was made in this call of the engine; empty if there is none.
    #[cfg(feature = "record")]
    pub(super) fn made(&self) -> &[u8] {
        self.bytes.get(..self.made).unwrap_or_default()
    }

    /// Removes and returns the text that waits for the controller; empty if there is none.
    pub(super) fn take(&mut self) -> &[u8] {
        let len = core::mem::take(&mut self.len);
        self.bytes.get(..len).unwrap_or_default()
    }
}
