//! One control cycle of an arm with `N` joints: state → evidence → mode → law → governor → command.
//!
//! | step | file | does |
//! |---|---|---|
//! | intake | `heard` | shows every state that was read to the link monitor, keeps the newest |
//! | watch | `watch` | shows the newest state, after draining, to the watchers: standstill, tracking, pendant, sensors |
//! | gather | `gather` | puts the evidence together |
//! | decide | `decide` | mode machine, operator; then law and governor, for the command that goes out |
//!
//! [`CycleMemory`] is all that is remembered between cycles, apart from the law. Law, sensors and governor may refuse: the engine
//! reports the refusal by [`CycleMemory::fault`] and asks again, so that zero velocity goes out in the very same cycle.

mod decide;
mod executed;
mod gather;
mod given;
mod heard;
mod memory;
mod operated;
mod pendant;
mod stream;
mod watch;

pub(super) use self::given::{CycleConfig, Executed, Resident, SideFacts};
pub(super) use self::memory::CycleMemory;
pub(super) use self::pendant::PendantSight;
use crate::command::{Approved, ApprovedMove};
use crate::law::Law;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::robot::Authority;

/// The command of one cycle.
#[derive(Debug)]
#[must_use]
pub enum Verdict<'m, const N: usize> {
    /// Nothing.
    Silent,
    /// The measured position, unchanged: to a controller that wants an answer to every state.
    Mirror,
    /// Zero velocity.
    Hold,
    /// The one stop that ends commanding.
    Stop,
    /// Joint speeds.
    Move(Approved<'m, N>),
    /// The controller executes this move, by this number, by itself.
    Start(ApprovedMove<'m, N>, MoveNumber),
    /// The arm gives way to a hand or a force from now on, as this move.
    #[cfg(feature = "programs")]
    Guide(Authority<'m>, MoveNumber),
    /// A sign of life to the program that executes moves.
    Keep,
    /// The end of this move.
    Cancel(MoveNumber),
}

/// The calls that a transition owes the law: made before the law is asked for anything else, and before the call of the engine returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LawCalls {
    suspend: bool,
    learn: bool,
}

impl<const N: usize> CycleMemory<N> {
    /// Makes the calls that transitions owe the `law`.
    pub(super) fn call_law<L: Law<N>>(&mut self, law: &mut L) {
        let LawCalls { suspend, learn } = core::mem::take(&mut self.law_calls);
        if suspend {
            law.suspend();
        }
        if let Some(chain) = self.chain.as_ref().filter(|_| learn) {
            law.use_kinematics(chain);
        }
    }
}
