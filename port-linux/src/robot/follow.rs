//! Following a motion of any length.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_config::End;
use outrigger_core::engine::{Event, Peer};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::{JointPositions, Reason, ReasonSet, State};
use outrigger_core::time::Duration as CoreDuration;
use outrigger_core::trajectory::{Progress, Spacing, Tolerances};

use super::{Ended, Robot, Running};
use crate::exit::Failure;
use crate::motion::{Feeding, Moment, Motion, Task, Trace};

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
    /// The motion came to its end.
    pub is_done: bool,
    /// How much of the motion's own time passed.
    pub elapsed: Duration,
    /// How far each joint was from where it was wanted, at most \[rad\].
    pub worst: JointPositions<N>,
    /// How far each joint is from the goal at the end \[rad\].
    pub end_error: JointPositions<N>,
    pub(crate) moments: Vec<Moment<N>>,
}

impl<const N: usize, P: Peer<N> + 'static> Robot<N, P>
where
    P::Event: Send,
    P::Options: Send,
{
    /// Requests once, moves the arm along `motion`, and returns when it is at rest again: at the end, after a fallback, or
    /// released by SIGINT, SIGTERM or SIGHUP. The motion's time goes as fast as the robot's speed slider lets it.
    ///
    /// It is held to the motion's tolerances. The arm has to stand within that on its path of where the motion begins; a motion
    /// whose first waypoint is due later begins where the arm stands.
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
    pub(crate) fn follow_watched(
        &self,
        motion: &Motion<N>,
        mut watch: impl FnMut(&Mutex<Trace<N>>),
        asks: Option<&mut dyn FnMut(&Stopped) -> bool>,
    ) -> Result<Followed<N>, Failure> {
        let goal = motion.goal();
        let (at, cycle) = self.stands()?;
        let motion = motion.clone().from_rest_at(at);
        motion.check(&self.config.limits).map_err(|unfit| Failure::BadInput(unfit.to_string()))?;
        let tolerances = *motion.tolerances();
        tolerances.check().map_err(|bad| Failure::BadInput(format!("the motion's tolerances: {bad}")))?;
        let path_tolerance = begins_within(&tolerances);
        let motion = self.in_cycles(motion, cycle, path_tolerance)?;
        let begin = motion.waypoints().first().map_or(at, |first| first.setpoint.positions);
        let off = at.zip_with(begin.as_array(), |q, b| (q - b).abs());
        let apart = (1..).zip(off.0.into_iter().zip(tolerances.path.iter().map(|path| path.min(path_tolerance))));
        if let Some((joint, (off, most))) = apart.into_iter().find(|(_, (off, most))| off > most) {
            return Err(Failure::BadInput(format!(
                "joint {joint} stands {off:.3} rad from where the motion begins, and {most} rad are allowed; go \
                 there first, or have the first waypoint due later than at 0 s: then the motion begins where the arm stands"
            )));
        }
        let end = motion.waypoints().last().map_or(at, |last| last.setpoint.positions);
        let stays = motion
            .waypoints()
            .iter()
            .all(|way| way.setpoint.positions.zip_with(at.as_array(), |a, b| a - b).max_abs() < 1e-4);
        if stays {
            let end_error = at.zip_with(end.as_array(), |a, b| (a - b).abs());
            let elapsed = Duration::ZERO;
            return Ok(Followed {
                ended: Ended::Released,
                is_done: true,
                elapsed,
                worst: end_error,
                end_error,
                moments: vec![],
            });
        }
        let (trajectory, next) = motion.beginning().map_err(|unfit| Failure::BadInput(unfit.to_string()))?;
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
                    Stands { progress: trace.progress, elapsed: trace.elapsed, against: None, refused: None }
                };
                attended(running, stands, patience, &mut || watch(&trace), asks)?
            }
        };
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let last = trace.moments.last().map_or(at, |moment| moment.actual);
        Ok(Followed {
            ended,
            is_done: trace.progress == Progress::Finished && !trace.cancelled && ended == Ended::Released,
            elapsed: Duration::from_micros(trace.elapsed.as_micros()),
            worst: trace.worst,
            end_error: last.zip_with(goal.as_array(), |q, g| (q - g).abs()),
            moments: std::mem::take(&mut trace.moments),
        })
    }

    /// The motion for a robot with this cycle.
    fn in_cycles(&self, motion: Motion<N>, cycle: CoreDuration, path_tolerance: f32) -> Result<Motion<N>, Failure> {
        let slow = |what: String| {
            Failure::BadInput(format!(
                "in cycles of {} ms, as the robot has them, {what}; give it more time there",
                cycle.as_micros() as f64 * 1e-3
            ))
        };
        let spaced = motion.spaced(&Spacing::for_cycle(cycle, path_tolerance));
        let motion = spaced.map_err(|missed| slow(missed.to_string()))?;
        motion.check(&self.config.limits).map_err(|unfit| slow(unfit.to_string())).map(|()| motion)
    }

    /// Where the arm stands, and how long a cycle of the robot is.
    pub(super) fn stands(&self) -> Result<(JointPositions<N>, CoreDuration), Failure> {
        self.stands_as().map(|(state, cycle)| (state.positions, cycle))
    }

    /// How the arm stands, and how long a cycle of the robot is.
    pub(super) fn stands_as(&self) -> Result<(State<N>, CoreDuration), Failure> {
        let none = || Failure::Connection("the robot's states ended before the first".into());
        let mut states = self.states()?;
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
                running.stop()?;
                return Ok(Ended::Released);
            }
            (Mode::Command, _) if stands.against.is_some() => {
                running.stop()?;
                return Ok(stands.against.map_or(Ended::Released, Ended::Fallback));
            }
            // The arm is let go, and somebody asked again.
            (Mode::Command, Progress::Suspended) if stands.refused.is_some() => running.release(),
            (Mode::Monitor | Mode::Offline, Progress::Suspended) => {
                let reason = stands.refused.or(seen.latch).or(why);
                let stopped = Stopped { reason, unmet: seen.unmet, elapsed };
                let goes_on_anyway = || !matches!(running.seen().mode, Mode::Monitor | Mode::Offline);
                if !asks(&stopped) {
                    // Somebody else may have resumed it meanwhile.
                    if goes_on_anyway() {
                        continue;
                    }
                    let ended = stopped.reason.map_or(Ended::Released, Ended::Fallback);
                    running.stop()?;
                    return Ok(ended);
                }
                goes_on(&running);
            }
            (Mode::Monitor | Mode::Offline, Progress::Waiting) => {
                if let Some(latch) = seen.latch {
                    running.stop()?;
                    return Ok(Ended::Fallback(latch));
                }
                if waited > patience {
                    let unmet: Vec<&str> = seen.unmet.iter().map(Reason::text).collect();
                    drop(running);
                    return Err(Failure::Fault(format!("the request was not granted: {}", unmet.join("; "))));
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

/// How far any joint may be from where a motion begins, or goes on [rad]: no further than the widest tolerance on its path, and where
/// there is none, than the default.
fn begins_within<const N: usize>(tolerances: &Tolerances<N>) -> f32 {
    let widest = tolerances.path.iter().filter(|path| path.is_finite()).fold(0.0_f32, f32::max);
    if widest > 0.0 { widest } else { JointServoConfig::default().path_tolerance }
}
