//! Converts trajectory goals into motions that the control loop executes, and its state into trajectory points of
//! messages.

use outrigger_core::trajectory::{Setpoint, Tolerances};
use outrigger_ros2_messages::{JointTrajectoryPoint, Time};
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

use crate::trajectory_goals::{self, Point, Tolerance, TrajectoryGoal};
use outrigger::motion::requested_motion::ArmMotionState;
use outrigger::motion::{Motion, Row, of_rows};

/// Returns a stamp of a message as nanoseconds since 1970.
pub(super) fn nanos_of(stamp: Time) -> u64 {
    u64::from(stamp.sec.unsigned_abs()) * 1_000_000_000 + u64::from(stamp.nanosec)
}

/// Returns trajectory points with the arm's target, its actual state and the difference; `None` unless a motion is in
/// progress and the position is known.
pub(super) fn compared<const N: usize>(
    stands: &ArmMotionState<N>,
) -> Option<(JointTrajectoryPoint, JointTrajectoryPoint, JointTrajectoryPoint)> {
    let (at, wanted) = (stands.at?, stands.wanted?);
    let doubles = |of: &[f32; N]| of.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
    let Setpoint { positions, velocities } = wanted;
    let error = positions.zip_with(at.as_array(), |wanted, actual| wanted - actual);
    let slower = velocities.zip_with(stands.speed.as_array(), |wanted, actual| wanted - actual);
    Some((
        trajectory_goals::point(doubles(positions.as_array()), doubles(velocities.as_array()), 0.0),
        trajectory_goals::point(doubles(at.as_array()), doubles(stands.speed.as_array()), 0.0),
        trajectory_goals::point(doubles(error.as_array()), doubles(slower.as_array()), 0.0),
    ))
}

/// Returns the motion for a trajectory, starting from `from`, the arm's position if it is at rest. Between points
/// with positions alone the motion is smooth, while UR's controllers move along straight lines.
pub(super) fn motion<const N: usize>(
    wanted: &TrajectoryGoal,
    from: Option<JointPositions<N>>,
) -> Result<Motion<N>, String> {
    let array = |values: &[f64]| -> Result<[f32; N], String> {
        let found = values.len();
        let singles: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        singles.try_into().map_err(|_| format!("found {found} numbers, expected {N}"))
    };
    let row = |point: &Point| {
        Ok::<_, String>(Row {
            at: point.at,
            positions: array(&point.positions)?,
            velocities: point.velocities.as_deref().map(array).transpose()?,
            accelerations: point.accelerations.as_deref().map(array).transpose()?,
        })
    };
    let rest =
        |at: JointPositions<N>| Row { at: 0.0, positions: at.0, velocities: Some([0.0; N]), accelerations: None };
    let begins_later = wanted.points.first().is_some_and(|first| first.at > 0.0);
    let mut rows: Vec<Row<N>> = from.filter(|_| begins_later).map(rest).into_iter().collect();
    for point in &wanted.points {
        rows.push(row(point)?);
    }
    let tolerances = |of: &[Tolerance], default: &JointPositions<N>| {
        let one = |(tolerance, default): (&Tolerance, f32)| match tolerance {
            Tolerance::Default => default,
            Tolerance::Unlimited => f32::INFINITY,
            Tolerance::Within(angle) => *angle as f32,
        };
        let of: Vec<f32> = of.iter().zip(default.iter()).map(one).collect();
        of.try_into().map(JointPositions).map_err(|_| "tolerances: expected one a joint".to_owned())
    };
    let default = Tolerances::<N>::DEFAULT;
    let tolerances = Tolerances {
        path: tolerances(&wanted.path, &default.path)?,
        goal: tolerances(&wanted.goal, &default.goal)?,
        goal_time: wanted.goal_time.map(|seconds| Duration::from_micros((seconds * 1e6) as u64)),
    };
    tolerances.check().map_err(|error| error.to_string())?;
    of_rows(&rows).map(|motion| motion.with_tolerances(tolerances)).map_err(|unfit| unfit.to_string())
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::Limits;

    use super::*;
    use outrigger::motion::requested_motion::{MotionExecutor, MotionRequest, Moving, Ready, RejectedMotions, ready};

    const HERE: JointPositions<2> = JointPositions([0.5, -1.0]);

    fn wanted(points: &[(f64, [f64; 2], [f64; 2])]) -> TrajectoryGoal {
        let point = |(at, positions, velocities): &(f64, [f64; 2], [f64; 2])| Point {
            at: *at,
            positions: positions.to_vec(),
            velocities: Some(velocities.to_vec()),
            accelerations: None,
        };
        let tolerances = vec![Tolerance::Default; 2];
        let points = points.iter().map(point).collect();
        TrajectoryGoal { points, path: tolerances.clone(), goal: tolerances, goal_time: None }
    }

    /// Prepares the motion of a trajectory goal for an arm at standstill; fails with the reason as text.
    fn begun(wanted: &TrajectoryGoal, by: MotionExecutor) -> Result<Ready<2>, String> {
        let motion = motion::<2>(wanted, Some(HERE))?;
        let stands =
            ArmMotionState { at: Some(HERE), cycle: Some(Duration::from_millis(2)), ..ArmMotionState::default() };
        ready(
            MotionRequest::Motion(Box::new(motion)),
            &Moving { limits: Limits::default(), by, refuses: RejectedMotions::default() },
            &stands,
        )
    }

    #[test]
    fn a_goal_of_no_length_is_reached_where_the_arm_is_and_refused_elsewhere() {
        let (here, still) = (HERE.0.map(f64::from), [0.0; 2]);
        for by in [MotionExecutor::Law, MotionExecutor::Controller] {
            for points in [
                &[(0.0, here, still)][..],
                &[(2.0, here, still)],
                &[(0.0, here, still), (1.0, here, still)],
                &[(0.0, here, [1e-4, 0.0]), (1.0, here, [0.0, -1e-15])],
            ] {
                assert!(begun(&wanted(points), by).is_ok_and(|ready| ready.stays()), "{points:?}");
            }
            let elsewhere = begun(&wanted(&[(0.0, [0.5, -0.9], still)]), by).expect_err("it is elsewhere");
            assert!(elsewhere.starts_with("joint 2 is 0.100 rad from the motion's only position"), "{elsewhere}");
            let goes = begun(&wanted(&[(2.0, [0.5, -0.9], still)]), by);
            assert!(goes.is_ok_and(|ready| !ready.stays()));
        }
    }

    #[test]
    fn speeds_that_a_planner_leaves_at_the_ends_count_as_none() {
        let (here, there) = (HERE.0.map(f64::from), [0.6, -1.0]);
        for speed in [3e-17, -1e-15, 4e-7, 1e-4] {
            let goal = wanted(&[(0.0, here, [speed, 0.0]), (2.0, there, [0.0, speed])]);
            let motion = motion::<2>(&goal, Some(HERE)).expect("a motion");
            assert!(motion.waypoints().iter().all(|way| way.setpoint.velocities.0 == [0.0; 2]), "{motion:?}");
        }
        let moves = wanted(&[(0.0, here, [0.0; 2]), (2.0, there, [0.0, 0.1])]);
        let refused = motion::<2>(&moves, Some(HERE)).expect_err("it ends in motion");
        assert_eq!(refused, "waypoint 1 is an end of the motion, where joint 2 must be slower than 0.001 rad/s");
    }
}
