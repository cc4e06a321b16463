//! The functions a program can call: motion, time, inputs and outputs, set-up, messages.
//!
//! Simulated are `speedj stopj servoj movej sleep sync`, every digital and analogue output, payload, TCP, the
//! getters of joint and tool state, the registers and watchdogs of RTDE (`super::exchange`), `textmsg` and `popup`. `speedl`, `stopl` and `movel` end the program with
//! `not_provided`: the simulator has no inverse kinematics.

use outrigger_core::robot::Generation;
use outrigger_urscript::{Call, CallResult, Host, Value};

use super::{Notice, Plant};
use crate::arm::Motion;
use crate::firmware::SpeedJTime;
use crate::io::DigitalOutput;
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
    /// Whether the last `speedj` gave its time.
    pub(super) gave_time: &'a mut bool,
}

impl Host for ProgramHost<'_> {
    fn call(&mut self, call: Call<'_>) -> CallResult {
        let name = call.name;
        let answer = match name {
            "sleep" => self.sleep(&call),
            "sync" => Some(if call.repeat == 0 { CallResult::Again } else { done() }),
            "speedj" => self.speedj(&call),
            "stopj" => self.stopj(&call),
            "servoj" => self.servoj(&call),
            "movej" => self.movej(&call),
            "textmsg" => {
                self.notices.push(Notice::Text(format!("{}{}", call.arg(0), call.arg(1))));
                Some(done())
            }
            "popup" => self.popup(&call),
            "rtde_set_watchdog" => self.set_watchdog(&call),
            _ if name.ends_with("_register") => self.register(&call),
            _ if name.starts_with("get_") || name == "is_steady" => self.get(&call),
            _ if name.starts_with("set_") => self.set(&call),
            _ => return CallResult::Unknown,
        };
        answer.unwrap_or_else(|| CallResult::Error(format!("type_error:{name}:")))
    }
}

fn done() -> CallResult {
    CallResult::Value(Value::None)
}

fn list(values: [f64; 6]) -> CallResult {
    CallResult::Value(Value::List(values.map(Value::Float).to_vec()))
}

/// Joint values of a program: six finite numbers.
fn joints(value: &Value) -> Option<[f64; 6]> {
    value.vector::<6>().filter(|values| values.iter().all(|value| value.is_finite()))
}

