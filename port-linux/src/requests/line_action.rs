//! The action that follows from a line of text that a client has sent.

use outrigger_core::mode::Epoch;

use super::envelope::RequestKind;
use super::motion_claim::MotionClaim;
use crate::motion::requested_motion::MotionRequest;

/// The action that follows from a line of text that a client has sent.
pub(super) enum ClientAction<const N: usize> {
    /// The client receives this answer, and nothing else follows.
    Say(String),
    /// The client receives no answer, because the line was a piece of a motion.
    Collected,
    /// The client receives this answer to its withdrawal of an earlier request.
    Withdrew(String),
    /// The client's motion is checked, then the control loop decides about it.
    Move(Option<u32>, Epoch, MotionRequest<N>, Option<MotionClaim>),
    /// The client receives each change of the run's status from now on.
    Watch(Option<u32>),
    /// The client's request is queued, and the control loop decides about it.
    PassOn(Option<u32>, RequestKind, Option<MotionClaim>),
}
