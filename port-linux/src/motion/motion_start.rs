//! The decision whether a motion can start from the arm's current position. It is the same for files, goals of ROS 2,
//! requests and programs. A motion whose waypoints are all at one position has no length.
//!
//! | waypoints | arm | outcome |
//! |---|---|---|
//! | all at one position | at standstill there, within 0.02 rad and the goal tolerance | done; nothing is sent |
//! | all at one position | elsewhere, or moving | rejected, naming the joint |
//! | at more than one position | anywhere | followed, if the arm is near enough to the first |
//!
//! If the first waypoint is later than 0 s, the motion starts at the current position, which counts as a waypoint at
//! 0 s.

use outrigger_core::command::Governor;
use outrigger_core::trajectory::{Leg, Tolerances};
use outrigger_wire::robot::{JointPositions, JointVelocities};

use super::Motion;

/// Joint positions that differ by less than this count as equal \[rad\].
pub(crate) const SAME: f32 = 1e-4;

/// The highest measured joint speed at which an arm counts as being at standstill \[rad/s\].
const RESTS: f32 = 0.02;

/// The result of [`Motion::start_at`]: the motion to follow, or none if the arm is already at its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Start<const N: usize> {
    /// The motion has no length, and the arm is already there. Contains the distance of each joint \[rad\].
    There(JointPositions<N>),
    /// The motion that the arm has to follow. Its first waypoint is at 0 s.
    Moves(Motion<N>),
}

impl<const N: usize> Motion<N> {
    /// Decides whether an arm with the positions `at`, and these speeds, has to move for this motion.
    ///
    /// # Errors
    /// Returns a message if the motion has no length and the arm is elsewhere or moving.
    pub fn start_at(self, at: JointPositions<N>, speeds: &JointVelocities<N>) -> Result<Start<N>, String> {
        let motion = self.from_rest_at(at);
        if motion.has_length() {
            return Ok(Start::Moves(motion));
        }
        let off = at.zip_with(motion.goal().as_array(), |q, goal| (q - goal).abs());
        let within = within(motion.tolerances());
        let mut joints = (1..).zip(off.iter().zip(within.iter()));
        if let Some((joint, (off, most))) = joints.find(|(_, (off, most))| off.is_nan() || off > most) {
            return Err(format!(
                "joint {joint} is {off:.3} rad from the motion's only position, and {most} rad are allowed; give the waypoint a \
                 time later than 0 s to move there from the current position"
            ));
        }
        rests(speeds).map(|()| Start::There(off))
    }

    /// Returns `true` if a joint leaves the first waypoint's position, at or between waypoints.
    pub fn has_length(&self) -> bool {
        let Some(first) = self.waypoints().first().map(|first| first.setpoint.positions) else { return false };
        let leaves = |to: &JointPositions<N>| {
            let way = to.zip_with(first.as_array(), |to, from| to - from).max_abs();
            way.is_nan() || way > SAME
        };
        self.waypoints().windows(2).any(|pair| match pair {
            [from, to] => {
                let (lowest, highest) = Leg::between(from, to).extent();
                leaves(&lowest) || leaves(&highest)
            }
            _ => false,
        })
    }
}

/// Checks that an arm at the goal is at standstill.
///
/// # Errors
/// Returns a message if it moves.
pub(crate) fn rests<const N: usize>(speeds: &JointVelocities<N>) -> Result<(), String> {
    let speed = speeds.max_abs();
    if speed <= RESTS {
        return Ok(());
    }
    Err(format!("the arm is at the goal, but still moving at {speed:.3} rad/s; wait for standstill"))
}

/// Returns the largest distance of each joint from the position of a motion without length at which the arm counts
/// as being there \[rad\].
fn within<const N: usize>(tolerances: &Tolerances<N>) -> JointPositions<N> {
    tolerances.goal.map(|goal| goal.min(Governor::<N>::BEGINS_WITHIN))
}

#[cfg(test)]
mod tests {
    use outrigger_core::trajectory::{Setpoint, Waypoint};
    use outrigger_wire::time::Duration;
    use proptest::prelude::*;

    use super::*;
    use crate::motion::MotionError;

    const HERE: JointPositions<2> = JointPositions([0.5, -1.0]);
    const STILL: JointVelocities<2> = JointVelocities::ZERO;

    fn way(millis: u64, q: [f32; 2], v: [f32; 2]) -> Waypoint<2> {
        let setpoint = Setpoint { positions: JointPositions(q), velocities: JointVelocities(v) };
        Waypoint { setpoint, accelerations: None, at: Duration::from_millis(millis) }
    }

    fn motion(waypoints: &[(u64, [f32; 2])]) -> Motion<2> {
        let waypoints = waypoints.iter().map(|(millis, q)| way(*millis, *q, [0.0; 2])).collect();
        Motion::through(waypoints).expect("a motion")
    }

