//! Feeds an engine a motion that is longer than its memory for waypoints, and records how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::{Law, Motion};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Tolerances, Watch, Waypoint};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

use super::controller_move::MoveExecutor;
use super::playback::PlaybackExecutor;
use super::tracking_trace::{Moment, Trace};

/// The waypoints of a motion that are still to be fed to the engine, and the record of how the arm follows it.
#[derive(Debug)]
pub(crate) struct WaypointFeed<const N: usize> {
    waypoints: Vec<Waypoint<N>>,
    /// The index of the next waypoint to be fed to the law.
    next: usize,
    trace: Option<Arc<Mutex<Trace<N>>>>,
    newest: Option<ControllerTime>,
    cancelled: bool,
    /// The check of the tolerances of the motion itself. `None` if it has none.
    watch: Option<Watch<N>>,
    /// The reason that names the exceeded tolerance of the motion. `None` if none was exceeded.
    missed: Option<Reason>,
}

/// A motion that is executed in a session: by the control law, or by the controller as a single move or waypoint by
/// waypoint.
#[derive(Debug)]
pub(crate) enum Task<const N: usize> {
    /// The waypoints of the motion are fed to the engine's law.
    Feed(WaypointFeed<N>),
    /// The motion is a single move that is given to the controller.
    Give(MoveExecutor<N>),
    /// The motion is given to the controller waypoint by waypoint.
    Play(PlaybackExecutor<N>),
}

impl<const N: usize> Task<N> {
    /// Returns the duration of the motion at full speed. Zero if it is unknown.
    pub(super) fn whole(&self) -> Duration {
        match self {
            Self::Feed(feeding) => feeding.waypoints.last().map_or(Duration::ZERO, |last| last.at),
            Self::Play(playing) => playing.whole(),
            Self::Give(_) => Duration::ZERO,
        }
    }
}

impl<const N: usize> WaypointFeed<N> {
    /// Creates the feed of these waypoints to an engine. The engine already has those before the index `next`.
    pub(crate) const fn new(waypoints: Vec<Waypoint<N>>, next: usize, trace: Option<Arc<Mutex<Trace<N>>>>) -> Self {
        Self { waypoints, next, trace, newest: None, cancelled: false, watch: None, missed: None }
    }

    /// Sets tolerances of the motion itself, which are checked in addition to those of the law.
    pub(crate) const fn held_to(mut self, tolerances: Option<Tolerances<N>>) -> Self {
        if let Some(tolerances) = tolerances {
            self.watch = Some(Watch::new(tolerances));
        }
        self
    }

    /// Returns `true` if all joints were within the motion's own goal tolerance at some time since the motion's end, or
    /// if the motion has no tolerances of its own.
    pub(super) fn has_arrived(&self) -> bool {
        self.watch.as_ref().is_none_or(Watch::has_arrived)
    }

    /// Returns the reason that names the exceeded tolerance of the motion. `None` if none was exceeded.
    pub(super) const fn missed(&self) -> Option<Reason> {
        self.missed
    }

    /// Stops feeding waypoints, because the engine now brings the arm to rest.
    pub(super) const fn cancel(&mut self) {
        (self.cancelled, self.next) = (true, usize::MAX);
    }

    pub(super) fn observe<P: Controller<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        while engine.motion_status().room > 0
            && let Some(waypoint) = self.waypoints.get(self.next)
        {
            self.next += 1;
            let last = self.next == self.waypoints.len();
            // All waypoints were checked before the start. If one is rejected now, the motion misses its next
            // waypoint, and ends with the reason for that.
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
        // If a reader holds the lock, the next state is early enough.
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
