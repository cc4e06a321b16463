//! A motion through waypoints, from rest to rest.

use heapless::Vec;

use super::{CubicSegment, Setpoint};
use crate::robot::{JointAccelerations, JointPositions, JointVelocities};
use crate::time::{Duration, to_f32};

/// Most waypoints of one trajectory.
pub const MAX_WAYPOINTS: usize = 16;

/// A setpoint with the time it is due, from the start of the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Waypoint<const N: usize> {
    /// Where to be, and how fast.
    pub setpoint: Setpoint<N>,
    /// When.
    pub at: Duration,
}

/// Waypoints that make no motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TrajectoryError {
    /// Fewer than two waypoints.
    TooFew,
    /// More than [`MAX_WAYPOINTS`].
    TooMany,
    /// The first waypoint is not at time zero, or this one (from 0) is not later than the one before.
    Order(u8),
    /// A number of this waypoint is NaN or infinite.
    NotFinite(u8),
    /// The first or last waypoint (given from 0) has a speed: a motion begins and ends at rest.
    NotAtRest(u8),
}

impl core::fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooFew => f.write_str("a trajectory needs at least two waypoints"),
            Self::TooMany => write!(f, "more than {MAX_WAYPOINTS} waypoints"),
            Self::Order(0) => f.write_str("the first waypoint must be at time 0"),
            Self::Order(i) => write!(f, "waypoint {i} must be later than the one before"),
            Self::NotFinite(i) => write!(f, "waypoint {i} has a number that is NaN or infinite"),
            Self::NotAtRest(i) => write!(f, "waypoint {i} is an end of the trajectory and must have no speed"),
        }
    }
}

impl core::error::Error for TrajectoryError {}

/// A motion from rest to rest through two or more waypoints, cubic in between.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Trajectory<const N: usize> {
    waypoints: Vec<Waypoint<N>, MAX_WAYPOINTS>,
}

impl<const N: usize> Trajectory<N> {
    /// The motion through these waypoints.
    ///
    /// # Errors
    /// What is wrong with them; positions are compared with limits by whoever knows the limits.
    pub fn through(waypoints: &[Waypoint<N>]) -> Result<Self, TrajectoryError> {
        let [first, .., last] = waypoints else {
            return Err(TrajectoryError::TooFew);
        };
        let own = Vec::from_slice(waypoints).map_err(|_| TrajectoryError::TooMany)?;
        let mut previous = None;
        for (i, waypoint) in (0_u8..).zip(waypoints) {
            let Setpoint { positions, velocities } = &waypoint.setpoint;
            if !(positions.is_finite() && velocities.is_finite()) {
                return Err(TrajectoryError::NotFinite(i));
            }
            let in_order = previous.map_or(waypoint.at == Duration::ZERO, |before| waypoint.at > before);
            if !in_order {
                return Err(TrajectoryError::Order(i));
            }
            previous = Some(waypoint.at);
        }
        for (i, end) in [(0, first), (own.len().saturating_sub(1), last)] {
            if end.setpoint.velocities != JointVelocities::ZERO {
                return Err(TrajectoryError::NotAtRest(i as u8));
            }
        }
        Ok(Self { waypoints: own })
    }

