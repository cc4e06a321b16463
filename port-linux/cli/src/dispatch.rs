//! Selects the kind of controller for a command, by its arguments or its configuration. This is the only such place;
//! the commands themselves are the same for all kinds.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use outrigger_config::{
    AnyConfiguration, Board, Configuration, HostSettings, KrcBoard, KrcConfiguration, RobotAddress, RosSettings,
    RunSettings, RunsOn, ServeSettings, SourceInput, SourceSettings, bounded_file_read,
};
use outrigger_core::engine::krc::KrcConfig;
use outrigger_core::engine::ur::{StatesFrom, UrConfig};
use outrigger_core::engine::{Config, ReplayError};
use outrigger_core::robot::BadValue;

use crate::args::{
    CheckConfigArgs, ControllerArgs, Kind, MonitorArgs, RecordArgs, ReplayArgs, RunArgs, STATES_OF_A_KRC, ViewArgs, Web,
};
use crate::doctor::{self, DoctorArgs};
use crate::foxglove::OnFoxglove;
use crate::moves::{self, By, MoveArgs};
use crate::page::OnPage;
use crate::serve::Readers;
use crate::{check, monitor, record, replay, view};
use outrigger::boxed_law::BoxedLaw;
use outrigger::companion::Companions;
use outrigger::companion::Recording;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;
use outrigger::motion::Motion;
use outrigger::motion::motion_text::Pieces;
use outrigger::robot::Robot;
use outrigger::run::{Plan, look_at_krc, look_at_ur, run_krc, run_ur};
use outrigger::show::Format;
use outrigger::show::examination_result::Sheet;
use outrigger::vendor::Vendor;
use outrigger::vendor::krc::{self, KrcController};
use outrigger::vendor::ur::{self, UrController};

const NO_ROBOT_OF_A_KRC: &str = "--robot is for a controller that is connected to: a KRC sends by itself";

/// A controller that a command only observes, with the configuration of the engine that receives its states.
enum ReadOnly {
    Ur(UrController, UrConfig),
    Krc(KrcController, KrcConfig),
}

fn look(robot: &RobotAddress, args: &ControllerArgs, states: StatesFrom) -> Result<ReadOnly, Failure> {
    Ok(match args.kind(states)? {
        Kind::Ur => ReadOnly::Ur(UrController::new(Target::resolve(robot)?), ur::looking(states)),
        Kind::Krc => {
            let config = krc::looking(robot)?;
            ReadOnly::Krc(KrcController::new(robot.to_string(), args.listen()), config)
        }
    })
}

/// Runs `outrigger monitor`.
///
/// # Errors
/// [`Failure::Usage`] for options that this kind of controller does not have, [`Failure::BadInput`] if the address of
/// --foxglove is not available, [`Failure::Connection`] if there never was a session.
pub(crate) fn monitor(args: &MonitorArgs) -> Outcome {
    match look(&args.robot, &args.controller, args.states)? {
        ReadOnly::Ur(controller, config) => look_at_ur(controller, config, &monitor::look(args)?),
        ReadOnly::Krc(controller, config) => look_at_krc(controller, config, &monitor::look(args)?),
    }
}

/// Runs `outrigger view`.
///
/// # Errors
/// The errors of [`monitor`]; [`Failure::BadInput`] if the page's address is not available.
pub(crate) fn view(args: &ViewArgs) -> Outcome {
    match look(&args.robot, &args.controller, args.states)? {
        ReadOnly::Ur(controller, config) => look_at_ur(controller, config, &view::look(args)),
        ReadOnly::Krc(controller, config) => look_at_krc(controller, config, &view::look(args)),
    }
}

/// Runs `outrigger record`.
///
/// # Errors
/// The errors of [`monitor`]; [`Failure::BadInput`] if the file cannot be written.
pub(crate) fn record(args: &RecordArgs) -> Outcome {
    match look(&args.robot, &args.controller, args.states)? {
        ReadOnly::Ur(controller, config) => look_at_ur(controller, config, &record::look(args)),
        ReadOnly::Krc(controller, config) => look_at_krc(controller, config, &record::look(args)),
    }
}

