//! The queue of RTDE packages to transmit, in memory of the caller.

use outrigger_wire::WireError;

/// The bytes of RTDE packages to transmit that the caller of the client has not taken yet.
#[derive(Debug)]
pub(super) struct Outbox<'m> {
    memory: &'m mut [u8],
    len: usize,
}

impl<'m> Outbox<'m> {
    pub(super) const fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, len: 0 }
    }

    /// Appends to the queue the RTDE package that `emit` writes, or nothing if `emit` fails.
    pub(super) fn append(&mut self, emit: impl FnOnce(&mut [u8]) -> Result<usize, WireError>) -> Result<(), WireError> {
        let room = self.memory.get_mut(self.len..).unwrap_or_default();
        self.len = self.len.saturating_add(emit(room)?).min(self.memory.len());
        Ok(())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns all queued bytes of RTDE packages and empties the queue; `None` if it is empty.
    pub(super) fn take(&mut self) -> Option<&[u8]> {
        let len = core::mem::take(&mut self.len);
        self.memory.get(..len).filter(|bytes| !bytes.is_empty())
    }
}
