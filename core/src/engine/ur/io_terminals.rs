//! The terminals of the control box and the tool, which the primary link reports ten times a second.

use crate::command::outputs::{AnalogDomain, ShownAnalog};
use outrigger_wire::math::double_conversion::to_f32_by_call;
use outrigger_wire::primary::{MasterboardData, MasterboardDataCb2, ToolData};

/// The levels and signals at the terminals of the control box (masterboard data,
/// `core/docs/protocol/ur-client-interfaces.md 3.5`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct BoardIo {
    /// The levels of the digital inputs: bits 0 to 7 standard, 8 to 15 configurable, 16 and 17 at the tool; on CB2 8
    /// and 9 at the tool.
    pub digital_inputs: u32,
    /// The levels of the digital outputs, with the same bits as the digital inputs.
    pub digital_outputs: u32,
    /// The signals at the analog inputs of the control box \[V or A\].
    pub analog_inputs: [f32; 2],
    /// The numbers of the ranges of the analog inputs, as the controller reports them.
    pub analog_input_ranges: [u8; 2],
    /// The signals at the analog outputs of the control box \[V or A\].
    pub analog_outputs: [f32; 2],
    /// The domains of the analog outputs: 0 current, 1 voltage.
    pub analog_output_domains: [u8; 2],
}

/// The signals at the terminals of the tool (tool data, `core/docs/protocol/ur-client-interfaces.md 3.4`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolIo {
    /// The signals at the analog inputs of the tool \[V or A\].
    pub analog_inputs: [f32; 2],
    /// The numbers of the ranges of the analog inputs, as the controller reports them.
    pub analog_input_ranges: [u8; 2],
    /// The supply voltage at the tool connector \[V\]: 0, 12 or 24.
    pub output_voltage: u8,
    /// The current drawn from the tool connector \[A\].
    pub current: f32,
}

impl BoardIo {
    pub(super) fn of(board: &MasterboardData<'_>) -> Self {
        Self {
            digital_inputs: board.digital_input_bits().cast_unsigned(),
            digital_outputs: board.digital_output_bits().cast_unsigned(),
            analog_inputs: board.analog_input().map(to_f32_by_call),
            analog_input_ranges: board.analog_input_range(),
            analog_outputs: board.analog_output().map(to_f32_by_call),
            analog_output_domains: board.analog_output_domain(),
        }
    }

    pub(super) fn of_cb2(board: &MasterboardDataCb2<'_>) -> Self {
        Self {
            digital_inputs: board.digital_input_bits().cast_unsigned().into(),
            digital_outputs: board.digital_output_bits().cast_unsigned().into(),
            analog_inputs: board.analog_input().map(to_f32_by_call),
            analog_input_ranges: board.analog_input_range(),
            analog_outputs: board.analog_output().map(to_f32_by_call),
            analog_output_domains: board.analog_output_domain(),
        }
    }

    /// Returns the domain (voltage or current) of each analog output of the control box, and its level as a share of
    /// the span, 0 to 1; NaN in an unknown domain.
    #[must_use]
    pub fn shown_analog(&self) -> [ShownAnalog; 2] {
        let [first, second] = self.analog_outputs;
        let [of_first, of_second] = self.analog_output_domains;
        [shown(first, of_first), shown(second, of_second)]
    }
}

impl ToolIo {
    pub(super) fn of(tool: &ToolData<'_>) -> Self {
        Self {
            analog_inputs: [to_f32_by_call(tool.analog_input_2()), to_f32_by_call(tool.analog_input_3())],
            analog_input_ranges: [tool.analog_input_range_2(), tool.analog_input_range_3()],
            output_voltage: tool.tool_output_voltage(),
            current: tool.tool_current(),
        }
    }
}

fn shown(value: f32, domain: u8) -> ShownAnalog {
    if domain != 0 {
        // An unknown domain confirms no level.
        let level = if domain == 1 { value / 10.0 } else { f32::NAN };
        return ShownAnalog { domain: AnalogDomain::Voltage, level };
    }
    // The value is in amperes on this interface; a terminal has at most 20 mA, so a higher value is in milliamperes.
    let milliamperes = if value.abs() > 0.1 { value } else { value * 1e3 };
    ShownAnalog { domain: AnalogDomain::Current, level: (milliamperes - 4.0) / 16.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_output_is_5_volts_or_12_milliamperes_in_either_unit() {
        for (value, domain, expected) in
            [(5.0, 1, AnalogDomain::Voltage), (0.012, 0, AnalogDomain::Current), (12.0, 0, AnalogDomain::Current)]
        {
            let shown = shown(value, domain);
            assert_eq!(shown.domain, expected);
            assert!((shown.level - 0.5).abs() < 1e-5, "{shown:?}");
        }
        assert!(shown(5.0, 2).level.is_nan(), "the domain has no name");
    }
}
