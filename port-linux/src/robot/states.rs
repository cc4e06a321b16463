//! A stream of a robot's states, in the order of their arrival.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_core::engine::{Config, Controller};
use outrigger_wire::robot::State;
use tokio::sync::mpsc::UnboundedSender;

use super::controller_kinds::SessionRunner;
use super::session_handle::in_thread;
use crate::exit::{Failure, Outcome};
use crate::panel::Operators;
use crate::released::ReleasedBy;
use crate::run::state_publisher::Subscriber;
use crate::show::{Format, Key};

/// The number of robot states that can wait for their reader: an eighth of a second at 500 Hz.
const WAITING: usize = 64;

/// The states of a robot as they arrive, from [`Robot::states`](super::Robot::states). A reader that is behind by
/// more than 64 states misses some. A lost session is re-established, and its states follow. If there never was a
/// session, the stream ends with an error.
pub struct States<const N: usize> {
    states: Receiver<State<N>>,
    operator: UnboundedSender<Key>,
    thread: Option<JoinHandle<Outcome>>,
}

impl<const N: usize> States<N> {
    pub(super) fn start<P>(
        beside: &Arc<dyn SessionRunner<N, P>>,
        config: Config<N, P::Options>,
        format: Format,
    ) -> Result<Self, Failure>
    where
        P: Controller<N> + 'static,
        P::Event: Send,
        P::Options: Send,
    {
        let operators = Operators::elsewhere();
        let operator = operators.sender();
        let (sender, states) = sync_channel(WAITING);
        let watcher = Subscriber { seen: None, events: None, states: Some(sender) };
        let beside = Arc::clone(beside);
        let thread = in_thread(move || beside.look(config, format, operators, watcher))?;
        Ok(Self { states, operator, thread: Some(thread) })
    }
}

impl<const N: usize> States<N> {
    /// Waits for the next state of the robot, at most for `within`. Returns `None` if there was none in this time, or
    /// if the session has ended.
    ///
    /// # Errors
    /// Returns the error that ended the session, once.
    pub fn next_within(&mut self, within: Duration) -> Result<Option<State<N>>, Failure> {
        match self.states.recv_timeout(within) {
            Ok(state) => Ok(Some(state)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.outcome().map_or(Ok(None), Err),
        }
    }

    /// Returns `true` if the session has ended, and all its states were read.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.thread.is_none()
    }

    /// Waits for the end of the session, and returns its error.
    fn outcome(&mut self) -> Option<Failure> {
        match self.thread.take()?.join() {
            Ok(outcome) => outcome.err(),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl<const N: usize> Iterator for States<N> {
    type Item = Result<State<N>, Failure>;

    /// Waits for the next state of the robot. Returns `None` after an error, or if the session has ended.
    fn next(&mut self) -> Option<Self::Item> {
        match self.states.recv() {
            Ok(state) => Some(Ok(state)),
            Err(_) => self.outcome().map(Err),
        }
    }
}

impl<const N: usize> Drop for States<N> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.operator.send(Key::End(ReleasedBy::Program));
            let _ = thread.join();
        }
    }
}

impl<const N: usize> fmt::Debug for States<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").finish_non_exhaustive()
    }
}
