//! A robot of Universal Robots, as Python sees it.

use std::sync::Arc;

use outrigger::Reason;
use outrigger::core::command::MoveTarget;
use outrigger::core::trajectory::{Setpoint, Waypoint};
use outrigger::motion::MoveRequest;
use outrigger::motion::requested_motion::MotionRequest;
use outrigger::requests::{RequestKind, Setting};
use outrigger::wire::robot::{JointPositions, JointVelocities, Pose};
use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::connection::{Connection, LOOK, rejected};
use crate::error::{Stop, of_failure};
use crate::process_bound::ProcessBound;
use crate::session::Session;
use crate::state::State;
use crate::stream::{Kind, Stream};

/// The highest number of waypoints of a motion.
const WAYPOINTS_MOST: usize = 100_000;
/// The longest time of a motion [s].
const MOTION_MOST: f64 = 3600.0;

/// A robot of Universal Robots with a session that stays open until close(), or until the end of its `with` block.
///
/// The control loop runs in a thread that never waits for Python. The arm is only observed until the first motion;
/// then it stays commanded, at rest, until stop() or the end of the session.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Robot(Arc<Connection>);

/// Returns the motion through these waypoints.
fn trajectory(
    times: &[f64],
    positions: &[[f64; 6]],
    velocities: Option<&[[f64; 6]]>,
) -> Result<outrigger::Motion<6>, String> {
    let count = times.len();
    if count > WAYPOINTS_MOST {
        return Err(format!("times: expected at most {WAYPOINTS_MOST} rows, found {count}"));
    }
    for (name, found) in [("positions", positions.len()), ("velocities", velocities.map_or(count, <[_]>::len))] {
        if found != count {
            return Err(format!("{name}: expected as many rows as times, {count}, found {found}"));
        }
    }
    let mut waypoints = Vec::with_capacity(count);
    for (row, (time, q)) in times.iter().zip(positions).enumerate() {
        if !(0.0..=MOTION_MOST).contains(time) {
            return Err(format!("times: row {row}: expected 0 to {MOTION_MOST} s, found {time}"));
        }
        let qd = velocities.and_then(|rows| rows.get(row)).copied().unwrap_or_default();
        let positions = JointPositions(q.map(|angle| angle as f32));
        let setpoint = Setpoint { positions, velocities: JointVelocities(qd.map(|speed| speed as f32)) };
        let at = outrigger::Duration::from_micros((time * 1e6).round() as u64);
        waypoints.push(Waypoint { setpoint, accelerations: None, at });
    }
    outrigger::Motion::through(waypoints).map_err(|error| error.to_string())
}

#[pymethods]
impl Robot {
    /// Connects to the robot at `address`, "host" or "host:port-base", and waits for its first state.
    #[staticmethod]
    fn ur(py: Python<'_>, address: &str) -> PyResult<Self> {
        Ok(Self(Arc::new(Connection::open(py, address)?)))
    }

    /// The newest state of the robot; None while there is no connection.
    #[getter]
    fn state(&self) -> PyResult<Option<State>> {
        Ok(self.0.with(Session::state)?.map(State::from))
    }

