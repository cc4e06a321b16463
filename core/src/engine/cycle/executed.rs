//! Motion that the controller executes by itself.

use super::CycleMemory;
use crate::command::{JointMove, Limits};
#[cfg(feature = "trajectories")]
use crate::law::Law;
#[cfg(feature = "trajectories")]
use crate::mode::Mode;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::mode::{Asker, GuideLimits, Mirrored};
use crate::robot::Reason;
#[cfg(feature = "trajectories")]
use outrigger_wire::robot::State;
use outrigger_wire::time::Instant;

impl<const N: usize> CycleMemory<N> {
    /// Takes note that the command of this cycle does not go on to the controller: the arm may be as much slower.
    pub(in crate::engine) fn held_back(&mut self) {
        self.following.held_back();
    }

    /// The newest state, while the law moves the arm; `None` at any other time.
    #[cfg(feature = "trajectories")]
    pub(in crate::engine) fn streaming(&self) -> Option<&State<N>> {
        self.state.as_ref().filter(|_| self.stream.begun && self.mode.mode() == Mode::Command)
    }

    /// Has the law begin at rest where a pause or the speed scaling holds its motion: called before it is asked for another.
    #[cfg(feature = "trajectories")]
    pub(in crate::engine) fn settle_held<L: Law<N>>(&self, law: &mut L) {
        if let Some(state) = self.streaming() {
            self.stream.settle_held(law, state, self.chain.as_ref());
        }
    }

    /// The limits that every command is held to.
    pub(in crate::engine) const fn limits(&self) -> &Limits<N> {
        self.stream.governor.limits()
    }

    /// The controller is to execute `asked` by itself: see [`ModeMachine::delegate`]. The law rests from now on.
    ///
    /// # Errors
    /// Why not; nothing changes then.
    pub(in crate::engine) fn delegate(&mut self, asked: &JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        self.stream.governor.judge_move(asked, state)?;
        let number = self.mode.delegate(now, &self.evidence)?;
        #[cfg(feature = "programs")]
        self.guide.clear();
        self.rest_law();
        Ok(number)
    }

    /// What the law had asked for is over: it begins anew from rest, and nobody has asked it to go on with anything.
    pub(in crate::engine) fn rest_law(&mut self) {
        if core::mem::take(&mut self.stream.begun) {
            self.law_ended = true;
        }
        self.stream.resume = false;
        #[cfg(feature = "programs")]
        self.stream.end_halt();
        self.stream.rest();
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

    /// The move that the controller executes is to end: see [`MoveEnd::ask`].
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn end_move(&mut self, now: Instant) -> Result<(), Reason> {
        self.move_end.ask(&self.mode, now).map(|_| ())
    }
}
