//! Passes a move to one goal to the controller as soon as possible, and records its progress.

use std::sync::{Arc, Mutex};

use outrigger_core::command::{ArmPosition, Destination, JointMove, Limits, LocateError, MoveTarget};
use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mirrored, Mode, MoveNumber, Offer};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointPositions, Pose};
use outrigger_wire::time::{Duration, Instant};

use super::motion_start::SAME;
use super::stage::MotionStage;

/// The longest time for which a move is offered again to a controller that cannot start it yet, e.g. because the arm is
/// not at standstill. It counts from the first attempt.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The largest accepted distance of a goal from the base, beyond the reach of any arm \[m\].
const FARTHEST: f32 = 5.0;

/// A requested move to one goal. Speed and acceleration are those of joints \[rad/s, rad/s²\], or of the tool on a
/// line \[m/s, m/s²\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveRequest<const N: usize> {
    /// The goal of the move: joint positions or a pose.
    pub target: MoveTarget<N>,
    /// The highest speed of the move: of the joint with the longest way \[rad/s\], or of the tool on a line \[m/s\].
    pub speed: f32,
    /// The acceleration at the start and at the end of the move: of joints \[rad/s²\], or of the tool on a line
    /// \[m/s²\].
    pub acceleration: f32,
    /// The duration of the move at full speed, in place of speed and acceleration. Only for a goal that is given as
    /// joint angles and is not approached on a straight line.
    pub time: Option<Duration>,
}

impl<const N: usize> MoveRequest<N> {
    /// Creates a move to `target`. A speed or acceleration that is not given has the default for its kind of move.
    pub fn new(target: MoveTarget<N>, speed: Option<f32>, acceleration: Option<f32>) -> Self {
        let (usual, steep) = if target.is_linear() { (0.1, 0.5) } else { (0.5, 0.8) };
        Self { target, speed: speed.unwrap_or(usual), acceleration: acceleration.unwrap_or(steep), time: None }
    }

    /// Checks the move independently of the arm's position.
    ///
    /// # Errors
    /// Returns what was found, and what is expected.
    pub(crate) fn check(&self, limits: &Limits<N>) -> Result<(), String> {
        let Self { target, speed, acceleration, time } = self;
        let positive = |value: f32| value.is_finite() && value > 0.0;
        if !target.is_finite() || !positive(*speed) || !positive(*acceleration) {
            return Err(format!(
                "found {:?}, speed {speed} and acceleration {acceleration}, expected numbers, the last two above 0",
                target.place()
            ));
        }
        let per = if target.is_linear() { "m/s" } else { "rad/s" };
        let least = JointMove::<N>::LEAST;
        if *speed < least {
            return Err(format!("found speed {speed:?}, expected at least {least:?} {per}"));
        }
        if *acceleration < least {
            return Err(format!("found acceleration {acceleration:?}, expected at least {least:?} {per}²"));
        }
        match target.place() {
            ArmPosition::Joints(goal) => {
                let ranges = limits.position_min.iter().zip(limits.position_max.iter());
                for ((joint, to), (least, most)) in (1..).zip(goal.iter()).zip(ranges) {
                    if !(least..=most).contains(&to) {
                        let remedy = super::beyond_position(to);
                        return Err(format!("joint {joint}: found {to} rad, expected {least} to {most}{remedy}"));
                    }
                }
            }
            ArmPosition::Pose(pose) => {
                let far = Pose::default().distance_to(pose);
                let turn = pose.rotation.iter().map(|value| value * value).sum::<f32>().sqrt();
                if far > FARTHEST {
                    return Err(format!(
                        "found a position {far:.1} m from the base, expected at most {FARTHEST}: x, y and z are in m"
                    ));
                }
                if turn > std::f32::consts::TAU {
                    return Err(format!(
                        "found a rotation of {turn:.2} rad, expected at most 2π: rx, ry and rz are in rad"
                    ));
                }
            }
        }
        if time.is_some() {
            return match (target.known(), target.is_linear()) {
                (Some(_), false) => Ok(()),
                _ => {
                    Err("time: expected only with q=, found a pose or a line, whose length is not known in advance"
                        .into())
                }
            };
        }
        let (of, most) = if target.is_linear() {
            ("a line", [JointMove::<N>::FASTEST_LINE, JointMove::<N>::STEEPEST_LINE])
        } else {
            ("limits", [limits.velocity.max_abs(), limits.acceleration.max_abs()])
        };
        let [fastest, steepest] = most;
        if *speed > fastest {
            return Err(format!("found speed {speed}, expected at most {fastest} {per} ({of})"));
        }
        if *acceleration > steepest {
            return Err(format!("found acceleration {acceleration}, expected at most {steepest} {per}² ({of})"));
        }
        Ok(())
    }
}

