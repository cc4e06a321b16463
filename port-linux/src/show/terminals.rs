//! Everything on the terminals that the controller shows, for people and for scripts.

use outrigger_core::command::outputs::digital_levels;
use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::{BoardIo, ToolIo, Ur};
use outrigger_core::law::Law;
use outrigger_wire::robot::{Generation, Payload, SoftwareVersion};

use crate::json::Json;

/// What is shown now; `None` for what this controller does not publish, or has not yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terminals {
    /// The controller's software.
    pub software: SoftwareVersion,
    /// Levels, by `digital_bit`.
    pub inputs: u32,
    /// Levels of the outputs, likewise.
    pub outputs: Option<u32>,
    /// The terminals of the control box.
    pub board: Option<BoardIo>,
    /// The terminals of the tool.
    pub tool: Option<ToolIo>,
    /// The speed slider, 0 to 1.
    pub speed_slider: Option<f32>,
    /// The payload.
    pub payload: Option<Payload>,
}

impl Terminals {
    /// What `engine` knows; `None` without a session.
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

    /// Levels row by row: the name of a group, its inputs, and its outputs where they are shown.
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

    /// The analog inputs of the control box and its outputs, each with its unit; `None` where they are not shown.
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

    /// The analog inputs of the tool, and what is drawn from its supply; `None` where they are not shown.
    pub fn tool_analog(&self) -> Option<[String; 2]> {
        let tool = self.tool?;
        let [a, b] = tool.analog_inputs;
        Some([format!("{a:.3}, {b:.3}"), format!("{} V, {:.0} mA", tool.output_voltage, tool.current * 1e3)])
    }

    /// A few lines for people.
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

    /// One object for scripts: levels as arrays of 0 and 1, number 0 first; `null` for what is not shown.
    pub fn json(&self, json: &mut Json) {
        json.begin_object().key("software").text(&self.software.to_string());
        let cb2 = self.software.generation() == Generation::Cb2;
        for (name, first, count) in [("digital", 0, 8), ("configurable", 8, 8), ("tool", 16, 2)] {
            for (suffix, levels) in [("in", Some(self.inputs)), ("out", self.outputs)] {
                json.key(&format!("{name}_{suffix}"));
                let levels = levels.filter(|_| name != "configurable" || !cb2);
                let levels = levels.map(|levels| (first..first + count).map(move |bit| levels >> bit & 1));
                list(json, levels.map(Iterator::collect::<Vec<_>>), Json::integer);
            }
        }
        list(json.key("analog_in"), self.board.map(|board| board.analog_inputs), Json::single);
        list(json.key("analog_in_range"), self.board.map(|board| board.analog_input_ranges), Json::integer);
        list(json.key("analog_out"), self.board.map(|board| board.analog_outputs), Json::single);
        list(json.key("analog_out_domain"), self.board.map(|board| board.analog_output_domains), Json::integer);
        list(json.key("tool_analog_in"), self.tool.map(|tool| tool.analog_inputs), Json::single);
        list(json.key("tool_analog_in_range"), self.tool.map(|tool| tool.analog_input_ranges), Json::integer);
        single(json.key("tool_voltage"), self.tool.map(|tool| tool.output_voltage.into()));
        single(json.key("tool_current"), self.tool.map(|tool| tool.current));
        single(json.key("speed_slider"), self.speed_slider);
        single(json.key("payload"), self.payload.map(|payload| payload.mass));
        list(json.key("payload_cog"), self.payload.map(|payload| payload.center_of_gravity), Json::single);
        json.end_object();
    }
}

fn list<T: Copy>(
    json: &mut Json,
    values: Option<impl AsRef<[T]>>,
    print: impl for<'j> Fn(&'j mut Json, T) -> &'j mut Json,
) {
    match values {
        Some(values) => json.array(values.as_ref(), print),
        None => json.null(),
    };
}

fn single(json: &mut Json, value: Option<f32>) {
    match value {
        Some(value) => json.single(value),
        None => json.null(),
    };
}

/// `0 1 0 …`, the first bit first.
fn levels(bits: u32, first: u32, count: u32) -> String {
    let levels: Vec<_> = (first..first + count).map(|bit| if bits >> bit & 1 == 1 { "1" } else { "0" }).collect();
    levels.join(" ")
}

/// The interface has amperes.
fn milliamperes(value: f32) -> f32 {
    if value.abs() > 0.1 { value } else { value * 1e3 }
}

#[cfg(test)]
mod tests {
    use outrigger_tests::golden::hold;

    use super::*;

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
        let lines = [bare, whole, cb2].map(|terminals| {
            let mut json = Json::default();
            terminals.json(&mut json);
            format!("{}\n", json.as_str())
        });
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/show/golden/terminals.jsonl"), &lines.concat());
    }
}
