//! A motion that the controller executes by itself, checked against the limits before it is sent.
//!
//! | requested | outcome |
//! |---|---|
//! | a goal outside of a joint's range | refused, [`Reason::PositionLimit`] |
//! | a joint faster than its limit | refused, [`Reason::VelocityLimit`] |
//! | a joint that gains or loses speed faster than its limit | refused, [`Reason::AccelerationLimit`] |
//! | along waypoints, from further than 0.02 rad away | refused, [`Reason::PathTolerance`] |
//! | on a line, from a state without pose and speed of the tool | refused, [`Reason::EvidenceMissing`] |
//! | from a state that is NaN or infinite | refused, [`Reason::NotFinite`] |
//!
//! Moves are never shaped: a move that continues without this process must be valid as it is.
//!
//! For a straight line of the tool only the joint angles at the ends are known. It is refused
//! ([`Reason::VelocityLimit`]) if a joint would exceed its limit even at a constant speed from one end to the other.
//! Whether a joint is faster somewhere in between, or leaves its range there, is monitored during the motion
//! ([`LineCourse`](crate::mode::LineCourse)).

#[cfg(feature = "motions")]
use super::Destination;
use super::Governor;
use crate::robot::{Authority, Reason};
use outrigger_wire::math::{norm, sqrt, subtract};
use outrigger_wire::robot::{JointPositions, Pose, State};

#[cfg(feature = "motions")]
type Line = Pose;
/// A type without values for the straight line of a move: without feature `motions` there are no lines, and they take
/// no memory.
#[cfg(not(feature = "motions"))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Line {}

/// A motion that the controller executes: in joint space, with all joints starting and stopping together (`movej`), of
/// the tool on a line (`movel`), or along waypoints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct JointMove<const N: usize> {
    to: JointPositions<N>,
    speed: f32,
    acceleration: f32,
    /// `true` if the motion continues from `to` through waypoints that are sent to the controller while it runs.
    along: bool,
    /// The pose to which the tool moves on a straight line; `None` for a joint motion.
    line: Option<Line>,
}

impl<const N: usize> JointMove<N> {
    /// The least speed \[rad/s, or m/s\] and acceleration \[rad/s², or m/s²\] of a move: programs on the controller
    /// receive millionths.
    pub const LEAST: f32 = 1e-6;
    /// The highest permitted speed of the tool for a move on a straight line \[m/s\].
    pub const FASTEST_LINE: f32 = 3.0;
    /// The highest permitted acceleration of the tool for a move on a straight line \[m/s²\].
    pub const STEEPEST_LINE: f32 = 20.0;

    /// Creates a motion to `to` \[rad\], in which the joint with the longest distance reaches `speed` \[rad/s\] by
    /// `acceleration` \[rad/s²\]; `None` unless all are finite, and both of these at least [`LEAST`](Self::LEAST).
    #[must_use]
    pub fn new(to: JointPositions<N>, speed: f32, acceleration: f32) -> Option<Self> {
        let fits = |value: f32| value.is_finite() && value >= Self::LEAST;
        (to.is_finite() && fits(speed) && fits(acceleration)).then_some(Self {
            to,
            speed,
            acceleration,
            along: false,
            line: None,
        })
    }

    /// Creates a motion to this destination: of the joints as by [`new`](Self::new), or of the tool on a straight line,
    /// which reaches `speed` \[m/s\] by `acceleration` \[m/s²\]. Returns `None` unless all are finite, both of these at
    /// least [`LEAST`](Self::LEAST), and for a line at most [`FASTEST_LINE`](Self::FASTEST_LINE) and
    /// [`STEEPEST_LINE`](Self::STEEPEST_LINE).
    #[cfg(feature = "motions")]
    #[must_use]
    pub fn towards(destination: Destination<N>, speed: f32, acceleration: f32) -> Option<Self> {
        let Destination { joints, line } = destination;
        let fits = |pose: Pose| pose.is_finite() && speed <= Self::FASTEST_LINE && acceleration <= Self::STEEPEST_LINE;
        if !line.is_none_or(fits) {
            return None;
        }
        Self::new(joints, speed, acceleration).map(|asked| Self { line, ..asked })
    }

