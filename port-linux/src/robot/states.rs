//! A stream of a robot's states, in the order of their arrival.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_core::engine::{Config, Controller};
use outrigger_wire::robot::State;
use tokio::sync::mpsc::UnboundedSender;

use super::controller_kinds::{SessionRunner, in_thread};
use crate::exit::{Failure, Outcome};
use crate::panel::Operators;
use crate::released::ReleasedBy;
use crate::run::state_publisher::{NumberedState, StateQueues, Subscriber};
use crate::show::{Format, Key};

/// The number of robot states that can wait for their reader: an eighth of a second at 500 Hz.
const WAITING: usize = 64;

/// The states of a robot as they arrive, from [`Robot::states`](super::Robot::states) or
/// [`Running::states`](super::Running::states). A reader that is behind by more than 64 states misses some:
/// [`lost`](Self::lost) counts them. A lost connection is re-established, and its states follow. If there never was a
/// connection, the stream of [`Robot::states`](super::Robot::states) ends with an error.
pub struct States<const N: usize> {
    states: Receiver<NumberedState<N>>,
    /// The number of the state that was read last. 0 before the first.
    last: u64,
    lost: u64,
    has_ended: bool,
    /// The session that has no other purpose than these states.
    session: Option<(UnboundedSender<Key>, JoinHandle<Outcome>)>,
}

impl<const N: usize> States<N> {
    /// Starts a session that only observes the robot.
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
        let queues = StateQueues::default();
        let mut states = Self::of(&queues);
        let watcher = Subscriber { seen: None, events: None, states: queues };
        let beside = Arc::clone(beside);
        let thread = in_thread(move || beside.look(config, format, operators, watcher))?;
        states.session = Some((operator, thread));
        Ok(states)
    }

    /// Creates the states of a session that publishes them to `queues`.
    pub(super) fn of(queues: &StateQueues<N>) -> Self {
        Self { states: queues.reader(WAITING), last: 0, lost: 0, has_ended: false, session: None }
    }

    /// Waits for the next state of the robot, at most for `within`. Returns `None` if there was none in this time, or
    /// if the session has ended.
    ///
    /// # Errors
    /// Returns the error that ended the session, once.
    pub fn next_within(&mut self, within: Duration) -> Result<Option<State<N>>, Failure> {
        match self.states.recv_timeout(within) {
            Ok(numbered) => Ok(Some(self.read(numbered))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.outcome().map_or(Ok(None), Err),
        }
    }

    /// Returns `true` if the session has ended, and all its states were read.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the number of states that were lost between those that were read.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Counts the states that are missing before this one.
    const fn read(&mut self, (number, state): NumberedState<N>) -> State<N> {
        if self.last > 0 {
            self.lost += number.saturating_sub(self.last + 1);
        }
        self.last = number;
        state
    }

    /// Waits for the end of the session, and returns its error.
    fn outcome(&mut self) -> Option<Failure> {
        self.has_ended = true;
        match self.session.take()?.1.join() {
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
            Ok(numbered) => Some(Ok(self.read(numbered))),
            Err(_) => self.outcome().map(Err),
        }
    }
}

impl<const N: usize> Drop for States<N> {
    fn drop(&mut self) {
        if let Some((operator, thread)) = self.session.take() {
            let _ = operator.send(Key::End(ReleasedBy::Program));
            let _ = thread.join();
        }
    }
}

impl<const N: usize> fmt::Debug for States<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_reads_what_waited_and_counts_what_it_missed() {
        let queues = StateQueues::<6>::default();
        let closing = queues.closed_on_drop();
        let (mut slow, mut quick) = (States::of(&queues), States::of(&queues));
        for number in 1..=WAITING as u64 + 3 {
            queues.publish(&(number, State::default()));
            assert!(quick.next_within(Duration::ZERO).is_ok_and(|state| state.is_some()));
        }
        for _ in 0..WAITING {
            assert!(slow.next().is_some());
        }
        queues.publish(&(WAITING as u64 + 4, State::default()));
        assert_eq!((slow.lost(), quick.lost()), (0, 0));
        assert!(slow.next().is_some());
        assert_eq!(slow.lost(), 3);

        assert!(!slow.has_ended());
        drop(closing);
        assert!(slow.next_within(Duration::ZERO).is_ok_and(|state| state.is_none()) && slow.has_ended());
        assert!(States::of(&queues).next().is_none());
    }
}
