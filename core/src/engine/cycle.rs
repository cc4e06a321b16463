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
#[cfg(feature = "motions")]
use crate::command::ApprovedTorques;
use crate::command::{Approved, ApprovedMove};
use crate::law::Law;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::robot::Authority;

/// The command of one cycle.
#[derive(Debug)]
#[must_use]
pub enum Verdict<'m, const N: usize> {
    /// No command.
    Silent,
    /// The measured position, unchanged: to a controller that wants an answer to every state.
    Mirror,
    /// Zero velocity.
    Hold,
    /// The one stop that ends commanding.
    Stop,
    /// Joint speeds.
    Move(Approved<'m, N>),
    /// Joint torques.
    #[cfg(feature = "motions")]
    Torque(ApprovedTorques<'m, N>),
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

impl<const N: usize> CycleMemory<N> {
    /// Suspends the `law` where a transition has ended what it was asked for. Called before the law is asked for anything else, and
    /// before the engine's call returns.
    pub(super) fn suspend_ended<L: Law<N>>(&mut self, law: &mut L) {
        if core::mem::take(&mut self.law_ended) {
            law.suspend();
        }
    }
}
