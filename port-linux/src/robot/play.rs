//! A motion that the controller makes by itself, waypoint by waypoint.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use outrigger_core::engine::ur::{CommandPath, Ur};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::trajectory::Progress;

use super::{Ended, Followed, Robot, Running};
use crate::exit::Failure;
use crate::motion::{Motion, Played, Playing, Task, Trace, thinned};

/// How often it is looked at, and how many times until it is told how far the motion is.
const GLANCE: StdDuration = StdDuration::from_millis(50);
const TOLD: u32 = 5;
/// So far from where the motion begins each joint may be \[rad\].
const BEGINS_WITHIN: f32 = 0.02;

impl Robot<6, Ur<'static>> {
    /// As [`follow`](Self::follow), but the controller makes the motion by itself: a program of ours there gets its waypoints ahead
    /// of time, and brings the arm to rest where one comes late. Waypoints closer than 40 ms are left out where that changes nothing.
    /// On path `external-control` a program of UR's External Control gets them, and makes the motion.
    ///
    /// # Errors
    /// [`Failure::BadInput`], before anything moves, for a motion that the arm could not make or that begins more than 0.02 rad
    /// away; [`Failure::Fault`] where it ended before its end; otherwise those of [`run`](Self::run).
    pub fn play(&self, motion: &Motion<6>) -> Result<Followed<6>, Failure> {
        self.play_watched(motion, |_| {})
    }

    /// The same, and `watch` is called several times a second.
    pub(crate) fn play_watched(
        &self,
        motion: &Motion<6>,
        mut watch: impl FnMut(&Trace<6>),
    ) -> Result<Followed<6>, Failure> {
        let wrong = |what: String| Failure::BadInput(what);
        let (goal, tolerances, (at, _)) = (motion.goal(), *motion.tolerances(), self.stands()?);
        let mut waypoints = thinned(motion.clone().from_rest_at(at).into_waypoints()).map_err(wrong)?;
        let external = self.config.peer.path == CommandPath::ExternalControl;
        // Its splines begin without an acceleration.
        let begins = waypoints.first().and_then(|first| first.accelerations);
        if external && begins.is_none_or(|begins| begins.max_abs() > 0.0) {
            waypoints.iter_mut().for_each(|waypoint| waypoint.accelerations = None);
        }
        let motion = Motion::through(waypoints);
        let motion = motion.map_err(|unfit| wrong(unfit.to_string()))?;
        motion.check(&self.config.limits).map_err(|unfit| wrong(unfit.to_string()))?;
        let begin = motion.waypoints().first().map_or(at, |first| first.setpoint.positions);
        let off = at.zip_with(begin.as_array(), |q, b| (q - b).abs());
        if off.max_abs() > BEGINS_WITHIN {
            let (joint, off) = (1..).zip(off.0).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, 0.0));
            return Err(wrong(format!(
                "joint {joint} stands {off:.3} rad from where the motion begins, and {BEGINS_WITHIN} rad are allowed where the \
                 controller makes it; go there first, or have the first waypoint due later than at 0 s"
            )));
        }
        let error =
            |last: &outrigger_core::robot::JointPositions<6>| last.zip_with(goal.as_array(), |q, g| (q - g).abs());
        let told = Arc::<Mutex<Played<6>>>::default();
        let Some(playing) = Playing::new(motion.into_waypoints(), Arc::clone(&told)) else {
            let (end_error, elapsed) = (error(&at), StdDuration::ZERO);
            let ended = Ended::Released;
            return Ok(Followed { ended, is_done: true, elapsed, worst: end_error, end_error, moments: vec![] });
        };
        // One that `outrigger replay` knows.
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let mut job = self.job(law, None)?;
        if external {
            let goal_time = &mut job.config.peer.program.goal_time;
            *goal_time = tolerances.goal_time.unwrap_or(*goal_time);
        } else {
            job.config.peer.path = CommandPath::Player;
        }
        job.task = Some(Task::Play(playing));
        let running = Running::start(&self.beside, job, true)?;
        let look = || told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut glances = 0_u32;
        while !running.has_ended() {
            {
                let played = look();
                if played.ended || played.against.is_some() {
                    break;
                }
                if glances.is_multiple_of(TOLD) {
                    watch(&played.trace);
                }
            }
            glances = glances.wrapping_add(1);
            std::thread::sleep(GLANCE);
        }
        let ended = running.stop()?;
        let mut played = look();
        if let (Some(reason), Ended::Released) = (played.against, ended) {
            let (text, name, advice) = (reason.text(), reason.name(), reason.advice());
            return Err(Failure::Fault(format!("{text} ({name}); {advice}")));
        }
        let trace = &mut played.trace;
        Ok(Followed {
            ended,
            is_done: trace.progress == Progress::Finished && ended == Ended::Released,
            elapsed: StdDuration::from_micros(trace.elapsed.as_micros()),
            worst: trace.worst,
            end_error: error(&trace.moments.last().map_or(at, |moment| moment.actual)),
            moments: std::mem::take(&mut trace.moments),
        })
    }
}
