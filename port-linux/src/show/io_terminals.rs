//! The state of the controller's electrical terminals, for people and for scripts.

use outrigger_core::command::outputs::digital_levels;
use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::{BoardIo, ToolIo, Ur};
use outrigger_core::law::Law;
use outrigger_wire::robot::{Generation, Payload, SoftwareVersion};

use serde::{Serialize, Serializer};

use crate::json::Number;

/// The current state of the controller's electrical terminals, its software version, speed slider and payload. A value
/// is `None` if this controller does not publish it, or has not yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terminals {
    /// The version of the controller's software.
    pub software: SoftwareVersion,
    /// The levels of the digital inputs, one per bit: 0 to 7 standard, 8 to 15 configurable, 16 and 17 at the tool.
    pub inputs: u32,
    /// The levels of the digital outputs, one per bit: 0 to 7 standard, 8 to 15 configurable, 16 and 17 at the tool.
    /// `None` if they are not known.
    pub outputs: Option<u32>,
    /// The analog inputs and outputs, and the power supply, of the control box.
    pub board: Option<BoardIo>,
    /// The analog inputs and the supply at the tool's connector.
    pub tool: Option<ToolIo>,
    /// The position of the controller's speed slider, 0 to 1.
    pub speed_slider: Option<f32>,
    /// The mass and the centre of gravity of the payload on the flange.
    pub payload: Option<Payload>,
}

impl Terminals {
    /// Returns the terminals' state that `engine` has received. `None` without a session.
    #[must_use]
    pub fn of<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>) -> Option<Self> {
        let (identity, state, facts) = (engine.peer().identity()?, engine.state()?, engine.peer().facts());
        let generation = identity.software.generation();
        let levels = |bits: u64| digital_levels((bits & 0xffff_ffff) as u32, generation);
        let board = facts.board.map(|board| board.value);
        Some(Self {
            software: identity.software,
            inputs: levels(state.digital_inputs),
            outputs: state.digital_outputs.or(board.map(|board| board.digital_outputs.into())).map(levels),
            board,
            tool: facts.tool.map(|tool| tool.value),
            speed_slider: facts.speed_slider,
            payload: state.payload,
        })
    }

    /// Returns the levels of the digital terminals row by row: the name of a group of terminals, the levels of its
    /// inputs, and those of its outputs if they are known.
    pub fn digital(&self) -> impl Iterator<Item = (&'static str, String, Option<String>)> + '_ {
        let has_configurable = self.software.generation() != Generation::Cb2;
        let groups = [("digital", 0, 8), ("configurable", 8, 8), ("tool", 16, 2)];
        groups.into_iter().filter(move |(name, ..)| has_configurable || *name != "configurable").map(
            |(name, first, count)| {
                let outputs = self.outputs.map(|outputs| levels(outputs, first, count));
                (name, levels(self.inputs, first, count), outputs)
            },
        )
    }

    /// Returns two texts: the analog inputs of the control box, without a unit, and its outputs in mA or V (without a
    /// unit in an unknown mode). `None` if they are not shown.
    pub fn analog(&self) -> Option<[String; 2]> {
        let board = self.board?;
        let [a, b] = board.analog_inputs;
        let [first, second] = [0, 1].map(|index: usize| {
            let (value, domain) = (board.analog_outputs[index], board.analog_output_domains[index]);
            match domain {
                0 => format!("{:.2} mA", milliamperes(value)),
                1 => format!("{value:.2} V"),
                other => format!("{value:.3} (domain {other})"),
            }
        });
        Some([format!("{a:.3}, {b:.3}"), format!("{first}, {second}")])
    }

    /// Returns two texts: the analog inputs of the tool, without a unit, and the voltage and current of its supply in V
    /// and mA. `None` if they are not shown.
    pub fn tool_analog(&self) -> Option<[String; 2]> {
        let tool = self.tool?;
        let [a, b] = tool.analog_inputs;
        Some([format!("{a:.3}, {b:.3}"), format!("{} V, {:.0} mA", tool.output_voltage, tool.current * 1e3)])
    }

    /// Formats the software version, the levels of the controller's electrical terminals, the speed slider and the
    /// payload as a few lines for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("software {}\n", self.software);
        for (name, inputs, outputs) in self.digital() {
            let outputs = outputs.unwrap_or_else(|| "not shown".into());
            text.push_str(&format!("{name:<13} in {inputs:<17} out {outputs}\n"));
        }
        if let Some([inputs, outputs]) = self.analog() {
            text.push_str(&format!("{:<13} in {inputs:<17} out {outputs}\n", "analog"));
        }
        if let Some([inputs, supply]) = self.tool_analog() {
            text.push_str(&format!("{:<13} in {inputs:<17} supply {supply}\n", "tool analog"));
        }
        if let Some(slider) = self.speed_slider {
            text.push_str(&format!("{:<13} {:.0} %\n", "speed slider", slider * 100.0));
        }
        if let Some(Payload { mass, center_of_gravity: [x, y, z] }) = self.payload {
            text.push_str(&format!("{:<13} {mass:.3} kg at {x:.4}, {y:.4}, {z:.4} m\n", "payload"));
        }
        text
    }
}

