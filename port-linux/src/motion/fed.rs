//! Feeds an engine a motion that is longer than what it holds, and notes how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::drive::Application;
use outrigger_core::engine::{Engine, Event, Input, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{ControllerTime, JointPositions};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::{Progress, Waypoint};

use super::given::Giving;

/// Moments that are kept for a page; where there are more, every second one is left out.
const KEPT: usize = 16_384;

/// How an arm follows a motion.
#[derive(Clone, Debug)]
pub(crate) struct Trace<const N: usize> {
    /// Where it is wanted and where it is, and when by the controller's clock, from the first of them.
    pub(crate) moments: Vec<Moment<N>>,
    /// How far each joint was off at most while the motion ran \[rad\].
    pub(crate) worst: JointPositions<N>,
    /// How much of the motion's own time has passed.
    pub(crate) elapsed: Duration,
    pub(crate) progress: Progress,
    pub(crate) mode: Mode,
    /// Each so manieth moment is kept.
    stride: u32,
    skipped: u32,
    first: Option<ControllerTime>,
}

/// One state while the motion runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<const N: usize> {
    pub(crate) seconds: f64,
    pub(crate) wanted: JointPositions<N>,
    pub(crate) actual: JointPositions<N>,
    /// What the robot's slider and limiter let through.
    pub(crate) scaling: f32,
}

impl<const N: usize> Default for Trace<N> {
    fn default() -> Self {
        Self {
            moments: Vec::with_capacity(KEPT),
            worst: JointPositions::ZERO,
            elapsed: Duration::ZERO,
            progress: Progress::Waiting,
            mode: Mode::Offline,
            stride: 1,
            skipped: 0,
            first: None,
        }
    }
}

impl<const N: usize> Trace<N> {
    fn note(&mut self, at: ControllerTime, mut moment: Moment<N>) {
        let first = *self.first.get_or_insert(at);
        moment.seconds = at.since(first).as_micros() as f64 * 1e-6;
        let off = moment.actual.zip_with(moment.wanted.as_array(), |q, w| (q - w).abs());
        self.worst = self.worst.zip_with(off.as_array(), |a, b| a.max(*b));
        self.skipped += 1;
        if self.skipped < self.stride {
            return;
        }
        self.skipped = 0;
        if self.moments.len() == KEPT {
            let mut keep = false;
            self.moments.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.moments.push(moment);
    }
}

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
        if let Some(Task::Give(giving)) = &mut self.task {
            giving.observe(engine, now);
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
