//! One control cycle of an arm with `N` joints: state → evidence → mode → law → governor → command.
//!
//! | step | file | does |
//! |---|---|---|
//! | intake | `state_intake` | passes every state that was read to the link monitor, keeps the newest |
//! | watch | `state_watchers` | passes the newest state, after draining, to the watchers: standstill, tracking, pendant, sensors |
//! | gather | `evidence_gathering` | assembles the evidence |
//! | decide | `decide` | mode machine, operator; then law and governor, for the command to send |
//!
//! [`CycleMemory`] is everything that is stored between cycles, apart from the law. Law, sensors and governor may
//! refuse. The engine then reports the refusal by [`CycleMemory::fault`] and requests another command, so that zero
//! velocity is sent in the same cycle.

mod controller_motion;
mod decide;
mod evidence_gathering;
mod memory;
mod operator_actions;
mod pendant_stop_rule;
mod side_facts;
mod state_intake;
mod state_watchers;
mod streamed_motion;

pub(super) use self::memory::CycleMemory;
pub(super) use self::pendant_stop_rule::PendantSight;
pub(super) use self::side_facts::{CycleConfig, MotionProgress, Resident, SideFacts};
#[cfg(feature = "motions")]
use crate::command::ApprovedTorques;
use crate::command::{Approved, ApprovedMove};
use crate::law::Law;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::robot::Authority;

/// The command that is sent to the controller in one cycle.
#[derive(Debug)]
#[must_use]
pub enum Verdict<'m, const N: usize> {
    /// No command is sent in this cycle.
    Silent,
    /// The controller's own setpoint, sent back unchanged to a controller that needs an answer to every state (a KRC).
    Mirror,
    /// Zero velocity: the arm is brought to rest, or held at rest.
    Hold,
    /// The stop command that ends commanding; it is sent once.
    Stop,
    /// Joint speeds that the [governor](crate::command::Governor) approved within the limits of the arm.
    Move(Approved<'m, N>),
    /// Joint torques that the [governor of torques](crate::command::TorqueGovernor) approved within the limits of the
    /// arm.
    #[cfg(feature = "motions")]
    Torque(ApprovedTorques<'m, N>),
    /// A command, sent once, to start this move under this number; the controller executes the move by itself.
    Start(ApprovedMove<'m, N>, MoveNumber),
    /// A command to start freedrive or force mode under this number.
    #[cfg(feature = "programs")]
    Guide(Authority<'m>, MoveNumber),
    /// A keep-alive for the program on the controller that executes moves.
    Keep,
    /// A request to the program on the controller to end the move with this number.
    Cancel(MoveNumber),
}

impl<const N: usize> CycleMemory<N> {
    /// Suspends the control `law` if a change of the mode has ended its motion. Call it before the control law is used
    /// again, and before the engine's call returns.
    pub(super) fn suspend_ended<L: Law<N>>(&mut self, law: &mut L) {
        if core::mem::take(&mut self.law_ended) {
            law.suspend();
        }
    }
}
