//! A snapshot of an engine, from which other engines continue: for simulations and tests that start with an established
//! session.

use core::marker::PhantomData;

use super::Engine;
use super::config::{Config, Options};
use super::controller::{Controller, MemorySizes};
use super::replay::{ReplayError, in_memory};
use crate::law::Law;
use crate::mode::Mode;
use outrigger_wire::time::Instant;

/// The saved state of an engine. Any number of engines can continue from it.
///
/// It has the content of a recording's checkpoint, and the configuration. It can be taken only while nothing moves. An
/// engine that continues from it commands only after a request of its own, like any engine.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'b, const N: usize, O, L> {
    config: Config<N, O>,
    sizes: MemorySizes,
    saved: &'b [u8],
    law: PhantomData<fn() -> L>,
}

impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// Writes a snapshot to `room`; 8 KiB are enough. Returns `None` if `room` is too small, outside of
    /// [`Mode::Monitor`] and [`Mode::Offline`], before outputs and events are drained, and if the law [cannot be
    /// saved](crate::recorder::Checkpoint::save).
    ///
    /// The recorder is not part of it.
    #[must_use]
    pub fn snapshot<'b>(&self, room: &'b mut [u8]) -> Option<Snapshot<'b, N, P::Options, L>> {
        let still = matches!(self.mode(), Mode::Monitor | Mode::Offline);
        if !still || self.poll_timeout() == Some(Instant::ZERO) {
            return None;
        }
        let length = self.save(room)?;
        let saved = room.get(..length)?;
        Some(Snapshot { config: *self.config(), sizes: self.peer().memory_sizes(), saved, law: PhantomData })
    }
}

impl<const N: usize, O: Options, L: Law<N>> Snapshot<'_, N, O, L> {
    /// Creates an engine that continues from this snapshot, in `memory` at least as large as the first engine's. `law`
    /// is any control law of the same kind; its state is in the snapshot. Time continues from the first engine's.
    ///
    /// # Errors
    /// [`ReplayError::Memory`] if `memory` is too small, [`ReplayError::BadEntry`] if the law cannot load its state.
    pub fn engine<'m, P>(&self, law: L, memory: P::Memory) -> Result<Engine<'m, N, P, L>, ReplayError>
    where
        P: Controller<N, Options = O>,
    {
        let mut engine = in_memory(self.sizes, self.config, law, memory)?;
        engine.load(self.saved).ok_or(ReplayError::BadEntry { entry: 0 })?;
        Ok(engine)
    }
}