/// The largest distance of a joint from its goal at which it has arrived \[rad\]. Drives may be off by as much.
const ARRIVED: f32 = 0.01;
/// The largest distance of a tool from its goal at which it has arrived \[m\], and its largest rotation \[rad\].
const TOOL_ARRIVED: [f32; 2] = [0.002, 0.01];

/// The distance of an arm from the goal of a move: of each joint \[rad\], and of the tool \[m, rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Off<const N: usize> {
    /// The distance of each joint from the goal \[rad\]. `None` if the joint angles of the goal are unknown.
    pub(crate) joints: Option<JointPositions<N>>,
    /// The distance of the tool from the goal \[m\], and its rotation \[rad\]. `None` for a move to joint angles that
    /// is not linear, and if the pose of the tool is not known.
    pub(crate) tool: Option<[f32; 2]>,
}

impl<const N: usize> Off<N> {
    /// Returns the distance of each joint \[rad\] and of the tool \[m, rad\] from the goal `target` of a move, for
    /// joints `at` and a `tool` at this pose. The controller has located the goal at `destination`.
    pub(crate) fn of(
        target: &MoveTarget<N>,
        destination: Option<&Destination<N>>,
        at: &JointPositions<N>,
        tool: Option<Pose>,
    ) -> Self {
        let (goal, pose) = match target.place() {
            ArmPosition::Joints(goal) => (Some(goal), None),
            ArmPosition::Pose(pose) => (None, Some(pose)),
        };
        let goal = destination.map(|destination| &destination.joints).or(goal);
        let pose = destination.and_then(|destination| destination.line.as_ref()).or(pose);
        Self {
            joints: goal.map(|goal| at.zip_with(goal.as_array(), |at, goal| (at - goal).abs())),
            tool: pose.zip(tool).map(|(to, at)| [to.distance_to(&at), to.angle_to(&at)]),
        }
    }

    /// Returns `true` if the distance from the goal of the move is within the accuracy of drives. For a line the tool
    /// decides, and the joints may have other angles.
    pub(crate) fn is_arrived(&self, is_linear: bool) -> bool {
        let joints = is_linear || self.joints.is_some_and(|joints| joints.max_abs() < ARRIVED);
        joints && self.tool.is_none_or(|off| is_within(off, TOOL_ARRIVED))
    }
}

/// Returns `true` if a tool's distance \[m\] and rotation \[rad\] from its goal are both within the given limits.
pub(crate) fn is_within([off, turned]: [f32; 2], [most, most_turned]: [f32; 2]) -> bool {
    off <= most && turned <= most_turned
}

/// A move that is to be given to the controller, and the record of its progress.
#[derive(Debug)]
pub(crate) struct MoveExecutor<const N: usize> {
    asked: MoveRequest<N>,
    /// `true` if the controller was requested to locate the goal of the move. Its answer is in `destination`.
    is_asked: bool,
    destination: Option<Destination<N>>,
    number: Option<MoveNumber>,
    offer: Offer,
    step: MoveStep,
    cancelled: bool,
    /// `true` if a contact of the tool has ended the move.
    touched: bool,
    /// `true` if the arm was at its goal when the move had ended.
    arrived: bool,
    told: Arc<Mutex<MoveProgress<N>>>,
}

/// The progress of a move that the controller executes.
#[derive(Clone, Copy, Debug)]
pub struct MoveProgress<const N: usize> {
    /// The newest measured joint positions \[rad\]. `None` before the first robot state.
    pub at: Option<JointPositions<N>>,
    pub(crate) tool: Option<Pose>,
    /// The joint angles and the pose of the goal, as located by the controller. `None` until they are known.
    pub destination: Option<Destination<N>>,
    /// The mode of the session that executes the move.
    pub mode: Mode,
    /// The step that the move has reached, from waiting to its end or its rejection.
    pub step: MoveStep,
    /// `true` if the controller has started the move.
    pub(crate) begun: bool,
    /// `true` if the move was cancelled on request.
    pub(crate) cancelled: bool,
    /// `true` if a contact of the tool has ended the move.
    pub(crate) touched: bool,
    /// The reason for which the move is held (paused, e.g. by the speed slider). The move continues by itself when this
    /// reason ends. `None` if it is not held.
    pub held: Option<Reason>,
}

