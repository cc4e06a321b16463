//! The command `outrigger check-config`: lists every fault of a configuration, or the values that it would put in
//! force.

use std::io::Write as _;
use std::path::Path;

use outrigger_config::{
    BoardInput, DeviceSettings, End, Format, HostSettings, Pins, RosSettings, RunSettings, ServeSettings, SetExpertKey,
    SourceInput, SourceSettings, Stamps, Start, Surface, Terminals,
};
use outrigger_core::command::SourceConfig;
use outrigger_core::law::{AxisConfig, LawConfig, StandoffConfig, ToolAxesConfig, ToolAxis};
use outrigger_core::mode::RequestAs;

use outrigger::exit::{Outcome, output_closed};
use outrigger::vendor::effect_lines::Line;

/// Prints that the configuration `file` is valid, and the values that it would put in force.
///
/// # Errors
/// [`Failure::BadInput`](outrigger::exit::Failure::BadInput) if standard output cannot be written.
pub(crate) fn say(file: &Path, Lines(lines): &Lines, Lines(warnings): &Lines) -> Outcome {
    let text = format!("{} is valid\n{lines}{warnings}", file.display());
    write!(std::io::stdout(), "{text}").or_else(|error| output_closed(&error))
}

/// Returns a warning for each key of a table `expert` that a configuration sets: its line, its name, and the damage
/// that a wrong value can do.
pub(crate) fn expert(keys: Vec<SetExpertKey>) -> Lines {
    let mut lines = Lines::default();
    for (line, name, key) in keys {
        lines.say("warning", format!("line {line}: {name} is set: {}", key.breaks));
    }
    lines
}

/// Returns warnings about settings of the sensors that are valid but should be changed.
pub(crate) fn warnings(sources: &[SourceSettings]) -> impl Iterator<Item = String> {
    sources.iter().filter_map(SourceSettings::warning)
}

/// Returns the text of the values that a host's configuration would put in force, as `check-config` prints it.
pub(crate) fn on_host<const N: usize>(
    [robot, coast]: [Vec<Line>; 2],
    law: &LawConfig<N>,
    sources: &[SourceSettings],
    run: &RunSettings,
    host: &HostSettings,
    (serve, ros): (&ServeSettings, &RosSettings),
) -> Lines {
    let mut lines = Lines::default();
    lines.extend(robot);
    lines.law(law, &names(sources));
    lines.sources(sources, described);
    lines.extend(warnings(sources).map(|warning| ("warning", warning)));
    lines.run(run, host);
    lines.serve(serve);
    lines.ros(ros);
    lines.extend(coast);
    lines
}

/// Returns the text of the values that a board's configuration would put in force, as `check-config` prints it.
pub(crate) fn on_board<const N: usize>(
    [robot, coast]: [Vec<Line>; 2],
    law: &LawConfig<N>,
    sources: &[SourceSettings<BoardInput>],
    device: &DeviceSettings,
) -> Lines {
    let mut lines = Lines::default();
    lines.extend(robot);
    lines.law(law, &names(sources));
    lines.sources(sources, described_on_board);
    lines.device(device);
    lines.extend(coast);
    lines
}

fn names<I>(sources: &[SourceSettings<I>]) -> Vec<&str> {
    sources.iter().map(|source| source.name.as_str()).collect()
}

/// The text that `check-config` prints: lines with the name of a setting and its value each.
#[derive(Default)]
pub(crate) struct Lines(String);

impl Lines {
    fn say(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.push_str(&format!("  {name:<10} {value}\n"));
    }

    fn extend(&mut self, lines: impl IntoIterator<Item = Line>) {
        lines.into_iter().for_each(|(name, value)| self.say(name, value));
    }

    fn sources<I>(&mut self, sources: &[SourceSettings<I>], described: impl Fn(&SourceSettings<I>) -> String) {
        for source in sources {
            self.say("source", format!("\"{}\": {}", source.name, described(source)));
        }
    }

    fn law<const N: usize>(&mut self, law: &LawConfig<N>, sources: &[&str]) {
        self.say("law", law.name());
        if let LawConfig::ToolAxes(ToolAxesConfig { axes, .. }) = law {
            for ((word, axis), config) in ToolAxis::WORDS.iter().zip(axes) {
                self.axis((word, *axis), config.as_ref(), sources);
            }
        }
        if let LawConfig::Standoff(StandoffConfig { distance, range: [least, most], longest_approach, .. }) = law {
            let range = format!("law.expert.range {} to {} m", shown(*least), shown(*most));
            let approach = format!("approaches at most {longest_approach} m without a reading in it");
            self.say("standoff", format!("{distance} m; {range}; {approach}"));
        }
    }

