//! Reads goals of `FollowJointTrajectory` and trajectories from topics. They are validated as UR's controllers do it,
//! and their joints are put into the arm's order (`core/docs/protocol/ros2-surface.md` 7.2).

use crate::command_acceptance::Command;
use outrigger_ros2_messages::endpoint::Task;
use outrigger_ros2_messages::{
    Action, FollowError, FollowGoal, FollowJointTrajectory, FollowJointTrajectoryUntil, JointTolerance,
    JointTrajectory, JointTrajectoryPoint, Span, Time, UntilGoal,
};

/// An action of the node whose goals are trajectories to follow.
#[derive(Debug)]
pub struct Follower {
    /// The action's name, type and description.
    pub task: &'static Task,
    /// `true` if a goal is rejected while another motion is in progress.
    pub exclusive: bool,
    /// The kind of command as which goals of this action are accepted or rejected.
    pub command: Command,
}

/// Every action of the node whose goals are trajectories to follow.
pub static ACTIONS: &[Follower] = &[
    Follower {
        task: &Task {
            name: "scaled_joint_trajectory_controller/follow_joint_trajectory",
            action: <FollowJointTrajectory as Action>::TYPE,
            does: "follows the goal in scaled time; a new goal replaces it",
        },
        exclusive: false,
        command: Command::Follow,
    },
    Follower {
        task: &Task {
            name: "joint_trajectory_controller/follow_joint_trajectory",
            action: <FollowJointTrajectory as Action>::TYPE,
            does: "the same, by the name of newer releases",
        },
        exclusive: false,
        command: Command::Follow,
    },
    Follower {
        task: &Task {
            name: "passthrough_trajectory_controller/follow_joint_trajectory",
            action: <FollowJointTrajectory as Action>::TYPE,
            does: "passes the goal to a program on the controller, which executes it: with session.path = \"player\"; \
                   rejected on other paths, and while one is running",
        },
        exclusive: true,
        command: Command::PassThrough,
    },
    Follower {
        task: &Task {
            name: "trajectory_until_node/execute",
            action: <FollowJointTrajectoryUntil as Action>::TYPE,
            does: "follows the goal until the tool touches something (until_type 0); as detect_tool_contact needs it",
        },
        exclusive: true,
        command: Command::FollowUntilContact,
    },
];

/// The trajectory action under the name that `ur_modern_driver`, the driver of 2015, used.
pub static LEGACY_ACTION: Follower = Follower {
    task: &Task {
        name: "follow_joint_trajectory",
        action: <FollowJointTrajectory as Action>::TYPE,
        does: "as scaled_joint_trajectory_controller/follow_joint_trajectory",
    },
    exclusive: false,
    command: Command::Follow,
};

/// A point of a trajectory to follow, with the joints in the order of the arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The time of the point after the start of the trajectory \[s\].
    pub at: f64,
    /// The joint positions at the point \[rad\], one per joint.
    pub positions: Vec<f64>,
    /// The velocities of the joints \[rad/s\]; `None` if the message has none.
    pub velocities: Option<Vec<f64>>,
    /// The accelerations of the joints \[rad/s²\]; `None` if the message has none.
    pub accelerations: Option<Vec<f64>>,
}

/// The largest permitted position error of a joint \[rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The default limit of the component that executes the trajectory.
    Default,
    /// The position error of the joint is not limited.
    Unlimited,
    /// The position error of the joint is limited to this value \[rad\].
    Within(f64),
}

/// A trajectory that a client wants the arm to follow, with its tolerances.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryGoal {
    /// The points of the trajectory: at least one, with increasing times.
    pub points: Vec<Point>,
    /// The tolerances of the position errors along the path, one for each joint.
    pub path: Vec<Tolerance>,
    /// The tolerances at the end of the trajectory, one for each joint.
    pub goal: Vec<Tolerance>,
    /// The longest permitted delay at the end of the trajectory \[s\]; `None` for no limit.
    pub goal_time: Option<f64>,
}

/// The reason why a goal is not followed, as the result's error code and as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfit {
    /// The error code of the fault, for the result of the goal.
    pub code: FollowError,
    /// A description of the fault in the goal and its place.
    pub text: String,
}

fn unfit<T>(code: FollowError, text: String) -> Result<T, Unfit> {
    Err(Unfit { code, text })
}

