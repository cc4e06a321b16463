//! Following a motion of any length.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_core::engine::Peer;
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::robot::JointPositions;
use outrigger_core::trajectory::Progress;

use super::{Ended, Robot, Running};
use crate::exit::Failure;
use crate::motion::{Feeding, Moment, Motion, Task, Trace};

/// How often it is told how far the motion is.
const GLANCE: Duration = Duration::from_millis(250);

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
    /// The arm has to stand within 0.2 rad of where the motion begins; a motion whose first waypoint is due later begins
    /// where the arm stands.
    ///
    /// # Errors
    /// [`Failure::BadInput`], before anything moves, for a motion that the arm could not make or that begins elsewhere;
    /// otherwise those of [`run`](Self::run).
    pub fn follow(&self, motion: &Motion<N>) -> Result<Followed<N>, Failure> {
        self.follow_watched(motion, JointServoConfig::default().path_tolerance, |_| {})
    }

    /// The same, and `watch` is called several times a second.
    pub(crate) fn follow_watched(
        &self,
        motion: &Motion<N>,
        path_tolerance: f32,
        mut watch: impl FnMut(&Mutex<Trace<N>>),
    ) -> Result<Followed<N>, Failure> {
        let goal = motion.goal();
        let at = self.stands()?;
        let motion = motion.clone().from_rest_at(at);
        motion.check(&self.config.limits).map_err(|unfit| Failure::BadInput(unfit.to_string()))?;
        let begin = motion.waypoints().first().map_or(at, |first| first.setpoint.positions);
        let off = at.zip_with(begin.as_array(), |q, b| (q - b).abs());
        if off.max_abs() > path_tolerance {
            let (joint, off) = (1..).zip(off.0).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, 0.0));
            return Err(Failure::BadInput(format!(
                "joint {joint} stands {off:.3} rad from where the motion begins, and {path_tolerance} rad are allowed; go \
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
        let fastest = self.config.limits.velocity.iter().fold(f32::INFINITY, |least, limit| least.min(limit));
        let servo = JointServoConfig { path_tolerance, joint_speed: fastest, ..JointServoConfig::default() };
        // One that `outrigger replay` knows.
        let law = AnyLaw::JointServo(JointServo::new(Reference::Absolute(trajectory), servo));
        let trace = Arc::<Mutex<Trace<N>>>::default();
        let mut job = self.job(law, None)?;
        job.task = Some(Task::Feed(Feeding { waypoints: motion.into_waypoints(), next, trace: Arc::clone(&trace) }));
        let running = Running::start(&self.beside, job, true)?;
        while !running.has_ended() {
            watch(&trace);
            std::thread::sleep(GLANCE);
        }
        let ended = running.wait()?;
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let last = trace.moments.last().map_or(at, |moment| moment.actual);
        Ok(Followed {
            ended,
            is_done: trace.progress == Progress::Finished && ended == Ended::Released,
            elapsed: Duration::from_micros(trace.elapsed.as_micros()),
            worst: trace.worst,
            end_error: last.zip_with(goal.as_array(), |q, g| (q - g).abs()),
            moments: std::mem::take(&mut trace.moments),
        })
    }

    /// Where the arm stands.
    pub(super) fn stands(&self) -> Result<JointPositions<N>, Failure> {
        let none = || Failure::Connection("the robot's states ended before the first".into());
        Ok(self.states()?.next().ok_or_else(none)??.positions)
    }
}