    #[test]
    fn a_motion_of_no_length_is_done_where_the_arm_rests_and_refused_elsewhere() {
        let [a, b] = HERE.0;
        let near = [a + 0.015, b];
        for (waypoints, off) in [
            (&[(0, HERE.0)][..], 0.0),
            (&[(0, near)], 0.015),
            (&[(0, HERE.0), (1_000, HERE.0), (9_000, HERE.0)], 0.0),
            (&[(0, near), (5_000, near)], 0.015),
            // It starts at the current position of the arm.
            (&[(5_000, HERE.0)], 0.0),
            (&[(5_000, [a + 9e-5, b])], 9e-5),
        ] {
            let start = motion(waypoints).start_at(HERE, &STILL);
            let Ok(Start::There(found)) = start else { panic!("{waypoints:?}: {start:?}") };
            assert!((found.max_abs() - off).abs() < 1e-6, "{waypoints:?}: {found:?}");
            // Noise of the measurement is not motion. A moving arm is not at the goal.
            assert!(matches!(motion(waypoints).start_at(HERE, &JointVelocities([0.01, -0.01])), Ok(Start::There(_))));
            let moves = motion(waypoints).start_at(HERE, &JointVelocities([0.0, -0.3])).expect_err("it moves");
            assert!(moves.contains("still moving at 0.300 rad/s"), "{moves}");
        }
        for waypoints in [&[(0, [a, b + 0.03])][..], &[(0, [a, b - 0.03]), (4_000, [a, b - 0.03])]] {
            let refused = motion(waypoints).start_at(HERE, &STILL).expect_err("it is elsewhere");
            let said = "joint 2 is 0.030 rad from the motion's only position, and 0.02 rad are allowed; give the waypoint a time";
            assert!(refused.starts_with(said), "{refused}");
        }
        let goal = JointPositions([0.01, f32::INFINITY]);
        let tight = Tolerances { goal, ..Tolerances::DEFAULT };
        let refused = motion(&[(0, near)]).with_tolerances(tight).start_at(HERE, &STILL).expect_err("not near enough");
        assert!(refused.starts_with("joint 1 is 0.015 rad"), "{refused}");
        let lost = motion(&[(0, HERE.0)]).start_at(JointPositions([f32::NAN, b]), &STILL);
        assert!(lost.is_err(), "{lost:?}");
    }

    #[test]
    fn what_leaves_its_first_waypoint_moves_wherever_the_arm_is() {
        let [a, b] = HERE.0;
        let swings = Motion::through(vec![
            way(0, HERE.0, [0.0; 2]),
            way(1_000, HERE.0, [0.0, 0.2]),
            way(2_000, HERE.0, [0.0; 2]),
        ]);
        for motion in [
            motion(&[(5_000, [a + 2e-4, b])]),
            motion(&[(0, HERE.0), (1_000, [a, b + 0.1]), (2_000, HERE.0)]),
            // The start is too far from the arm. That is reported when it is to be followed.
            motion(&[(0, [3.0, 0.0]), (1_000, [3.0, 0.1])]),
            swings.expect("a motion"),
        ] {
            let Ok(Start::Moves(moves)) = motion.clone().start_at(HERE, &STILL) else { panic!("{motion:?}") };
            assert_eq!(moves.waypoints()[0].at, Duration::ZERO);
            assert_eq!(moves.goal(), motion.goal());
        }
    }

    #[test]
    fn no_waypoint_at_all_is_no_motion() {
        let none = Motion::<2>::through(vec![]).expect_err("there is none");
        assert_eq!(none, MotionError::Empty);
        assert_eq!(none.to_string(), "found no waypoint, expected at least one");
    }

    proptest! {
        #[test]
        fn what_is_done_at_once_is_within_its_tolerances_and_leads_nowhere(
            points in prop::collection::vec((1_u64..3_000, prop::array::uniform2(-0.03_f32..0.03)), 1..5),
            (at, begins) in (prop::array::uniform2(-0.03_f32..0.03), any::<bool>()),
            goal in 0.001_f32..0.1,
        ) {
            let mut millis = 0;
            let mut waypoints = vec![];
            for (number, (gap, q)) in points.iter().enumerate() {
                millis += if number == 0 && begins { 0 } else { *gap };
                // Half of the waypoints are at the same position.
                waypoints.push(way(millis, if gap.is_multiple_of(2) { points[0].1 } else { *q }, [0.0; 2]));
            }
            let tolerances = Tolerances { goal: JointPositions([goal; 2]), ..Tolerances::DEFAULT };
            let motion = Motion::through(waypoints).unwrap().with_tolerances(tolerances);
            let off = |q: &JointPositions<2>| q.zip_with(&at, |q, at| q - at).max_abs();
            match motion.clone().start_at(JointPositions(at), &STILL) {
                Ok(Start::There(_)) => prop_assert!(
                    motion.waypoints().iter().all(|way| off(&way.setpoint.positions) <= goal.min(Governor::<1>::BEGINS_WITHIN) + 2.0 * SAME)
                ),
                Ok(Start::Moves(moves)) => prop_assert!(moves.duration() > std::time::Duration::ZERO),
                Err(_) => prop_assert!(begins && off(&motion.goal()) > goal.min(Governor::<1>::BEGINS_WITHIN)),
            }
        }
    }
}