    /// Creates a motion that starts at `start` \[rad\] and continues through waypoints that are sent to the controller
    /// while it runs, at no time faster than `speed` \[rad/s\]; `None` unless all are finite, and `speed` at least
    /// [`LEAST`](Self::LEAST).
    #[must_use]
    pub fn along(start: JointPositions<N>, speed: f32) -> Option<Self> {
        Self::new(start, speed, speed).map(|begun| Self { along: true, ..begun })
    }

    /// Returns whether the move begins at [`to`](Self::to) and continues through waypoints, instead of ending there.
    #[must_use]
    pub const fn leads_on(&self) -> bool {
        self.along
    }

    /// Returns the joint angles at the end \[rad\], or those from which the motion continues through waypoints.
    #[must_use]
    pub const fn to(&self) -> &JointPositions<N> {
        &self.to
    }

    /// Returns the pose to which the tool moves on a straight line \[m, rad\]; `None` for a motion in joint space.
    #[must_use]
    pub const fn line(&self) -> Option<&Pose> {
        #[cfg(feature = "motions")]
        let line = self.line.as_ref();
        #[cfg(not(feature = "motions"))]
        let line = None;
        line
    }

    /// Returns the highest speed of the joint with the longest distance \[rad/s\]; on a line, of the tool \[m/s\].
    #[must_use]
    pub const fn speed(&self) -> f32 {
        self.speed
    }

    /// Returns the acceleration and deceleration of the joint with the longest distance \[rad/s²\]; on a line, of the
    /// tool \[m/s²\].
    #[must_use]
    pub const fn acceleration(&self) -> f32 {
        self.acceleration
    }

    /// Returns the time \[s\] that the move takes for a distance of this length \[rad, or m\], from rest to rest.
    fn shortest(&self, length: f32) -> f32 {
        let ramps = self.speed / self.acceleration;
        if length > self.speed * ramps { length / self.speed + ramps } else { 2.0 * sqrt(length / self.acceleration) }
    }
}

/// A move of the controller that is within the limits and may be sent, only during the call of the engine in which it
/// was approved.
///
/// Only a [`Governor`] creates one. It holds by value the [`Authority`] to send the move, as
/// [`Approved`](super::Approved) does.
#[derive(Debug)]
#[must_use]
pub struct ApprovedMove<'machine, const N: usize> {
    asked: &'machine JointMove<N>,
    authority: Authority<'machine>,
}

impl<'machine, const N: usize> ApprovedMove<'machine, N> {
    /// Returns the move, which is within the limits, and the [`Authority`] that permits to send it, which exists only
    /// while the arm is commanded.
    #[must_use]
    pub fn into_parts(self) -> (JointMove<N>, Authority<'machine>) {
        (*self.asked, self.authority)
    }
}

impl<const N: usize> Governor<N> {
    /// The largest distance of each joint from the start of a motion along waypoints at which the motion may begin
    /// \[rad\].
    pub const BEGINS_WITHIN: f32 = 0.02;
    /// The displacement of the tool \[m\] below which a line counts as a pure rotation.
    const TURNS_ONLY: f32 = 0.001;

