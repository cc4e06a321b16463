//! What an engine needs of a link that gives states and has to be asked for them.

use super::StateEvent;
use crate::client::rtde::{Cadence, Claim, RtdeCounts, WriteError};
#[cfg(feature = "postcard")]
use crate::recorder::{Loader, Saver};
use crate::time::Instant;
use crate::wire::rtde::Value;

/// [`RtdeStates`](super::RtdeStates) behind a pointer: a session without it needs neither its memory nor its code.
pub trait StateLink: Send + super::sealed::Sealed {
    /// A connection stands: everything is negotiated.
    fn opened(&mut self, now: Instant);
    /// The connection is gone.
    fn closed(&mut self);
    /// Where the next bytes received go.
    fn window(&mut self) -> &mut [u8];
    /// `count` bytes were received into it.
    fn commit(&mut self, count: usize, arrival: Instant, now: Instant, on: &mut dyn FnMut(StateEvent<'_>));
    /// Time has passed.
    fn tick(&mut self, now: Instant, on: &mut dyn FnMut(StateEvent<'_>));
    /// Whole packages to be written.
    fn poll_transmit(&mut self) -> Option<&[u8]>;
    /// Whether packages wait to be written.
    fn has_output(&self) -> bool;
    /// When [`Self::tick`] is due at the latest.
    fn next_deadline(&self) -> Option<Instant>;
    /// Writes a recipe of inputs as a whole.
    ///
    /// # Errors
    /// [`WriteError`]: nothing is written then.
    fn write(&mut self, recipe: usize, values: &[Value]) -> Result<(), WriteError>;
    /// The recipe that writes this group of inputs, in this connection; `None` where it is not ours.
    fn claimed(&self, claim: Claim) -> Option<usize>;
    /// Packages of this connection.
    fn counts(&self) -> &RtdeCounts;
    /// What was missing and late in this connection.
    fn cadence(&self) -> &Cadence;
    /// Bytes of this connection that were skipped.
    fn dropped(&self) -> u64;
    /// Bytes received into the window, before they are committed.
    #[cfg(feature = "postcard")]
    fn received(&mut self, count: usize) -> &[u8];
    /// How much is received into \[B\].
    #[cfg(feature = "postcard")]
    fn memory_size(&self) -> usize;
    /// Receives into `size` bytes of its memory only; `None` where it has less.
    #[cfg(feature = "postcard")]
    fn shrink(&mut self, size: usize) -> Option<()>;
    /// Everything that decides what follows.
    #[cfg(feature = "postcard")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()>;
    /// Goes on from what was saved.
    #[cfg(feature = "postcard")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()>;
}

/// Not a supertrait: what a pointer can reach is linked, and with it all that is needed to print each field.
impl core::fmt::Debug for dyn StateLink + '_ {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StateLink")
    }
}
