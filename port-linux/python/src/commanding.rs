//! The calls that command an arm: motions, streams, freedrive, force mode, and the start of a law.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use outrigger::Reason;
use outrigger::core::law::Forwarding;
use outrigger::core::mode::{ClientNumber, Epoch, Mode};
use outrigger::motion::MotionStage;
use outrigger::motion::requested_motion::MotionRequest;
use outrigger::requests::RequestKind;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

use crate::connection::{Connection, LOOK, REST, Turn, latched, rejected, stopped, wait};
use crate::session::Session;

/// The time for the preconditions of commanding to be met.
const READY: Duration = Duration::from_secs(10);
/// The time after which a granted request shows in the mode.
const ARMING: Duration = Duration::from_millis(200);
/// The time for the arm to be at rest before freedrive or force mode.
const SETTLE: Duration = Duration::from_secs(2);

/// The course of a request for commanding, which may be made several times until the preconditions are met.
pub(crate) struct Course {
    begun: Instant,
    /// The epoch of the session in which a request was granted, and when. After its end nothing is requested again.
    granted: Option<(Epoch, Instant)>,
    refused: String,
}

impl Course {
    pub(crate) fn begin() -> Self {
        Self { begun: Instant::now(), granted: None, refused: String::from("no reading was passed on") }
    }

    /// Returns an error if the preconditions were not met in time.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.begun.elapsed() < READY {
            return Ok(());
        }
        Err(rejected(py, &format!("not ready: {}", self.refused), None))
    }
}

impl<const N: usize> Connection<N> {
    /// Requests commanding if every precondition is met. Returns whether the arm is commanded.
    pub(crate) fn attempt(&self, py: Python<'_>, course: &mut Course) -> PyResult<bool> {
        let (commands, status) = self.with(|session| (session.commands(), session.status()))?;
        if commands {
            return Ok(true);
        }
        if let Some(reason) = status.latch.or(self.past().latch) {
            return Err(latched(py, reason));
        }
        // Nothing starts again after a stop by somebody else, e.g. at the pendant.
        let ended = |(epoch, at): (Epoch, Instant)| {
            // The status may be a little older than the decision.
            epoch != status.epoch || status.mode == Mode::Monitor && at.elapsed() > ARMING
        };
        if course.granted.is_some_and(ended) {
            return Err(self.ended(py, "commanding ended before the motion began", &status));
        }
        if course.granted.is_some() || !status.unmet.is_empty() || status.mode != Mode::Monitor {
            course.refused = status.unmet.iter().map(Reason::text).collect::<Vec<_>>().join("; ");
        } else {
            self.moved.store(false, Ordering::SeqCst);
            let asked = self.with(|session| session.ask(RequestKind::Request(status.epoch)))?;
            let decided = self.decision(py, asked)?;
            match decided.done {
                Ok(()) => course.granted = Some((decided.status.epoch, Instant::now())),
                Err(_) if decided.status.epoch != status.epoch => {
                    return Err(self.ended(py, "commanding ended before the motion began", &decided.status));
                }
                Err(text) => course.refused = text,
            }
            if self.with(Session::commands)? {
                return Ok(true);
            }
        }
        course.check(py).map(|()| false)
    }

    /// Requests commanding if the arm is not commanded, again until every precondition is met.
    pub(crate) fn command(&self, py: Python<'_>, turn: &Turn<'_, N>) -> PyResult<()> {
        let mut course = Course::begin();
        loop {
            turn.check(py)?;
            if self.attempt(py, &mut course)? {
                return turn.check(py);
            }
            wait(py, Duration::from_millis(50), || None::<()>)?;
        }
    }

    /// Makes a motion and waits for its end.
    pub(crate) fn make(&self, py: Python<'_>, wanted: impl Fn() -> MotionRequest<N> + Sync) -> PyResult<()> {
        self.commanding(py, |turn| self.make_in(py, turn, wanted))
    }