/// Runs `outrigger ros2`: with a configuration, like `run` beside the robot that it names; else only observing.
///
/// # Errors
/// The errors of [`monitor`] and of [`run`]; [`Failure::BadInput`] if the domain cannot be joined.
#[cfg(feature = "ros2")]
pub(crate) fn ros2(args: &crate::ros2::Ros2Args) -> Outcome {
    let path = Path::new(&args.robot);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let run = args.run(path)?;
        return run_with(&run, Some(&args.joins));
    }
    let robot = args.robot.parse().map_err(|error| Failure::Usage(format!("ROBOT: {error}")))?;
    match look(&robot, &args.controller, args.states)? {
        ReadOnly::Ur(controller, config) => {
            let look = crate::ros2::look(&controller, args)?;
            look_at_ur(controller, config, &look)
        }
        ReadOnly::Krc(controller, config) => {
            let look = crate::ros2::look(&controller, args)?;
            look_at_krc(controller, config, &look)
        }
    }
}

/// Runs `outrigger doctor`.
///
/// # Errors
/// The errors of [`monitor`]; [`Failure::BadInput`] for the configuration, [`Failure::Fault`] if something is to be
/// fixed.
pub(crate) fn doctor(args: &DoctorArgs) -> Outcome {
    let states = args.states.unwrap_or_default();
    let file = args.file()?.map(AnyConfiguration::load).transpose()?;
    let controller = match &file {
        Some(AnyConfiguration::Krc(RunsOn::Host(krc)))
            if args.is_of_file() && args.controller == ControllerArgs::default() =>
        {
            ControllerArgs::krc(krc.listen)
        }
        _ => args.controller,
    };
    let kind = controller.kind(states)?;
    if kind == Kind::Krc && args.model.is_some() {
        return Err(Failure::Usage("--model is for a UR arm: beside a KRC it is an LWR; leave it out".into()));
    }
    let robot = match &file {
        Some(file) if args.is_of_file() => robot_of(file)?,
        _ => args.robot.parse().map_err(|error| Failure::Usage(format!("ROBOT: {error}")))?,
    };
    // A board's sensors cannot be reached from this host.
    let sources = file.as_ref().map_or([].as_slice(), AnyConfiguration::sources_of_host);
    let engine = match &file {
        Some(AnyConfiguration::Ur(target)) => Some(target.engine()),
        Some(AnyConfiguration::Krc(_)) | None => None,
    };
    let of = file.as_ref().map_or(kind, |file| file.vendor().into());
    match (of, kind) {
        (Kind::Krc, Kind::Ur) => return Err(Failure::Usage("the configuration is for a KRC: add --kind krc".into())),
        (Kind::Ur, Kind::Krc) => {
            return Err(Failure::Usage("the configuration is for a UR arm: leave --kind krc out".into()));
        }
        (Kind::Ur, Kind::Ur) | (Kind::Krc, Kind::Krc) => {}
    }
    let ros = file.as_ref().and_then(AnyConfiguration::ros).cloned().unwrap_or_default();
    let examine = |clock, sheet: &mut Sheet| match look(&robot, &controller, states)? {
        ReadOnly::Ur(controller, looking) => {
            let mut config = engine.map_or(looking, ur::judging_as);
            config.peer.model = args.model.or(config.peer.model);
            config.peer.connect.states = args.states.unwrap_or(config.peer.connect.states);
            // No program is awaited during the check, but the verdict is for the path that the configuration selects.
            let mut judged = config;
            if let Some(engine) = engine {
                (judged.peer.path, judged.peer.program) = (engine.peer.path, engine.peer.program);
            }
            examined(controller, config, &judged, &ros, args, clock, sheet)
        }
        ReadOnly::Krc(controller, config) => examined(controller, config, &config, &ros, args, clock, sheet),
    };
    doctor::run(examine, sources)
}

