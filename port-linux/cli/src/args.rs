//! The arguments of commands such as `outrigger run`, and the parsers of their values.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use outrigger_config::{RobotAddress, Vendor, local_socket, parse_states};
use outrigger_core::engine::ur::StatesFrom;
use outrigger_wire::robot::RobotModel;

use outrigger::exit::Failure;
use outrigger::feed::{VARIABLES, WireFormat};

/// The options for the kind of controller, for commands without a configuration.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ControllerArgs {
    /// Kind of controller, as robot.kind of a configuration: ur or krc (KUKA, Fast Research Interface)
    #[arg(long, value_name = "KIND", default_value = "ur")]
    kind: Kind,
    /// With --kind krc: port, or address and port, to which it sends its measurements; default 0.0.0.0:49938
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_any_address)]
    listen: Option<SocketAddr>,
}

/// The error message if `--states` is given with a KRC, whose states come from a single source.
pub(crate) const STATES_OF_A_KRC: &str =
    "--states is for the ports of a UR controller: a KRC has one way to send its state; leave it out";

/// The kind of the robot's controller, as given by `--kind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A controller of Universal Robots, which Outrigger connects to.
    #[default]
    Ur,
    /// A robot controller (KRC) of KUKA, which sends its measurements to Outrigger.
    Krc,
}

impl From<Vendor> for Kind {
    fn from(vendor: Vendor) -> Self {
        match vendor {
            Vendor::Ur => Self::Ur,
            Vendor::Krc => Self::Krc,
        }
    }
}

impl ControllerArgs {
    /// Returns the kind of the controller; `states` is the value of --states.
    ///
    /// # Errors
    /// [`Failure::Usage`] for options that belong to the other kind of controller.
    pub(crate) fn kind(&self, states: StatesFrom) -> Result<Kind, Failure> {
        match (self.kind, self.listen) {
            (Kind::Krc, _) if states != StatesFrom::default() => Err(Failure::Usage(STATES_OF_A_KRC.into())),
            (Kind::Ur, Some(_)) => Err(Failure::Usage(
                "--listen is for a KRC, which sends by itself: add --kind krc; a UR controller is connected to".into(),
            )),
            (kind, _) => Ok(kind),
        }
    }

    /// Returns the arguments for a KRC that sends its measurements to `listen`.
    pub(crate) const fn krc(listen: SocketAddr) -> Self {
        Self { kind: Kind::Krc, listen: Some(listen) }
    }

    /// Returns the local address to which a KRC sends its measurements.
    #[must_use]
    pub(crate) fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], outrigger_wire::fri::DEFAULT_PORT)))
    }
}

/// The arguments of `outrigger monitor`.
#[derive(Args, Clone, Debug)]
pub(crate) struct MonitorArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// The options for the kind of the robot's controller.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// Source of states: auto, realtime (30003) or rtde (30004)
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = parse_states)]
    pub states: StatesFrom,
    /// Serve the live data for Foxglove, read-only; without a PORT at 127.0.0.1:8765, or another port of the loopback
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, require_equals = false, default_missing_value = "", value_parser = parse_web)]
    pub foxglove: Option<Web>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// The arguments of `outrigger view`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ViewArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// The options for the kind of the robot's controller.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// Source of states: auto, realtime (30003) or rtde (30004)
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = parse_states)]
    pub states: StatesFrom,
    /// Port of the page, or address and port; default 127.0.0.1:8750, or another port of the loopback if it is in use.
    /// When the page is first opened, the dashboard server of a UR controller is asked for the arm's serial number
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_loopback)]
    pub web: Option<SocketAddr>,
    /// One JSON object per line instead of text, as `monitor --json`; the first names the page
    #[arg(short = 'j', long)]
    pub json: bool,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// The arguments of `outrigger check-config`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckConfigArgs {
    /// Configuration file to check
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
}

/// The arguments of `outrigger run`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// Configuration file of the run
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999; instead of the configuration's
    /// robot.address
    #[arg(long, value_name = "ROBOT")]
    pub robot: Option<RobotAddress>,
    /// Write all data exchanged with the robot to this file; instead of run.record
    #[arg(long, value_name = "FILE.mcap")]
    pub record: Option<PathBuf>,
    /// Source of states: auto, realtime (30003) or rtde (30004); instead of the configuration's connect.expert.states
    #[arg(long, value_name = "SOURCE", value_parser = parse_states)]
    pub states: Option<StatesFrom>,
    /// Show the run live on a page in a browser; without a PORT at 127.0.0.1:8750, or another port of the loopback
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, require_equals = false, default_missing_value = "", value_parser = parse_web)]
    pub web: Option<Web>,
    /// Serve the live data for Foxglove, read-only; without a PORT at 127.0.0.1:8765, or another port of the loopback
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, require_equals = false, default_missing_value = "", value_parser = parse_web)]
    pub foxglove: Option<Web>,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), hide = true)]
    pub seconds: Option<u64>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
}

