//! The action that follows from a line of text that a client has sent.

use outrigger_core::mode::Epoch;

use super::claim::MotionClaim;
use super::envelope::RequestKind;
use crate::motion::request::MotionRequest;

/// The action that follows from a line of text that a client has sent.
pub(super) enum ClientAction<const N: usize> {
    /// Send this answer to the client.
    Say(String),
    /// Send no answer, because the line was a piece of a motion.
    Collected,
    /// Send this answer to a client that withdraws an earlier request.
    Withdrew(String),
    /// Check the client's motion, then let the control loop decide about it.
    Move(Option<u32>, Epoch, MotionRequest<N>, Option<MotionClaim>),
    /// Send each change of the run's status to the client from now on.
    Watch(Option<u32>),
    /// Let the control loop decide about the client's request.
    PassOn(Option<u32>, RequestKind, Option<MotionClaim>),
}
