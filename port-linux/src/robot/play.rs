//! A motion that the controller makes by itself, waypoint by waypoint.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use outrigger_config::End;
use outrigger_core::engine::ur::{CommandPath, Ur};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;

use super::follow::{Stands, attended};
use super::{Followed, Robot, Running, Stopped};
use crate::exit::Failure;
use crate::motion::{Motion, Played, Playing, Start, Task, Trace, begins_beside, thinned};

impl Robot<6, Ur<'static>> {
    /// As [`follow`](Self::follow), but the controller makes the motion by itself: a program of ours there gets its waypoints ahead
    /// of time, and brings the arm to rest where one comes late. Waypoints closer than 40 ms are left out where that changes nothing.
    /// On path `external-control` a program of UR's External Control gets them, and makes the motion.
    ///
    /// It is held to the motion's tolerances, in the motion's own time: the controller's target and the measured joints where the
    /// controller says that it is, and the goal after its end.
    ///
    /// # Errors
    /// [`Failure::BadInput`], before anything moves, for a motion that the arm could not make or that begins more than 0.02 rad
    /// away; otherwise those of [`run`](Self::run).
    pub fn play(&self, motion: &Motion<6>) -> Result<Followed<6>, Failure> {
        self.play_watched(motion, |_| {}, None)
    }

    /// The same, and where something stops the arm on the way, `asks` is called: see [`follow_resuming`](Self::follow_resuming).
    /// The arm goes on from where it stands, within the tolerance on the path, onto the path, and on to the goal.
    ///
    /// # Errors
    /// Those of [`play`](Self::play).
    pub fn play_resuming(
        &self,
        motion: &Motion<6>,
        mut asks: impl FnMut(&Stopped) -> bool,
    ) -> Result<Followed<6>, Failure> {
        self.play_watched(motion, |_| {}, Some(&mut asks))
    }

    /// Has it made, and `watch` is called several times a second; without `asks` the first stop is the end.
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
        // Its splines begin without an acceleration.
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
        let told = Arc::<Mutex<Played<6>>>::default();
        let limits = self.config.limits;
        let playing = Playing::new(motion.into_waypoints(), tolerances, limits, Arc::clone(&told));
        // One that `outrigger replay` knows.
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
            let Played { trace, against, refused, touched } = &mut *look();
            // Told once: whoever is asked hears of it.
            let rests = matches!(trace.mode, Mode::Monitor | Mode::Offline);
            let refused = if rests { refused.take() } else { *refused };
            let (against, touched, cancelled) = (*against, *touched, trace.cancelled);
            Stands { progress: trace.progress, elapsed: trace.elapsed, against, refused, touched, cancelled }
        };
        let nobody = &mut |_: &Stopped| false;
        let ended = attended(running, stands, patience, &mut || watch(&look().trace), asks.unwrap_or(nobody))?;
        Ok(Followed::of(ended, &mut look().trace, &at, &goal, &tolerances))
    }
}
