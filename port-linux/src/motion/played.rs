//! Gives a motion to the controller waypoint by waypoint, and notes how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::command::{JointMove, Limits};
use outrigger_core::engine::{Engine, Peer};
use outrigger_core::law::{Excess, Law, Quantity, survey};
use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::{ControllerTime, JointPositions, Reason, State};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::{Beginning, Leg, Playback, Progress, Tolerances, Watch, Waypoint};

use super::given::offered;
use super::trace::{Moment, Trace};

/// Legs that are given to a controller last so long: four of them outlast what may come late.
const LEAST: Duration = Duration::from_millis(40);
/// A waypoint between may be so far beside a leg \[rad\].
const BESIDE: f32 = 5e-4;

/// What is still to be given away, and where is told how the motion goes.
#[derive(Debug)]
pub(crate) struct Playing<const N: usize> {
    waypoints: Vec<Waypoint<N>>,
    tolerances: Tolerances<N>,
    limits: Limits<N>,
    playback: Playback<N>,
    /// The move that makes it, or what is left of it.
    number: Option<MoveNumber>,
    since: Option<Instant>,
    newest: Option<ControllerTime>,
    told: Arc<Mutex<Played<N>>>,
}

/// How a motion goes that the controller makes.
#[derive(Debug, Default)]
pub(crate) struct Played<const N: usize> {
    pub(crate) trace: Trace<N>,
    /// Why it was not begun, or ended before its end.
    pub(crate) against: Option<Reason>,
    /// Why it is not gone on with, though somebody said so.
    pub(crate) refused: Option<Reason>,
}

impl<const N: usize> Playing<N> {
    /// Of waypoints from time 0 on, for an arm with these limits; `None` where nothing moves.
    pub(crate) fn new(
        waypoints: Vec<Waypoint<N>>,
        tolerances: Tolerances<N>,
        limits: Limits<N>,
        told: Arc<Mutex<Played<N>>>,
    ) -> Option<Self> {
        let playback = Playback::of(&waypoints);
        let moves = |way: &Waypoint<N>| waypoints.first().is_some_and(|first| way.setpoint != first.setpoint);
        waypoints.iter().any(moves).then_some(())?;
        Some(Self { waypoints, tolerances, limits, playback, number: None, since: None, newest: None, told })
    }

    pub(super) fn observe<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let mode = engine.mode();
        let (mut against, mut refused) = (None, None);
        if mode != Mode::Command {
            self.playback.suspend();
            (self.number, self.since) = (None, None);
        } else if self.number.is_none()
            && let Some(reason) = self.begin(engine, now)
        {
            let suspended = self.playback.progress() == Progress::Suspended;
            (against, refused) = if suspended { (None, Some(reason)) } else { (Some(reason), None) };
        }
        while engine.leg_room() > 0
            && self.number.is_some()
            && let Some((waypoint, last)) = self.playback.next(&self.waypoints)
        {
            // All of it was judged before it began; what is refused now leaves the motion without its next waypoint, which
            // ends it by that name.
            if engine.lead_on(&waypoint, last).is_err() {
                break;
            }
            self.playback.taken();
        }
        let evidence = engine.evidence();
        let shown = evidence.mirrored.map(|held| held.value);
        let runs = self.number.is_some_and(|number| shown == Some(Mirrored::Running(number)));
        let over = self.number.is_some_and(|number| shown == Some(Mirrored::Ended(number)));
        let rests = over && evidence.at_rest.is_some_and(|rest| rest.value);
        if let (true, Some(led)) = (runs || over, engine.led()) {
            self.playback.shows(led);
        }
        let whole = self.waypoints.last().map_or(Duration::ZERO, |last| last.at);
        if rests && self.playback.progress() == Progress::Running {
            if self.playback.elapsed() < whole {
                against = Some(Reason::Starved);
            } else if engine.tolerated().is_some_and(Watch::has_arrived) {
                self.playback.finish();
            }
        }
        let late = engine.tolerated().map_or(Duration::ZERO, Watch::late);
        // Somebody looks at it just now: the next state is soon enough.
        let Ok(mut told) = self.told.try_lock() else { return };
        let Played { trace, against: told_against, refused: told_refused } = &mut *told;
        *told_against = told_against.or(against);
        *told_refused = told_refused.or(refused);
        (trace.mode, trace.elapsed, trace.progress) = (mode, self.playback.elapsed(), self.playback.progress());
        trace.late = late;
        let fresh = engine.state().filter(|s| self.newest.replace(s.controller_time) != Some(s.controller_time));
        if let (true, Some(state)) = (runs, fresh) {
            let wanted = self.playback.wanted(&self.waypoints).positions;
            let moment = Moment { seconds: 0.0, wanted, actual: state.positions, scaling: state.scaling() };
            trace.note(state.controller_time, moment);
        }
    }

    /// Has the controller begin with it, or go on; why it cannot be.
    fn begin<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) -> Option<Reason> {
        let measured = engine.state().map(|state: &State<N>| state.positions)?;
        match self.begins(engine.goes_on(), &measured) {
            Ok(None) => None,
            Ok(Some(Beginning { from, fastest })) => {
                let Some(asked) = JointMove::along(from, fastest) else { return Some(Reason::NotFinite) };
                match offered(engine, asked, &mut self.since, now)? {
                    Ok(number) => {
                        self.number = Some(number);
                        self.playback.begun();
                        engine.hold_to(self.tolerances).err().map(|_| Reason::Internal)
                    }
                    Err(reason) => Some(reason),
                }
            }
            Err(reason) => Some(reason),
        }
    }

    fn begins(&mut self, goes_on: bool, measured: &JointPositions<N>) -> Result<Option<Beginning<N>>, Reason> {
        let limits = &self.limits;
        let fits = |leg: &Leg<N>| survey(leg, limits, Some(&JointPositions::ZERO)).map_err(|excess| reason_of(&excess));
        self.playback.begins(&self.waypoints, goes_on, measured, &self.tolerances, fits)
    }
}

