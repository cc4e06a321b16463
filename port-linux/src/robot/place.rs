//! A motion to one place, which the controller makes by itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_core::command::{Destination, LocateError, MoveTarget, Place};
use outrigger_core::engine::ur::{CommandPath, Ur};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::robot::{JointPositions, Pose, Reason, State};

use super::{Ended, Robot, Running};
use crate::clock::Clock;
use crate::exit::Failure;
use crate::motion::{Asked, Given, Giving, Step, Task};

/// How often it is looked at.
const GLANCE: Duration = Duration::from_millis(50);
/// An arm is where it is to be, where no joint is further from there \[rad\].
const THERE: f32 = 1e-4;
/// The same once the controller has made the move: its drives may be off by so much \[rad\].
const ARRIVED: f32 = 0.01;
/// A tool is where it is to be, where it is no further from there \[m\] and turned no further \[rad\].
const TOOL_THERE: [f32; 2] = [1e-4, 1e-3];
/// The same once the controller has made the move.
const TOOL_ARRIVED: [f32; 2] = [0.002, 0.01];

/// How an arm went to one place.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// How the session ended.
    pub ended: Ended,
    /// The controller has made the move, and the arm is there.
    pub is_done: bool,
    /// How long it took from the request on.
    pub elapsed: Duration,
    /// How far each joint is from there at the end \[rad\]: from the angles that were asked for, or that the controller found for a
    /// pose. At the end of a line the tool counts, and the controller may have chosen other angles.
    pub end_error: JointPositions<6>,
    /// How far the tool is from there at the end \[m\], and how far turned \[rad\]; `None` of a move to joint angles that was not
    /// linear.
    pub tool_error: Option<[f32; 2]>,
}

