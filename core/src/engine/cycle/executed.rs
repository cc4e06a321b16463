//! Motion that is handed over: to the law, waypoint by waypoint, or to the controller.

use super::Cycle;
use crate::command::JointMove;
#[cfg(feature = "trajectories")]
use crate::law::Replaced;
use crate::law::{FeedError, Law};
#[cfg(feature = "motions")]
use crate::law::{Forward, ForwardError};
#[cfg(feature = "programs")]
use crate::mode::Mirrored;
#[cfg(feature = "trajectories")]
use crate::mode::Mode;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::mode::{Asker, GuideLimits};
use crate::robot::Reason;
use crate::trajectory::Waypoint;
use outrigger_wire::time::Instant;

impl<const N: usize, L: Law<N>> Cycle<N, L> {
    /// One waypoint more for the law, within the limits.
    pub(in crate::engine) fn feed(&mut self, waypoint: &Waypoint<N>, last: bool) -> Result<(), FeedError> {
        self.law.motion_mut().ok_or(FeedError::NoMotion)?.feed(waypoint, last, self.governor.limits())
    }

    /// What was approved in this cycle does not go on to the controller: the arm may be as much slower.
    pub(in crate::engine) fn held_back(&mut self) {
        self.following.held_back();
    }

    /// Another motion for the law, from the next state on.
    #[cfg(feature = "trajectories")]
    pub(in crate::engine) fn replace(&mut self, waypoints: &[Waypoint<N>], last: bool) -> Result<Replaced, FeedError> {
        if !(self.begun && self.mode.mode() == Mode::Command) {
            return Err(FeedError::NotCommanding);
        }
        self.law.motion_mut().ok_or(FeedError::NoMotion)?.replace(waypoints, last, self.governor.limits())
    }

    /// The law's motion comes to rest.
    #[cfg(feature = "trajectories")]
    pub(in crate::engine) fn cancel(&mut self) -> Result<Replaced, FeedError> {
        if !(self.begun && self.mode.mode() == Mode::Command) {
            return Err(FeedError::NotCommanding);
        }
        self.law.motion_mut().ok_or(FeedError::NoMotion)?.cancel(self.governor.limits())
    }

    /// Speeds or positions for the law, from the next state on.
    #[cfg(feature = "motions")]
    pub(in crate::engine) fn forward(&mut self, forward: &Forward<N>) -> Result<(), ForwardError> {
        let state = self.state.as_ref().filter(|_| self.begun && self.mode.mode() == Mode::Command);
        let state = state.ok_or(ForwardError::NotCommanding)?;
        self.law.motion_mut().ok_or(ForwardError::NoJointLaw)?.forward(forward, state, self.governor.limits())
    }

    /// The controller is to execute `asked` by itself: see [`ModeMachine::delegate`]. The law rests from now on.
    ///
    /// # Errors
    /// Why not; nothing changes then.
    pub(in crate::engine) fn delegate(&mut self, asked: &JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        self.governor.judge_move(asked, state)?;
        let number = self.mode.delegate(now, &self.evidence)?;
        #[cfg(feature = "programs")]
        self.guide.clear();
        self.rest_law();
        Ok(number)
    }

    /// What the law had asked for is over: it begins anew from rest, and nobody has asked it to go on with anything.
    pub(in crate::engine) fn rest_law(&mut self) {
        if core::mem::take(&mut self.begun) {
            self.law.suspend();
        }
        self.resume = false;
        self.governor.reset();
    }

    /// A hand or a force is to move the arm: see [`Guide::begin`]. The law rests from now on.
    ///
    /// # Errors
    /// Why not; nothing changes then.
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn guide(
        &mut self,
        asker: Asker,
        limits: GuideLimits,
        now: Instant,
    ) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        let number = self.guide.begin(asker, limits, &mut self.mode, &self.evidence, state, now)?;
        self.rest_law();
        Ok(number)
    }

    /// A force is to move the arm beside the move that the controller executes: see [`Guide::join`].
    ///
    /// # Errors
    /// Why not; nothing changes then.
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn join(
        &mut self,
        asker: Asker,
        limits: GuideLimits,
        now: Instant,
    ) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        self.guide.join(asker, limits, &self.mode, &self.evidence, state, now)
    }

    /// Whether the program shows that it executes a move.
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn executes(&self) -> bool {
        let shown = self.evidence.mirrored.map(|held| held.value);
        self.mode.executes_move() && matches!(shown, Some(Mirrored::Running(_)))
    }

    /// Who began it goes on answering for it: see [`Guide::renew`].
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn renew(&mut self, asker: Asker, now: Instant) -> Result<(), Reason> {
        self.guide.renew(asker, now)
    }

    /// It is to end: see [`Guide::end`].
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn end_guide(&mut self) -> Result<(), Reason> {
        self.guide.end(&self.mode)
    }

    /// Whether a hand or a force moves the arm, or is about to.
    #[cfg(feature = "programs")]
    pub(in crate::engine) const fn is_guided(&self) -> bool {
        self.guide.is_on()
    }

    /// The law is to make the motion again: see [`ModeMachine::stream`].
    ///
    /// # Errors
    /// Why not; nothing changes then.
    pub(in crate::engine) fn stream(&mut self, now: Instant) -> Result<(), Reason> {
        self.mode.stream(now, &self.evidence)
    }
}
