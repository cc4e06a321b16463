//! Every RTDE input variable, and the effect of writing it (`core/docs/protocol/ur-rtde.md 6, 7`).

use std::collections::BTreeMap;

use super::outputs::{Since, number_in};
use super::registers::{Registers, UPPER_BITS, UPPER_NUMBERS};
use super::value::Value;
use crate::io::{DigitalOutput, Io};
use crate::robot::Robot;

/// A row of the table of RTDE inputs: one variable, or a range of registers.
#[derive(Debug)]
pub(crate) struct Input {
    name: &'static str,
    numbers: Option<(u8, u8)>,
    since: Since,
    /// The value zero in the RTDE variable's type.
    pub(crate) zero: Value,
    /// `true` if the variable is a register that is reserved for a fieldbus by convention.
    pub(crate) lower: bool,
}

/// One RTDE input variable: its row in the table of inputs, and its register number (0 if it is no register).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) input: &'static Input,
    pub(crate) number: u8,
}

impl Field {
    pub(crate) fn named(name: &str) -> Option<Self> {
        INPUTS.iter().find_map(|input| Some(Self { input, number: number_in(input.name, input.numbers, name)? }))
    }

    /// Returns the whole name of the variable, with its register number.
    pub(crate) fn name(&self) -> String {
        let number = self.input.numbers.map(|_| self.number.to_string());
        format!("{}{}", self.input.name, number.unwrap_or_default())
    }

    pub(crate) fn since(&self) -> Since {
        self.input.since
    }
}

const UPPER: Since = Since::Release(Some((3, 9, 0)), (5, 3, 0));
/// The first software versions that have the RTDE inputs for the tool's digital outputs. The versions are not
/// confirmed, because the vendor's guide does not contain these inputs; drivers use them on every software.
const TOOL: Since = Since::Unconfirmed(Some((3, 4, 0)), (5, 0, 0));

const fn input(name: &'static str, zero: Value) -> Input {
    Input { name, numbers: None, since: Since::Rtde, zero, lower: false }
}

const fn lower(name: &'static str, numbers: Option<(u8, u8)>, zero: Value) -> Input {
    Input { name, numbers, since: Since::Rtde, zero, lower: true }
}

const fn upper(name: &'static str, first: u8, last: u8, zero: Value) -> Input {
    Input { name, numbers: Some((first, last)), since: UPPER, zero, lower: false }
}

static INPUTS: &[Input] = &[
    input("speed_slider_mask", Value::Uint32(0)),
    input("speed_slider_fraction", Value::Double(0.0)),
    input("standard_digital_output_mask", Value::Uint8(0)),
    input("standard_digital_output", Value::Uint8(0)),
    input("configurable_digital_output_mask", Value::Uint8(0)),
    input("configurable_digital_output", Value::Uint8(0)),
    Input { since: TOOL, ..input("tool_digital_output_mask", Value::Uint8(0)) },
    Input { since: TOOL, ..input("tool_digital_output", Value::Uint8(0)) },
    input("standard_analog_output_mask", Value::Uint8(0)),
    input("standard_analog_output_type", Value::Uint8(0)),
    input("standard_analog_output_0", Value::Double(0.0)),
    input("standard_analog_output_1", Value::Double(0.0)),
    input("external_force_torque", Value::Vector6([0.0; 6])),
    lower("input_bit_registers0_to_31", None, Value::Uint32(0)),
    lower("input_bit_registers32_to_63", None, Value::Uint32(0)),
    upper("input_bit_register_", UPPER_BITS, 127, Value::Bool(false)),
    lower("input_int_register_", Some((0, UPPER_NUMBERS - 1)), Value::Int32(0)),
    upper("input_int_register_", UPPER_NUMBERS, 47, Value::Int32(0)),
    lower("input_double_register_", Some((0, UPPER_NUMBERS - 1)), Value::Double(0.0)),
    upper("input_double_register_", UPPER_NUMBERS, 47, Value::Double(0.0)),
];

/// A constructor of a digital output from its number.
type ByNumber = fn(u8) -> DigitalOutput;

