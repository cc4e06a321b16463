//! The connection to a robot: its session, the right to command it, stops, and the replacement of the session.
//!
//! | rule | place |
//! |---|---|
//! | No mutex is held while a call waits, or while the interpreter's lock is taken. | [`Connection::with`] |
//! | One call at a time commands the arm. | [`Connection::turn`] |
//! | A call that began before a stop commands nothing after it. | [`Turn::check`], [`Connection::stop`] |
//! | A call that ends by an error after it commanded the arm releases it, unless the request was rejected. | [`Connection::commanding`] |
//! | The session of a law is replaced before anything else commands the arm. | [`Connection::commanding`] |
//! | A fault that nobody has reset prevents motions, whichever session it ended. | [`Connection::attempt`] |

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use outrigger::core::mode::Mode;
use outrigger::requests::{Decided, RequestKind, Status};
use outrigger::wire::dashboard::Request;
use outrigger::{Failure, Reason, States};
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;

use crate::error::{ConnectionFailed, Rejected, Stopped, exception, of_failure};
use crate::process_bound::ProcessBound;
use crate::services;
use crate::session::{Asked, Report, Session};

/// The interval at which a waiting call looks for news and for Ctrl-C.
pub(crate) const LOOK: Duration = Duration::from_millis(5);
/// The time for the first state to arrive. The library ends a session without one after 10 s.
const CONNECT: Duration = Duration::from_secs(12);
/// The time for the control loop to decide on a request. Some decisions take 10 s.
const DECIDE: Duration = Duration::from_secs(12);
/// The time for the arm to be at rest after a stop.
pub(crate) const REST: Duration = Duration::from_secs(10);
/// The time for the replacement of a session by another call.
const REPLACE: Duration = Duration::from_secs(60);
/// The time for the arm to be at rest before a reset, and the interval of the attempts.
const RESET: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(50);
/// The time for a script to end after a stop.
const SCRIPT: Duration = Duration::from_secs(20);
/// The measured speed of a joint below which an arm counts as being at rest [rad/s].
const STILL: f32 = 0.01;

/// The connection to a robot. Its session is open until [`close`](Self::close).
pub(crate) struct Connection<const N: usize> {
    session: ProcessBound<Arc<Session<N>>>,
    /// Starts the session that observes the arm and makes motions.
    start: Box<dyn Fn() -> Result<Session<N>, Failure> + Send + Sync>,
    name: String,
    /// The number of stops that were requested.
    stops: AtomicU32,
    /// The number of sessions that were replaced.
    replaced: AtomicU32,
    /// The number of times that freedrive or force mode was started.
    pub(crate) guides: AtomicU32,
    /// True while a call commands the arm.
    busy: AtomicBool,
    /// True while a script is sent or waited for.
    pub(crate) script: AtomicBool,
    /// True if a script was started that nobody has waited for, until a stop.
    pub(crate) left_script: AtomicBool,
    /// True if the controller has executed a motion since commanding began. It then follows no stream.
    pub(crate) moved: AtomicBool,
    /// True while the session has the law of a run.
    runs_law: AtomicBool,
    closed: AtomicBool,
    /// True while the session is replaced.
    replacing: AtomicBool,
    past: Mutex<Past>,
}

/// The reasons for which the sessions before the present one ended commanding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    pub(crate) latch: Option<Reason>,
    pub(crate) left: Option<Reason>,
    pub(crate) released: Option<String>,
    pub(crate) report: Report,
}

/// The right to command the arm, of one call.
pub(crate) struct Turn<'c, const N: usize> {
    connection: &'c Connection<N>,
    stops: u32,
}

impl<const N: usize> Turn<'_, N> {
    /// Returns an error if a stop was requested since the call began.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.connection.check_stops(py, self.stops)
    }

    /// Returns the number of stops when the call began.
    pub(crate) fn stops(&self) -> u32 {
        self.stops
    }

    /// Keeps the right after the end of the call, until [`Connection::give_up`].
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

impl<const N: usize> Drop for Turn<'_, N> {
    fn drop(&mut self) {
        self.connection.give_up();
    }
}

/// The replacement of a session, by one call at a time.
struct Replacing<'c>(&'c AtomicBool);

