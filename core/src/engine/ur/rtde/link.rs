//! What an engine needs of a link that gives states and has to be asked for them.

use super::{StateEvent, StateMemory};
use crate::client::rtde::{Cadence, Claim, Claims, Input, RtdeCounts};
use crate::command::outputs::{Image, Write};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::time::Instant;

/// The link to port 30004 behind a pointer: a session without it needs neither its memory nor its code.
///
/// The verbs are those of every machine. Events are drained before bytes are received again.
pub trait StateLink: Send + super::sealed::Sealed {
    /// Takes one input at `now`.
    fn handle(&mut self, now: Instant, input: Input);
    /// Where the next bytes received go.
    fn receive_window(&mut self) -> &mut [u8];
    /// `count` bytes were received into the window, and read at `arrival`.
    fn commit(&mut self, count: usize, arrival: Instant, now: Instant);
    /// Whole packages to be written; `None` where none wait.
    fn poll_output(&mut self) -> Option<&[u8]>;
    /// The next event; `None` once all are taken.
    fn poll_event(&mut self) -> Option<StateEvent<'_>>;
    /// Whether packages wait to be written.
    fn has_output(&self) -> bool;
    /// When [`Input::Tick`] is due at the latest, packages that wait aside.
    fn next_deadline(&self) -> Option<Instant>;
    /// Whether this group of inputs is ours in this connection, and data flows.
    fn is_ours(&self, claim: Claim) -> bool;
    /// Sets those of `writes` that belong to groups of inputs of ours, the other outputs of these groups as in `image`: the
    /// groups that were written.
    fn set(&mut self, writes: &[Write], image: &Image) -> Claims;
    /// Gives a program the force to read \[N, Nm\]; whether it was written.
    fn set_force(&mut self, force: [f64; 6]) -> bool;
    /// Gives a program of ours its next order, as whole numbers in registers; whether it was written.
    #[cfg(feature = "programs")]
    fn order(&mut self, values: [i32; 8]) -> bool;
    /// What a program of ours showed of itself in the newest state: what it says, and its token.
    #[cfg(feature = "programs")]
    fn mirrored(&self) -> Option<[i32; 2]>;
    /// Packages of this connection.
    fn counts(&self) -> &RtdeCounts;
    /// What was missing and late in this connection.
    fn cadence(&self) -> &Cadence;
    /// Bytes of this connection that were skipped.
    fn dropped(&self) -> u64;
    /// Bytes received into the window, before they are committed.
    #[cfg(feature = "record")]
    fn received(&mut self, count: usize) -> &[u8];
    /// How much is received into \[B\].
    #[cfg(feature = "record")]
    fn memory_size(&self) -> usize;
    /// Everything that decides what follows.
    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()>;
    /// Goes on from what was saved.
    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()>;
}

/// The link, where there is one.
#[cfg(feature = "rtde")]
pub(in crate::engine) type Attached<'m> = &'m mut (dyn StateLink + 'm);
/// Never: without the feature `rtde` states come from port 30003, whatever memory there is.
#[cfg(not(feature = "rtde"))]
pub(in crate::engine) type Attached<'m> = Absent;

/// What nobody has.
#[cfg(not(feature = "rtde"))]
#[derive(Debug)]
pub(in crate::engine) enum Absent {}

#[cfg(not(feature = "rtde"))]
impl core::ops::Deref for Absent {
    type Target = dyn StateLink;

    fn deref(&self) -> &Self::Target {
        match *self {}
    }
}

#[cfg(not(feature = "rtde"))]
impl core::ops::DerefMut for Absent {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match *self {}
    }
}

/// The link in this memory.
#[cfg(feature = "rtde")]
pub(in crate::engine) fn attached<'m>(memory: &'m mut dyn StateMemory<'m>, claims: Claims) -> Option<Attached<'m>> {
    memory.link(claims)
}

/// None, in any memory.
#[cfg(not(feature = "rtde"))]
pub(in crate::engine) fn attached<'m>(_: &'m mut dyn StateMemory<'m>, _: Claims) -> Option<Attached<'m>> {
    None
}

/// Not a supertrait: what a pointer can reach is linked, and with it all that is needed to print each field.
impl core::fmt::Debug for dyn StateLink + '_ {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StateLink")
    }
}