    /// Time from start to end at full speed.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.waypoints.last().map_or(Duration::ZERO, |w| w.at)
    }

    /// The segments with the time each begins.
    fn segments(&self) -> impl Iterator<Item = (Duration, CubicSegment<N>)> + '_ {
        self.waypoints
            .iter()
            .zip(self.waypoints.iter().skip(1))
            .map(|(from, to)| (from.at, CubicSegment::new(from.setpoint, to.setpoint, (to.at - from.at).as_secs_f32())))
    }

    /// The setpoint `nanos` ns after the start; after the end, the last waypoint.
    #[must_use]
    pub fn at_nanos(&self, nanos: u64) -> Setpoint<N> {
        let mut legs = self.waypoints.iter().zip(self.waypoints.iter().skip(1));
        let due = |w: &Waypoint<N>| w.at.as_micros().saturating_mul(1_000);
        match legs.find(|(_, to)| nanos < due(to)) {
            Some((from, to)) => {
                let segment = CubicSegment::new(from.setpoint, to.setpoint, (to.at - from.at).as_secs_f32());
                segment.at(to_f32(nanos.saturating_sub(due(from))) * 1e-9)
            }
            None => self.waypoints.last().map_or_else(Setpoint::default, |w| w.setpoint),
        }
    }

    /// The lowest and the highest angle of each joint on the way \[rad\], between waypoints as well.
    #[must_use]
    pub fn extent(&self) -> (JointPositions<N>, JointPositions<N>) {
        let first = self.at_nanos(0).positions;
        self.segments().fold((first, first), |(lowest, highest), (_, segment)| {
            let (low, high) = segment.extent();
            let lowest = lowest.zip_with(low.as_array(), |a, b| a.min(*b));
            (lowest, highest.zip_with(high.as_array(), |a, b| a.max(*b)))
        })
    }

    /// The highest speed of each joint on the way \[rad/s\]: to be compared with the limits before starting.
    #[must_use]
    pub fn peak_velocities(&self) -> JointVelocities<N> {
        self.segments().fold(JointVelocities::ZERO, |peak, (_, segment)| {
            peak.zip_with(segment.peak_velocities().as_array(), |a, b| a.max(*b))
        })
    }

    /// The highest acceleration of each joint on the way \[rad/s²\].
    #[must_use]
    pub fn peak_accelerations(&self) -> JointAccelerations<N> {
        self.segments().fold(JointAccelerations::ZERO, |peak, (_, segment)| {
            peak.zip_with(segment.peak_accelerations().as_array(), |a, b| a.max(*b))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waypoint(q: f32, v: f32, millis: u64) -> Waypoint<1> {
        let setpoint = Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) };
        Waypoint { setpoint, at: Duration::from_millis(millis) }
    }

    #[test]
    fn waypoints_that_make_no_motion_are_refused_by_number() {
        let error = |waypoints: &[Waypoint<1>]| Trajectory::through(waypoints).err();
        assert_eq!(error(&[]), Some(TrajectoryError::TooFew));
        assert_eq!(error(&[waypoint(0.0, 0.0, 0)]), Some(TrajectoryError::TooFew));
        assert_eq!(error(&[waypoint(0.0, 0.0, 1), waypoint(0.0, 0.0, 2)]), Some(TrajectoryError::Order(0)));
        let stands = [waypoint(0.0, 0.0, 0), waypoint(0.0, 0.0, 5), waypoint(0.0, 0.0, 5)];
        assert_eq!(error(&stands), Some(TrajectoryError::Order(2)));
        assert_eq!(error(&[waypoint(0.0, 0.0, 0), waypoint(f32::NAN, 0.0, 5)]), Some(TrajectoryError::NotFinite(1)));
        assert_eq!(error(&[waypoint(0.0, 0.1, 0), waypoint(0.0, 0.0, 5)]), Some(TrajectoryError::NotAtRest(0)));
        assert_eq!(error(&[waypoint(0.0, 0.0, 0), waypoint(0.0, 0.1, 5)]), Some(TrajectoryError::NotAtRest(1)));
        let many: Vec<_, 32> = (0..17).map(|i| waypoint(0.0, 0.0, i)).collect();
        assert_eq!(error(&many), Some(TrajectoryError::TooMany));
    }

    #[test]
    fn there_and_back_passes_its_waypoints() {
        let there_and_back =
            Trajectory::through(&[waypoint(0.0, 0.0, 0), waypoint(-3.0, 0.0, 2_000), waypoint(0.0, 0.0, 4_000)])
                .unwrap();
        let q = |millis: u64| there_and_back.at_nanos(millis * 1_000_000).positions.0[0];
        assert_eq!([q(0), q(2_000), q(4_000), q(9_000)], [0.0, -3.0, 0.0, 0.0]);
        assert_eq!([q(1_000), q(3_000)], [-1.5, -1.5]);
        assert_eq!(there_and_back.duration(), Duration::from_secs(4));
        assert!((there_and_back.peak_velocities().0[0] - 2.25).abs() < 1e-5);
        assert!((there_and_back.peak_accelerations().0[0] - 4.5).abs() < 1e-5);
        assert_eq!(there_and_back.extent(), (JointPositions([-3.0]), JointPositions([0.0])));
    }

    #[test]
    fn a_motion_that_swings_beyond_its_waypoints_says_so() {
        let swings = [waypoint(0.0, 0.0, 0), waypoint(1.0, 2.0, 1_000), waypoint(0.0, 0.0, 2_000)];
        let (lowest, highest) = Trajectory::through(&swings).unwrap().extent();
        assert_eq!(lowest.0[0], 0.0);
        assert!((highest.0[0] - 1.157_407).abs() < 1e-5, "{highest:?}");
    }
}
