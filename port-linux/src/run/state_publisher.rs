//! Publishes the state of a control loop to a handle in another thread, without ever waiting for it.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use outrigger_core::drive::Application;
use outrigger_core::engine::{Controller, Engine, Event, Input};
use outrigger_core::law::Law;
use outrigger_core::link::Grade;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, State};
use outrigger_wire::time::{Duration, Instant};

use crate::panel::Ends;
use crate::released::ReleasedBy;

/// The state of a session after its engine's last input.
#[derive(Clone, Debug)]
pub struct SessionState<const N: usize> {
    /// The mode of the control state machine, e.g. monitor or command.
    pub mode: Mode,
    /// The first reason that was latched since the last acknowledgement: it prevents commanding until it is
    /// acknowledged. A release (requested end of commanding) is never latched.
    pub latch: Option<Reason>,
    /// The unmet preconditions, for which a request to command would be rejected.
    pub unmet: ReasonSet,
    /// The grade (quality) of the link that carries robot states.
    pub grade: Grade,
    /// The newest state of the robot. `None` while there is no session.
    pub state: Option<State<N>>,
    /// `true` if the session is about to end.
    pub(crate) ending: bool,
    /// The cause of the last release (requested end of commanding) since commanding started. `None` if there was none.
    pub(crate) released: Option<ReleasedBy>,
    /// The session's epoch, a counter of connections and losses of authority. A request based on this state is valid
    /// only in this epoch.
    pub(crate) epoch: Epoch,
}

impl<const N: usize> Default for SessionState<N> {
    fn default() -> Self {
        Self {
            mode: Mode::Offline,
            latch: None,
            unmet: ReasonSet::EMPTY,
            grade: Grade::Unacceptable,
            state: None,
            ending: false,
            released: None,
            epoch: Epoch::default(),
        }
    }
}

/// The control loop's side of a handle to the session: publishes states and events.
pub(crate) struct Subscriber<const N: usize, E> {
    pub(crate) seen: Option<Arc<Mutex<SessionState<N>>>>,
    pub(crate) events: Option<SyncSender<Event<E>>>,
    pub(crate) states: StateQueues<N>,
}

/// A robot state with its number since the start of the session, by which a reader recognizes what it missed.
pub(crate) type NumberedState<const N: usize> = (u64, State<N>);

/// The bounded queues of the readers of a session's states.
pub(crate) struct StateQueues<const N: usize>(Arc<Mutex<Readers<N>>>);

/// The queues of a session's readers. `None` after the session has ended.
type Readers<const N: usize> = Option<Vec<SyncSender<NumberedState<N>>>>;

impl<const N: usize> StateQueues<N> {
    /// Adds a reader with room for `waiting` states.
    pub(crate) fn reader(&self, waiting: usize) -> Receiver<NumberedState<N>> {
        let (sender, states) = sync_channel(waiting);
        if let Some(readers) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            readers.push(sender);
        }
        states
    }

    /// Returns a value that closes the queues when it is dropped, at the end of the session or by its panic.
    pub(crate) fn closed_on_drop(&self) -> impl Drop + Send + 'static {
        struct Closing<const N: usize>(StateQueues<N>);

        impl<const N: usize> Drop for Closing<N> {
            fn drop(&mut self) {
                self.0.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
        }
        Closing(self.clone())
    }

    /// Passes a state to every reader that has room for it.
    pub(crate) fn publish(&self, state: &NumberedState<N>) {
        // While a reader is added, all miss a state.
        if let Ok(mut readers) = self.0.try_lock()
            && let Some(readers) = &mut *readers
        {
            readers.retain(|reader| !matches!(reader.try_send(*state), Err(TrySendError::Disconnected(_))));
        }
    }
}

impl<const N: usize> Clone for StateQueues<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<const N: usize> Default for StateQueues<N> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(vec![]))))
    }
}

/// An application of the control loop, and a second observer of its engine that publishes states and events to a handle
/// in another thread.
pub(crate) struct Tee<A, const N: usize, E> {
    pub(crate) inner: A,
    watcher: Option<Subscriber<N, E>>,
    newest: Option<ControllerTime>,
    /// The number of states since the start of the session.
    states: u64,
    /// The number of events that were lost because the handle's queue was full.
    lost: u32,
}

impl<A, const N: usize, E> Tee<A, N, E> {
    pub(crate) const fn new(inner: A, watcher: Option<Subscriber<N, E>>) -> Self {
        Self { inner, watcher, newest: None, states: 0, lost: 0 }
    }
}

impl<const N: usize, P, L, A> Application<N, P, L> for Tee<A, N, P::Event>
where
    P: Controller<N>,
    L: Law<N>,
    A: Application<N, P, L> + Ends,
{
    fn next(&mut self) -> impl Future<Output = Input> {
        self.inner.next()
    }

    fn handed_over(&mut self) {
        self.inner.handed_over();
    }

    fn event(&mut self, event: Event<P::Event>) {
        if let Some(events) = self.watcher.as_ref().and_then(|watcher| watcher.events.as_ref()) {
            if self.lost > 0 && events.try_send(Event::Lost(self.lost)).is_ok() {
                self.lost = 0;
            }
            // After the handle is gone there is no receiver.
            if let Err(TrySendError::Full(_)) = events.try_send(event) {
                self.lost = self.lost.saturating_add(1);
            }
        }
        self.inner.event(event);
    }

    fn answered(&mut self, turnaround: Duration) {
        self.inner.answered(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        if let Some(watcher) = &self.watcher {
            let state = engine.state();
            // If a reader holds the lock, the next input is early enough.
            if let Some(mut seen) = watcher.seen.as_ref().and_then(|seen| seen.try_lock().ok()) {
                *seen = SessionState {
                    mode: engine.mode(),
                    latch: engine.latch(),
                    unmet: engine.unmet(now),
                    grade: engine.grade(),
                    state: state.copied(),
                    ending: self.inner.is_ending(),
                    released: self.inner.released(),
                    epoch: engine.mode_machine().epoch(),
                };
            }
            let fresh = state.filter(|state| self.newest.replace(state.controller_time) != Some(state.controller_time));
            if let Some(state) = fresh {
                self.states = self.states.saturating_add(1);
                watcher.states.publish(&(self.states, *state));
            }
        }
        self.inner.observe(engine, now);
    }
}
