//! A simulated controller in this process, on ports of its own, in real time.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use numpy::PyArray1;
use outrigger::config::{FIRST_PORT, parse_software};
use outrigger::wire::robot::RobotModel;
use outrigger_cli::simulated_run::SimulatedRun;
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::fault::Fault;
use outrigger_sim::history::SharedHistory;
use outrigger_sim::surface::Surface;
use outrigger_sim::tcp::{Addresses, Running, Server};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::connection::wait;
use crate::error::ConnectionFailed;
use crate::history::{History, events};
use crate::motion::joints;
use crate::process_bound::ProcessBound;
use crate::state::array;

/// The first port base that is tried, below the ports that the kernel assigns.
const FIRST_BASE: u16 = 15_000;

/// The stiffness [N/m] and the damping [N·s/m] of a simulated surface.
const STIFFNESS: f64 = 20_000.0;
const DAMPING: f64 = 100.0;

/// Returns a level surface at this height [m].
pub(crate) fn level_surface(height: f64) -> PyResult<Surface> {
    let surface = Surface::new([0.0, 0.0, height], [0.0, 0.0, 1.0], STIFFNESS, DAMPING);
    surface.ok_or_else(|| PyValueError::new_err(format!("surface: expected a height in m, found {height}")))
}

/// Returns the options of a simulated controller.
pub(crate) fn options(
    software: &str,
    model: Option<&str>,
    q: Option<&[f64]>,
    faults: &[String],
    surface: Option<f64>,
) -> PyResult<Options> {
    let bad = |text: String| PyValueError::new_err(text);
    let version = parse_software(software).map_err(|error| bad(format!("software: {error}")))?;
    let mut options = Options::for_software(version);
    if let Some(name) = model {
        let known = RobotModel::ALL.iter().copied();
        options.model = known.clone().find(|model| model.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<&str> = known.map(RobotModel::name).collect();
            bad(format!("model: expected one of {}, found '{name}'", names.join(", ")))
        })?;
    }
    if let Some(q) = q {
        options.q = joints("q", q)?;
    }
    options.surface = surface.map(level_surface).transpose()?;
    for fault in faults {
        options.faults.push(fault.parse::<Fault>().map_err(|error| bad(format!("faults: {error}")))?);
    }
    Ok(options)
}

/// The time without motion after which the arm counts as being at rest: longer than a program takes to start.
const REST: Duration = Duration::from_millis(500);

/// A simulated controller of Universal Robots, until close() or the end of its `with` block.
#[pyclass(frozen, module = "outrigger_robot.sim")]
pub(crate) struct SimulatedUr {
    running: ProcessBound<Arc<Running>>,
    history: ProcessBound<SharedHistory>,
    port_base: u16,
    model: RobotModel,
    software: String,
}

impl SimulatedUr {
    /// Returns a copy of the history, also of a closed simulator. The interpreter's lock is released meanwhile.
    fn past(&self, py: Python<'_>) -> PyResult<outrigger_sim::history::History> {
        let shared = self.history.lock("this simulator")?.clone();
        let shared = shared.ok_or_else(|| PyValueError::new_err("the simulator has no history"))?;
        Ok(py.detach(|| shared.read()))
    }

    /// Looks at the controller between two of its cycles. The interpreter's lock is released meanwhile.
    fn look<T: Send>(&self, py: Python<'_>, at: impl FnOnce(&Controller) -> T + Send) -> PyResult<T> {
        let running = self.running.lock("this simulator")?.clone();
        let running = running.ok_or_else(|| PyValueError::new_err("the simulator is closed"))?;
        Ok(py.detach(|| {
            let found = at(&running.controller());
            drop(running);
            found
        }))
    }
}