    fn make_in(
        &self,
        py: Python<'_>,
        turn: &Turn<'_, N>,
        wanted: impl Fn() -> MotionRequest<N> + Sync,
    ) -> PyResult<()> {
        let prepare = || {
            let basis = self.with(Session::basis)?;
            let ready = py.detach(|| basis.and_then(|basis| basis.prepare(wanted())));
            ready.map_err(|text| rejected(py, &text, None))
        };
        if prepare()?.stays() {
            return Ok(());
        }
        self.command(py, turn)?;
        let ready = prepare()?;
        turn.check(py)?;
        self.moved.store(self.with(Session::moves_by_controller)?, Ordering::SeqCst);
        let id = self.with(|session| session.begin(ready))?;
        let decided = self.decision(py, id)?;
        decided.done.map_err(|text| rejected(py, &text, None))?;
        let Some(number) = decided.status.motion.map(|motion| motion.number) else { return Ok(()) };
        loop {
            let (status, over) = self.with(|session| (session.status(), session.has_ended()))?;
            // The status may be older than the decision.
            let stage = status.motion.filter(|motion| motion.number == number).map(|motion| motion.stage);
            return match stage {
                None | Some(MotionStage::Waits | MotionStage::Runs) if !over => {
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
                _ => Err(self.ended(py, "commanding ended during the motion", &status)),
            };
        }
    }

    /// Commands the arm so that it follows a stream. Returns the stops and the replaced sessions until then.
    pub(crate) fn begin_stream(&self, py: Python<'_>) -> PyResult<(u32, u32)> {
        self.commanding(py, |turn| {
            if self.moved.load(Ordering::SeqCst) && self.with(Session::commands)? {
                // After motions of the controller, commanding has to begin again.
                self.with(Session::release)?;
                self.rests(py)?;
            }
            self.command(py, turn)?;
            Ok((turn.stops(), self.replaced()))
        })
    }

    /// Commands the arm, and starts freedrive or force mode by a request for the session's epoch and client. Returns the
    /// stops until then, and the number of this mode.
    pub(crate) fn begin_guide(
        &self,
        py: Python<'_>,
        request: impl Fn(Epoch, ClientNumber) -> RequestKind,
    ) -> PyResult<(u32, u32)> {
        self.commanding(py, |turn| {
            self.command(py, turn)?;
            // After a stream the arm still comes to rest.
            self.settling(py, Reason::NotAtRest, &request, |py| turn.check(py))?;
            let number = self.guides.fetch_add(1, Ordering::SeqCst) + 1;
            Ok((turn.stops(), number))
        })
    }

    /// Sends a request for freedrive or force mode, again while it is rejected for a reason that passes.
    pub(crate) fn settling(
        &self,
        py: Python<'_>,
        passing: Reason,
        request: impl Fn(Epoch, ClientNumber) -> RequestKind,
        check: impl Fn(Python<'_>) -> PyResult<()>,
    ) -> PyResult<()> {
        let until = Instant::now() + SETTLE;
        loop {
            let asked = self.with(|session| session.ask_as(&request))?;
            let decided = self.decision(py, asked)?;
            check(py)?;
            match decided.done {
                Err(text) if text.contains(passing.name()) && Instant::now() < until => {
                    wait(py, Duration::from_millis(50), || None::<()>)?;
                }
                done => {
                    let reason = decided.status.latch.or(decided.status.left);
                    return done.map_err(|text| rejected(py, &text, reason));
                }
            }
        }
    }

    /// Waits until the arm is at rest after a stream whose last value is no longer valid, or is not commanded.
    pub(crate) fn end_stream(&self, py: Python<'_>) -> PyResult<()> {
        let rests = wait(py, REST, || {
            let ended = |session: &Session<N>| {
                let idle = session.status().streaming.stage == Forwarding::Idle;
                (idle || !session.commands()).then_some(())
            };
            self.with(ended).transpose()
        })?;
        rests.transpose()?.ok_or_else(|| PyTimeoutError::new_err("the arm is not at rest 10 s after the stream"))
    }
}
