//! The functions with which a program moves the arm (core/docs/protocol/ur-external-control.md 5.3).

use outrigger_interpreter::{Call, CallResult, Value};

use super::Notice;
use super::forces::MOTIONS;
use super::host::{EPSILON, ProgramHost, done, joints, pose};
use crate::arm::Motion;
use crate::arm::route::{ArcTurn, Goal, Pace};
use crate::firmware::SpeedJTime;
use crate::model::ACCELERATION_LIMIT;
use crate::stop_error_codes::Level;

/// The speed \[rad/s\] and acceleration \[rad/s²\] of which `optimovej` uses a share. Assumed.
const MOST_OF_JOINTS: (f64, f64) = (3.0, 14.0);
/// The speed \[m/s\] and acceleration \[m/s²\] of which `optimovel` uses a share. Assumed.
const MOST_OF_TOOL: (f64, f64) = (1.5, 4.0);

/// The arguments of a URScript call that moves the arm.
struct Move {
    goal: Goal,
    acceleration: f64,
    speed: f64,
    time: f64,
}

impl ProgramHost<'_> {
    /// Returns an error if another thread has moved the arm since the previous cycle of this call, because only one
    /// thread may command motion; else `None`. A real controller reports this; the text is assumed.
    pub(super) fn contested(&mut self, call: &Call<'_>) -> Option<CallResult> {
        if !MOTIONS.contains(&call.name) && !matches!(call.name, "stopj" | "stopl") {
            return None;
        }
        let before = self.plant.mover.replace(call.thread);
        let contested = call.repeat > 0 && before.is_some_and(|before| before != call.thread);
        contested.then(|| CallResult::Error("Another thread is already controlling the robot".into()))
    }

    /// Returns whether a motion call that lasts `time` \[s\] at full speed returns in this cycle. Speed scaling below 1
    /// extends its duration.
    fn stretched(&self, call: &mut Call<'_>, time: f64) -> bool {
        if call.repeat > 0 {
            *call.scratch += self.plant.dt * self.plant.arm.scaling * self.plant.arm.restraint;
        }
        *call.scratch >= time - EPSILON
    }

    /// Returns the value of an acceleration argument, reduced to the largest that the controller plans, or an error if
    /// it is not above zero. `None` if it is not a number.
    fn acceleration(value: &Value) -> Option<Result<f64, CallResult>> {
        let a = value.number()?;
        Some(if a > 0.0 {
            Ok(a.min(ACCELERATION_LIMIT))
        } else {
            Err(CallResult::Error(format!("acceleration {a} is not greater than zero")))
        })
    }

    pub(super) fn speedj(&mut self, call: &mut Call<'_>) -> Option<CallResult> {
        let qd = joints(call.arg(0))?;
        let acceleration = match Self::acceleration(call.arg(1))? {
            Ok(a) => a,
            Err(error) => return Some(error),
        };
        let time = call.arg(2).number();
        self.moves = true;
        *self.gave_time = time.is_some();
        let arm = &mut self.plant.arm;
        if call.repeat == 0 {
            arm.motion = Motion::Speed { qd, acceleration };
        }
        let scaled = qd.map(|v| v * arm.scaling);
        let reached = call.repeat > 0 && arm.targets.reached(&scaled);
        let over = match (time, self.plant.firmware.speedj_time()) {
            (Some(time), SpeedJTime::Optional) => self.stretched(call, time),
            (Some(time), SpeedJTime::Minimum) => self.stretched(call, time) && reached,
            (None, _) => reached,
        };
        Some(if over { done() } else { CallResult::Again })
    }

    pub(super) fn stopj(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let given = match Self::acceleration(call.arg(0))? {
            Ok(a) => a,
            Err(error) => return Some(error),
        };
        self.moves = true;
        let obeys = self.plant.firmware.stopj_obeys_deceleration();
        let deceleration = if obeys { given } else { self.plant.fixed_stop_deceleration };
        let arm = &mut self.plant.arm;
        if call.repeat == 0 {
            arm.motion = Motion::Stop { deceleration };
        }
        let rests = call.repeat > 0 && arm.targets.qd == [0.0; 6];
        Some(if rests { done() } else { CallResult::Again })
    }

    pub(super) fn servoj(&mut self, call: &mut Call<'_>) -> Option<CallResult> {
        let q = joints(call.arg(0))?;
        let time = call.arg(3).number().unwrap_or(self.plant.dt);
        let own = &self.plant.servoj;
        let (lookahead, gain) = match (call.arg(4).number(), call.arg(5).number()) {
            (Some(lookahead), Some(gain)) if self.plant.firmware.servoj_lookahead() => (lookahead, gain),
            _ => (own.lookahead, own.gain),
        };
        if !(0.03..=0.2).contains(&lookahead) || !(100.0..=2000.0).contains(&gain) {
            return Some(CallResult::Error(format!("servoj: lookahead_time {lookahead}, gain {gain} out of range")));
        }
        self.moves = true;
        let lookahead = if self.plant.servoj.filters { lookahead } else { 0.0 };
        self.plant.arm.motion = Motion::Servo { q, lookahead, gain };
        Some(if self.stretched(call, time) { done() } else { CallResult::Again })
    }

    /// Executes URScript's `speedl`: the tool follows a commanded speed.
    pub(super) fn speedl(&mut self, call: &mut Call<'_>) -> Option<CallResult> {
        let speed = joints(call.arg(0))?;
        let linear = match Self::acceleration(call.arg(1))? {
            Ok(a) => a,
            Err(error) => return Some(error),
        };
        let turning = if *call.arg(3) == Value::None { linear } else { call.arg(3).number().filter(|a| *a > 0.0)? };
        let time = call.arg(2).number();
        self.moves = true;
        *self.gave_time = time.is_some();
        let arm = &mut self.plant.arm;
        if call.repeat == 0 {
            arm.motion = Motion::Twist { speed, acceleration: [linear, turning] };
        }
        let reached = call.repeat > 0 && arm.tool_reached(&speed);
        let over = time.map_or(reached, |time| self.stretched(call, time));
        Some(if over { done() } else { CallResult::Again })
    }

    /// Executes URScript's `stopl`: the tool comes to rest on a line.
    pub(super) fn stopl(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let linear = match Self::acceleration(call.arg(0))? {
            Ok(a) => a,
            Err(error) => return Some(error),
        };
        let turning = if *call.arg(1) == Value::None { linear } else { call.arg(1).number().filter(|a| *a > 0.0)? };
        self.moves = true;
        let arm = &mut self.plant.arm;
        if call.repeat == 0 {
            arm.motion = Motion::Twist { speed: [0.0; 6], acceleration: [linear, turning] };
        }
        let rests = call.repeat > 0 && arm.targets.qd == [0.0; 6];
        Some(if rests { done() } else { CallResult::Again })
    }

    /// Executes `servoc`: moves the tool towards a pose for one control cycle. The radius is not used. The approach
    /// of the tool is assumed.
    pub(super) fn servoc(&mut self, call: &mut Call<'_>) -> Option<CallResult> {
        let pose = pose(call.arg(0))?;
        let acceleration = match Self::acceleration(call.arg(1))? {
            Ok(a) => a,
            Err(error) => return Some(error),
        };
        let speed = call.arg(2).number().filter(|speed| *speed > 0.0)?;
        self.moves = true;
        self.plant.arm.motion = Motion::Reach { pose, speed, acceleration };
        Some(if call.repeat > 0 { done() } else { CallResult::Again })
    }

    /// Executes moves with an end, such as `movej` and `movel`. Goals can be joint positions or poses. Where the
    /// other kind is needed, the goal is converted: the joints for a pose are those nearest to the arm's position.
    pub(super) fn travel(&mut self, call: &Call<'_>) -> Option<CallResult> {
        self.moves = true;
        if call.repeat == 0 {
            let given = match self.given(call)? {
                Ok(given) => given,
                Err(error) => return Some(error),
            };
            let Move { goal, acceleration, speed, time } = given;
            if let Goal::Joints(q) = goal
                && !self.plant.arm.is_within(&q)
            {
                return Some(self.beyond_range(call));
            }
            let pace = if time > 0.0 { Pace::Time(time) } else { Pace::Speed { speed, acceleration } };
            // A remaining speed of the motion before is braked as fast as the arm could speed up again.
            self.plant.arm.travel(goal, pace, ACCELERATION_LIMIT.min(acceleration.max(1.0)));
        }
        let radius = match call.name {
            "movej" | "movel" | "movec" => call.arg(4),
            _ => call.arg(3),
        };
        let radius = radius.number().filter(|radius| *radius >= 0.0)?;
        Some(if call.repeat > 0 && self.plant.arm.has_arrived(radius) { done() } else { CallResult::Again })
    }

    fn unreachable(call: &Call<'_>) -> CallResult {
        CallResult::Error(format!("{}: no solution for {}", call.name, call.arg(0)))
    }

    /// Reports a goal of joints beyond their range with an error code, and returns the error that ends the program. The
    /// move is not begun. The text is assumed.
    fn beyond_range(&mut self, call: &Call<'_>) -> CallResult {
        let report = |code| Notice::Code { level: Level::Warning, code, text: "" };
        self.notices.extend(self.plant.stop_codes.joint_limit.map(report));
        CallResult::Error(format!("{}: {} is beyond the range of a joint", call.name, call.arg(0)))
    }

    fn given(&self, call: &Call<'_>) -> Option<Result<Move, CallResult>> {
        // The indices of acceleration, speed and time.
        let (a, v, t) = match call.name {
            "movej" | "movel" => (1, 2, Some(3)),
            "movec" => (2, 3, None),
            _ => (1, 2, None),
        };
        let mut acceleration = match Self::acceleration(call.arg(a))? {
            Ok(a) => a,
            Err(error) => return Some(Err(error)),
        };
        let mut speed = call.arg(v).number().filter(|speed| *speed > 0.0)?;
        let time = t.map_or(Some(0.0), |t| call.arg(t).number())?;
        let most = match call.name {
            "optimovej" => Some(MOST_OF_JOINTS),
            "optimovel" => Some(MOST_OF_TOOL),
            _ => None,
        };
        if let Some((most_speed, most_acceleration)) = most {
            if speed > 1.0 || acceleration > 1.0 {
                let text = format!("{}: a and v are shares of what the arm can do, above 0 and at most 1", call.name);
                return Some(Err(CallResult::Error(text)));
            }
            (speed, acceleration) = (speed * most_speed, acceleration * most_acceleration);
        }
        let arm = &self.plant.arm;
        let as_pose = |value: &Value| pose(value).or_else(|| joints(value).map(|q| arm.tool_with(&q, &arm.tcp)));
        let goal = match call.name {
            "movej" | "optimovej" => match pose(call.arg(0)) {
                Some(pose) => match arm.joints_of(&pose) {
                    Some(q) => Goal::Joints(q),
                    None => return Some(Err(Self::unreachable(call))),
                },
                None => Goal::Joints(joints(call.arg(0))?),
            },
            "movec" => {
                let turn = if call.arg(5).whole()? == 1 { ArcTurn::WithArc } else { ArcTurn::Even };
                Goal::Arc { via: as_pose(call.arg(0))?, to: as_pose(call.arg(1))?, turn }
            }
            _ => Goal::Line(as_pose(call.arg(0))?),
        };
        Some(Ok(Move { goal, acceleration, speed, time }))
    }
}