/// Returns the address of the robot that a configuration names.
fn robot_of(file: &AnyConfiguration) -> Result<RobotAddress, Failure> {
    match file {
        AnyConfiguration::Ur(RunsOn::Host(host)) => Ok(host.control.robot.address.clone()),
        AnyConfiguration::Krc(RunsOn::Host(krc)) => {
            let peer = krc.engine.peer.address.map_or_else(|| "0.0.0.0".into(), |peer| peer.to_string());
            peer.parse().map_err(|error| Failure::BadInput(format!("robot.address: {error}")))
        }
        AnyConfiguration::Ur(RunsOn::Board(_)) | AnyConfiguration::Krc(RunsOn::Board(_)) => Err(Failure::Usage(
            "this configuration is a board's: name the robot by its address, and the configuration with --config"
                .into(),
        )),
    }
}

/// Adds the findings about the link and the controller to `sheet`, the result of `outrigger doctor`. With `--ros2`, the
/// findings about the ROS 2 domain are added as well, even if there was no session with the controller.
#[cfg(feature = "ros2")]
fn examined<const N: usize, C: Vendor<N>>(
    controller: C,
    config: Config<N, C::Options>,
    judged: &Config<N, C::Options>,
    ros: &RosSettings,
    args: &DoctorArgs,
    clock: Clock,
    sheet: &mut Sheet,
) -> Result<(), Failure> {
    if !args.ros2 {
        if args.joins != crate::ros2::JoinArgs::default() {
            let what = "--namespace, --domain and their like say how a node of ROS 2 would join: add --ros2, or leave them out";
            return Err(Failure::Usage(what.into()));
        }
        return doctor::examine(controller, config, judged, (args.seconds, clock), sheet, |_, net| Ok((net, ())));
    }
    let target = controller.target();
    let settings = args.joins.settings(ros, N, target.as_ref())?;
    let watching = outrigger_ros2::node::Watching::start(settings, target, clock)?;
    let found = doctor::examine(controller, config, judged, (args.seconds, clock), sheet, |controller, net| {
        watching.hear(controller, &config, clock, net)
    });
    watching.finish()?.tell(sheet);
    found
}

#[cfg(not(feature = "ros2"))]
fn examined<const N: usize, C: Vendor<N>>(
    controller: C,
    config: Config<N, C::Options>,
    judged: &Config<N, C::Options>,
    _: &RosSettings,
    args: &DoctorArgs,
    clock: Clock,
    sheet: &mut Sheet,
) -> Result<(), Failure> {
    doctor::examine(controller, config, judged, (args.seconds, clock), sheet, |_, net| Ok((net, ())))
}

/// Runs `outrigger run`.
///
/// # Errors
/// [`Failure::Usage`] for options that a KRC does not have, [`Failure::BadInput`] for the configuration and for what
/// the kernel refuses, [`Failure::Connection`] if there never was a session or another process commands the robot,
/// [`Failure::Fault`] if it ended in a fallback.
pub(crate) fn run(args: &RunArgs) -> Outcome {
    run_with(args, None)
}

/// The options by which a node joins a ROS 2 domain; without the feature `ros2` there are none.
#[cfg(feature = "ros2")]
type Joins = crate::ros2::JoinArgs;
#[cfg(not(feature = "ros2"))]
type Joins = std::convert::Infallible;

fn run_with(args: &RunArgs, joins: Option<&Joins>) -> Outcome {
    match AnyConfiguration::load(&args.config)? {
        AnyConfiguration::Ur(RunsOn::Host(configuration)) => run_beside_ur(*configuration, args, joins),
        AnyConfiguration::Krc(RunsOn::Host(configuration)) => run_beside_krc(*configuration, args, joins),
        // Loading these for a host reports the keys that are not for a host.
        AnyConfiguration::Ur(RunsOn::Board(_)) => run_beside_ur(Configuration::load(&args.config)?, args, joins),
        AnyConfiguration::Krc(RunsOn::Board(_)) => run_beside_krc(KrcConfiguration::load(&args.config)?, args, joins),
    }
}

