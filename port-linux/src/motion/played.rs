//! Gives a motion to the controller waypoint by waypoint, and notes how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::command::JointMove;
use outrigger_core::engine::{Engine, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mirrored, Mode, MoveNumber, Offer};
use outrigger_core::robot::{ControllerTime, Reason};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::{Leg, Progress, Waypoint};

use super::given::PATIENCE;
use super::trace::{Moment, Trace};
use super::under_way::Stage;

/// What is still to be given away, and where is told how the motion goes.
#[derive(Debug)]
pub(crate) struct Playing<const N: usize> {
    waypoints: Vec<Waypoint<N>>,
    begin: JointMove<N>,
    /// The next one.
    next: usize,
    number: Option<MoveNumber>,
    offer: Offer,
    newest: Option<ControllerTime>,
    cancelled: bool,
    told: Arc<Mutex<Played<N>>>,
}

/// How a motion goes that the controller makes.
#[derive(Debug, Default)]
pub(crate) struct Played<const N: usize> {
    pub(crate) trace: Trace<N>,
    /// It has ended, and the arm rests.
    pub(crate) ended: bool,
    /// Why it was not begun, or ended before its end.
    pub(crate) against: Option<Reason>,
}

impl<const N: usize> Playing<N> {
    /// Of waypoints from time 0 on; `None` where nothing moves.
    pub(crate) fn new(waypoints: Vec<Waypoint<N>>, told: Arc<Mutex<Played<N>>>) -> Option<Self> {
        let speeds = waypoints.windows(2).map(|pair| match pair {
            [from, to] => Leg::between(from, to).peak_velocities().max_abs(),
            _ => 0.0,
        });
        let fastest = speeds.fold(0.0, f32::max);
        let begin = JointMove::along(waypoints.first()?.setpoint.positions, fastest)?;
        Some(Self {
            waypoints,
            begin,
            next: 1,
            number: None,
            offer: Offer::new(PATIENCE),
            newest: None,
            cancelled: false,
            told,
        })
    }

    /// How long it takes at full speed.
    pub(super) fn whole(&self) -> Duration {
        self.waypoints.last().map_or(Duration::ZERO, |last| last.at)
    }

    /// Somebody ends it: nothing more of it is given away.
    pub(super) const fn cancel(&mut self) {
        (self.cancelled, self.next) = (true, usize::MAX);
    }

    /// How it stands, where the arm is commanded or not, and how much of its own time has passed; `None` while somebody looks.
    pub(super) fn stands(&self, commanded: bool) -> Option<(Stage, Duration)> {
        let played = self.told.try_lock().ok()?;
        let stage = match (played.ended, played.against) {
            (true, _) if played.trace.progress == Progress::Finished => Stage::Done,
            (true, _) => Stage::Stopped,
            (false, Some(reason)) => Stage::Refused(reason),
            (false, None) if !commanded => Stage::Stopped,
            (false, None) if self.number.is_some() => Stage::Runs,
            (false, None) => Stage::Waits,
        };
        Some((stage, played.trace.elapsed))
    }

    pub(super) fn observe<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let mode = engine.mode();
        let mut against = None;
        if mode == Mode::Command && self.number.is_none() && !self.cancelled {
            against = self.begin(engine, now);
        }
        if self.number.is_some() {
            while engine.leg_room() > 0
                && let Some(waypoint) = self.waypoints.get(self.next)
            {
                self.next += 1;
                // All of it was judged before it began; what is refused now leaves the motion without its next waypoint, which
                // ends it by that name.
                if engine.lead_on(waypoint, self.next == self.waypoints.len()).is_err() {
                    self.next = usize::MAX;
                }
            }
        }
        let evidence = engine.evidence();
        let shown = evidence.mirrored.map(|held| held.value);
        let runs = self.number.is_some_and(|number| shown == Some(Mirrored::Running(number)));
        let over = self.number.is_some_and(|number| shown == Some(Mirrored::Ended(number)));
        let ended = over && evidence.at_rest.is_some_and(|rest| rest.value);
        let whole = self.whole();
        let elapsed = engine.led();
        // Somebody looks at it just now: the next state is soon enough.
        let Ok(mut told) = self.told.try_lock() else { return };
        let Played { trace, ended: told_end, against: told_against } = &mut *told;
        *told_against = told_against.or(against);
        trace.mode = mode;
        trace.elapsed = elapsed.unwrap_or(trace.elapsed);
        if runs {
            trace.progress = Progress::Running;
        }
        if self.cancelled && self.number.is_none() {
            *told_end = true;
        }
        if ended && !*told_end && mode == Mode::Command {
            *told_end = true;
            if elapsed.is_some_and(|elapsed| elapsed >= whole) {
                trace.progress = Progress::Finished;
            } else if !self.cancelled {
                *told_against = told_against.or(Some(Reason::Starved));
            }
        }
        let fresh = engine.state().filter(|s| self.newest.replace(s.controller_time) != Some(s.controller_time));
        if let (true, Some(state), Some(elapsed)) = (runs, fresh, elapsed) {
            let at =
                self.waypoints.partition_point(|waypoint| waypoint.at <= elapsed).min(self.waypoints.len() - 1).max(1);
            if let [from, to] = &self.waypoints[at - 1..=at] {
                let wanted = Leg::between(from, to).at((elapsed - from.at).as_secs_f32()).positions;
                let moment = Moment { seconds: 0.0, wanted, actual: state.positions, scaling: state.scaling() };
                trace.note(state.controller_time, moment);
            }
        }
    }

    fn begin<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) -> Option<Reason> {
        match self.offer.judge(engine.offer(self.begin, now), now)? {
            Ok(number) => {
                self.number = Some(number);
                None
            }
            Err(reason) => Some(reason),
        }
    }
}
