//! The action that follows from a line of a client.

use outrigger_core::mode::Epoch;

use super::claim::MotionClaim;
use super::envelope::RequestKind;
use crate::motion::request::MotionRequest;

/// The action that follows from a line of a client.
pub(super) enum ClientAction<const N: usize> {
    /// Send this answer.
    Say(String),
    /// Send no answer, because the line was a piece of a motion.
    Collected,
    /// Send this answer to a withdrawal.
    Withdrew(String),
    /// Check the motion, then let the control loop decide.
    Move(Option<u32>, Epoch, MotionRequest<N>, Option<MotionClaim>),
    /// Send each change of the status from now on.
    Watch(Option<u32>),
    /// Let the control loop decide.
    PassOn(Option<u32>, RequestKind, Option<MotionClaim>),
}
