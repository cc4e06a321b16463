//! The tolerances of a motion: how far joints may deviate from its path, and when they count as being at the goal.
//!
//! | while the motion | a joint with a larger deviation than | ends it with |
//! |---|---|---|
//! | runs, and holds its goal | `path` | [`Reason::PathTolerance`] |
//! | has ended | `goal`, for longer than `goal_time` of the motion's own time | [`Reason::GoalTolerance`] |
//!
//! These are the tolerances of `FollowJointTrajectory` (`core/docs/protocol/ros2-surface.md 7.2`). Time advances by the
//! robot's speed scaling: a robot slowed by its speed slider is not late.

use crate::robot::{BadValue, Range, Reason, range_of};
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

/// The permitted deviations of each joint from a planned motion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Tolerances<const N: usize> {
    /// The largest deviation from the path while the motion runs, and from its end while it holds there \[rad\];
    /// infinite: not checked.
    pub path: JointPositions<N>,
    /// The largest deviation from the end of the motion, after it has ended \[rad\]; infinite: not checked.
    pub goal: JointPositions<N>,
    /// The time, slowed by the robot's speed scaling, from the end of the motion until every joint must be within
    /// `goal`; `None`: unlimited.
    pub goal_time: Option<Duration>,
}

impl<const N: usize> Tolerances<N> {
    /// The range of a finite tolerance \[rad\]; infinity is accepted too.
    pub const ANGLE: Range<f32> = range_of!(0.001 to 6.3 "rad");
    /// The defaults of UR's driver for ROS 2 for goals without tolerances: 0.2 rad on the path, 0.1 rad at the end,
    /// unlimited time.
    pub const DEFAULT: Self = Self { path: JointPositions([0.2; N]), goal: JointPositions([0.1; N]), goal_time: None };

    /// Checks that each tolerance of a joint is in its range or infinite.
    ///
    /// # Errors
    /// Returns the first that is not.
    pub fn check(&self) -> Result<(), BadValue> {
        let fits = |angles: &JointPositions<N>, name| {
            let mut finite = angles.iter().filter(|angle| *angle != f32::INFINITY);
            finite.try_for_each(|angle| Self::ANGLE.check(angle, name))
        };
        fits(&self.path, "path_tolerance")?;
        fits(&self.goal, "goal_tolerance")
    }
}

impl<const N: usize> Default for Tolerances<N> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A monitor of whether a motion stays within its tolerances.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Watch<const N: usize> {
    tolerances: Tolerances<N>,
    /// The time that has passed since the end of the motion, until its goal was reached, slowed by the robot's speed
    /// scaling \[ns\].
    late_nanos: u64,
    arrived: bool,
}

impl<const N: usize> Watch<N> {
    /// Creates the monitor for a motion that has not started, or starts again.
    #[must_use]
    pub const fn new(tolerances: Tolerances<N>) -> Self {
        Self { tolerances, late_nanos: 0, arrived: false }
    }

    /// Returns the tolerances that the motion is held to.
    #[must_use]
    pub const fn tolerances(&self) -> &Tolerances<N> {
        &self.tolerances
    }

    /// Returns whether all joints were within the goal's tolerance at some time since the end of the motion.
    #[must_use]
    pub const fn has_arrived(&self) -> bool {
        self.arrived
    }

    /// Returns the time that has passed since the end of the motion, until its goal was reached, slowed by the robot's
    /// speed scaling.
    #[must_use]
    pub const fn late(&self) -> Duration {
        Duration::from_micros(self.late_nanos / 1_000)
    }

    /// Checks that a motion may start or resume with this deviation of the joints \[rad\].
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] if a joint is too far off.
    pub fn allows(&self, error: &JointPositions<N>) -> Result<(), Reason> {
        if is_within(error, &self.tolerances.path) { Ok(()) } else { Err(Reason::PathTolerance) }
    }

    /// Checks the deviation `error` \[rad\] of the joints from the present setpoint of the motion. `dt` is the time
    /// since the last call, `scaling` (0 … 1) the robot's speed scaling during it. `ended` is `true` if the motion has
    /// reached its own end.
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] or [`Reason::GoalTolerance`], whichever is violated.
    // Not inlined: the step of a law, which calls it, has no registers to spare.
    #[inline(never)]
    pub fn observe(
        &mut self,
        error: &JointPositions<N>,
        ended: bool,
        dt: Duration,
        scaling: f32,
    ) -> Result<(), Reason> {
        self.allows(error)?;
        if ended { self.observe_goal(error, dt, scaling) } else { Ok(()) }
    }

    /// Checks a motion that has reached its own end, or is past its time, with the joints off by `error` \[rad\] from
    /// its goal.
    pub(crate) fn observe_goal(&mut self, error: &JointPositions<N>, dt: Duration, scaling: f32) -> Result<(), Reason> {
        if self.arrived {
            return Ok(());
        }
        if is_within(error, &self.tolerances.goal) {
            self.arrived = true;
            return Ok(());
        }
        self.is_late(dt, scaling)
    }

    /// Counts time after the end of a motion, wherever the joints are, and checks it against `goal_time`.
    pub(crate) fn is_late(&mut self, dt: Duration, scaling: f32) -> Result<(), Reason> {
        let scaling = if scaling > 0.0 { scaling.min(1.0) } else { 0.0 };
        let nanos = (dt.as_secs_f32().min(1.0) * scaling * 1e9) as u32;
        self.late_nanos = self.late_nanos.saturating_add(u64::from(nanos));
        match self.tolerances.goal_time {
            Some(most) if self.late_nanos > most.as_micros().saturating_mul(1_000) => Err(Reason::GoalTolerance),
            _ => Ok(()),
        }
    }
}

