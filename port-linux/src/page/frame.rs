//! The newest state of a session, left where the page's thread finds it.

use std::sync::{Arc, Mutex, TryLockError};

use outrigger_core::command::{MAX_SOURCES, Sample, SourceConfig};
use outrigger_core::kinematics::KinematicChain;
use outrigger_core::robot::{JointPositions, JointVelocities, Reason, State};
use outrigger_core::time::{Duration, Instant};

use crate::show::Snapshot;

/// A session at one instant: what `monitor --json` says of it, and what only a picture needs.
#[derive(Clone, Debug)]
pub(super) struct Frame<const N: usize> {
    pub(super) snapshot: Snapshot,
    pub(super) state: Option<State<N>>,
    /// From the joints to the tool, where the model is known.
    pub(super) chain: Option<KinematicChain<N>>,
    /// Joint speeds that were asked for last \[rad/s\].
    pub(super) commanded: JointVelocities<N>,
    /// Where the law wants the joints \[rad\].
    pub(super) wanted: Option<JointPositions<N>>,
    /// Of a law that holds a distance \[m\].
    pub(super) standoff_error: Option<f32>,
    pub(super) sources: [Option<(SourceConfig, Option<Sample>)>; MAX_SOURCES],
    /// An older state ends commanding.
    pub(super) oldest_state: Duration,
    /// The fastest that each joint is let turn \[rad/s\].
    pub(super) fastest: JointVelocities<N>,
    /// The robot's speed slider holds the arm.
    pub(super) held: bool,
}

impl<const N: usize> Frame<N> {
    /// When it was taken, on the process's clock.
    pub(super) const fn at(&self) -> Instant {
        self.snapshot.at
    }

    /// The reason that stands.
    pub(super) const fn latch(&self) -> Option<Reason> {
        self.snapshot.latch
    }
}

/// The newest frame. Neither side ever waits for the other: one that comes while it is looked at is left out.
#[derive(Clone, Debug)]
pub(super) struct Slot<const N: usize>(Arc<Mutex<Option<Box<Frame<N>>>>>);

impl<const N: usize> Default for Slot<N> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<const N: usize> Slot<N> {
    /// Whether it could be put there.
    pub(super) fn put(&self, frame: Box<Frame<N>>) -> bool {
        match self.0.try_lock() {
            Ok(mut slot) => {
                *slot = Some(frame);
                true
            }
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => false,
        }
    }

    /// The newest, where there is one that has not been taken. Without waiting, too: whoever waits has to be woken.
    pub(super) fn take(&self) -> Option<Box<Frame<N>>> {
        self.0.try_lock().ok()?.take()
    }
}
