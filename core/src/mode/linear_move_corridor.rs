//! The course of a linear move that the controller executes: compares the measured pose and speed of the tool with a
//! corridor.

use super::CourseConfig;
use outrigger_wire::math::{Rotation, Vector3, dot, norm, scale, subtract};
use outrigger_wire::robot::{Pose, State};

/// Half a turn of the tool's rotation \[rad\].
const HALF: f32 = core::f32::consts::PI;

/// The course that was requested for one linear move of the tool; the measured pose and speed are compared with it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct LineCourse {
    /// The pose of the tool when the move was requested \[m, rad\].
    pub from: Pose,
    /// The pose of the tool at the end of the move \[m, rad\].
    pub to: Pose,
    /// The requested speed of the tool on its line \[m/s\].
    pub speed: f32,
}

impl LineCourse {
    /// Returns `true` if the tool is within [`line`](CourseConfig::line) of the straight line, within
    /// [`position`](CourseConfig::position) of the orientation that is interpolated evenly between its ends, and not
    /// faster than requested. `false` for NaN, and for a state without pose or speed of the tool.
    ///
    /// The joints are not judged: check them against their limits separately.
    #[must_use]
    pub fn holds<const N: usize>(&self, state: &State<N>, config: &CourseConfig) -> bool {
        let (Some(tool), Some(speed)) = (&state.tcp_pose, &state.tcp_speed) else { return false };
        let way = subtract(self.to.position, self.from.position);
        let gone = subtract(tool.position, self.from.position);
        let beside = norm(subtract(gone, scale(way, share(way, gone))));
        let fastest = self.speed + config.tool_speed + config.relative * self.speed;
        let (whole, turned) = (self.from.turn_to(&self.to), self.from.turn_to(tool));
        let from = Rotation::from_vector(self.from.rotation);
        let is_even = |whole: Vector3, turned: Vector3| {
            let planned = from.after(&Rotation::from_vector(scale(whole, share(whole, turned))));
            Pose { rotation: planned.to_vector(), ..*tool }.angle_to(tool) <= config.position
        };
        // A turn by nearly half a turn can be made, and written, either way round.
        let either = if norm(whole) > HALF - config.position { other_way(whole) } else { whole };
        let turns = [whole, either].iter().any(|whole| is_even(*whole, turned) || is_even(*whole, other_way(turned)));
        beside <= config.line && turns && norm(speed.linear) <= fastest
    }
}

/// Returns the share of `way`, 0 to 1, at which `way` comes nearest to the displacement `gone`; 0 for a way without
/// length.
fn share(way: Vector3, gone: Vector3) -> f32 {
    let length = dot(way, way);
    let share = if length > 0.0 { dot(gone, way) / length } else { 0.0 };
    outrigger_wire::math::bounded(share, 0.0, 1.0)
}

/// Returns the rotation vector \[rad\] of the turn the other way round to the same orientation, if `turn` is more than
/// π/2; otherwise `turn` itself.
fn other_way(turn: Vector3) -> Vector3 {
    let angle = norm(turn);
    if angle > HALF / 2.0 { scale(turn, 1.0 - 2.0 * HALF / angle) } else { turn }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::Twist;

    fn pose(position: [f32; 3], rotation: [f32; 3]) -> Pose {
        Pose { position, rotation }
    }

    fn state(tool: Pose, speed: f32) -> State<6> {
        State {
            tcp_pose: Some(tool),
            tcp_speed: Some(Twist { linear: [0.0, speed, 0.0], angular: [9.0; 3] }),
            ..State::default()
        }
    }

    #[test]
    fn the_corridor_is_the_line_and_its_ends_give_or_take_the_tolerance() {
        let course =
            LineCourse { from: pose([0.4, -0.2, 0.3], [0.0; 3]), to: pose([0.4, 0.2, 0.3], [0.0; 3]), speed: 0.25 };
        let holds = |at, speed| course.holds(&state(pose(at, [0.0; 3]), speed), &CourseConfig::default());
        for on in [[0.4, -0.2, 0.3], [0.4, 0.0, 0.3], [0.4, 0.2, 0.3], [0.409, 0.1, 0.3], [0.4, 0.209, 0.3]] {
            assert!(holds(on, 0.31), "{on:?}");
        }
        for off in [[0.4, -0.211, 0.3], [0.4, 0.211, 0.3], [0.411, 0.1, 0.3], [0.4, 0.1, 0.289], [f32::NAN, 0.0, 0.3]] {
            assert!(!holds(off, 0.2), "{off:?}");
        }
        assert!(!holds([0.4, 0.0, 0.3], 0.32) && !holds([0.4, 0.0, 0.3], f32::NAN), "too fast");
        assert!(!course.holds(&State::<6>::default(), &CourseConfig::default()), "nobody says where the tool is");
    }

    #[test]
    fn the_tool_turns_evenly_by_the_shorter_way_also_by_half_a_turn() {
        let half = HALF - 0.001;
        for (from, to) in [
            ([0.0; 3], [0.0, 1.2, 0.0]),
            ([0.3, -2.2, 1.1], [0.5, 0.4, -1.0]),
            ([0.0; 3], [half, 0.0, 0.0]),
            ([0.0; 3], [0.0, 0.0, -half]),
        ] {
            let course = LineCourse { from: pose([0.0; 3], from), to: pose([0.0; 3], to), speed: 0.1 };
            let (start, whole) = (Rotation::from_vector(from), course.from.turn_to(&course.to));
            let at = |share: f32, off: [f32; 3]| {
                let turned = Rotation::from_vector(scale(whole, share)).after(&Rotation::from_vector(off));
                state(pose([0.0; 3], start.after(&turned).to_vector()), 0.0)
            };
            for share in [0.0, 0.2, 0.5, 0.8, 1.0] {
                assert!(course.holds(&at(share, [0.0; 3]), &CourseConfig::default()), "{from:?} {to:?} {share}");
                assert!(course.holds(&at(share, [0.02; 3]), &CourseConfig::default()), "{from:?} {to:?} {share}");
            }
            let aside = outrigger_wire::math::cross(scale(whole, 1.0 / norm(whole)), [0.6, 0.48, 0.64]);
            let aside = scale(aside, 0.1 / norm(aside));
            assert!(!course.holds(&at(0.5, aside), &CourseConfig::default()), "{from:?} {to:?}");
            let beyond = scale(whole, 0.1 / norm(whole));
            assert!(norm(whole) > 3.0 || !course.holds(&at(1.0, beyond), &CourseConfig::default()), "{from:?} {to:?}");
        }
    }

    #[test]
    fn half_a_turn_may_go_either_way_round_and_one_that_is_less_may_not() {
        let at = |angle: f32| state(pose([0.0; 3], [angle, 0.0, 0.0]), 0.0);
        let to = |angle| LineCourse { from: Pose::default(), to: pose([0.0; 3], [angle, 0.0, 0.0]), speed: 0.1 };
        let config = CourseConfig::default();
        assert!(to(HALF - 0.01).holds(&at(1.0), &config) && to(HALF - 0.01).holds(&at(-1.0), &config));
        assert!(to(2.0).holds(&at(1.0), &config) && !to(2.0).holds(&at(-1.0), &config));
    }
}