fn invalid<T>(text: String) -> Result<T, Unfit> {
    unfit(FollowError::InvalidGoal, text)
}

/// Reads a goal of `FollowJointTrajectory` for an arm with these joints, received at `now`.
///
/// # Errors
/// [`Unfit`] with the fault of the goal.
pub fn goal(goal: &FollowGoal, joints: &[String], now: Time) -> Result<TrajectoryGoal, Unfit> {
    if !goal.multi_dof_trajectory.points.is_empty() {
        return invalid("multi_dof_trajectory: found points, expected none: this arm has one-axis joints".into());
    }
    if !goal.component_path_tolerance.is_empty() || !goal.component_goal_tolerance.is_empty() {
        return invalid("component tolerances: found some, expected none: this arm has one-axis joints".into());
    }
    let points = trajectory(&goal.trajectory, joints, now)?;
    let goal_time = seconds(goal.goal_time_tolerance, "goal_time_tolerance")?;
    Ok(TrajectoryGoal {
        points,
        path: tolerances(&goal.path_tolerance, joints, "path_tolerance")?,
        goal: tolerances(&goal.goal_tolerance, joints, "goal_tolerance")?,
        goal_time: (goal_time > 0.0).then_some(goal_time),
    })
}

/// Reads a goal that ends when the tool touches something, for an arm with these joints, received at `now`.
///
/// # Errors
/// [`Unfit`] with the fault of the goal.
pub fn until(goal: UntilGoal, joints: &[String], now: Time) -> Result<TrajectoryGoal, Unfit> {
    let UntilGoal { trajectory, path_tolerance, goal_tolerance, goal_time_tolerance, until_type } = goal;
    if until_type != 0 {
        return invalid(format!("until_type: found {until_type}, expected 0 (a contact of the tool)"));
    }
    let follows =
        FollowGoal { trajectory, path_tolerance, goal_tolerance, goal_time_tolerance, ..FollowGoal::default() };
    self::goal(&follows, joints, now)
}

/// Reads the points of a trajectory for an arm with these joints, received at `now`. The component that executes the
/// trajectory checks whether it ends at rest.
///
/// # Errors
/// [`Unfit`] with the fault of the trajectory.
pub fn trajectory(trajectory: &JointTrajectory, joints: &[String], now: Time) -> Result<Vec<Point>, Unfit> {
    let order = order("joint_names", &trajectory.joint_names, joints)?;
    if trajectory.points.is_empty() {
        return invalid("points: found none, expected at least one".into());
    }
    let mut points: Vec<Point> = Vec::with_capacity(trajectory.points.len());
    for (number, point) in trajectory.points.iter().enumerate() {
        let point = one(point, number, &order)?;
        if let Some(before) = points.last().filter(|before| point.at <= before.at) {
            let (at, before) = (point.at, before.at);
            return invalid(format!(
                "point {number}: found time {at} s, expected more than {before} s of the one before"
            ));
        }
        if point.at < 0.0 {
            return invalid(format!("point {number}: found time {} s, expected none before the beginning", point.at));
        }
        points.push(point);
    }
    let stamp = trajectory.header.stamp;
    if stamp != Time::default() {
        let end = f64::from(stamp.sec) + f64::from(stamp.nanosec) * 1e-9 + points.last().map_or(0.0, |last| last.at);
        let now = f64::from(now.sec) + f64::from(now.nanosec) * 1e-9;
        if end < now {
            let text = format!("header.stamp: found an end {:.3} s ago; 0 means at once", now - end);
            return unfit(FollowError::OldHeaderTimestamp, text);
        }
    }
    Ok(points)
}

/// Returns the index of each of the arm's joints in the names of a message. `field` is the field that holds them.
pub(crate) fn order(field: &str, names: &[String], joints: &[String]) -> Result<Vec<usize>, Unfit> {
    let wrong = |text| unfit(FollowError::InvalidJoints, text);
    if names.len() != joints.len() {
        let expected = joints.join(", ");
        return wrong(format!("{field}: found {}, expected {}: {expected}", names.len(), joints.len()));
    }
    let mut order = Vec::with_capacity(joints.len());
    for joint in joints {
        match names.iter().position(|name| name == joint) {
            Some(index) => order.push(index),
            None => {
                let found = names.join(", ");
                return wrong(format!("{field}: '{joint}' is missing; found {found} (a prefix? see --tf-prefix)"));
            }
        }
    }
    Ok(order)
}