impl ProgramHost<'_> {
    /// Time since the call was first made \[s\].
    fn elapsed(&self, call: &Call<'_>) -> f64 {
        f64::from(call.repeat) * self.plant.dt
    }

    /// Whether a call that blocks for `time` \[s\] returns in this cycle.
    fn passed(&self, call: &Call<'_>, time: f64) -> bool {
        self.elapsed(call) >= time - EPSILON
    }

    fn sleep(&self, call: &Call<'_>) -> Option<CallResult> {
        let time = call.arg(0).number()?;
        Some(if self.passed(call, time) { done() } else { CallResult::Again })
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

    fn movej(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let q = joints(call.arg(0))?;
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

    fn popup(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let flag = |index| call.arg(index).truth().unwrap_or(false);
        self.notices.push(Notice::Popup {
            text: call.arg(0).to_string(),
            title: call.arg(1).to_string(),
            warning: flag(2),
            error: flag(3),
        });
        Some(done())
    }

    fn get(&self, call: &Call<'_>) -> Option<CallResult> {
        let arm = &self.plant.arm;
        let io = &self.plant.io;
        let bit = |bits: u32, first: i32, count: i32| {
            let n = call.arg(0).whole().filter(|n| (0..count).contains(n))?;
            Some(CallResult::Value(Value::Bool(bits & (1 << (first + n)) != 0)))
        };
        let tool_bit = if self.plant.firmware.generation() == Generation::Cb2 { 8 } else { 16 };
        match call.name {
            "get_joint_positions" | "get_actual_joint_positions" => Some(list(arm.q)),
            "get_target_joint_positions" => Some(list(arm.targets.q)),
            "get_actual_joint_speeds" => Some(list(arm.qd)),
            "get_target_joint_speeds" => Some(list(arm.targets.qd)),
            "get_actual_tcp_pose" => Some(CallResult::Value(Value::Pose(arm.tool().to_pose()))),
            "get_actual_tcp_speed" => Some(list(arm.tool_speed())),
            "is_steady" => Some(CallResult::Value(Value::Bool(arm.at_rest()))),
            "get_steptime" => Some(CallResult::Value(Value::Float(self.plant.dt))),
            "get_digital_in" => self.numbered_bit(io.digital_in, call),
            "get_digital_out" => self.numbered_bit(io.digital_out, call),
            "get_standard_digital_in" => bit(io.digital_in, 0, 8),
            "get_standard_digital_out" => bit(io.digital_out, 0, 8),
            "get_configurable_digital_in" => bit(io.digital_in, 8, 8),
            "get_configurable_digital_out" => bit(io.digital_out, 8, 8),
            "get_tool_digital_in" => bit(io.digital_in, tool_bit, 2),
            "get_tool_digital_out" => bit(io.digital_out, tool_bit, 2),
            "get_flag" => bit(io.flags, 0, 32),
            "get_analog_in" | "get_standard_analog_in" => {
                let n = usize::try_from(call.arg(0).whole()?).ok()?;
                io.analog_in.get(n).map(|volts| CallResult::Value(Value::Float(*volts)))
            }
            _ => Some(CallResult::Unknown),
        }
    }

    /// The old numbering: 0–7 box, 8 and 9 tool.
    fn numbered(n: i32) -> Option<DigitalOutput> {
        match u8::try_from(n).ok()? {
            n @ 0..8 => Some(DigitalOutput::Standard(n)),
            n @ 8..10 => Some(DigitalOutput::Tool(n - 8)),
            _ => None,
        }
    }

    fn numbered_bit(&self, bits: u32, call: &Call<'_>) -> Option<CallResult> {
        let bit = self.plant.io.bit(Self::numbered(call.arg(0).whole()?)?)?;
        Some(CallResult::Value(Value::Bool(bits & (1 << bit) != 0)))
    }

    fn set(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let whole = |index| call.arg(index).whole();
        let io = &mut self.plant.io;
        let small = |index| u8::try_from(whole(index)?).ok();
        let output = match call.name {
            "set_digital_out" => Some(Self::numbered(whole(0)?)?),
            "set_standard_digital_out" => Some(DigitalOutput::Standard(small(0)?)),
            "set_configurable_digital_out" => Some(DigitalOutput::Configurable(small(0)?)),
            "set_tool_digital_out" => Some(DigitalOutput::Tool(small(0)?)),
            _ => None,
        };
        let accepted = if let Some(output) = output {
            io.set_digital(output, call.arg(1).truth()?)
        } else {
            match call.name {
                "set_analog_out" | "set_standard_analog_out" => {
                    io.set_analog(usize::from(small(0)?), call.arg(1).number()?)
                }
                "set_analog_outputdomain" => put(&mut io.analog_out_domain, small(0)?, small(1)?),
                "set_analog_inputrange" => match small(0)? {
                    port @ 0..2 => put(&mut io.analog_in_range, port, small(1)?),
                    port => put(&mut io.tool_analog_in_range, port.wrapping_sub(2), small(1)?),
                },
                "set_tool_voltage" => {
                    let volts = small(0)?;
                    let known = matches!(volts, 0 | 12 | 24);
                    io.tool_voltage = if known { volts } else { io.tool_voltage };
                    known
                }
                "set_flag" => {
                    let bit = 1u32.checked_shl(u32::try_from(whole(0)?).ok()?)?;
                    io.flags = if call.arg(1).truth()? { io.flags | bit } else { io.flags & !bit };
                    true
                }
                "set_payload" => {
                    io.payload = call.arg(0).number()?;
                    io.payload_cog = call.arg(1).vector().unwrap_or(io.payload_cog);
                    true
                }
                "set_payload_mass" => {
                    io.payload = call.arg(0).number()?;
                    true
                }
                "set_payload_cog" => {
                    io.payload_cog = call.arg(0).vector()?;
                    true
                }
                "set_tcp" => {
                    self.plant.arm.tcp = joints(call.arg(0))?;
                    true
                }
                // Taken, without effect: there are no torques to get wrong.
                "set_gravity" => call.arg(0).vector::<3>().is_some(),
                _ => return Some(CallResult::Unknown),
            }
        };
        accepted.then(done)
    }
}

/// Sets one element where it exists.
fn put(values: &mut [u8; 2], index: u8, value: u8) -> bool {
    values.get_mut(usize::from(index)).map(|slot| *slot = value).is_some()
}
