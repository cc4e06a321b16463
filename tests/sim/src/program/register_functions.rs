//! The functions with which a program exchanges data with RTDE clients: registers and watchdogs
//! (`core/docs/protocol/ur-rtde.md 5.1, 6`).

use std::time::Duration;

use outrigger_interpreter::{Call, CallResult, Value};

use super::host::ProgramHost;
use crate::rtde::{BITS, Registers, Watchdog, WatchdogAction, is_input};

impl ProgramHost<'_> {
    /// Executes the URScript functions `read_input_…`, `read_output_…` and `write_output_…_register`.
    pub(super) fn register(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let number = call.arg(0).whole()?;
        let plant = &mut *self.plant;
        if let Some(kind) = call.name.strip_prefix("write_output_") {
            return write(&mut plant.outputs, kind, number, call.arg(1)).map(|()| CallResult::Value(Value::None));
        }
        let (registers, kind) = match call.name.strip_prefix("read_input_") {
            Some(kind) => (&plant.inputs, kind),
            None => (&plant.outputs, call.name.strip_prefix("read_output_")?),
        };
        read(registers, kind, number).map(CallResult::Value)
    }

    /// Executes the URScript function `rtde_set_watchdog(variable_name, min_frequency, action)`.
    pub(super) fn set_watchdog(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let (variable, action) = (call.arg(0).to_string(), call.arg(2).to_string());
        let frequency = call.arg(1).number().filter(|frequency| frequency.is_finite() && *frequency > 0.0)?;
        if !is_input(&variable) {
            return Some(CallResult::Error(format!("rtde_set_watchdog: {variable} is no RTDE input")));
        }
        let Some(action) = WatchdogAction::named(&action) else {
            return Some(CallResult::Error(format!("rtde_set_watchdog: unknown action {action}")));
        };
        let period = Duration::try_from_secs_f64(1.0 / frequency).ok()?;
        self.plant.watchdogs.set(Watchdog { variable, period, action, fed: self.plant.now, expired: false });
        Some(CallResult::Value(Value::None))
    }
}

fn read(registers: &Registers, kind: &str, number: i32) -> Option<Value> {
    let at = usize::try_from(number).ok()?;
    match kind {
        "boolean_register" => Some(Value::Bool(registers.bit(bit(number)?))),
        "integer_register" => registers.ints.get(at).copied().map(Value::Int),
        "float_register" => registers.doubles.get(at).copied().map(Value::Float),
        _ => None,
    }
}

fn write(registers: &mut Registers, kind: &str, number: i32, value: &Value) -> Option<()> {
    let at = usize::try_from(number).ok()?;
    match kind {
        "boolean_register" => registers.set_bit(bit(number)?, value.truth()?),
        "integer_register" => *registers.ints.get_mut(at)? = value.whole()?,
        "float_register" => *registers.doubles.get_mut(at)? = value.number()?,
        _ => return None,
    }
    Some(())
}

fn bit(number: i32) -> Option<u8> {
    u8::try_from(number).ok().filter(|bit| *bit < BITS)
}
