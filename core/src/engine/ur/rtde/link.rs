//! The interface of the RTDE link, which delivers states as requested.

use super::{StateEvent, StateMemory};
use crate::client::rtde::{Cadence, Claim, Claims, Input, RtdeCounts};
use crate::command::outputs::{Image, Write};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::time::Instant;

/// The interface of the RTDE link (port 30004), which delivers states of the arm. It is used through a pointer, so that
/// a session without RTDE needs neither its memory nor its code.
///
/// The methods are those of every protocol machine. Drain the events before receiving more bytes.
pub trait StateLink: Send + super::sealed::Sealed {
    /// Takes one input to the RTDE link, at the time `now`.
    fn handle(&mut self, now: Instant, input: Input);
    /// Returns the memory into which the next bytes of the RTDE link are received.
    fn receive_window(&mut self) -> &mut [u8];
    /// Takes `count` bytes that were received into the window, and read at `arrival`.
    fn commit(&mut self, count: usize, arrival: Instant, now: Instant);
    /// Returns whole RTDE packages to be written; `None` if no package waits.
    fn poll_output(&mut self) -> Option<&[u8]>;
    /// Returns the next event of the RTDE link; `None` once all are taken.
    fn poll_event(&mut self) -> Option<StateEvent<'_>>;
    /// Returns `true` if RTDE packages wait to be written.
    fn has_output(&self) -> bool;
    /// Returns the latest time at which the RTDE link must be given [`Input::Tick`], without regard to packages that
    /// wait to be written; `None` while no deadline runs.
    fn next_deadline(&self) -> Option<Instant>;
    /// Returns `true` if this connection owns this group of RTDE inputs, and the controller sends data.
    fn is_ours(&self, claim: Claim) -> bool;
    /// Writes those of the robot outputs in `writes` whose groups of RTDE inputs this connection owns, and the other
    /// outputs of these groups as in `image`. Returns the groups that were written.
    fn set(&mut self, writes: &[Write], image: &Image) -> Claims;
    /// Writes the external force and torque \[N, Nm\] that a program on the controller reads after
    /// `ft_rtde_input_enable`. Returns `true` if they were written.
    fn set_force(&mut self, force: [f64; 6]) -> bool;
    /// Writes the next order to Outrigger's program on the controller, as integers in its input registers. Returns
    /// `true` if it was written.
    #[cfg(feature = "programs")]
    fn order(&mut self, values: [i32; 8]) -> bool;
    /// Returns the report of Outrigger's program in two output registers of the newest state: its answer to an order,
    /// and the token (a number) that identifies its text; `None` if the state does not have them.
    #[cfg(feature = "programs")]
    fn mirrored(&self) -> Option<[i32; 2]>;
    /// Returns the counts of RTDE packages that this connection received.
    fn counts(&self) -> &RtdeCounts;
    /// Returns the counts of missing and late states of this connection.
    fn cadence(&self) -> &Cadence;
    /// Returns the number of bytes that were skipped on this connection.
    fn dropped(&self) -> u64;
    /// Returns the bytes received into the window, before they are committed.
    #[cfg(feature = "record")]
    fn received(&mut self, count: usize) -> &[u8];
    /// Returns the size of the memory that the RTDE link receives into \[B\].
    #[cfg(feature = "record")]
    fn memory_size(&self) -> usize;
    /// Saves everything that decides the further behaviour of the RTDE link in a checkpoint of a recording.
    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()>;
    /// Restores the state of the RTDE link that was saved by [`save`](Self::save).
    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>) -> Option<()>;
}

/// The RTDE link of a session, by reference.
#[cfg(feature = "rtde")]
pub(in crate::engine) type Attached<'m> = &'m mut (dyn StateLink + 'm);
/// The type of the RTDE link in a build without the feature `rtde`: it has no values, because states come from port
/// 30003, whatever memory there is.
#[cfg(not(feature = "rtde"))]
pub(in crate::engine) type Attached<'m> = Absent;

/// An empty type in place of the RTDE link: without the feature `rtde` there is none.
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

/// Returns the RTDE link in this memory, with the groups of inputs in `claims`; `None` if the memory is too small.
#[cfg(feature = "rtde")]
pub(in crate::engine) fn attached<'m>(memory: &'m mut dyn StateMemory<'m>, claims: Claims) -> Option<Attached<'m>> {
    memory.link(claims)
}

/// Returns `None` for any memory, because this build has no RTDE.
#[cfg(not(feature = "rtde"))]
pub(in crate::engine) fn attached<'m>(_: &'m mut dyn StateMemory<'m>, _: Claims) -> Option<Attached<'m>> {
    None
}

/// Implements `Debug` without the fields. As a supertrait, `Debug` would link the code that prints each field, because
/// everything that a pointer can reach is linked.
impl core::fmt::Debug for dyn StateLink + '_ {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StateLink")
    }
}
