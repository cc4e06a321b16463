//! A robot, as Python sees it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use outrigger::Reason;
use outrigger::config::{Configuration, KrcConfiguration};
use outrigger::core::client::script::ScriptFile;
use outrigger::core::command::{Guidance, Limits as MotionLimits};
use outrigger::core::mode::{Epoch, Mode};
use outrigger::motion::requested_motion::MotionRequest;
use outrigger::requests::{Decided, RequestKind, Setting, Status};
use outrigger::wire::dashboard::Request;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::connection::{Connection, Turn, rejected};
use crate::error::{Stop, of_failure};
use crate::guide::{Guide, Limits, force_mode};
use crate::motion::{How, move_request, trajectory};
use crate::process_bound::ProcessBound;
use crate::run::{Run, configuration, faulty, limiting};
use crate::services;
use crate::session::{Recordings, Report, Session};
use crate::state::State;
use crate::states::{Following, States};
use crate::stream::{Kind, Stream};
use crate::vendor::{Of, each};

/// A robot of Universal Robots, or a KUKA LWR, with a session that stays open until close(), or until the end of its `with` block.
///
/// The control loop runs in a thread that never waits for Python. The arm is only observed until the first motion;
/// then it stays commanded, at rest, until stop() or the end of the session.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Robot {
    arm: Arm,
    /// The table `[robot]` of a configuration.
    robot: toml::Table,
    /// True if the whole session is recorded.
    recorded: bool,
    /// The lowest limits of a joint in motions [rad/s, rad/s²].
    most: (f32, f32),
}

/// Returns the lowest limits of a joint: speed and acceleration.
fn lowest<const N: usize>(limits: &MotionLimits<N>) -> (f32, f32) {
    let least = |values: &[f32; N]| values.iter().copied().fold(f32::INFINITY, f32::min);
    (least(&limits.velocity.0), least(&limits.acceleration.0))
}

/// The connection to an arm.
pub(crate) type Arm = Of<Arc<Connection<6>>, Arc<Connection<7>>>;

impl Robot {
    fn status(&self) -> PyResult<Status> {
        each!(&self.arm, arm => arm.with(Session::status))
    }

    /// Returns the open connection to a robot of Universal Robots; for another one the error names what it lacks.
    fn of_ur(&self, py: Python<'_>, what: &str) -> PyResult<&Arc<Connection<6>>> {
        match &self.arm {
            Of::Ur(arm) => arm.with(|_| arm),
            Of::Krc(_) => Err(rejected(py, &format!("a KUKA LWR has no {what}"), None)),
        }
    }

    /// Sends a request that was made for the present epoch of the session, and waits for the decision on it.
    fn ask(&self, py: Python<'_>, request: impl FnOnce(Epoch) -> RequestKind) -> PyResult<Decided> {
        each!(&self.arm, arm => {
            let id = arm.with(|session| session.ask(request(session.status().epoch)))?;
            arm.decision(py, id)
        })
    }
}

#[pymethods]
impl Robot {
    /// Connects to the robot at `address`, "host" or "host:port-base", and waits for its first state. `record` is a file
    /// for all traffic of the session; it must not exist. `fault_recordings` is a folder for a recording of each fault.
    /// `limits` are those of motions, with the keys of the table [limits] of a configuration, e.g. {"velocity": 0.3} [rad/s].
    #[staticmethod]
    #[pyo3(signature = (address, *, limits = None, record = None, fault_recordings = None))]
    fn ur(
        py: Python<'_>,
        address: &str,
        limits: Option<&Bound<'_, PyDict>>,
        record: Option<PathBuf>,
        fault_recordings: Option<PathBuf>,
    ) -> PyResult<Self> {
        let recordings = Recordings { record, faults: fault_recordings };
        let (at, recorded) = (address.to_owned(), recordings.record.is_some());
        let mut robot = toml::Table::new();
        robot.insert("address".into(), address.into());
        let parsed = Configuration::parse(&limiting(robot.clone(), limits)?);
        let limits = parsed.map_err(|problems| of_failure(&faulty(&problems)))?.control.limits;
        let most = lowest(&limits);
        let connection = Connection::open(py, address, move || Session::ur(&at, limits, &recordings))?;
        Ok(Self { arm: Of::Ur(Arc::new(connection)), robot, recorded, most })
    }

