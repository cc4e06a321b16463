//! The command line: what can be asked for, and how the answer ends.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use outrigger_core::robot::{RobotModel, SoftwareVersion};
use outrigger_sim::controller::StartState;
use outrigger_sim::fault::Fault;

use crate::address::RobotAddress;
use crate::exit::Outcome;

/// The command line of `outrigger`.
#[derive(Debug, Parser)]
#[command(
    name = "outrigger",
    version,
    about = "Reads a Universal Robots arm every cycle, judges the link, and steers it from local sensors",
    after_help = "Exit codes: 0 done, 1 bad input, 2 usage, 3 connection, 4 fallback, fault or failed check."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show everything at once, with no hardware: a simulated arm held at a distance by a sensor
    #[command(after_help = "\
A simulated controller, a distance sensor and a co-controller talk over this machine's loopback
network. A link fault is injected; the demo shows the fallback, acknowledges it, re-arms, and checks
itself: exit code 4 and the name of the failed check if anything is not as it should be.

Examples:
  outrigger demo
  outrigger demo --report demo.html      one self-contained page with plots of the run
  outrigger demo | cat                   plain lines, for logs")]
    Demo(DemoArgs),
    /// Simulate a controller that drivers can connect to
    #[command(subcommand)]
    Sim(SimCommand),
    /// Show a robot's state and the quality of the link, live
    #[command(after_help = "\
Reads only; nothing is sent to the robot. On a terminal it is a full-screen view (q ends it), piped it
is one line per second, with --json one JSON object per line. A lost link is reported with its cause
and reconnected.

Examples:
  outrigger monitor 192.168.56.101
  outrigger monitor 127.0.0.1:40000 --seconds 10
  outrigger monitor 127.0.0.1 --json | jq .grade")]
    Monitor(MonitorArgs),
    /// Say everything that is wrong with a configuration, or what it would put in force
    #[command(after_help = "\
One line per problem: file, line, key, what was found, what was expected, and the nearest name.
Exit code 1 where there is one.

Examples:
  outrigger check-config half-turn.toml")]
    CheckConfig(CheckConfigArgs),
    /// Say what is to be fixed on this host, the link and the robot before anyone commands
    #[command(after_help = "\
Reads only; nothing is sent to the robot. Exit code 4 where something is to be fixed.

Examples:
  outrigger doctor 192.168.56.101
  outrigger doctor 127.0.0.1:40000 --model ur5 --seconds 20")]
    Doctor(DoctorArgs),
    /// Steer a robot as the configuration says
    #[command(after_help = "\
One process per robot. It commands when it is asked to and every precondition is met; any fault ends
commanding, and nothing resumes by itself: acknowledge, then request.
Lines on standard input: request, resume, release, acknowledge, quit. On a terminal: keys r, x, a, q.
SIGINT, SIGTERM and SIGHUP stop the arm and confirm standstill; the second one ends at once.
Exit code 4 where it ended in a fallback that nobody acknowledged.

Examples:
  outrigger check-config half-turn.toml
  outrigger run half-turn.toml
  outrigger run half-turn.toml --robot 127.0.0.1:40000 --json | tail -n 1")]
    Run(RunArgs),
    /// Run the engine again from a recording, and compare what it does
    #[command(after_help = "\
DUMP is what `run` wrote for a fallback (run.recordings), or a board's dump. Prints the transitions; exit
code 4 with the first difference where the same inputs do not give the same transitions and texts.

Examples:
  outrigger replay recordings/2026-01-31-12-00-00-UTC-StateStale-0.outrigger")]
    Replay(ReplayArgs),
    /// Print recorded traffic as one JSON object per message
    #[command(after_help = "\
FILE holds the bytes as they crossed the wire, '-' reads standard input. Names are the
specification's, in snake_case; vectors are arrays; enumerations are their numbers.
Numbers JSON has no form for are the strings \"NaN\", \"Infinity\" and \"-Infinity\".
Malformed: a message with the byte offset on standard error, exit code 1, and everything before it
has been printed.

Examples:
  outrigger decode --port 30003 realtime.bin
  nc 192.168.56.101 30002 | outrigger decode --port 30002 - | head -n 3")]
    Decode(DecodeArgs),
}

/// `outrigger demo`.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// How long to run, at least 20
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(20..=3600))]
    pub seconds: u64,
    /// Write a report with plots to this file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

const SIM_EXAMPLES: &str = "\
It starts RUNNING, NORMAL, in remote control, with no program. The drive is not ideal: one cycle of
latency, a first-order lag and 0.5 % velocity error.

Examples:
  outrigger sim ur --software 3.15
  outrigger sim ur --software 5.15 --fault stall@5s:200ms
  outrigger sim ur --model ur10e --port-base 40000 --state protective-stop";

#[derive(Debug, Subcommand)]
enum SimCommand {
    /// A Universal Robots controller: ports 29999, 30001-30003, 30011-30013
    #[command(after_help = SIM_EXAMPLES, after_long_help = format!("{SIM_EXAMPLES}\n\nFaults:\n{}", Fault::help()))]
    Ur(SimUrArgs),
}

