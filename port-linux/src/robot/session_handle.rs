//! A session in a thread of its own, and its handle.

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_core::engine::{Controller, Event};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::State;
use tokio::sync::mpsc::UnboundedSender;

use super::controller_kinds::{Job, SessionRunner, in_thread};
use super::states::States;
use crate::exit::Failure;
use crate::host::signals::OnSignal;
use crate::panel::Operators;
use crate::released::ReleasedBy;
use crate::run::RunResult;
use crate::run::state_publisher::{SessionState, StateQueues, Subscriber};
use crate::show::Key;

/// The number of a session's events that can wait for a reader. Events beyond it are only counted.
const EVENTS: usize = 1024;

/// The end of a session. The arm is at standstill, unless the link to the robot was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The session has ended without a fault: the motion was done, or the arm was released for this cause.
    Released(ReleasedBy),
    /// The session has ended after a fault had ended commanding for this reason. [`Reason::text`] and
    /// [`Reason::advice`] describe it, and what to do.
    Fallback(Reason),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Released(by) => by.fmt(f),
            Self::Fallback(reason) => write!(f, "{} ({}); {}", reason.text(), reason.name(), reason.advice()),
        }
    }
}

/// A session in a thread of its own, created by [`Robot::start`](super::Robot::start). Dropping it brings the arm to
/// rest.
pub struct Running<const N: usize, E> {
    thread: Option<JoinHandle<Result<RunResult, Failure>>>,
    operator: UnboundedSender<Key>,
    seen: Arc<Mutex<SessionState<N>>>,
    events: Receiver<Event<E>>,
    states: StateQueues<N>,
}

impl<const N: usize, E: Send + 'static> Running<N, E> {
    pub(super) fn start<P>(
        beside: &Arc<dyn SessionRunner<N, P>>,
        job: Job<N, P>,
        signals: bool,
    ) -> Result<Self, Failure>
    where
        P: Controller<N, Event = E> + 'static,
    {
        let operators = if signals { Operators::here(OnSignal::AnArm)? } else { Operators::elsewhere() };
        let operator = operators.sender();
        let seen = Arc::<Mutex<SessionState<N>>>::default();
        let (sender, events) = sync_channel(EVENTS);
        let states = StateQueues::default();
        let watcher = Subscriber { seen: Some(Arc::clone(&seen)), events: Some(sender), states: states.clone() };
        let beside = Arc::clone(beside);
        let thread = in_thread({
            let closing = states.closed_on_drop();
            move || {
                let _closing = closing;
                beside.command(job, operators, watcher)
            }
        })?;
        Ok(Self { thread: Some(thread), operator, seen, events, states })
    }

    /// Returns the current state of the session: mode, reasons, link grade and robot state.
    #[must_use]
    pub fn seen(&self) -> SessionState<N> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the newest state of the robot. `None` while there is no session.
    #[must_use]
    pub fn state(&self) -> Option<State<N>> {
        self.seen().state
    }

    /// Returns the states of the robot as they arrive from now on, on the connection of this session. The session does
    /// not wait for their reader.
    #[must_use]
    pub fn states(&self) -> States<N> {
        States::of(&self.states)
    }

    /// Waits for the next event of the session, at most for `within`. Returns `None` if there was none, or if the
    /// session has ended.
    pub fn next_event(&self, within: Duration) -> Option<Event<E>> {
        self.events.recv_timeout(within).ok()
    }

    /// Returns the events of the session that were not read so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event<E>> {
        self.events.try_iter().collect()
    }

    /// Returns `true` if the session has ended. [`stop`](Self::stop) then returns the result.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Requests to command again. `seen` is the state that the caller has seen; if the mode has changed since, the
    /// request is rejected.
    pub fn request(&self, seen: &SessionState<N>) {
        self.tell(Key::Request(seen.epoch));
    }

    /// Requests to command again, and to resume the motion that was suspended when commanding ended. `seen` is the
    /// state that the caller has seen; if the mode has changed since, the request is rejected.
    pub fn resume(&self, seen: &SessionState<N>) {
        self.tell(Key::Resume(seen.epoch));
    }

    /// Releases the arm: it is brought to rest, and the session continues.
    pub fn release(&self) {
        self.tell(Key::Release(ReleasedBy::Program));
    }

    /// Clears the reasons of the last fallback (end of commanding by a fault), which prevent commanding. The caller
    /// must have seen them.
    pub fn acknowledge(&self) {
        self.tell(Key::Acknowledge);
    }

    fn tell(&self, key: Key) {
        // There is no receiver after the end of the session, which `has_ended` reports.
        let _ = self.operator.send(key);
    }

    /// Brings the arm to rest and ends the session.
    ///
    /// # Errors
    /// Returns the errors of [`wait`](Self::wait).
    pub fn stop(self) -> Result<Ended, Failure> {
        self.end(ReleasedBy::Program)
    }

    /// Brings the arm to rest and ends the session, with `by` as the cause of the release.
    pub(super) fn end(self, by: ReleasedBy) -> Result<Ended, Failure> {
        self.tell(Key::End(by));
        self.wait()
    }

    /// Waits until the session ends.
    ///
    /// # Errors
    /// Returns the errors of [`Robot::run`](super::Robot::run).
    ///
    /// # Panics
    /// Panics if the law has panicked.
    pub fn wait(mut self) -> Result<Ended, Failure> {
        let Some(thread) = self.thread.take() else { return Ok(Ended::Released(ReleasedBy::Program)) };
        let finished = thread.join().unwrap_or_else(|law| std::panic::resume_unwind(law))?;
        if let Some(why) = finished.refusal() {
            return Err(Failure::Fault(why));
        }
        Ok(finished.fallback.map_or(Ended::Released(finished.released), Ended::Fallback))
    }
}

impl<const N: usize, E> Drop for Running<N, E> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.operator.send(Key::End(ReleasedBy::Program));
            let _ = thread.join();
        }
    }
}

impl<const N: usize, E> fmt::Debug for Running<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("seen", &self.seen).finish_non_exhaustive()
    }
}
