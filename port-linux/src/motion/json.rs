//! A motion as JSON with the fields of `FollowJointTrajectory`: `joint_names` and `points`.

use outrigger_core::robot::JointPositions;
use outrigger_core::time::Duration;
use outrigger_core::trajectory::Tolerances;
use serde_json::{Map, Value};

use super::reading::Zero;
use super::{LONGEST, Motion, Reading, Row, Unfit, of_rows};

/// Names of a UR's joints, base first; a prefix may stand before each.
const UR: [&str; 6] =
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];

/// Fields that may contain the trajectory, outermost first: in a goal, and in MoveIt's plan responses and displayed trajectories.
const AROUND: [&str; 4] = ["goal", "motion_plan_response", "trajectory", "joint_trajectory"];

/// Reads a trajectory, or a message that contains one.
pub(super) fn read<const N: usize>(text: &str, reading: Reading) -> Result<Motion<N>, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("line {}, column {}: {error}", error.line(), error.column()))?;
    let mut tolerances = Tolerances::DEFAULT;
    let mut object = value.as_object().ok_or("found no object, expected one with 'points'")?;
    for name in AROUND {
        let inner = match object.get(name) {
            Some(Value::Array(list)) => match list.as_slice() {
                [only] => only.as_object(),
                _ => {
                    return Err(format!(
                        "{name}: found {} trajectories, expected one: put each into its own file",
                        list.len()
                    ));
                }
            },
            inner => inner.and_then(Value::as_object),
        };
        if let Some(inner) = inner {
            single(object)?;
            tolerate(object, &mut tolerances)?;
            object = inner;
        }
    }
    single(object)?;
    tolerate(object, &mut tolerances)?;
    let order = order::<N>(object.get("joint_names"))?;
    let points = object.get("points").and_then(Value::as_array).ok_or_else(|| {
        format!("found no list 'points', expected one at the top level or inside {}", AROUND.join(", "))
    })?;
    let mut zero = Zero::of(reading);
    let rows: Result<Vec<Row<N>>, String> = points
        .iter()
        .enumerate()
        .map(|(number, point)| {
            row(point, &order, &mut zero, reading.degrees).map_err(|what| format!("points[{number}]: {what}"))
        })
        .collect();
    let motion = of_rows(&rows?).map_err(|unfit| match unfit {
        Unfit::Empty | Unfit::Waypoints(_) => format!("points: {unfit}"),
        Unfit::Beyond { .. } => unfit.to_string(),
    })?;
    Ok(motion.with_tolerances(tolerances))
}

/// Refuses trajectories of multi-degree-of-freedom joints (platforms), which an arm does not have.
fn single(object: &Map<String, Value>) -> Result<(), String> {
    let points = |name: &str| object.get(name)?.get("points")?.as_array().map(Vec::len);
    match ["multi_dof_trajectory", "multi_dof_joint_trajectory"].into_iter().find(|name| points(name) > Some(0)) {
        Some(name) => Err(format!("found points in {name}, expected none: this arm has no such joints; remove them")),
        None => Ok(()),
    }
}

