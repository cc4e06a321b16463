//! The part of a law that follows a trajectory, or streamed positions and speeds.
//!
//! A law returns it by [`Law::motion`]; a law that only follows sensors has none.

use super::{FeedError, Law};
#[cfg(feature = "motions")]
use super::{Forward, ForwardError, Forwarding};
use crate::command::Limits;
use crate::trajectory::{Progress, Setpoint, Waypoint};
use outrigger_wire::robot::JointPositions;
#[cfg(feature = "motions")]
use outrigger_wire::robot::State;
use outrigger_wire::time::Duration;

/// The state of a motion at the time it was replaced.
#[cfg(feature = "trajectories")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Replaced {
    /// The progress of the replaced motion.
    pub progress: Progress,
    /// The elapsed part of the replaced motion, in its own time, which the robot's speed scaling slows down.
    pub elapsed: Duration,
}

/// The state of the motion that a control law follows. The default is that of a law without a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MotionStatus {
    /// The progress of the law's motion; [`Progress::Endless`] for a law without a motion.
    pub progress: Progress,
    /// The elapsed part of the law's motion, in its own time, which the robot's speed scaling slows down.
    pub elapsed: Duration,
    /// The number of waypoints that can be appended to the law's motion now.
    pub room: usize,
    /// The state of the stream of speeds, positions or torques to the law.
    #[cfg(feature = "motions")]
    pub forwarding: Forwarding,
}

impl Default for MotionStatus {
    fn default() -> Self {
        Self {
            progress: Progress::Endless,
            elapsed: Duration::ZERO,
            room: 0,
            #[cfg(feature = "motions")]
            forwarding: Forwarding::Idle,
        }
    }
}

impl MotionStatus {
    /// Returns the state of the motion that `law` follows, or the default for a law without one.
    pub fn of<const N: usize>(law: &(impl Law<N> + ?Sized)) -> Self {
        law.motion().map(Motion::status).unwrap_or_default()
    }
}

/// A motion with an end, or a stream of setpoints, that a control law follows.
pub trait Motion<const N: usize> {
    /// Returns the joint positions at which the arm has to be before command is granted, with the tolerance \[rad\];
    /// `None` if the law can begin at any position.
    fn begins_at(&self) -> Option<(JointPositions<N>, f32)> {
        None
    }

    /// Returns the state of the motion that the law follows: progress, elapsed time, room for further waypoints, and
    /// the state of a stream.
    fn status(&self) -> MotionStatus;

    /// Returns the setpoint that the joints are to follow now \[rad, rad/s\]; `None` for a law that follows no
    /// positions.
    fn setpoint(&self) -> Option<&Setpoint<N>> {
        None
    }

    /// Appends a waypoint to the motion that the control law follows at present; the motion ends there if it is the
    /// `last`. The segment from the previous waypoint must be within the `limits`.
    ///
    /// # Errors
    /// Returns the reason for which the waypoint is rejected; the motion does not change.
    fn feed(&mut self, waypoint: &Waypoint<N>, last: bool, limits: &Limits<N>) -> Result<(), FeedError> {
        let _ = (waypoint, last, limits);
        Err(FeedError::NoMotion)
    }

    /// Replaces the present motion by one through these `waypoints`, from the present setpoint and its speed. Positions
    /// are absolute joint angles; times count from now on. The new motion ends with the last of the waypoints; if
    /// `last` is `false`, it is [fed](Self::feed) more.
    ///
    /// # Errors
    /// Returns the reason for which it is rejected; the motion does not change.
    #[cfg(feature = "trajectories")]
    fn replace(&mut self, waypoints: &[Waypoint<N>], last: bool, limits: &Limits<N>) -> Result<Replaced, FeedError> {
        let _ = (waypoints, last, limits);
        Err(FeedError::NoMotion)
    }

    /// Ends the motion where the joints can be brought to rest from now on, each within its acceleration limit and all
    /// at the same time, in their present direction.
    ///
    /// # Errors
    /// Returns the reason for which it is rejected; the motion does not change.
    #[cfg(feature = "trajectories")]
    fn cancel(&mut self, limits: &Limits<N>) -> Result<Replaced, FeedError> {
        let _ = limits;
        Err(FeedError::NoMotion)
    }

    /// Follows these speeds, positions or torques from the next step on, in place of a motion, for as long as they are
    /// valid: see [`Forward`].
    ///
    /// # Errors
    /// Returns the reason for which they are rejected; the setpoint does not change.
    #[cfg(feature = "motions")]
    fn forward(&mut self, forward: &Forward<N>, state: &State<N>, limits: &Limits<N>) -> Result<(), ForwardError> {
        let _ = (forward, state, limits);
        Err(ForwardError::NoJointLaw)
    }

    /// Processes the passage of `dt` in place of a step of the law: called while the arm is held, because the robot's
    /// speed scaling is 0 or the program that executes the commands was paused.
    #[cfg(feature = "motions")]
    fn stand(&mut self, dt: Duration) {
        let _ = dt;
    }
}