/// Returns the companions of a run, which work beside its control loop: a recording, readers over TCP, a ROS 2 node, a
/// page in a browser, a server for Foxglove, as far as they are requested.
fn companions<const N: usize, C: Vendor<N>>(
    run: &RunSettings,
    (serve, ros): (&ServeSettings, &RosSettings),
    args: &RunArgs,
    controller: &C,
    (joins, force): (Option<&Joins>, Option<String>),
) -> Result<Companions<N>, Failure> {
    let mut companions: Companions<N> = vec![];
    match args.record.as_ref().or(run.record.as_ref()) {
        Some(file) => companions.push(Arc::new(Recording::new(file.clone(), run.record_variables.clone()))),
        None if run.record_variables.is_empty() => {}
        None => {
            let what =
                "run.expert.record_variables is for a recording: say run.record = FILE, or run with --record FILE";
            return Err(Failure::BadInput(what.into()));
        }
    }
    if let Some(readers) = Readers::of(serve) {
        companions.push(Arc::new(readers));
    }
    #[cfg(feature = "ros2")]
    if let Some(joins) = joins {
        let settings = joins.settings(ros, N, controller.target().as_ref())?.with_external_wrench(force);
        companions.push(Arc::new(outrigger_ros2::node::Node::new(settings, ros.command)));
    }
    #[cfg(not(feature = "ros2"))]
    let (_, _, _, _) = (ros, controller, joins, force);
    if let Some(Web(at)) = args.web {
        companions.push(Arc::new(OnPage::new("run", at)));
    }
    if let Some(Web(at)) = args.foxglove {
        companions.push(Arc::new(OnFoxglove::new("run", at)?));
    }
    Ok(companions)
}

/// Returns the settings of `outrigger run` other than those of engine and law: sensors, recordings, host, output format
/// and duration.
fn plan<const N: usize>(
    robot: String,
    sources: Vec<SourceSettings>,
    run: RunSettings,
    host: HostSettings,
    args: &RunArgs,
) -> Result<Plan<N>, Failure> {
    let path = args.config.display();
    let text = bounded_file_read::read_text(&args.config, bounded_file_read::CONFIGURATION)
        .map_err(|error| Failure::BadInput(format!("cannot read {path}: {error}")))?;
    let format = match Format::choose(args.json) {
        // The full-screen view would read the sensor's lines as keys.
        Format::View if sources.iter().any(|source| source.input == SourceInput::Stdin) => Format::Lines,
        format => format,
    };
    Ok(Plan::new(robot, sources, run, host, format).asked(true).with_text(text).ending_after(args.seconds))
}

fn run_beside_ur(configuration: Configuration, args: &RunArgs, joins: Option<&Joins>) -> Outcome {
    let Configuration { mut control, run, host, serve, ros } = configuration;
    if let Some(robot) = &args.robot {
        control.robot.address = robot.clone();
    }
    if let Some(states) = args.states {
        control.session.connect.states = states;
    }
    let (config, law) = (control.engine(), law(BoxedLaw::<6>::configured(control.law), &args.config)?);
    let controller = UrController::new(Target::resolve(&control.robot.address)?);
    // A force source that takes requests also gets a topic of ROS 2.
    let force = control.outputs.force.and_then(|source| control.sources.get(usize::from(source.0)));
    let force = force.filter(|source| source.input == SourceInput::Requests).map(|source| source.name.clone());
    let companions = companions(&run, (&serve, &ros), args, &controller, (joins, force))?;
    let plan = plan(control.robot.address.to_string(), control.sources, run, host, args)?;
    run_ur(controller, config, law, &plan.with_companions(companions))
}

