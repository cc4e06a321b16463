//! The segment of a motion between two consecutive waypoints.

#[cfg(feature = "trajectories")]
use super::QuinticSegment;
use super::{CubicSegment, Setpoint, Waypoint};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};

/// The segment of a motion between two consecutive waypoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leg<const N: usize> {
    /// A cubic segment: at least one of the two waypoints has no accelerations.
    Cubic(CubicSegment<N>),
    /// A quintic segment: both waypoints have accelerations.
    #[cfg(feature = "trajectories")]
    Quintic(QuinticSegment<N>),
}

/// Calls the same function of a cubic or a quintic segment.
macro_rules! each {
    ($leg:expr, $segment:ident => $call:expr) => {
        match $leg {
            Leg::Cubic($segment) => $call,
            #[cfg(feature = "trajectories")]
            Leg::Quintic($segment) => $call,
        }
    };
}

impl<const N: usize> Leg<N> {
    /// Creates the segment of the motion from the waypoint `from` to the waypoint `to`.
    #[must_use]
    #[inline]
    pub fn between(from: &Waypoint<N>, to: &Waypoint<N>) -> Self {
        let seconds = (to.at - from.at).as_secs_f32();
        #[cfg(feature = "trajectories")]
        if let (Some(begin), Some(stop)) = (&from.accelerations, &to.accelerations) {
            return Self::Quintic(QuinticSegment::new((&from.setpoint, begin), (&to.setpoint, stop), seconds));
        }
        Self::Cubic(CubicSegment::new(from.setpoint, to.setpoint, seconds))
    }

    /// Returns the setpoint `t` seconds after `from`: the same as [`at`](Self::at), without a copy of the segment.
    // Not inlined: the quintic alone would add 1 kB to each of its two callers.
    #[inline(never)]
    pub(crate) fn setpoint(from: &Waypoint<N>, to: &Waypoint<N>, t: f32) -> Setpoint<N> {
        let seconds = (to.at - from.at).as_secs_f32();
        #[cfg(feature = "trajectories")]
        if let (Some(begin), Some(stop)) = (&from.accelerations, &to.accelerations) {
            return QuinticSegment::new((&from.setpoint, begin), (&to.setpoint, stop), seconds).at(t);
        }
        CubicSegment::setpoint(&from.setpoint, &to.setpoint, seconds, t)
    }

    /// Returns the setpoint `t` seconds after the start. Outside the segment it is that of the nearer end.
    #[must_use]
    #[inline]
    pub fn at(&self, t: f32) -> Setpoint<N> {
        each!(self, segment => segment.at(t))
    }

    /// Returns the lowest and the highest angle of each joint within the segment \[rad\].
    #[must_use]
    pub fn extent(&self) -> (JointPositions<N>, JointPositions<N>) {
        each!(self, segment => segment.extent())
    }

    /// Returns the highest speed of each joint within the segment, as a magnitude \[rad/s\].
    #[must_use]
    pub fn peak_velocities(&self) -> JointVelocities<N> {
        each!(self, segment => segment.peak_velocities())
    }

    /// Returns the highest acceleration of each joint within the segment, as a magnitude \[rad/s²\].
    #[must_use]
    pub fn peak_accelerations(&self) -> JointAccelerations<N> {
        each!(self, segment => segment.peak_accelerations())
    }
}
