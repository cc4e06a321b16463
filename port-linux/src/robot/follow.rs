//! Moves an arm along a motion of any length, for [`Robot::follow`](super::Robot::follow).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_config::End;
use outrigger_core::engine::{Controller, Event};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::trajectory::{Progress, Spacing, Tolerances};
use outrigger_wire::robot::{JointPositions, State};
use outrigger_wire::time::Duration as CoreDuration;

use super::{Ended, Robot, Running};
use crate::exit::Failure;
use crate::motion::{Moment, Motion, Start, Task, Trace, WaypointFeed, begins_beside};
use crate::released::ReleasedBy;
use crate::show::{Format, reason_text};

/// The interval at which the progress of the motion is reported.
const GLANCE: Duration = Duration::from_millis(250);

/// The number of intervals between robot states from which the period of these states is determined.
const LOOKED_AT: usize = 4;
/// The longest period between two states of any supported robot.
const LONGEST: CoreDuration = CoreDuration::from_millis(100);

/// An arm that was stopped during a motion, and is at standstill.
#[derive(Clone, Copy, Debug)]
pub struct Stopped {
    /// The reason why the arm was stopped. `None` if it is not known.
    pub reason: Option<Reason>,
    /// The cause of the release, if the arm was stopped by a requested release.
    pub released: Option<ReleasedBy>,
    /// The unmet preconditions that currently prevent resuming the motion.
    pub unmet: ReasonSet,
    /// The part of the motion that was completed, as time since its start at full speed.
    pub elapsed: Duration,
}

/// The result of making the arm follow a motion.
#[derive(Clone, Debug)]
pub struct Followed<const N: usize> {
    /// The way in which the session of the motion ended.
    pub ended: Ended,
    /// `true` if the motion was completed, with each measured joint within the goal tolerance.
    pub is_done: bool,
    /// The part of the motion that was completed, as time since its start at full speed.
    pub elapsed: Duration,
    /// The largest tracking error of each joint during the motion \[rad\].
    pub worst: JointPositions<N>,
    /// The distance of each measured joint from the goal after the session has ended \[rad\].
    pub end_error: JointPositions<N>,
    /// The setpoints and measured positions during the motion, at most 16 384 samples.
    pub moments: Vec<Moment<N>>,
}

impl<const N: usize> Followed<N> {
    /// Returns `true` if the arm has started the motion.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        !self.moments.is_empty()
    }

    /// Returns the result of a motion to `goal` after the end of the session. Before the motion the arm was at the
    /// position `at`. The motion is done if its full duration has passed without a fault or a cancellation, and each
    /// measured joint is within the goal tolerance.
    pub(super) fn of(
        ended: Ended,
        trace: &mut Trace<N>,
        at: &JointPositions<N>,
        goal: &JointPositions<N>,
        tolerances: &Tolerances<N>,
    ) -> Self {
        let end_error = trace.at.unwrap_or(*at).zip_with(goal.as_array(), |q, goal| (q - goal).abs());
        let is_there = end_error.iter().zip(tolerances.goal.iter()).all(|(off, most)| off <= most);
        let is_over = trace.progress == Progress::Finished && !trace.cancelled;
        Self {
            ended,
            is_done: is_over && is_there && matches!(ended, Ended::Released(_)),
            elapsed: Duration::from_micros(trace.elapsed.as_micros()),
            worst: trace.worst,
            end_error,
            moments: std::mem::take(&mut trace.moments),
        }
    }

    /// Returns the result of a motion without length: nothing was sent, and the joints are `off` from its position
    /// \[rad\].
    pub(super) const fn there(off: JointPositions<N>) -> Self {
        let (ended, elapsed) = (Ended::Released(ReleasedBy::Finished), Duration::ZERO);
        Self { ended, is_done: true, elapsed, worst: off, end_error: off, moments: vec![] }
    }
}