#[pymethods]
impl SimulatedUr {
    /// Starts a controller with this PolyScope version and arm, by default the UR5 of the generation, at the joint
    /// angles `q` [rad]. `faults` are those of `outrigger sim ur --fault`. `surface` is the height of a level surface [m]
    /// that the tool can touch. `port_base` 0 chooses free ports; 29999 gives each port its real number.
    #[new]
    #[pyo3(signature = (software = "5.15", *, model = None, q = None, faults = vec![], surface = None, port_base = 0))]
    fn new(
        py: Python<'_>,
        software: &str,
        model: Option<&str>,
        q: Option<Vec<f64>>,
        faults: Vec<String>,
        surface: Option<f64>,
        port_base: u16,
    ) -> PyResult<Self> {
        let bad = |text: String| PyValueError::new_err(text);
        let options = options(software, model, q.as_deref(), &faults, surface)?;
        let version = options.software;
        let model = options.model;
        let controller = Controller::new(options).map_err(|error| bad(error.to_string()))?;
        let spread = u16::try_from(std::process::id() % 400).unwrap_or_default() * 23;
        let base = if port_base == 0 { FIRST_BASE + spread } else { port_base };
        let addresses = Addresses { listen: Ipv4Addr::LOCALHOST.into(), base, robot_api: None };
        let bound = py.detach(|| {
            if port_base == 0 {
                Server::bind_free(controller, addresses)
            } else {
                Server::bind_at(controller, addresses)
            }
        });
        let mut server = bound.map_err(|error| ConnectionFailed::new_err(error.to_string()))?;
        let port_base = server.port_base();
        let history = ProcessBound::new(server.keep_history());
        let running = server.spawn().map_err(|error| ConnectionFailed::new_err(format!("no thread: {error}")))?;
        let running = ProcessBound::new(Arc::new(running));
        Ok(Self { running, history, port_base, model, software: version.to_string() })
    }

    /// The address for Robot.ur() and for the commands of Outrigger.
    #[getter]
    fn address(&self) -> String {
        if self.port_base == FIRST_PORT { self.host().into() } else { format!("{}:{}", self.host(), self.port_base) }
    }