/// Takes over the tolerances of a goal. In ROS 0 stands for the default and -1 for none; a list is of every joint, or empty.
fn tolerate<const N: usize>(object: &Map<String, Value>, to: &mut Tolerances<N>) -> Result<(), String> {
    let components = ["component_path_tolerance", "component_goal_tolerance"];
    let has_some = |name: &str| object.get(name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    if let Some(name) = components.into_iter().find(|name| has_some(name)) {
        return Err(format!("found {name}, which an arm has none of: leave it out or empty"));
    }
    let of_joints = |name: &str, to: &mut JointPositions<N>, default: &JointPositions<N>| {
        object
            .get(name)
            .map_or(Ok(()), |list| joint_tolerances(list, to, default).map_err(|what| format!("{name}{what}")))
    };
    of_joints("path_tolerance", &mut to.path, &Tolerances::<N>::DEFAULT.path)?;
    of_joints("goal_tolerance", &mut to.goal, &Tolerances::<N>::DEFAULT.goal)?;
    if let Some(value) = object.get("goal_time_tolerance").filter(|value| !value.is_null()) {
        let seconds = time(value, "goal_time_tolerance")?;
        if !((0.0..=LONGEST).contains(&seconds) || seconds == -1.0) {
            return Err(format!(
                "found goal_time_tolerance {seconds} s, expected 0 to {LONGEST} s, of which 0 is any, or -1: any"
            ));
        }
        to.goal_time = (seconds > 0.0).then(|| Duration::from_micros((seconds * 1e6).round() as u64));
    }
    Ok(())
}

fn joint_tolerances<const N: usize>(
    list: &Value,
    to: &mut JointPositions<N>,
    default: &JointPositions<N>,
) -> Result<(), String> {
    let list = match list {
        Value::Null => return Ok(()),
        Value::Array(list) if list.is_empty() => return Ok(()),
        Value::Array(list) if list.len() == N => list,
        Value::Array(list) => return Err(format!(": found {} joints, expected all {N} or none", list.len())),
        other => return Err(format!(": found {other}, expected a list")),
    };
    let names: Vec<Value> = list.iter().map(|entry| entry.get("name").cloned().unwrap_or_default()).collect();
    let order =
        order::<N>(Some(&Value::Array(names))).map_err(|what| format!(": {}", what.replace("joint_names", "name")))?;
    for ((place, entry), joint) in list.iter().enumerate().zip(order) {
        let number = |name: &str| -> Result<f64, String> {
            let Some(value) = entry.get(name).filter(|value| !value.is_null()) else { return Ok(0.0) };
            value.as_f64().ok_or_else(|| format!("[{place}]: found {name} {value}, expected a number"))
        };
        for name in ["velocity", "acceleration"] {
            if number(name)? > 0.0 {
                return Err(format!("[{place}]: found a {name}, and only the position is compared: leave it out or 0"));
            }
        }
        let position = number("position")?;
        to.0[joint] = if position == 0.0 {
            default.0[joint]
        } else if position == -1.0 {
            f32::INFINITY
        } else {
            let angle = position as f32;
            Tolerances::<N>::ANGLE.check(angle, "position").map_err(|error| {
                format!(
                    "[{place}]: found position {position}, expected {}, 0 for the default, or -1 for none",
                    error.expected
                )
            })?;
            angle
        };
    }
    Ok(())
}

/// Which joint of the arm each number of a point is for.
fn order<const N: usize>(names: Option<&Value>) -> Result<[usize; N], String> {
    let own = std::array::from_fn(|joint| joint);
    let Some(names) = names else { return Ok(own) };
    let names = names.as_array().ok_or("found no list in 'joint_names'")?;
    if names.is_empty() {
        return Ok(own);
    }
    if names.len() != N {
        return Err(format!("found {} joint_names, expected {N}", names.len()));
    }
    let mut order = own;
    let mut taken = [false; N];
    for (place, name) in names.iter().enumerate() {
        let name = name.as_str().ok_or_else(|| format!("joint_names[{place}]: found {name}, expected a name"))?;
        let known = if N == UR.len() { UR.iter().position(|known| name.ends_with(known)) } else { numbered(name) };
        let joint = known.filter(|joint| *joint < N).ok_or_else(|| {
            let expected = if N == UR.len() {
                format!("one of {}", UR.join(", "))
            } else {
                "a name that ends in its number from 0".into()
            };
            format!("joint_names[{place}]: found '{name}', expected {expected}, or no names at all")
        })?;
        if std::mem::replace(&mut taken[joint], true) {
            return Err(format!("joint_names[{place}]: found '{name}' a second time"));
        }
        order[place] = joint;
    }
    Ok(order)
}

/// The number a name ends in.
fn numbered(name: &str) -> Option<usize> {
    let digits = name.rfind(|c: char| !c.is_ascii_digit()).map_or(name, |last| &name[last + 1..]);
    digits.parse().ok()
}

fn row<const N: usize>(point: &Value, order: &[usize; N], zero: &mut Zero, is_degrees: bool) -> Result<Row<N>, String> {
    let group = |name: &str| -> Result<Option<[f32; N]>, String> {
        let Some(list) = point.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let list = list.as_array().ok_or_else(|| format!("found no list in '{name}'"))?;
        if list.is_empty() {
            return Ok(None);
        }
        if list.len() != N {
            return Err(format!("found {} {name}, expected {N}", list.len()));
        }
        let mut numbers = [0.0; N];
        for ((place, value), joint) in list.iter().enumerate().zip(order) {
            let number = value.as_f64().ok_or_else(|| format!("{name}[{place}]: found {value}, expected a number"))?;
            numbers[*joint] = if is_degrees { number.to_radians() } else { number } as f32;
        }
        Ok(Some(numbers))
    };
    let at = time(point.get("time_from_start").ok_or("found no 'time_from_start'")?, "time_from_start")?;
    let at = zero.seconds(at).map_err(|what| format!("time_from_start: {what}"))?;
    let positions = group("positions")?.ok_or("found no 'positions'")?;
    Ok(Row { at, positions, velocities: group("velocities")?, accelerations: group("accelerations")? })
}

/// Seconds; or an object of `sec` and `nanosec`, as of ROS 2, or `secs` and `nsecs`.
fn time(value: &Value, name: &str) -> Result<f64, String> {
    if let Some(seconds) = value.as_f64() {
        return Ok(seconds);
    }
    let part = |names: [&str; 2]| names.into_iter().find_map(|name| value.get(name)).and_then(Value::as_f64);
    match (part(["sec", "secs"]), part(["nanosec", "nsecs"])) {
        (Some(seconds), nanos) => Ok(seconds + nanos.unwrap_or(0.0) * 1e-9),
        (None, Some(nanos)) => Ok(nanos * 1e-9),
        (None, None) => Err(format!("found {name} {value}, expected seconds, or 'sec' and 'nanosec'")),
    }
}