impl<const N: usize, P: Controller<N> + 'static> Robot<N, P>
where
    P::Event: Send,
    P::Options: Send,
{
    /// Requests commanding once, moves the arm along `motion`, and returns when it is at standstill again: at the end,
    /// after a fallback (end of commanding by a fault), or after a release by SIGINT, SIGTERM or SIGHUP. The motion's
    /// time passes at the rate that the robot's speed slider permits.
    ///
    /// The motion is monitored with its tolerances. Each joint must be within 0.02 rad of the start of the motion, or
    /// within its path tolerance if that is smaller. A motion whose first waypoint is due later starts at the arm's
    /// position. If all waypoints are at one position and the arm is there already, the motion is done at once, and
    /// nothing is sent.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`], before anything moves, for a motion that the arm could not follow or that
    /// starts elsewhere; otherwise the errors of [`run`](Self::run).
    pub fn follow(&self, motion: &Motion<N>) -> Result<Followed<N>, Failure> {
        self.follow_watched(motion, |_| {}, None)
    }

    /// Follows `motion` like [`follow`](Self::follow), and calls `asks` when something has stopped the arm. `asks` may
    /// take any time. If it returns `true`, the reason for the stop is acknowledged, and the motion continues from
    /// where the arm is. So `asks` must return `true` only if a person has seen the reason for the stop, and that
    /// nobody is in the way. It is called again if resuming is not possible yet, or after another stop.
    ///
    /// # Errors
    /// Returns the errors of [`follow`](Self::follow).
    pub fn follow_resuming(
        &self,
        motion: &Motion<N>,
        mut asks: impl FnMut(&Stopped) -> bool,
    ) -> Result<Followed<N>, Failure> {
        self.follow_watched(motion, |_| {}, Some(&mut asks))
    }

    /// Follows `motion`, and calls `watch` every 0.25 s with the samples of setpoints and measured positions. `asks`
    /// decides whether the motion continues after a stop of the arm; without it the first stop ends the motion.
    pub fn follow_watched(
        &self,
        motion: &Motion<N>,
        mut watch: impl FnMut(&Mutex<Trace<N>>),
        asks: Option<&mut dyn FnMut(&Stopped) -> bool>,
    ) -> Result<Followed<N>, Failure> {
        self.check_companions()?;
        let goal = motion.goal();
        let (state, cycle) = self.stands_as()?;
        let at = state.positions;
        let tolerances = *motion.tolerances();
        tolerances.check().map_err(|bad| self.unfit(format!("the motion's tolerances: {bad}")))?;
        let motion = match motion.clone().start_at(at, &state.velocities).map_err(|what| self.unfit(what))? {
            Start::There(off) => return Ok(Followed::there(off)),
            Start::Moves(motion) => motion,
        };
        motion.check(&self.config.limits).map_err(|unfit| self.unfit(unfit.with_remedy()))?;
        let path_tolerance = goes_on_within(&tolerances);
        let motion = self.in_cycles(motion, cycle, path_tolerance)?;
        let begin = motion.waypoints().first().map_or(at, |first| first.setpoint.positions);
        if let Some(beside) = begins_beside(&at, &begin, &tolerances) {
            return Err(self.unfit(beside));
        }
        let (trajectory, next) = motion.beginning().map_err(|unfit| self.unfit(unfit))?;
        let fastest = self.config.limits.velocity.iter().fold(f32::INFINITY, f32::min);
        let servo = JointServoConfig { path_tolerance, joint_speed: fastest, ..JointServoConfig::default() };
        let law = JointServo::new(Reference::Absolute(trajectory), servo).with_tolerances(tolerances);
        // This type of law is known to `outrigger replay`.
        let law = AnyLaw::JointServo(law);
        let trace = Arc::<Mutex<Trace<N>>>::default();
        let mut job = self.job(law, None)?;
        job.task = Some(Task::Feed(WaypointFeed::new(motion.into_waypoints(), next, Some(Arc::clone(&trace)))));
        let ended = match asks {
            None => {
                let running = Running::start(&self.beside, job, true)?;
                while !running.has_ended() {
                    watch(&trace);
                    std::thread::sleep(GLANCE);
                }
                running.wait()?
            }
            Some(asks) => {
                let patience = Duration::from_micros(job.run.start_within.as_micros());
                job.run.end = End::Never;
                let running = Running::start(&self.beside, job, true)?;
                let stands = || {
                    let trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
                    let cancelled = trace.cancelled;
                    let (against, refused, touched) = (None, None, false);
                    FollowProgress {
                        progress: trace.progress,
                        elapsed: trace.elapsed,
                        against,
                        refused,
                        touched,
                        cancelled,
                    }
                };
                attended(running, stands, patience, &mut || watch(&trace), asks)?
            }
        };
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Followed::of(ended, &mut trace, &at, &goal, &tolerances))
    }

    /// Removes the waypoints that are closer together than the robot's cycle, and checks that the motion stays
    /// within `path_tolerance`.
    fn in_cycles(&self, motion: Motion<N>, cycle: CoreDuration, path_tolerance: f32) -> Result<Motion<N>, Failure> {
        let slow = |what: String| {
            self.unfit(format!("in cycles of {} ms, as the robot has them, {what}", cycle.as_micros() as f64 * 1e-3))
        };
        let spaced = motion.spaced(&Spacing::for_cycle(cycle, path_tolerance));
        let motion = spaced.map_err(|missed| slow(format!("{missed}; give it more time there")))?;
        motion.check(&self.config.limits).map_err(|unfit| slow(unfit.with_remedy())).map(|()| motion)
    }

    /// Returns the state of the arm, and the period of the robot's states, from a short session without commands.
    pub(super) fn stands_as(&self) -> Result<(State<N>, CoreDuration), Failure> {
        let none = || Failure::Connection("the robot's states ended before the first".into());
        // The session that follows reports everything.
        let mut states = self.states_in(Format::Silent)?;
        let mut newest = states.next().ok_or_else(none)??;
        let mut cycle = CoreDuration::from_micros(u64::MAX);
        for _ in 0..LOOKED_AT {
            let state = states.next().ok_or_else(none)??;
            let passed = state.controller_time.since(newest.controller_time);
            // A lost state makes the interval longer, never shorter.
            if passed > CoreDuration::ZERO {
                cycle = cycle.min(passed);
            }
            newest = state;
        }
        Ok((newest, cycle.min(LONGEST)))
    }
}

