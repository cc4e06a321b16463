//! A simulated KRC with a KUKA LWR in this process, in real time.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use numpy::PyArray1;
use outrigger_sim::krc::{Fault, Krc, Options, Truth};
use outrigger_sim::udp::{Running, Server};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::ConnectionFailed;
use crate::motion::joints;
use crate::process_bound::ProcessBound;
use crate::simulator::level_surface;
use crate::state::array;

/// The highest speed of a joint at rest [rad/s].
const REST: f64 = 1e-4;

/// A simulated KRC with an LWR 4+, until close() or the end of its `with` block.
#[pyclass(frozen, module = "outrigger_robot.sim")]
pub(crate) struct SimulatedKrc {
    running: ProcessBound<Arc<Running>>,
    remote: SocketAddr,
}

impl SimulatedKrc {
    /// Looks at the true arm between two milliseconds of the KRC. The interpreter's lock is released meanwhile.
    fn look<T: Send>(&self, py: Python<'_>, at: impl FnOnce(&Truth) -> T + Send) -> PyResult<T> {
        let running = self.running.lock("this simulator")?.clone();
        let running = running.ok_or_else(|| PyValueError::new_err("the simulator is closed"))?;
        Ok(py.detach(|| {
            let found = at(&running.krc().truth());
            drop(running);
            found
        }))
    }
}

#[pymethods]
impl SimulatedKrc {
    /// Starts a KRC that sends a measurement every `period_ms`, 1 to 100, with the arm at the joint angles `q` [rad].
    /// `faults` are those of `outrigger sim krc --fault`. `surface` is the height of a level surface [m] that the flange
    /// can touch. Measurements are sent to port `remote_port` of this computer; 0 chooses a free one.
    #[new]
    #[pyo3(signature = (*, period_ms = 5, q = None, faults = vec![], surface = None, remote_port = 0))]
    fn new(
        py: Python<'_>,
        period_ms: u64,
        q: Option<Vec<f64>>,
        faults: Vec<String>,
        surface: Option<f64>,
        remote_port: u16,
    ) -> PyResult<Self> {
        let bad = |text: String| PyValueError::new_err(text);
        if !(1..=100).contains(&period_ms) {
            return Err(bad(format!("period_ms: expected 1 to 100, found {period_ms}")));
        }
        let mut options = Options { period: Duration::from_millis(period_ms), ..Options::default() };
        if let Some(q) = q {
            options.start = joints("q", &q)?;
        }
        for fault in &faults {
            options.faults.push(fault.parse::<Fault>().map_err(|error| bad(format!("faults: {error}")))?);
        }
        options.arm.contact = surface.map(level_surface).transpose()?;
        let krc = Krc::new(options).map_err(|error| bad(error.to_string()))?;
        let failed = |error: std::io::Error| ConnectionFailed::new_err(error.to_string());
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let free = || UdpSocket::bind(local).and_then(|socket| socket.local_addr()).map(|at| at.port());
        let port = if remote_port == 0 { free().map_err(failed)? } else { remote_port };
        let remote = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let server = Server::bind(krc, local, remote).map_err(failed)?;
        let running = py.detach(|| server.spawn()).map_err(failed)?;
        Ok(Self { running: ProcessBound::new(Arc::new(running)), remote })
    }

    /// The IP address of the KRC, for Robot.krc().
    #[getter]
    fn host(&self) -> &'static str {
        "127.0.0.1"
    }

    /// The address and port that measurements are sent to: the second argument of Robot.krc().
    #[getter]
    fn remote(&self) -> String {
        self.remote.to_string()
    }

    /// The true joint angles [rad], float64 of shape (7,).
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(array(py, self.look(py, |truth| truth.q)?))
    }

    /// The true joint speeds [rad/s], float64 of shape (7,).
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(array(py, self.look(py, |truth| truth.qd)?))
    }

    /// True if no joint moves faster than 0.0001 rad/s.
    #[getter]
    fn at_rest(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |truth| truth.qd.iter().all(|speed| speed.abs() < REST))
    }

    /// Stops the KRC. A second call has no effect.
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
        format!("SimulatedKrc(remote={:?}{closed})", self.remote.to_string())
    }
}