fn run_beside_krc(configuration: KrcConfiguration, args: &RunArgs, joins: Option<&Joins>) -> Outcome {
    if args.robot.is_some() {
        return Err(Failure::Usage(NO_ROBOT_OF_A_KRC.into()));
    }
    if args.states.is_some() {
        return Err(Failure::Usage(STATES_OF_A_KRC.into()));
    }
    let KrcConfiguration { listen, engine: config, law: named, sources, variables, run, host, serve, ros } =
        configuration;
    let law = law(BoxedLaw::<7>::configured(named), &args.config)?;
    let robot = config.peer.address.map_or_else(|| "KRC".into(), |peer| peer.to_string());
    let controller = KrcController::new(robot, listen);
    let companions = companions(&run, (&serve, &ros), args, &controller, (joins, None))?;
    let plan = plan(format!("KRC, measurements at {listen}"), sources, run, host, args)?;
    run_krc(controller, config, law, &plan.with_variables(variables).with_companions(companions))
}

/// Runs `outrigger move`: with the controller that a configuration names, else with a controller of Universal Robots.
///
/// # Errors
/// [`Failure::Usage`] for options that do not fit together or that a KRC does not have; [`Failure::BadInput`] for
/// configuration and motion, before anything moves; those of a run; [`Failure::Fault`] if the motion did not reach its
/// end.
pub(crate) fn moved(args: &MoveArgs) -> Outcome {
    let path = Path::new(&args.robot);
    let file = path.extension().is_some_and(|extension| extension == "toml").then(|| AnyConfiguration::load(path));
    match file.transpose()? {
        Some(AnyConfiguration::Krc(RunsOn::Host(configuration))) => move_beside_krc(*configuration, args),
        other => moves::beside_ur(args, other),
    }
}

fn move_beside_krc(configuration: KrcConfiguration, args: &MoveArgs) -> Outcome {
    if args.other.is_some() {
        return Err(Failure::Usage(NO_ROBOT_OF_A_KRC.into()));
    }
    if args.goal.to.is_some() {
        let what = "found --to, which a UR's controller moves to by itself: beside a KRC name a FILE with the motion";
        return Err(Failure::Usage(what.into()));
    }
    if let Some(by) = args.mode.filter(|by| *by != By::Stream) {
        return Err(Failure::Usage(format!(
            "found --mode {}, which is a UR's: a KRC takes joint positions in each cycle, and nothing else; leave --mode out",
            by.name()
        )));
    }
    let KrcConfiguration { listen, mut engine, host, .. } = configuration;
    (engine.sources, engine.operator) = (KrcConfig::default().sources, KrcConfig::default().operator);
    let peer = engine.peer.address.map_or_else(|| "0.0.0.0".into(), |peer| peer.to_string());
    let name = format!("KRC, measurements at {listen}");
    moves::follow(
        args,
        engine,
        &name,
        "joint positions, by FRI in each cycle",
        || Ok(Robot::krc(&peer, &listen.to_string())?.with_config(engine).with_host(host)),
        moves::streamed,
    )
}

/// Returns the control law, or the failure that names the configuration `file` if the law's settings are not valid.
fn law<const N: usize>(law: Result<BoxedLaw<N>, BadValue>, file: &Path) -> Result<BoxedLaw<N>, Failure> {
    law.map_err(|error| Failure::BadInput(format!("{}: law.{error}", file.display())))
}

/// Returns the address by which the run (process of `outrigger run`) of a robot is found on this machine. `of` names
/// the robot by its address or a configuration.
///
/// # Errors
/// [`Failure::Usage`] if `of` names no robot, [`Failure::BadInput`] for the configuration, [`Failure::Connection`]
/// for a name without an address.
pub(crate) fn seat(of: &str, args: &ControllerArgs) -> Result<SocketAddr, Failure> {
    match named(of, args)? {
        Named::Ur(robot) => Target::resolve(&robot).map(|target| UrController::new(target).seat()),
        Named::Krc(listen) => Ok(listen),
    }
}

