//! Motions from the arguments of Python.

use outrigger::core::command::MoveTarget;
use outrigger::core::trajectory::{Setpoint, Waypoint};
use outrigger::motion::MoveRequest;
use outrigger::wire::robot::{JointPositions, JointVelocities, Pose};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The highest number of waypoints of a motion.
const WAYPOINTS_MOST: usize = 100_000;
/// The longest time of a motion [s].
const MOTION_MOST: f64 = 3600.0;

/// The keywords of a motion to one goal.
pub(crate) struct How {
    pub(crate) linear: bool,
    pub(crate) speed: Option<f64>,
    pub(crate) acceleration: Option<f64>,
    pub(crate) duration: Option<f64>,
    pub(crate) degrees: bool,
    /// The lowest limits of a joint [rad/s, rad/s²], which the defaults do not exceed.
    pub(crate) most: (f32, f32),
}

/// The defaults of a motion of joints [rad/s, rad/s²].
const USUAL: (f32, f32) = (0.5, 0.8);

/// Returns one finite number per joint. The error names the argument.
pub(crate) fn joints<const N: usize>(name: &str, numbers: &[f64]) -> PyResult<[f64; N]> {
    let found = <[f64; N]>::try_from(numbers).ok().filter(|found| found.iter().all(|number| number.is_finite()));
    found.ok_or_else(|| PyValueError::new_err(format!("{name}: expected {N} finite numbers, found {numbers:?}")))
}

/// Returns the motion through these waypoints.
pub(crate) fn trajectory<const N: usize>(
    times: &[f64],
    positions: &[Vec<f64>],
    velocities: Option<&[Vec<f64>]>,
) -> PyResult<outrigger::Motion<N>> {
    let bad = |text: String| Err(PyValueError::new_err(text));
    let count = times.len();
    if count > WAYPOINTS_MOST {
        return bad(format!("times: expected at most {WAYPOINTS_MOST} rows, found {count}"));
    }
    for (name, found) in [("positions", positions.len()), ("velocities", velocities.map_or(count, <[_]>::len))] {
        if found != count {
            return bad(format!("{name}: expected as many rows as times, {count}, found {found}"));
        }
    }
    let mut waypoints = Vec::with_capacity(count);
    for (row, (time, q)) in times.iter().zip(positions).enumerate() {
        if !(0.0..=MOTION_MOST).contains(time) {
            return bad(format!("times: row {row}: expected 0 to {MOTION_MOST} s, found {time}"));
        }
        let q: [f64; N] = joints(&format!("positions: row {row}"), q)?;
        let qd = velocities.and_then(|rows| rows.get(row));
        let qd = qd.map_or(Ok([0.0; N]), |qd| joints(&format!("velocities: row {row}"), qd))?;
        let positions = JointPositions(q.map(|angle| angle as f32));
        let setpoint = Setpoint { positions, velocities: JointVelocities(qd.map(|speed| speed as f32)) };
        let at = outrigger::Duration::from_micros((time * 1e6).round() as u64);
        waypoints.push(Waypoint { setpoint, accelerations: None, at });
    }
    outrigger::Motion::through(waypoints).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the motion to joint angles `q` or to a `pose`.
pub(crate) fn move_request<const N: usize>(
    q: Option<&[f64]>,
    pose: Option<&[f64]>,
    how: &How,
) -> PyResult<MoveRequest<N>> {
    let bad = |text: String| PyValueError::new_err(text);
    let per = if how.degrees { std::f64::consts::PI / 180.0 } else { 1.0 };
    let target = match (q, pose) {
        (Some(q), None) => MoveTarget::joints(JointPositions(joints("q", q)?.map(|angle| (angle * per) as f32))),
        (None, Some(pose)) => {
            let [x, y, z, rx, ry, rz] = joints("pose", pose)?;
            let position = [x, y, z].map(|length| length as f32);
            MoveTarget::pose(Pose { position, rotation: [rx, ry, rz].map(|angle| (angle * per) as f32) })
        }
        _ => return Err(bad("expected either q or pose".into())),
    };
    let target = if how.linear { target.linear() } else { target };
    let above_zero = |name: &str, value: Option<f64>| match value {
        Some(number) if !(number.is_finite() && number > 0.0) => {
            Err(bad(format!("{name}: expected a number above 0, found {number}")))
        }
        value => Ok(value),
    };
    let turning = if how.linear { 1.0 } else { per };
    let rate = |name, value| above_zero(name, value).map(|value| value.map(|value| (value * turning) as f32));
    let (speed, acceleration) = (rate("speed", how.speed)?, rate("acceleration", how.acceleration)?);
    let duration = above_zero("duration", how.duration)?;
    if duration.is_some() && (speed.is_some() || acceleration.is_some()) {
        return Err(bad("duration: expected no speed and no acceleration with it".into()));
    }
    if duration.is_some_and(|duration| duration > MOTION_MOST) {
        return Err(bad(format!("duration: expected at most {MOTION_MOST} s")));
    }
    let (speed, acceleration) = if duration.is_none() && !how.linear {
        (speed.or(Some(USUAL.0.min(how.most.0))), acceleration.or(Some(USUAL.1.min(how.most.1))))
    } else {
        (speed, acceleration)
    };
    let duration = duration.map(|duration| outrigger::Duration::from_micros((duration * 1e6) as u64));
    Ok(MoveRequest::new(target, speed, acceleration).lasting(duration))
}