/// The name that a limit goes by.
const fn reason_of(excess: &Excess) -> Reason {
    match excess.quantity {
        Quantity::Position => Reason::PositionLimit,
        Quantity::Velocity => Reason::VelocityLimit,
        Quantity::Acceleration => Reason::AccelerationLimit,
    }
}

/// The same motion by waypoints that are far enough apart in time for a controller that is given one in each cycle.
///
/// # Errors
/// Where those that would be left out say something else.
pub(crate) fn thinned<const N: usize>(all: Vec<Waypoint<N>>) -> Result<Vec<Waypoint<N>>, String> {
    let mut kept = Vec::<Waypoint<N>>::new();
    for (number, waypoint) in all.iter().enumerate() {
        let is_end = number + 1 == all.len();
        let is_far = |from: &Waypoint<N>| waypoint.at - from.at >= LEAST;
        if is_end && kept.len() > 1 && kept.last().is_some_and(|from| !is_far(from)) {
            kept.pop();
        }
        if is_end || kept.last().is_none_or(is_far) {
            kept.push(*waypoint);
        }
    }
    let mut legs = kept.windows(2);
    let mut leg = legs.next();
    for (number, waypoint) in all.iter().enumerate() {
        while let Some([_, to]) = leg
            && to.at < waypoint.at
        {
            leg = legs.next();
        }
        let Some([from, to]) = leg else { break };
        let on = Leg::between(from, to).at((waypoint.at - from.at).as_secs_f32()).positions;
        let beside = on.zip_with(waypoint.setpoint.positions.as_array(), |on, to| on - to).max_abs();
        if beside > BESIDE {
            return Err(format!(
                "waypoint {number} is less than {} ms from the next, and {:.1} mrad beside the way without it: the controller \
                 takes none that are closer; use --mode servo or stream",
                LEAST.as_millis(),
                beside * 1e3
            ));
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use outrigger_core::robot::{JointPositions, JointVelocities};
    use outrigger_core::trajectory::Setpoint;

    use super::*;

    fn way(millis: u64, q: f32, v: f32) -> Waypoint<1> {
        let setpoint = Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) };
        Waypoint { setpoint, accelerations: None, at: Duration::from_millis(millis) }
    }

    #[test]
    fn waypoints_that_are_too_close_are_left_out_where_they_say_nothing_new() {
        let steady: Vec<_> = (0..=100).map(|i| way(i * 4, i as f32 * 0.004, 1.0)).collect();
        let kept = thinned(steady.clone()).unwrap();
        assert!(kept.windows(2).all(|pair| pair[1].at - pair[0].at >= LEAST), "{kept:?}");
        assert_eq!((kept.first(), kept.last()), (steady.first(), steady.last()));
        let far: Vec<_> = (0..5).map(|i| way(i * 50, i as f32 * 0.01, 0.1)).collect();
        assert_eq!(thinned(far.clone()), Ok(far));
        let mut bent = steady;
        bent[41].setpoint.positions.0[0] += 0.01;
        assert!(thinned(bent).is_err_and(|said| said.contains("waypoint 41 is less than 40 ms")));
    }
}