/// The step that a move which the controller executes has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    /// The move was not passed to the controller yet, and waits.
    Waiting,
    /// The controller executes the move.
    Runs,
    /// The move has ended: the program on the controller has reported its end and the arm is at standstill, it was
    /// cancelled before the controller received it, or the arm was at the goal already.
    Ended,
    /// The move was rejected before it started, for this reason.
    Refused(Reason),
    /// The controller could not locate the goal of the move, for this reason.
    NotFound(LocateError),
}

impl<const N: usize> Default for MoveProgress<N> {
    fn default() -> Self {
        Self {
            at: None,
            tool: None,
            destination: None,
            mode: Mode::Offline,
            step: MoveStep::Waiting,
            begun: false,
            cancelled: false,
            touched: false,
            held: None,
        }
    }
}

impl<const N: usize> MoveExecutor<N> {
    pub(crate) const fn new(asked: MoveRequest<N>, told: Arc<Mutex<MoveProgress<N>>>) -> Self {
        let offer = Offer::new(PATIENCE);
        let step = MoveStep::Waiting;
        Self {
            asked,
            is_asked: false,
            destination: None,
            number: None,
            offer,
            step,
            cancelled: false,
            touched: false,
            arrived: false,
            told,
        }
    }

    /// Returns the goal position of each joint in the move \[rad\]. `None` until the controller has located it.
    pub(super) const fn goal(&self) -> Option<&JointPositions<N>> {
        match &self.destination {
            Some(Destination { joints, .. }) => Some(joints),
            None => None,
        }
    }

    /// Records that the move is cancelled. The controller does not receive it any more, if it has not received it yet.
    pub(super) const fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// Records that a contact of the tool has ended the move on the controller.
    pub(super) const fn touch(&mut self) {
        self.touched = true;
    }

    /// Returns the stage of the move (e.g. waiting, running, done), given whether the arm is `commanded`.
    pub(super) fn stands(&self, commanded: bool) -> MotionStage {
        match self.step {
            MoveStep::Ended if self.touched => MotionStage::Touched,
            MoveStep::Ended if self.arrived || self.cancelled => MotionStage::Done,
            MoveStep::Ended => MotionStage::Missed(Reason::GoalTolerance),
            MoveStep::Refused(reason) => MotionStage::Refused(reason),
            MoveStep::NotFound(error) => MotionStage::NotFound(error),
            MoveStep::Waiting | MoveStep::Runs if !commanded => MotionStage::Stopped,
            MoveStep::Waiting => MotionStage::Waits,
            MoveStep::Runs => MotionStage::Runs,
        }
    }

    pub(super) fn observe<P: Controller<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let step = match (self.number, engine.mode()) {
            (None, _) if self.cancelled => Some(MoveStep::Ended),
            (None, _) => self.give(engine, now),
            (Some(number), Mode::Command) => {
                let evidence = engine.evidence();
                let ended = evidence.mirrored.is_some_and(|held| held.value == Mirrored::Ended(number));
                let rests = evidence.at_rest.is_some_and(|held| held.value);
                Some(if ended && rests { MoveStep::Ended } else { MoveStep::Runs })
            }
            _ => None,
        };
        // A final result is not changed by anything that follows.
        if matches!(self.step, MoveStep::Waiting | MoveStep::Runs) {
            self.step = step.unwrap_or(self.step);
            if let (MoveStep::Ended, Some(state)) = (self.step, engine.state()) {
                self.end(&state.positions, state.tcp_pose);
            }
        }
        // If a reader holds the lock, the next state is early enough.
        if let Ok(mut told) = self.told.try_lock() {
            (told.mode, told.held) = (engine.mode(), engine.held_by());
            if let Some(state) = engine.state() {
                (told.at, told.tool) = (Some(state.positions), state.tcp_pose);
            }
            told.destination = self.destination;
            told.step = self.step;
            (told.begun, told.cancelled, told.touched) = (self.number.is_some(), self.cancelled, self.touched);
        }
    }

    /// Records the end of the move, with the arm's joints at `at` and its `tool` at this pose.
    fn end(&mut self, at: &JointPositions<N>, tool: Option<Pose>) {
        self.step = MoveStep::Ended;
        let off = Off::of(&self.asked.target, self.destination.as_ref(), at, tool);
        self.arrived = off.is_arrived(self.asked.target.is_linear());
    }

    fn give<P: Controller<N>, L: Law<N>>(
        &mut self,
        engine: &mut Engine<'_, N, P, L>,
        now: Instant,
    ) -> Option<MoveStep> {
        let commands = engine.mode() == Mode::Command;
        if commands && !self.is_asked {
            self.is_asked = true;
            if let Err(reason) = engine.locate(self.asked.target) {
                return Some(MoveStep::Refused(reason));
            }
        }
        if !self.is_asked {
            return None;
        }
        let destination = match engine.located()? {
            Ok(destination) => *self.destination.insert(destination),
            Err(error) => return Some(MoveStep::NotFound(error)),
        };
        if !commands {
            return None;
        }
        if is_there(&destination, engine) {
            return Some(MoveStep::Ended);
        }
        let from = engine.state()?.positions;
        let [speed, acceleration] =
            self.asked.pace(destination.joints.zip_with(from.as_array(), |to, from| to - from).max_abs());
        let Some(asked) = JointMove::towards(destination, speed, acceleration) else {
            return Some(MoveStep::Refused(Reason::Internal));
        };
        match self.offer.judge(engine.offer(asked, now), now)? {
            Ok(number) => {
                self.number = Some(number);
                Some(MoveStep::Runs)
            }
            Err(reason) => Some(MoveStep::Refused(reason)),
        }
    }
}