    /// Waits for the first measurement of the KRC of a KUKA LWR at the IP address `krc`. Its measurements arrive at
    /// `listen`, an address and port of this computer. With `krc` "0.0.0.0" the first sender is the KRC.
    #[staticmethod]
    #[pyo3(signature = (krc, listen = "0.0.0.0:49938", *, limits = None, record = None, fault_recordings = None))]
    fn krc(
        py: Python<'_>,
        krc: &str,
        listen: &str,
        limits: Option<&Bound<'_, PyDict>>,
        record: Option<PathBuf>,
        fault_recordings: Option<PathBuf>,
    ) -> PyResult<Self> {
        let recordings = Recordings { record, faults: fault_recordings };
        let (peer, at, recorded) = (krc.to_owned(), listen.to_owned(), recordings.record.is_some());
        let mut robot = toml::Table::new();
        robot.insert("kind".into(), "krc".into());
        robot.insert("listen".into(), listen.into());
        if krc != "0.0.0.0" {
            robot.insert("peer".into(), krc.into());
        }
        let parsed = KrcConfiguration::parse(&limiting(robot.clone(), limits)?);
        let limits = parsed.map_err(|problems| of_failure(&faulty(&problems)))?.engine.limits;
        let most = lowest(&limits);
        let connection = Connection::open(py, krc, move || Session::krc(&peer, &at, limits, &recordings))?;
        Ok(Self { arm: Of::Krc(Arc::new(connection)), robot, recorded, most })
    }

    /// The newest state of the robot; None while there is no connection.
    #[getter]
    fn state(&self) -> PyResult<Option<State>> {
        each!(&self.arm, arm => Ok(arm.with(Session::state)?.map(State::from)))
    }

