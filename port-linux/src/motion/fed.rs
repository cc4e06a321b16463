//! Feeds an engine a motion that is longer than what it holds, and notes how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::drive::Application;
use outrigger_core::engine::{Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::Mode;
use outrigger_core::robot::ControllerTime;
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::{Progress, Waypoint};

use super::given::Giving;
use super::played::Playing;
use super::trace::{Moment, Trace};

/// What is still to be fed, and where is told how the motion goes.
#[derive(Debug)]
pub(crate) struct Feeding<const N: usize> {
    pub(crate) waypoints: Vec<Waypoint<N>>,
    /// The next one.
    pub(crate) next: usize,
    pub(crate) trace: Arc<Mutex<Trace<N>>>,
}

/// What is done beside an engine, but for what an operator does.
#[derive(Debug)]
pub(crate) enum Task<const N: usize> {
    /// Its law is fed a motion.
    Feed(Feeding<N>),
    /// Its controller is given a move.
    Give(Giving<N>),
    /// The same, waypoint by waypoint.
    Play(Playing<N>),
}

/// An application beside whose engine a motion is fed, or a move given away.
pub(crate) struct Fed<A, const N: usize> {
    pub(crate) inner: A,
    task: Option<Task<N>>,
    newest: Option<ControllerTime>,
}

impl<A, const N: usize> Fed<A, N> {
    pub(crate) const fn new(inner: A, task: Option<Task<N>>) -> Self {
        Self { inner, task, newest: None }
    }
}

impl<const N: usize, P: Peer<N>, L: Law<N>, A: Application<N, P, L>> Application<N, P, L> for Fed<A, N> {
    fn next(&mut self) -> impl Future<Output = Input> {
        self.inner.next()
    }

    fn handed_over(&mut self) {
        self.inner.handed_over();
    }

    fn event(&mut self, event: Event<P::Event>) {
        self.inner.event(event);
    }

    fn answered(&mut self, turnaround: Duration) {
        self.inner.answered(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        match &mut self.task {
            Some(Task::Give(giving)) => giving.observe(engine, now),
            Some(Task::Play(playing)) => playing.observe(engine, now),
            Some(Task::Feed(_)) | None => {}
        }
        if let Some(Task::Feed(feeding)) = &mut self.task {
            while engine.law().room() > 0
                && let Some(waypoint) = feeding.waypoints.get(feeding.next)
            {
                feeding.next += 1;
                let last = feeding.next == feeding.waypoints.len();
                // All of it was judged before it began; what is refused now leaves the motion without its next waypoint, which
                // ends it by that name.
                if engine.feed(waypoint, last, now).is_err() {
                    feeding.next = usize::MAX;
                }
            }
            let fresh = engine.state().filter(|s| self.newest.replace(s.controller_time) != Some(s.controller_time));
            // Somebody looks at it just now: the next state is soon enough.
            if let Ok(mut trace) = feeding.trace.try_lock() {
                trace.mode = engine.mode();
                trace.elapsed = engine.law().elapsed();
                trace.progress = engine.law().progress();
                let runs = matches!(trace.progress, Progress::Running | Progress::Finished);
                if let (Mode::Command, true, Some(state), Some(wanted)) =
                    (trace.mode, runs, fresh, engine.law().setpoint())
                {
                    let moment = Moment {
                        seconds: 0.0,
                        wanted: wanted.positions,
                        actual: state.positions,
                        scaling: state.scaling(),
                    };
                    trace.note(state.controller_time, moment);
                }
            }
        }
        self.inner.observe(engine, now);
    }
}
