//! Everything on the terminals that the controller shows, for people and for scripts.

use outrigger_core::command::outputs::digital_levels;
use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::{BoardIo, ToolIo};
use outrigger_core::law::Law;
use outrigger_core::robot::{Generation, Payload, SoftwareVersion};

use crate::json::Json;

/// What is shown now; `None` for what this controller does not publish, or has not yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Terminals {
    software: SoftwareVersion,
    /// Levels, by `digital_bit`.
    inputs: u32,
    outputs: Option<u32>,
    board: Option<BoardIo>,
    tool: Option<ToolIo>,
    speed_slider: Option<f32>,
    payload: Option<Payload>,
}

impl Terminals {
    /// What `engine` knows; `None` without a session.
    #[must_use]
    pub(super) fn of<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>) -> Option<Self> {
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

    /// A few lines for people.
    #[must_use]
    pub(super) fn text(&self) -> String {
        let mut text = format!("software {}\n", self.software);
        let mut digital = |name: &str, first: u32, count: u32| {
            let outputs = self.outputs.map_or_else(|| "not shown".into(), |outputs| levels(outputs, first, count));
            let inputs = levels(self.inputs, first, count);
            text.push_str(&format!("{name:<13} in {inputs:<17} out {outputs}\n"));
        };
        digital("digital", 0, 8);
        if self.software.generation() != Generation::Cb2 {
            digital("configurable", 8, 8);
        }
        digital("tool", 16, 2);
        if let Some(board) = self.board {
            let [a, b] = board.analog_inputs;
            let [first, second] = [0, 1].map(|index: usize| {
                let (value, domain) = (board.analog_outputs[index], board.analog_output_domains[index]);
                if domain == 0 { format!("{:.2} mA", milliamperes(value)) } else { format!("{value:.2} V") }
            });
            text.push_str(&format!("{:<13} in {:<17} out {first}, {second}\n", "analog", format!("{a:.3}, {b:.3}")));
        }
        if let Some(tool) = self.tool {
            let [a, b] = tool.analog_inputs;
            let inputs = format!("{a:.3}, {b:.3}");
            let (volts, current) = (tool.output_voltage, tool.current * 1e3);
            text.push_str(&format!("{:<13} in {inputs:<17} supply {volts} V, {current:.0} mA\n", "tool analog"));
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
    pub(super) fn json(&self, json: &mut Json) {
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
