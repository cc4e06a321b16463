//! The simulated arm: its targets, its true motion, its limits and its compliance.

mod compliance;
mod drive;
mod motion;
mod position_history;
pub mod route;
mod tool_motion;

pub use compliance::{Compliance, FREE_DAMPING, ForceFrame, ForceMode, ForceOptions};
pub use drive::Drive;
pub use motion::{Motion, Targets};

use crate::dynamics::{Dynamics, Masses, Payload};
use crate::kinematics::{Chain, Frame, Jacobian, Pose6, Vec3, torques_of};
use crate::model::ArmModel;
use crate::rng::Rng;
use compliance::Situation;
use drive::Motors;
use outrigger_wire::robot::ControlMode;
use position_history::Past;
use route::Route;

/// A limit that the arm's motion exceeded. The controller then stops the arm by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// A joint left its permitted range of positions.
    Position {
        /// Index of the joint that left its range; 0 is the base.
        joint: usize,
    },
    /// The tool cannot reach a pose on the path of its move.
    Reach,
    /// A joint's target speed is above its limit.
    Speed {
        /// Index of the joint that is too fast; 0 is the base.
        joint: usize,
    },
}

/// The simulated arm: its true state, which no interface publishes exactly.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Actual joint positions of the arm \[rad\].
    pub q: [f64; 6],
    /// Actual joint speeds of the arm \[rad/s\].
    pub qd: [f64; 6],
    /// The joint targets that the controller gives the drives.
    pub targets: Targets,
    /// The motion command by which the joint targets change.
    pub motion: Motion,
    /// Pose of the tool centre point in the flange frame, x y z \[m\] rx ry rz \[rad\].
    pub tcp: Pose6,
    /// The speed scaling at present, 0 … 1. It follows the speed slider.
    pub scaling: f64,
    /// The factor, 0 … 1, by which a route (a list of moves) or a `servoj` is slowed down in addition to the speed
    /// scaling, so that no joint exceeds its speed limit.
    pub restraint: f64,
    /// The compliance at present: force mode, freedrive or none.
    pub compliance: Compliance,
    /// The damping of force mode, 0 … 1. It keeps its value until a program sets it again.
    pub damping: f64,
    /// The factor on the speeds of force mode, 0 … 2. It keeps its value until a program sets it again.
    pub gain_scaling: f64,
    /// The force and torque on the tool as the sensor measures them \[N, Nm\], in the base frame.
    pub measured: [f64; 6],
    /// The true force and torque on the tool \[N, Nm\], in the base frame.
    pub push: [f64; 6],
    /// The mass at the tool and its centre, which the dynamics include.
    pub payload: Payload,
    /// `true` while force mode or freedrive can move the arm; `false` while the program is paused or the arm stopped.
    pub yields: bool,
    /// The difference between joint positions and joint targets that force mode has caused \[rad\].
    offset: [f64; 6],
    options: ForceOptions,
    dynamics: Dynamics,
    chain: Chain,
    speed_limits: [f64; 6],
    motors: Motors,
    /// `true` while the drives correct towards the targets of a move with an end: during it, and at rest after it.
    holds: bool,
    past: Past,
    route: Route,
    /// The factor on the speed at which the arm follows its [`Route`], 0 … 1. It decreases to 0 while a pause of the
    /// program holds the arm on its path.
    pace: f64,
    /// `true` if the next move begins before the last move of the [`Route`] has ended, so that the two blend.
    blends: bool,
    /// The time for which all joint velocity targets have been zero, without compliance or direct torque \[s\].
    still: f64,
    dt: f64,
}

/// The rate at which the speed scaling follows the speed slider \[1/s\]: full range in a quarter of a second
/// (assumed).
const SCALING_RATE: f64 = 4.0;
/// The number of past control cycles whose measured joint positions are stored, unless an option sets another number.
pub(crate) const JOINT_HISTORY: usize = 1000;
/// The time without velocity targets after which the URScript function `is_steady` returns `True` \[s\]
/// (`core/docs/protocol/ur-external-control.md 5.3`).
const STEADY: f64 = 0.5;
/// The torque of a joint per current \[Nm/A\]. Assumed; the order of magnitude is right.
const TORQUE_CONSTANT: f64 = 10.0;

