//! The command `outrigger init`: writes a first configuration for a robot, with conservative limits, and tries it on
//! a simulated one.

mod args;
mod config_template;
mod config_trial;
mod questions;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

pub(crate) use args::InitArgs;
use outrigger_config::Configuration;
use outrigger_core::engine::ur::{StatesFrom, Ur};
use outrigger_core::engine::{Engine, LinkId};
use outrigger_core::law::Law;
use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};
use outrigger_wire::time::Instant;

use self::args::Task;
use self::config_template::{First, Sensor};
use self::questions::Questions;
use crate::doctor::{DoctorArgs, Examination};
use outrigger::boxed_law::BoxedLaw;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::clock::Clock;
use outrigger::host::signals::OnSignal;
use outrigger::host::target::Target;
use outrigger::panel::{Operators, Panel};
use outrigger::show::{Format, say};
use outrigger::vendor::ur::{self, UrController};
use outrigger::vendor::{Observed, Vendor as _};

/// The time for which the robot is observed \[s\]: long enough for the message with its type, which is sent once per
/// connection.
const LOOK: u64 = 4;

/// Runs `outrigger init`.
///
/// # Errors
/// [`Failure::BadInput`] for a file that exists or cannot be written; [`Failure::Usage`] for a question without a
/// terminal to ask it on; [`Failure::Connection`] if the robot does not answer and the arguments do not describe it.
pub(crate) fn run(args: &InitArgs) -> Outcome {
    // Checked before any question is asked.
    writable(&args.out)?;
    let mut questions = Questions::here();
    let task = match args.task {
        Some(task) => task,
        None => questions.task()?,
    };
    let wiring = match (&args.sensor, task) {
        (Some(_), Task::Servo) => return Err(Failure::Usage("--sensor: task servo uses no sensor; omit it".into())),
        (None, Task::Servo) => None,
        (Some(wiring), _) => Some(wiring.clone()),
        (None, _) => Some(questions.wiring(task.values())?),
    };
    let (known, was_there) = match args.model.zip(args.software) {
        Some((model, software)) => (Known { models: vec![model], software, joints: None, by_rtde: true }, false),
        None => (look(args)?, true),
    };
    let model = match (args.model, known.models.as_slice()) {
        (Some(model), _) => model,
        (None, [model, ..]) => *model,
        (None, []) => questions.model()?,
    };
    let software = args.software.unwrap_or(known.software);
    let pendant_stop = match args.pendant_stop {
        _ if known.by_rtde && First::sees_pendant_stops(software) => PendantStop::Seen,
        Some(stop) => stop,
        None => questions.pendant_stop(software)?,
    };
    let first = First {
        robot: args.robot.to_string(),
        model,
        others: known.models.iter().copied().filter(|other| *other != model).collect(),
        software,
        joints: known.joints,
        task,
        pendant_stop,
        by_rtde: known.by_rtde,
        sensor: wiring.map(|wiring| Sensor { wiring, from: args.from, scale: args.scale }),
        distance: args.distance,
        at_once: false,
    };
    let text = first.text();
    // A fault in an answer is reported as one of the file.
    Configuration::parse(&text).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Failure::BadInput(format!("no file written: the configuration would be invalid:\n{}", problems.join("\n")))
    })?;
    write(&args.out, &text)?;
    let out = args.out.display();
    say!("{out}: {} with software {}, {}", model.name(), first.software, words(task));

    if was_there && !args.no_doctor {
        say!("\noutrigger doctor {out}");
        match crate::dispatch::doctor(&DoctorArgs::of(&args.out, LOOK)?) {
            // The check has printed its findings; they are not a fault of the file.
            Ok(()) | Err(Failure::Fault(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    if first.is_refused() {
        say!(
            "\nthis file does not command the arm yet, and the dry run is skipped: software {software} with these states does not\n\
             report a stop at the pendant. Choose another session.path, or read the comment at pendant_stop in the file"
        );
        return Ok(());
    }
    let seconds = match args.dry_run {
        Some(seconds) => Some(seconds),
        None => questions.dry_run()?,
    };
    if let Some(seconds) = seconds {
        config_trial::run(&first, seconds)?;
    }
    say!(
        "\nnext steps:\n  outrigger check-config {out}      worst-case stopping distance\n  \
         outrigger doctor {out}            what to fix first\n  outrigger run {out}               this moves the robot once you press r\n  \
         outrigger view {}          in a browser, from another terminal",
        args.robot
    );
    Ok(())
}

const fn words(task: Task) -> &'static str {
    match task {
        Task::Standoff => "holds a distance with a sensor",
        Task::Force => "hand guiding with a force sensor",
        Task::Servo => "moves its last joint by five degrees and back",
    }
}

/// The facts known about a robot, from its states or from the arguments.
#[derive(Clone, Debug)]
struct Known {
    /// The model of the robot, or the models that it may be; empty if the robot does not report them.
    models: Vec<RobotModel>,
    software: SoftwareVersion,
    joints: Option<[f32; 6]>,
    /// `true` if the robot's states are received by RTDE, or are assumed to be because the robot was not contacted.
    by_rtde: bool,
}

impl Observed<6, Ur<'_>> for Known {
    fn of<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>, _: Instant, _: Option<&Self>) -> Option<Self> {
        let identity = engine.peer().identity()?;
        let configuration = engine.peer().facts().configuration;
        let models = configuration.map_or(&[][..], |arm| arm.models(identity.generation()));
        let joints = engine.state().map(|state| state.positions.0);
        let by_rtde = identity.states == LinkId::RTDE;
        Some(Self { models: models.to_vec(), software: identity.software, joints, by_rtde })
    }
}

/// Observes the robot for [`LOOK`] seconds, and commands nothing. Returns its model, its software and its joint
/// positions, as far as it reports them.
fn look(args: &InitArgs) -> Result<Known, Failure> {
    say!("reading {} for {LOOK} s; nothing is commanded", args.robot);
    let clock = Clock::start();
    let seen = outrigger::host::runtime::block_on(async {
        let mut controller = UrController::new(Target::resolve(&args.robot)?);
        let mut net = controller.open(clock).await?;
        let panel =
            Panel::new("init", Format::Silent, clock, controller, Operators::here(OnSignal::Nothing)?, Some(LOOK));
        let mut look = Examination::new(panel);
        ur::run(ur::looking(StatesFrom::default()), BoxedLaw::idle(), &mut net, &mut look, 0).await?;
        look.seen()
    });
    seen.map(|(known, ..)| known).map_err(|failure| match failure {
        Failure::Connection(why) => Failure::Connection(format!(
            "{why}; with --model and --polyscope the file is written without the robot; `outrigger sim ur` simulates one"
        )),
        other => other,
    })
}

/// Checks that nothing exists at the path of the configuration file, and that its directory exists.
fn writable(path: &Path) -> Outcome {
    if path.symlink_metadata().is_ok() {
        return Err(Failure::BadInput(format!(
            "{} exists and was not changed: give another name with --out, or move it away",
            path.display()
        )));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Failure::BadInput(format!("{} is not a directory: give another --out", folder.display()))),
        Err(error) => Err(Failure::BadInput(format!("cannot write into {}: {error}", folder.display()))),
    }
}

fn write(path: &Path, text: &str) -> Outcome {
    // An existing file is never overwritten, not even one created in the meantime.
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        Failure::BadInput(format!("cannot write {}: {error}; give another path with --out", path.display()))
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", path.display())))
}