    /// The address without ports, for clients that take them apart.
    #[getter]
    fn host(&self) -> &'static str {
        "127.0.0.1"
    }

    /// The port base: port P of a real controller is at this number + P - 29999.
    #[getter]
    fn port_base(&self) -> u16 {
        self.port_base
    }

    /// The name of the arm, e.g. "ur5e".
    #[getter]
    fn model(&self) -> &'static str {
        self.model.name()
    }

    /// The version of the software, e.g. "5.15.0".
    #[getter]
    fn software(&self) -> &str {
        &self.software
    }

    /// Returns the number of the simulated port that stands for `port`, e.g. 30004.
    fn port(&self, port: u16) -> PyResult<u16> {
        let moved = i64::from(port) - i64::from(FIRST_PORT) + i64::from(self.port_base);
        u16::try_from(moved).map_err(|_| PyValueError::new_err(format!("port: {port} has no place at this base")))
    }

    /// The true joint angles [rad], float64 of shape (6,).
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(array(py, self.look(py, |controller| controller.truth().q)?))
    }

    /// The true joint speeds [rad/s], float64 of shape (6,).
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(array(py, self.look(py, |controller| controller.truth().qd)?))
    }

    /// The true pose of the tool: x, y, z [m] and a rotation vector [rad], float64 of shape (6,).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(array(py, self.look(py, |controller| controller.truth().tool().to_pose())?))
    }

    /// The true force [N] and torque [Nm] on the tool in the base frame, float64 of shape (6,).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(array(py, self.look(py, |controller| controller.truth().push)?))
    }

    /// The levels of the digital outputs: bits 0 to 7 of the box, 8 to 15 configurable, 16 and 17 of the tool; with CB2
    /// 8 and 9 of the tool.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> PyResult<u32> {
        self.look(py, |controller| controller.io().digital_out)
    }

    /// True if a program runs on the controller, or is paused.
    #[getter]
    fn program_runs(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |controller| controller.program().0)
    }

    /// Waits until no program runs on the controller, and returns the true joint angles. Raises TimeoutError after `timeout`
    /// [s].
    #[pyo3(signature = (timeout = 10.0))]
    fn wait_until_program_ends<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let within = Duration::try_from_secs_f64(timeout.min(1e6));
        let within =
            within.map_err(|_| PyValueError::new_err(format!("timeout: expected 0 or more, found {timeout}")))?;
        let ended = || self.program_runs(py).map(|runs| (!runs).then_some(())).transpose();
        match wait(py, within, ended)? {
            Some(ended) => ended.and_then(|()| self.q(py)),
            None => Err(PyTimeoutError::new_err(format!("a program runs after {timeout} s"))),
        }
    }

    /// Sets the digital inputs; bit 0 is the first.
    fn set_inputs(&self, py: Python<'_>, levels: u32) -> PyResult<()> {
        let running = self.running.lock("this simulator")?.clone();
        let running = running.ok_or_else(|| PyValueError::new_err("the simulator is closed"))?;
        py.detach(|| running.controller().act(Action::DigitalInputs(levels)));
        Ok(())
    }

    /// True if no joint moves.
    #[getter]
    fn at_rest(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |controller| controller.truth().at_rest())
    }

    /// Waits until no joint has moved for half a second, counted from this call, and returns the true joint angles
    /// [rad]. Raises TimeoutError if this takes longer than `timeout` [s], which includes the half second.
    #[pyo3(signature = (timeout = 10.0))]
    fn wait_until_at_rest<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let within = Duration::try_from_secs_f64(timeout)
            .map_err(|_| PyValueError::new_err(format!("timeout: expected seconds, found {timeout}")))?;
        let look =
            || self.look(py, |controller| (controller.now(), controller.truth().at_rest(), controller.truth().q));
        let mut moved = look()?.0;
        let found = wait(py, within, || match look() {
            Ok((now, true, q)) if now.since(moved) >= REST => Some(Ok(q)),
            Ok((_, true, _)) => None,
            Ok((now, false, _)) => {
                moved = now;
                None
            }
            Err(error) => Some(Err(error)),
        })?;
        let late =
            || PyTimeoutError::new_err(format!("the arm is not at rest after {timeout} s, or not yet for 0.5 s"));
        Ok(array(py, found.ok_or_else(late)??))
    }

    /// Returns the true arm in the last 60 s, every 8 ms, up to now; also after close().
    fn history(&self, py: Python<'_>) -> PyResult<History> {
        Ok(self.past(py)?.into())
    }

    /// Returns the last 1024 events of the controller, the oldest first: the time [s] since its start, and a text.
    /// Events are clients, programs, faults, and the messages, safety modes and error codes that port 30001 reports.
    /// The same event several times in a row is one.
    fn events(&self, py: Python<'_>) -> PyResult<Vec<(f64, String)>> {
        Ok(events(&self.past(py)?))
    }

    /// Returns a page in HTML, which needs no other file, with the history as plots and the events. `title` is its
    /// heading, `failure` a text above the plots.
    #[pyo3(signature = (title, failure = ""))]
    fn report(&self, py: Python<'_>, title: &str, failure: &str) -> PyResult<String> {
        let past = self.past(py)?;
        let robot = format!("Simulated {}, software {}", self.model.name(), self.software);
        Ok(py.detach(|| SimulatedRun { title, robot: &robot, failure, history: &past }.html()))
    }

    /// Stops the controller and closes its ports. A second call has no effect.
    fn close(&self, py: Python<'_>) {
        let running = self.running.lock("this simulator").ok().and_then(|mut running| running.take());
        py.detach(|| drop(running));
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let open = self.running.lock("this simulator").is_ok_and(|running| running.is_some());
        let closed = if open { "" } else { ", closed" };
        format!("SimulatedUr({:?}, model={:?}, address={:?}{closed})", self.software, self.model(), self.address())
    }
}
