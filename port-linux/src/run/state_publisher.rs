//! Publishes the state of a control loop to a handle in another thread, without ever waiting for it.

use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

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
    pub(crate) states: Option<SyncSender<State<N>>>,
}

/// An application of the control loop, and a second observer of its engine that publishes states and events to a handle
/// in another thread.
pub(crate) struct Tee<A, const N: usize, E> {
    pub(crate) inner: A,
    watcher: Option<Subscriber<N, E>>,
    newest: Option<ControllerTime>,
    /// The number of events that were lost because the handle's queue was full.
    lost: u32,
}

impl<A, const N: usize, E> Tee<A, N, E> {
    pub(crate) const fn new(inner: A, watcher: Option<Subscriber<N, E>>) -> Self {
        Self { inner, watcher, newest: None, lost: 0 }
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
            if let (Some(state), Some(states)) = (fresh, &watcher.states) {
                // A slow reader receives the queued states first, and continues with newer ones.
                let _ = states.try_send(*state);
            }
        }
        self.inner.observe(engine, now);
    }
}
