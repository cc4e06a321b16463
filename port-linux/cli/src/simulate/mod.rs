//! The command `outrigger sim`: simulated controllers and sensors. This module has `sim ur`, a controller behind
//! kernel TCP.

mod args;
mod distance_sensor;
pub(crate) mod krc;
mod output_limiter;
pub(crate) mod sensor;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use args::{ProgramArg, SimUrArgs};
use outrigger_config::{RobotAddress, bounded_file_read};
use outrigger_sim::arm::Drive;
use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::pendant::{InstallationFile, ProgramFile};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Addresses, BindError, Running, Server};
use outrigger_sim::tool_line::ToolGripper;
use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;

use self::output_limiter::Journal;
use crate::args::Web;
use crate::foxglove::{self, Simulated};
#[cfg(feature = "ros2")]
use crate::ros2::Scripts;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::process_scheduling::RealTime;
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::json;
use outrigger::show::{Format, Show, tell};

/// The interval at which a simulator is checked for events to print.
const LOOK: Duration = Duration::from_millis(50);
/// The largest script file that the simulated controller reads \[B\].
const SCRIPT_MAX: u64 = 16 << 20;

/// Runs `outrigger sim ur`, a simulated controller of Universal Robots.
///
/// # Errors
/// [`Failure::Usage`] for an arm that never ran the software, and for scripts that are to use ROS 2 and cannot;
/// [`Failure::BadInput`] for a script that cannot be read; [`Failure::Connection`] for a port that is taken.
pub(crate) fn run(args: &SimUrArgs) -> Outcome {
    #[cfg(feature = "ros2")]
    args.scripts.check(args.software)?;
    let options = options(args)?;
    let controller = Controller::new(options.clone()).map_err(|error| Failure::Usage(error.to_string()))?;
    let served: Vec<Port> = Port::ALL.into_iter().filter(|port| controller.has_port(*port)).collect();
    let server = bind(controller, args).map_err(|error| bind_failure(&error))?;
    let foxglove = args.foxglove.map(|Web(at)| foxglove::bind(at)).transpose()?;
    let sensor = args.distance_to.map(distance_sensor::Sensor::to).transpose()?;
    let mut show = show(args.ready);
    let ports: Vec<String> = served.iter().map(|port| server.address(*port).port().to_string()).collect();
    let software = options.software;
    show.text(format!(
        "simulated {} with software {software}, {}, at {} Hz, on {} ports {}",
        options.model.name(),
        state_name(options.state),
        1_000_000 / software.generation().period_micros(),
        args.listen,
        ports.join(" "),
    ));
    let robot = robot(args.listen, server.port_base());
    if server.port_base() != outrigger_config::FIRST_PORT {
        show.text(format!("use it with other commands as {robot}, e.g. `outrigger monitor {robot}`"));
    }
    if served.contains(&Port::RobotApi) {
        show.text(format!("Robot API: http://{}/universal-robots/robot-api", server.address(Port::RobotApi)));
    }
    show.text(format!("{}; seed {}; {} fault(s) scheduled", options.drive, options.seed, options.faults.len()));
    if let Some(to) = args.distance_to {
        show.text(format!("distances to {to}, every 10 ms while the surface is ahead of the tool"));
    }
    let running = Arc::new(in_real_time(&mut show, || server.spawn())?);
    running.controller().keep_events();
    let foxglove = match foxglove {
        Some(bound) => {
            show.text(foxglove::announced(&bound));
            Some(Simulated::start(bound, &running, options.model)?)
        }
        None => None,
    };
    #[cfg(feature = "ros2")]
    let scripts = args.scripts.ros.then(|| Scripts::join(&args.scripts, Arc::clone(&running))).transpose()?;
    if args.ready {
        tell(&ready(&options, &robot, &running, &served))?;
    }
    let mut journal = Journal::default();
    let told = outrigger::host::runtime::one_threaded()?.block_on(async {
        let attended = attend(args.seconds, || journal.of_controller(&running, &mut show));
        match sensor {
            None => attended.await,
            Some(sensor) => tokio::select! {
                () = sensor.send(&running) => Ok(()),
                attended = attended => attended,
            },
        }
    });
    #[cfg(feature = "ros2")]
    scripts.map(Scripts::finish);
    drop(foxglove);
    let now = running.controller().now();
    drop(running);
    journal.summary(now).into_iter().for_each(|line| show.text(line));
    show.finish();
    told
}

/// Starts the output of a simulator: on standard output, or on standard error if standard output is to have only the
/// JSON line for scripts (`ready`).
fn show(ready: bool) -> Show {
    let (keys, _) = unbounded_channel();
    Show::start(if ready { Format::Remarks } else { Format::Lines }, "sim", keys)
}

/// Calls `look`, which prints the events of a simulator, every 50 ms until a signal ends the command or the time is
/// over, and once more at the end.
async fn attend(seconds: Option<u64>, mut look: impl FnMut()) -> Outcome {
    let mut signals = Signals::listen(OnSignal::Nothing)?;
    let end = async {
        match seconds {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(end);
    let mut ticks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = signals.next() => break,
            () = &mut end => break,
            _ = ticks.tick() => look(),
        }
    }
    look();
    Ok(())
}

/// Opens the controller's ports at the given port base, or at a base whose ports are free if it is 0.
fn bind(controller: Controller, args: &SimUrArgs) -> Result<Server, BindError> {
    let addresses = Addresses { listen: args.listen, base: args.port_base, robot_api: args.robot_api_port };
    if args.port_base != 0 {
        return Server::bind_at(controller, addresses);
    }
    // The search begins below the ports that the kernel assigns, and seldom where another simulator begins.
    let first = 15_000 + u16::try_from(std::process::id() % 400).unwrap_or_default() * 23;
    Server::bind_free(controller, Addresses { base: first, ..addresses })
}