    /// The mode of the session, e.g. "Monitor" or "Command".
    #[getter]
    fn mode(&self) -> PyResult<&'static str> {
        Ok(self.0.with(Session::status)?.mode.name())
    }

    /// The preconditions of commanding that are not met, as sentences.
    #[getter]
    fn not_ready(&self) -> PyResult<Vec<&'static str>> {
        Ok(self.0.with(Session::status)?.unmet.iter().map(Reason::text).collect())
    }

    /// Returns an iterator over the states at the robot's rate, on a connection of its own. At most 64 wait.
    fn states(&self, py: Python<'_>) -> PyResult<States> {
        let address = self.0.address.clone();
        let started = py.detach(|| outrigger::Robot::ur(&address)?.quiet().states());
        let states = started.map_err(|failure| of_failure(&failure))?;
        Ok(States(ProcessBound::new(states)))
    }

    /// Moves the arm to joint angles `q` [rad] or to the tool's `pose` (x, y, z [m], rotation vector [rad]), and
    /// returns when it is at rest there. With `degrees`, angles and rotation are in degrees.
    ///
    /// `speed` and `acceleration` are of the fastest joint [rad/s, rad/s²; with `degrees`, deg/s, deg/s²], or of the tool
    /// [m/s, m/s²] if `linear`. `duration` [s] replaces both for joint angles. Raises ValueError for arguments, Rejected
    /// if nothing moved, and Stopped if the motion ended early. Ctrl-C in the main thread stops the arm.
    #[pyo3(signature = (q = None, *, pose = None, linear = false, speed = None, acceleration = None, duration = None,
        degrees = false))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn move_to(
        &self,
        py: Python<'_>,
        q: Option<[f64; 6]>,
        pose: Option<[f64; 6]>,
        linear: bool,
        speed: Option<f64>,
        acceleration: Option<f64>,
        duration: Option<f64>,
        degrees: bool,
    ) -> PyResult<()> {
        let per = if degrees { std::f64::consts::PI / 180.0 } else { 1.0 };
        let bad = |text: String| PyValueError::new_err(text);
        let finite = |name: &str, numbers: [f64; 6]| match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            false => Err(bad(format!("{name}: expected six finite numbers, found {numbers:?}"))),
        };
        let target = match (q, pose) {
            (Some(q), None) => MoveTarget::joints(JointPositions(finite("q", q)?.map(|angle| (angle * per) as f32))),
            (None, Some(pose)) => {
                let [x, y, z, rx, ry, rz] = finite("pose", pose)?;
                let position = [x, y, z].map(|length| length as f32);
                MoveTarget::pose(Pose { position, rotation: [rx, ry, rz].map(|angle| (angle * per) as f32) })
            }
            _ => return Err(bad("expected either q or pose".into())),
        };
        let target = if linear { target.linear() } else { target };
        let above_zero = |name: &str, value: Option<f64>| match value {
            Some(number) if !(number.is_finite() && number > 0.0) => {
                Err(bad(format!("{name}: expected a number above 0, found {number}")))
            }
            value => Ok(value),
        };
        let turning = if linear { 1.0 } else { per };
        let rate = |name, value| above_zero(name, value).map(|value| value.map(|value| (value * turning) as f32));
        let (speed, acceleration) = (rate("speed", speed)?, rate("acceleration", acceleration)?);
        let time = above_zero("duration", duration)?;
        if time.is_some() && (speed.is_some() || acceleration.is_some()) {
            return Err(bad("duration: expected no speed and no acceleration with it".into()));
        }
        if time.is_some_and(|time| time > MOTION_MOST) {
            return Err(bad(format!("duration: expected at most {MOTION_MOST} s")));
        }
        let time = time.map(|time| outrigger::Duration::from_micros((time * 1e6) as u64));
        let request = MoveRequest::new(target, speed, acceleration).lasting(time);
        self.0.make(py, || MotionRequest::Place(request))
    }

    /// Moves the arm through `positions` [rad], of shape (n, 6), each at its time in `times` [s], and returns when it is at
    /// rest at the last one. Without `velocities` [rad/s], of the same shape, the arm comes to rest at each. A first time
    /// of 0 demands that the arm is at the first position; a later one begins where it is. Raises what move_to raises.
    #[pyo3(signature = (times, positions, velocities = None))]
    fn follow(
        &self,
        py: Python<'_>,
        times: Vec<f64>,
        positions: Vec<[f64; 6]>,
        velocities: Option<Vec<[f64; 6]>>,
    ) -> PyResult<()> {
        let motion = trajectory(&times, &positions, velocities.as_deref()).map_err(PyValueError::new_err)?;
        self.0.make(py, || MotionRequest::Motion(Box::new(motion.clone())))
    }

    /// Starts a stream of joint speeds [rad/s]: `with robot.stream_speeds() as stream: stream.send(...)`. The arm is
    /// commanded from now on. A value is followed for `timeout` [s], 0.002 to 0.2, if no other arrives.
    #[pyo3(signature = (timeout = 0.04))]
    fn stream_speeds(&self, py: Python<'_>, timeout: f64) -> PyResult<Stream> {
        Stream::begin(py, &self.0, Kind::Speeds, timeout)
    }

    /// Starts a stream of joint positions [rad], as stream_speeds does. A position must be near the arm's.
    #[pyo3(signature = (timeout = 0.04))]
    fn stream_positions(&self, py: Python<'_>, timeout: f64) -> PyResult<Stream> {
        Stream::begin(py, &self.0, Kind::Positions, timeout)
    }

    /// Sets an output or a setting of the controller, in the words of `outrigger ctl set`: "digital-out.3=on",
    /// "payload=1.2@0,0,0.05", "tcp=0,0,0.1,0,0,0", "speed-slider=0.5". Raises Rejected if the controller refuses it.
    fn set(&self, py: Python<'_>, assignment: &str) -> PyResult<()> {
        let Setting(write) = assignment.parse().map_err(PyValueError::new_err::<String>)?;
        let id = self.0.with(|session| session.ask(RequestKind::Set(session.status().epoch, write)))?;
        let decided = self.0.decision(py, id)?;
        decided.done.map_err(|text| rejected(py, &text, None))
    }

    /// Stops the arm and waits until it is at rest. The session stays open, and the next motion commands again.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.0.stop(py)
    }

    /// Clears the reason of a stop, so that the arm can be commanded again. Raises Rejected while the arm moves.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let id = self.0.with(|session| session.ask(RequestKind::Acknowledge))?;
        let decided = self.0.decision(py, id)?;
        decided.done.map_err(|text| rejected(py, &text, decided.status.latch))
    }

    /// Returns why commanding ended last; None if it never did.
    fn why_stopped(&self) -> PyResult<Option<Stop>> {
        let status = self.0.with(Session::status)?;
        let released = status.released.map(|by| by.to_string());
        Ok(match (status.latch, status.left) {
            (Some(reason), _) => Some(Stop::new(reason, None, true)),
            (None, Some(reason)) => Some(Stop::new(reason, released.filter(|_| reason.is_release()), false)),
            (None, None) => None,
        })
    }

    /// Stops the arm and ends the session. A second call has no effect.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("Robot.ur({:?})", self.0.address)
    }
}

/// The states of a robot as they arrive.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct States(ProcessBound<outrigger::States<6>>);

#[pymethods]
impl States {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<State> {
        loop {
            let next = py.detach(|| {
                let mut states = self.0.lock("this iterator")?;
                let next = states.as_mut().map(|states| (states.next_within(LOOK * 4), states.has_ended()));
                PyResult::Ok(next.unwrap_or((Ok(None), true)))
            })?;
            match next {
                (Ok(Some(state)), _) => return Ok(state.into()),
                (Err(failure), _) => return Err(of_failure(&failure)),
                (Ok(None), true) => return Err(PyStopIteration::new_err(())),
                (Ok(None), false) => py.check_signals()?,
            }
        }
    }
}