impl Drop for Replacing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
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

/// Locks a value that no panic leaves inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            session: ProcessBound::new(Arc::new(session)),
            start: Box::new(start),
            name: name.to_owned(),
            stops: AtomicU32::new(0),
            replaced: AtomicU32::new(0),
            guides: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            script: AtomicBool::new(false),
            left_script: AtomicBool::new(false),
            moved: AtomicBool::new(false),
            runs_law: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            replacing: AtomicBool::new(false),
            past: Mutex::default(),
        };
        match connection.await_position(py) {
            Ok(()) => Ok(connection),
            Err(error) => {
                // The first error says more than that of an end.
                let _ = connection.close(py);
                Err(error)
            }
        }
    }

    /// Waits for the position of the arm in a new session.
    fn await_position(&self, py: Python<'_>) -> PyResult<()> {
        let ready = |session: &Session<N>| session.has_position() || session.has_ended();
        wait(py, CONNECT, || self.with(|session| ready(session).then_some(())).transpose())?.transpose()?;
        if self.with(Session::has_position)? {
            return Ok(());
        }
        if let Some(session) = self.here()?.clone().filter(|session| session.has_ended()) {
            // Its error says why.
            py.detach(|| session.end()).map_err(|failure| of_failure(&failure))?;
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

    fn here(&self) -> PyResult<MutexGuard<'_, Option<Arc<Session<N>>>>> {
        self.session.lock("this robot")
    }

    /// Calls `act` with the session. No call waits in it.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&Session<N>) -> T) -> PyResult<T> {
        let session = self.here()?.clone();
        session.map(|session| act(&session)).ok_or_else(|| ConnectionFailed::new_err("the robot is closed"))
    }

    /// Returns the states of the present session and its number. `None` if the robot is closed, or if its session has
    /// ended and none replaces it.
    pub(crate) fn states(&self) -> PyResult<Option<(States<N>, u32)>> {
        let session = self.here()?.clone();
        Ok(session.and_then(|session| Some((session.states()?, session.number()))))
    }

    /// Returns whether a call replaces the session.
    pub(crate) fn is_replacing(&self) -> bool {
        self.replacing.load(Ordering::SeqCst)
    }

    /// Returns the number of stops that were requested so far.
    pub(crate) fn stops(&self) -> u32 {
        self.stops.load(Ordering::SeqCst)
    }

    /// Returns the number of sessions that were replaced so far.
    pub(crate) fn replaced(&self) -> u32 {
        self.replaced.load(Ordering::SeqCst)
    }

    /// Returns an error if a stop was requested since there were `stops`.
    pub(crate) fn check_stops(&self, py: Python<'_>, stops: u32) -> PyResult<()> {
        if self.stops() == stops {
            return Ok(());
        }
        Err(stopped(py, "another call stopped the arm", None))
    }

    /// Requests the end of commanding. Calls that command the arm end with [`Stopped`].
    pub(crate) fn release(&self) -> PyResult<()> {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.with(Session::release)
    }

    /// Returns the right to command the arm.
    pub(crate) fn turn(&self, py: Python<'_>) -> PyResult<Turn<'_, N>> {
        let stops = self.stops();
        if self.busy.swap(true, Ordering::SeqCst) {
            return Err(rejected(py, "another call commands the arm: wait for its end, or stop the arm", None));
        }
        Ok(Turn { connection: self, stops })
    }

    /// Gives the right to command the arm back.
    pub(crate) fn give_up(&self) {
        self.busy.store(false, Ordering::SeqCst);
    }

    /// Calls `act`, which commands the arm. If it ends by an error, the arm is released, unless the request was rejected.
    pub(crate) fn commanding<T>(&self, py: Python<'_>, act: impl FnOnce(&Turn<'_, N>) -> PyResult<T>) -> PyResult<T> {
        let turn = self.turn(py)?;
        if self.runs_law.load(Ordering::SeqCst) || self.with(Session::has_ended)? {
            self.replace(py, &self.start)?;
        }
        let done = act(&turn);
        if done.as_ref().is_err_and(|error| !error.get_type(py).is(py.get_type::<Rejected>())) {
            // Ctrl-C, an exception of another signal handler, or a motion that ended early.
            let _ = self.release();
        }
        done
    }

    /// Waits for the decision of the control loop on a request.
    pub(crate) fn decision(&self, py: Python<'_>, asked: Result<Asked, &'static str>) -> PyResult<Decided> {
        let asked = asked.map_err(|text| rejected(py, text, None))?;
        let decided = wait(py, DECIDE, || match self.with(|session| session.decision(asked)) {
            Ok(Ok(decided)) => decided.map(Ok),
            Ok(Err(over)) => Some(Err(stopped(py, over, None))),
            Err(error) => Some(Err(error)),
        })?;
        decided.unwrap_or_else(|| Err(PyTimeoutError::new_err("the control loop did not decide within 12 s")))
    }

    /// Returns why the sessions before the present one ended commanding.
    pub(crate) fn past(&self) -> Past {
        lock(&self.past).clone()
    }

    /// Clears the reason of a stop, of this session and of those before it. Waits for the arm to be at rest.
    pub(crate) fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let until = Instant::now() + RESET;
        loop {
            let asked = self.with(|session| session.ask(RequestKind::Acknowledge))?;
            let decided = self.decision(py, asked)?;
            match decided.done {
                Ok(()) => break,
                Err(text) if Instant::now() > until => return Err(rejected(py, &text, decided.status.latch)),
                Err(_) => py.detach(|| std::thread::sleep(AGAIN)),
            }
            py.check_signals()?;
        }
        lock(&self.past).latch = None;
        Ok(())
    }

    /// Keeps why the session ended commanding, before another one takes its place.
    fn remember(&self, session: &Session<N>) {
        let status = session.status();
        let mut past = lock(&self.past);
        if status.latch.is_some() || status.left.is_some() {
            let latch = status.latch.or(past.latch);
            let released = status.released.map(|by| by.to_string());
            *past = Past { latch, left: status.left, released, report: session.report() };
        }
    }

    /// Waits until no other call replaces the session. None does until the returned value is dropped.
    fn replacing(&self, py: Python<'_>) -> PyResult<Replacing<'_>> {
        let free = || (!self.replacing.swap(true, Ordering::SeqCst)).then(|| Replacing(&self.replacing));
        let replacing = wait(py, REPLACE, free)?;
        replacing.ok_or_else(|| PyTimeoutError::new_err("another call did not end a session within 60 s"))
    }

    /// Replaces the session by another one, with an arm at rest. The error is the first one; there is a session all the
    /// same if another one could be started.
    pub(crate) fn replace(
        &self,
        py: Python<'_>,
        start: impl FnOnce() -> Result<Session<N>, Failure> + Send,
    ) -> PyResult<()> {
        let _replacing = self.replacing(py)?;
        let before = self.here()?.clone().ok_or_else(|| ConnectionFailed::new_err("the robot is closed"))?;
        let mut rests = Ok(());
        if before.commands() {
            before.release();
            // After Ctrl-C the end of the session brings the arm to rest.
            rests = self.rests(py);
        }
        self.remember(&before);
        let (ended, started) = py.detach(|| (before.end(), start()));
        self.replaced.fetch_add(1, Ordering::SeqCst);
        self.runs_law.store(false, Ordering::SeqCst);
        self.moved.store(false, Ordering::SeqCst);
        let session = Arc::new(started.map_err(|failure| of_failure(&failure))?);
        *self.here()? = Some(Arc::clone(&session));
        rests?;
        ended.map_err(|failure| of_failure(&failure))?;
        self.await_position(py)
    }

    /// Replaces the session by one with a law of its own. The right to command the arm is that of the law from now on.
    /// `begin` commands it, and returns an error if that is not possible.
    pub(crate) fn begin_run(
        &self,
        py: Python<'_>,
        start: impl FnOnce() -> Result<Session<N>, Failure> + Send,
        begin: impl FnOnce(&Turn<'_, N>) -> PyResult<()>,
    ) -> PyResult<u32> {
        let turn = self.turn(py)?;
        if let Some(reason) = self.with(Session::status)?.latch.or(self.past().latch) {
            return Err(latched(py, reason));
        }
        let begun = self.replace(py, start).and_then(|()| {
            self.runs_law.store(true, Ordering::SeqCst);
            turn.check(py)?;
            begin(&turn)?;
            turn.check(py)
        });
        match begun {
            Ok(()) => {
                let stops = turn.stops();
                turn.keep();
                Ok(stops)
            }
            Err(error) => {
                // The next call that commands the arm tries it again.
                let _ = self.replace(py, &self.start);
                Err(error)
            }
        }
    }

    /// Stops the arm, and replaces the session of a law by that for motions.
    pub(crate) fn end_run(&self, py: Python<'_>) -> PyResult<()> {
        let replaced = if self.closed.load(Ordering::SeqCst) { Ok(()) } else { self.replace(py, &self.start) };
        self.give_up();
        replaced
    }

    /// Releases the arm from a law that nobody waits for. Its session is replaced by the next call that commands the arm.
    pub(crate) fn abandon_run(&self) {
        let _ = self.release();
        self.give_up();
    }

    /// Waits until the arm is no longer commanded.
    pub(crate) fn rests(&self, py: Python<'_>) -> PyResult<()> {
        let rests = wait(py, REST, || {
            let ended = |session: &Session<N>| {
                let mode = session.status().mode;
                (session.has_ended() || matches!(mode, Mode::Monitor | Mode::Offline)).then_some(())
            };
            self.with(ended).transpose()
        })?;
        rests.transpose()?.ok_or_else(|| PyTimeoutError::new_err("the arm is not at rest after 10 s"))
    }

    /// Waits until a script has ended after a stop, and no joint moves.
    fn script_rests(&self, py: Python<'_>) -> PyResult<()> {
        let over = || (!self.script.load(Ordering::SeqCst)).then_some(());
        let still = |session: &Session<N>| {
            session.state().is_none_or(|state| state.velocities.0.iter().all(|speed| speed.abs() < STILL))
        };
        let ended = wait(py, SCRIPT, over)?;
        let rests = wait(py, REST, || self.with(|session| still(session).then_some(())).transpose())?.transpose()?;
        ended.and(rests).ok_or_else(|| PyTimeoutError::new_err("the arm moves after the script was to stop"))
    }

    /// Stops the program on the controller if a script of this robot may still run there. Returns whether that was so.
    fn stop_left_script(&self, py: Python<'_>) -> PyResult<bool> {
        if !self.left_script.load(Ordering::SeqCst) {
            return Ok(false);
        }
        let stopped = py.detach(|| services::dashboard(&self.name, Request::Stop, || false));
        stopped.map_err(|failure| of_failure(&failure))?;
        self.left_script.store(false, Ordering::SeqCst);
        Ok(true)
    }

    /// Stops the arm and waits until it is at rest.
    pub(crate) fn stop(&self, py: Python<'_>) -> PyResult<()> {
        // Counted before anything else, so that a call which began before commands nothing from now on.
        self.stops.fetch_add(1, Ordering::SeqCst);
        // Before anything waits: the arm still slows down after the script has ended.
        let runs_script = self.script.load(Ordering::SeqCst);
        drop(self.replacing(py)?);
        let before = self.with(Session::status)?.mode;
        self.with(Session::release)?;
        let left = self.stop_left_script(py)?;
        self.rests(py)?;
        if runs_script || left {
            return self.script_rests(py);
        }
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
        self.stops.fetch_add(1, Ordering::SeqCst);
        let _replacing = self.replacing(py)?;
        let left = match self.stop_left_script(py) {
            Ok(true) => self.script_rests(py),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        let session = self.here()?.take();
        let Some(session) = session else { return Ok(()) };
        let script = wait(py, SCRIPT, || (!self.script.load(Ordering::SeqCst)).then_some(()));
        py.detach(|| session.end()).map_err(|failure| of_failure(&failure))?;
        left?;
        script.map(drop)
    }
}

/// Creates the exception for a motion after a fault that nobody has reset.
pub(crate) fn latched(py: Python<'_>, reason: Reason) -> PyErr {
    let what = format!("the robot stopped: {} ({}); call reset()", reason.text(), reason.name());
    rejected(py, &what, Some(reason))
}