fn one(point: &JointTrajectoryPoint, number: usize, order: &[usize]) -> Result<Point, Unfit> {
    let JointTrajectoryPoint { positions, velocities, accelerations, effort, time_from_start } = point;
    if !effort.is_empty() {
        return invalid(format!("point {number}: found effort, expected none: torques are not supported"));
    }
    let sorted = |values: &[f64], name: &str| {
        let count = order.len();
        if values.len() != count {
            return invalid(format!("point {number}: found {} {name}, expected {count}", values.len()));
        }
        let sorted: Vec<f64> = order.iter().filter_map(|index| values.get(*index).copied()).collect();
        match sorted.iter().find(|value| !value.is_finite()) {
            Some(value) => invalid(format!("point {number}: found {value} among the {name}, expected numbers")),
            None => Ok(sorted),
        }
    };
    let optional = |values: &[f64], name| match values {
        [] => Ok(None),
        values => sorted(values, name).map(Some),
    };
    let point = Point {
        at: seconds(*time_from_start, "time_from_start")?,
        positions: sorted(positions, "positions")?,
        velocities: optional(velocities, "velocities")?,
        accelerations: optional(accelerations, "accelerations")?,
    };
    if point.accelerations.is_some() && point.velocities.is_none() {
        return invalid(format!("point {number}: found accelerations without velocities, expected both or neither"));
    }
    Ok(point)
}

fn seconds(span: Span, name: &str) -> Result<f64, Unfit> {
    if span.nanosec >= 1_000_000_000 {
        return invalid(format!("{name}: found {} ns, expected less than a second of them", span.nanosec));
    }
    Ok(span.seconds())
}

/// Reads the tolerances of the joints, in the order of the arm: 0 is the default, -1 no limit.
fn tolerances(of: &[JointTolerance], joints: &[String], name: &str) -> Result<Vec<Tolerance>, Unfit> {
    if let Some(other) = of.iter().find(|tolerance| !joints.contains(&tolerance.name)) {
        return unfit(
            FollowError::InvalidJoints,
            format!("{name}: found joint '{}', which this arm does not have", other.name),
        );
    }
    let one = |joint: &String| {
        let Some(found) = of.iter().rev().find(|tolerance| tolerance.name == *joint) else {
            return Ok(Tolerance::Default);
        };
        match found.position {
            0.0 => Ok(Tolerance::Default),
            -1.0 => Ok(Tolerance::Unlimited),
            value if value.is_finite() && value > 0.0 => Ok(Tolerance::Within(value)),
            value => invalid(format!("{name} of {joint}: found {value}, expected rad, 0 (default) or -1 (any)")),
        }
    };
    joints.iter().map(one).collect()
}

