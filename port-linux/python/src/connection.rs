//! The connection to a robot: the open session, and the calls that wait for its control loop.
//!
//! | rule | place |
//! |---|---|
//! | No mutex is held while a call waits, or while the interpreter's lock is taken. | [`Connection::with`] |
//! | One call at a time commands the arm. | [`Connection::turn`] |
//! | A call that began before a stop commands nothing after it. | [`Turn::check`] |
//! | A call that ends by an error after it commanded the arm releases it, unless the request was rejected. | [`Connection::commanding`] |

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use outrigger::core::law::Forwarding;
use outrigger::core::mode::{ClientNumber, Epoch, Mode};
use outrigger::motion::MotionStage;
use outrigger::motion::requested_motion::MotionRequest;
use outrigger::requests::{Decided, RequestKind, Status};
use outrigger::{Failure, Reason};
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

use crate::error::{ConnectionFailed, Rejected, Stopped, exception, of_failure};
use crate::process_bound::ProcessBound;
use crate::session::Session;

/// The interval at which a waiting call looks for news and for Ctrl-C.
pub(crate) const LOOK: Duration = Duration::from_millis(5);
/// The time for the first state to arrive. The library ends a session without one after 10 s.
const CONNECT: Duration = Duration::from_secs(12);
/// The time for the preconditions of commanding to be met.
const READY: Duration = Duration::from_secs(10);
/// The time for the control loop to decide on a request. Some decisions take 10 s.
const DECIDE: Duration = Duration::from_secs(12);
/// The time for the arm to be at rest before freedrive or force mode.
const SETTLE: Duration = Duration::from_secs(2);
/// The time for the arm to be at rest after a stop.
const REST: Duration = Duration::from_secs(10);

/// The connection to a robot. Its session is open until [`close`](Self::close).
pub(crate) struct Connection<const N: usize> {
    session: ProcessBound<Session<N>>,
    /// Starts the session that observes the arm and makes motions.
    start: Box<dyn Fn() -> Result<Session<N>, Failure> + Send + Sync>,
    name: String,
    /// The number of stops that were requested.
    stops: AtomicU32,
    /// True while a call commands the arm.
    busy: AtomicBool,
    /// True if the controller has executed a motion since commanding began. It then follows no stream.
    moved: AtomicBool,
    closed: AtomicBool,
}

/// The right to command the arm, of one call.
pub(crate) struct Turn<'c, const N: usize> {
    connection: &'c Connection<N>,
    stops: u32,
}

impl<const N: usize> Turn<'_, N> {
    /// Returns an error if a stop was requested since the call began.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        if self.connection.stops.load(Ordering::SeqCst) == self.stops {
            return Ok(());
        }
        Err(stopped(py, "another call stopped the arm", None))
    }
}

impl<const N: usize> Drop for Turn<'_, N> {
    fn drop(&mut self) {
        self.connection.busy.store(false, Ordering::SeqCst);
    }
}

/// Repeats `look` until it returns a value. Returns `None` when the time is over.
pub(crate) fn wait<T>(py: Python<'_>, within: Duration, mut look: impl FnMut() -> Option<T>) -> PyResult<Option<T>> {
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
    exception(&py.get_type::<Rejected>(), text, reason, None)
}

/// Creates the exception for a motion that ended early.
pub(crate) fn stopped(py: Python<'_>, what: &str, reason: Option<Reason>) -> PyErr {
    stopped_with(py, what, reason, None)
}

fn stopped_with(py: Python<'_>, what: &str, reason: Option<Reason>, figure: Option<String>) -> PyErr {
    let text = reason.map_or_else(
        || what.to_owned(),
        |reason| format!("{what}: {} ({})", figure.as_deref().unwrap_or(reason.text()), reason.name()),
    );
    exception(&py.get_type::<Stopped>(), &text, reason, figure)
}

impl<const N: usize> Connection<N> {
    /// Starts a session with the robot of this name, and waits for the position of its arm.
    pub(crate) fn open(
        py: Python<'_>,
        name: &str,
        start: impl Fn() -> Result<Session<N>, Failure> + Send + Sync + 'static,
    ) -> PyResult<Self> {
        let session = py.detach(&start).map_err(|failure| of_failure(&failure))?;
        let connection = Self {
            session: ProcessBound::new(session),
            start: Box::new(start),
            name: name.to_owned(),
            stops: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            moved: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        };
        let ready = connection.await_position(py);
        if ready.is_err() {
            connection.close(py)?;
        }
        ready.map(|()| connection)
    }

    /// Waits for the position of the arm in a new session.
    fn await_position(&self, py: Python<'_>) -> PyResult<()> {
        let ready = |session: &Session<N>| session.has_position() || session.has_ended();
        wait(py, CONNECT, || self.with(|session| ready(session).then_some(())).transpose())?.transpose()?;
        if self.with(Session::has_position)? {
            return Ok(());
        }
        Err(ConnectionFailed::new_err(format!("{}: no state was received", self.name)))
    }

