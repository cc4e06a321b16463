//! A stream of joint speeds or positions into the control loop.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use outrigger::Duration;
use outrigger::core::law::{Forward, ForwardError, Forwarded};
use outrigger::requests::StreamRejection;
use outrigger::wire::robot::{JointPositions, JointVelocities};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::connection::{Connection, rejected, stopped};
use crate::motion::joints;
use crate::robot::Arm;
use crate::vendor::{Of, each};

/// The time for which the first values of a stream may come before the control loop follows it.
const BEGINS: std::time::Duration = std::time::Duration::from_millis(500);

/// The values that a stream has.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Speeds,
    Positions,
}

/// A stream of joint speeds [rad/s] or positions [rad] that the arm follows, until the end of its `with` block or a stop.
///
/// The control loop limits and sends them. After `timeout` without a new value the arm comes to rest and stays
/// commanded: at once for speeds, at the last position for positions.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Stream(Of<Streaming<6>, Streaming<7>>);

impl Stream {
    /// Starts a stream. `timeout` is in seconds.
    pub(crate) fn begin(py: Python<'_>, arm: &Arm, kind: Kind, timeout: f64) -> PyResult<Self> {
        Ok(Self(match arm {
            Of::Ur(connection) => Of::Ur(Streaming::begin(py, connection, kind, timeout)?),
            Of::Krc(connection) => Of::Krc(Streaming::begin(py, connection, kind, timeout)?),
        }))
    }
}

/// A stream to an arm of `N` joints.
struct Streaming<const N: usize> {
    connection: Arc<Connection<N>>,
    kind: Kind,
    timeout: Duration,
    begun: Instant,
    /// The stops and the replaced sessions of the connection when the stream began.
    begun_after: (u32, u32),
    /// The lapses of the session before this stream.
    lapses: u32,
    /// The rejected values that were reported, and those before this stream.
    refused: AtomicU32,
    sent: Mutex<Option<Instant>>,
    closed: AtomicBool,
}

impl<const N: usize> Streaming<N> {
    fn begin(py: Python<'_>, connection: &Arc<Connection<N>>, kind: Kind, timeout: f64) -> PyResult<Self> {
        let range = Forward::<N>::HOLDS;
        let timeout = Some(timeout).filter(|timeout| timeout.is_finite() && *timeout > 0.0);
        let timeout = timeout.map(|timeout| Duration::from_micros((timeout * 1e6) as u64));
        let timeout = timeout.filter(|timeout| range.least <= *timeout && *timeout <= range.most);
        let timeout = timeout.ok_or_else(|| PyValueError::new_err(format!("timeout: expected {}", range.text)))?;
        let begun_after = connection.begin_stream(py)?;
        let streaming = connection.with(|session| session.status().streaming)?;
        Ok(Self {
            connection: Arc::clone(connection),
            kind,
            timeout,
            begun: Instant::now(),
            begun_after,
            lapses: streaming.lapses,
            refused: AtomicU32::new(streaming.refused),
            sent: Mutex::new(None),
            closed: AtomicBool::new(false),
        })
    }

    fn send(&self, py: Python<'_>, values: &[f64]) -> PyResult<()> {
        let values = joints::<N>("values", values)?.map(|value| value as f32);
        if self.closed.load(Ordering::SeqCst) {
            return Err(PyValueError::new_err("the stream has ended"));
        }
        let what = match self.kind {
            Kind::Speeds => Forwarded::Speeds(JointVelocities(values)),
            Kind::Positions => Forwarded::Positions(JointPositions(values)),
        };
        let is_current = (self.connection.stops(), self.connection.replaced()) == self.begun_after;
        let sent = self.connection.with(|session| {
            if is_current && session.commands() {
                session.stream(Forward { what, holds: self.timeout });
                Ok(session.status())
            } else {
                Err(session.status())
            }
        })?;
        let status = sent.map_err(|status| {
            if is_current {
                self.connection.ended(py, "the arm is not commanded", &status)
            } else {
                stopped(py, "the arm is not commanded", None)
            }
        })?;
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let refused = status.streaming.refused;
        if self.refused.swap(refused, Ordering::SeqCst) == refused {
            return Ok(());
        }
        match status.streaming.why {
            // A value that was late is one that was missed: see `lapses`.
            None | Some(StreamRejection::Late) => Ok(()),
            Some(StreamRejection::Law(ForwardError::NotCommanding) | StreamRejection::Epoch)
                if self.begun.elapsed() < BEGINS =>
            {
                Ok(())
            }
            Some(why) => Err(rejected(py, &format!("{why} ({})", why.name()), None)),
        }
    }

    fn lapses(&self) -> PyResult<u32> {
        let streaming = self.connection.with(|session| session.status().streaming)?;
        Ok(streaming.lapses.saturating_sub(self.lapses))
    }

    fn end(&self, py: Python<'_>, raised: bool) -> PyResult<()> {
        self.closed.store(true, Ordering::SeqCst);
        if (self.connection.stops(), self.connection.replaced()) != self.begun_after {
            return Ok(());
        }
        if raised {
            self.connection.release()?;
            return self.connection.rests(py);
        }
        // The last value may not have been taken yet.
        let sent = *self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let valid = std::time::Duration::from_micros(self.timeout.as_micros()) + std::time::Duration::from_millis(100);
        let left = sent.map_or(std::time::Duration::ZERO, |sent| valid.saturating_sub(sent.elapsed()));
        py.detach(|| std::thread::sleep(left));
        self.connection.end_stream(py)
    }
}

#[pymethods]
impl Stream {
    /// Passes one value per joint to the control loop, and returns at once; the newest ones count. Raises Stopped if the
    /// arm is no longer commanded, and Rejected if earlier values were rejected, e.g. some too far from the arm or too
    /// fast. Later values may be followed all the same.
    fn send(&self, py: Python<'_>, values: Vec<f64>) -> PyResult<()> {
        each!(&self.0, stream => stream.send(py, &values))
    }

    /// The number of times that no value of speeds came in time, and the arm came to rest.
    #[getter]
    fn lapses(&self) -> PyResult<u32> {
        each!(&self.0, stream => stream.lapses())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Ends the stream and waits until the arm is at rest; the arm stays commanded. After an exception it is stopped.
    #[pyo3(signature = (*error))]
    fn __exit__(&self, py: Python<'_>, error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let raised = error.get_item(0).is_ok_and(|kind| !kind.is_none());
        each!(&self.0, stream => stream.end(py, raised))
    }
}
