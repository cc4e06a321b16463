//! The functions with which a program reads its terminals and sets outputs, tool and payload.

use outrigger_interpreter::{Call, CallResult, Value};
use outrigger_wire::robot::Generation;

use super::Plant;
use super::host::{ProgramHost, done, joints, pose};
use crate::io::DigitalOutput;

impl ProgramHost<'_> {
    pub(super) fn get(&self, call: &Call<'_>) -> Option<CallResult> {
        let io = &self.plant.io;
        let bit = |bits: u32, first: i32, count: i32| {
            let n = call.arg(0).whole().filter(|n| (0..count).contains(n))?;
            Some(CallResult::Value(Value::Bool(bits & (1 << (first + n)) != 0)))
        };
        let tool_bit = if self.plant.firmware.generation() == Generation::Cb2 { 8 } else { 16 };
        match call.name {
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
            _ => self.look(call),
        }
    }

    /// Returns the digital output with this number in URScript's old numbering: 0–7 box, 8 and 9 tool. `None` for any
    /// other number.
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

    pub(super) fn set(&mut self, call: &Call<'_>) -> Option<CallResult> {
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
                "set_analog_outputdomain" => io.set_analog_domain(usize::from(small(0)?), small(1)?),
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
                "set_payload" | "set_target_payload" | "set_payload_mass" | "set_payload_cog" => {
                    return self.payload(call);
                }
                "set_tcp" => {
                    self.plant.arm.tcp = pose(call.arg(0))?;
                    true
                }
                _ => return Some(CallResult::Unknown),
            }
        };
        accepted.then(done)
    }

    /// Executes the functions that set the payload's mass, centre of gravity and inertia. If there is a force sensor,
    /// it is zeroed as well.
    fn payload(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let Plant { io, arm, force, firmware, .. } = &mut *self.plant;
        let mass = || call.arg(0).number().filter(|mass| mass.is_finite() && *mass >= 0.0);
        let vector = |index| call.arg(index).vector::<3>().filter(|vector| vector.iter().all(|v| v.is_finite()));
        match call.name {
            "set_payload_mass" => io.payload = mass()?,
            "set_payload_cog" => io.payload_cog = vector(0)?,
            name => {
                io.payload = mass()?;
                let [x, y, z, ..] = arm.tcp;
                // The default is the tool centre point.
                io.payload_cog = if *call.arg(1) == Value::None { [x, y, z] } else { vector(1)? };
                io.payload_inertia = if name == "set_payload" { None } else { joints(call.arg(2)) }.unwrap_or_default();
            }
        }
        if firmware.has_force_sensor() {
            force.zero();
        }
        Some(done())
    }
}

/// Stores the range of an analogue input as `values[index]`. Returns `false` if `index` is out of range.
fn put(values: &mut [u8; 2], index: u8, value: u8) -> bool {
    values.get_mut(usize::from(index)).map(|slot| *slot = value).is_some()
}
