//! Feeds an engine a motion that is longer than what it holds, and notes how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::{Law, Motion};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Tolerances, Watch, Waypoint};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

use super::given::Giving;
use super::played::Playing;
use super::trace::{Moment, Trace};

/// What is still to be fed, and where is told how the motion goes.
#[derive(Debug)]
pub(crate) struct Feeding<const N: usize> {
    waypoints: Vec<Waypoint<N>>,
    /// The next one.
    next: usize,
    trace: Option<Arc<Mutex<Trace<N>>>>,
    newest: Option<ControllerTime>,
    cancelled: bool,
    /// Its own tolerances, where it has some, and the one that did not hold.
    watch: Option<Watch<N>>,
    missed: Option<Reason>,
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

impl<const N: usize> Task<N> {
    /// How long it takes at full speed; zero where that is not known.
    pub(super) fn whole(&self) -> Duration {
        match self {
            Self::Feed(feeding) => feeding.waypoints.last().map_or(Duration::ZERO, |last| last.at),
            Self::Play(playing) => playing.whole(),
            Self::Give(_) => Duration::ZERO,
        }
    }
}

impl<const N: usize> Feeding<N> {
    /// Of these, of which the engine has those before `next`.
    pub(crate) const fn new(waypoints: Vec<Waypoint<N>>, next: usize, trace: Option<Arc<Mutex<Trace<N>>>>) -> Self {
        Self { waypoints, next, trace, newest: None, cancelled: false, watch: None, missed: None }
    }

    /// The same, held to these tolerances beside those of the law.
    pub(crate) const fn held_to(mut self, tolerances: Option<Tolerances<N>>) -> Self {
        if let Some(tolerances) = tolerances {
            self.watch = Some(Watch::new(tolerances));
        }
        self
    }

    /// Whether it has come to its end, where the law has.
    pub(super) fn has_arrived(&self) -> bool {
        self.watch.as_ref().is_none_or(Watch::has_arrived)
    }

    /// The tolerance that did not hold.
    pub(super) const fn missed(&self) -> Option<Reason> {
        self.missed
    }

    /// What the engine follows from now on is the way to rest.
    pub(super) const fn cancel(&mut self) {
        (self.cancelled, self.next) = (true, usize::MAX);
    }

    pub(super) fn observe<P: Controller<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        while engine.motion_status().room > 0
            && let Some(waypoint) = self.waypoints.get(self.next)
        {
            self.next += 1;
            let last = self.next == self.waypoints.len();
            // All of it was judged before it began; what is refused now leaves the motion without its next waypoint, which
            // ends it by that name.
            if engine.feed(waypoint, last, now).is_err() {
                self.next = usize::MAX;
            }
        }
        let before = self.newest;
        let fresh = engine.state().filter(|s| self.newest.replace(s.controller_time) != Some(s.controller_time));
        if let (Mode::Command, false, None, Some(watch), Some(state), Some(wanted)) = (
            engine.mode(),
            self.cancelled,
            self.missed,
            &mut self.watch,
            fresh,
            engine.law().motion().and_then(Motion::setpoint),
        ) {
            let error = wanted.positions.zip_with(state.positions.as_array(), |wanted, actual| wanted - actual);
            let ended = engine.motion_status().progress == Progress::Finished;
            let dt = before.map_or(Duration::ZERO, |before| state.controller_time.since(before));
            self.missed = watch.observe(&error, ended, dt, state.scaling()).err();
        }
        // Somebody looks at it just now: the next state is soon enough.
        let Some(mut trace) = self.trace.as_ref().and_then(|trace| trace.try_lock().ok()) else { return };
        (trace.mode, trace.held) = (engine.mode(), engine.held_by());
        trace.at = engine.state().map(|state| state.positions).or(trace.at);
        if self.cancelled {
            trace.cancelled = true;
        } else {
            trace.elapsed = engine.motion_status().elapsed;
        }
        trace.progress = engine.motion_status().progress;
        let runs = matches!(trace.progress, Progress::Running | Progress::Finished);
        if let (Mode::Command, true, Some(state), Some(wanted)) =
            (trace.mode, runs, fresh, engine.law().motion().and_then(Motion::setpoint))
        {
            let moment =
                Moment { seconds: 0.0, wanted: wanted.positions, actual: state.positions, scaling: state.scaling() };
            trace.note(state.controller_time, moment);
        }
    }
}
