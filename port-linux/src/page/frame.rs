//! The newest state of a session, left where the page's thread finds it.

use std::sync::{Arc, Mutex};

use outrigger_core::command::{MAX_SOURCES, Sample, SourceConfig};
use outrigger_core::kinematics::KinematicChain;
use outrigger_core::law::PerAxis;
use outrigger_core::robot::{JointPositions, JointVelocities};
use outrigger_core::time::Duration;

use crate::maker::{Maker, Sight};

/// A session at one instant: what `monitor --json` says of it, and what only a picture needs. Numbers alone: words are made
/// of them on the page's thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<S, const N: usize> {
    pub(super) sight: Sight<S>,
    /// From the joints to the tool, where the model is known.
    pub(super) chain: Option<KinematicChain<N>>,
    /// Joint speeds that were asked for last \[rad/s\].
    pub(super) commanded: JointVelocities<N>,
    /// Where the law wants the joints \[rad\].
    pub(super) wanted: Option<JointPositions<N>>,
    /// Of a law that holds a distance \[m\].
    pub(super) standoff_error: Option<f32>,
    /// Of a law that moves axes of the tool by sensors \[m, rad\].
    pub(super) axis_errors: PerAxis<Option<f32>>,
    pub(super) sources: [Option<(SourceConfig, Option<Sample>)>; MAX_SOURCES],
    /// An older state ends commanding.
    pub(super) oldest_state: Duration,
    /// The fastest that each joint is let turn \[rad/s\].
    pub(super) fastest: JointVelocities<N>,
    /// The robot's speed slider holds the arm.
    pub(super) held: bool,
}

type Place<M, const N: usize> = (Option<Frame<<M as Maker>::Seen, N>>, Option<M>);

/// The newest frame, and its maker where that has heard of something since. Neither side ever waits for the other: a frame that
/// comes while the place is looked at is left out.
#[derive(Debug)]
pub(super) struct Slot<M: Maker, const N: usize>(Arc<Mutex<Place<M, N>>>);

impl<M: Maker, const N: usize> Clone for Slot<M, N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Maker, const N: usize> Default for Slot<M, N> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new((None, None))))
    }
}

impl<M: Maker + Clone, const N: usize> Slot<M, N> {
    /// Whether it could be put there.
    pub(super) fn put(&self, frame: &Frame<M::Seen, N>, maker: Option<&M>) -> bool {
        let Ok(mut place) = self.0.try_lock() else { return false };
        place.0 = Some(*frame);
        if let Some(maker) = maker {
            place.1 = Some(maker.clone());
        }
        true
    }

    /// The newest, where there is one that has not been taken. Without waiting, too: whoever waits has to be woken.
    pub(super) fn take(&self) -> Option<(Frame<M::Seen, N>, Option<M>)> {
        let mut place = self.0.try_lock().ok()?;
        Some((place.0.take()?, place.1.take()))
    }
}
