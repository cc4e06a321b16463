//! Motion requested from outside, executed by the control law or by the controller. The calls are made between two
//! inputs, in place of an input.

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
    /// Has the controller execute the move `asked` by itself, from where the arm rests. Returns the number under which
    /// the program that executes the move will report it. Call it between two inputs, in place of an input.
    ///
    /// The law is suspended from now on, and a motion that it had not started does not start. The move is sent with a
    /// later state; see [`ModeMachine::delegate`](crate::mode::ModeMachine::delegate).
    ///
    /// Does not compile for a kind of controller that executes no moves.
    ///
    /// # Errors
    /// The first reason against it; nothing changes then. A reason of
    /// [`ModeMachine::delegate`](crate::mode::ModeMachine::delegate), or a limit that the move would exceed.
    pub fn delegate(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        const { assert!(P::DELEGATES, "this kind of controller is given no moves") };
        self.give(asked, now)
    }

    /// Has the controller execute a move like [`delegate`](Self::delegate), in programs that support any kind of
    /// controller.
    ///
    /// # Errors
    /// Those of [`delegate`](Self::delegate), and [`Reason::NoSuchProgram`] for a kind of controller that executes no
    /// moves.
    pub fn offer(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        if P::DELEGATES { self.give(asked, now) } else { Err(Reason::NoSuchProgram) }
    }

    /// Asks the controller for the joint positions of a pose, or for the pose of joint positions. Nothing moves. The
    /// [answer](Self::located) arrives some states later; [`JointMove::towards`] turns it into a move for
    /// [`delegate`](Self::delegate). An earlier question is discarded. Call it in place of an input.
    ///
    /// # Errors
    /// [`Reason::NotCommanding`] while the arm is not commanded, [`Reason::NotFinite`], and if no program of ours can
    /// answer [`Reason::NoSuchProgram`] or [`Reason::ProgramAway`].
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

    /// Returns the controller's answer to the last call of [`locate`](Self::locate); `None` before it arrives.
    #[cfg(feature = "motions")]
    #[must_use]
    pub fn located(&self) -> Option<Result<Destination<N>, LocateError>> {
        self.peer.located()
    }

    /// Appends a waypoint to a move along waypoints ([`JointMove::along`]). Its leg starts at the last waypoint or, for
    /// the first one, where the move begins. The move ends at the waypoint if it is the `last`. Call it in place of an
    /// input, like [`delegate`](Self::delegate). If the next waypoint is late, the controller brings the arm to rest,
    /// and the move has ended.
    ///
    /// # Errors
    /// The reason for which it is rejected: no such move, no room ([`leg_room`](Self::leg_room)), a time that does not
    /// increase, or a limit that the arm would exceed on the way there. Nothing changes then.
    pub fn lead_on(&mut self, to: &Waypoint<N>, last: bool) -> Result<(), FeedError> {
        let leg = self.peer.leg_to(to, last)?;
        survey(&leg, &self.config.limits, Some(&JointPositions::ZERO)).map_err(FeedError::Beyond)?;
        self.account();
        self.record_change();
        self.peer.lead_on(to, last);
        Ok(())
    }

    /// Returns the number of waypoints that [`lead_on`](Self::lead_on) accepts now.
    #[must_use]
    pub fn leg_room(&self) -> usize {
        self.peer.leg_room()
    }

    /// Returns the time since the beginning of the move along waypoints, in the move's own time (which a lower speed scaling
    /// slows down), as its program reports it; `None` if there is no such move.
    #[must_use]
    pub fn led(&self) -> Option<Duration> {
        self.peer.led()
    }

    /// Sets the tolerances of the move along waypoints: the distances that the target and the measured joints may have
    /// from the place that the program reports. Beyond one, commanding ends with [`Reason::PathTolerance`] or
    /// [`Reason::GoalTolerance`]. Call it after [`delegate`](Self::delegate), also in place of an input.
    ///
    /// # Errors
    /// [`FeedError::NoMotion`] if there is no such move.
    #[cfg(feature = "motions")]
    pub fn hold_to(&mut self, tolerances: Tolerances<N>) -> Result<(), FeedError> {
        self.account();
        self.record_change();
        self.peer.hold_to(tolerances)
    }

    /// Returns the monitor of the tolerances of the move along waypoints, which contains whether the move has reached
    /// its goal and how late it is; `None` if the move has no tolerances.
    #[cfg(feature = "motions")]
    #[must_use]
    pub fn tolerated(&self) -> Option<&Watch<N>> {
        self.peer.tolerated()
    }

    /// Returns `true` if the last request that was granted was to resume a suspended motion, and the controller has not
    /// started a motion by itself since then.
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

    /// Has the control law move the arm again, in place of the controller's own moves, starting from where the arm
    /// rests: see [`ModeMachine::stream`](crate::mode::ModeMachine::stream). Call it in place of an input, like
    /// [`delegate`](Self::delegate). Does not compile for a kind of controller that executes no moves.
    ///
    /// # Errors
    /// The reason against it; nothing changes then.
    pub fn stream(&mut self, now: Instant) -> Result<(), Reason> {
        const { assert!(P::DELEGATES, "this kind of controller is given no moves") };
        self.account();
        self.cycle.stream(now)?;
        self.record_change();
        Ok(())
    }

    /// Appends a waypoint to the motion that the law follows. The motion ends there if it is the `last`. Call it
    /// between two inputs, in place of an input. `motion_status().room` is the number of waypoints that are accepted
    /// now.
    ///
    /// # Errors
    /// The reason for which it is rejected: a fault of the waypoint, or a limit that the arm would exceed on the way
    /// there. Nothing changes then.
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

    /// Replaces the motion that the law follows by one through these `waypoints`, from the next state on. The change is
    /// smooth: the new motion starts with the joint setpoints of the old one. Positions are those of the joints, and
    /// times count from now on. Returns what became of the old motion. Its waypoints are discarded, and it is never
    /// resumed. Call it in place of an input, like [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// The reason against it; the old motion continues then. [`FeedError::NotCommanding`] unless the law moves the arm,
    /// a fault of a waypoint, or a limit that the arm would exceed, also on its way to the first waypoint.
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

    /// Brings the motion that the law follows to rest from now on, within the acceleration limits and along the present
    /// direction of the joints. The motion is then finished: the arm is held, and another motion can be set. Returns
    /// what became of the motion. A [release](super::Input::Release) stops harder, by the controller's own means. Call
    /// it in place of an input, like [`replace`](Self::replace).
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace); the motion continues then.
    #[cfg(feature = "trajectories")]
    pub fn cancel(&mut self) -> Result<Replaced, FeedError> {
        self.account();
        self.cycle.streaming().ok_or(FeedError::NotCommanding)?;
        self.cycle.settle_held(&mut self.law);
        let cancelled = self.law.motion_mut().ok_or(FeedError::NoMotion)?.cancel(self.cycle.limits())?;
        self.record_change();
        Ok(cancelled)
    }

    /// Has the law follow these speeds, positions or torques in place of a motion, from the next state on and for as
    /// long as they [hold](Forward::holds). Call it in place of an input, like [`feed`](Self::feed).
    /// `motion_status().forwarding` reports the status.
    ///
    /// # Errors
    /// The reason against it; the previous command continues then. [`ForwardError::NotCommanding`] unless the law moves
    /// the arm; the errors of [`Forwarded::fits`](crate::law::Forwarded::fits) and of
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