/// Returns `true` if the arm is at standstill at the destination of the move, so that nothing needs to be sent. The
/// joints decide, also for a line.
fn is_there<const N: usize, P: Controller<N>, L: Law<N>>(to: &Destination<N>, engine: &Engine<'_, N, P, L>) -> bool {
    let rests = engine.evidence().at_rest.is_some_and(|held| held.value);
    let off = |at: &JointPositions<N>| to.joints.zip_with(at.as_array(), |to, at| to - at).max_abs();
    rests && engine.state().is_some_and(|state| off(&state.positions) < SAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: JointPositions<6> = JointPositions([0.3, 0.0, 0.0, 0.0, 0.0, 0.0]);

    /// Returns the stage of a move to [`GOAL`] that the program on the controller has ended with the first joint at
    /// `at`.
    fn ended(at: f32, touched: bool) -> MotionStage {
        let asked = MoveRequest::new(MoveTarget::joints(GOAL), None, None);
        let mut giving = MoveExecutor::new(asked, Arc::default());
        if touched {
            giving.touch();
        }
        giving.end(&JointPositions([at, 0.0, 0.0, 0.0, 0.0, 0.0]), None);
        giving.stands(true)
    }

    #[test]
    fn a_move_is_done_where_the_arm_is_at_its_goal_and_by_no_other_end() {
        assert_eq!(ended(0.299, false), MotionStage::Done);
        assert_eq!(ended(0.25, false), MotionStage::Missed(Reason::GoalTolerance), "ended short");
        assert_eq!(ended(0.25, true), MotionStage::Touched, "a contact of the tool");
    }

    #[test]
    fn a_speed_or_an_acceleration_that_an_order_cannot_carry_is_refused_with_the_least() {
        let check = |target: MoveTarget<6>, speed, acceleration| {
            MoveRequest::new(target, Some(speed), Some(acceleration)).check(&Limits::default())
        };
        let (joints, line) = (MoveTarget::joints(GOAL), MoveTarget::joints(GOAL).linear());
        for target in [joints, line] {
            assert_eq!(check(target, 1e-6, 1e-6), Ok(()));
        }
        let slow = check(joints, 1e-7, 0.8).expect_err("too slow");
        assert_eq!(slow, "found speed 1e-7, expected at least 1e-6 rad/s");
        let gentle = check(line, 0.1, 1e-20).expect_err("too gentle");
        assert_eq!(gentle, "found acceleration 1e-20, expected at least 1e-6 m/s²");
    }

    #[test]
    fn the_distance_from_a_goal_that_nobody_has_located_is_that_of_what_was_asked_for() {
        let (at, tool) = (JointPositions::ZERO, Pose { position: [0.4, 0.0, 0.3], rotation: [0.0; 3] });
        let joints = Off::of(&MoveTarget::joints(GOAL), None, &at, Some(tool));
        assert_eq!(joints, Off { joints: Some(GOAL), tool: None });
        assert!(!joints.is_arrived(false));
        let pose = Pose { position: [0.4, 0.0, 0.349], ..tool };
        let off = Off::of(&MoveTarget::<6>::pose(pose), None, &at, Some(tool));
        let [distance, turned] = off.tool.expect("a pose has one");
        assert!(off.joints.is_none() && (distance - 0.049).abs() < 1e-6 && turned == 0.0, "{off:?}");
        assert!(!off.is_arrived(true));
        let there = Off::of(&MoveTarget::<6>::pose(tool).linear(), None, &at, Some(tool));
        assert!(there.is_arrived(true) && !there.is_arrived(false), "of a move that is no line the joints count, too");
    }
}
