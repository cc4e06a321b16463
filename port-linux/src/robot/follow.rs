//! Following a motion of any length.

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
use crate::motion::{Feeding, Moment, Motion, Start, Task, Trace, begins_beside};
use crate::released::ReleasedBy;
use crate::show::{Format, words};

/// How often it is told how far the motion is.
const GLANCE: Duration = Duration::from_millis(250);

/// So many states tell the robot's cycle.
const LOOKED_AT: usize = 4;
/// The longest cycle of any robot.
const LONGEST: CoreDuration = CoreDuration::from_millis(100);

/// An arm that was stopped on its way, and stands.
#[derive(Clone, Copy, Debug)]
pub struct Stopped {
    /// What stopped it, where that is known.
    pub reason: Option<Reason>,
    /// The cause, where it was a release.
    pub released: Option<ReleasedBy>,
    /// What speaks against going on now.
    pub unmet: ReasonSet,
    /// How much of the motion's own time has passed.
    pub elapsed: Duration,
}

/// How an arm followed a motion.
#[derive(Clone, Debug)]
pub struct Followed<const N: usize> {
    /// How the session ended.
    pub ended: Ended,
    /// The motion came to its end, with each measured joint within the goal's tolerance.
    pub is_done: bool,
    /// How much of the motion's own time passed.
    pub elapsed: Duration,
    /// How far each joint was from where it was wanted, at most \[rad\].
    pub worst: JointPositions<N>,
    /// The distance of each measured joint from the goal, once the session has ended \[rad\].
    pub end_error: JointPositions<N>,
    /// The states while it ran, at most some thousands.
    pub moments: Vec<Moment<N>>,
}

impl<const N: usize> Followed<N> {
    /// Returns whether the arm has set out on it.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        !self.moments.is_empty()
    }

    /// Judges a motion to `goal` that ended so, of an arm that was at `at` before. It is done where its own time is over and each
    /// measured joint is within the goal's tolerance.
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

    /// The result of a motion of no length: nothing was sent, and the joints are `off` from its position \[rad\].
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
    /// Requests once, moves the arm along `motion`, and returns when it is at rest again: at the end, after a fallback, or
    /// released by SIGINT, SIGTERM or SIGHUP. The motion's time goes as fast as the robot's speed slider lets it.
    ///
    /// It is held to the motion's tolerances. Each joint has to be within 0.02 rad of where the motion begins, or within its tolerance
    /// on the path where that is less; a motion whose first waypoint is due later begins where the arm is. If all waypoints are at one
    /// position, it is done at once if the arm is already there, and nothing is sent.
    ///
    /// # Errors
    /// [`Failure::BadInput`], before anything moves, for a motion that the arm could not make or that begins elsewhere;
    /// otherwise those of [`run`](Self::run).
    pub fn follow(&self, motion: &Motion<N>) -> Result<Followed<N>, Failure> {
        self.follow_watched(motion, |_| {}, None)
    }

    /// The same, and where something stops the arm on the way, `asks` is called, for as long as it likes: where it says so, what
    /// is latched is acknowledged, and the motion goes on from where it stands. Whoever answers has seen why it was stopped, and
    /// that nobody is in the way. It is asked again where that cannot be yet, or where the arm is stopped again.
    ///
    /// # Errors
    /// Those of [`follow`](Self::follow).
    pub fn follow_resuming(
        &self,
        motion: &Motion<N>,
        mut asks: impl FnMut(&Stopped) -> bool,
    ) -> Result<Followed<N>, Failure> {
        self.follow_watched(motion, |_| {}, Some(&mut asks))
    }

    /// Follows it, and `watch` is called several times a second; without `asks` the first stop is the end.
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
        // One that `outrigger replay` knows.
        let law = AnyLaw::JointServo(law);
        let trace = Arc::<Mutex<Trace<N>>>::default();
        let mut job = self.job(law, None)?;
        job.task = Some(Task::Feed(Feeding::new(motion.into_waypoints(), next, Some(Arc::clone(&trace)))));
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
                    Stands { progress: trace.progress, elapsed: trace.elapsed, against, refused, touched, cancelled }
                };
                attended(running, stands, patience, &mut || watch(&trace), asks)?
            }
        };
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Followed::of(ended, &mut trace, &at, &goal, &tolerances))
    }

    /// The motion for a robot with this cycle.
    fn in_cycles(&self, motion: Motion<N>, cycle: CoreDuration, path_tolerance: f32) -> Result<Motion<N>, Failure> {
        let slow = |what: String| {
            self.unfit(format!("in cycles of {} ms, as the robot has them, {what}", cycle.as_micros() as f64 * 1e-3))
        };
        let spaced = motion.spaced(&Spacing::for_cycle(cycle, path_tolerance));
        let motion = spaced.map_err(|missed| slow(format!("{missed}; give it more time there")))?;
        motion.check(&self.config.limits).map_err(|unfit| slow(unfit.with_remedy())).map(|()| motion)
    }

    /// How the arm stands, and how long a cycle of the robot is.
    pub(super) fn stands_as(&self) -> Result<(State<N>, CoreDuration), Failure> {
        let none = || Failure::Connection("the robot's states ended before the first".into());
        // The session that follows tells all of it.
        let mut states = self.states_in(Format::Silent)?;
        let mut newest = states.next().ok_or_else(none)??;
        let mut cycle = CoreDuration::from_micros(u64::MAX);
        for _ in 0..LOOKED_AT {
            let state = states.next().ok_or_else(none)??;
            let passed = state.controller_time.since(newest.controller_time);
            // A state that was lost makes it longer, never shorter.
            if passed > CoreDuration::ZERO {
                cycle = cycle.min(passed);
            }
            newest = state;
        }
        Ok((newest, cycle.min(LONGEST)))
    }
}

