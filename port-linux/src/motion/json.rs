//! Reads a motion from JSON with the fields of `FollowJointTrajectory`: `joint_names` and `points`.

mod errors;
mod fields;

use outrigger_core::trajectory::Tolerances;
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

use self::errors::placed;
use self::fields::{JointTolerance, Level, List, Object, Point, Time, Trajectories};
use super::read_options::{Zero, number, quoted, short};
use super::{LONGEST, Motion, MotionError, Reading, Row, of_rows};

/// The names of a UR's joints, base first. Each may have a prefix.
pub(crate) const UR: [&str; 6] =
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];

/// The fields that contain the trajectory or its points: in a goal, and in MoveIt's plan responses, results and
/// displayed trajectories.
const AROUND: [&str; 7] = [
    "goal",
    "motion_plan_response",
    "solution",
    "planned_trajectory",
    "executed_trajectory",
    "trajectory",
    "joint_trajectory",
];

/// Reads a trajectory in JSON, or a message in JSON that contains one.
pub(super) fn read<const N: usize>(text: &str, reading: Reading) -> Result<Motion<N>, String> {
    let Object(mut level) = serde_json::from_str::<Object<Level>>(text).map_err(|error| placed(&error))?;
    let (mut tolerances, mut given, mut arm) = (Tolerances::DEFAULT, vec![], None);
    let points = loop {
        single(&level)?;
        planned(&level)?;
        once(&level, &mut given)?;
        tolerate(&level, &mut tolerances, &mut arm)?;
        match inside(&mut level)? {
            Inside::Level(next) => level = *next,
            Inside::Points(points) => break points,
        }
    };
    let order = order::<N>(of(&level.joint_names), "joint_names", &mut arm)?;
    let mut zero = Zero::of(reading);
    let rows: Result<Vec<Row<N>>, String> = points
        .iter()
        .enumerate()
        .map(|(number, Object(point))| {
            row(point, &order, &mut zero, reading.degrees).map_err(|what| format!("points[{number}]: {what}"))
        })
        .collect();
    let motion = of_rows(&rows?).map_err(|unfit| match unfit {
        MotionError::Empty | MotionError::Waypoints(_) => format!("points: {unfit}"),
        MotionError::Beyond { .. } => unfit.to_string(),
    })?;
    Ok(motion.with_tolerances(tolerances))
}

/// The content of a JSON object that encloses the points: further objects, or the points themselves.
enum Inside {
    Level(Box<Level>),
    Points(Vec<Object<Point>>),
}

/// Takes the enclosed objects or points out of a JSON object.
///
/// # Errors
/// Returns an error if there is none, if there is more than one, or if there are names of joints without their
/// points.
fn inside(level: &mut Level) -> Result<Inside, String> {
    let mut found = vec![];
    let mut add = |name: &'static str, content: Option<Inside>| found.extend(content.map(|content| (name, content)));
    let mut boxed = |name, inner: Option<Box<Object<Level>>>| {
        add(name, inner.map(|inner| Inside::Level(Box::new(inner.0))));
    };
    boxed("goal", level.goal.take());
    boxed("motion_plan_response", level.motion_plan_response.take());
    boxed("joint_trajectory", level.joint_trajectory.take());
    boxed("solution", level.solution.take());
    boxed("planned_trajectory", level.planned_trajectory.take());
    // A result without an execution has an empty trajectory.
    boxed("executed_trajectory", level.executed_trajectory.take().filter(|inner| !is_empty(&inner.0)));
    if let Some(Trajectories { first, count }) = level.trajectory.take() {
        if count != 1 {
            return Err(format!("trajectory: found {count} trajectories, expected one: put each into its own file"));
        }
        add("trajectory", first.map(Inside::Level));
    }
    add("points", level.points.take().map(|List(points)| Inside::Points(points)));
    if let [(one, _), (other, _), ..] = found.as_slice() {
        return Err(format!("found both '{one}' and '{other}', expected one of them"));
    }
    let (name, content) = found.pop().ok_or_else(|| {
        format!("found no list 'points', expected one at the top level or inside {}", AROUND.join(", "))
    })?;
    if name != "points" && level.joint_names.is_some() {
        return Err(format!("found 'joint_names' next to '{name}', expected them next to 'points'"));
    }
    Ok(content)
}

/// Returns `true` for a trajectory without points, without other objects that may contain some, and without a result.
fn is_empty(level: &Level) -> bool {
    let others = [
        &level.goal,
        &level.motion_plan_response,
        &level.solution,
        &level.planned_trajectory,
        &level.executed_trajectory,
    ];
    single(level).is_ok()
        && of(&level.points).is_empty()
        && others.into_iter().all(Option::is_none)
        && level.trajectory.is_none()
        && level.error_code.is_none()
        && level.fraction.is_none()
        && level.joint_trajectory.as_ref().is_none_or(|inner| is_empty(&inner.0))
}

