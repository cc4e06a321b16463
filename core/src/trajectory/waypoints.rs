//! A motion through waypoints that begins and ends at rest.

use heapless::Vec;

use super::{Leg, Setpoint};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};
use outrigger_wire::time::{Duration, to_f32};

/// The largest number of waypoints that a trajectory holds at a time.
pub const MAX_WAYPOINTS: usize = 16;

/// The joint speed \[rad/s\] below which the first and last waypoint count as at rest: solvers and planners produce
/// 1e-17 to 1e-4 rad/s.
pub const REST_SPEED: f32 = 1e-3;

/// A setpoint with its time from the start of the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Waypoint<const N: usize> {
    /// The joint angles and speeds at the waypoint.
    pub setpoint: Setpoint<N>,
    /// The accelerations \[rad/s²\] if known: between two waypoints that have them the motion is quintic, otherwise
    /// cubic.
    pub accelerations: Option<Accelerations<N>>,
    /// The time of the waypoint from the start of the motion.
    pub at: Duration,
}

/// The joint accelerations at a waypoint.
#[cfg(feature = "trajectories")]
pub type Accelerations<const N: usize> = JointAccelerations<N>;

/// The accelerations of a waypoint: without feature `trajectories` no waypoint has any, and they take no memory.
#[cfg(not(feature = "trajectories"))]
pub type Accelerations<const N: usize> = Never;

/// A type without values, for options that are always `None` in this build.
#[cfg(not(feature = "motions"))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Never {}

impl<const N: usize> Waypoint<N> {
    pub(crate) fn is_finite(&self) -> bool {
        let Setpoint { positions, velocities } = &self.setpoint;
        #[cfg(feature = "trajectories")]
        let accelerations = self.accelerations.is_none_or(|a| a.is_finite());
        #[cfg(not(feature = "trajectories"))]
        let accelerations = true;
        positions.is_finite() && velocities.is_finite() && accelerations
    }

    /// Returns the waypoint as an end of a motion: with zero speeds, if all are below [`REST_SPEED`]. `number` is its index.
    ///
    /// # Errors
    /// [`TrajectoryError::NotAtRest`] with the first joint that moves.
    pub fn at_rest(mut self, number: u32) -> Result<Self, TrajectoryError> {
        let moves = |speed: f32| speed.is_nan() || speed.abs() >= REST_SPEED;
        for (joint, speed) in (0..).zip(self.setpoint.velocities.iter()) {
            if moves(speed) {
                return Err(TrajectoryError::NotAtRest { waypoint: number, joint });
            }
        }
        self.setpoint.velocities = JointVelocities::ZERO;
        Ok(self)
    }

    fn due_nanos(&self) -> u64 {
        self.at.as_micros().saturating_mul(1_000)
    }
}

/// The error for waypoints that do not form a motion. Waypoints are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TrajectoryError {
    /// Fewer than two waypoints were given for a motion.
    TooFew,
    /// More waypoints than [`MAX_WAYPOINTS`], or no room yet for one more.
    TooMany,
    /// The first waypoint is not at time zero, or the waypoint with this number is not later than the one before.
    Order(u32),
    /// A number of the waypoint with this number is NaN or infinite.
    NotFinite(u32),
    /// A joint, counted from 0, has a speed of at least [`REST_SPEED`] at the first or last waypoint.
    NotAtRest {
        /// The number of the waypoint where the joint is not at rest, counted from 0.
        waypoint: u32,
        /// The number of the joint that is not at rest, counted from 0.
        joint: u8,
    },
    /// The motion already has its last waypoint, and takes no more.
    Complete,
}

impl core::fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooFew => f.write_str("a trajectory needs at least two waypoints"),
            Self::TooMany => write!(f, "more than {MAX_WAYPOINTS} waypoints"),
            Self::Order(0) => f.write_str("the first waypoint must be at time 0; to replace an active motion, later"),
            Self::Order(i) => write!(f, "waypoint {i} must be later than the one before"),
            Self::NotFinite(i) => write!(f, "waypoint {i} has a number that is NaN or infinite"),
            // The speed is part of the text: a board has no code that formats floats.
            Self::NotAtRest { waypoint, joint } => write!(
                f,
                "waypoint {waypoint} is an end of the motion, where joint {} must be slower than 0.001 rad/s",
                joint.saturating_add(1)
            ),
            Self::Complete => f.write_str("the motion has its last waypoint already"),
        }
    }
}

