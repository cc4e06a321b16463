//! A motion to one place, which the controller makes by itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_core::command::JointMove;
use outrigger_core::engine::ur::{CommandPath, Ur};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::robot::JointPositions;

use super::{Ended, Robot, Running};
use crate::clock::std_now;
use crate::exit::Failure;
use crate::motion::{Given, Giving, Step, Task};

/// How often it is looked at.
const GLANCE: Duration = Duration::from_millis(50);
/// An arm is where it is to be, where no joint is further from there \[rad\].
const THERE: f32 = 1e-4;
/// The same once the controller has made the move: its drives may be off by so much \[rad\].
const ARRIVED: f32 = 0.01;

/// How an arm went to one place.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// How the session ended.
    pub ended: Ended,
    /// The controller has made the move, and the arm is there.
    pub is_done: bool,
    /// How long it took from the request on.
    pub elapsed: Duration,
    /// How far each joint is from there at the end \[rad\].
    pub end_error: JointPositions<6>,
}

impl Robot<6, Ur<'static>> {
    /// Requests once, has the controller move the arm to `goal` \[rad\] by its own `movej`, and returns when it is at rest again:
    /// there, after a fallback, or released by SIGINT, SIGTERM or SIGHUP. All joints begin and rest together; the one with the
    /// longest way reaches `speed` \[rad/s\] by `acceleration` \[rad/s²\]. The robot's speed slider slows it, and holds it at 0.
    ///
    /// A program of ours on the controller makes the move, whatever [`path`](outrigger_core::engine::ur::UrOptions::path) says,
    /// and stops the arm where nothing comes from here for `text.hold`.
    ///
    /// # Errors
    /// [`Failure::BadInput`], before anything moves, for what is no move and what is beyond the limits; [`Failure::Fault`] where
    /// the move was refused once commanding; otherwise those of [`run`](Self::run).
    pub fn move_to(&self, goal: JointPositions<6>, speed: f32, acceleration: f32) -> Result<Arrival, Failure> {
        self.move_to_watched(goal, speed, acceleration, |_, _| {})
    }

    /// The same, and `watch` is called several times a second, with where the arm stood at first.
    pub(crate) fn move_to_watched(
        &self,
        goal: JointPositions<6>,
        speed: f32,
        acceleration: f32,
        mut watch: impl FnMut(&Given<6>, &JointPositions<6>),
    ) -> Result<Arrival, Failure> {
        let asked = self.asked(goal, speed, acceleration)?;
        let ((from, _), begun) = (self.stands()?, std_now());
        let error = |at: &JointPositions<6>| at.zip_with(goal.as_array(), |at, goal| (at - goal).abs());
        let (elapsed, end_error) = (Duration::ZERO, error(&from));
        if end_error.max_abs() < THERE {
            return Ok(Arrival { ended: Ended::Released, is_done: true, elapsed, end_error });
        }
        // One that `outrigger replay` knows.
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let told = Arc::<Mutex<Given<6>>>::default();
        let mut job = self.job(law, None)?;
        job.config.peer.path = CommandPath::Player;
        job.task = Some(Task::Give(Giving::new(asked, Arc::clone(&told))));
        let running = Running::start(&self.beside, job, true)?;
        let glance = || *told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut given = glance();
        while !running.has_ended() && !matches!(given.step, Step::Ended | Step::Refused(_)) {
            watch(&given, &from);
            std::thread::sleep(GLANCE);
            given = glance();
        }
        let ended = running.stop()?;
        given = glance();
        if let Step::Refused(reason) = given.step {
            let (text, name, advice) = (reason.text(), reason.name(), reason.advice());
            return Err(Failure::Fault(format!("the move was refused: {text} ({name}); {advice}")));
        }
        let end_error = error(&given.at.unwrap_or(from));
        let is_done = given.step == Step::Ended && ended == Ended::Released && end_error.max_abs() < ARRIVED;
        Ok(Arrival { ended, is_done, elapsed: begun.elapsed(), end_error })
    }

    /// What is asked for, where no limit speaks against it wherever the arm stands.
    fn asked(&self, goal: JointPositions<6>, speed: f32, acceleration: f32) -> Result<JointMove<6>, Failure> {
        let asked = JointMove::new(goal, speed, acceleration).ok_or_else(|| {
            Failure::BadInput(format!(
                "found the goal {:?}, speed {speed} and acceleration {acceleration}, expected numbers, the last two above 0",
                goal.0
            ))
        })?;
        let limits = &self.config.limits;
        let ranges = limits.position_min.iter().zip(limits.position_max.iter());
        for ((joint, to), (least, most)) in (1..).zip(goal.iter()).zip(ranges) {
            if !(least..=most).contains(&to) {
                let what = format!("joint {joint}: found {to} rad, expected {least} to {most}");
                return Err(Failure::BadInput(what));
            }
        }
        let fastest = |limits: &[f32; 6]| limits.iter().copied().fold(0.0, f32::max);
        for (what, found, most) in [
            ("speed", speed, fastest(limits.velocity.as_array())),
            ("acceleration", acceleration, fastest(limits.acceleration.as_array())),
        ] {
            if found > most {
                return Err(Failure::BadInput(format!("found {what} {found}, expected at most {most} (limits)")));
            }
        }
        Ok(asked)
    }
}