/// The state of the terminals as a JSON object: levels as arrays of 0 and 1, number 0 first. `null` if a value is
/// not published.
#[derive(Serialize)]
struct Members {
    software: String,
    digital_in: Option<[u32; 8]>,
    digital_out: Option<[u32; 8]>,
    configurable_in: Option<[u32; 8]>,
    configurable_out: Option<[u32; 8]>,
    tool_in: Option<[u32; 2]>,
    tool_out: Option<[u32; 2]>,
    analog_in: Option<[Number<f32>; 2]>,
    analog_in_range: Option<[u8; 2]>,
    analog_out: Option<[Number<f32>; 2]>,
    analog_out_domain: Option<[u8; 2]>,
    tool_analog_in: Option<[Number<f32>; 2]>,
    tool_analog_in_range: Option<[u8; 2]>,
    tool_voltage: Option<f32>,
    tool_current: Option<Number<f32>>,
    speed_slider: Option<Number<f32>>,
    payload: Option<Number<f32>>,
    payload_cog: Option<[Number<f32>; 3]>,
}

impl Serialize for Terminals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn bits<const N: usize>(levels: Option<u32>, first: usize) -> Option<[u32; N]> {
            levels.map(|levels| std::array::from_fn(|at| levels >> (first + at) & 1))
        }
        let Self { software, outputs, board, tool, speed_slider, payload, .. } = *self;
        let inputs = Some(self.inputs);
        let has_configurable = software.generation() != Generation::Cb2;
        Members {
            software: software.to_string(),
            digital_in: bits(inputs, 0),
            digital_out: bits(outputs, 0),
            configurable_in: bits(inputs.filter(|_| has_configurable), 8),
            configurable_out: bits(outputs.filter(|_| has_configurable), 8),
            tool_in: bits(inputs, 16),
            tool_out: bits(outputs, 16),
            analog_in: board.map(|board| board.analog_inputs.map(Number)),
            analog_in_range: board.map(|board| board.analog_input_ranges),
            analog_out: board.map(|board| board.analog_outputs.map(Number)),
            analog_out_domain: board.map(|board| board.analog_output_domains),
            tool_analog_in: tool.map(|tool| tool.analog_inputs.map(Number)),
            tool_analog_in_range: tool.map(|tool| tool.analog_input_ranges),
            tool_voltage: tool.map(|tool| tool.output_voltage.into()),
            tool_current: tool.map(|tool| Number(tool.current)),
            speed_slider: speed_slider.map(Number),
            payload: payload.map(|payload| Number(payload.mass)),
            payload_cog: payload.map(|payload| payload.center_of_gravity.map(Number)),
        }
        .serialize(serializer)
    }
}

/// Formats the levels of terminals as `0 1 0 …`, the first bit first.
fn levels(bits: u32, first: u32, count: u32) -> String {
    let levels: Vec<_> = (first..first + count).map(|bit| if bits >> bit & 1 == 1 { "1" } else { "0" }).collect();
    levels.join(" ")
}

/// Converts the current of an analog output to milliamperes. The interface sends amperes; a value above 0.1 can only
/// be in milliamperes already, and is returned unchanged.
fn milliamperes(value: f32) -> f32 {
    if value.abs() > 0.1 { value } else { value * 1e3 }
}

#[cfg(test)]
mod tests {
    use outrigger_tests::require::committed::hold;

    use super::*;
    use crate::json::text;

    #[test]
    fn the_objects_for_scripts_are_those_that_are_committed() {
        let bare = Terminals {
            software: SoftwareVersion::new(5, 15),
            inputs: 0x1_0203,
            outputs: None,
            board: None,
            tool: None,
            speed_slider: None,
            payload: None,
        };
        let board = BoardIo {
            digital_inputs: 0,
            digital_outputs: 0,
            analog_inputs: [0.1, f32::NAN],
            analog_input_ranges: [0, 255],
            analog_outputs: [1e-7, 5.0],
            analog_output_domains: [0, 1],
        };
        let tool = ToolIo { analog_inputs: [0.0, 4.5], analog_input_ranges: [1, 2], output_voltage: 24, current: 0.25 };
        let whole = Terminals {
            outputs: Some(0x2_8001),
            board: Some(board),
            tool: Some(tool),
            speed_slider: Some(0.3),
            payload: Some(Payload { mass: 1.5, center_of_gravity: [0.0, -0.01, 0.1] }),
            ..bare
        };
        let cb2 = Terminals { software: SoftwareVersion::new(1, 8), ..whole };
        let lines = [bare, whole, cb2].map(|terminals| format!("{}\n", text(&terminals)));
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/show/golden/terminals.jsonl"), &lines.concat());
    }
}