impl core::error::Error for TrajectoryError {}

/// A motion from rest to rest through two or more waypoints. At most [`MAX_WAYPOINTS`] are held at a time; the others
/// are [fed](Self::feed) while it runs. Between waypoints with accelerations it is quintic, otherwise cubic.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Trajectory<const N: usize> {
    waypoints: Vec<Waypoint<N>, MAX_WAYPOINTS>,
    /// The number of the motion's waypoints that have been passed and discarded.
    forgotten: u32,
    /// `true` while the last waypoint of the motion is not known.
    open: bool,
}

impl<const N: usize> Trajectory<N> {
    /// Creates the motion through these waypoints.
    ///
    /// # Errors
    /// Returns the first fault of the waypoints. Positions are not compared with joint limits here; the caller does
    /// that.
    pub fn through(waypoints: &[Waypoint<N>]) -> Result<Self, TrajectoryError> {
        Self::of(waypoints, false)
    }

    /// Creates a motion that begins with these waypoints and continues with those that are [fed](Self::feed) later.
    ///
    /// # Errors
    /// Returns the first fault of the waypoints.
    pub fn beginning(waypoints: &[Waypoint<N>]) -> Result<Self, TrajectoryError> {
        Self::of(waypoints, true)
    }

    /// Creates a motion that continues from the setpoint `now`, with its speeds, through these waypoints. The first of
    /// them is due later than time zero. If `last` is `false`, more waypoints are to be [fed](Self::feed).
    ///
    /// # Errors
    /// Returns the first fault of the waypoints, counted from 0; [`TrajectoryError::TooMany`] for [`MAX_WAYPOINTS`] and
    /// more.
    #[cfg(feature = "trajectories")]
    pub fn going_on(now: Setpoint<N>, waypoints: &[Waypoint<N>], last: bool) -> Result<Self, TrajectoryError> {
        let mut own = Vec::new();
        let begin = Waypoint { setpoint: now, accelerations: None, at: Duration::ZERO };
        own.push(begin).map_err(|_| TrajectoryError::TooMany)?;
        let mut previous = Duration::ZERO;
        for (i, waypoint) in (0..).zip(waypoints) {
            follows(waypoint, Some(previous), i)?;
            own.push(*waypoint).map_err(|_| TrajectoryError::TooMany)?;
            previous = waypoint.at;
        }
        if waypoints.is_empty() {
            return Err(TrajectoryError::TooFew);
        }
        if last && let Some(end) = own.last_mut() {
            *end = end.at_rest(waypoints.len().saturating_sub(1) as u32)?;
        }
        Ok(Self { waypoints: own, forgotten: 0, open: !last })
    }

    fn of(waypoints: &[Waypoint<N>], open: bool) -> Result<Self, TrajectoryError> {
        if waypoints.len() < 2 {
            return Err(TrajectoryError::TooFew);
        }
        let mut own: Vec<_, MAX_WAYPOINTS> = Vec::from_slice(waypoints).map_err(|_| TrajectoryError::TooMany)?;
        let mut previous = None;
        for (i, waypoint) in (0..).zip(waypoints) {
            follows(waypoint, previous, i)?;
            previous = Some(waypoint.at);
        }
        if let Some(first) = own.first_mut() {
            *first = first.at_rest(0)?;
        }
        let end = own.len().saturating_sub(1) as u32;
        if !open && let Some(last) = own.last_mut() {
            *last = last.at_rest(end)?;
        }
        Ok(Self { waypoints: own, forgotten: 0, open })
    }

