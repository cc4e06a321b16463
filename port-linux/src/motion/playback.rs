//! Gives a motion to the controller waypoint by waypoint, and records how the arm follows it.

use std::sync::{Arc, Mutex};

use outrigger_core::command::{JointMove, Limits};
use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::{Excess, Law, Quantity, survey};
use outrigger_core::mode::{Mirrored, Mode, MoveNumber, Offer};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Beginning, Leg, Playback, Progress, Setpoint, Tolerances, Watch, Waypoint};
use outrigger_wire::robot::{ControllerTime, JointPositions, State};
use outrigger_wire::time::{Duration, Instant};

use super::controller_move::PATIENCE;
use super::stage::MotionStage;
use super::tracking_trace::{Moment, Trace};

/// An executor of one motion that a program on the controller carries out: it sends the program the waypoints, follows
/// the motion's progress, and records why it ended or was refused.
#[derive(Debug)]
pub(crate) struct PlaybackExecutor<const N: usize> {
    waypoints: Vec<Waypoint<N>>,
    tolerances: Tolerances<N>,
    limits: Limits<N>,
    playback: Playback<N>,
    /// The number of the controller's move that executes the motion, or the rest of it after a suspension.
    number: Option<MoveNumber>,
    offer: Offer,
    newest: Option<ControllerTime>,
    /// `true` if the motion was cancelled on request.
    cancelled: bool,
    /// Two facts about a contact of the tool: `true` if a contact ends the motion; and `true` if it has done so,
    /// with the arm at standstill.
    touched: (bool, bool),
    /// `true` if the motion was cancelled before its start, or was cancelled and the arm is at standstill.
    is_over: bool,
    /// The reason why the motion was not started or not resumed, or why it ended early. `None` otherwise.
    against: Option<Reason>,
    told: Arc<Mutex<PlaybackProgress<N>>>,
}

/// The progress of a motion that the controller executes.
#[derive(Debug, Default)]
pub(crate) struct PlaybackProgress<const N: usize> {
    pub(crate) trace: Trace<N>,
    /// The reason why the controller's motion was not started, or ended early. `None` otherwise.
    pub(crate) against: Option<Reason>,
    /// The reason why a suspended motion was not resumed, although that was requested. `None` otherwise.
    pub(crate) refused: Option<Reason>,
    /// `true` if a contact of the tool has ended the motion.
    pub(crate) touched: bool,
}

impl<const N: usize> PlaybackExecutor<N> {
    /// Creates the playback of these waypoints on an arm with these limits. The waypoints start at 0 s and are not
    /// all at one position.
    pub(crate) fn new(
        waypoints: Vec<Waypoint<N>>,
        tolerances: Tolerances<N>,
        limits: Limits<N>,
        told: Arc<Mutex<PlaybackProgress<N>>>,
    ) -> Self {
        let playback = Playback::of(&waypoints);
        let (number, offer, newest, against) = (None, Offer::new(PATIENCE), None, None);
        let (cancelled, touched, is_over) = (false, (false, false), false);
        Self {
            waypoints,
            tolerances,
            limits,
            playback,
            number,
            offer,
            newest,
            cancelled,
            touched,
            is_over,
            against,
            told,
        }
    }

    /// Returns the duration of the whole motion at full speed.
    pub(super) fn whole(&self) -> Duration {
        self.waypoints.last().map_or(Duration::ZERO, |last| last.at)
    }

    /// Returns the current setpoint (joint positions and speeds) of the motion. `None` before its start and while suspended.
    pub(super) fn wanted(&self) -> Option<Setpoint<N>> {
        self.number.map(|_| self.playback.wanted(&self.waypoints))
    }

    /// Cancels the motion: no more of it is given to the controller.
    pub(super) const fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// Records that a contact of the tool ends the motion.
    pub(super) const fn touch(&mut self) {
        self.touched.0 = true;
    }

    /// Returns the stage of the motion and the part that was completed, as time since its start at full speed.
    /// `commanded` is `true` if the arm is commanded.
    pub(super) const fn stands(&self, commanded: bool) -> (MotionStage, Duration) {
        let stage = match (self.playback.progress(), self.against) {
            _ if self.is_over => MotionStage::Stopped,
            (Progress::Finished, _) => MotionStage::Done,
            _ if self.touched.1 => MotionStage::Touched,
            (Progress::Waiting | Progress::Suspended, Some(reason)) => MotionStage::Refused(reason),
            (Progress::Running | Progress::Endless, Some(reason)) if commanded => MotionStage::Missed(reason),
            (Progress::Running | Progress::Endless, Some(_)) => MotionStage::Stopped,
            (Progress::Waiting, None) if commanded && !self.cancelled => MotionStage::Waits,
            (Progress::Waiting, None) => MotionStage::Stopped,
            (Progress::Suspended, None) => MotionStage::Suspended,
            (Progress::Running | Progress::Endless, None) => MotionStage::Runs,
        };
        (stage, self.playback.elapsed())
    }