/// Reads the motion in `file`, for the robot that `of` names by its address or a configuration. Splits it into the
/// pieces of text in which `outrigger ctl` sends it to a run (process of `outrigger run`).
///
/// # Errors
/// [`Failure::Usage`] if `of` names no robot, [`Failure::BadInput`] for the configuration and for the file with the
/// motion.
pub(crate) fn pieces(of: &str, args: &ControllerArgs, file: &Path) -> Result<Pieces, Failure> {
    let pieces = match named(of, args)? {
        Named::Ur(_) => Pieces::of(Motion::<6>::read(file)?),
        Named::Krc(_) => Pieces::of(Motion::<7>::read(file)?),
    };
    pieces.map_err(|wrong| Failure::BadInput(wrong).at(file))
}

/// The robot that the command line names, given by the address at which its run (process of `outrigger run`) is found.
enum Named {
    Ur(RobotAddress),
    /// A KRC, identified by the local address to which it sends its measurements.
    Krc(SocketAddr),
}

fn named(of: &str, args: &ControllerArgs) -> Result<Named, Failure> {
    let path = Path::new(of);
    if path.extension().is_none_or(|extension| extension != "toml") && !path.is_file() {
        let robot = of.parse().map_err(Failure::Usage)?;
        return Ok(match args.kind(StatesFrom::default())? {
            Kind::Ur => Named::Ur(robot),
            Kind::Krc => Named::Krc(args.listen()),
        });
    }
    match AnyConfiguration::load(path)? {
        AnyConfiguration::Ur(RunsOn::Host(configuration)) => Ok(Named::Ur(configuration.control.robot.address)),
        AnyConfiguration::Krc(RunsOn::Host(configuration)) => Ok(Named::Krc(configuration.listen)),
        AnyConfiguration::Ur(RunsOn::Board(_)) | AnyConfiguration::Krc(RunsOn::Board(_)) => Err(Failure::Usage(
            "this configuration is a board's: a board is asked as board:ADDRESS, with --key-file; here give that of a run on this machine".into(),
        )),
    }
}

/// Runs `outrigger check-config`.
///
/// # Errors
/// [`Failure::BadInput`] with one line per problem.
pub(crate) fn check_config(args: &CheckConfigArgs) -> Outcome {
    let (configuration, expert) = AnyConfiguration::load_with_expert_keys(&args.config)?;
    let lines = match configuration {
        AnyConfiguration::Ur(RunsOn::Host(configuration)) => {
            let Configuration { control, run, host, serve, ros } = *configuration;
            check::on_host(ur::checked(&control), &control.law, &control.sources, &run, &host, (&serve, &ros))
        }
        AnyConfiguration::Krc(RunsOn::Host(configuration)) => {
            let KrcConfiguration { listen, engine, law, sources, run, host, serve, ros, .. } = *configuration;
            check::on_host(krc::checked(&engine, &listen.to_string()), &law, &sources, &run, &host, (&serve, &ros))
        }
        AnyConfiguration::Ur(RunsOn::Board(board)) => {
            let Board { control, device } = *board;
            check::on_board(ur::checked(&control), &control.law, &control.sources, &device)
        }
        AnyConfiguration::Krc(RunsOn::Board(board)) => {
            let KrcBoard { engine, law, sources, device, .. } = *board;
            let listen = format!("{}:{}", device.address, engine.peer.port);
            check::on_board(krc::checked(&engine, &listen), &law, &sources, &device)
        }
    };
    check::say(&args.config, &lines, &check::expert(expert))
}

/// Runs `outrigger replay`.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is not a recording, [`Failure::Fault`] with the first difference.
pub(crate) fn replay(args: &ReplayArgs) -> Outcome {
    replay::run(args, |dump, link| match ur::replay(dump, link) {
        Err(ReplayError::OtherKind) => krc::replay(dump, link),
        replayed => replayed,
    })
}
