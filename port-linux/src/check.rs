//! `outrigger check-config`: everything wrong with a configuration, or what it would put in force.

use std::io::Write as _;

use outrigger_core::robot::SoftwareVersion;

use crate::args::CheckConfigArgs;
use crate::coast;
use crate::config::{Configuration, End, SourceInput, SourceSettings, Start};
use crate::exit::{Outcome, output_closed};

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`](crate::exit::Failure::BadInput) with one line per problem.
pub fn run(args: &CheckConfigArgs) -> Outcome {
    let configuration = Configuration::load(&args.config)?;
    let text = format!("{} is valid\n{}", args.config.display(), describe(&configuration));
    write!(std::io::stdout(), "{text}").or_else(|error| output_closed(&error))
}

/// What the configuration would put in force, one line each.
fn describe(configuration: &Configuration) -> String {
    let Configuration { robot, limits, sources, session, run, host, .. } = configuration;
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<9} {value}\n"));
    let model = robot.model.map_or("model not given", |model| model.name());
    line("robot", format!("{}, {model}", robot.address));
    let joints = |values: &[f32; 6]| match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => format!("{values:?}"),
    };
    line(
        "limits",
        format!(
            "{} rad/s, {} rad/s², braking at {} rad/s²",
            joints(limits.velocity.as_array()),
            joints(limits.acceleration.as_array()),
            joints(limits.braking.as_array())
        ),
    );
    line("law", crate::run::law_name(&configuration.law).into());
    for source in sources {
        line("source", described(source));
    }
    let request = match run.request {
        Start::Operator => "when the operator asks",
        Start::Start => "by itself, once, when every precondition is met",
    };
    let end = match run.end {
        End::Never => "ends when it is told to".to_owned(),
        End::Done => format!("ends {} s after the motion, or after a fallback", run.settle.as_secs_f32()),
    };
    line("run", format!("commands {request}; {end}"));
    let recordings = run.recordings.as_ref().map_or("none".into(), |at| format!("into {}", at.display()));
    line("recordings", recordings);
    line("host", format!("asks for {}", host.asked()));
    let config = configuration.engine();
    match session.software {
        Some(software) => line("coast", format!("software {software}: {}", coast::describe(&config, software))),
        // One controller of each kind: by period, and by what becomes of an arm that we fall silent on.
        None => {
            for software in [(3, 1), (3, 15), (5, 15)].map(|(major, minor)| SoftwareVersion::new(major, minor)) {
                line("coast", format!("software {software}: {}", coast::describe(&config, software)));
            }
        }
    }
    text
}

fn described(source: &SourceSettings) -> String {
    let input = match &source.input {
        SourceInput::Udp { listen, from: Some(from) } => format!("datagrams at {listen}, from {from} only"),
        SourceInput::Udp { listen, from: None } => format!("datagrams at {listen}, from anybody"),
        SourceInput::Serial { device, baud } => format!("{} at {baud} Bd", device.display()),
        SourceInput::Stdin => "lines on standard input".into(),
        SourceInput::Simulated { rate, .. } => format!("simulated, {rate} Hz"),
    };
    format!("\"{}\": {input}, {} value(s), at most {} s old", source.name, source.values, source.max_age)
}