    pub(super) fn observe<P: Controller<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let mode = engine.mode();
        if mode != Mode::Command {
            self.playback.suspend();
            // The reason why it was not resumed was reported once, while commanding.
            (self.number, self.offer, self.against) = (None, Offer::new(PATIENCE), None);
        } else if self.number.is_none() && !self.cancelled {
            self.against = self.begin(engine, now);
        }
        while engine.leg_room() > 0
            && self.number.is_some()
            && !self.cancelled
            && let Some((waypoint, last)) = self.playback.next(&self.waypoints)
        {
            // All waypoints were checked before the start. If one is rejected now, the motion misses its next
            // waypoint, and ends with the reason for that.
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
        if rests && self.playback.progress() == Progress::Running && !self.cancelled {
            self.rests(engine.tolerated().is_some_and(Watch::has_arrived));
        }
        self.is_over = self.cancelled && (rests || self.number.is_none());
        // If a reader holds the lock, the next state is early enough.
        let Ok(mut told) = self.told.try_lock() else { return };
        let PlaybackProgress { trace, against, refused, touched } = &mut *told;
        *touched = self.touched.1;
        trace.at = engine.state().map(|state| state.positions).or(trace.at);
        match (self.playback.progress(), self.against) {
            (Progress::Suspended, Some(reason)) => *refused = refused.or(Some(reason)),
            (_, reason) => *against = against.or(reason),
        }
        (trace.mode, trace.elapsed, trace.progress) = (mode, self.playback.elapsed(), self.playback.progress());
        trace.held = engine.held_by();
        trace.late = engine.tolerated().map_or(Duration::ZERO, Watch::late);
        trace.cancelled = self.cancelled;
        if self.is_over && mode == Mode::Command {
            trace.progress = Progress::Finished;
        }
        let fresh = engine.state().filter(|s| self.newest.replace(s.controller_time) != Some(s.controller_time));
        if let (true, Some(state)) = (runs, fresh) {
            let wanted = self.playback.wanted(&self.waypoints).positions;
            let moment = Moment { seconds: 0.0, wanted, actual: state.positions, scaling: state.scaling() };
            trace.note(state.controller_time, moment);
        }
    }

    /// Records how the motion ended, after the controller has reported the end and the arm has come to rest: completed,
    /// by a contact of the tool, or short of its goal. `has_arrived` is `true` if the arm is at the goal.
    fn rests(&mut self, has_arrived: bool) {
        let is_whole = self.playback.elapsed() >= self.whole();
        if is_whole && has_arrived {
            self.playback.finish();
        } else if self.touched.0 {
            self.touched.1 = true;
        } else if !is_whole {
            self.against = Some(Reason::Starved);
        }
    }

    /// Makes the controller start or resume the motion. Returns the reason if that is not possible.
    fn begin<P: Controller<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) -> Option<Reason> {
        let measured = engine.state().map(|state: &State<N>| state.positions)?;
        match self.begins(engine.goes_on(), &measured) {
            Ok(None) => None,
            Ok(Some(Beginning { from, fastest })) => {
                let Some(asked) = JointMove::along(from, fastest) else { return Some(Reason::NotFinite) };
                match self.offer.judge(engine.offer(asked, now), now)? {
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

/// Returns the reason to report for a limit that a motion exceeds.
const fn reason_of(excess: &Excess) -> Reason {
    match excess.quantity {
        Quantity::Position => Reason::PositionLimit,
        Quantity::Velocity => Reason::VelocityLimit,
        Quantity::Acceleration => Reason::AccelerationLimit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::JointVelocities;

    fn runs() -> PlaybackExecutor<1> {
        let way = |q, seconds| Waypoint {
            setpoint: Setpoint { positions: JointPositions([q]), velocities: JointVelocities::ZERO },
            accelerations: None,
            at: Duration::from_secs(seconds),
        };
        let waypoints = vec![way(0.0, 0), way(0.5, 4)];
        let mut playing = PlaybackExecutor::new(waypoints, Tolerances::DEFAULT, Limits::default(), Arc::default());
        playing.playback.begun();
        playing.playback.shows(Duration::from_secs(3));
        playing
    }

    #[test]
    fn a_motion_that_ends_early_is_told_by_what_ended_it() {
        let stage = |playing: &PlaybackExecutor<1>, commanded| playing.stands(commanded).0;
        assert_eq!(stage(&runs(), true), MotionStage::Runs);
        let mut touched = runs();
        touched.touch();
        assert_eq!(stage(&touched, true), MotionStage::Runs, "until the arm rests");
        touched.rests(false);
        assert_eq!((stage(&touched, true), touched.against), (MotionStage::Touched, None));
        let mut starved = runs();
        starved.rests(false);
        assert_eq!(stage(&starved, true), MotionStage::Missed(Reason::Starved));
        assert_eq!(stage(&starved, false), MotionStage::Stopped);
    }

    #[test]
    fn a_motion_at_the_end_of_its_time_waits_for_its_goal_and_a_contact_there_does_not_undo_it() {
        let mut whole = runs();
        whole.playback.shows(Duration::from_secs(4));
        whole.rests(false);
        assert_eq!(whole.stands(true).0, MotionStage::Runs, "not within the tolerance yet");
        whole.touch();
        whole.rests(true);
        assert_eq!(whole.stands(true).0, MotionStage::Done);
    }
}
