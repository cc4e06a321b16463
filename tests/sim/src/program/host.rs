//! The functions that a program can call: motion, time, inputs and outputs, set-up, messages.

use outrigger_interpreter::{Call, CallResult, Host, ThreadId, Value};

use super::{Notice, Plant, forces, installation};

/// The tolerance when a motion's time is compared with its end \[s\], because sums of periods are not exact.
pub(super) const EPSILON: f64 = 1e-9;

/// The implementation of the URScript functions for one program in one control cycle, with the state that they use.
pub(super) struct ProgramHost<'a> {
    pub(super) plant: &'a mut Plant,
    pub(super) notices: &'a mut Vec<Notice>,
    /// `true` if the program called a motion function in this control cycle.
    pub(super) moves: bool,
    /// `true` if the program opened a blocking popup in this control cycle, so that the program must be paused.
    pub(super) suspends: bool,
    /// The thread of the program whose socket read succeeded last in this control cycle.
    pub(super) reader: Option<ThreadId>,
    /// `true` if the program's last `speedj` or `speedl` call gave its time argument.
    pub(super) gave_time: &'a mut bool,
}

impl<'a> ProgramHost<'a> {
    /// Returns a host, the implementation of the URScript functions, for one program in one control cycle.
    pub(super) fn new(plant: &'a mut Plant, notices: &'a mut Vec<Notice>, gave_time: &'a mut bool) -> Self {
        Self { plant, notices, moves: false, suspends: false, reader: None, gave_time }
    }
}

impl Host for ProgramHost<'_> {
    fn call(&mut self, mut call: Call<'_>) -> CallResult {
        let name = call.name;
        if let Some(result) = self.aborted(&call) {
            return result;
        }
        if let Some(error) = self.guided_by_hand(name).or_else(|| self.contested(&call)) {
            return error;
        }
        let answer = match name {
            "sleep" => self.sleep(&mut call),
            "sync" => Some(if call.repeat == 0 { CallResult::Again } else { done() }),
            "speedj" => self.speedj(&mut call),
            "speedl" => self.speedl(&mut call),
            "stopj" => self.stopj(&call),
            "stopl" => self.stopl(&call),
            "servoj" => self.servoj(&mut call),
            "servoc" => self.servoc(&mut call),
            "movej" | "movel" | "movep" | "movec" | "optimovej" | "optimovel" => self.travel(&call),
            "textmsg" => self.textmsg(&call),
            "popup" => self.popup(&call),
            _ if name.starts_with("socket_") => self.socket(&call),
            _ if name.starts_with("ros_") || name.starts_with('.') => self.ros(&mut call),
            "rtde_set_watchdog" => self.set_watchdog(&call),
            _ if name.ends_with("_register") => self.register(&call),
            "enable_external_ft_sensor" => self.external_sensor(&call),
            "ft_rtde_input_enable" if self.plant.firmware.external_torques_are_right() => self.external_sensor(&call),
            _ if forces::knows(name) => self.forces(&call),
            _ if installation::knows(name) => self.installation(&call),
            "get_tool_current" | "get_tool_temp" | "get_tool_accelerometer_reading" => self.tool_sensor(&call),
            "get_analog_out" | "get_standard_analog_out" | "get_tool_analog_in" => self.analog(&call),
            "get_target_tcp_pose_along_path" | "get_target_tcp_speed_along_path" => Some(self.along_path(&call)),
            "force_mode_get_damping" => Some(CallResult::Value(Value::Float(self.plant.arm.damping))),
            "force_mode_get_gain_scaling" => Some(CallResult::Value(Value::Float(self.plant.arm.gain_scaling))),
            "random" => Some(CallResult::Value(Value::Float(self.plant.random.unit()))),
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

/// Returns the values of a list of six finite numbers, such as joint positions; `None` for any other value.
pub(super) fn joints(value: &Value) -> Option<[f64; 6]> {
    let list = matches!(value, Value::List(_)).then(|| value.vector::<6>()).flatten();
    list.filter(|values| values.iter().all(|value| value.is_finite()))
}

/// Returns the value as a pose of finite numbers; `None` for any other value.
pub(super) fn pose(value: &Value) -> Option<[f64; 6]> {
    if let Value::Pose(pose) = value { pose.iter().all(|value| value.is_finite()).then_some(*pose) } else { None }
}

impl ProgramHost<'_> {
    /// Returns the time since the program began this call, which may last several control cycles \[s\].
    fn elapsed(&self, call: &Call<'_>) -> f64 {
        f64::from(call.repeat) * self.plant.dt
    }

    /// Returns whether a call that blocks for `time` \[s\] returns in this cycle.
    pub(super) fn passed(&self, call: &Call<'_>, time: f64) -> bool {
        self.elapsed(call) >= time - EPSILON
    }

    /// Executes `sleep`: consumes the thread's time in each cycle. The remainder of the last cycle is available to
    /// the statements after it.
    fn sleep(&self, call: &mut Call<'_>) -> Option<CallResult> {
        let time = call.arg(0).number().filter(|time| time.is_finite())?;
        let takes = (time - *call.scratch).min(*call.slice * self.plant.dt).max(0.0);
        *call.scratch += takes;
        *call.slice -= takes / self.plant.dt;
        let over = *call.scratch >= time - EPSILON && *call.slice * self.plant.dt > EPSILON;
        Some(if over { done() } else { CallResult::Again })
    }

    /// Executes `enable_external_ft_sensor` or `ft_rtde_input_enable`, which select a client's force sensor in place of
    /// the arm's own. The mass and position of that sensor have no effect here.
    fn external_sensor(&mut self, call: &Call<'_>) -> Option<CallResult> {
        self.plant.force.uses_external = call.arg(0).truth()?;
        Some(done())
    }
}
