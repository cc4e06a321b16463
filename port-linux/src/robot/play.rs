//! Makes the controller execute a motion by itself, waypoint by waypoint.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use outrigger_config::End;
use outrigger_core::engine::ur::{CommandPath, Ur};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;

use super::follow::{FollowProgress, attended};
use super::{Followed, Robot, Running, Stopped};
use crate::exit::Failure;
use crate::motion::{Motion, PlaybackExecutor, PlaybackProgress, Start, Task, Trace, begins_beside, thinned};

impl Robot<6, Ur<'static>> {
    /// Follows `motion` like [`follow`](Self::follow), but the controller executes the motion: our program there
    /// receives the waypoints in advance, and brings the arm to rest if one is late. Waypoints closer than 40 ms are
    /// omitted if that does not change the motion. On the path `external-control`, UR's External Control program
    /// receives the waypoints and executes the motion.
    ///
    /// The motion is monitored with its tolerances, in its own time: the controller's target and the measured joints
    /// are compared with the motion at the time that the controller reports, and with the goal after the end.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`], before anything moves, for a motion that the arm could not follow or that
    /// starts more than 0.02 rad away; otherwise the errors of [`run`](Self::run).
    pub fn play(&self, motion: &Motion<6>) -> Result<Followed<6>, Failure> {
        self.play_watched(motion, |_| {}, None)
    }

    /// Plays `motion` like [`play`](Self::play), and calls `asks` when something has stopped the arm: see
    /// [`follow_resuming`](Self::follow_resuming). The arm continues from where it is, within the path tolerance,
    /// returns to the path, and moves on to the goal.
    ///
    /// # Errors
    /// Returns the errors of [`play`](Self::play).
    pub fn play_resuming(
        &self,
        motion: &Motion<6>,
        mut asks: impl FnMut(&Stopped) -> bool,
    ) -> Result<Followed<6>, Failure> {
        self.play_watched(motion, |_| {}, Some(&mut asks))
    }

    /// Plays `motion`, and calls `watch` every 0.25 s with the samples of setpoints and measured positions. `asks`
    /// decides whether the motion continues after a stop of the arm; without it the first stop ends the motion.
    pub fn play_watched(
        &self,
        motion: &Motion<6>,
        mut watch: impl FnMut(&Trace<6>),
        asks: Option<&mut dyn FnMut(&Stopped) -> bool>,
    ) -> Result<Followed<6>, Failure> {
        self.check_companions()?;
        let wrong = |what: String| self.unfit(what);
        let (goal, (state, _), tolerances) = (motion.goal(), self.stands_as()?, *motion.tolerances());
        let at = state.positions;
        tolerances.check().map_err(|bad| wrong(format!("the motion's tolerances: {bad}")))?;
        let mut waypoints = thinned(motion.clone().from_rest_at(at).into_waypoints()).map_err(wrong)?;
        let external = self.config.peer.path == CommandPath::ExternalControl;
        // Splines of External Control start without acceleration.
        let begins = waypoints.first().and_then(|first| first.accelerations);
        if external && begins.is_none_or(|begins| begins.max_abs() > 0.0) {
            waypoints.iter_mut().for_each(|waypoint| waypoint.accelerations = None);
        }
        let motion = Motion::through(waypoints);
        let motion = motion.map_err(|unfit| wrong(unfit.to_string()))?.with_tolerances(tolerances);
        let motion = match motion.start_at(at, &state.velocities).map_err(wrong)? {
            Start::There(off) => return Ok(Followed::there(off)),
            Start::Moves(motion) => motion,
        };
        motion.check(&self.config.limits).map_err(|unfit| wrong(unfit.with_remedy()))?;
        let begin = motion.waypoints().first().map_or(at, |first| first.setpoint.positions);
        if let Some(beside) = begins_beside(&at, &begin, &tolerances) {
            return Err(wrong(beside));
        }
        let told = Arc::<Mutex<PlaybackProgress<6>>>::default();
        let limits = self.config.limits;
        let playing = PlaybackExecutor::new(motion.into_waypoints(), tolerances, limits, Arc::clone(&told));
        // This type of law is known to `outrigger replay`.
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let mut job = self.job(law, None)?;
        if !external {
            job.config.peer.path = CommandPath::Player;
        }
        job.task = Some(Task::Play(playing));
        job.run.end = End::Never;
        let patience = StdDuration::from_micros(job.run.start_within.as_micros());
        let running = Running::start(&self.beside, job, true)?;
        let look = || told.lock().unwrap_or_else(PoisonError::into_inner);
        let stands = || {
            let PlaybackProgress { trace, against, refused, touched } = &mut *look();
            // The reason is taken, so that it is reported once.
            let rests = matches!(trace.mode, Mode::Monitor | Mode::Offline);
            let refused = if rests { refused.take() } else { *refused };
            let (against, touched, cancelled) = (*against, *touched, trace.cancelled);
            FollowProgress { progress: trace.progress, elapsed: trace.elapsed, against, refused, touched, cancelled }
        };
        let nobody = &mut |_: &Stopped| false;
        let ended = attended(running, stands, patience, &mut || watch(&look().trace), asks.unwrap_or(nobody))?;
        Ok(Followed::of(ended, &mut look().trace, &at, &goal, &tolerances))
    }
}