impl Robot<6, Ur<'static>> {
    /// Requests once, has the controller move the arm to `target`, and returns when it is at rest again: there, after a fallback,
    /// or released by SIGINT, SIGTERM or SIGHUP. The robot's speed slider slows it, and holds it at 0.
    ///
    /// To joint angles \[rad\] or a pose of the tool \[m, rad\] by `movej`: all joints begin and rest together; the one with the longest
    /// way reaches `speed` \[rad/s\] by `acceleration` \[rad/s²\]. To a [linear](MoveTarget::linear) one by `movel`: the tool goes on a
    /// straight line and reaches `speed` \[m/s\] by `acceleration` \[m/s²\].
    ///
    /// A program of ours on the controller makes the move, whatever [`path`](outrigger_core::engine::ur::UrOptions::path) says,
    /// and stops the arm where nothing comes from here for `text.hold`. For a pose the controller is asked first for the joint
    /// angles there, which are held to the limits. How fast joints are on a line is only known while the arm goes: where one
    /// exceeds its limit, the arm is brought to rest, and commanding ends (`NotFollowing`).
    ///
    /// ```no_run
    /// use outrigger::Robot;
    /// use outrigger::core::command::MoveTarget;
    /// use outrigger::core::robot::Pose;
    ///
    /// let pose = Pose { position: [0.4, -0.2, 0.3], rotation: [0.0, 3.14, 0.0] };
    /// let arrival = Robot::ur("192.168.56.101")?.move_to(MoveTarget::pose(pose).linear(), 0.1, 0.5)?;
    /// println!("{arrival:?}");
    /// # Ok::<(), outrigger::Failure>(())
    /// ```
    ///
    /// # Errors
    /// [`Failure::BadInput`], before anything moves, for what is no move, what is beyond the limits, and a pose that the controller
    /// says the arm does not reach; [`Failure::Fault`] where the move was refused once commanding; otherwise those of
    /// [`run`](Self::run).
    pub fn move_to(&self, target: impl Into<MoveTarget<6>>, speed: f32, acceleration: f32) -> Result<Arrival, Failure> {
        self.move_to_watched(Asked { target: target.into(), speed, acceleration }, |_, _| {})
    }

    /// The same, and `watch` is called several times a second, with where the arm stood at first.
    pub(crate) fn move_to_watched(
        &self,
        asked: Asked<6>,
        mut watch: impl FnMut(&Given<6>, &JointPositions<6>),
    ) -> Result<Arrival, Failure> {
        asked.check(&self.config.limits).map_err(Failure::BadInput)?;
        let ((stood, _), clock) = (self.stands_as()?, Clock::start());
        let (from, started) = (stood.positions, clock.now());
        if is_there(&asked.target, &stood) {
            return Ok(Arrival {
                ended: Ended::Released,
                is_done: true,
                elapsed: Duration::ZERO,
                end_error: JointPositions::ZERO,
                tool_error: asked.target.question().map(|_| [0.0; 2]),
            });
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
        while !running.has_ended() && !matches!(given.step, Step::Ended | Step::Refused(_) | Step::NotFound(_)) {
            watch(&given, &from);
            std::thread::sleep(GLANCE);
            given = glance();
        }
        let ended = running.stop()?;
        given = glance();
        match given.step {
            Step::Refused(reason) => return Err(self.refused(reason, given.destination.as_ref())),
            Step::NotFound(error) => {
                let what = format!("{error}; {}", error.advice());
                let is_known = error == LocateError::OutOfReach;
                return Err(if is_known { Failure::BadInput(what) } else { Failure::Fault(what) });
            }
            Step::Waiting | Step::Runs | Step::Ended => {}
        }
        let (at, destination) = (given.at.unwrap_or(from), given.destination);
        let goal = destination.map_or(at, |destination| destination.joints);
        let end_error = at.zip_with(goal.as_array(), |at, goal| (at - goal).abs());
        let line = destination.and_then(|destination| destination.line);
        let pose = line.or(pose_of(&asked.target).copied());
        let tool_error = pose.zip(given.tool).map(|(to, at)| tool_off(&to, &at));
        // On a line the tool counts.
        let joints_are_there = line.is_some() || end_error.max_abs() < ARRIVED;
        let is_there = joints_are_there && tool_error.is_none_or(|off| is_within(off, TOOL_ARRIVED));
        let is_done = given.step == Step::Ended && ended == Ended::Released && destination.is_some() && is_there;
        let elapsed = Duration::from_micros(clock.now().since(started).as_micros());
        Ok(Arrival { ended, is_done, elapsed, end_error, tool_error })
    }

    /// Why the move was refused, with the joint where the limits say so.
    fn refused(&self, reason: Reason, destination: Option<&Destination<6>>) -> Failure {
        let (text, name, advice) = (reason.text(), reason.name(), reason.advice());
        let limits = &self.config.limits;
        if let (Reason::PositionLimit, Some(destination)) = (reason, destination) {
            let ranges = limits.position_min.iter().zip(limits.position_max.iter());
            for ((joint, to), (least, most)) in (1..).zip(destination.joints.iter()).zip(ranges) {
                if !(least..=most).contains(&to) {
                    return Failure::BadInput(format!(
                        "the controller finds joint {joint} at {to:.3} rad there, expected {least} to {most} ({name})"
                    ));
                }
            }
        }
        Failure::Fault(format!("the move was refused: {text} ({name}); {advice}"))
    }
}

const fn pose_of(target: &MoveTarget<6>) -> Option<&Pose> {
    match target.place() {
        Place::Pose(pose) => Some(pose),
        Place::Joints(_) => None,
    }
}

/// How far one pose is from another \[m\], and how far turned \[rad\].
fn tool_off(to: &Pose, at: &Pose) -> [f32; 2] {
    [to.distance_to(at), to.angle_to(at)]
}

fn is_within([off, turned]: [f32; 2], [most, most_turned]: [f32; 2]) -> bool {
    off <= most && turned <= most_turned
}

/// Whether the arm stands there already.
fn is_there(target: &MoveTarget<6>, stood: &State<6>) -> bool {
    match target.place() {
        Place::Joints(goal) => {
            stood.positions.zip_with(goal.as_array(), |at, goal| (at - goal).abs()).max_abs() < THERE
        }
        Place::Pose(pose) => stood.tcp_pose.is_some_and(|at| is_within(tool_off(pose, &at), TOOL_THERE)),
    }
}