    /// The mode of the session, e.g. "Monitor" or "Command".
    #[getter]
    fn mode(&self) -> PyResult<&'static str> {
        Ok(self.status()?.mode.name())
    }

    /// The preconditions of commanding that are not met, as sentences.
    #[getter]
    fn not_ready(&self) -> PyResult<Vec<&'static str>> {
        let status = self.status()?;
        Ok(match status.mode {
            Mode::Stopping => vec!["the arm is being stopped"],
            _ => status.unmet.iter().map(Reason::text).collect(),
        })
    }

    /// Returns an iterator over the states at the robot's rate, from now on. At most 64 wait for a slow reader. It goes on
    /// when run() begins or ends, which connect again, and ends with close() and with the session.
    fn states(&self) -> PyResult<States> {
        Ok(States(match &self.arm {
            Of::Ur(arm) => Of::Ur(ProcessBound::new(Following::begin(Arc::clone(arm))?)),
            Of::Krc(arm) => Of::Krc(ProcessBound::new(Following::begin(Arc::clone(arm))?)),
        }))
    }

    /// Moves the arm to joint angles `q` [rad] or to the tool's `pose` (x, y, z [m], rotation vector [rad]), and
    /// returns when it is at rest there. With `degrees`, angles and rotation are in degrees.
    ///
    /// `speed` and `acceleration` are of the joint with the longest way [rad/s, rad/s²; with `degrees`, deg/s, deg/s²], or
    /// of the tool [m/s, m/s²] if `linear`; by default 0.5 and 0.8, or the limit if it is lower, and 0.1 and 0.5 if `linear`.
    /// `duration` [s] replaces both for joint angles. Raises ValueError for arguments, Rejected if the motion is refused
    /// and the arm has not moved, and Stopped if the motion ended early. Ctrl-C in the main thread stops the arm.
    #[pyo3(signature = (q = None, *, pose = None, linear = false, speed = None, acceleration = None, duration = None,
        degrees = false))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn move_to(
        &self,
        py: Python<'_>,
        q: Option<Vec<f64>>,
        pose: Option<Vec<f64>>,
        linear: bool,
        speed: Option<f64>,
        acceleration: Option<f64>,
        duration: Option<f64>,
        degrees: bool,
    ) -> PyResult<()> {
        let how = How { linear, speed, acceleration, duration, degrees, most: self.most };
        let (q, pose) = (q.as_deref(), pose.as_deref());
        match &self.arm {
            Of::Ur(arm) => {
                let request = move_request(q, pose, &how)?;
                arm.make(py, || MotionRequest::Place(request))
            }
            Of::Krc(arm) => {
                let request = move_request(q, pose, &how)?;
                arm.make(py, || MotionRequest::Place(request))
            }
        }
    }

    /// Moves the arm through `positions` [rad], of shape (n, 6), of a KUKA LWR (n, 7), each at its time in `times` [s], and returns when it is at
    /// rest at the last one. Without `velocities` [rad/s], of the same shape, the arm comes to rest at each. A first time
    /// of 0 demands that the arm is at the first position; a later one begins where it is. Raises what move_to raises.
    #[pyo3(signature = (times, positions, velocities = None))]
    fn follow(
        &self,
        py: Python<'_>,
        times: Vec<f64>,
        positions: Vec<Vec<f64>>,
        velocities: Option<Vec<Vec<f64>>>,
    ) -> PyResult<()> {
        match &self.arm {
            Of::Ur(arm) => {
                let motion = trajectory(&times, &positions, velocities.as_deref())?;
                arm.make(py, || MotionRequest::Motion(Box::new(motion.clone())))
            }
            Of::Krc(arm) => {
                let motion = trajectory(&times, &positions, velocities.as_deref())?;
                arm.make(py, || MotionRequest::Motion(Box::new(motion.clone())))
            }
        }
    }

    /// Starts a stream of joint speeds [rad/s]: `with robot.stream_speeds() as stream: stream.send(...)`. The arm is
    /// commanded from now on. A value is followed for `timeout` [s], 0.002 to 0.2, if no other arrives.
    #[pyo3(signature = (timeout = 0.04))]
    fn stream_speeds(&self, py: Python<'_>, timeout: f64) -> PyResult<Stream> {
        Stream::begin(py, &self.arm, Kind::Speeds, timeout)
    }

    /// Starts a stream of joint positions [rad], as stream_speeds does. A position must be within 0.2 rad of the arm's in each joint.
    #[pyo3(signature = (timeout = 0.04))]
    fn stream_positions(&self, py: Python<'_>, timeout: f64) -> PyResult<Stream> {
        Stream::begin(py, &self.arm, Kind::Positions, timeout)
    }

    /// Runs a control law with its sensors: `with robot.run(law=…, sensor=…) as run: run.wait(60)`. `law` and `sensor` (one,
    /// or a list) are dictionaries with the keys of the tables [law] and [[source]] of a configuration; `tables` are its
    /// other ones, e.g. `limits={"velocity": 0.3}`. Raises ValueError with each wrong key. `record` is a file for all
    /// traffic, `fault_recordings` a folder for a recording of each fault.
    #[pyo3(signature = (law, sensor = None, *, record = None, fault_recordings = None, **tables))]
    fn run(
        &self,
        py: Python<'_>,
        law: &Bound<'_, PyDict>,
        sensor: Option<&Bound<'_, PyAny>>,
        record: Option<PathBuf>,
        fault_recordings: Option<PathBuf>,
        tables: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Run> {
        if self.recorded {
            return Err(PyValueError::new_err("record: expected it in run(), not for the whole session"));
        }
        let tables = tables.cloned().unwrap_or_else(|| PyDict::new(py));
        let text = configuration(self.robot.clone(), law, sensor, &tables)?;
        Run::begin(py, &self.arm, &text, Recordings { record, faults: fault_recordings })
    }

    /// Sets an output or a setting of the controller, in the words of `outrigger ctl set`: "digital-out.3=on",
    /// "payload=1.2@0,0,0.05", "tcp=0,0,0.1,0,0,0", "speed-slider=0.5". Raises Rejected if the controller refuses it.
    fn set(&self, py: Python<'_>, assignment: &str) -> PyResult<()> {
        let Setting(write) = assignment.parse().map_err(PyValueError::new_err::<String>)?;
        let decided = self.ask(py, |epoch| RequestKind::Set(epoch, write))?;
        decided.done.map_err(|text| rejected(py, &text, None))
    }

    /// Sets the payload: its mass [kg], and its centre of gravity in the frame of the flange [m].
    #[pyo3(signature = (mass, center_of_gravity = [0.0; 3]))]
    fn payload(&self, py: Python<'_>, mass: f64, center_of_gravity: [f64; 3]) -> PyResult<()> {
        let [x, y, z] = center_of_gravity;
        self.set(py, &format!("payload={mass}@{x},{y},{z}"))
    }

    /// Starts freedrive: a hand moves the arm. `with robot.freedrive() as guide: guide.wait(10)`. It ends with its block,
    /// above a limit (`tool_speed` [m/s], `joint_speed` [rad/s], `deviation` of the tool from its start [m]), and if
    /// renew() or wait() does not renew it within `renew_within` [s].
    #[pyo3(signature = (*, tool_speed = 0.25, joint_speed = 1.0, deviation = 0.5, renew_within = 1.0))]
    fn freedrive(
        &self,
        py: Python<'_>,
        tool_speed: f64,
        joint_speed: f64,
        deviation: f64,
        renew_within: f64,
    ) -> PyResult<Guide> {
        let limits = Limits { tool_speed, joint_speed, deviation, renew_within }.checked()?;
        Guide::begin(py, self.of_ur(py, "freedrive")?, Guidance::Freedrive, limits)
    }

    /// Starts force mode: the arm yields along the axes that have a number in `wrench`, and pushes with this force [N] and
    /// torque [Nm]; None holds an axis. `frame` (x, y, z [m], rotation vector [rad]) turns the axes; the default is the
    /// base. It ends as freedrive() does.
    #[pyo3(signature = (wrench, *, frame = None, damping = 0.025, gain = 0.5, tool_speed = 0.25, joint_speed = 1.0,
        deviation = 0.5, renew_within = 1.0))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn force(
        &self,
        py: Python<'_>,
        wrench: Vec<Option<f64>>,
        frame: Option<Vec<f64>>,
        damping: f64,
        gain: f64,
        tool_speed: f64,
        joint_speed: f64,
        deviation: f64,
        renew_within: f64,
    ) -> PyResult<Guide> {
        let mode = force_mode(&wrench, frame.as_deref(), damping, gain)?;
        let limits = Limits { tool_speed, joint_speed, deviation, renew_within }.checked()?;
        Guide::begin(py, self.of_ur(py, "force mode")?, Guidance::Force(mode), limits)
    }

    /// Sends a URScript program to the controller, and returns when it runs, or with `wait` when it has ended. Raises
    /// Rejected while this session commands the arm: call stop() before; a `sec` program is sent all the same. Raises
    /// ValueError if the controller does not start it, Stopped if it fails. stop() and close() stop it, and so does Ctrl-C
    /// while it is waited for.
    #[pyo3(signature = (text, wait = true))]
    fn script(&self, py: Python<'_>, text: &str, wait: bool) -> PyResult<()> {
        let arm = self.of_ur(py, "scripts")?;
        let program = ScriptFile::new(text.as_bytes()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let turn = if program.replaces() { Some(arm.turn(py)?) } else { None };
        let stops = turn.as_ref().map_or_else(|| arm.stops(), Turn::stops);
        let permit = if program.replaces() {
            let permit = arm.with(Session::upload_permit)?.map_err(|text| rejected(py, text, None))?;
            let decided = self.ask(py, RequestKind::Script)?;
            decided.done.map_err(|text| rejected(py, &text, None))?;
            Some(permit)
        } else {
            None
        };
        arm.script.store(program.replaces(), Ordering::SeqCst);
        let mut raised = Ok(());
        let is_stopped = || {
            raised = Python::attach(|py| py.check_signals());
            raised.is_err() || arm.stops() != stops
        };
        let sent = py.detach(|| services::script(arm.name(), &program, wait, permit.as_ref(), is_stopped));
        arm.script.store(false, Ordering::SeqCst);
        if program.replaces() {
            arm.left_script.store(!wait && sent.is_ok(), Ordering::SeqCst);
        }
        match (raised, sent.map_err(|failure| of_failure(&failure))) {
            (Ok(()), sent) => sent,
            (Err(raised), sent) => {
                raised.set_cause(py, sent.err());
                Err(raised)
            }
        }
    }

    /// Sends a line to the dashboard server, e.g. "power on", "brake release", "load weld.urp" or "programState", and
    /// returns its answer as text. With PolyScope X it is sent to the Robot API. Raises Stopped if the controller refuses
    /// it, ValueError for a line that its software does not know.
    fn dashboard(&self, py: Python<'_>, line: &str) -> PyResult<String> {
        let arm = self.of_ur(py, "dashboard")?;
        let request = Request::parse(line).map_err(|error| PyValueError::new_err(format!("{line:?}: {error}")))?;
        let stops =
            matches!(request, Request::Stop | Request::Pause | Request::PowerOff | Request::UnlockProtectiveStop);
        if request.kind().needs_remote_control() && !stops && arm.with(Session::commands)? {
            return Err(rejected(py, "the arm is commanded: call stop() before", None));
        }
        let mut raised = Ok(());
        let is_stopped = || {
            raised = Python::attach(|py| py.check_signals());
            raised.is_err()
        };
        let answer = py.detach(|| services::dashboard(arm.name(), request, is_stopped));
        raised?;
        answer.map_err(|failure| of_failure(&failure))
    }

    /// Stops the arm and waits until it is at rest. The session stays open, and the next motion commands again. Of programs
    /// on the controller it stops only those that script() has started.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        each!(&self.arm, arm => arm.stop(py))
    }

    /// Clears the reason of a stop, so that the arm can be commanded again. Raises Rejected if the arm is not at rest after 2 s.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        each!(&self.arm, arm => arm.reset(py))
    }

    /// Returns why commanding ended last; None if it never did.
    fn why_stopped(&self) -> PyResult<Option<Stop>> {
        let status = self.status()?;
        let (report, past) = each!(&self.arm, arm => (arm.with(Session::report)?, arm.past()));
        let released = status.released.map(|by| by.to_string());
        let of = |latch: Option<Reason>, left: Option<Reason>, released: Option<String>, report: &Report| {
            let stop = |reason: Reason| {
                let released = released.clone().filter(|_| reason.is_release() && latch.is_none());
                Stop::new(reason, released, latch.is_some(), report)
            };
            latch.or(left).map(stop)
        };
        let now = of(status.latch, status.left, released, &report);
        let before = of(past.latch, past.left, past.released, &past.report);
        Ok(if past.latch.is_some() { before.or(now) } else { now.or(before) })
    }

    /// Stops the arm and ends the session. A second call has no effect.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        each!(&self.arm, arm => arm.close(py))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        match &self.arm {
            Of::Ur(arm) => format!("Robot.ur({:?})", arm.name()),
            Of::Krc(arm) => format!("Robot.krc({:?})", arm.name()),
        }
    }
}