/// Returns the entries of a list in JSON. A missing list has none.
fn of<T, const MOST: usize>(list: &Option<List<T, MOST>>) -> &[T] {
    list.as_ref().map_or(&[], |List(all)| all)
}

/// Rejects trajectories of multi-degree-of-freedom joints (platforms), which an arm does not have.
fn single(level: &Level) -> Result<(), String> {
    let all = [
        ("multi_dof_trajectory", &level.multi_dof_trajectory),
        ("multi_dof_joint_trajectory", &level.multi_dof_joint_trajectory),
    ];
    let has_points = |found: &Option<Object<fields::MultiDof>>| {
        found.as_ref().is_some_and(|Object(found)| found.points.as_ref().is_some_and(|points| !points.is_empty()))
    };
    match all.into_iter().find(|(_, found)| has_points(found)) {
        Some((name, _)) => {
            Err(format!("found points in {name}, expected none: this arm has no such joints; remove them"))
        }
        None => Ok(()),
    }
}

/// Rejects the response of a planner that has failed, or found only a part of the path.
fn planned(level: &Level) -> Result<(), String> {
    if let Some(fraction) = level.fraction.filter(|fraction| (fraction - 1.0).abs() > 1e-9) {
        let fraction = short(fraction);
        return Err(format!(
            "found fraction {fraction}, expected 1: the planner found only a part of the path; plan again"
        ));
    }
    match level.error_code {
        Some(Object(fields::ErrorCode { val, .. })) if val != 1 => {
            Err(format!("found error_code {val}, expected 1: the planner did not succeed"))
        }
        _ => Ok(()),
    }
}

/// Rejects tolerances of a motion in JSON that an enclosing object has, too. `given` are the names found so far.
fn once(level: &Level, given: &mut Vec<&str>) -> Result<(), String> {
    let all = [
        ("path_tolerance", !of(&level.path_tolerance).is_empty()),
        ("goal_tolerance", !of(&level.goal_tolerance).is_empty()),
        ("goal_time_tolerance", level.goal_time_tolerance.is_some()),
    ];
    for (name, _) in all.into_iter().filter(|(_, is_given)| *is_given) {
        if given.contains(&name) {
            return Err(format!("found '{name}' in two objects, one inside the other, expected it in one: remove one"));
        }
        given.push(name);
    }
    Ok(())
}

/// Reads the tolerances of a goal. As in ROS, 0 is the default and -1 is unlimited. A list has every joint, or is
/// empty.
fn tolerate<const N: usize>(level: &Level, to: &mut Tolerances<N>, arm: &mut Option<Arm>) -> Result<(), String> {
    let components = [
        ("component_path_tolerance", &level.component_path_tolerance),
        ("component_goal_tolerance", &level.component_goal_tolerance),
    ];
    let has_some = |list: &Option<Vec<_>>| list.as_ref().is_some_and(|list| !list.is_empty());
    if let Some((name, _)) = components.into_iter().find(|(_, list)| has_some(list)) {
        return Err(format!("found {name}, which an arm does not have: remove it or leave it empty"));
    }
    let mut of_joints = |name: &str, list: &[Object<JointTolerance>], to: &mut JointPositions<N>, default| {
        joint_tolerances(list, to, default, arm).map_err(|what| format!("{name}{what}"))
    };
    of_joints("path_tolerance", of(&level.path_tolerance), &mut to.path, &Tolerances::<N>::DEFAULT.path)?;
    of_joints("goal_tolerance", of(&level.goal_tolerance), &mut to.goal, &Tolerances::<N>::DEFAULT.goal)?;
    if let Some(Time(seconds)) = level.goal_time_tolerance {
        if !((0.0..=LONGEST).contains(&seconds) || seconds == -1.0) {
            return Err(format!(
                "found goal_time_tolerance {} s, expected 0 to {LONGEST} s (0: no limit), or -1 (no limit)",
                short(seconds)
            ));
        }
        to.goal_time = (seconds > 0.0).then(|| Duration::from_micros((seconds * 1e6).round() as u64));
    }
    Ok(())
}

