//! A session in a thread of its own, and the handle to it.

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use outrigger_core::engine::{Controller, Event};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::State;
use tokio::sync::mpsc::UnboundedSender;

use super::beside::{Beside, Job};
use crate::exit::Failure;
use crate::host::signals::Leaves;
use crate::panel::Operators;
use crate::released::ReleasedBy;
use crate::run::Finished;
use crate::run::attached::{Seen, Watcher};
use crate::show::Key;

/// Events that wait for whoever asks for them; what finds no room is counted.
const EVENTS: usize = 1024;

/// How a session ended: with the arm at rest, unless the link to the robot was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Without a fault: the motion was done, or somebody released the arm.
    Released(ReleasedBy),
    /// Something ended commanding. [`Reason::text`] and [`Reason::advice`] say what, and what to do.
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

/// A session that goes on in a thread of its own: [`Robot::start`](super::Robot::start). Dropping it brings the arm to rest.
pub struct Running<const N: usize, E> {
    thread: Option<JoinHandle<Result<Finished, Failure>>>,
    operator: UnboundedSender<Key>,
    seen: Arc<Mutex<Seen<N>>>,
    events: Receiver<Event<E>>,
}

impl<const N: usize, E: Send + 'static> Running<N, E> {
    pub(super) fn start<P>(beside: &Arc<dyn Beside<N, P>>, job: Job<N, P>, signals: bool) -> Result<Self, Failure>
    where
        P: Controller<N, Event = E> + 'static,
    {
        let operators = if signals { Operators::here(Leaves::AnArm)? } else { Operators::elsewhere() };
        let operator = operators.sender();
        let seen = Arc::<Mutex<Seen<N>>>::default();
        let (sender, events) = sync_channel(EVENTS);
        let watcher = Watcher { seen: Some(Arc::clone(&seen)), events: Some(sender), states: None };
        let beside = Arc::clone(beside);
        let thread = in_thread(move || beside.command(job, operators, watcher))?;
        Ok(Self { thread: Some(thread), operator, seen, events })
    }

    /// How it stands.
    #[must_use]
    pub fn seen(&self) -> Seen<N> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The newest state; `None` while there is no session with the robot.
    #[must_use]
    pub fn state(&self) -> Option<State<N>> {
        self.seen().state
    }

    /// The next event, waiting for it so long at most; `None` where none came, or the session has ended.
    pub fn next_event(&self, within: Duration) -> Option<Event<E>> {
        self.events.recv_timeout(within).ok()
    }

    /// The events that nobody has taken so far.
    pub fn events(&self) -> impl Iterator<Item = Event<E>> {
        self.events.try_iter()
    }

    /// Whether the session has ended: [`stop`](Self::stop) says how.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Asks to command again, as somebody does who has `seen` how it stands: where anything happened since, that is refused.
    pub fn request(&self, seen: &Seen<N>) {
        self.tell(Key::Request(seen.epoch));
    }

    /// The same, to go on with the motion that the last fallback suspended.
    pub fn resume(&self, seen: &Seen<N>) {
        self.tell(Key::Resume(seen.epoch));
    }

    /// Takes the request back: the arm is brought to rest, and the session goes on.
    pub fn release(&self) {
        self.tell(Key::Release(ReleasedBy::Program));
    }

    /// Clears the latched reasons: whoever calls has seen them.
    pub fn acknowledge(&self) {
        self.tell(Key::Acknowledge);
    }

    fn tell(&self, key: Key) {
        // Nobody is told where it has ended; `has_ended` says that.
        let _ = self.operator.send(key);
    }

    /// Brings the arm to rest and ends the session.
    ///
    /// # Errors
    /// Those of [`wait`](Self::wait).
    pub fn stop(self) -> Result<Ended, Failure> {
        self.end(ReleasedBy::Program)
    }

    /// Brings the arm to rest and ends the session, for this cause.
    pub(super) fn end(self, by: ReleasedBy) -> Result<Ended, Failure> {
        self.tell(Key::End(by));
        self.wait()
    }

    /// Waits until the session ends.
    ///
    /// # Errors
    /// See [`Robot::run`](super::Robot::run).
    ///
    /// # Panics
    /// Where the law did.
    pub fn wait(mut self) -> Result<Ended, Failure> {
        let Some(thread) = self.thread.take() else { return Ok(Ended::Released(ReleasedBy::Program)) };
        let finished = thread.join().unwrap_or_else(|law| std::panic::resume_unwind(law))?;
        if let Some(why) = finished.refusal() {
            return Err(Failure::Fault(why));
        }
        Ok(finished.fallback.map_or(Ended::Released(finished.released), Ended::Fallback))
    }
}

/// A thread that may command.
pub(super) fn in_thread<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Failure> {
    let thread = Builder::new().name("outrigger-control".into()).spawn(body);
    thread.map_err(|error| Failure::BadInput(format!("cannot start the thread that commands: {error}")))
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
