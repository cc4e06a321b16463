//! Motion of the tool in space: the joint motion for a commanded tool speed, pose or route.

use super::route::{Goal, Pace, Route};
use super::{Arm, Exceeded, Motion};
use crate::kinematics::{Frame, Pose6, joint_speeds, norm, sub};

/// The rate at which the arm slows down on its route (list of moves) when a pause holds it there, and speeds up when it
/// continues \[1/s\]: it stops within a fifth of a second. Assumed.
const HOLDING_RATE: f64 = 5.0;
/// The share of a joint's speed limit to which a motion that would exceed it is slowed down.
pub(super) const WITHIN_LIMITS: f64 = 0.99;
const RESTRAINTS: u32 = 8;
/// Deceleration of the joints if the tool cannot follow its path \[rad/s²\]. Assumed.
const REACH_DECELERATION: f64 = 15.0;
/// The size below which distances and speeds count as zero \[m, m/s, rad, rad/s\].
const NOTHING: f64 = 1e-7;

impl Arm {
    /// Begins a move. If the move before it blends, the new one is appended to that. If not, it begins at the present
    /// targets, at the speed that they have. A move whose end the arm cannot reach makes the controller stop the arm
    /// in the next cycle.
    pub fn travel(&mut self, goal: Goal, pace: Pace, deceleration: f64) {
        if !(self.blends && matches!(self.motion, Motion::Route { .. })) {
            self.settle();
            self.route = Route::new(self.targets.q, self.targets.qd, deceleration);
            self.pace = 1.0;
        }
        self.blends = false;
        self.motion = Motion::Route { held: false };
        let Self { route, chain, tcp, .. } = self;
        route.append(goal, pace, chain, tcp);
    }

    /// Returns the joint positions of the route \[rad\] after `time` \[s\] more, or after the part of that time in
    /// which every joint stays within its speed limit. `None` if the arm cannot follow the route.
    fn advance_route(&mut self, time: f64) -> Option<[f64; 6]> {
        self.restraint = 1.0;
        for attempts_left in (0..RESTRAINTS).rev() {
            let mut ahead = self.route.clone();
            let q = ahead.advance(time * self.restraint, self.dt, &self.chain)?;
            let share = |joint: usize| (q[joint] - self.targets.q[joint]).abs() / self.dt / self.speed_limits[joint];
            let fastest = (0..6).map(share).fold(0.0, f64::max);
            if fastest <= 1.0 || attempts_left == 0 {
                self.route = ahead;
                return Some(q);
            }
            self.restraint *= WITHIN_LIMITS / fastest;
        }
        None
    }

    /// Returns whether the last move has ended and the joint targets are at rest, or the tool is within `radius` \[m\]
    /// of the end of the move so that the next one can blend with it.
    pub fn has_arrived(&mut self, radius: f64) -> bool {
        if self.route.is_over() {
            return self.targets.qd == [0.0; 6];
        }
        let near = radius > 0.0 && self.route.is_within(radius, &self.chain, &self.tcp);
        self.blends |= near;
        near
    }

    /// Moves the joint targets to the position to which force mode has led the arm. A motion that has ended then ends
    /// at that position, and one in progress returns to its own path from there.
    pub(super) fn settle(&mut self) {
        let offset = std::mem::take(&mut self.offset);
        if offset == [0.0; 6] {
            return;
        }
        self.targets.q = std::array::from_fn(|joint| self.targets.q[joint] + offset[joint]);
        match &mut self.motion {
            Motion::Route { .. } if self.route.is_over() => self.motion = Motion::Rest,
            Motion::Route { .. } => self.route.go_on_from(&self.targets.q),
            Motion::Servo { q, .. } => *q = std::array::from_fn(|joint| q[joint] + offset[joint]),
            Motion::Reach { .. } if self.targets.qd == [0.0; 6] => self.motion = Motion::Rest,
            Motion::Reach { .. }
            | Motion::Rest
            | Motion::Speed { .. }
            | Motion::Stop { .. }
            | Motion::Twist { .. }
            | Motion::Torque { .. } => {}
        }
    }

    /// Continues `motion`, which a pause of the program has interrupted, from the arm's present position.
    pub fn go_on(&mut self, motion: Motion) {
        self.motion = motion;
        if let Motion::Route { .. } = motion {
            self.route.go_on_from(&self.targets.q);
            self.motion = Motion::Route { held: false };
        }
    }