/// How a motion stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stands {
    pub(super) progress: Progress,
    /// How much of its own time has passed.
    pub(super) elapsed: CoreDuration,
    /// What has ended it for good, with the arm still commanded.
    pub(super) against: Option<Reason>,
    /// Why it is not gone on with.
    pub(super) refused: Option<Reason>,
    /// A contact of the tool has ended it, with the arm still commanded.
    pub(super) touched: bool,
    /// Somebody has ended it.
    pub(super) cancelled: bool,
}

/// Until the motion is done, or given up.
pub(super) fn attended<const N: usize, E: Send + 'static>(
    running: Running<N, E>,
    stands: impl Fn() -> Stands,
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
            // The arm is let go, and somebody asked again.
            (Mode::Command, Progress::Suspended) if stands.refused.is_some() => running.release(),
            // Whoever ends the session is not asked.
            (Mode::Monitor | Mode::Offline, Progress::Suspended) if seen.ending => {}
            (Mode::Monitor | Mode::Offline, Progress::Suspended) => {
                let reason = stands.refused.or(seen.latch).or(why);
                let released = seen.released.filter(|_| reason.is_none_or(Reason::is_release));
                let stopped = Stopped { reason, released, unmet: seen.unmet, elapsed };
                let goes_on_anyway = || !matches!(running.seen().mode, Mode::Monitor | Mode::Offline);
                if !asks(&stopped) {
                    // Somebody else may have resumed it meanwhile.
                    if goes_on_anyway() {
                        continue;
                    }
                    let ended = running.end(ReleasedBy::Abandoned)?;
                    // A release is told with its cause.
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
                    let unmet = words::of_unmet(seen.unmet, None, words::Observer::Process, false);
                    return Err(Failure::Fault(format!("the request was not granted:{}", words::one_per_line(&unmet))));
                }
            }
            _ => {}
        }
    }
    running.wait()
}

/// Acknowledges, and asks to go on as soon as nothing speaks against it; where that takes long, somebody is asked again.
fn goes_on<const N: usize, E: Send + 'static>(running: &Running<N, E>) {
    for _ in 0..40 {
        if running.has_ended() {
            return;
        }
        std::thread::sleep(GLANCE / 5);
        let seen = running.seen();
        // Not before: what was stopped by the robot itself has to be well again, and our own program there to be ended.
        if seen.latch.is_some() && seen.unmet.iter().all(|reason| reason == Reason::Latched) {
            running.acknowledge();
        }
        if seen.latch.is_none() && seen.unmet.is_empty() {
            running.resume(&seen);
            // Armed, or refused, by then.
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

/// Returns how far any joint may be from where a motion goes on [rad]: no further than the widest tolerance on its path, and where
/// there is none, than the default.
fn goes_on_within<const N: usize>(tolerances: &Tolerances<N>) -> f32 {
    let widest = tolerances.path.iter().filter(|path| path.is_finite()).fold(0.0_f32, f32::max);
    if widest > 0.0 { widest } else { JointServoConfig::default().path_tolerance }
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::ur::{Ur, UrConfig};

    use super::super::beside::{Beside, Job};
    use super::*;
    use crate::host::os::INTERRUPT;
    use crate::panel::Operators;
    use crate::run::Finished;
    use crate::run::attached::{Seen, Watcher};

    const GOAL: JointPositions<2> = JointPositions([0.5, 0.0]);

    /// A motion whose own time is over, of an arm whose joint was measured there last.
    fn followed(at: f32, cancelled: bool, ended: Ended) -> Followed<2> {
        let at = Some(JointPositions([at, 0.0]));
        let mut trace = Trace::default();
        (trace.progress, trace.at, trace.cancelled) = (Progress::Finished, at, cancelled);
        Followed::of(ended, &mut trace, &JointPositions::ZERO, &GOAL, &Tolerances::DEFAULT)
    }

    #[test]
    fn the_joint_is_compared_with_the_goal_where_it_was_measured_last_and_the_goal_tolerance_judges_it() {
        let finished = Ended::Released(ReleasedBy::Finished);
        // 0.2° off after a pause: within 0.1 rad, and told.
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

    /// A session whose motion was stopped by Ctrl-C, which ends it a little later.
    struct Interrupted;

    type UrEvent = <Ur<'static> as outrigger_core::engine::ControllerKind>::Event;

    impl Beside<6, Ur<'static>> for Interrupted {
        fn command(
            &self,
            _: Job<6, Ur<'static>>,
            _: Operators,
            watcher: Watcher<6, UrEvent>,
        ) -> Result<Finished, Failure> {
            let stopped = Seen { mode: Mode::Monitor, ending: true, ..Seen::default() };
            watcher.seen.iter().for_each(|seen| *seen.lock().expect("nobody panics") = stopped.clone());
            std::thread::sleep(GLANCE * 4);
            Ok(Finished::of_release(ReleasedBy::Signal(INTERRUPT)))
        }

        fn look(&self, _: UrConfig, _: Format, _: Operators, _: Watcher<6, UrEvent>) -> Result<(), Failure> {
            Ok(())
        }
    }

    #[test]
    fn whoever_ends_a_motion_by_control_c_is_not_asked_whether_it_goes_on() {
        let robot = Robot::ur("127.0.0.1").expect("an address").quiet();
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let beside: Arc<dyn Beside<6, Ur<'static>>> = Arc::new(Interrupted);
        let running = Running::start(&beside, robot.job(law, None).expect("a job"), false).expect("a thread");
        let stands = || Stands {
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
