//! The functions a program can call: motion, time, inputs and outputs, set-up, messages.
//!
//! Simulated are `speedj stopj servoj movej sleep sync`, every digital and analogue output, payload, TCP, the
//! getters of joint and tool state (`super::setting`), the registers and watchdogs of RTDE (`super::exchange`), the force
//! sensor, `textmsg` and `popup`. `speedl`, `stopl` and `movel` end the program with `not_provided`: no motion of the
//! simulator follows a line in space.

use outrigger_urscript::{Call, CallResult, Host, Value};

use super::{Notice, Plant, forces};
use crate::arm::Motion;
use crate::firmware::SpeedJTime;
use crate::model::ACCELERATION_LIMIT;

/// Smoothing of `servoj` where the software takes none (before 3.1) \[s\], and its stiffness.
const SERVOJ_LOOKAHEAD: f64 = 0.1;
const SERVOJ_GAIN: f64 = 300.0;
/// One motion's last cycle may end this early \[s\]: sums of periods are not exact.
const EPSILON: f64 = 1e-9;

/// What one program may do in one control cycle.
pub(super) struct ProgramHost<'a> {
    pub(super) plant: &'a mut Plant,
    pub(super) notices: &'a mut Vec<Notice>,
    /// Whether a motion function was called in this cycle.
    pub(super) moves: bool,
    /// Whether a popup waits for the operator.
    pub(super) suspends: bool,
    /// Whether the last `speedj` gave its time.
    pub(super) gave_time: &'a mut bool,
}

impl Host for ProgramHost<'_> {
    fn call(&mut self, mut call: Call<'_>) -> CallResult {
        let name = call.name;
        if let Some(result) = self.aborted(&call) {
            return result;
        }
        if let Some(error) = self.guided_by_hand(name) {
            return error;
        }
        let answer = match name {
            "sleep" => self.sleep(&mut call),
            "sync" => Some(if call.repeat == 0 { CallResult::Again } else { done() }),
            "speedj" => self.speedj(&call),
            "stopj" => self.stopj(&call),
            "servoj" => self.servoj(&call),
            "movej" => self.movej(&call),
            "textmsg" => self.textmsg(&call),
            "popup" => self.popup(&call),
            _ if name.starts_with("socket_") => self.socket(&call),
            "rtde_set_watchdog" => self.set_watchdog(&call),
            _ if name.ends_with("_register") => self.register(&call),
            "enable_external_ft_sensor" => self.external_sensor(&call),
            "ft_rtde_input_enable" if self.plant.firmware.external_torques_are_right() => self.external_sensor(&call),
            _ if forces::knows(name) => self.forces(&call),
            _ if name.starts_with("get_") || matches!(name, "is_steady" | "is_within_safety_limits" | "time") => {
                self.get(&call)
            }
            _ if name.starts_with("set_") => self.set(&call),
            _ => return CallResult::Unknown,
        };
        answer.unwrap_or_else(|| CallResult::Error(format!("type_error:{name}:")))
    }
}

pub(super) fn done() -> CallResult {
    CallResult::Value(Value::None)
}

pub(super) fn list(values: [f64; 6]) -> CallResult {
    CallResult::Value(Value::List(values.map(Value::Float).to_vec()))
}

/// Joint values of a program: a list of six finite numbers. A pose is none.
pub(super) fn joints(value: &Value) -> Option<[f64; 6]> {
    let list = matches!(value, Value::List(_)).then(|| value.vector::<6>()).flatten();
    list.filter(|values| values.iter().all(|value| value.is_finite()))
}

/// A pose of a program, of finite numbers. A list is none.
pub(super) fn pose(value: &Value) -> Option<[f64; 6]> {
    if let Value::Pose(pose) = value { pose.iter().all(|value| value.is_finite()).then_some(*pose) } else { None }
}

impl ProgramHost<'_> {
    /// Time since the call was first made \[s\].
    fn elapsed(&self, call: &Call<'_>) -> f64 {
        f64::from(call.repeat) * self.plant.dt
    }

    /// Whether a call that blocks for `time` \[s\] returns in this cycle.
    pub(super) fn passed(&self, call: &Call<'_>, time: f64) -> bool {
        self.elapsed(call) >= time - EPSILON
    }

    /// Takes its time off the thread's cycles; what is left of the last one is for the statements behind it.
    fn sleep(&self, call: &mut Call<'_>) -> Option<CallResult> {
        let time = call.arg(0).number().filter(|time| time.is_finite())?;
        let takes = (time - *call.scratch).min(*call.slice * self.plant.dt).max(0.0);
        *call.scratch += takes;
        *call.slice -= takes / self.plant.dt;
        let over = *call.scratch >= time - EPSILON && *call.slice * self.plant.dt > EPSILON;
        Some(if over { done() } else { CallResult::Again })
    }

    /// Acceleration of the leading axis, or why there is none.
    fn acceleration(value: &Value) -> Option<Result<f64, CallResult>> {
        let a = value.number()?;
        Some(if a > 0.0 {
            Ok(a.min(ACCELERATION_LIMIT))
        } else {
            Err(CallResult::Error(format!("acceleration {a} is not greater than zero")))
        })
    }

    fn speedj(&mut self, call: &Call<'_>) -> Option<CallResult> {
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
            (Some(time), SpeedJTime::Optional) => self.passed(call, time),
            (Some(time), SpeedJTime::Minimum) => self.passed(call, time) && reached,
            (None, _) => reached,
        };
        Some(if over { done() } else { CallResult::Again })
    }

    fn stopj(&mut self, call: &Call<'_>) -> Option<CallResult> {
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

    fn servoj(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let q = joints(call.arg(0))?;
        let time = call.arg(3).number().unwrap_or(self.plant.dt);
        let lookahead = call.arg(4).number().unwrap_or(SERVOJ_LOOKAHEAD);
        let gain = call.arg(5).number().unwrap_or(SERVOJ_GAIN);
        if !(0.03..=0.2).contains(&lookahead) || !(100.0..=2000.0).contains(&gain) {
            return Some(CallResult::Error(format!("servoj: lookahead_time {lookahead}, gain {gain} out of range")));
        }
        self.moves = true;
        self.plant.arm.motion = Motion::Servo { q, lookahead, gain };
        Some(if self.passed(call, time) { done() } else { CallResult::Again })
    }

    /// To joints, or to a pose: the joints for it that are nearest to where the arm is. On the way these stay the same.
    fn movej(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let q = match pose(call.arg(0)) {
            Some(pose) => match self.plant.arm.joints_of(&pose) {
                Some(q) => q,
                None => return Some(CallResult::Error(format!("movej: no solution for {}", call.arg(0)))),
            },
            None => joints(call.arg(0))?,
        };
        let acceleration = match Self::acceleration(call.arg(1))? {
            Ok(a) => a,
            Err(error) => return Some(error),
        };
        let speed = call.arg(2).number().filter(|speed| *speed > 0.0)?;
        self.moves = true;
        let arm = &mut self.plant.arm;
        if call.repeat == 0 {
            arm.motion = Motion::Move { q, speed, acceleration };
        }
        let arrived = arm.targets.qd == [0.0; 6] && arm.targets.q == q;
        Some(if arrived { done() } else { CallResult::Again })
    }

    /// A client's sensor in place of the arm's own. Its mass and place change nothing here.
    fn external_sensor(&mut self, call: &Call<'_>) -> Option<CallResult> {
        self.plant.force.uses_external = call.arg(0).truth()?;
        Some(done())
    }
}