/// Formats the address of the simulated robot in the form that commands on this machine accept.
fn robot(listen: IpAddr, base: u16) -> String {
    let host = match listen {
        any if !any.is_unspecified() => any,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    RobotAddress::new(&host.to_string(), base).map_or_else(|_| host.to_string(), |robot| robot.to_string())
}

/// Returns the JSON line for scripts that is printed once clients can connect to the simulated controller. Its member
/// `ports` has the actual number of each port of a real controller.
fn ready(options: &Options, robot: &str, running: &Running, served: &[Port]) -> String {
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "ready")]
    struct Ready<'r> {
        robot: &'r str,
        address: String,
        port_base: u16,
        #[serde(serialize_with = "json::members")]
        ports: Vec<(String, u16)>,
        model: &'r str,
        software: String,
        pid: u32,
    }
    let ports = served.iter().map(|port| (port.number().to_string(), running.address(*port).port()));
    let ready = Ready {
        robot,
        address: running.address(Port::Primary).ip().to_string(),
        port_base: running.port_base(),
        ports: ports.collect(),
        model: options.model.name(),
        software: options.software.to_string(),
        pid: std::process::id(),
    };
    format!("{}\n", json::text(&ready))
}

/// Starts a simulator with real-time priority and locked memory if the system grants them, and displays which of
/// them were granted.
///
/// # Errors
/// [`Failure::BadInput`] if no thread can be started.
fn in_real_time<T>(show: &mut Show, start: impl FnOnce() -> std::io::Result<T>) -> Result<T, Failure> {
    let granted = RealTime::ask();
    let started = start().map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")));
    granted.give_back();
    show.text(granted.to_string());
    started
}

fn bind_failure(error: &BindError) -> Failure {
    let mut text = error.to_string();
    if error.service == Port::RobotApi {
        text += " (--robot-api-port 8080, or --port-base)";
    }
    Failure::Connection(text)
}

fn options(args: &SimUrArgs) -> Result<Options, Failure> {
    let by_software = Options::for_software(args.software);
    let model = args.model.unwrap_or(by_software.model);
    let mut options = Options::new(model, args.software);
    options.rtde.echo = args.echo_registers;
    for program in &args.program {
        options.files.programs.push(program_file(program)?);
    }
    for name in &args.broken {
        if name.ends_with(".installation") {
            options.files.installations.push(InstallationFile { broken: true, ..InstallationFile::named(name) });
        } else {
            options.files.programs.push(ProgramFile { broken: true, ..ProgramFile::named(name) });
        }
    }
    let unconfirmed = args.unconfirmed.iter().map(|name| InstallationFile::named(name));
    let unconfirmed = unconfirmed.map(|file| InstallationFile { needs_confirmation: true, ..file });
    options.files.installations.extend(unconfirmed);
    options.external_control.clone_from(&args.external_control);
    options.tool_line = args.tool_gripper.then(ToolGripper::default);
    options.surface = args.surface;
    options.force.free_damping = args.force_damping;
    options.services_off.clone_from(&args.service_off);
    options.operations.report = Duration::from_secs_f64(args.flight_report);
    if args.ideal_drive {
        options.drive = Drive::IDEAL;
    }
    Ok(Options { seed: args.seed, state: args.state, faults: args.fault.clone(), ..options })
}

fn program_file(program: &ProgramArg) -> Result<ProgramFile, Failure> {
    let file = ProgramFile::named(&program.name);
    let Some(path) = &program.script else { return Ok(file) };
    let script = bounded_file_read::read_text(path, SCRIPT_MAX)
        .map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", path.display())))?;
    Ok(ProgramFile { script, ..file })
}

fn state_name(state: StartState) -> &'static str {
    StartState::NAMED.into_iter().find(|(known, _)| *known == state).map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SimUrArgs,
    }

    #[test]
    fn two_simulators_at_base_0_have_ports_of_their_own_and_a_line_for_scripts_names_them() {
        let words =
            ["ur", "--port-base", "0", "--ready", "--ideal-drive", "--flight-report", "2.5", "--force-damping", "400"];
        let args = Line::parse_from(words).args;
        let options = options(&args).expect("no files");
        assert_eq!((options.drive, options.operations.report), (Drive::IDEAL, Duration::from_millis(2_500)));
        assert_eq!(options.force.free_damping, 400.0);
        let bound = || bind(Controller::new(options.clone()).expect("a controller"), &args).expect("free ports");
        let (one, other) = (bound(), bound());
        assert!(one.port_base() != 0 && one.port_base() != other.port_base());
        let running = one.spawn().expect("a thread");
        let robot = robot(args.listen, running.port_base());
        let line = ready(&options, &robot, &running, &[Port::Primary, Port::Rtde]);
        assert_eq!((line.lines().count(), line.ends_with('\n')), (1, true));
        let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let base = running.port_base();
        assert_eq!((&read["type"], &read["robot"]), (&"ready".into(), &format!("127.0.0.1:{base}").into()));
        assert_eq!((&read["ports"]["30001"], &read["ports"]["30004"]), (&(base + 2).into(), &(base + 5).into()));
        assert_eq!((&read["model"], &read["software"]), (&"ur5e".into(), &"5.15.0".into()));
        assert_eq!((&read["address"], &read["pid"]), (&"127.0.0.1".into(), &std::process::id().into()));
        assert!(TcpStream::connect(("127.0.0.1", base + 5)).is_ok(), "clients can connect");
        assert_eq!(super::robot("0.0.0.0".parse().expect("an address"), 40_000), "127.0.0.1:40000");
    }
}