impl Arm {
    /// Returns an arm at rest at `q` \[rad\] that steps `dt` \[s\] per control cycle.
    #[must_use]
    pub fn new(model: &ArmModel, drive: &Drive, options: ForceOptions, q: [f64; 6], dt: f64, rng: &mut Rng) -> Self {
        Self {
            q,
            qd: [0.0; 6],
            targets: Targets::at(q),
            motion: Motion::Rest,
            tcp: [0.0; 6],
            scaling: 1.0,
            restraint: 1.0,
            compliance: Compliance::None,
            damping: options.damping,
            gain_scaling: 1.0,
            measured: [0.0; 6],
            push: [0.0; 6],
            payload: Payload::default(),
            yields: true,
            offset: [0.0; 6],
            options,
            dynamics: Dynamics::new(model.lengths, &Masses::of(&model.lengths)),
            chain: Chain::new(model.lengths).within(model.position_limits()),
            speed_limits: model.speed_limits(),
            motors: Motors::new(drive, dt, rng),
            holds: false,
            past: Past::new(JOINT_HISTORY, q),
            route: Route::default(),
            pace: 1.0,
            blends: false,
            still: 0.0,
            dt,
        }
    }

    /// Executes one control cycle of the arm with powered joints. The speed scaling changes towards the value `slider`,
    /// 0 … 1, of the speed slider. Returns the limit that the motion would exceed or has exceeded, if any. Targets
    /// beyond the speed limits are not passed to the drives.
    pub fn step(&mut self, slider: f64) -> Option<Exceeded> {
        let change = SCALING_RATE * self.dt;
        self.scaling += (slider - self.scaling).clamp(-change, change);
        let exceeded = self.move_joints();
        self.past.push(self.q);
        let still = self.targets.qd == [0.0; 6] && self.control_mode() == ControlMode::Position;
        self.still = if still { self.still + self.dt } else { 0.0 };
        exceeded
    }

    fn move_joints(&mut self) -> Option<Exceeded> {
        if self.yields && self.compliance.is_freedrive() {
            self.follow_hand();
            return None;
        }
        if let Motion::Torque { torque, compensation, fresh } = self.motion {
            if fresh {
                self.motion = Motion::Torque { torque, compensation, fresh: false };
                return self.obey_torque(&torque, &compensation);
            }
            self.motion = Motion::Stop { deceleration: self.options.torque_end_deceleration };
        }
        let before = self.targets;
        self.restraint = 1.0;
        self.targets.step(&self.motion, self.scaling, self.dt);
        if let Motion::Servo { lookahead, .. } = self.motion {
            self.restraint = self.targets.restrain(&before, &self.speed_limits, lookahead > 0.0, self.dt);
        }
        if !self.step_tool() {
            return self.brake_on_its_way();
        }
        // A joint that direct torque made too fast is braked, not held.
        let slower = |joint: usize| self.targets.qd[joint].abs() < before.qd[joint].abs();
        let exceeded = self.exceeded().filter(|found| !matches!(found, Exceeded::Speed { joint } if slower(*joint)));
        if matches!(exceeded, Some(Exceeded::Speed { .. })) {
            self.targets = before;
        }
        // The end of a move is held until the arm is to move again.
        self.holds = match self.motion {
            Motion::Route { .. } => true,
            Motion::Servo { .. } | Motion::Reach { .. } | Motion::Torque { .. } => false,
            Motion::Rest | Motion::Speed { .. } | Motion::Stop { .. } | Motion::Twist { .. } => {
                self.holds && self.targets.qd == [0.0; 6]
            }
        };
        let is_position = matches!(self.motion, Motion::Servo { .. } | Motion::Reach { .. });
        let hold = (self.holds || is_position).then_some(self.targets.q);
        let Compliance::Force(mode) = self.compliance else {
            self.drive(self.targets.qd, hold);
            return exceeded;
        };
        // Force mode holds the position of the axes that are not compliant, whatever the motion.
        let away = if self.yields { self.situation().force_mode(&mode) } else { [0.0; 6] };
        let away: [f64; 6] = std::array::from_fn(|j| away[j].clamp(-self.speed_limits[j], self.speed_limits[j]));
        self.offset = std::array::from_fn(|j| self.offset[j] + away[j] * self.dt);
        let held = std::array::from_fn(|j| self.targets.q[j] + self.offset[j]);
        self.motors.step(&mut self.q, std::array::from_fn(|j| self.targets.qd[j] + away[j]), Some(&held), self.dt);
        self.qd = self.motors.qd;
        exceeded
    }

    /// Passes velocity targets `qd` \[rad/s\], and a position target `hold` \[rad\] if there is one, to the drives
    /// and updates the joints.
    fn drive(&mut self, qd: [f64; 6], hold: Option<[f64; 6]>) {
        self.motors.step(&mut self.q, qd, hold.as_ref(), self.dt);
        self.qd = self.motors.qd;
        if hold.is_none() && self.targets.qd == [0.0; 6] && self.qd == [0.0; 6] {
            // At rest the targets are set to the arm's position: the error of one move does not add to the next.
            self.targets.q = self.q;
            if matches!(self.motion, Motion::Stop { .. }) {
                self.motion = Motion::Rest;
            }
        }
    }