    /// Executes one control cycle in which the arm brakes because the tool cannot follow its path. Returns
    /// [`Exceeded::Reach`]; `None` while a pause holds the arm on its path, because no pose beyond reach is commanded
    /// then.
    pub(super) fn brake_on_its_way(&mut self) -> Option<Exceeded> {
        self.targets.step(&Motion::Stop { deceleration: REACH_DECELERATION }, 1.0, self.dt);
        let held = std::array::from_fn(|joint| self.targets.q[joint] + self.offset[joint]);
        self.drive(self.targets.qd, Some(held));
        // While the route is held, nothing beyond reach is commanded.
        (!matches!(self.motion, Motion::Route { held: true })).then_some(Exceeded::Reach)
    }

    /// Executes one control cycle of a motion of the tool. Returns `false` if the arm cannot follow the motion.
    pub(super) fn step_tool(&mut self) -> bool {
        match self.motion {
            Motion::Route { held } => {
                let change = HOLDING_RATE * self.dt;
                self.pace += (if held { -self.pace } else { 1.0 - self.pace }).clamp(-change, change);
                let time = self.dt * self.scaling * self.pace;
                let Some(q) = self.advance_route(time) else { return false };
                if q == self.targets.q {
                    self.targets.step_by([0.0; 6], self.dt);
                    self.targets.q = q;
                } else {
                    self.targets.step_to(q, self.dt);
                }
            }
            Motion::Twist { speed, acceleration } => self.step_twist(speed.map(|v| v * self.scaling), acceleration),
            Motion::Reach { pose, speed, acceleration } => {
                let (here, there) = (Frame::from_pose(&self.tool_target()), Frame::from_pose(&pose));
                let way = sub(there.position, here.position);
                let turn = there.rotation.after(here.rotation.inverse()).to_vector();
                let distance = norm(way).max(norm(turn));
                if distance < NOTHING {
                    self.targets.step_by([0.0; 6], self.dt);
                    return true;
                }
                // Never faster than the tool can brake within the remaining distance, with one cycle in reserve.
                let left = (distance - distance.min(speed * self.dt)).max(0.0);
                let fastest = (2.0 * acceleration * left).sqrt().min(speed).min(distance / self.dt * 0.5);
                let wanted = |part: f64| part / distance * fastest * self.scaling;
                let twist = [way[0], way[1], way[2], turn[0], turn[1], turn[2]].map(wanted);
                self.step_twist(twist, [acceleration; 2]);
            }
            Motion::Rest
            | Motion::Speed { .. }
            | Motion::Stop { .. }
            | Motion::Servo { .. }
            | Motion::Torque { .. } => {}
        }
        true
    }

    fn step_twist(&mut self, wanted: [f64; 6], acceleration: [f64; 2]) {
        let have = self.tool_speed_target();
        let share = |range: std::ops::Range<usize>, acceleration: f64| {
            let change = range.map(|axis| (wanted[axis] - have[axis]).powi(2)).sum::<f64>().sqrt();
            if change > acceleration * self.dt { acceleration * self.dt / change } else { 1.0 }
        };
        let shares = [share(0..3, acceleration[0]), share(3..6, acceleration[1])];
        let next = std::array::from_fn(|axis| have[axis] + (wanted[axis] - have[axis]) * shares[axis / 3]);
        let qd =
            if next == [0.0; 6] { next } else { joint_speeds(&self.chain.jacobian(&self.targets.q, &self.tcp), &next) };
        self.targets.step_by(qd, self.dt);
    }

    /// Returns whether the target speed of the tool equals the commanded `speed`, linear \[m/s\] and angular
    /// \[rad/s\], times the speed scaling.
    #[must_use]
    pub fn tool_reached(&self, speed: &[f64; 6]) -> bool {
        self.tool_speed_target().iter().zip(speed).all(|(have, want)| (have - want * self.scaling).abs() < 1e-4)
    }

    /// Returns the pose of the tool at the end of the route \[m, rad\].
    pub(super) fn end_of_route(&self) -> Pose6 {
        self.tool_with(&self.route.end(), &self.tcp)
    }
}