    /// Checks that an arm in `state` may be commanded to execute the move `asked`.
    ///
    /// # Errors
    /// See the table of this module.
    pub fn judge_move(&self, asked: &JointMove<N>, state: &State<N>) -> Result<(), Reason> {
        if !state.positions.is_finite() {
            return Err(Reason::NotFinite);
        }
        let limits = self.limits();
        let ranges = limits.position_min.iter().zip(limits.position_max.iter());
        if !asked.to.iter().zip(ranges).all(|(to, (min, max))| (min..=max).contains(&to)) {
            return Err(Reason::PositionLimit);
        }
        let way = asked.to.zip_with(state.positions.as_array(), |to, from| to - from);
        let longest = way.max_abs();
        if asked.along {
            // Each leg is checked against the limits separately.
            return if longest <= Self::BEGINS_WITHIN { Ok(()) } else { Err(Reason::PathTolerance) };
        }
        if let Some(line) = asked.line() {
            let (Some(tool), Some(_)) = (&state.tcp_pose, &state.tcp_speed) else {
                return Err(Reason::EvidenceMissing);
            };
            let length = norm(subtract(line.position, tool.position));
            let shortest = asked.shortest(length);
            let slow_enough = |way: f32, limit: &f32| way.abs() <= limit * shortest;
            // A pure rotation has no linear speed from which a duration could be computed.
            let held = length < Self::TURNS_ONLY
                || way.iter().zip(&limits.velocity.0).all(|(way, limit)| slow_enough(way, limit));
            return if held { Ok(()) } else { Err(Reason::VelocityLimit) };
        }
        if longest <= 0.0 {
            return Ok(());
        }
        // Each joint gets a share of speed and acceleration that is proportional to its distance.
        let within = |most: f32, limits: &[f32; N]| {
            way.iter().zip(limits).all(|(way, limit)| most * (way.abs() / longest) <= *limit)
        };
        if !within(asked.speed, &limits.velocity.0) {
            return Err(Reason::VelocityLimit);
        }
        if !within(asked.acceleration, &limits.acceleration.0) {
            return Err(Reason::AccelerationLimit);
        }
        Ok(())
    }

