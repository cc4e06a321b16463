//! A motion as JSON with the fields of `FollowJointTrajectory`: `joint_names` and `points`.

use serde_json::{Map, Value};

use super::{LONGEST, Motion, Row, Unfit, of_rows};

/// Names of a UR's joints, base first; a prefix may stand before each.
const UR: [&str; 6] =
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];

/// Reads a trajectory, a goal with one, or a message with a goal.
pub(super) fn read<const N: usize>(text: &str) -> Result<Motion<N>, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("line {}, column {}: {error}", error.line(), error.column()))?;
    let mut object = value.as_object().ok_or("found no object, expected one with 'points'")?;
    for name in ["goal", "trajectory"] {
        if let Some(inner) = object.get(name).and_then(Value::as_object) {
            refuse_tolerances(object)?;
            object = inner;
        }
    }
    refuse_tolerances(object)?;
    let order = order::<N>(object.get("joint_names"))?;
    let points = object.get("points").and_then(Value::as_array).ok_or("found no list 'points'")?;
    let rows: Result<Vec<Row<N>>, String> = points
        .iter()
        .enumerate()
        .map(|(number, point)| row(point, &order).map_err(|what| format!("points[{number}]: {what}")))
        .collect();
    of_rows(&rows?).map_err(|unfit| match unfit {
        Unfit::Waypoints(error) => format!("points: {error}"),
        Unfit::Beyond { .. } => unfit.to_string(),
    })
}

/// Tolerances of a goal are not heeded yet, and nobody is to believe they are.
fn refuse_tolerances(object: &Map<String, Value>) -> Result<(), String> {
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.values().all(|value| value.as_f64() == Some(0.0)),
        other => other.as_f64() == Some(0.0),
    };
    let names = ["path_tolerance", "goal_tolerance", "goal_time_tolerance", "component_path_tolerance"];
    match names.into_iter().find(|name| object.get(*name).is_some_and(|value| !empty(value))) {
        Some(name) => Err(format!("found {name}, which is not supported in a file: leave it out or empty")),
        None => Ok(()),
    }
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

fn row<const N: usize>(point: &Value, order: &[usize; N]) -> Result<Row<N>, String> {
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
            numbers[*joint] = number as f32;
        }
        Ok(Some(numbers))
    };
    let at = time(point.get("time_from_start").ok_or("found no 'time_from_start'")?)?;
    if !(0.0..=LONGEST).contains(&at) {
        return Err(format!("found time_from_start {at} s, expected 0 to {LONGEST} s"));
    }
    let positions = group("positions")?.ok_or("found no 'positions'")?;
    Ok(Row { at, positions, velocities: group("velocities")?, accelerations: group("accelerations")? })
}

/// Seconds; or an object of `sec` and `nanosec`, as of ROS 2, or `secs` and `nsecs`.
fn time(value: &Value) -> Result<f64, String> {
    if let Some(seconds) = value.as_f64() {
        return Ok(seconds);
    }
    let part = |names: [&str; 2]| names.into_iter().find_map(|name| value.get(name)).and_then(Value::as_f64);
    match (part(["sec", "secs"]), part(["nanosec", "nsecs"])) {
        (Some(seconds), nanos) => Ok(seconds + nanos.unwrap_or(0.0) * 1e-9),
        (None, Some(nanos)) => Ok(nanos * 1e-9),
        (None, None) => Err(format!("found time_from_start {value}, expected seconds, or 'sec' and 'nanosec'")),
    }
}