    /// Appends a waypoint when `elapsed` nanoseconds of the motion have passed. Nothing changes if it is rejected.
    ///
    /// # Errors
    /// Returns the fault of the waypoint; [`TrajectoryError::TooMany`] if there is no [room](Self::room) now.
    pub fn feed(&mut self, mut waypoint: Waypoint<N>, last: bool, elapsed: u64) -> Result<(), TrajectoryError> {
        if !self.open {
            return Err(TrajectoryError::Complete);
        }
        let number = self.number(self.waypoints.len());
        follows(&waypoint, self.waypoints.last().map(|before| before.at), number)?;
        if last {
            waypoint = waypoint.at_rest(number)?;
        }
        if self.waypoints.is_full() {
            let passed = self.passed(elapsed);
            let kept = self.waypoints.get(passed..).unwrap_or_default();
            self.waypoints = Vec::from_slice(kept).unwrap_or_default();
            self.forgotten = self.forgotten.saturating_add(passed as u32);
        }
        self.waypoints.push(waypoint).map_err(|_| TrajectoryError::TooMany)?;
        self.open = !last;
        Ok(())
    }

    /// Returns the number of waypoints that can be fed when `elapsed` nanoseconds of the motion have passed; 0 if the
    /// last one is known.
    #[must_use]
    pub fn room(&self, elapsed: u64) -> usize {
        let kept = self.waypoints.len().saturating_sub(self.passed(elapsed));
        if self.open { MAX_WAYPOINTS.saturating_sub(kept) } else { 0 }
    }

    /// Returns whether the last waypoint of the motion is known: always `true` without feature `trajectories`.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        !(cfg!(feature = "trajectories") && self.open)
    }

    /// Returns the last waypoint of the motion that is known so far.
    #[must_use]
    pub fn last(&self) -> Option<&Waypoint<N>> {
        self.waypoints.last()
    }

    /// Returns the number, counted from the motion's first waypoint, of the waypoint at index `place` of the buffer.
    const fn number(&self, place: usize) -> u32 {
        self.forgotten.saturating_add(place as u32)
    }

    /// Returns the number of buffered waypoints that the motion no longer needs.
    fn passed(&self, elapsed: u64) -> usize {
        self.waypoints.iter().skip(1).take_while(|next| elapsed >= next.due_nanos()).count()
    }

    /// Returns the time from the start to the last waypoint known so far, at full speed.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.waypoints.last().map_or(Duration::ZERO, |w| w.at)
    }

    /// Iterates over the segments between the waypoints held at present.
    pub fn legs(&self) -> impl Iterator<Item = Leg<N>> + '_ {
        self.waypoints.iter().zip(self.waypoints.iter().skip(1)).map(|(from, to)| Leg::between(from, to))
    }

    /// Returns the setpoint `nanos` ns after the start; after the end, that of the last waypoint.
    #[must_use]
    pub fn at_nanos(&self, nanos: u64) -> Setpoint<N> {
        let mut legs = self.waypoints.iter().zip(self.waypoints.iter().skip(1));
        match legs.find(|(_, to)| nanos < to.due_nanos()) {
            Some((from, to)) => Leg::setpoint(from, to, to_f32(nanos.saturating_sub(from.due_nanos())) * 1e-9),
            None => self.waypoints.last().map_or_else(Setpoint::default, |w| w.setpoint),
        }
    }

    /// Returns the lowest and the highest angle of each joint \[rad\] over the waypoints held at present, including
    /// those angles between waypoints.
    #[must_use]
    pub fn extent(&self) -> (JointPositions<N>, JointPositions<N>) {
        let first = self.at_nanos(0).positions;
        self.legs().fold((first, first), |(lowest, highest), leg| {
            let (low, high) = leg.extent();
            let lowest = lowest.zip_with(low.as_array(), |a, b| a.min(*b));
            (lowest, highest.zip_with(high.as_array(), |a, b| a.max(*b)))
        })
    }

    /// Returns the highest speed of each joint between the waypoints held at present \[rad/s\], to be compared with the
    /// limits before starting.
    #[must_use]
    pub fn peak_velocities(&self) -> JointVelocities<N> {
        self.legs()
            .fold(JointVelocities::ZERO, |peak, leg| peak.zip_with(leg.peak_velocities().as_array(), |a, b| a.max(*b)))
    }

    /// Returns the highest acceleration of each joint between the waypoints held at present \[rad/s²\].
    #[must_use]
    pub fn peak_accelerations(&self) -> JointAccelerations<N> {
        self.legs().fold(JointAccelerations::ZERO, |peak, leg| {
            peak.zip_with(leg.peak_accelerations().as_array(), |a, b| a.max(*b))
        })
    }
}

