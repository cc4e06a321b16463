//! An engine that goes on from where another one stood: simulations and tests that begin with a session that stands.

use core::marker::PhantomData;

use super::co_controller::{CoController, Memory};
use super::config::Config;
use super::io::LinkId;
use super::record::{ReplayError, in_memory};
use crate::law::Law;
use crate::mode::Mode;
use crate::time::Instant;

/// Where an engine stood; it makes any number of engines that go on from there.
///
/// It is what a recording's checkpoint is, with the configuration. Only an engine makes one, and only of a session in which nothing
/// moves: what goes on from it commands after a request of its own, as any engine does.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'b, L> {
    config: Config,
    sizes: [u32; LinkId::COUNT],
    saved: &'b [u8],
    law: PhantomData<fn() -> L>,
}

impl<L: Law<6>> CoController<'_, L> {
    /// Where the engine stands, written to `room`: 8 KiB are enough. `None` where they are not, outside
    /// [`Mode::Monitor`] and [`Mode::Offline`], before outputs and events are drained, and where the law [cannot be
    /// saved](Law::save).
    ///
    /// The recorder is not part of it.
    #[must_use]
    pub fn snapshot<'b>(&self, room: &'b mut [u8]) -> Option<Snapshot<'b, L>> {
        let still = matches!(self.mode(), Mode::Monitor | Mode::Offline);
        if !still || self.poll_timeout() == Some(Instant::ZERO) {
            return None;
        }
        let length = self.save(room)?;
        let saved = room.get(..length)?;
        Some(Snapshot { config: *self.config(), sizes: self.memory_sizes(), saved, law: PhantomData })
    }
}

impl<L: Law<6>> Snapshot<'_, L> {
    /// An engine that goes on from here, in `memory` at least as large as the first one's. `law` is any of its kind: what it
    /// was is in the snapshot. Time goes on from the first engine's.
    ///
    /// # Errors
    /// [`ReplayError::Memory`] where there is too little, [`ReplayError::BadEntry`] for a law that takes back nothing.
    pub fn engine<'m>(&self, law: L, memory: Memory<'m>) -> Result<CoController<'m, L>, ReplayError> {
        let mut engine = in_memory(self.sizes, self.config, law, memory)?;
        engine.load(self.saved).ok_or(ReplayError::BadEntry { entry: 0 })?;
        Ok(engine)
    }
}