    /// Returns the name of the robot: its address.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Creates the exception for the end of commanding, with its figures.
    pub(crate) fn ended(&self, py: Python<'_>, what: &str, status: &Status) -> PyErr {
        let reason = status.latch.or(status.left);
        let report = self.with(Session::report).unwrap_or_default();
        stopped_with(py, what, reason, reason.and_then(|reason| report.figure(reason)))
    }

    fn here(&self) -> PyResult<MutexGuard<'_, Option<Session<N>>>> {
        self.session.lock("this robot")
    }

    /// Calls `act` with the open session. No call waits in it.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&Session<N>) -> T) -> PyResult<T> {
        match &*self.here()? {
            Some(session) => Ok(act(session)),
            None => Err(ConnectionFailed::new_err("the robot is closed")),
        }
    }

    /// Returns the number of stops that were requested so far.
    pub(crate) fn stops(&self) -> u32 {
        self.stops.load(Ordering::SeqCst)
    }

    /// Requests the end of commanding. Calls that command the arm end with [`Stopped`].
    pub(crate) fn release(&self) -> PyResult<()> {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.with(Session::release)
    }

    fn turn(&self, py: Python<'_>) -> PyResult<Turn<'_, N>> {
        if self.busy.swap(true, Ordering::SeqCst) {
            return Err(rejected(py, "another call commands the arm: wait for its end, or stop the arm", None));
        }
        Ok(Turn { connection: self, stops: self.stops() })
    }

    /// Calls `act`, which commands the arm. If it ends by an error, the arm is released, unless the request was rejected.
    fn commanding<T>(&self, py: Python<'_>, act: impl FnOnce(&Turn<'_, N>) -> PyResult<T>) -> PyResult<T> {
        let turn = self.turn(py)?;
        let done = act(&turn);
        if done.as_ref().is_err_and(|error| !error.get_type(py).is(py.get_type::<Rejected>())) {
            // Ctrl-C, an exception of another signal handler, or a motion that ended early.
            let _ = self.release();
        }
        done
    }

    /// Waits for the decision of the control loop on a request.
    pub(crate) fn decision(&self, py: Python<'_>, id: Result<u32, &'static str>) -> PyResult<Decided> {
        let id = id.map_err(|text| rejected(py, text, None))?;
        let decided = wait(py, DECIDE, || self.with(|session| session.decision(id)).transpose())?.transpose()?;
        decided.ok_or_else(|| PyTimeoutError::new_err("the control loop did not decide within 12 s"))
    }

    /// Requests commanding if every precondition is met. Returns whether the arm is commanded, or why it is not.
    fn attempt(&self, py: Python<'_>) -> PyResult<Result<(), String>> {
        let (commands, status) = self.with(|session| (session.commands(), session.status()))?;
        if commands {
            return Ok(Ok(()));
        }
        if let Some(reason) = status.latch {
            let what = format!("the robot stopped: {} ({}); call reset()", reason.text(), reason.name());
            return Err(rejected(py, &what, Some(reason)));
        }
        if !status.unmet.is_empty() || status.mode != Mode::Monitor {
            let texts: Vec<_> = status.unmet.iter().map(Reason::text).collect();
            return Ok(Err(texts.join("; ")));
        }
        self.moved.store(false, Ordering::SeqCst);
        let id = self.with(|session| session.ask(RequestKind::Request(status.epoch)))?;
        let decided = self.decision(py, id)?;
        match decided.done {
            Ok(()) if self.with(Session::commands)? => Ok(Ok(())),
            // Nothing starts after a stop by somebody else, e.g. at the pendant.
            _ if decided.status.epoch != status.epoch => {
                let reason = decided.status.latch.or(decided.status.left);
                Err(stopped(py, "commanding ended before the motion began", reason))
            }
            Ok(()) => Ok(Err(String::new())),
            Err(text) => Ok(Err(text)),
        }
    }

    /// Requests commanding if the arm is not commanded, again until every precondition is met.
    fn command(&self, py: Python<'_>, turn: &Turn<'_, N>) -> PyResult<()> {
        let until = Instant::now() + READY;
        loop {
            turn.check(py)?;
            let refused = match self.attempt(py)? {
                Ok(()) => return turn.check(py),
                Err(refused) => refused,
            };
            if Instant::now() >= until {
                return Err(self.not_ready(py, &refused));
            }
            wait(py, Duration::from_millis(50), || None::<()>)?;
        }
    }

    /// Requests commanding for a law whose sensor Python reads: its preconditions are met after some readings. Returns
    /// whether the arm is commanded. `begun` is the time when the law was started.
    pub(crate) fn command_law(&self, py: Python<'_>, begun: Instant) -> PyResult<bool> {
        match self.attempt(py)? {
            Ok(()) => Ok(true),
            Err(refused) if begun.elapsed() >= READY => Err(self.not_ready(py, &refused)),
            Err(_) => Ok(false),
        }
    }

    /// Returns an error if the preconditions of a law that was started at `begun` were not met in time.
    pub(crate) fn awaits_law(&self, py: Python<'_>, begun: Instant) -> PyResult<()> {
        if begun.elapsed() < READY {
            return Ok(());
        }
        let texts: Vec<_> = self.with(Session::status)?.unmet.iter().map(Reason::text).collect();
        Err(self.not_ready(py, &texts.join("; ")))
    }

    fn not_ready(&self, py: Python<'_>, refused: &str) -> PyErr {
        let first = self.with(|session| session.status().unmet.iter().next()).unwrap_or_default();
        rejected(py, &format!("not ready: {refused}"), first)
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

    /// Commands the arm so that it follows a stream.
    pub(crate) fn begin_stream(&self, py: Python<'_>) -> PyResult<()> {
        self.commanding(py, |turn| {
            if self.moved.load(Ordering::SeqCst) && self.with(Session::commands)? {
                // After motions of the controller, commanding has to begin again.
                self.with(Session::release)?;
                self.rests(py)?;
            }
            self.command(py, turn)
        })
    }

    /// Commands the arm, and starts freedrive or force mode by a request for the session's epoch and client.
    pub(crate) fn begin_guide(
        &self,
        py: Python<'_>,
        request: impl Fn(Epoch, ClientNumber) -> RequestKind,
    ) -> PyResult<()> {
        self.commanding(py, |turn| {
            self.command(py, turn)?;
            let until = Instant::now() + SETTLE;
            loop {
                let id = self.with(|session| session.ask_as(&request))?;
                let decided = self.decision(py, id)?;
                turn.check(py)?;
                match decided.done {
                    // After a stream the arm still comes to rest.
                    Err(text) if text.contains(Reason::NotAtRest.name()) && Instant::now() < until => {
                        wait(py, Duration::from_millis(50), || None::<()>)?;
                    }
                    done => return done.map_err(|text| rejected(py, &text, decided.status.latch)),
                }
            }
        })
    }

    /// Replaces the session by another one, with an arm that is not commanded.
    fn replace(&self, py: Python<'_>, start: impl FnOnce() -> Result<Session<N>, Failure> + Send) -> PyResult<()> {
        if self.with(Session::commands)? {
            self.with(Session::release)?;
            self.rests(py)?;
        }
        let before = self.here()?.take();
        let started = py.detach(|| {
            before.map_or(Ok(()), Session::end)?;
            start()
        });
        *self.here()? = Some(started.map_err(|failure| of_failure(&failure))?);
        self.moved.store(false, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) {
            // Another thread has closed the robot meanwhile.
            return self.close(py);
        }
        self.await_position(py)
    }

    /// Replaces the session by one with a law of its own, and commands the arm if `commands`. No other call commands it
    /// before [`end_run`](Self::end_run).
    pub(crate) fn begin_run(
        &self,
        py: Python<'_>,
        commands: bool,
        start: impl FnOnce() -> Result<Session<N>, Failure> + Send,
    ) -> PyResult<()> {
        let turn = self.turn(py)?;
        let begin = || if commands { self.command(py, &turn) } else { Ok(()) };
        let begun = self.replace(py, start).and_then(|()| begin());
        match begun {
            Ok(()) => std::mem::forget(turn),
            Err(_) => self.replace(py, &self.start)?,
        }
        begun
    }

    /// Stops the arm, and replaces the session of a law by that for motions.
    pub(crate) fn end_run(&self, py: Python<'_>) -> PyResult<()> {
        let replaced = self.replace(py, &self.start);
        self.busy.store(false, Ordering::SeqCst);
        replaced
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

    /// Waits until the arm is no longer commanded.
    fn rests(&self, py: Python<'_>) -> PyResult<()> {
        let rests = wait(py, REST, || {
            let ended = |session: &Session<N>| {
                let mode = session.status().mode;
                (session.has_ended() || matches!(mode, Mode::Monitor | Mode::Offline)).then_some(())
            };
            self.with(ended).transpose()
        })?;
        rests.transpose()?.ok_or_else(|| PyTimeoutError::new_err("the arm is not at rest after 10 s"))
    }

    /// Stops the arm and waits until it is at rest.
    pub(crate) fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let before = self.with(Session::status)?.mode;
        self.release()?;
        self.rests(py)?;
        let status = self.with(Session::status)?;
        match (status.latch, status.mode) {
            (Some(Reason::MotionUnknown), _) => {
                Err(stopped(py, "it is not known whether the arm moves", Some(Reason::MotionUnknown)))
            }
            (_, Mode::Offline) if before != Mode::Offline => {
                Err(ConnectionFailed::new_err("the connection was lost: it is not known whether the arm moves"))
            }
            _ => Ok(()),
        }
    }

    /// Stops the arm and ends the session. A second call has no effect.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.closed.store(true, Ordering::SeqCst);
        let session = self.here()?.take();
        self.stops.fetch_add(1, Ordering::SeqCst);
        let Some(session) = session else { return Ok(()) };
        py.detach(|| session.end()).map_err(|failure| of_failure(&failure))
    }
}