/// `outrigger sim ur`.
#[derive(Args, Clone, Debug)]
pub struct SimUrArgs {
    /// Address to listen on; 0.0.0.0 for every network
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub listen: IpAddr,
    /// Arm, e.g. ur10e; default: the UR5 of the software's generation
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// Controller software, 1.5 to 5.25
    #[arg(long, value_name = "VERSION", default_value = "5.15", value_parser = parse_software)]
    pub software: SoftwareVersion,
    /// Port p is served at B + p - 29999
    #[arg(long, value_name = "B", default_value_t = crate::address::FIRST_PORT)]
    pub port_base: u16,
    /// State at the start: running, power-off, idle, local or protective-stop
    #[arg(long, value_name = "STATE", default_value = "running", value_parser = parse_state)]
    pub state: StartState,
    /// A fault over time, e.g. stall@5s:200ms; may be repeated; --help lists them
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<Fault>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// End after this many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// `outrigger monitor`.
#[derive(Args, Clone, Debug)]
pub struct MonitorArgs {
    /// HOST[:PORT-BASE]
    pub robot: RobotAddress,
    /// One JSON object per line instead of text
    #[arg(long)]
    pub json: bool,
    /// End after this many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// `outrigger check-config`.
#[derive(Args, Clone, Debug)]
pub struct CheckConfigArgs {
    /// The configuration
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
}

/// `outrigger doctor`.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// HOST[:PORT-BASE]
    pub robot: RobotAddress,
    /// The arm, e.g. ur10e: for the worst-case travel of its tool
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// How long the link is looked at
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
}

/// `outrigger run`.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// The configuration
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
    /// HOST[:PORT-BASE], instead of the configuration's robot.address
    #[arg(long, value_name = "ROBOT")]
    pub robot: Option<RobotAddress>,
    /// One JSON object per line instead of text
    #[arg(long)]
    pub json: bool,
}

/// `outrigger replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The recording
    #[arg(value_name = "DUMP")]
    pub dump: PathBuf,
}

/// `outrigger decode`.
#[derive(Args, Clone, Debug)]
pub struct DecodeArgs {
    /// The port the bytes come from: 30001, 30002 or 30003; 30011 to 30013 are the same
    #[arg(long, value_name = "PORT", value_parser = parse_stream)]
    pub port: Stream,
    /// Recorded bytes, or '-' for standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
}

/// What kind of stream a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Primary and secondary: 30001, 30002, 30011, 30012.
    Primary,
    /// Real-time: 30003, 30013.
    Realtime,
}

fn parse_model(text: &str) -> Result<RobotModel, String> {
    RobotModel::from_name(text).ok_or_else(|| {
        let names: Vec<_> = RobotModel::ALL.iter().map(|model| model.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_state(text: &str) -> Result<StartState, String> {
    StartState::from_name(text).ok_or_else(|| {
        let names = StartState::NAMED.map(|(_, name)| name);
        format!("expected one of {}", names.join(", "))
    })
}

/// Which versions there are is the simulated controller's to know.
pub(crate) fn parse_software(text: &str) -> Result<SoftwareVersion, String> {
    let wrong = || "expected MAJOR.MINOR or MAJOR.MINOR.BUGFIX, e.g. 5.15".to_owned();
    let (major, rest) = text.split_once('.').ok_or_else(wrong)?;
    let (minor, bugfix) = rest.split_once('.').unwrap_or((rest, "0"));
    match (major.parse(), minor.parse(), bugfix.parse()) {
        (Ok(major), Ok(minor), Ok(bugfix)) => Ok(SoftwareVersion { major, minor, bugfix }),
        _ => Err(wrong()),
    }
}

fn parse_stream(text: &str) -> Result<Stream, String> {
    match text {
        "30001" | "30002" | "30011" | "30012" => Ok(Stream::Primary),
        "30003" | "30013" => Ok(Stream::Realtime),
        _ => Err("expected 30001, 30002, 30003, 30011, 30012 or 30013".into()),
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("outrigger: {failure}");
            failure.into()
        }
    }
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Sim(SimCommand::Ur(args)) => crate::simulate::run(&args),
        Command::Demo(args) => crate::demo::run(&args),
        Command::Monitor(args) => crate::monitor::run(&args),
        Command::CheckConfig(args) => crate::check::run(&args),
        Command::Doctor(args) => crate::doctor::run(&args),
        Command::Run(args) => crate::run::run(&args),
        Command::Replay(args) => crate::replay::run(&args),
        Command::Decode(args) => crate::decode::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn software_is_a_whole_version() {
        assert_eq!(parse_software("5.15"), Ok(SoftwareVersion::new(5, 15)));
        assert_eq!(parse_software("3.15.4"), Ok(SoftwareVersion { major: 3, minor: 15, bugfix: 4 }));
        for bad in ["", "5", "5.", "5.x", "-1.5", "5.1.2.3", "500.1"] {
            assert!(parse_software(bad).is_err(), "{bad}");
        }
    }
}