/// The progress of a motion, as [`attended`] observes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FollowProgress {
    pub(super) progress: Progress,
    /// The part of the motion that was completed, as time since its start at full speed.
    pub(super) elapsed: CoreDuration,
    /// The reason why the motion has ended for good, with the arm still commanded.
    pub(super) against: Option<Reason>,
    /// The reason why a stopped motion is not resumed, although that was requested.
    pub(super) refused: Option<Reason>,
    /// `true` if a contact of the tool has ended the motion, with the arm still commanded.
    pub(super) touched: bool,
    /// `true` if the motion was cancelled on request.
    pub(super) cancelled: bool,
}

/// Waits until the session's motion has ended for good: completed, ended by a contact or a reason of its own, or
/// abandoned after a stop. After each stop, `asks` decides whether the motion is resumed.
pub(super) fn attended<const N: usize, E: Send + 'static>(
    running: Running<N, E>,
    stands: impl Fn() -> FollowProgress,
    patience: Duration,
    watch: &mut dyn FnMut(),
    asks: &mut dyn FnMut(&Stopped) -> bool,
) -> Result<Ended, Failure> {
    let (mut waited, mut why) = (Duration::ZERO, None);
    while !running.has_ended() {
        watch();
        std::thread::sleep(GLANCE);
        waited += GLANCE;
        for event in running.events() {
            if let Event::Transition(Transition { from: Mode::Command, reason, .. }) = event {
                why = reason;
            }
        }
        let (seen, stands) = (running.seen(), stands());
        let elapsed = Duration::from_micros(stands.elapsed.as_micros());
        match (seen.mode, stands.progress) {
            (Mode::Command, Progress::Finished) => {
                std::thread::sleep(GLANCE);
                return running.end(if stands.cancelled { ReleasedBy::Cancelled } else { ReleasedBy::Finished });
            }
            (Mode::Command, _) if stands.touched => return running.end(ReleasedBy::Contact),
            (Mode::Command, _) if stands.against.is_some() => {
                let ended = running.end(stands.against.map_or(ReleasedBy::Refused, ReleasedBy::Unfinished))?;
                return Ok(stands.against.map_or(ended, Ended::Fallback));
            }
            // The arm is released, and `asks` is called again.
            (Mode::Command, Progress::Suspended) if stands.refused.is_some() => running.release(),
            // `asks` is not called for a session that is ending.
            (Mode::Monitor | Mode::Offline, Progress::Suspended) if seen.ending => {}
            (Mode::Monitor | Mode::Offline, Progress::Suspended) => {
                let reason = stands.refused.or(seen.latch).or(why);
                let released = seen.released.filter(|_| reason.is_none_or(Reason::is_release));
                let stopped = Stopped { reason, released, unmet: seen.unmet, elapsed };
                let goes_on_anyway = || !matches!(running.seen().mode, Mode::Monitor | Mode::Offline);
                if !asks(&stopped) {
                    // Another client may have resumed it in the meantime.
                    if goes_on_anyway() {
                        continue;
                    }
                    let ended = running.end(ReleasedBy::Abandoned)?;
                    // A release is reported with its cause.
                    return Ok(stopped.reason.filter(|reason| !reason.is_release()).map_or(ended, Ended::Fallback));
                }
                goes_on(&running);
            }
            (Mode::Monitor | Mode::Offline, Progress::Waiting) => {
                if let Some(latch) = seen.latch {
                    running.end(ReleasedBy::Refused)?;
                    return Ok(Ended::Fallback(latch));
                }
                if waited > patience {
                    drop(running);
                    let unmet = reason_text::of_unmet(seen.unmet, None, reason_text::Observer::Process, false);
                    return Err(Failure::Fault(format!(
                        "commanding did not start.{}",
                        reason_text::one_per_line(&unmet)
                    )));
                }
            }
            _ => {}
        }
    }
    running.wait()
}

