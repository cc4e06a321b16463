//! The course of a move that the controller executes: compares the target of a state with a plan, or with a corridor.

use crate::robot::settings;
use outrigger_wire::robot::{JointPositions, State};

settings! {
    /// Tolerances of the comparison of a move's target with its plan or corridor.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct CourseConfig in "course." {
        /// The largest distance of a joint's target from the plan or the corridor \[rad\]: at least the travel of the
        /// fastest joint between two reports of the program's progress. Default 0.05.
        pub position: f32 [0.0001 to 1.0 "rad"] = 0.05,
        /// The absolute amount by which the target may be faster than requested \[rad/s\]. Default 0.02.
        pub speed: f32 [0.0001 to 0.5 "rad/s"] = 0.02,
        /// The amount by which the target may be faster, as a share of the requested speed. Default 0.05.
        pub relative: f32 [0.0 to 0.5] = 0.05,
        /// The largest distance of the tool from the line of a linear move \[m\]. Default 0.01.
        pub line: f32 [0.0001 to 0.5 "m"] = 0.01,
        /// The amount by which the tool may be faster on its line than requested \[m/s\]. Default 0.05.
        pub tool_speed: f32 [0.0001 to 0.5 "m/s"] = 0.05,
    }
}

/// The course that was requested for one joint move of an arm with `N` joints; the controller's target is compared with
/// it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Course<const N: usize> {
    /// The joint angles when the move was requested \[rad\].
    pub from: JointPositions<N>,
    /// The joint angles at which the move ends \[rad\].
    pub to: JointPositions<N>,
    /// The requested speed of the fastest joint \[rad/s\].
    pub speed: f32,
}

impl<const N: usize> Course<N> {
    /// Without a plan: returns `true` if the target is within [`position`](CourseConfig::position) of the corridor in
    /// each joint, which is the straight line in joint space (`movej`), and [slow enough](Self::is_slow_enough).
    /// `false` for NaN.
    #[must_use]
    pub fn holds(&self, state: &State<N>, config: &CourseConfig) -> bool {
        let way = self.to.zip_with(self.from.as_array(), |to, from| to - from);
        let gone = state.target_positions.zip_with(self.from.as_array(), |at, from| at - from);
        let dot =
            |a: &JointPositions<N>, b: &JointPositions<N>| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f32>();
        let length = dot(&way, &way);
        // The nearest point of the line; a move to the present position has only one.
        let share = if length > 0.0 { dot(&gone, &way) / length } else { 0.0 };
        let share = outrigger_wire::math::bounded(share, 0.0, 1.0);
        let beside = gone.zip_with(way.as_array(), |gone, way| gone - way * share).max_abs();
        beside <= config.position && self.is_slow_enough(state, config)
    }

    /// With a plan: returns `true` if the target is within [`position`](CourseConfig::position) of `planned`, the
    /// plan's position at the progress that the program reports, in each joint, and [slow
    /// enough](Self::is_slow_enough). `false` for NaN.
    #[must_use]
    pub fn holds_at(&self, planned: &JointPositions<N>, state: &State<N>, config: &CourseConfig) -> bool {
        let off = state.target_positions.zip_with(planned.as_array(), |at, planned| at - planned).max_abs();
        off <= config.position && self.is_slow_enough(state, config)
    }

    /// Returns `true` if no joint speed of the target exceeds the requested one by more than the tolerances
    /// [`speed`](CourseConfig::speed) and [`relative`](CourseConfig::relative). `false` for NaN.
    #[must_use]
    pub fn is_slow_enough(&self, state: &State<N>, config: &CourseConfig) -> bool {
        state.target_velocities.max_abs() <= self.speed + config.speed + config.relative * self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::JointVelocities;

    const COURSE: Course<2> = Course { from: JointPositions([0.0, 1.0]), to: JointPositions([2.0, 0.0]), speed: 0.5 };

    fn state(q: [f32; 2], speed: f32) -> State<2> {
        State {
            target_positions: JointPositions(q),
            target_velocities: JointVelocities([speed, 0.0]),
            ..State::default()
        }
    }

    #[test]
    fn the_corridor_is_the_line_and_its_ends_give_or_take_the_tolerance() {
        let config = CourseConfig::default();
        assert_eq!(config.check_ranges(), Ok(()));
        let holds = |q| COURSE.holds(&state(q, 0.5), &config);
        for on in [[0.0, 1.0], [1.0, 0.5], [2.0, 0.0], [-0.04, 1.0], [2.04, 0.0], [1.04, 0.52]] {
            assert!(holds(on), "{on:?}");
        }
        for off in [[-0.06, 1.0], [2.06, 0.0], [1.0, 0.6], [1.0, 0.4], [0.0, 0.0], [f32::NAN, 0.5]] {
            assert!(!holds(off), "{off:?}");
        }
    }

    #[test]
    fn what_is_on_its_way_but_faster_than_asked_does_not_hold() {
        let config = CourseConfig::default();
        for (speed, holds) in [(0.54, true), (-0.54, true), (0.55, false), (-0.55, false), (f32::NAN, false)] {
            assert_eq!(COURSE.holds(&state([1.0, 0.5], speed), &config), holds, "{speed}");
            assert_eq!(COURSE.holds_at(&JointPositions([1.0, 0.5]), &state([1.0, 0.5], speed), &config), holds);
        }
    }

    #[test]
    fn a_plan_holds_the_target_to_where_it_is_by_now() {
        let config = CourseConfig::default();
        let holds = |planned| COURSE.holds_at(&JointPositions(planned), &state([1.0, 0.5], 0.5), &config);
        assert!(holds([1.04, 0.46]));
        assert!(!holds([1.2, 0.4]), "on the line, but too early");
        assert!(!holds([f32::NAN, 0.5]));
    }

    #[test]
    fn a_move_to_where_the_arm_is_has_no_corridor_but_its_place() {
        let (config, here) = (CourseConfig::default(), Course { to: COURSE.from, ..COURSE });
        assert!(here.holds(&state([0.04, 1.0], 0.0), &config));
        assert!(!here.holds(&state([0.06, 1.0], 0.0), &config));
    }
}