/// Returns whether each joint's deviation \[rad\] is within its tolerance; `false` for NaN.
fn is_within<const N: usize>(error: &JointPositions<N>, tolerance: &JointPositions<N>) -> bool {
    error.iter().zip(tolerance.iter()).all(|(error, tolerance)| error.abs() <= tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_millis(8);
    const HALF_A_SECOND: Tolerances<2> = Tolerances {
        path: JointPositions([0.2, 0.3]),
        goal: JointPositions([0.01, f32::INFINITY]),
        goal_time: Some(Duration::from_millis(500)),
    };

    fn late(watch: &mut Watch<2>, scaling: f32) -> Option<usize> {
        (1..1_000).find(|_| watch.observe(&JointPositions([0.02, 0.25]), true, CYCLE, scaling).is_err())
    }

    #[test]
    fn each_joint_has_its_own_tolerance_on_the_path() {
        for (error, expected) in [
            ([0.2, -0.3], Ok(())),
            ([0.21, 0.0], Err(Reason::PathTolerance)),
            ([0.0, -0.31], Err(Reason::PathTolerance)),
            ([f32::NAN, 0.0], Err(Reason::PathTolerance)),
        ] {
            for ended in [false, true] {
                let mut watch = Watch::new(HALF_A_SECOND);
                assert_eq!(watch.observe(&JointPositions(error), ended, CYCLE, 1.0), expected, "{error:?}");
                assert!(!watch.has_arrived());
            }
        }
    }

    #[test]
    fn the_goal_is_waited_for_as_long_as_its_time_by_the_motions_own_clock() {
        let full = late(&mut Watch::new(HALF_A_SECOND), 1.0).unwrap();
        let half = late(&mut Watch::new(HALF_A_SECOND), 0.5).unwrap();
        assert!(full.abs_diff(63) <= 1 && half.abs_diff(126) <= 1, "{full} and {half} cycles");
        for nothing in [0.0, -1.0, f32::NAN] {
            assert_eq!(late(&mut Watch::new(HALF_A_SECOND), nothing), None, "{nothing}");
        }
        assert_eq!(late(&mut Watch::new(Tolerances { goal_time: None, ..HALF_A_SECOND }), 1.0), None);
        let mut at_once = Watch::new(Tolerances { goal_time: Some(Duration::ZERO), ..HALF_A_SECOND });
        assert_eq!(late(&mut at_once, 1.0), Some(1));
    }

    #[test]
    fn it_has_arrived_once_every_joint_was_within_the_goal_and_stays_so() {
        let mut watch = Watch::new(HALF_A_SECOND);
        let near = JointPositions([0.005, 0.29]);
        watch.observe(&near, false, CYCLE, 1.0).unwrap();
        assert!(!watch.has_arrived(), "the end has not been reached");
        watch.observe(&near, true, CYCLE, 1.0).unwrap();
        assert!(watch.has_arrived());
        assert_eq!(late(&mut watch, 1.0), None);
    }

    #[test]
    fn a_tolerance_is_in_its_range_or_infinite() {
        let path = |angle| Tolerances::<1> { path: JointPositions([angle]), ..Tolerances::DEFAULT }.check();
        let goal = |angle| Tolerances::<1> { goal: JointPositions([angle]), ..Tolerances::DEFAULT }.check();
        for angle in [0.001, 6.3, f32::INFINITY] {
            assert_eq!((path(angle), goal(angle)), (Ok(()), Ok(())));
        }
        for angle in [0.0, -1.0, 7.0, f32::NAN, f32::NEG_INFINITY] {
            assert!(path(angle).is_err() && goal(angle).is_err(), "{angle}");
        }
    }
}
