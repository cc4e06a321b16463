//! The way from one waypoint to the next.

#[cfg(feature = "trajectories")]
use super::QuinticSegment;
use super::{CubicSegment, Setpoint, Waypoint};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};

/// The way from one waypoint to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leg<const N: usize> {
    /// One of the two has no accelerations.
    Cubic(CubicSegment<N>),
    /// Both have.
    #[cfg(feature = "trajectories")]
    Quintic(QuinticSegment<N>),
}

/// The same call on whichever it is.
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
    /// From `from` to `to`.
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

    /// The setpoint `t` seconds after `from`: what [`at`](Self::at) of the same says, without a copy of it.
    // Not inlined: the quintic of it alone is 1 kB in each of its two callers.
    #[inline(never)]
    pub(crate) fn setpoint(from: &Waypoint<N>, to: &Waypoint<N>, t: f32) -> Setpoint<N> {
        let seconds = (to.at - from.at).as_secs_f32();
        #[cfg(feature = "trajectories")]
        if let (Some(begin), Some(stop)) = (&from.accelerations, &to.accelerations) {
            return QuinticSegment::new((&from.setpoint, begin), (&to.setpoint, stop), seconds).at(t);
        }
        CubicSegment::setpoint(&from.setpoint, &to.setpoint, seconds, t)
    }

    /// The setpoint `t` seconds after its start; before and after it, that of its ends.
    #[must_use]
    #[inline]
    pub fn at(&self, t: f32) -> Setpoint<N> {
        each!(self, segment => segment.at(t))
    }

    /// The lowest and the highest angle of each joint on the way \[rad\].
    #[must_use]
    pub fn extent(&self) -> (JointPositions<N>, JointPositions<N>) {
        each!(self, segment => segment.extent())
    }

    /// The highest speed of each joint on the way, as a magnitude \[rad/s\].
    #[must_use]
    pub fn peak_velocities(&self) -> JointVelocities<N> {
        each!(self, segment => segment.peak_velocities())
    }

    /// The highest acceleration of each joint on the way, as a magnitude \[rad/s²\].
    #[must_use]
    pub fn peak_accelerations(&self) -> JointAccelerations<N> {
        each!(self, segment => segment.peak_accelerations())
    }
}