/// The arguments of `outrigger replay`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArgs {
    /// Recordings to replay
    #[arg(value_name = "DUMP", required = true)]
    pub dumps: Vec<PathBuf>,
}

/// The arguments of `outrigger record`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RecordArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// The options for the kind of the robot's controller.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// Recording to write; the file must not exist
    #[arg(short = 'o', long, value_name = "FILE.mcap")]
    pub out: PathBuf,
    /// Source of states: auto, rtde (30004 beside 30003) or realtime (30003 alone)
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = parse_states)]
    pub states: StatesFrom,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// Write without compression, for readers without LZ4
    #[arg(long)]
    pub uncompressed: bool,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
}

/// The arguments of `outrigger export`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExportArgs {
    /// Recording to export
    #[arg(value_name = "FILE.mcap")]
    pub file: PathBuf,
    /// Write a table of states: one row per state, one column per number; '-' for standard output
    #[arg(long, value_name = "FILE.csv|-", conflicts_with = "raw", required_unless_present = "raw")]
    pub csv: Option<PathBuf>,
    /// Write the bytes of one port as they arrived; '-' for standard output
    #[arg(long, value_name = "FILE.bin|-")]
    pub raw: Option<PathBuf>,
    /// Port to export, or `variables` for those of run.expert.record_variables; a table is made from 30004 if it was
    /// recorded, otherwise from 30003
    #[arg(long, value_name = "PORT", value_parser = parse_feed_port)]
    pub port: Option<u16>,
}

/// The arguments of `outrigger script`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScriptArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// Program to send, or '-' for standard input
    #[arg(value_name = "FILE.script|-")]
    pub file: PathBuf,
    /// Stay until the program ends, and print its messages
    #[arg(long)]
    pub wait: bool,
    /// Send the file's statements one by one to interpreter mode (port 30020) instead of the file as a program
    #[arg(long, conflicts_with = "wait")]
    pub interpreter: bool,
    /// Longest wait for messages from the program
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: Option<u64>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
}

/// The arguments of `outrigger watch`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WatchArgs {
    /// Address of the board to watch
    #[arg(value_name = "BOARD")]
    pub board: String,
    /// Port, or address and port, to which the board sends its telemetry: device.telemetry of its configuration
    #[arg(long, value_name = "[ADDR:]PORT", default_value = "0.0.0.0:47000", value_parser = parse_any_address)]
    pub listen: SocketAddr,
    /// Write the recording of each fallback to a file in this directory; the newest hundred of a board are kept
    #[arg(short = 'o', long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// The arguments of `outrigger decode`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DecodeArgs {
    /// Port that the bytes come from: 30001 to 30004, `variables` for those of run.expert.record_variables on 30004,
    /// or `fri` for datagrams of KUKA's Fast Research Interface; 30011 to 30013 are the same as 30001 to 30003
    #[arg(long, value_name = "PORT", value_parser = WireFormat::named)]
    pub port: WireFormat,
    /// Names of the requested variables, for 30004: its packages do not name them
    #[arg(long, value_name = "A,B")]
    pub recipe: Option<String>,
    /// Recorded bytes, or '-' for standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
}

/// Parses a port of this machine's loopback, or an address and a port.
pub(crate) fn parse_loopback(text: &str) -> Result<SocketAddr, String> {
    parse_socket(text, Ipv4Addr::LOCALHOST)
}

/// Parses a port of every address of this machine, or an address and a port.
pub(crate) fn parse_any_address(text: &str) -> Result<SocketAddr, String> {
    parse_socket(text, Ipv4Addr::UNSPECIFIED)
}

/// Parses a socket address from the command line: an IP address and a port, or a port of the address `host`.
fn parse_socket(text: &str, host: Ipv4Addr) -> Result<SocketAddr, String> {
    local_socket(text, host).ok_or_else(|| {
        format!("expected a port, or an IP address and a port, such as {host}:49938; names are not looked up")
    })
}

/// The argument of `--web` and of `--foxglove`: the address of a page or server that shows a session live. `None`
/// selects the default address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Web(pub Option<SocketAddr>);

pub(crate) fn parse_web(text: &str) -> Result<Web, String> {
    if text.is_empty() { Ok(Web(None)) } else { parse_loopback(text).map(|address| Web(Some(address))) }
}

pub(crate) fn parse_model(text: &str) -> Result<RobotModel, String> {
    RobotModel::from_name(text).ok_or_else(|| {
        let names: Vec<_> = RobotModel::ALL.iter().map(|model| model.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_feed_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        _ if text == "variables" => Ok(VARIABLES),
        Ok(port) if port != VARIABLES => Ok(port),
        _ => Err("expected a port, e.g. 30003, or variables".into()),
    }
}
