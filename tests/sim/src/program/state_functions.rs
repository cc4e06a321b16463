//! The functions with which a program reads the state of the arm and calculates with its geometry
//! (core/docs/protocol/ur-external-control.md 5.3).

use outrigger_interpreter::{Call, CallResult, Value};

use super::host::{ProgramHost, joints, list, pose};
use crate::time::SimTime;

/// The temperature of every joint and of the controller \[°C\]; it never changes.
const TEMPERATURE: f64 = 30.0;

fn value_of(pose: [f64; 6]) -> CallResult {
    CallResult::Value(Value::Pose(pose))
}

impl ProgramHost<'_> {
    /// Executes the URScript functions that read the arm's state or compute its geometry. The result is
    /// [`CallResult::Unknown`] for every other function.
    pub(super) fn look(&self, call: &Call<'_>) -> Option<CallResult> {
        let arm = &self.plant.arm;
        let io = &self.plant.io;
        let float = |value| Some(CallResult::Value(Value::Float(value)));
        match call.name {
            "get_joint_positions" | "get_actual_joint_positions" => Some(list(arm.q)),
            "get_target_joint_positions" => Some(list(arm.targets.q)),
            "get_actual_joint_speeds" => Some(list(arm.qd)),
            "get_target_joint_speeds" => Some(list(arm.targets.qd)),
            "get_target_joint_accelerations" => Some(list(arm.targets.qdd)),
            "get_actual_joint_positions_history" => {
                let steps = call.arg(0).whole().and_then(|steps| usize::try_from(steps).ok())?;
                Some(arm.past(steps).map_or_else(
                    || CallResult::Error(format!("{}: {steps} steps back is further than is kept", call.name)),
                    list,
                ))
            }
            "get_actual_tcp_pose" => Some(value_of(arm.tool().to_pose())),
            "get_target_tcp_pose" => Some(value_of(arm.tool_target())),
            "get_actual_tcp_speed" => Some(list(arm.tool_speed())),
            "get_target_tcp_speed" => Some(list(arm.tool_speed_target())),
            "get_actual_tool_flange_pose" => Some(value_of(arm.tool_with(&arm.q, &[0.0; 6]))),
            "get_tcp_offset" => Some(value_of(arm.tcp)),
            "get_target_waypoint" => Some(value_of(arm.waypoint())),
            "get_target_payload" => float(io.payload),
            "get_target_payload_cog" => Some(CallResult::Value(Value::List(io.payload_cog.map(Value::Float).to_vec()))),
            "get_target_payload_inertia" => Some(list(io.payload_inertia)),
            "get_joint_temp" => call.arg(0).whole().filter(|joint| (0..6).contains(joint)).and(float(TEMPERATURE)),
            "get_controller_temp" => float(TEMPERATURE),
            "is_steady" => Some(CallResult::Value(Value::Bool(arm.is_steady()))),
            "get_forward_kin" => self.forward(call),
            "get_inverse_kin" => Some(match self.inverse(call)? {
                Some(q) => list(q),
                None => CallResult::Error(format!("{}: no solution for {}", call.name, call.arg(0))),
            }),
            "get_inverse_kin_has_solution" => Some(CallResult::Value(Value::Bool(self.inverse(call)?.is_some()))),
            "is_within_safety_limits" => {
                let within = match pose(call.arg(0)) {
                    Some(pose) => {
                        let near = if *call.arg(1) == Value::None { arm.q } else { joints(call.arg(1))? };
                        arm.joints_near(&pose, &arm.tcp, &near).is_some_and(|q| arm.is_within(&q))
                    }
                    None => arm.is_within(&joints(call.arg(0))?),
                };
                Some(CallResult::Value(Value::Bool(within)))
            }
            "time" => self.time(call),
            _ => Some(CallResult::Unknown),
        }
    }

    /// Executes `get_forward_kin`: returns the tool pose for the given joints, or for the arm's position, with the
    /// given tool, or the one that is set.
    fn forward(&self, call: &Call<'_>) -> Option<CallResult> {
        let arm = &self.plant.arm;
        let q = if *call.arg(0) == Value::None { arm.q } else { joints(call.arg(0))? };
        let tcp = if *call.arg(1) == Value::None { arm.tcp } else { pose(call.arg(1))? };
        Some(value_of(arm.tool_with(&q, &tcp)))
    }

    /// Executes the inverse kinematics: returns the joints nearest to the given ones, or to the arm's position.
    /// Solutions are exact: the error limits that a program passes have no effect.
    fn inverse(&self, call: &Call<'_>) -> Option<Option<[f64; 6]>> {
        let arm = &self.plant.arm;
        let wanted = pose(call.arg(0))?;
        let near = if *call.arg(1) == Value::None { arm.q } else { joints(call.arg(1))? };
        let errors = [2, 3].map(|index| call.arg(index).number().filter(|error| *error >= 0.0));
        let [Some(_), Some(_)] = errors else { return None };
        let tcp = if *call.arg(4) == Value::None { arm.tcp } else { pose(call.arg(4))? };
        Some(arm.joints_near(&wanted, &tcp, &near))
    }

    /// Executes URScript's `time(mode)`: returns seconds and nanoseconds since the beginning of the simulation; an
    /// error for a mode other than 0.
    fn time(&self, call: &Call<'_>) -> Option<CallResult> {
        if call.arg(0).whole()? != 0 {
            return Some(CallResult::Error(format!("time: mode {} is not simulated, only 0", call.arg(0))));
        }
        let passed = self.plant.now.since(SimTime::ZERO);
        let seconds = Value::Int(i32::try_from(passed.as_secs()).ok()?);
        let nanoseconds = Value::Int(i32::try_from(passed.subsec_nanos()).ok()?);
        Some(CallResult::Value(Value::Struct(vec![("sec".into(), seconds), ("nanosec".into(), nanoseconds)])))
    }
}
