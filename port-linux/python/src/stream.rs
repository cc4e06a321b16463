//! A stream of joint speeds or positions into the control loop.

use std::sync::Arc;

use outrigger::Duration;
use outrigger::core::law::{Forward, ForwardError, Forwarded};
use outrigger::requests::StreamRejection;
use outrigger::wire::robot::{JointPositions, JointVelocities};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::connection::Connection;
use crate::error::{Rejected, Stopped, exception};

/// The values that a stream has.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Speeds,
    Positions,
}

/// A stream of joint speeds [rad/s] or positions [rad] that the arm follows. The control loop limits and sends them; a
/// value that is older than the timeout is no longer followed, and the arm comes to rest while it stays commanded.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Stream {
    connection: Arc<Connection>,
    kind: Kind,
    timeout: Duration,
    /// The rejected values and lapses of the session before this stream.
    before: (u32, u32),
}

impl Stream {
    /// Creates a stream of a robot whose arm is commanded. `timeout` is in seconds.
    pub(crate) fn new(connection: Arc<Connection>, kind: Kind, timeout: f64) -> PyResult<Self> {
        let range = Forward::<6>::HOLDS;
        let timeout_is = |timeout: &Duration| range.least <= *timeout && *timeout <= range.most;
        let timeout = Some(timeout).filter(|timeout| timeout.is_finite() && *timeout > 0.0);
        let timeout = timeout.map(|timeout| Duration::from_micros((timeout * 1e6) as u64)).filter(timeout_is);
        let timeout = timeout.ok_or_else(|| PyValueError::new_err(format!("timeout: expected {}", range.text)))?;
        let streaming = connection.with(|session| session.status().streaming)?;
        Ok(Self { connection, kind, timeout, before: (streaming.refused, streaming.lapses) })
    }
}

#[pymethods]
impl Stream {
    /// Passes six values to the control loop, and returns at once; the newest value counts. Raises Stopped if the arm is
    /// no longer commanded, and Rejected if the value before was rejected: too far, too fast or not a number.
    fn send(&self, py: Python<'_>, values: [f64; 6]) -> PyResult<()> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!("expected six finite numbers, found {values:?}")));
        }
        let values = values.map(|value| value as f32);
        let what = match self.kind {
            Kind::Speeds => Forwarded::Speeds(JointVelocities(values)),
            Kind::Positions => Forwarded::Positions(JointPositions(values)),
        };
        let status = self.connection.with(|session| {
            session.stream(Forward { what, holds: self.timeout });
            (session.status(), session.commands())
        });
        let (status, commands) = status?;
        if !commands {
            let reason = status.latch.or(status.left);
            let text = reason.map_or_else(String::new, |reason| format!(": {} ({})", reason.text(), reason.name()));
            return Err(exception(&py.get_type::<Stopped>(), &format!("the arm is not commanded{text}"), reason));
        }
        match status.streaming.why.filter(|_| status.streaming.refused > self.before.0) {
            // A stream before this one may have ended a moment ago.
            None | Some(StreamRejection::Law(ForwardError::NotCommanding) | StreamRejection::Epoch) => Ok(()),
            Some(why) => Err(exception(&py.get_type::<Rejected>(), &format!("{why} ({})", why.name()), None)),
        }
    }

    /// The number of times that the newest value was older than the timeout, and the arm came to rest.
    #[getter]
    fn lapses(&self) -> PyResult<u32> {
        let streaming = self.connection.with(|session| session.status().streaming)?;
        Ok(streaming.lapses.saturating_sub(self.before.1))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Brings the arm to rest; the arm stays commanded.
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.connection.end_stream(py)
    }
}