    /// Adds a line about one axis of the tool: the sensor that moves it, its speed per error of the reading, and the
    /// limits of its motion. Without `config` the axis is held at its position.
    fn axis(&mut self, (word, axis): (&str, ToolAxis), config: Option<&AxisConfig>, sources: &[&str]) {
        let (at, unit) = if axis.turns() { ("about", "rad") } else { ("along", "m") };
        let Some(AxisConfig { source, value, target, slope, range, proportional, speed_limit, reach, .. }) = config
        else {
            return self.say("axis", format!("{word}: held at its position at arming"));
        };
        let name = sources.get(usize::from(source.0)).unwrap_or(&"");
        let number = if *value == 1 { String::new() } else { format!(", value {value},") };
        let below = shown(proportional / slope.abs());
        let way = if *slope > 0.0 { "below" } else { "above" };
        let range = range.map_or(String::new(), |[least, most]| format!(", while it reads {least} to {most}"));
        self.say(
            "axis",
            format!(
                "{word}: \"{name}\"{number} to {target}{range}; {below} {unit}/s {at} +{word} per unit {way} it, at most \
                 {speed_limit} {unit}/s, and {reach} {unit} either way"
            ),
        );
    }

    fn ros(&mut self, ros: &RosSettings) {
        if *ros == RosSettings::default() {
            return;
        }
        let RosSettings {
            command,
            goals_request,
            forward_timeout,
            freedrive_timeout,
            interface: _,
            surface,
            offer_reliable,
            legacy_names,
            meshes,
            min_payload,
            max_payload,
            terminals,
            stamps,
            variables,
            peers,
            namespace,
            tf_prefix,
        } = ros;
        let names = match surface {
            Surface::Driver => "names of UR's driver",
            Surface::Native => "names of PolyScope X",
            Surface::Both => "names of UR's driver and of PolyScope X",
        };
        let interface = ros.joins_by();
        let at = interface.map_or_else(
            || "every network interface that ROS_AUTOMATIC_DISCOVERY_RANGE permits,".to_owned(),
            |address| address.to_string(),
        );
        let mut text = format!("with `outrigger ros2 CONFIG.toml` a node at {at} with {names}");
        if !namespace.is_empty() {
            text.push_str(&format!(" below {namespace}"));
        }
        if !tf_prefix.is_empty() {
            text.push_str(&format!(", joints and frames begin with {tf_prefix}"));
        }
        if *legacy_names {
            text.push_str("; also the names of UR's driver of 2015");
        }
        if *meshes {
            text.push_str("; meshes of ur_description");
        }
        if (*min_payload, *max_payload) != (RosSettings::default().min_payload, RosSettings::default().max_payload) {
            text.push_str(&format!("; set_payload accepts {min_payload} to {max_payload} kg"));
        }
        if *terminals == Terminals::Ports {
            text.push_str("; a topic for each port of inputs and outputs");
        }
        if *stamps == Stamps::Controller {
            text.push_str("; states carry the controller's time");
        }
        if !variables.is_empty() {
            text.push_str(&format!("; topics of {}", variables.join(", ")));
        }
        if !peers.is_empty() {
            text.push_str(&format!(", peers {}", peers.join(", ")));
        }
        if !offer_reliable {
            text.push_str("; native states are sent once");
        }
        text.push_str(if *command { "; it commands the arm, for any client on " } else { "; it commands nothing" });
        if *command {
            text.push_str(if interface.is_some_and(|address| address.is_loopback()) {
                "this machine"
            } else {
                "that network, without authentication"
            });
        }
        if *goals_request {
            text.push_str("; a goal also starts commanding");
        }
        if *forward_timeout != RosSettings::default().forward_timeout {
            text.push_str(&format!("; streamed speeds hold for {} s", forward_timeout.as_secs_f64()));
        }
        if *freedrive_timeout != RosSettings::default().freedrive_timeout {
            text.push_str(&format!("; freedrive must be renewed within {} s", freedrive_timeout.as_secs_f64()));
        }
        self.say("ros", text);
    }

    fn serve(&mut self, serve: &ServeSettings) {
        if let Some(listen) = serve.listen {
            self.say("serve", format!("states and events at {listen}, for up to {} readers", serve.readers));
        }
    }