    /// Executes one control cycle of freedrive: a hand moves the arm, and the joint targets follow it.
    fn follow_hand(&mut self) {
        let compliance = self.compliance;
        let qd = self.situation().freedrive(&compliance);
        let qd = std::array::from_fn(|j| {
            let outward = !self.chain.has(j, self.q[j]) && self.q[j] * qd[j] > 0.0;
            if outward { 0.0 } else { qd[j].clamp(-self.speed_limits[j], self.speed_limits[j]) }
        });
        self.motion = Motion::Rest;
        self.drive(qd, None);
        self.targets = Targets::at(self.q);
    }

    /// Executes one control cycle under direct torque commands. The true force on the tool acts on the joints as
    /// well. The joint targets follow the arm.
    fn obey_torque(&mut self, torque: &[f64; 6], compensation: &[[f64; 6]; 2]) -> Option<Exceeded> {
        let pushed = torques_of(&self.jacobian(), &self.push);
        let [viscous, coulomb] = self.options.friction;
        let total = std::array::from_fn(|j| {
            let left = |kind: usize, friction: f64| (1.0 - compensation[kind][j]) * friction;
            // Dry friction changes its sign smoothly, so that a standing joint does not chatter.
            let friction = left(0, viscous[j]) * self.qd[j] + left(1, coulomb[j]) * (self.qd[j] / 0.01).tanh();
            torque[j] + pushed[j] - friction
        });
        let before = self.qd;
        self.dynamics.advance(&mut self.q, &mut self.qd, &total, &self.payload, self.dt);
        let qdd = std::array::from_fn(|j| (self.qd[j] - before[j]) / self.dt);
        self.targets = Targets { q: self.q, qd: self.qd, qdd };
        self.offset = [0.0; 6];
        self.motors.qd = self.qd;
        self.exceeded()
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            jacobian: self.jacobian(),
            tool: self.tool(),
            programmed: self.tool_speed_target(),
            measured: self.measured,
            push: self.push,
            options: &self.options,
            damping: self.damping,
            gain_scaling: self.gain_scaling,
        }
    }

    /// Sets the compliance: force mode, freedrive or none. A force mode that replaces another causes no step. When
    /// force mode ends, the joint targets move to the position that it led the arm to.
    pub fn comply(&mut self, compliance: Compliance) {
        if !matches!(compliance, Compliance::Force(_)) {
            self.settle();
        }
        self.compliance = compliance;
    }

    /// Returns the control mode of the joints (`core/docs/protocol/ur-client-interfaces.md 3.13`).
    #[must_use]
    pub fn control_mode(&self) -> ControlMode {
        match (self.compliance, self.motion) {
            (Compliance::Freedrive | Compliance::FreedriveAlong { .. }, _) => ControlMode::Teach,
            (Compliance::Force(_), _) => ControlMode::Force,
            (Compliance::None, Motion::Torque { .. }) => ControlMode::Torque,
            (Compliance::None, _) => ControlMode::Position,
        }
    }

    /// Returns the Jacobian of the tool at the present joint positions.
    #[must_use]
    pub fn jacobian(&self) -> Jacobian {
        self.chain.jacobian(&self.q, &self.tcp)
    }

    /// Returns the kinematic chain of the arm: its joints and links.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the dynamic model of the arm: masses, inertia and Coriolis forces.
    #[must_use]
    pub fn dynamics(&self) -> &Dynamics {
        &self.dynamics
    }

    /// Executes one control cycle with the brakes closed, in which the arm does not move.
    pub fn hold(&mut self) {
        self.motors.block();
        self.offset = [0.0; 6];
        self.holds = false;
        self.qd = [0.0; 6];
        self.past.push(self.q);
        self.still += self.dt;
        self.targets = Targets::at(self.q);
        self.motion = Motion::Rest;
    }

    /// Returns whether the velocity targets are zero and every joint is slower than 1 mrad/s.
    #[must_use]
    pub fn at_rest(&self) -> bool {
        self.targets.qd == [0.0; 6] && self.qd.iter().all(|v| v.abs() < 1e-3)
    }

    /// Returns whether all velocity targets have been zero for half a second, without compliance or direct torque.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.still >= STEADY
    }

    /// Sets the number of control cycles for which measured joint positions are stored, and deletes the stored ones.
    pub fn keep_past(&mut self, cycles: usize) {
        self.past = Past::new(cycles, self.q);
    }

    /// Returns the measured joint positions \[rad\] `cycles` control cycles ago; 0 is the last cycle. `None` if
    /// `cycles` exceeds the number of stored cycles.
    #[must_use]
    pub fn past(&self, cycles: usize) -> Option<[f64; 6]> {
        self.past.get(cycles)
    }

    /// Returns the joint currents \[A\]: friction and acceleration, no gravity. Plausible, not calibrated.
    #[must_use]
    pub fn currents(&self) -> [f64; 6] {
        std::array::from_fn(|joint| {
            let friction = 0.3 * (self.qd[joint] / 0.01).clamp(-1.0, 1.0);
            friction + 0.15 * self.targets.qdd[joint]
        })
    }

    /// Returns the joint torques \[Nm\] that correspond to the simulated joint currents.
    #[must_use]
    pub fn torques(&self) -> [f64; 6] {
        self.currents().map(|current| current * TORQUE_CONSTANT)
    }

    /// Returns whether the joint positions `q` \[rad\] are within the joints' ranges.
    #[must_use]
    pub fn is_within(&self, q: &[f64; 6]) -> bool {
        (0..).zip(q).all(|(joint, angle)| self.chain.has(joint, *angle))
    }

    /// Returns the highest joint speeds that the controller tolerates \[rad/s\].
    #[must_use]
    pub fn speed_limits(&self) -> [f64; 6] {
        self.speed_limits
    }

    /// Returns the first limit that the joint positions or the target speeds exceed; `None` if there is none. A joint
    /// outside its range may still move back in.
    fn exceeded(&self) -> Option<Exceeded> {
        let out = |joint: &usize| {
            let (q, qd) = (self.q[*joint], self.targets.qd[*joint]);
            !self.chain.has(*joint, q) && q * qd > 0.0
        };
        if let Some(joint) = (0..6).find(out) {
            return Some(Exceeded::Position { joint });
        }
        let fast = |joint: &usize| self.targets.qd[*joint].abs() > self.speed_limits[*joint];
        (0..6).find(fast).map(|joint| Exceeded::Speed { joint })
    }

    /// Returns the pose of the tool centre point in the robot's base frame.
    #[must_use]
    pub fn tool(&self) -> Frame {
        self.chain.tool(&self.q, &self.tcp)
    }

    /// Returns the pose of the flange in the robot's base frame.
    #[must_use]
    pub fn flange(&self) -> Frame {
        self.chain.tool(&self.q, &[0.0; 6])
    }

    /// Returns the target pose of the tool, x y z \[m\] rx ry rz \[rad\].
    #[must_use]
    pub fn tool_target(&self) -> Pose6 {
        self.chain.tool(&self.targets.q, &self.tcp).to_pose()
    }

    /// Returns the pose in the base of a tool whose centre point is at `tcp` in the flange frame, for joint positions
    /// `q` \[rad\].
    #[must_use]
    pub fn tool_with(&self, q: &[f64; 6], tcp: &Pose6) -> Pose6 {
        self.chain.tool(q, tcp).to_pose()
    }

    /// Returns the end pose of the newest motion; if that motion has no end, the target pose of the tool.
    #[must_use]
    pub fn waypoint(&self) -> Pose6 {
        match &self.motion {
            Motion::Servo { q, .. } => self.tool_with(q, &self.tcp),
            Motion::Reach { pose, .. } => *pose,
            Motion::Route { .. } => self.end_of_route(),
            Motion::Rest
            | Motion::Speed { .. }
            | Motion::Stop { .. }
            | Motion::Twist { .. }
            | Motion::Torque { .. } => self.tool_target(),
        }
    }

    /// Returns the joint positions \[rad\] that move a tool with the tool centre point `tcp` to `pose`: those nearest
    /// to `near`. `None` if the arm cannot reach the pose.
    #[must_use]
    pub fn joints_near(&self, pose: &Pose6, tcp: &Pose6, near: &[f64; 6]) -> Option<[f64; 6]> {
        self.chain.inverse(pose, tcp, near)
    }

    /// Returns the joint positions \[rad\] that move the tool to `pose`: those nearest to the joint targets. `None`
    /// if the arm cannot reach the pose.
    #[must_use]
    pub fn joints_of(&self, pose: &Pose6) -> Option<[f64; 6]> {
        self.chain.inverse(pose, &self.tcp, &self.targets.q)
    }

    /// Returns the actual speed of the tool in the base frame, linear \[m/s\] and angular \[rad/s\].
    #[must_use]
    pub fn tool_speed(&self) -> [f64; 6] {
        self.chain.tool_speed(&self.q, &self.qd, &self.tcp)
    }

    /// Returns the target speed of the tool in the base frame, linear \[m/s\] and angular \[rad/s\].
    #[must_use]
    pub fn tool_speed_target(&self) -> [f64; 6] {
        self.chain.tool_speed(&self.targets.q, &self.targets.qd, &self.tcp)
    }

    /// Returns the position of the elbow, the joint between upper arm and forearm, in the base frame \[m\].
    #[must_use]
    pub fn elbow(&self) -> Vec3 {
        self.chain.elbow(&self.q)
    }

    /// Returns the speed of the elbow, the joint between upper arm and forearm, in the base frame \[m/s\].
    #[must_use]
    pub fn elbow_speed(&self) -> Vec3 {
        self.chain.elbow_speed(&self.q, &self.qd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::POSITION_LIMIT;
    use outrigger_wire::robot::RobotModel;

    fn arm(drive: &Drive) -> Arm {
        Arm::new(&ArmModel::of(RobotModel::Ur5e), drive, ForceOptions::default(), [0.0; 6], 0.002, &mut Rng::new(1, 0))
    }

    #[test]
    fn a_velocity_move_drifts_and_the_next_one_starts_from_where_it_ended() {
        let mut arm = arm(&Drive::default());
        arm.motion = Motion::Speed { qd: [1.0; 6], acceleration: 10.0 };
        (0..500).for_each(|_| assert_eq!(arm.step(1.0), None));
        let drift = (arm.targets.q[0] - arm.q[0]).abs();
        assert!(drift > 0.004, "0.5 % of nearly 1 rad: {drift}");
        arm.motion = Motion::Stop { deceleration: 10.0 };
        (0..500).for_each(|_| assert_eq!(arm.step(1.0), None));
        assert_eq!(arm.targets.q, arm.q);
        assert_eq!(arm.motion, Motion::Rest);
    }

    #[test]
    fn leaving_the_joint_range_is_reported_and_moving_back_is_not() {
        let mut arm = arm(&Drive::IDEAL);
        arm.q[4] = POSITION_LIMIT + 0.01;
        arm.motion = Motion::Speed { qd: [0.0, 0.0, 0.0, 0.0, 0.1, 0.0], acceleration: 40.0 };
        assert_eq!(arm.step(1.0), Some(Exceeded::Position { joint: 4 }));
        arm.motion = Motion::Speed { qd: [0.0, 0.0, 0.0, 0.0, -0.1, 0.0], acceleration: 1000.0 };
        assert_eq!(arm.step(1.0), None);
    }

    #[test]
    fn wrist_3_of_a_small_arm_turns_without_end_and_its_other_joints_do_not() {
        for model in [RobotModel::Ur3, RobotModel::Ur3e] {
            let model = ArmModel::of(model);
            let options = ForceOptions::default();
            let mut arm = Arm::new(&model, &Drive::IDEAL, options, [0.0; 6], 0.002, &mut Rng::new(1, 0));
            arm.motion = Motion::Speed { qd: [0.0, 0.0, 0.0, 0.0, 0.0, 3.0], acceleration: 40.0 };
            (0..3000).for_each(|_| assert_eq!(arm.step(1.0), None));
            assert!(arm.q[5] > 4.0 * std::f64::consts::PI && arm.is_within(&arm.q), "{:?}", arm.q);
            arm.q[4] = POSITION_LIMIT + 0.01;
            arm.motion = Motion::Speed { qd: [0.0, 0.0, 0.0, 0.0, 0.1, 0.0], acceleration: 40.0 };
            assert_eq!((0..100).find_map(|_| arm.step(1.0)), Some(Exceeded::Position { joint: 4 }));
        }
    }

    #[test]
    fn a_target_above_the_joint_speed_is_reported() {
        let mut arm = arm(&Drive::IDEAL);
        arm.motion = Motion::Speed { qd: [0.0, 3.5, 0.0, 0.0, 0.0, 0.0], acceleration: 4000.0 };
        assert_eq!(arm.step(1.0), Some(Exceeded::Speed { joint: 1 }));
    }

    #[test]
    fn the_scaling_follows_the_slider_at_a_limited_rate() {
        let mut arm = arm(&Drive::IDEAL);
        arm.step(0.0);
        assert!((arm.scaling - 0.992).abs() < 1e-12);
        (0..200).for_each(|_| assert_eq!(arm.step(0.0), None));
        assert_eq!(arm.scaling, 0.0);
    }
}