/// Acknowledges the reason of the stop, and resumes the motion as soon as no precondition of commanding prevents it. If
/// that takes long, the caller's `asks` is called again.
fn goes_on<const N: usize, E: Send + 'static>(running: &Running<N, E>) {
    for _ in 0..40 {
        if running.has_ended() {
            return;
        }
        std::thread::sleep(GLANCE / 5);
        let seen = running.seen();
        // Not earlier: a robot that has stopped by itself must be ready again, and our own program there must have
        // ended.
        if seen.latch.is_some() && seen.unmet.iter().all(|reason| reason == Reason::Latched) {
            running.acknowledge();
        }
        if seen.latch.is_none() && seen.unmet.is_empty() {
            running.resume(&seen);
            // By then the arm is armed, or the request was rejected.
            for _ in 0..50 {
                if running.seen().mode != Mode::Monitor {
                    return;
                }
                std::thread::sleep(GLANCE / 25);
            }
            return;
        }
    }
}

/// Returns the largest allowed distance of a joint from the position where a motion resumes \[rad\]: the widest path
/// tolerance, or the default if there is none.
fn goes_on_within<const N: usize>(tolerances: &Tolerances<N>) -> f32 {
    let widest = tolerances.path.iter().filter(|path| path.is_finite()).fold(0.0_f32, f32::max);
    if widest > 0.0 { widest } else { JointServoConfig::default().path_tolerance }
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::ur::{Ur, UrConfig};

    use super::super::controller_kinds::{Job, SessionRunner};
    use super::*;
    use crate::host::os::INTERRUPT;
    use crate::panel::Operators;
    use crate::run::RunResult;
    use crate::run::state_publisher::{SessionState, Subscriber};

    const GOAL: JointPositions<2> = JointPositions([0.5, 0.0]);

    /// Returns the result of a tested motion to [`GOAL`] whose duration has passed. `at` is the last measured position
    /// of the first joint \[rad\].
    fn followed(at: f32, cancelled: bool, ended: Ended) -> Followed<2> {
        let at = Some(JointPositions([at, 0.0]));
        let mut trace = Trace::default();
        (trace.progress, trace.at, trace.cancelled) = (Progress::Finished, at, cancelled);
        Followed::of(ended, &mut trace, &JointPositions::ZERO, &GOAL, &Tolerances::DEFAULT)
    }

    #[test]
    fn the_joint_is_compared_with_the_goal_where_it_was_measured_last_and_the_goal_tolerance_judges_it() {
        let finished = Ended::Released(ReleasedBy::Finished);
        // The joint is 0.2° off after a pause, which is within 0.1 rad. The distance is reported.
        let off = followed(0.5 - 0.0035, false, finished);
        assert!(off.is_done && (off.end_error.max_abs() - 0.0035).abs() < 1e-5, "{off:?}");
        assert!(!followed(0.38, false, finished).is_done, "0.12 rad off");
        assert!(!followed(0.5, true, finished).is_done, "cancelled");
        assert!(!followed(0.5, false, Ended::Fallback(Reason::ProtectiveStop)).is_done);
        assert!(followed(0.5, false, Ended::Released(ReleasedBy::Request)).is_done, "released at its end");
    }

    #[test]
    fn without_a_state_since_it_began_the_arm_is_where_it_was_before() {
        let mut trace = Trace::default();
        let ended = Ended::Fallback(Reason::GradeLow);
        let at = JointPositions([0.2, 0.0]);
        let refused = Followed::of(ended, &mut trace, &at, &GOAL, &Tolerances::DEFAULT);
        assert!(!refused.has_begun() && !refused.is_done);
        assert!((refused.end_error.max_abs() - 0.3).abs() < 1e-6, "{refused:?}");
    }

    /// A simulated runner of a session whose motion was stopped by Ctrl-C, and which ends a little later.
    struct Interrupted;

    type UrEvent = <Ur<'static> as outrigger_core::engine::ControllerKind>::Event;

    impl SessionRunner<6, Ur<'static>> for Interrupted {
        fn command(
            &self,
            _: Job<6, Ur<'static>>,
            _: Operators,
            watcher: Subscriber<6, UrEvent>,
        ) -> Result<RunResult, Failure> {
            let stopped = SessionState { mode: Mode::Monitor, ending: true, ..SessionState::default() };
            watcher.seen.iter().for_each(|seen| *seen.lock().expect("nobody panics") = stopped.clone());
            std::thread::sleep(GLANCE * 4);
            Ok(RunResult::of_release(ReleasedBy::Signal(INTERRUPT)))
        }

        fn look(&self, _: UrConfig, _: Format, _: Operators, _: Subscriber<6, UrEvent>) -> Result<(), Failure> {
            Ok(())
        }
    }

    #[test]
    fn whoever_ends_a_motion_by_control_c_is_not_asked_whether_it_goes_on() {
        let robot = Robot::ur("127.0.0.1").expect("an address").quiet();
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let beside: Arc<dyn SessionRunner<6, Ur<'static>>> = Arc::new(Interrupted);
        let running = Running::start(&beside, robot.job(law, None).expect("a job"), false).expect("a thread");
        let stands = || FollowProgress {
            progress: Progress::Suspended,
            elapsed: CoreDuration::from_secs(1),
            against: None,
            refused: None,
            touched: false,
            cancelled: false,
        };
        let mut asks = |_: &Stopped| panic!("nobody is to be asked");
        let ended = attended(running, stands, Duration::from_secs(60), &mut || {}, &mut asks).expect("it ends");
        assert_eq!(ended, Ended::Released(ReleasedBy::Signal(INTERRUPT)));
    }
}
