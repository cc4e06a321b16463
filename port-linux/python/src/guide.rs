//! Freedrive and force mode.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use outrigger::Reason;
use outrigger::core::command::{ForceMode, ForceType, Guidance};
use outrigger::core::mode::{GuideLimits, Mode};
use outrigger::requests::{RequestKind, Status};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::connection::{Connection, LOOK, rejected, stopped};
use crate::motion::joints;

/// The limits of freedrive and force mode [m/s, rad/s, m, s].
pub(crate) struct Limits {
    pub(crate) tool_speed: f64,
    pub(crate) joint_speed: f64,
    pub(crate) deviation: f64,
    pub(crate) renew_within: f64,
}

impl Limits {
    pub(crate) fn checked(&self) -> PyResult<GuideLimits> {
        // Above the highest that is accepted, and not a number, are rejected below.
        let renew_within = outrigger::Duration::from_micros((self.renew_within.clamp(0.0, 1e6) * 1e6) as u64);
        let limits = GuideLimits {
            renew_within,
            tool_speed: self.tool_speed as f32,
            joint_speed: self.joint_speed as f32,
            deviation: self.deviation as f32,
        };
        limits.check_ranges().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(limits)
    }
}

/// Returns force mode with this force and torque [N, Nm] in `frame`. An axis without one holds its position.
pub(crate) fn force_mode(
    wrench: &[Option<f64>],
    frame: Option<&[f64]>,
    damping: f64,
    gain: f64,
) -> PyResult<ForceMode> {
    let axes = <[Option<f64>; 6]>::try_from(wrench)
        .map_err(|_| PyValueError::new_err(format!("wrench: expected 6 numbers or None, found {}", wrench.len())))?;
    let mut mode = ForceMode::pushing([0.0; 3]);
    mode.kind = ForceType::Frame;
    mode.selection = axes.map(|axis| axis.is_some());
    let [x, y, z, rx, ry, rz] = axes.map(|axis| axis.unwrap_or_default() as f32);
    (mode.wrench.force, mode.wrench.torque) = ([x, y, z], [rx, ry, rz]);
    if let Some(frame) = frame {
        let [x, y, z, rx, ry, rz] = joints("frame", frame)?.map(|number| number as f32);
        (mode.task_frame.position, mode.task_frame.rotation) = ([x, y, z], [rx, ry, rz]);
    }
    (mode.damping, mode.gain_scaling) = (damping as f32, gain as f32);
    mode.check(true).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(mode)
}

/// Freedrive or force mode of the arm, until the end of its `with` block, or until renew() was not called in time.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Guide {
    connection: Arc<Connection<6>>,
    renew_within: Duration,
    /// The stops of the connection until the mode began, and the number of the mode.
    begun: (u32, u32),
    closed: AtomicBool,
}

impl Guide {
    pub(crate) fn begin(
        py: Python<'_>,
        connection: &Arc<Connection<6>>,
        what: Guidance,
        limits: GuideLimits,
    ) -> PyResult<Self> {
        let begun = connection.begin_guide(py, |epoch, asker| RequestKind::Guide(epoch, asker, what, limits))?;
        let renew_within = Duration::from_micros(limits.renew_within.as_micros());
        Ok(Self { connection: Arc::clone(connection), renew_within, begun, closed: AtomicBool::new(false) })
    }

    /// Returns an error if the arm was stopped, or another mode was started since.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.connection.check_stops(py, self.begun.0)?;
        if self.connection.guides.load(Ordering::SeqCst) == self.begun.1 {
            return Ok(());
        }
        Err(stopped(py, "freedrive or force mode was started anew", None))
    }
}

#[pymethods]
impl Guide {
    /// Renews the mode. Without a renewal within `renew_within` it ends, and commanding with it, until reset(). Raises
    /// Stopped if it has ended.
    fn renew(&self, py: Python<'_>) -> PyResult<()> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(PyValueError::new_err("the mode has ended"));
        }
        self.check(py)?;
        let id = self.connection.with(|session| session.ask_as(|_, asker| RequestKind::Renew(asker)))?;
        let decided = self.connection.decision(py, id)?;
        let Status { mode, latch, left, .. } = decided.status;
        decided.done.map_err(|text| match mode {
            Mode::Command => rejected(py, &text, latch.or(left)),
            _ => self.connection.ended(py, "freedrive or force mode ended", &decided.status),
        })
    }

    /// Waits for `seconds`, and renews the mode meanwhile. Raises Stopped if it ends earlier.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let time = Duration::try_from_secs_f64(seconds);
        let time = time.map_err(|_| PyValueError::new_err(format!("seconds: expected 0 or more, found {seconds}")))?;
        let end = Instant::now().checked_add(time);
        let end = end.ok_or_else(|| PyValueError::new_err(format!("seconds: expected fewer, found {seconds}")))?;
        loop {
            self.renew(py)?;
            let renew = (Instant::now() + self.renew_within / 4).min(end);
            while Instant::now() < renew {
                py.detach(|| std::thread::sleep(LOOK));
                py.check_signals()?;
            }
            if Instant::now() >= end {
                return Ok(());
            }
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Ends the mode; the arm stays commanded, at rest. After an exception it is stopped.
    #[pyo3(signature = (*error))]
    fn __exit__(&self, py: Python<'_>, error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.closed.store(true, Ordering::SeqCst);
        if error.get_item(0).is_ok_and(|kind| !kind.is_none()) {
            self.connection.release()?;
            return self.connection.rests(py);
        }
        if self.check(py).is_err() {
            return Ok(());
        }
        // A mode that was started a moment ago cannot be ended yet.
        let check = |py: Python<'_>| self.check(py);
        let ended = self.connection.settling(py, Reason::MoveNotStarted, |_, _| RequestKind::Stiffen, check);
        if ended.is_err() {
            let _ = self.connection.release();
        }
        ended
    }
}