/// The controller's state that RTDE input variables change.
pub(crate) struct Targets<'a> {
    pub(crate) io: &'a mut Io,
    pub(crate) robot: &'a mut Robot,
    pub(crate) registers: &'a mut Registers,
    pub(crate) external_wrench: &'a mut [f64; 6],
}

/// The last value of every RTDE input variable that a client has written; it is stored because a mask and its values
/// may arrive in different packages.
#[derive(Debug, Default)]
pub(crate) struct Image(BTreeMap<String, Value>);

impl Image {
    fn small(&self, name: &str) -> u8 {
        match self.0.get(name) {
            Some(Value::Uint8(value)) => *value,
            _ => 0,
        }
    }

    fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(Value::Double(value)) => *value,
            _ => 0.0,
        }
    }

    /// Writes the values of one RTDE input package. Returns an error for each value that is not allowed; such a value
    /// has no effect.
    pub(crate) fn apply(&mut self, values: &[(Field, Value)], targets: &mut Targets<'_>) -> Vec<String> {
        for (field, value) in values {
            self.0.insert(field.name(), *value);
            register(field, *value, targets);
        }
        let written = |name: &str| values.iter().any(|(field, _)| field.input.name.starts_with(name));
        let mut refused = vec![];
        if written("speed_slider") && self.0.get("speed_slider_mask").is_some_and(|m| matches!(m, Value::Uint32(1..))) {
            let fraction = self.number("speed_slider_fraction");
            if (0.0..=1.0).contains(&fraction) {
                targets.robot.slider = fraction;
            } else {
                refused.push(format!("speed_slider_fraction {fraction} is not within 0 and 1"));
            }
        }
        let digital: [(&str, ByNumber); 3] = [
            ("standard_digital_output", DigitalOutput::Standard),
            ("configurable_digital_output", DigitalOutput::Configurable),
            ("tool_digital_output", DigitalOutput::Tool),
        ];
        for (name, output) in digital.into_iter().filter(|(name, _)| written(name)) {
            let (mask, levels) = (self.small(&format!("{name}_mask")), self.small(name));
            for bit in (0..8).filter(|bit| (mask >> bit) & 1 != 0) {
                targets.io.set_digital(output(bit), (levels >> bit) & 1 != 0);
            }
        }
        if written("standard_analog_output") {
            refused.extend(self.analog(targets.io));
        }
        refused
    }

    fn analog(&self, io: &mut Io) -> Vec<String> {
        let mut refused = vec![];
        let (mask, domains) = (self.small("standard_analog_output_mask"), self.small("standard_analog_output_type"));
        for port in (0..2).filter(|port| (mask >> port) & 1 != 0) {
            let share = self.number(&format!("standard_analog_output_{port}"));
            if !(0.0..=1.0).contains(&share) {
                refused.push(format!("standard_analog_output_{port} {share} is not within 0 and 1"));
                continue;
            }
            if let Some(domain) = io.analog_out_domain.get_mut(port) {
                *domain = (domains >> port) & 1;
            }
            io.set_analog(port, share);
        }
        refused
    }
}

/// Writes a register or the external force and torque. All other variables take effect together with their mask.
fn register(field: &Field, value: Value, targets: &mut Targets<'_>) {
    let (registers, number) = (&mut *targets.registers, usize::from(field.number));
    match (field.input.name, value) {
        ("input_bit_registers0_to_31", Value::Uint32(word)) => registers.set_word(0, word),
        ("input_bit_registers32_to_63", Value::Uint32(word)) => registers.set_word(32, word),
        ("input_bit_register_", Value::Bool(on)) => registers.set_bit(field.number, on),
        ("input_int_register_", Value::Int32(value)) => {
            registers.ints.get_mut(number).into_iter().for_each(|slot| *slot = value);
        }
        ("input_double_register_", Value::Double(value)) => {
            registers.doubles.get_mut(number).into_iter().for_each(|slot| *slot = value);
        }
        ("external_force_torque", Value::Vector6(wrench)) => *targets.external_wrench = wrench,
        _ => {}
    }
}