/// Returns a trajectory point with these positions \[rad\] and velocities \[rad/s\] at the time `at` after the start
/// \[s\], without accelerations and efforts.
#[must_use]
pub fn point(positions: Vec<f64>, velocities: Vec<f64>, at: f64) -> JointTrajectoryPoint {
    JointTrajectoryPoint { positions, velocities, time_from_start: Span::from_seconds(at), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::{Header, MultiDofPoint};

    fn joints() -> Vec<String> {
        ["a", "b"].map(String::from).to_vec()
    }

    fn to(positions: [f64; 2], at: f64) -> JointTrajectoryPoint {
        point(positions.to_vec(), vec![], at)
    }

    fn named(names: [&str; 2], points: Vec<JointTrajectoryPoint>) -> FollowGoal {
        let trajectory =
            JointTrajectory { joint_names: names.map(String::from).to_vec(), points, ..Default::default() };
        FollowGoal { trajectory, ..FollowGoal::default() }
    }

    const NOW: Time = Time { sec: 100, nanosec: 0 };

    #[test]
    fn joints_come_in_any_order_and_tolerances_by_name() {
        let mut wanted = named(["b", "a"], vec![to([1.0, 2.0], 0.5), to([3.0, 4.0], 1.25)]);
        let tolerance = |name: &str, position| JointTolerance { name: name.into(), position, ..Default::default() };
        wanted.path_tolerance = vec![tolerance("b", -1.0)];
        wanted.goal_tolerance = vec![tolerance("b", 0.0), tolerance("a", 0.01)];
        wanted.goal_time_tolerance = Span { sec: 2, nanosec: 0 };
        let wanted = goal(&wanted, &joints(), NOW).expect("a goal");
        assert_eq!(wanted.points[0].positions, [2.0, 1.0]);
        assert_eq!((wanted.points[1].at, wanted.points[1].velocities.clone()), (1.25, None));
        assert_eq!(wanted.path, [Tolerance::Default, Tolerance::Unlimited]);
        assert_eq!(wanted.goal, [Tolerance::Within(0.01), Tolerance::Default]);
        assert_eq!(wanted.goal_time, Some(2.0));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_code_and_its_place() {
        let good = || named(["a", "b"], vec![to([1.0, 2.0], 0.5), to([3.0, 4.0], 1.0)]);
        let refused = |change: &dyn Fn(&mut FollowGoal), code: FollowError, said: &str| {
            let mut changed = good();
            change(&mut changed);
            let error = goal(&changed, &joints(), NOW).expect_err(said);
            assert!(error.code == code && error.text.starts_with(said), "{error:?}");
        };
        assert!(goal(&good(), &joints(), NOW).is_ok());
        let (bad, names) = (FollowError::InvalidGoal, FollowError::InvalidJoints);
        refused(&|g| g.trajectory.points.clear(), bad, "points: found none");
        refused(&|g| g.trajectory.joint_names.truncate(1), names, "joint_names: found 1, expected 2: a, b");
        refused(&|g| g.trajectory.joint_names[1] = "c".into(), names, "joint_names: 'b' is missing; found a, c");
        refused(&|g| g.trajectory.joint_names[1] = String::new(), names, "joint_names: 'b' is missing");
        refused(
            &|g| g.trajectory.points[1].time_from_start = Span { sec: 0, nanosec: 500_000_000 },
            bad,
            "point 1: found time 0.5 s",
        );
        refused(&|g| g.trajectory.points[0].time_from_start.sec = -3, bad, "point 0: found time -2.5 s");
        refused(&|g| g.trajectory.points[0].positions = vec![1.0], bad, "point 0: found 1 positions, expected 2");
        refused(&|g| g.trajectory.points[0].positions[0] = f64::NAN, bad, "point 0: found NaN among the positions");
        refused(&|g| g.trajectory.points[0].velocities = vec![1.0], bad, "point 0: found 1 velocities");
        refused(&|g| g.trajectory.points[0].accelerations = vec![1.0; 2], bad, "point 0: found accelerations without");
        refused(&|g| g.trajectory.points[0].effort = vec![1.0; 2], bad, "point 0: found effort");
        refused(&|g| g.multi_dof_trajectory.points = vec![MultiDofPoint::default()], bad, "multi_dof_trajectory");
        refused(
            &|g| g.trajectory.header = Header { stamp: Time { sec: 50, nanosec: 0 }, ..Header::default() },
            FollowError::OldHeaderTimestamp,
            "header.stamp: found an end 49.000 s ago",
        );
        refused(
            &|g| g.path_tolerance = vec![JointTolerance { name: "z".into(), ..Default::default() }],
            names,
            "path_tolerance: found joint 'z'",
        );
        refused(
            &|g| g.goal_tolerance = vec![JointTolerance { name: "a".into(), position: -2.0, ..Default::default() }],
            bad,
            "goal_tolerance of a: found -2",
        );
        refused(&|g| g.goal_time_tolerance.nanosec = u32::MAX, bad, "goal_time_tolerance: found 4294967295 ns");
    }

    #[test]
    fn a_goal_until_a_contact_is_judged_like_any_other_and_knows_no_other_end() {
        let whole = named(["b", "a"], vec![to([1.0, 2.0], 0.5), to([3.0, 4.0], 1.25)]);
        let of = |until_type| UntilGoal { trajectory: whole.trajectory.clone(), until_type, ..UntilGoal::default() };
        assert_eq!(until(of(0), &joints(), NOW), goal(&whole, &joints(), NOW));
        let refused = until(of(1), &joints(), NOW).expect_err("another end");
        assert!(refused.text.starts_with("until_type: found 1, expected 0"), "{refused:?}");
        let empty = UntilGoal { trajectory: JointTrajectory::default(), ..of(0) };
        assert_eq!(until(empty, &joints(), NOW).expect_err("no joints").code, FollowError::InvalidJoints);
    }
}
