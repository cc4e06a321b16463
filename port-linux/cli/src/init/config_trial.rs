//! Makes the dry run: runs a new configuration with a simulated controller of the same software, and a simulated
//! sensor.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::{Running, Server};

use super::args::{Task, Wiring};
use super::config_template::{First, Sensor};
use outrigger::exit::{Failure, Outcome};
use outrigger::host::os;
use outrigger::show::say;

/// The first port base that is tried for the simulated controller. With port base B, the controller's port p is at B +
/// p - 29999; these ports must be free.
const FIRST_BASE: u16 = 40_000;
/// The time that the dry run's process has to start and to stop the simulated arm, in addition to its own duration.
const ENDING: Duration = Duration::from_secs(10);
/// The distance by which the simulated surface is farther from the tool at the start than the distance to hold \[m\].
const FARTHER: f64 = 0.02;

/// Runs the first configuration with a simulated robot for this many seconds, as a process of `outrigger run` whose
/// output is shown.
///
/// # Errors
/// [`Failure::Usage`] for a model that never ran the software, [`Failure::Connection`] if nothing can be simulated,
/// [`Failure::BadInput`] if a file, a thread or a process cannot be created. A dry run that fails is only reported.
pub(super) fn run(first: &First, seconds: u64) -> Outcome {
    let controller = simulated(first)?;
    let tool = controller.controller().truth().tool();
    let robot = format!("127.0.0.1:{}", controller.port_base());
    // The simulated sensor always sends by UDP, in place of the real connection.
    let wiring = Wiring::Udp(free_port()?);
    let sensor = first.sensor.as_ref().map(|_| Sensor { wiring, from: None, scale: 1.0 });
    let tried = First { robot: robot.clone(), sensor, at_once: true, ..first.clone() };
    let file = Temporary::write(&tried.text())?;
    let _sensor = match first.task {
        Task::Servo => None,
        Task::Force => Some(Companion::sensor(&file, &["--script", "2=sine:0.005,0.2"])?),
        Task::Standoff => {
            let [position, axis] = [tool.position, tool.z_axis()];
            let ahead = first.distance + FARTHER;
            let plane: [f64; 6] = std::array::from_fn(|at| match at {
                0..3 => position[at] + ahead * axis[at],
                _ => -axis[at - 3],
            });
            let plane = plane.map(|number| format!("{number:.6}")).join(",");
            let surface = format!("--surface={plane}");
            Some(Companion::sensor(&file, &[&surface, "--robot", &robot, "--script", "sine:0.005,0.1"])?)
        }
    };
    say!(
        "\ndry run for {seconds} s on a simulated {} with software {}{}; q ends it\n",
        first.model.name(),
        first.software,
        match first.task {
            Task::Servo => "",
            Task::Force => ", pushed along the tool's z axis",
            Task::Standoff => ", above a surface that moves up and down",
        }
    );
    let mut command = Command::new(program()?);
    let mut process = command.args(arguments(&file.0, seconds)).spawn().map_err(unstarted)?;
    if !wait(&mut process, Duration::from_secs(seconds) + ENDING)? {
        end(&mut process)?;
    }
    let status = process.wait().map_err(unstarted)?;
    if !status.success() {
        // The file has been written all the same.
        say!(
            "the dry run failed ({status}); see its messages above, which may also show that this computer is overloaded"
        );
    }
    Ok(())
}

/// Returns the command-line arguments with which `outrigger run` runs the configuration at `path` for this many
/// seconds.
fn arguments(path: &Path, seconds: u64) -> [OsString; 4] {
    ["run".into(), path.into(), "--duration".into(), seconds.to_string().into()]
}

fn simulated(first: &First) -> Result<Running, Failure> {
    let by_model = Options::new(first.model, first.software);
    let q = first.joints.map_or(by_model.q, |joints| joints.map(f64::from));
    let controller = Controller::new(Options { q, ..by_model }).map_err(|error| Failure::Usage(error.to_string()))?;
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), FIRST_BASE)
        .map_err(|error| Failure::Connection(error.to_string()))?;
    server.spawn().map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))
}

fn free_port() -> Result<SocketAddr, Failure> {
    let failure = |error| Failure::Connection(format!("cannot open a UDP socket on the loopback: {error}"));
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.local_addr()).map_err(failure)
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::BadInput(format!("cannot find this program's file: {error}")))
}

fn unstarted(error: std::io::Error) -> Failure {
    Failure::BadInput(format!("cannot start this program a second time: {error}"))
}

/// Waits for the end of a process, at most for `time`. Returns `false` if it did not end.
fn wait(process: &mut Child, time: Duration) -> Result<bool, Failure> {
    const LOOK: Duration = Duration::from_millis(50);
    for _ in 0..time.as_millis() / LOOK.as_millis() {
        if process.try_wait().map_err(unstarted)?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(LOOK);
    }
    Ok(false)
}

/// Ends a dry run that did not end by itself in time.
fn end(process: &mut Child) -> Outcome {
    os::interrupt(process);
    if !wait(process, ENDING)? {
        process.kill().map_err(unstarted)?;
    }
    Ok(())
}

/// The process of a simulated sensor for a dry run, which is ended when this is dropped.
struct Companion(Child);

impl Companion {
    /// Starts a process that sends simulated readings as the configuration `file` expects them. `how` are further
    /// arguments of `outrigger sim sensor`.
    fn sensor(file: &Temporary, how: &[&str]) -> Result<Self, Failure> {
        let mut command = Command::new(program()?);
        command.args(["sim", "sensor", "--config"]).arg(&file.0).args(how);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.spawn().map(Self).map_err(unstarted)
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        // The process has ended or ends now, so errors do not matter.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A temporary configuration file, which is removed when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn write(text: &str) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("outrigger-dry-run-{}.toml", std::process::id()));
        super::write(&path, text)?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn a_dry_run_is_ended_by_its_time_and_not_by_a_signal() {
        let words = std::iter::once("outrigger".into()).chain(arguments(Path::new("cell.toml"), 60));
        let read = Cli::command().try_get_matches_from(words).expect("arguments of `run`");
        let (name, run) = read.subcommand().expect("a command");
        assert_eq!((name, run.get_one::<u64>("seconds")), ("run", Some(&60)));
    }
}
