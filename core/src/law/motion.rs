//! The part of a law that follows a trajectory, or positions and speeds that somebody streams.
//!
//! A law returns it by [`Law::motion`]; a law of sensors alone has none.

use super::{FeedError, Law};
#[cfg(feature = "motions")]
use super::{Forward, ForwardError, Forwarding};
use crate::command::Limits;
use crate::trajectory::{Progress, Setpoint, Waypoint};
use outrigger_wire::robot::JointPositions;
#[cfg(feature = "motions")]
use outrigger_wire::robot::State;
use outrigger_wire::time::Duration;

/// The state in which a motion was replaced.
#[cfg(feature = "trajectories")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Replaced {
    /// The progress that it had made.
    pub progress: Progress,
    /// The part of its own time that had passed.
    pub elapsed: Duration,
}

/// The state of a motion. The default is that of a law without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MotionStatus {
    /// The progress of a motion with an end.
    pub progress: Progress,
    /// The part of its time that has passed, at the motion's own speed.
    pub elapsed: Duration,
    /// The number of waypoints that can be fed now.
    pub room: usize,
    /// The stage of a stream of speeds, positions or torques.
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

/// A motion with an end, or a stream of set-points, that a law follows.
pub trait Motion<const N: usize> {
    /// The joints at which the arm has to stand before command is granted, with the tolerance \[rad\]; none where the law
    /// begins wherever the arm stands.
    fn begins_at(&self) -> Option<(JointPositions<N>, f32)> {
        None
    }

    /// The state of the motion.
    fn status(&self) -> MotionStatus;

    /// The set-point that the joints are to follow now; `None` for a law that follows no positions.
    fn setpoint(&self) -> Option<&Setpoint<N>> {
        None
    }

    /// Adds a waypoint to the motion that is followed, behind those that are known; the motion ends there where it is the
    /// `last`. It is compared with the `limits` on the way there from the one before.
    ///
    /// # Errors
    /// Why it is not taken; the motion is as before.
    fn feed(&mut self, waypoint: &Waypoint<N>, last: bool, limits: &Limits<N>) -> Result<(), FeedError> {
        let _ = (waypoint, last, limits);
        Err(FeedError::NoMotion)
    }

    /// Follows the motion through these `waypoints` from now on, in place of the one that is followed: from where that wants the
    /// joints now, and as fast. Positions are the joints' own; times count from now on. The new motion ends with the last of the
    /// waypoints, or, where that is not the `last`, is [fed](Self::feed) more.
    ///
    /// # Errors
    /// Why it is not taken; the motion is as before.
    #[cfg(feature = "trajectories")]
    fn replace(&mut self, waypoints: &[Waypoint<N>], last: bool, limits: &Limits<N>) -> Result<Replaced, FeedError> {
        let _ = (waypoints, last, limits);
        Err(FeedError::NoMotion)
    }

    /// Ends the motion where the joints can be brought to rest from now on, each within its acceleration limit and all at once,
    /// in the direction in which they go.
    ///
    /// # Errors
    /// Why it does not; the motion is as before.
    #[cfg(feature = "trajectories")]
    fn cancel(&mut self, limits: &Limits<N>) -> Result<Replaced, FeedError> {
        let _ = limits;
        Err(FeedError::NoMotion)
    }

    /// Follows these speeds, positions or torques from the next step on, in place of a motion, for as long as they hold: see [`Forward`].
    ///
    /// # Errors
    /// Why not; what is wanted is as before.
    #[cfg(feature = "motions")]
    fn forward(&mut self, forward: &Forward<N>, state: &State<N>, limits: &Limits<N>) -> Result<(), ForwardError> {
        let _ = (forward, state, limits);
        Err(ForwardError::NoJointLaw)
    }

    /// Takes the place of a step, `dt` after the last one: the robot's speed scaling is 0, and zero velocity goes out.
    #[cfg(feature = "motions")]
    fn stand(&mut self, dt: Duration) {
        let _ = dt;
    }
}
