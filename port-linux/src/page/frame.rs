//! The newest state of a session, left where the page's thread finds it.

use std::sync::{Arc, Mutex, MutexGuard};

use outrigger_core::command::{MAX_SOURCES, SourceConfig};
use outrigger_core::kinematics::KinematicChain;
use outrigger_core::law::PerAxis;
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Duration;

use crate::maker::{Maker, Sight};

/// A session at one instant: what `monitor --json` says of it, and what only a picture needs. Numbers alone: words are made
/// of them on the page's thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<S, const N: usize> {
    pub(super) sight: Sight<S>,
    /// Joint speeds that were asked for last \[rad/s\].
    pub(super) commanded: JointVelocities<N>,
    /// Where the law wants the joints \[rad\].
    pub(super) wanted: Option<JointPositions<N>>,
    /// Of a law that holds a distance \[m\].
    pub(super) standoff_error: Option<f32>,
    /// Of a law that moves axes of the tool by sensors \[m, rad\].
    pub(super) axis_errors: PerAxis<Option<f32>>,
    /// The newest of each source, by its number.
    pub(super) samples: [Option<Sample>; MAX_SOURCES],
    /// The reason that holds the motion while commanding lasts.
    pub(super) held_by: Option<Reason>,
}

/// What a picture needs and a session hardly changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled<const N: usize> {
    /// From the joints to the tool, where the model is known.
    pub(super) chain: Option<KinematicChain<N>>,
    /// By their numbers.
    pub(super) sources: [Option<SourceConfig>; MAX_SOURCES],
    /// An older state ends commanding.
    pub(super) oldest_state: Duration,
    /// The fastest that each joint is let turn \[rad/s\].
    pub(super) fastest: JointVelocities<N>,
}

/// What waits to be taken: the newest frame, and what was left with it or with one before that nobody took.
#[derive(Debug)]
pub(super) struct Place<M: Maker, const N: usize> {
    pub(super) frame: Option<Frame<M::Seen, N>>,
    pub(super) settled: Option<Settled<N>>,
    /// As of the newest event that it takes.
    pub(super) maker: Option<M>,
}

/// A frame, and what was left beside it.
pub(super) type Taken<M, const N: usize> = (Frame<<M as Maker>::Seen, N>, Option<Settled<N>>, Option<M>);

/// Where the control loop leaves frames. Neither side ever waits for the other: a frame that comes while the place is looked
/// at is left out.
#[derive(Debug)]
pub(super) struct Slot<M: Maker, const N: usize>(Arc<Mutex<Place<M, N>>>);

impl<M: Maker, const N: usize> Clone for Slot<M, N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Maker, const N: usize> Default for Slot<M, N> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Place { frame: None, settled: None, maker: None })))
    }
}

impl<M: Maker, const N: usize> Slot<M, N> {
    /// To write into; `None` while it is looked at.
    pub(super) fn place(&self) -> Option<MutexGuard<'_, Place<M, N>>> {
        self.0.try_lock().ok()
    }

    /// The newest frame, where there is one that has not been taken, and what was left beside it. Without waiting, too: whoever
    /// waits has to be woken.
    pub(super) fn take(&self) -> Option<Taken<M, N>> {
        let mut place = self.place()?;
        Some((place.frame.take()?, place.settled.take(), place.maker.take()))
    }
}
