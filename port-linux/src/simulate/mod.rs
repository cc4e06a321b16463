//! `outrigger sim`: simulated controllers and sensors; here `sim ur`, a controller behind kernel TCP.

mod args;
mod distance;
pub(crate) mod krc;
pub(crate) mod sensor;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use args::{ProgramArg, SimUrArgs};
use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::pendant::{InstallationFile, ProgramFile};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Addresses, BindError, Server};

use crate::exit::{Failure, Outcome};
#[cfg(feature = "ros2")]
use crate::ros2::Scripts;
use crate::show::say;
use crate::signals::{Leaves, Signals};

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] for an arm that never ran the software, and for scripts that are to speak ROS 2 and cannot;
/// [`Failure::BadInput`] for a script that cannot be read; [`Failure::Connection`] for a port that is taken.
pub(crate) fn run(args: &SimUrArgs) -> Outcome {
    #[cfg(feature = "ros2")]
    args.scripts.check(args.software)?;
    let options = options(args)?;
    let controller = Controller::new(options.clone()).map_err(|error| Failure::Usage(error.to_string()))?;
    let served: Vec<Port> = Port::ALL.into_iter().filter(|port| controller.has_port(*port)).collect();
    let addresses = Addresses { listen: args.listen, base: args.port_base, robot_api: args.robot_api_port };
    let server = Server::bind_at(controller, addresses).map_err(|error| bind_failure(&error))?;
    let ports: Vec<String> = served.iter().map(|port| server.address(*port).port().to_string()).collect();
    let software = options.software;
    say!(
        "simulated {} with software {software}, {}, at {} Hz, on {} ports {}",
        options.model.name(),
        state_name(options.state),
        1_000_000 / software.generation().period_micros(),
        args.listen,
        ports.join(" "),
    );
    if served.contains(&Port::RobotApi) {
        say!("Robot API: http://{}/universal-robots/robot-api", server.address(Port::RobotApi));
    }
    say!("{}; seed {}; {} fault(s) to come", options.drive, options.seed, options.faults.len());
    let sensor = args.distance_to.map(distance::Sensor::to).transpose()?;
    if let Some(to) = args.distance_to {
        say!("distances to {to}, every 10 ms while the surface lies ahead of the tool");
    }
    let running = server.spawn().map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
    let running = Arc::new(running);
    #[cfg(feature = "ros2")]
    let scripts = args.scripts.ros.then(|| Scripts::join(&args.scripts, Arc::clone(&running))).transpose()?;
    let runtime = crate::runtime::one_threaded()?;
    runtime.block_on(async {
        let mut signals = Signals::listen(Leaves::Nothing)?;
        let end = async {
            match args.seconds {
                None => drop(signals.next().await),
                Some(seconds) => drop(tokio::time::timeout(Duration::from_secs(seconds), signals.next()).await),
            }
        };
        match sensor {
            None => end.await,
            Some(sensor) => tokio::select! {
                () = sensor.send(&running) => {}
                () = end => {}
            },
        }
        #[cfg(feature = "ros2")]
        scripts.map(Scripts::finish);
        drop(running);
        Ok(())
    })
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
    options.surface = args.surface;
    options.services_off.clone_from(&args.service_off);
    Ok(Options { seed: args.seed, state: args.state, faults: args.fault.clone(), ..options })
}

fn program_file(program: &ProgramArg) -> Result<ProgramFile, Failure> {
    let file = ProgramFile::named(&program.name);
    let Some(path) = &program.script else { return Ok(file) };
    let script = std::fs::read_to_string(path)
        .map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", path.display())))?;
    Ok(ProgramFile { script, ..file })
}

fn state_name(state: StartState) -> &'static str {
    StartState::NAMED.into_iter().find(|(known, _)| *known == state).map_or("", |(_, name)| name)
}