    /// Approves or refuses a move that is to be sent to the controller now.
    ///
    /// # Errors
    /// See [`judge_move`](Self::judge_move).
    pub fn approve_move<'machine>(
        &self,
        authority: Authority<'machine>,
        asked: &'machine JointMove<N>,
        state: &State<N>,
    ) -> Result<ApprovedMove<'machine, N>, Reason> {
        self.judge_move(asked, state)?;
        Ok(ApprovedMove { asked, authority })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Limits;
    use outrigger_wire::robot::{JointAccelerations, JointVelocities};

    fn judged(to: [f32; 2], speed: f32, acceleration: f32, at: [f32; 2]) -> Result<(), Reason> {
        let limits = Limits {
            position_min: JointPositions([-1.0, -2.0]),
            position_max: JointPositions([1.0, 2.0]),
            velocity: JointVelocities([1.0, 0.5]),
            acceleration: JointAccelerations([2.0, 1.0]),
            ..Limits::default()
        };
        let asked = JointMove::new(JointPositions(to), speed, acceleration).expect("a move");
        Governor::new(limits).judge_move(&asked, &State { positions: JointPositions(at), ..State::default() })
    }

    #[test]
    fn a_goal_outside_of_its_range_is_refused_wherever_the_arm_is() {
        assert_eq!(judged([1.0, -2.0], 0.5, 1.0, [0.0, 0.0]), Ok(()));
        assert_eq!(judged([0.5, 0.0], 0.5, 1.0, [1.5, 0.0]), Ok(()), "back into it");
        for to in [[1.01, 0.0], [-1.01, 0.0], [0.0, 2.01], [0.0, -2.01]] {
            assert_eq!(judged(to, 0.1, 0.1, [0.0, 0.0]), Err(Reason::PositionLimit), "{to:?}");
        }
        assert_eq!(judged([0.0, 0.0], 0.1, 0.1, [f32::NAN, 0.0]), Err(Reason::NotFinite));
    }

    #[test]
    fn a_speed_or_an_acceleration_below_a_millionth_is_no_move() {
        let new = |speed, acceleration| JointMove::new(JointPositions([0.1, 0.0]), speed, acceleration);
        assert!(new(JointMove::<2>::LEAST, JointMove::<2>::LEAST).is_some());
        for below in [9e-7, 1e-20, 0.0, -1.0, f32::NAN] {
            assert_eq!((new(below, 1.0), new(1.0, below)), (None, None), "{below}");
        }
    }

    #[test]
    fn each_joint_is_held_to_its_limits_by_its_share_of_the_way() {
        assert_eq!(judged([1.0, 0.0], 1.0, 2.0, [0.0, 0.0]), Ok(()), "the fast joint alone");
        assert_eq!(judged([1.0, 0.5], 1.0, 2.0, [0.0, 0.0]), Ok(()), "the other has half the way");
        assert_eq!(judged([1.0, 0.6], 1.0, 1.0, [0.0, 0.0]), Err(Reason::VelocityLimit));
        assert_eq!(judged([1.0, 0.6], 0.5, 2.0, [0.0, 0.0]), Err(Reason::AccelerationLimit));
        assert_eq!(judged([1.0, 0.0], 1.1, 2.0, [0.0, 0.0]), Err(Reason::VelocityLimit));
        assert_eq!(judged([-1.0, 0.0], 1.0, 2.1, [0.0, 0.0]), Err(Reason::AccelerationLimit));
        assert_eq!(judged([0.0, 0.0], 9.0, 9.0, [0.0, 0.0]), Ok(()), "no way to go");
    }

    #[cfg(feature = "motions")]
    #[test]
    fn a_line_is_held_to_its_end_and_to_how_fast_joints_are_on_the_whole() {
        use outrigger_wire::robot::{Pose, Twist};

        let limits = Limits {
            position_min: JointPositions([-1.0; 2]),
            position_max: JointPositions([1.0; 2]),
            velocity: JointVelocities([0.5; 2]),
            ..Limits::default()
        };
        let judged = |joints, x: f32, speed, sees: bool| {
            let pose = Pose { position: [x, 0.0, 0.0], ..Pose::default() };
            let destination = Destination { joints: JointPositions(joints), line: Some(pose) };
            let asked = JointMove::towards(destination, speed, 1.0).expect("a move");
            let known = (sees.then(Pose::default), sees.then(Twist::default));
            let state = State { tcp_pose: known.0, tcp_speed: known.1, ..State::default() };
            Governor::new(limits).judge_move(&asked, &state)
        };
        // Half a metre at 0.4 m/s and 1 m/s²: 0.5 / 0.4 + 0.4 / 1 s, in which a joint may move by 0.825 rad.
        assert_eq!(judged([0.8, 0.0], 0.5, 0.4, true), Ok(()));
        assert_eq!(judged([0.0, -0.85], 0.5, 0.4, true), Err(Reason::VelocityLimit));
        // So short that it never reaches that speed: 2 · √(0.04 / 1) s.
        assert_eq!(judged([0.19, 0.0], 0.04, 0.4, true), Ok(()));
        assert_eq!(judged([0.21, 0.0], 0.04, 0.4, true), Err(Reason::VelocityLimit));
        assert_eq!(judged([0.9, 0.0], 0.0, 0.4, true), Ok(()), "it only turns");
        assert_eq!(judged([1.1, 0.0], 0.5, 0.1, true), Err(Reason::PositionLimit));
        assert_eq!(judged([0.1, 0.0], 0.5, 0.1, false), Err(Reason::EvidenceMissing));
    }

    #[cfg(feature = "motions")]
    #[test]
    fn a_line_that_no_tool_goes_is_no_move() {
        use outrigger_wire::robot::Pose;

        let towards = |position, speed, acceleration| {
            let line = Some(Pose { position, rotation: [0.0; 3] });
            JointMove::<2>::towards(Destination { joints: JointPositions([0.0; 2]), line }, speed, acceleration)
        };
        assert!(towards([0.4, 0.0, 0.3], 3.0, 20.0).is_some());
        for (position, speed, acceleration) in [
            ([f32::NAN, 0.0, 0.0], 0.1, 1.0),
            ([0.4, 0.0, 0.3], 3.1, 1.0),
            ([0.4, 0.0, 0.3], 0.1, 21.0),
            ([0.4, 0.0, 0.3], f32::NAN, 1.0),
            ([0.4, 0.0, 0.3], 0.1, 0.0),
        ] {
            assert_eq!(towards(position, speed, acceleration), None, "{position:?} {speed} {acceleration}");
        }
    }

    #[test]
    fn what_is_no_number_or_stands_still_is_no_move() {
        let to = JointPositions([0.0; 2]);
        for (speed, acceleration) in [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (f32::NAN, 1.0), (1.0, f32::INFINITY)] {
            assert_eq!(JointMove::new(to, speed, acceleration), None, "{speed} {acceleration}");
        }
        assert_eq!(JointMove::new(JointPositions([0.0, f32::NAN]), 1.0, 1.0), None);
    }
}
