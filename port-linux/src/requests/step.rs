//! The next step with a line of a client.

use outrigger_core::mode::Epoch;

use super::claim::Claim;
use super::letter::Asked;
use crate::motion::asked::Wish;

/// The next step with a line.
pub(super) enum Step<const N: usize> {
    /// The answer, made here.
    Say(String),
    /// A piece of a plan, which needs no answer.
    Collected,
    /// An earlier request was withdrawn, or not: the answer to that.
    Withdrew(String),
    /// The loop decides, once this is checked.
    Move(Option<u32>, Epoch, Wish<N>, Option<Claim>),
    /// From now on each change is told.
    Watch(Option<u32>),
    /// The loop decides.
    PassOn(Option<u32>, Asked, Option<Claim>),
}
