//! Motion that is asked for from outside, of the law or of the controller: in place of inputs, between two of them.

use super::Engine;
use super::controller::Controller;
use crate::command::JointMove;
#[cfg(feature = "motions")]
use crate::command::{Destination, LocateError, MoveTarget};
#[cfg(feature = "trajectories")]
use crate::law::Replaced;
use crate::law::{FeedError, Law, survey};
#[cfg(feature = "motions")]
use crate::law::{Forward, ForwardError};
#[cfg(feature = "motions")]
use crate::mode::Mode;
use crate::mode::MoveNumber;
use crate::robot::Reason;
use crate::trajectory::Waypoint;
#[cfg(feature = "motions")]
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::{Duration, Instant};

impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// The controller is to execute `asked` by itself, from where the arm rests: the number that the program which executes
    /// it will mirror. From now on the law rests, and nothing begins with what it was about to do. The move goes out with a
    /// later state; see [`ModeMachine::delegate`](crate::mode::ModeMachine::delegate). In place of an input: call it between two
    /// of them.
    ///
    /// Does not compile beside a kind of controller that is given no moves.
    ///
    /// # Errors
    /// The first reason against, and nothing changes: one of
    /// [`ModeMachine::delegate`](crate::mode::ModeMachine::delegate)'s, or a limit that the move would not hold.
    pub fn delegate(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        const { assert!(P::DELEGATES, "this kind of controller is given no moves") };
        self.give(asked, now)
    }

    /// The same for programs that are beside any kind of controller.
    ///
    /// # Errors
    /// As above, and [`Reason::NoSuchProgram`] beside a kind of controller that is given no moves.
    pub fn offer(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        if P::DELEGATES { self.give(asked, now) } else { Err(Reason::NoSuchProgram) }
    }

    /// The controller is to say where `target` is in the other measure, which takes some states; nothing moves. What was asked for
    /// before is forgotten. With the [answer](Self::located), [`JointMove::towards`] makes the move for
    /// [`delegate`](Self::delegate). In place of an input, like that.
    ///
    /// # Errors
    /// [`Reason::NotCommanding`] in any mode but `Command`, [`Reason::NotFinite`], and where no program of ours can be asked
    /// [`Reason::NoSuchProgram`] or [`Reason::ProgramAway`].
    #[cfg(feature = "motions")]
    pub fn locate(&mut self, target: MoveTarget<N>) -> Result<(), Reason> {
        if self.mode() != Mode::Command {
            return Err(Reason::NotCommanding);
        }
        if !target.is_finite() {
            return Err(Reason::NotFinite);
        }
        self.account();
        self.peer.locate(target)?;
        self.record_change();
        Ok(())
    }

    /// What the controller says of the target that was given to [`locate`](Self::locate) last; `None` before it has.
    #[cfg(feature = "motions")]
    #[must_use]
    pub fn located(&self) -> Option<Result<Destination<N>, LocateError>> {
        self.peer.located()
    }

    /// One waypoint more for the move that leads on ([`JointMove::along`]), from the last one or, at first, from where it
    /// begins; the move ends there where it is the `last`. In place of an input, like [`delegate`](Self::delegate). Where the
    /// next one comes late, the controller brings the arm to rest, and the move has ended.
    ///
    /// # Errors
    /// Why it is not taken: no such move, no room ([`leg_room`](Self::leg_room)), a time that does not rise, or a limit that the
    /// arm would exceed on the way there. Nothing changes then.
    pub fn lead_on(&mut self, to: &Waypoint<N>, last: bool) -> Result<(), FeedError> {
        let leg = self.peer.leg_to(to, last)?;
        survey(&leg, &self.config.limits, Some(&JointPositions::ZERO)).map_err(FeedError::Beyond)?;
        self.account();
        self.record_change();
        self.peer.lead_on(to, last);
        Ok(())
    }

    /// How many waypoints [`lead_on`](Self::lead_on) takes now.
    #[must_use]
    pub fn leg_room(&self) -> usize {
        self.peer.leg_room()
    }

    /// How much of its own time the move that leads on has made, as the program shows that makes it; `None` where none does.
    #[must_use]
    pub fn led(&self) -> Option<Duration> {
        self.peer.led()
    }

    /// The move that leads on is held to these tolerances from now on, in its own time: its target and the measured joints to `path`
    /// where the program says that it is, and after its end to `goal`. Where one does not hold, commanding ends by that name. In
    /// place of an input, like [`delegate`](Self::delegate), after which it is called.
    ///
    /// # Errors
    /// [`FeedError::NoMotion`] where there is no such move.
    #[cfg(feature = "motions")]
    pub fn hold_to(&mut self, tolerances: Tolerances<N>) -> Result<(), FeedError> {
        self.account();
        self.record_change();
        self.peer.hold_to(tolerances)
    }

    /// Whether the move that leads on has come to its goal, and how late it is: `None` where it is held to no tolerances.
    #[cfg(feature = "motions")]
    #[must_use]
    pub fn tolerated(&self) -> Option<&Watch<N>> {
        self.peer.tolerated()
    }

    /// Whether whoever asked last to command has asked to go on with what a stop had suspended, and nothing has begun since that
    /// a controller makes by itself.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.cycle.goes_on()
    }

    fn give(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        self.account();
        let number = self.cycle.delegate(&asked, now)?;
        self.cycle.suspend_ended(&mut self.law);
        self.record_change();
        if let Some(state) = self.cycle.state() {
            self.peer.delegated(number, asked, state);
        }
        Ok(number)
    }

    /// The law is to make the motion again, beginning from where the arm rests: see
    /// [`ModeMachine::stream`](crate::mode::ModeMachine::stream). In place of an input, like [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// Why not; nothing changes then.
    pub fn stream(&mut self, now: Instant) -> Result<(), Reason> {
        const { assert!(P::DELEGATES, "this kind of controller is given no moves") };
        self.account();
        self.cycle.stream(now)?;
        self.record_change();
        Ok(())
    }

    /// One waypoint more for the motion that the law follows; the motion ends there where it is the `last`. In place of an
    /// input: call it between two of them. `motion_status().room` says how many are taken now.
    ///
    /// # Errors
    /// Why it is not taken: what is wrong with it, or a limit that the arm would exceed on the way there. Nothing changes
    /// then.
    pub fn feed(&mut self, waypoint: &Waypoint<N>, last: bool, now: Instant) -> Result<(), FeedError> {
        self.account();
        #[cfg(feature = "record")]
        self.record_waypoint(now, waypoint, last);
        self.wake(now);
        self.cycle.suspend_ended(&mut self.law);
        let limits = self.cycle.limits();
        let taken =
            self.law.motion_mut().ok_or(FeedError::NoMotion).and_then(|motion| motion.feed(waypoint, last, limits));
        self.settle(now);
        taken
    }

    /// From the next state on the law follows the motion through these `waypoints`, in place of the one it follows: smoothly, from
    /// where that wants the joints now. Positions are the joints' own, and times count from now on. What became of the other
    /// motion is returned: its waypoints are forgotten, and it is never gone on with. In place of an input, like
    /// [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// Why not, and the motion goes on as before: [`FeedError::NotCommanding`] in any mode but `Command`; what is wrong with a
    /// waypoint; a limit that the arm would exceed, also on its way to the first of them.
    #[cfg(feature = "trajectories")]
    pub fn replace(&mut self, waypoints: &[Waypoint<N>], last: bool) -> Result<Replaced, FeedError> {
        self.account();
        self.cycle.streaming().ok_or(FeedError::NotCommanding)?;
        self.cycle.settle_held(&mut self.law);
        let replaced =
            self.law.motion_mut().ok_or(FeedError::NoMotion)?.replace(waypoints, last, self.cycle.limits())?;
        self.record_change();
        Ok(replaced)
    }

    /// The motion that the law follows comes to rest from now on, within the acceleration limits and in the direction in which the
    /// joints go, and is finished there: the arm is held, and can be given another motion. What became of it is returned. A
    /// [release](super::Input::Release) stops harder, by the controller's own means. In place of an input, like [`replace`](Self::replace).
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace); the motion goes on as before.
    #[cfg(feature = "trajectories")]
    pub fn cancel(&mut self) -> Result<Replaced, FeedError> {
        self.account();
        self.cycle.streaming().ok_or(FeedError::NotCommanding)?;
        self.cycle.settle_held(&mut self.law);
        let cancelled = self.law.motion_mut().ok_or(FeedError::NoMotion)?.cancel(self.cycle.limits())?;
        self.record_change();
        Ok(cancelled)
    }

    /// From the next state on the law follows these speeds, positions or torques, in place of a motion, for as long as they
    /// [hold](Forward::holds). In place of an input, like [`feed`](Self::feed). `motion_status().forwarding` says how it stands.
    ///
    /// # Errors
    /// Why not, and what was commanded before goes on: [`ForwardError::NotCommanding`] in any mode but `Command`, and while the
    /// controller moves the arm by itself; those of [`Forwarded::fits`](crate::law::Forwarded::fits) and of
    /// [`Motion::forward`](crate::law::Motion::forward).
    #[cfg(feature = "motions")]
    pub fn forward(&mut self, forward: &Forward<N>, now: Instant) -> Result<(), ForwardError> {
        self.account();
        #[cfg(feature = "record")]
        self.record_forward(now, forward);
        self.wake(now);
        let streaming = self.cycle.streaming().ok_or(ForwardError::NotCommanding);
        let taken = streaming.and_then(|state| {
            forward.what.fits(self.cycle.torque_limits().as_ref())?;
            let motion = self.law.motion_mut().ok_or(ForwardError::NoJointLaw)?;
            motion.forward(forward, state, self.cycle.limits())
        });
        self.settle(now);
        taken
    }
}
