//! The connection to a robot: the open session, and the calls that wait for its control loop.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use outrigger::Reason;
use outrigger::core::law::Forwarding;
use outrigger::motion::MotionStage;
use outrigger::motion::requested_motion::MotionRequest;
use outrigger::requests::{Decided, RequestKind};
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

use crate::error::{ConnectionFailed, OutriggerError, Rejected, Stopped, exception, of_failure};
use crate::session::Session;

/// The interval at which a waiting call looks for news and for Ctrl-C.
pub(crate) const LOOK: Duration = Duration::from_millis(5);
/// The time for the first state to arrive. The library ends a session without one after 10 s.
const CONNECT: Duration = Duration::from_secs(12);
/// The time for the preconditions of commanding to be met.
const READY: Duration = Duration::from_secs(10);
/// The time for the control loop to decide on a request.
const DECIDE: Duration = Duration::from_secs(10);
/// The time for the arm to be at rest after a stop.
const REST: Duration = Duration::from_secs(10);

/// The connection to a robot. Its session is open until [`close`](Self::close).
pub(crate) struct Connection {
    session: Mutex<Option<Session>>,
    pub(crate) address: String,
    /// The process that has started the session: a fork has none of its threads.
    process: u32,
}

/// Repeats `look` until it returns a value. Returns `None` when the time is over.
fn wait<T>(py: Python<'_>, within: Duration, mut look: impl FnMut() -> Option<T>) -> PyResult<Option<T>> {
    let until = Instant::now() + within;
    loop {
        if let Some(found) = look() {
            return Ok(Some(found));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        py.detach(|| std::thread::sleep(LOOK));
        py.check_signals()?;
    }
}

/// Creates the exception for a request that was rejected.
pub(crate) fn rejected(py: Python<'_>, text: &str, reason: Option<Reason>) -> PyErr {
    exception(&py.get_type::<Rejected>(), text, reason)
}

fn stopped(py: Python<'_>, what: &str, reason: Option<Reason>) -> PyErr {
    let text =
        reason.map_or_else(|| what.to_owned(), |reason| format!("{what}: {} ({})", reason.text(), reason.name()));
    exception(&py.get_type::<Stopped>(), &text, reason)
}

impl Connection {
    /// Connects to the robot at `address` and waits for the position of its arm.
    pub(crate) fn open(py: Python<'_>, address: &str) -> PyResult<Self> {
        let session = py.detach(|| Session::start(address)).map_err(|failure| of_failure(&failure))?;
        let come = wait(py, CONNECT, || (session.has_position() || session.has_ended()).then_some(()));
        let robot =
            Self { session: Mutex::new(Some(session)), address: address.to_owned(), process: std::process::id() };
        if come?.is_none() || !robot.with(Session::has_position)? {
            robot.close(py)?;
            return Err(ConnectionFailed::new_err(format!("{address}: no state was received")));
        }
        Ok(robot)
    }

    fn here(&self) -> PyResult<MutexGuard<'_, Option<Session>>> {
        if std::process::id() != self.process {
            return Err(ConnectionFailed::new_err(
                "this robot belongs to the process that was forked: create another one here, after the first is closed",
            ));
        }
        Ok(self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `act` with the open session. No call waits in it.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&Session) -> T) -> PyResult<T> {
        match &*self.here()? {
            Some(session) => Ok(act(session)),
            None => Err(ConnectionFailed::new_err("the robot is closed")),
        }
    }

    /// Waits until the arm is at rest after a stream, or is not commanded.
    pub(crate) fn end_stream(&self, py: Python<'_>) -> PyResult<()> {
        let rests = wait(py, REST, || {
            let ended = |session: &Session| {
                let idle = session.status().streaming.stage == Forwarding::Idle;
                (idle || !session.commands()).then_some(())
            };
            self.with(ended).transpose()
        })?;
        rests.transpose()?.ok_or_else(|| PyTimeoutError::new_err("the stream did not end within 10 s"))
    }

    /// Waits for the decision of the control loop on a request.
    pub(crate) fn decision(&self, py: Python<'_>, id: Result<u32, &'static str>) -> PyResult<Decided> {
        let id = id.map_err(|text| rejected(py, text, None))?;
        let decided = wait(py, DECIDE, || self.with(|session| session.decision(id)).transpose())?.transpose()?;
        decided.ok_or_else(|| PyTimeoutError::new_err("the control loop did not decide within 10 s"))
    }

    /// Requests commanding if the arm is not commanded, again until every precondition is met.
    pub(crate) fn command(&self, py: Python<'_>) -> PyResult<()> {
        let until = Instant::now() + READY;
        loop {
            let (commands, status) = self.with(|session| (session.commands(), session.status()))?;
            if commands {
                return Ok(());
            }
            if let Some(reason) = status.latch {
                let what = format!("the robot stopped: {} ({}); call reset()", reason.text(), reason.name());
                return Err(rejected(py, &what, Some(reason)));
            }
            if status.unmet.is_empty() {
                let id = self.with(|session| session.ask(RequestKind::Request(status.epoch)))?;
                let decided = self.decision(py, id)?;
                if decided.done.is_ok() && self.with(Session::commands)? {
                    return Ok(());
                }
            }
            if Instant::now() >= until {
                let unmet: Vec<_> = self.with(Session::status)?.unmet.iter().map(Reason::text).collect();
                let first = status.unmet.iter().next();
                return Err(rejected(py, &format!("not ready: {}", unmet.join("; ")), first));
            }
            wait(py, Duration::from_millis(50), || None::<()>)?;
        }
    }

    /// Releases the arm if a motion ended by Ctrl-C, or by an exception of another signal handler.
    pub(crate) fn release_unless_ours(&self, py: Python<'_>, made: PyResult<()>) -> PyResult<()> {
        if made.as_ref().is_err_and(|error| !error.is_instance_of::<OutriggerError>(py)) {
            let _ = self.with(Session::release);
        }
        made
    }

    /// Makes a motion and waits for its end.
    pub(crate) fn make(&self, py: Python<'_>, wanted: impl Fn() -> MotionRequest<6>) -> PyResult<()> {
        let prepare = || self.with(|session| session.prepare(wanted()))?.map_err(|text| rejected(py, &text, None));
        if prepare()?.stays() {
            return Ok(());
        }
        self.command(py)?;
        let ready = prepare()?;
        let id = self.with(|session| session.begin(ready))?;
        let decided = self.decision(py, id)?;
        decided.done.map_err(|text| rejected(py, &text, decided.status.latch.or(decided.status.left)))?;
        let Some(number) = decided.status.motion.map(|motion| motion.number) else { return Ok(()) };
        loop {
            let (status, over) = self.with(|session| (session.status(), session.has_ended()))?;
            let stage = status.motion.filter(|motion| motion.number == number).map(|motion| motion.stage);
            let left = status.latch.or(status.left);
            return match stage {
                Some(MotionStage::Waits | MotionStage::Runs) if !over => {
                    py.detach(|| std::thread::sleep(LOOK));
                    py.check_signals()?;
                    continue;
                }
                Some(MotionStage::Done) => Ok(()),
                Some(MotionStage::Cancelled) => Err(stopped(py, "the motion was cancelled", None)),
                Some(MotionStage::Touched) => Err(stopped(py, "the tool touched something", None)),
                Some(MotionStage::Missed(reason)) => Err(stopped(py, "the arm did not reach the goal", Some(reason))),
                Some(MotionStage::Refused(reason)) => Err(rejected(py, reason.text(), Some(reason))),
                Some(MotionStage::NotFound(error)) => Err(rejected(py, &format!("{error}; {}", error.advice()), None)),
                _ => Err(stopped(py, "commanding ended during the motion", left)),
            };
        }
    }
    /// Stops the arm and waits until it is at rest.
    pub(crate) fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.with(Session::release)?;
        let rests = wait(py, REST, || {
            self.with(|session| {
                let mode = session.status().mode.name();
                (session.has_ended() || matches!(mode, "Monitor" | "Offline")).then_some(())
            })
            .transpose()
        })?;
        rests.transpose()?.ok_or_else(|| PyTimeoutError::new_err("the arm is not at rest after 10 s"))
    }

    /// Stops the arm and ends the session. A second call has no effect.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let session = self.here()?.take();
        let Some(session) = session else { return Ok(()) };
        py.detach(|| session.end()).map_err(|failure| of_failure(&failure))
    }
}
