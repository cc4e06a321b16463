//! The part of the cycle that handles motion which the controller executes by itself.

use super::CycleMemory;
use crate::command::{JointMove, Limits};
#[cfg(feature = "trajectories")]
use crate::law::Law;
#[cfg(feature = "trajectories")]
use crate::mode::Mode;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::mode::{ClientNumber, GuideLimits, Mirrored};
use crate::robot::Reason;
#[cfg(feature = "trajectories")]
use outrigger_wire::robot::State;
use outrigger_wire::time::Instant;

impl<const N: usize> CycleMemory<N> {
    /// Records that the command of this cycle is not passed on to the controller, whose target may then have any speed
    /// from the commanded one down to zero.
    pub(in crate::engine) fn held_back(&mut self) {
        self.following.held_back();
    }

    /// Returns the newest state while the control law moves the arm; `None` at any other time.
    #[cfg(feature = "trajectories")]
    pub(in crate::engine) fn streaming(&self) -> Option<&State<N>> {
        self.state.as_ref().filter(|_| self.stream.begun && self.mode.mode() == Mode::Command)
    }

    /// Has the control law begin at rest if a pause or the speed scaling holds its motion. Call it before another
    /// motion is set.
    #[cfg(feature = "trajectories")]
    pub(in crate::engine) fn settle_held<L: Law<N>>(&self, law: &mut L) {
        if let Some(state) = self.streaming() {
            self.stream.settle_held(law, state, self.chain.as_ref());
        }
    }

    /// Returns the limits of the arm's motion that apply to every command.
    pub(in crate::engine) const fn limits(&self) -> &Limits<N> {
        self.stream.governor.limits()
    }

    /// Has the controller execute the move `asked` by itself: see [`ModeMachine::delegate`]. The control law is
    /// suspended from now on.
    ///
    /// # Errors
    /// The reason against it; nothing changes then.
    pub(in crate::engine) fn delegate(&mut self, asked: &JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        self.stream.governor.judge_move(asked, state)?;
        let number = self.mode.delegate(now, &self.evidence)?;
        #[cfg(feature = "programs")]
        self.guide.clear();
        self.rest_law();
        Ok(number)
    }

    /// Ends the motion of the control law: it starts again from rest, and nothing is resumed.
    pub(in crate::engine) fn rest_law(&mut self) {
        if core::mem::take(&mut self.stream.begun) {
            self.law_ended = true;
        }
        self.stream.resume = false;
        #[cfg(feature = "programs")]
        self.stream.end_halt();
        self.stream.rest();
    }

    /// Starts freedrive or force mode: see [`Guide::begin`]. The control law is suspended from now on.
    ///
    /// # Errors
    /// The reason against it; nothing changes then.
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn guide(
        &mut self,
        asker: ClientNumber,
        limits: GuideLimits,
        now: Instant,
    ) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        let number = self.guide.begin(asker, limits, &mut self.mode, &self.evidence, state, now)?;
        self.rest_law();
        Ok(number)
    }

    /// Starts force mode together with the move that the controller executes: see [`Guide::join`].
    ///
    /// # Errors
    /// The reason against it; nothing changes then.
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn join(
        &mut self,
        asker: ClientNumber,
        limits: GuideLimits,
        now: Instant,
    ) -> Result<MoveNumber, Reason> {
        let state = self.state.as_ref().ok_or(Reason::EvidenceMissing)?;
        self.guide.join(asker, limits, &self.mode, &self.evidence, state, now)
    }

    /// Returns `true` if the program on the controller reports that it executes a move.
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn executes(&self) -> bool {
        let shown = self.evidence.mirrored.map(|held| held.value);
        self.mode.executes_move() && matches!(shown, Some(Mirrored::Running(_)))
    }

    /// Renews freedrive or force mode on behalf of the client that started it: see [`Guide::renew`].
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn renew(&mut self, asker: ClientNumber, now: Instant) -> Result<(), Reason> {
        self.guide.renew(asker, now)
    }

    /// Ends freedrive or force mode: see [`Guide::end`].
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn end_guide(&mut self) -> Result<(), Reason> {
        self.guide.end(&self.mode)
    }

    /// Returns `true` while freedrive or force mode is active, or about to start.
    #[cfg(feature = "programs")]
    pub(in crate::engine) const fn is_guided(&self) -> bool {
        self.guide.is_on()
    }

    /// Has the control law move the arm again, in place of the controller's own moves: see [`ModeMachine::stream`].
    ///
    /// # Errors
    /// The reason against it; nothing changes then.
    pub(in crate::engine) fn stream(&mut self, now: Instant) -> Result<(), Reason> {
        self.mode.stream(now, &self.evidence)
    }

    /// Ends the move that the controller executes: see [`MoveEnd::ask`].
    #[cfg(feature = "programs")]
    pub(in crate::engine) fn end_move(&mut self, now: Instant) -> Result<(), Reason> {
        self.move_end.ask(&self.mode, now).map(|_| ())
    }
}
