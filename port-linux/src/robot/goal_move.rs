//! Moves the arm to one goal by the controller's own motion.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_core::command::{ArmPosition, Destination, LocateError, MoveTarget};
use outrigger_core::engine::ur::{CommandPath, Ur};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointPositions, State};

use super::{Ended, Robot, Running};
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::motion::{MoveExecutor, MoveProgress, MoveRequest, MoveStep, Off, SAME, Task, is_within, rests};
use crate::released::ReleasedBy;

/// The interval at which the progress of the move is checked.
const GLANCE: Duration = Duration::from_millis(50);
/// The distance \[m\] and the rotation \[rad\] within which a tool is already at its goal.
const TOOL_THERE: [f32; 2] = [1e-4, 1e-3];

/// The result of a move to one goal.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The way in which the session of the move ended.
    pub ended: Ended,
    /// `true` if the controller has started the move to the goal.
    pub has_begun: bool,
    /// `true` if the controller has completed the move and the arm is at the goal, or if the arm was there already.
    pub is_done: bool,
    /// The time from the request for the move to the end of the session. Zero if the arm was at the goal already.
    pub elapsed: Duration,
    /// The distance of each measured joint from the goal at the end \[rad\]. The goal is the requested joint angles,
    /// or those that the controller has located for a pose; `None` if it has located none. At the end of a line the
    /// tool decides, and the controller may have chosen other angles.
    pub end_error: Option<JointPositions<6>>,
    /// The distance of the tool from the goal at the end \[m\], and its rotation \[rad\]. `None` for a move to joint
    /// angles that was not linear, and if the pose of the tool is not known.
    pub tool_error: Option<[f32; 2]>,
}

impl Robot<6, Ur<'static>> {
    /// Requests commanding once, makes the controller move the arm to `target`, and returns when it is at standstill
    /// again: at the goal, after a fallback (end of commanding by a fault), or after a release by SIGINT, SIGTERM or
    /// SIGHUP. The robot's speed slider slows the move, and holds it at 0.
    ///
    /// A move to joint angles \[rad\] or to a pose of the tool \[m, rad\] is a `movej`: all joints start and stop
    /// together, and the one with the longest way reaches `speed` \[rad/s\] with `acceleration` \[rad/s²\]. A
    /// [linear](MoveTarget::linear) move is a `movel`: the tool follows a straight line, and reaches `speed` \[m/s\]
    /// with `acceleration` \[m/s²\].
    ///
    /// Our program on the controller executes the move, whatever
    /// [`path`](outrigger_core::engine::ur::UrOptions::path) is configured. It stops the arm if it receives nothing
    /// for `text.hold`. For a pose the controller first locates the joint angles, which are checked against the
    /// limits. The speeds of joints on a line are only known during the move. If a joint exceeds its limit, the arm
    /// is brought to rest, and commanding ends (`NotFollowing`).
    ///
    /// ```no_run
    /// use outrigger::Robot;
    /// use outrigger::core::command::MoveTarget;
    /// use outrigger::wire::robot::Pose;
    ///
    /// let pose = Pose { position: [0.4, -0.2, 0.3], rotation: [0.0, 3.14, 0.0] };
    /// let arrival = Robot::ur("192.168.56.101")?.move_to(MoveTarget::pose(pose).linear(), 0.1, 0.5)?;
    /// println!("{arrival:?}");
    /// # Ok::<(), outrigger::Failure>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`], before anything moves, for a move that is not valid or exceeds the limits, and
    /// for a pose that the arm does not reach according to the controller; [`Failure::Fault`] if the move was
    /// rejected after commanding had started; otherwise the errors of [`run`](Self::run).
    pub fn move_to(&self, target: impl Into<MoveTarget<6>>, speed: f32, acceleration: f32) -> Result<Arrival, Failure> {
        self.move_to_watched(MoveRequest::new(target.into(), Some(speed), Some(acceleration)), |_, _| {})
    }

    /// Moves the arm like [`move_to`](Self::move_to), optionally [in a given time](MoveRequest::lasting). Calls `watch`
    /// every 50 ms, with the progress and the start position of the arm.
    pub fn move_to_watched(
        &self,
        asked: MoveRequest<6>,
        mut watch: impl FnMut(&MoveProgress<6>, &JointPositions<6>),
    ) -> Result<Arrival, Failure> {
        asked.check(&self.config.limits).map_err(Failure::BadInput)?;
        self.check_companions()?;
        let ((stood, _), clock) = (self.stands_as()?, Clock::start());
        let (from, started) = (stood.positions, clock.now());
        if is_there(&asked.target, &stood) {
            rests(&stood.velocities).map_err(Failure::BadInput)?;
            let Off { joints: end_error, tool: tool_error } = Off::of(&asked.target, None, &from, stood.tcp_pose);
            let (ended, elapsed) = (Ended::Released(ReleasedBy::Finished), Duration::ZERO);
            return Ok(Arrival { ended, has_begun: false, is_done: true, elapsed, end_error, tool_error });
        }
        asked.check_time(&from, &self.config.limits).map_err(Failure::BadInput)?;
        // This type of law is known to `outrigger replay`.
        let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let told = Arc::<Mutex<MoveProgress<6>>>::default();
        let mut job = self.job(law, None)?;
        job.config.peer.path = CommandPath::Player;
        job.task = Some(Task::Give(MoveExecutor::new(asked, Arc::clone(&told))));
        let running = Running::start(&self.beside, job, true)?;
        let glance = || *told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut given = glance();
        while !running.has_ended()
            && !matches!(given.step, MoveStep::Ended | MoveStep::Refused(_) | MoveStep::NotFound(_))
        {
            watch(&given, &from);
            std::thread::sleep(GLANCE);
            given = glance();
        }
        let ended = running.end(match given.step {
            _ if given.touched => ReleasedBy::Contact,
            _ if given.cancelled => ReleasedBy::Cancelled,
            MoveStep::Refused(_) | MoveStep::NotFound(_) => ReleasedBy::Refused,
            MoveStep::Waiting | MoveStep::Runs | MoveStep::Ended => ReleasedBy::Finished,
        })?;
        given = glance();
        match given.step {
            MoveStep::Refused(reason) => return Err(self.refused(reason, given.destination.as_ref())),
            MoveStep::NotFound(error) => {
                let what = format!("{error}; {}", error.advice());
                let is_known = error == LocateError::OutOfReach;
                return Err(if is_known { Failure::BadInput(what) } else { Failure::Fault(what) });
            }
            MoveStep::Waiting | MoveStep::Runs | MoveStep::Ended => {}
        }
        let elapsed = Duration::from_micros(clock.now().since(started).as_micros());
        Ok(arrival(&asked.target, &given, &stood, ended, elapsed))
    }

    /// Returns the error for a rejected move, with the joint if it exceeds a limit.
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

