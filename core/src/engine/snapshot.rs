//! An engine that goes on from where another one stood: simulations and tests that begin with a session that stands.

use core::marker::PhantomData;

use super::Engine;
use super::config::{Config, Options};
use super::controller::{Controller, MemorySizes};
use super::replay::{ReplayError, in_memory};
use crate::law::Law;
use crate::mode::Mode;
use outrigger_wire::time::Instant;

/// Where an engine stood; it makes any number of engines that go on from there.
///
/// It is what a recording's checkpoint is, with the configuration. Only an engine makes one, and only of a session in which nothing
/// moves: what goes on from it commands after a request of its own, as any engine does.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'b, const N: usize, O, L> {
    config: Config<N, O>,
    sizes: MemorySizes,
    saved: &'b [u8],
    law: PhantomData<fn() -> L>,
}

impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// Where the engine stands, written to `room`: 8 KiB are enough. `None` where they are not, outside
    /// [`Mode::Monitor`] and [`Mode::Offline`], before outputs and events are drained, and where the law [cannot be
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
    /// An engine that goes on from here, in `memory` at least as large as the first one's. `law` is any of its kind: what it
    /// was is in the snapshot. Time goes on from the first engine's.
    ///
    /// # Errors
    /// [`ReplayError::Memory`] where there is too little, [`ReplayError::BadEntry`] for a law that takes back nothing.
    pub fn engine<'m, P>(&self, law: L, memory: P::Memory) -> Result<Engine<'m, N, P, L>, ReplayError>
    where
        P: Controller<N, Options = O>,
    {
        let mut engine = in_memory(self.sizes, self.config, law, memory)?;
        engine.load(self.saved).ok_or(ReplayError::BadEntry { entry: 0 })?;
        Ok(engine)
    }
}