/// Checks that `waypoint`, number `i`, can follow a waypoint at the time `previous`.
fn follows<const N: usize>(waypoint: &Waypoint<N>, previous: Option<Duration>, i: u32) -> Result<(), TrajectoryError> {
    if !waypoint.is_finite() {
        return Err(TrajectoryError::NotFinite(i));
    }
    let in_order = previous.map_or(waypoint.at == Duration::ZERO, |before| waypoint.at > before);
    if in_order { Ok(()) } else { Err(TrajectoryError::Order(i)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waypoint(q: f32, v: f32, millis: u64) -> Waypoint<1> {
        let setpoint = Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) };
        Waypoint { setpoint, accelerations: None, at: Duration::from_millis(millis) }
    }

    const fn not_at_rest(waypoint: u32) -> TrajectoryError {
        TrajectoryError::NotAtRest { waypoint, joint: 0 }
    }

    #[test]
    fn a_speed_below_the_bound_at_an_end_counts_as_none_and_one_above_is_refused_by_waypoint_and_joint() {
        // What a solver and a planner leave at the ends of a motion.
        for speed in [0.0, 3e-17, -1e-15, 4e-7, 1e-4, -9.9e-4] {
            let (first, last) = (waypoint(0.0, speed, 0), waypoint(1.0, speed, 1_000));
            let whole = Trajectory::through(&[first, waypoint(0.5, 0.5, 500), last]).unwrap();
            let mut fed = Trajectory::beginning(&[first, waypoint(0.5, 0.5, 500)]).unwrap();
            fed.feed(last, true, 0).unwrap();
            for motion in [whole, fed] {
                let ends = [motion.at_nanos(0), motion.at_nanos(1_000_000_000)];
                assert_eq!(ends.map(|end| end.velocities.0[0]), [0.0; 2], "{speed}");
                assert_eq!(motion.last().map(|end| end.setpoint.velocities.0[0]), Some(0.0), "{speed}");
            }
        }
        for speed in [REST_SPEED, -REST_SPEED, 0.1] {
            let (still, moves) = ([0.0; 2], [0.0, speed]);
            let way = |velocities, millis| Waypoint {
                setpoint: Setpoint { positions: JointPositions([0.0; 2]), velocities: JointVelocities(velocities) },
                accelerations: None,
                at: Duration::from_millis(millis),
            };
            let through = |first, last| Trajectory::through(&[way(first, 0), way(last, 1_000)]).err();
            assert_eq!(through(moves, still), Some(TrajectoryError::NotAtRest { waypoint: 0, joint: 1 }));
            let refused = through(still, moves).unwrap();
            assert_eq!(refused, TrajectoryError::NotAtRest { waypoint: 1, joint: 1 });
            let said = refused.to_string();
            let expected = "waypoint 1 is an end of the motion, where joint 2 must be slower than";
            assert_eq!(said, format!("{expected} {REST_SPEED} rad/s"));
        }
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
        assert_eq!(error(&[waypoint(0.0, 0.1, 0), waypoint(0.0, 0.0, 5)]), Some(not_at_rest(0)));
        assert_eq!(error(&[waypoint(0.0, 0.0, 0), waypoint(0.0, 0.1, 5)]), Some(not_at_rest(1)));
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

    #[test]
    fn a_motion_of_any_length_is_fed_while_it_runs() {
        let point = |i: u64| waypoint(if i.is_multiple_of(2) { 0.0 } else { 1.0 }, 0.0, 100 * i);
        let mut fed = Trajectory::beginning(&[point(0), point(1)]).unwrap();
        let mut next = 2;
        for millis in 0..100_000_u64 {
            let elapsed = millis * 1_000_000;
            while fed.room(elapsed) > 0 {
                fed.feed(point(next), next == 1_000, elapsed).unwrap();
                next += 1;
            }
            let whole = Trajectory::through(&[waypoint(0.0, 0.0, 0), waypoint(1.0, 0.0, 100), waypoint(0.0, 0.0, 200)]);
            let expected = whole.unwrap().at_nanos(elapsed % 200_000_000);
            assert!((fed.at_nanos(elapsed).positions.0[0] - expected.positions.0[0]).abs() < 1e-6);
        }
        assert!(fed.is_complete());
        assert_eq!(fed.feed(point(1_001), true, 0), Err(TrajectoryError::Complete));
    }

    #[test]
    fn what_cannot_be_fed_is_refused_by_its_number_and_changes_nothing() {
        let many: Vec<_, 16> = (0..16).map(|i| waypoint(0.0, 0.0, i)).collect();
        let mut fed = Trajectory::beginning(&many).unwrap();
        let late = 3_500_000;
        assert_eq!(fed.feed(waypoint(0.0, 0.0, 16), false, 0), Err(TrajectoryError::TooMany));
        assert_eq!((fed.room(0), fed.room(late)), (0, 3));
        assert_eq!(fed.feed(waypoint(0.0, 0.0, 15), false, late), Err(TrajectoryError::Order(16)));
        assert_eq!(fed.feed(waypoint(f32::NAN, 0.0, 16), false, late), Err(TrajectoryError::NotFinite(16)));
        assert_eq!(fed.feed(waypoint(0.0, 0.5, 16), true, late), Err(not_at_rest(16)));
        fed.feed(waypoint(0.0, 0.5, 16), false, late).unwrap();
        assert_eq!(fed.feed(waypoint(0.0, 0.0, 16), false, late), Err(TrajectoryError::Order(17)));
    }

    #[cfg(feature = "trajectories")]
    #[test]
    fn a_motion_that_replaces_another_ends_at_rest_by_the_same_bound() {
        let now = Setpoint { positions: JointPositions([0.0]), velocities: JointVelocities([0.3]) };
        let on = Trajectory::going_on(now, &[waypoint(0.5, 0.5, 500), waypoint(1.0, 1e-4, 1_000)], true).unwrap();
        assert_eq!((on.at_nanos(0).velocities, on.last().unwrap().setpoint.velocities.0), (now.velocities, [0.0]));
        let refused = Trajectory::going_on(now, &[waypoint(0.5, 0.1, 500)], true).err();
        assert_eq!(refused, Some(not_at_rest(0)));
        let none = Trajectory::<1>::going_on(now, &[], true).err();
        assert_eq!(none, Some(TrajectoryError::TooFew));
    }

    #[cfg(feature = "trajectories")]
    #[test]
    fn between_waypoints_with_accelerations_the_motion_is_quintic() {
        let with = |q, millis| Waypoint { accelerations: Some(JointAccelerations::ZERO), ..waypoint(q, 0.0, millis) };
        let quintic = Trajectory::through(&[with(0.0, 0), with(1.0, 1_000), waypoint(0.0, 0.0, 2_000)]).unwrap();
        assert!((quintic.peak_velocities().0[0] - 1.875).abs() < 1e-5, "the cubic leg has 1.5");
        assert!((quintic.at_nanos(250_000_000).positions.0[0] - 0.103_515_6).abs() < 1e-6);
        assert!((quintic.at_nanos(1_250_000_000).positions.0[0] - 0.843_75).abs() < 1e-6);
        let nan = Waypoint { accelerations: Some(JointAccelerations([f32::NAN])), ..waypoint(0.0, 0.0, 5) };
        let refused = Trajectory::through(&[waypoint(0.0, 0.0, 0), nan]).err();
        assert_eq!(refused, Some(TrajectoryError::NotFinite(1)));
    }
}