fn joint_tolerances<const N: usize>(
    list: &[Object<JointTolerance>],
    to: &mut JointPositions<N>,
    default: &JointPositions<N>,
    arm: &mut Option<Arm>,
) -> Result<(), String> {
    if list.is_empty() {
        return Ok(());
    }
    if list.len() != N {
        return Err(format!(": found {} joints, expected all {N} or none", list.len()));
    }
    let names: Vec<String> = list.iter().map(|Object(entry)| entry.name.clone()).collect();
    let order = order::<N>(&names, "name", arm).map_err(|what| format!(": {what}"))?;
    for ((place, Object(entry)), joint) in list.iter().enumerate().zip(order) {
        for (name, value) in [("velocity", entry.velocity), ("acceleration", entry.acceleration)] {
            if value > Some(0.0) {
                return Err(format!(
                    "[{place}]: found a {name}, but only the position is checked: remove it or set it to 0"
                ));
            }
        }
        let position = entry.position.unwrap_or_default();
        to.0[joint] = if position == 0.0 {
            default.0[joint]
        } else if position == -1.0 {
            f32::INFINITY
        } else {
            let angle = position as f32;
            Tolerances::<N>::ANGLE.check(angle, "position").map_err(|error| {
                format!(
                    "[{place}]: found position {}, expected {}, 0 for the default, or -1 for none",
                    short(position),
                    error.expected
                )
            })?;
            angle
        };
    }
    Ok(())
}

/// The arm to which the joint names in a motion file belong.
#[derive(Debug)]
struct Arm {
    /// The first joint name that was found in the file.
    name: String,
    /// The prefix in the file before the joint's own name.
    prefix: String,
    /// The number of the first joint, if joint names end in numbers.
    base: usize,
}

/// Returns, for each number of a waypoint, the joint of the arm that it belongs to, from the names in the field
/// `field`.
fn order<const N: usize>(names: &[String], field: &str, arm: &mut Option<Arm>) -> Result<[usize; N], String> {
    let mut order = std::array::from_fn(|joint| joint);
    if names.is_empty() {
        return Ok(order);
    }
    if names.len() != N {
        return Err(format!("found {} {field}, expected {N}", names.len()));
    }
    let is_ur = N == UR.len() && !names.iter().all(|name| numbered(name).is_some());
    let has_zero = names.iter().any(|name| numbered(name).is_some_and(|(number, _)| number == 0));
    let base = usize::from(!is_ur && !has_zero);
    let mut taken = [false; N];
    for (place, name) in names.iter().enumerate() {
        let known = if is_ur {
            UR.iter().enumerate().find_map(|(joint, known)| Some((joint, name.strip_suffix(known)?)))
        } else {
            numbered(name).and_then(|(number, prefix)| Some((number.checked_sub(base)?, prefix)))
        };
        let (joint, prefix) = known.filter(|(joint, _)| *joint < N).ok_or_else(|| {
            let number = "a name that ends in its number, from 0 or from 1";
            let expected = if N == UR.len() { format!("one of {}, or {number}", UR.join(", ")) } else { number.into() };
            format!("{field}[{place}]: found '{}', expected {expected}, or no names at all", quoted(name, 40))
        })?;
        if std::mem::replace(&mut taken[joint], true) {
            return Err(format!("{field}[{place}]: found '{}' twice", quoted(name, 40)));
        }
        let of = arm.get_or_insert_with(|| Arm { name: name.clone(), prefix: prefix.to_owned(), base });
        if of.prefix != prefix || of.base != base {
            let expected = if of.prefix == prefix { "joints numbered alike" } else { "the joints of one arm" };
            let (found, of) = (quoted(name, 40), quoted(&of.name, 40));
            return Err(format!(
                "{field}[{place}]: found '{found}' together with '{of}', expected {expected}: put each arm into its \
                 own file, and use one naming scheme"
            ));
        }
        order[place] = joint;
    }
    Ok(order)
}

/// Returns the number at the end of a name, and the part before it. `None` if the name does not end in a number.
fn numbered(name: &str) -> Option<(usize, &str)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((name.strip_prefix(prefix)?.parse().ok()?, prefix))
}

fn row<const N: usize>(point: &Point, order: &[usize; N], zero: &mut Zero, is_degrees: bool) -> Result<Row<N>, String> {
    let group = |name: &str, list: &Option<List<f64>>| -> Result<Option<[f32; N]>, String> {
        let list = of(list);
        if list.is_empty() {
            return Ok(None);
        }
        if list.len() != N {
            return Err(format!("found {} {name}, expected {N}", list.len()));
        }
        let mut numbers = [0.0; N];
        for ((place, value), joint) in list.iter().enumerate().zip(order) {
            numbers[*joint] = number(*value, is_degrees).map_err(|what| format!("{name}[{place}]: {what}"))?;
        }
        Ok(Some(numbers))
    };
    if point.effort.as_ref().is_some_and(|effort| !effort.is_empty()) {
        return Err(
            "found effort, expected none: joints are commanded by their positions; remove it or leave it empty".into(),
        );
    }
    let Time(at) = point.time_from_start.ok_or("found no 'time_from_start'")?;
    let at = zero.seconds(at).map_err(|what| format!("time_from_start: {what}"))?;
    let positions = group("positions", &point.positions)?.ok_or("found no 'positions'")?;
    let velocities = group("velocities", &point.velocities)?;
    Ok(Row { at, positions, velocities, accelerations: group("accelerations", &point.accelerations)? })
}
