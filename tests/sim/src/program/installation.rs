//! The functions by which a pendant sets the controller up at the head of every program
//! (`core/docs/protocol/ur-external-control.md 5.5`).
//!
//! Domains of analogue inputs, modes of the tool's outputs, settings of the tool's serial line and gravity are stored.
//! All other arguments are checked and have no effect: no input triggers an action, and no output follows the state of
//! the program.

use outrigger_interpreter::{Call, CallResult, Value};

use super::host::{ProgramHost, done, list};
use crate::tool_line::{Serial, ToolCommunication};

/// The supported rates of the tool's serial line \[baud\].
const BAUD_RATES: [u32; 8] = [9_600, 19_200, 38_400, 57_600, 115_200, 1_000_000, 2_000_000, 5_000_000];
/// The permitted rules by which the level of an output depends on the state of the program (argument of
/// `set_runstate_…`): 0 for no dependence, 4 for a low level after an unscheduled end.
const RUN_STATES: std::ops::RangeInclusive<i32> = 0..=4;

/// Returns whether [`ProgramHost::installation`] executes the URScript function `name`.
pub(super) fn knows(name: &str) -> bool {
    matches!(
        name,
        "set_gravity"
            | "get_gravity"
            | "set_standard_analog_input_domain"
            | "set_tool_analog_input_domain"
            | "set_tool_communication"
            | "set_tool_output_mode"
            | "set_tool_digital_output_mode"
            | "set_input_actions_to_default"
            | "set_safety_mode_transition_hardness"
            | "position_deviation_warning"
    ) || ["set_runstate_", "set_baselight_"].iter().any(|head| name.starts_with(head))
        || name.ends_with("_input_action")
}

impl ProgramHost<'_> {
    /// Executes the URScript functions that [`knows`] lists, which set up terminals, the tool, gravity and warnings;
    /// many have no effect here. `None` if an argument is wrong.
    pub(super) fn installation(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let whole = |index| call.arg(index).whole();
        let small = |index| u8::try_from(whole(index)?).ok();
        let io = &mut self.plant.io;
        let accepted = match call.name {
            "set_gravity" => {
                io.gravity = call.arg(0).vector::<3>().filter(|vector| vector.iter().all(|v| v.is_finite()))?;
                true
            }
            "get_gravity" => {
                return Some(CallResult::Value(Value::List(io.gravity.map(Value::Float).to_vec())));
            }
            "set_standard_analog_input_domain" => put(&mut io.analog_in_range, small(0)?, small(1)?, 0..=1),
            "set_tool_analog_input_domain" => put(&mut io.tool_analog_in_range, small(0)?, small(1)?, 0..=1),
            "set_tool_output_mode" => put(std::slice::from_mut(&mut io.tool_output_mode), 0, small(0)?, 0..=1),
            "set_tool_digital_output_mode" => put(&mut io.tool_digital_out_modes, small(0)?, small(1)?, 1..=3),
            "set_tool_communication" => {
                let enabled = call.arg(0).truth()?;
                let baud_rate = u32::try_from(whole(1)?).ok().filter(|rate| BAUD_RATES.contains(rate))?;
                let parity = small(2)?;
                let stop_bits = small(3)?;
                let (rx, tx) = (call.arg(4).number()?, call.arg(5).number()?);
                let known = parity <= 2 && (1..=2).contains(&stop_bits);
                let accepted = known && (1.0..=40.0).contains(&rx) && (0.0..=40.0).contains(&tx);
                if accepted {
                    io.tool_communication = ToolCommunication {
                        enabled,
                        serial: Serial { baud_rate, parity, stop_bits },
                        rx_idle_chars: rx as f32,
                        tx_idle_chars: tx as f32,
                    };
                }
                accepted
            }
            "set_safety_mode_transition_hardness" => (0..=1).contains(&whole(0)?),
            "position_deviation_warning" => {
                call.arg(0).truth()?;
                (0.0..=1.0).contains(&call.arg(1).number()?)
            }
            // A list of outputs, on older software.
            "set_runstate_outputs" => matches!(call.arg(0), Value::List(_)),
            name if name.starts_with("set_runstate_") => whole(0)? >= 0 && RUN_STATES.contains(&whole(1)?),
            name if name.ends_with("_input_action") => {
                whole(0)? >= 0 && matches!(call.arg(1).text()?, "default" | "freedrive")
            }
            "set_baselight_solid" => [small(0), small(1), small(2)].iter().all(Option::is_some),
            _ => true,
        };
        accepted.then(done)
    }

    /// Returns the value of one of the tool's own sensors: current, temperature or acceleration. The ports publish the
    /// same values, but only this acceleration follows the gravity that a program has set.
    pub(super) fn tool_sensor(&self, call: &Call<'_>) -> Option<CallResult> {
        /// The current of the device at the tool connector \[A\].
        const CURRENT: f64 = 0.006;
        /// The temperature that the tool's sensor reports \[°C\].
        const TEMPERATURE: f64 = 40.0;
        Some(match call.name {
            "get_tool_current" => CallResult::Value(Value::Float(CURRENT)),
            "get_tool_temp" => CallResult::Value(Value::Float(TEMPERATURE)),
            _ => {
                let felt = self.plant.arm.tool().rotation.inverse().turn(self.plant.io.gravity);
                CallResult::Value(Value::List(felt.map(Value::Float).to_vec()))
            }
        })
    }

    /// Returns the value of an analogue input of the tool or output of the controller box \[V or A\]; `None` if the
    /// call's argument is no such terminal.
    pub(super) fn analog(&self, call: &Call<'_>) -> Option<CallResult> {
        let io = &self.plant.io;
        let values = if call.name == "get_tool_analog_in" { &io.tool_analog_in } else { &io.analog_out };
        let n = usize::try_from(call.arg(0).whole()?).ok()?;
        values.get(n).map(|value| CallResult::Value(Value::Float(*value)))
    }

    /// Executes `get_target_tcp_pose_along_path` and `get_target_tcp_speed_along_path`. The results are the tool's
    /// target pose and speed, because there is no conveyor and no offset.
    pub(super) fn along_path(&self, call: &Call<'_>) -> CallResult {
        let arm = &self.plant.arm;
        if call.name == "get_target_tcp_pose_along_path" {
            return CallResult::Value(Value::Pose(arm.tool_target()));
        }
        list(arm.tool_speed_target())
    }
}

/// Stores a property of a terminal as `values[index]`, if that element exists and `value` is in the range `known`.
/// Returns whether the property was stored.
fn put(values: &mut [u8], index: u8, value: u8, known: std::ops::RangeInclusive<u8>) -> bool {
    let slot = values.get_mut(usize::from(index)).filter(|_| known.contains(&value));
    slot.map(|slot| *slot = value).is_some()
}