    fn run(&mut self, run: &RunSettings, host: &HostSettings) {
        let request = match run.request {
            Start::Operator => "when the operator starts it".to_owned(),
            Start::Start => {
                format!("automatically, once, if every precondition is met within {} s", run.start_within.as_secs_f32())
            }
        };
        let end = match run.end {
            End::Never => "runs until it is ended".to_owned(),
            End::Over => format!(
                "ends {} s after the motion, after a fault or a stop, or if the start is refused",
                run.settle.as_secs_f32()
            ),
            End::Done => format!("ends {} s after the motion, or after a fault", run.settle.as_secs_f32()),
        };
        self.say("run", format!("commands {request}; {end}"));
        if let Some(record) = &run.record {
            self.say("record", format!("everything, to {}", record.display()));
        }
        if !run.record_variables.is_empty() {
            let without = if run.record.is_none() { ", to the file of --record" } else { "" };
            self.say("variables", format!("{}, from RTDE{without}", run.record_variables.join(", ")));
        }
        let requests = if run.requests { "`outrigger ctl`, by this user and root" } else { "none" };
        self.say("requests", requests);
        if run.lock_pendant {
            let what = "the pendant's user role is `locked` while the arm is commanded, and restored afterwards";
            self.say(
                "pendant",
                format!("{what}; CB3 from 3.1 on. It is not a safety function and does not affect the emergency stop"),
            );
            let death =
                "after a kill, the next run for this robot restores it, or `outrigger dashboard ROBOT unlock-pendant`";
            self.say("", format!("and also when this process ends, unless it is killed; {death}"));
        }
        self.say("host", format!("requested: {}", host.asked()));
        let recordings = run.recordings.as_ref().map_or("none".into(), |at| {
            let (files, megabytes) = (run.recordings_kept, run.recordings_bytes / 1_000_000);
            format!("in {}, the newest {files}, {megabytes} MB in total at most", at.display())
        });
        self.say("recordings", recordings);
    }

    fn device(&mut self, device: &DeviceSettings) {
        let gateway = device.gateway.map_or("no gateway".into(), |at| format!("gateway {at}"));
        self.say("device", format!("{}/{}, {gateway}", device.address, device.prefix));
        let telemetry = device.telemetry.map_or("none".into(), |to| {
            let also = to.also.map_or(String::new(), |also| format!(" and {also}"));
            format!("to {}:{}{also}", to.address, to.port)
        });
        self.say("telemetry", telemetry);
        let requests = device.requests.as_ref().map_or("none: the port is closed".into(), |requests| {
            format!("at UDP port {}, with the key in {}", requests.port, requests.key_file.display())
        });
        self.say("requests", requests);
        let Pins { request, request_as, acknowledge, stop, .. } = device.pins;
        let held = if request_as == RequestAs::Held { "request (held)" } else { "request (edge)" };
        let brakes = (device.brake_release_pin, "brake release (edge)");
        let pins = [(stop, "stop"), (acknowledge, "acknowledge"), (request, held), brakes];
        let pins: Vec<_> = pins.into_iter().filter_map(|(connected, name)| connected.then_some(name)).collect();
        self.say("pins", if pins.is_empty() { "none".into() } else { pins.join(", ") });
        self.say("recorder", device.recorder.map_or("the board's default".into(), |bytes| format!("{bytes} bytes")));
    }
}

fn described_on_board(source: &SourceSettings<BoardInput>) -> String {
    let from = match (&source.input, source.format) {
        (BoardInput::Uart { baud }, Format::Text) => format!("lines at the board's serial port, {baud} Bd"),
        (BoardInput::Uart { baud }, Format::Postcard) => format!("frames at the board's serial port, {baud} Bd"),
        (BoardInput::Gp2y0e03, _) => "a GP2Y0E03 at the board's I²C bus, 25 times per second".into(),
        (BoardInput::Adc { port, rate }, _) => format!("the board's analogue input {port}, {rate} times per second"),
        (BoardInput::Ads131m06 { rate, bridges }, _) => format!(
            "a force/torque sensor through an ADS131M06 at the board's SPI port, {} times per second, its axes independent by {:.2}",
            rate.per_second(),
            bridges.independence()
        ),
    };
    format!("{from}, {}", kept(source))
}

fn described(source: &SourceSettings) -> String {
    let input = match &source.input {
        SourceInput::Udp { listen, from: Some(from) } => format!("datagrams at {listen}, from {from} only"),
        SourceInput::Udp { listen, from: None } => format!("datagrams at {listen}, from any sender"),
        SourceInput::Serial { device, baud } => format!("{} at {baud} Bd", device.display()),
        SourceInput::Stdin => "lines on standard input".into(),
        SourceInput::Requests => "`outrigger ctl ROBOT sample`".into(),
        SourceInput::Simulated { rate, .. } => format!("simulated, {rate} Hz"),
    };
    format!("{input}, {}", kept(source))
}

/// Returns a text about a sensor's readings: the number of values in each, the age up to which one is accepted \[s\],
/// and the range outside which a value is a fault.
fn kept<I>(source: &SourceSettings<I>) -> String {
    let SourceConfig { min, max, max_age, .. } = source.judged;
    // Without a range every finite value is accepted.
    let range = if min > f32::MIN || max < f32::MAX {
        format!("source.range {} to {}", shown(min), shown(max))
    } else {
        "no source.range".to_owned()
    };
    format!("{} value(s), at most {} s old, {range}", source.values, max_age.as_secs_f32())
}

/// Rounds a computed value to six digits for display: the default range of a standoff of 0.15 m ends at 0.35000002 m.
fn shown(value: f32) -> f32 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
