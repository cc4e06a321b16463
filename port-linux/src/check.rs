//! `outrigger check-config`: everything wrong with a configuration, or what it would put in force.

use std::io::Write as _;

use outrigger_core::engine::krc::{Control as FriControl, KrcConfig, TaskFrame};
use outrigger_core::engine::ur::StatesFrom;
use outrigger_core::law::{LawConfig, StandoffConfig};
use outrigger_core::mode::RequestAs;
use outrigger_core::robot::SoftwareVersion;
use outrigger_core::time::Duration;

use crate::args::CheckConfigArgs;
use crate::config::{
    AnyConfiguration, Board, BoardInput, Configuration, Control, DeviceSettings, End, Format, HostSettings, KrcBoard,
    KrcConfiguration, Pins, RunSettings, ServeSettings, SourceInput, SourceSettings, Start,
};
use crate::exit::{Outcome, output_closed};
use crate::maker::krc::words;
use crate::maker::ur::coast;

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`](crate::exit::Failure::BadInput) with one line per problem.
pub fn run(args: &CheckConfigArgs) -> Outcome {
    let text = match AnyConfiguration::load(&args.config)? {
        AnyConfiguration::Host(configuration) => host(&configuration),
        AnyConfiguration::Krc(configuration) => krc(&configuration),
        AnyConfiguration::Board(board) => self::board(&board),
        AnyConfiguration::KrcBoard(board) => krc_board(&board),
    };
    let text = format!("{} is valid\n{text}", args.config.display());
    write!(std::io::stdout(), "{text}").or_else(|error| output_closed(&error))
}

/// What is valid and better changed.
pub(crate) fn warnings(sources: &[SourceSettings]) -> impl Iterator<Item = String> {
    sources.iter().filter_map(SourceSettings::warning)
}

/// What the configuration of a host's process would put in force, one line each.
fn host(configuration: &Configuration) -> String {
    let Configuration { control, run, host, serve } = configuration;
    let mut lines = Lines::default();
    lines.control(control, described);
    lines.warnings(&control.sources);
    lines.run(run, host);
    lines.serve(serve);
    lines.coast(control);
    lines.0
}

/// What the configuration beside a KRC would put in force, one line each.
fn krc(configuration: &KrcConfiguration) -> String {
    let KrcConfiguration { listen, engine, law, sources, run, host, serve } = configuration;
    let mut lines = Lines::default();
    lines.krc(engine, &listen.to_string(), law);
    for source in sources {
        lines.say("source", format!("\"{}\": {}", source.name, described(source)));
    }
    lines.warnings(sources);
    lines.run(run, host);
    lines.serve(serve);
    lines.krc_coast(engine);
    lines.0
}

/// What a board's configuration would put in force, one line each.
fn board(board: &Board) -> String {
    let Board { control, device } = board;
    let mut lines = Lines::default();
    lines.control(control, described_on_board);
    lines.device(device);
    lines.coast(control);
    lines.0
}

/// What the configuration of a board beside a KRC would put in force, one line each.
fn krc_board(board: &KrcBoard) -> String {
    let KrcBoard { engine, law, sources, device } = board;
    let mut lines = Lines::default();
    lines.krc(engine, &format!("{}:{}", device.address, engine.peer.port), law);
    for source in sources {
        lines.say("source", format!("\"{}\": {}", source.name, described_on_board(source)));
    }
    lines.device(device);
    lines.krc_coast(engine);
    lines.0
}

/// Lines of a name and what is said of it.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn say(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.push_str(&format!("  {name:<10} {value}\n"));
    }

    fn krc(&mut self, engine: &KrcConfig, listen: &str, law: &LawConfig<7>) {
        let handshake = engine.peer.handshake;
        let peer = engine.peer.address.map_or_else(|| "the first that sends".into(), |peer| peer.to_string());
        self.say("robot", format!("KRC at {peer}, measurements to {listen}, handshake {}", handshake.name()));
        self.say("control", scheme(&engine.peer.control));
        let task_frame = match engine.peer.task_frame {
            TaskFrame::Base => "the base's",
            TaskFrame::Tool => "the tool's",
        };
        self.say("task frame", format!("{task_frame} axes: what the KRL program must have set"));
        let fastest = engine.limits.velocity.max_abs();
        self.say("limits", format!("at most {fastest} rad/s, {} rad/s²", engine.limits.acceleration.max_abs()));
        let tracking = joints(&engine.peer.tracking.joints_in(&engine.peer.control));
        let tool = match engine.peer.control {
            FriControl::Position | FriControl::JointImpedance(_) => String::new(),
            FriControl::ToolImpedance(_) => {
                format!(", the tool {} m and {} rad", engine.peer.tracking.linear, engine.peer.tracking.angular)
            }
        };
        self.say("tracking", format!("joints may be {tracking} rad from where they are commanded to be{tool}"));
        self.law(law);
    }

    fn krc_coast(&mut self, engine: &KrcConfig) {
        for millis in [1, 10] {
            let coast = engine.worst_coast(Duration::from_millis(millis));
            self.say("coast", format!("at a period of {millis} ms: {}", words::coast(&coast)));
        }
    }

    fn law<const N: usize>(&mut self, law: &LawConfig<N>) {
        self.say("law", law.name());
        if let LawConfig::Standoff(StandoffConfig { distance, range: [least, most], longest_approach, .. }) = law {
            let sight = format!("readings from {least} to {most} m are a sight of the surface");
            self.say("standoff", format!("{distance} m; {sight}; without one it nears at most {longest_approach} m"));
        }
    }

    fn serve(&mut self, serve: &ServeSettings) {
        if let Some(listen) = serve.listen {
            self.say("serve", format!("states and events at {listen}, for up to {} readers", serve.readers));
        }
    }

    fn control<I>(&mut self, control: &Control<I>, described: impl Fn(&SourceSettings<I>) -> String) {
        let Control { robot, limits, law, sources, .. } = control;
        let model = robot.model.map_or("model not given", |model| model.name());
        self.say("robot", format!("{}, {model}", robot.address));
        let velocity = joints(limits.velocity.as_array());
        let (acceleration, braking) = (joints(limits.acceleration.as_array()), joints(limits.braking.as_array()));
        self.say("limits", format!("{velocity} rad/s, {acceleration} rad/s², braking at {braking} rad/s²"));
        self.law(law);
        for source in sources {
            self.say("source", format!("\"{}\": {}", source.name, described(source)));
        }
    }

    fn warnings(&mut self, sources: &[SourceSettings]) {
        warnings(sources).for_each(|warning| self.say("warning", warning));
    }

    fn run(&mut self, run: &RunSettings, host: &HostSettings) {
        let request = match run.request {
            Start::Operator => "when the operator asks".to_owned(),
            Start::Start => {
                format!("by itself, once, when every precondition is met within {} s", run.start_within.as_secs_f32())
            }
        };
        let end = match run.end {
            End::Never => "ends when it is told to".to_owned(),
            End::Done => format!("ends {} s after the motion, or after a fallback", run.settle.as_secs_f32()),
        };
        self.say("run", format!("commands {request}; {end}"));
        if let Some(record) = &run.record {
            self.say("record", format!("everything, to {}", record.display()));
        }
        self.say("host", format!("asks for {}", host.asked()));
        let recordings = run.recordings.as_ref().map_or("none".into(), |at| {
            let (files, megabytes) = (run.recordings_kept, run.recordings_bytes / 1_000_000);
            format!("into {}, the newest {files}, of {megabytes} MB together at most", at.display())
        });
        self.say("recordings", recordings);
    }

    fn device(&mut self, device: &DeviceSettings) {
        let gateway = device.gateway.map_or("no gateway".into(), |at| format!("gateway {at}"));
        self.say("device", format!("{}/{}, {gateway}", device.address, device.prefix));
        let telemetry = device.telemetry.map_or("none".into(), |to| format!("to {}:{}", to.address, to.port));
        self.say("telemetry", telemetry);
        let Pins { request, request_as, acknowledge, stop, .. } = device.pins;
        let held = if request_as == RequestAs::Held { "request (held)" } else { "request (edge)" };
        let pins = [(stop, "stop"), (acknowledge, "acknowledge"), (request, held)];
        let pins: Vec<_> = pins.into_iter().filter_map(|(connected, name)| connected.then_some(name)).collect();
        self.say("pins", if pins.is_empty() { "none".into() } else { pins.join(", ") });
        self.say("recorder", device.recorder.map_or("the board's own size".into(), |bytes| format!("{bytes} bytes")));
    }

    fn coast<I>(&mut self, control: &Control<I>) {
        let config = control.engine();
        // One controller of each kind: by period, and by what becomes of an arm that we fall silent on.
        let kinds = [(3, 1), (3, 15), (5, 15)].map(|(major, minor)| SoftwareVersion::new(major, minor));
        for software in control.session.software.map_or(kinds.to_vec(), |software| vec![software]) {
            self.say("coast", format!("software {software}: {}", coast::describe(&config, software)));
            let by_rtde = config.peer.connect.states != StatesFrom::Realtime && software.at_least(3, 4);
            let period = Duration::from_micros(software.generation().period_micros());
            let seen = config.sees_pendant_stops(by_rtde, period);
            self.say("pendant", format!("software {software}: {}", coast::pendant(seen)));
        }
    }
}

/// A value of each joint; once, where all have the same.
fn joints(values: &[f32]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => format!("{values:?}"),
    }
}

/// A control scheme and its parameters, in the configuration's words.
fn scheme(control: &FriControl) -> String {
    match control {
        FriControl::Position => "position".into(),
        FriControl::JointImpedance(impedance) => {
            let (stiffness, damping) = (joints(&impedance.stiffness), joints(&impedance.damping));
            format!("joint-impedance, stiffness {stiffness} Nm/rad, damping {damping}")
        }
        FriControl::ToolImpedance(impedance) => format!(
            "tool-impedance, stiffness {:?} N/m and {:?} Nm/rad, damping {:?} and {:?}",
            impedance.stiffness.linear,
            impedance.stiffness.angular,
            impedance.damping.linear,
            impedance.damping.angular
        ),
    }
}

fn described_on_board(source: &SourceSettings<BoardInput>) -> String {
    let from = match (&source.input, source.format) {
        (BoardInput::Uart { baud }, Format::Text) => format!("lines at the board's serial port, {baud} Bd"),
        (BoardInput::Uart { baud }, Format::Postcard) => format!("frames at the board's serial port, {baud} Bd"),
        (BoardInput::Adc { rate }, _) => format!("the board's analogue input, {rate} times per second"),
    };
    format!("{from}, {}", kept(source))
}

fn described(source: &SourceSettings) -> String {
    let input = match &source.input {
        SourceInput::Udp { listen, from: Some(from) } => format!("datagrams at {listen}, from {from} only"),
        SourceInput::Udp { listen, from: None } => format!("datagrams at {listen}, from anybody"),
        SourceInput::Serial { device, baud } => format!("{} at {baud} Bd", device.display()),
        SourceInput::Stdin => "lines on standard input".into(),
        SourceInput::Simulated { rate, .. } => format!("simulated, {rate} Hz"),
    };
    format!("{input}, {}", kept(source))
}

/// What is held of a source's readings.
fn kept<I>(source: &SourceSettings<I>) -> String {
    format!("{} value(s), at most {} s old", source.values, source.judged.max_age.as_secs_f32())
}