/// Returns the result of a move to `target` after the end of the session. `stood` is the state of the arm before the
/// move.
fn arrival(
    target: &MoveTarget<6>,
    given: &MoveProgress<6>,
    stood: &State<6>,
    ended: Ended,
    elapsed: Duration,
) -> Arrival {
    let at = given.at.unwrap_or(stood.positions);
    let off = Off::of(target, given.destination.as_ref(), &at, given.tool.or(stood.tcp_pose));
    let is_over = given.step == MoveStep::Ended && given.begun && !given.cancelled && !given.touched;
    let is_done = is_over && matches!(ended, Ended::Released(_)) && off.is_arrived(target.is_linear());
    let Off { joints: end_error, tool: tool_error } = off;
    Arrival { ended, has_begun: given.begun, is_done, elapsed, end_error, tool_error }
}

/// Returns `true` if the arm is already at the target of the move.
fn is_there(target: &MoveTarget<6>, stood: &State<6>) -> bool {
    match target.place() {
        ArmPosition::Joints(goal) => {
            stood.positions.zip_with(goal.as_array(), |at, goal| (at - goal).abs()).max_abs() < SAME
        }
        ArmPosition::Pose(pose) => {
            stood.tcp_pose.is_some_and(|at| is_within([pose.distance_to(&at), pose.angle_to(&at)], TOOL_THERE))
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_wire::robot::Pose;

    use super::*;

    const GOAL: [f32; 6] = [0.3, 0.0, 0.0, 0.0, 0.0, 0.0];

    fn of(given: &MoveProgress<6>, ended: Ended) -> Arrival {
        let stood = State::default();
        arrival(&MoveTarget::joints(JointPositions(GOAL)), given, &stood, ended, Duration::ZERO)
    }

    #[test]
    fn a_move_that_was_refused_before_it_began_is_as_far_from_its_goal_as_the_arm_is() {
        let refused = of(&MoveProgress::default(), Ended::Fallback(Reason::GradeLow));
        assert!(!refused.is_done && !refused.has_begun);
        assert_eq!(refused.end_error.map(|error| error.max_abs()), Some(0.3));
    }

    #[test]
    fn a_move_is_done_at_its_goal_whoever_releases_the_arm_afterwards_and_not_by_a_contact_or_a_fault() {
        let at = |q: f32| Some(JointPositions([q, 0.0, 0.0, 0.0, 0.0, 0.0]));
        let ended = MoveProgress { at: at(0.2995), begun: true, step: MoveStep::Ended, ..MoveProgress::default() };
        for (given, by, is_done) in [
            (ended, Ended::Released(ReleasedBy::Finished), true),
            (ended, Ended::Released(ReleasedBy::Request), true),
            (ended, Ended::Fallback(Reason::LinkClosed), false),
            (MoveProgress { at: at(0.25), ..ended }, Ended::Released(ReleasedBy::Finished), false),
            (MoveProgress { touched: true, ..ended }, Ended::Released(ReleasedBy::Contact), false),
            (MoveProgress { cancelled: true, ..ended }, Ended::Released(ReleasedBy::Cancelled), false),
            (MoveProgress { step: MoveStep::Runs, ..ended }, Ended::Released(ReleasedBy::Request), false),
        ] {
            assert_eq!(of(&given, by).is_done, is_done, "{given:?} {by:?}");
        }
    }

    #[test]
    fn an_arm_is_at_a_target_from_which_it_is_no_further_than_its_measurement_says() {
        let at = JointPositions([0.1, -1.5, 1.5, -1.6, -1.5, 0.0]);
        let pose = Pose { position: [0.4, -0.2, 0.3], rotation: [0.0, 3.0, 0.0] };
        let stood = State { positions: at, tcp_pose: Some(pose), ..State::default() };
        let there = |target: MoveTarget<6>| is_there(&target, &stood);
        assert!(there(MoveTarget::joints(at.map(|q| q + 5e-5))));
        assert!(there(MoveTarget::joints(at.map(|q| q + 5e-5)).linear()));
        assert!(!there(MoveTarget::joints(at.map(|q| q + 2e-4))));
        let beside = |x: f32| MoveTarget::pose(Pose { position: [0.4 + x, -0.2, 0.3], ..pose });
        assert!(there(beside(5e-5)) && !there(beside(2e-4)));
        assert!(!is_there(&beside(0.0), &State { tcp_pose: None, ..stood }));
    }
}
