//! The arguments of `outrigger sim ur`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use outrigger_config::parse_software;
use outrigger_sim::arm::FREE_DAMPING;
use outrigger_sim::controller::StartState;
use outrigger_sim::external_control::ExternalControl;
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::service::Service;
use outrigger_sim::surface::Surface;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use crate::args::{Web, parse_loopback, parse_model, parse_web};

/// The arguments of `outrigger sim ur`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SimUrArgs {
    /// Address to listen on; 0.0.0.0 for every network
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub listen: IpAddr,
    /// Model of the arm, e.g. ur10e; default: the UR5 of the software's generation
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// Controller software, 1.5 to 5.25, or 10.0 to 10.12
    #[arg(long = "polyscope", alias = "software", value_name = "VERSION", default_value = "5.15", value_parser = parse_software)]
    pub software: SoftwareVersion,
    /// Port base: port p is served at B + p - 29999; 0 chooses a base whose ports are free, and prints it
    #[arg(long, value_name = "B", default_value_t = outrigger_config::FIRST_PORT, value_parser = parse_port_base)]
    pub port_base: u16,
    /// State at the start: running, power-off, idle, local, remote-not-enabled or protective-stop
    #[arg(long, value_name = "STATE", default_value = "running", value_parser = parse_state)]
    pub state: StartState,
    /// A fault over time, e.g. stall@5s:200ms; may be repeated; --help lists them
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<Fault>,
    /// Let joints follow their targets exactly: no latency, no lag, no velocity error
    #[arg(long)]
    pub ideal_drive: bool,
    /// Duration of a flight report, 0 to 3600 s
    #[arg(long, value_name = "SECONDS", default_value_t = REPORT_SECONDS, value_parser = parse_report)]
    pub flight_report: f64,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Let RTDE's output registers mirror its input registers while no program runs
    #[arg(long)]
    pub echo_registers: bool,
    /// Program on the pendant's disk beside idle.urp, which runs the URScript in FILE when played; may be repeated
    #[arg(long, value_name = "NAME[=FILE]", value_parser = parse_program)]
    pub program: Vec<ProgramArg>,
    /// Install the URCap External Control: playing external_control.urp, which is loaded, or any program with a line
    /// external_control(), gets the program from HOST (default port 50002), an address or localhost
    #[arg(long, value_name = "HOST[:PORT]", value_parser = parse_external_control)]
    pub external_control: Option<ExternalControl>,
    /// A gripper on the tool's serial line, and UR's URCap that relays it on port 54321 (B + 17 with a port base): Modbus RTU at
    /// 115200 baud, no parity, address 1, supplied with 24 V; holding registers 0 target and 1 position in 0.1 mm, 0 to 1000, and
    /// 2 speed in mm/s
    #[arg(long)]
    pub tool_gripper: bool,
    /// Program or installation that exists but fails to load, e.g. old.urp; may be repeated
    #[arg(long, value_name = "NAME", value_parser = parse_file)]
    pub broken: Vec<String>,
    /// Program or installation whose safety settings need a confirmation; may be repeated
    #[arg(long, value_name = "NAME", value_parser = parse_file)]
    pub unconfirmed: Vec<String>,
    /// Port of the Robot API (PolyScope X); default: 80, or B + 16 with port base B
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub robot_api_port: Option<u16>,
    /// Service to switch off: dashboard, primary, secondary, realtime, rtde, interpreter or robot-api; may be
    /// repeated
    #[arg(long, value_name = "NAME", value_parser = parse_service)]
    pub service_off: Vec<Service>,
    /// Flat surface as an obstacle: a point on it in m, the direction it faces, both in the base frame, and its
    /// stiffness in N/m [default: 20000]; programs detect it with force(), tool_contact() and force_mode()
    #[arg(long, value_name = "X,Y,Z,NX,NY,NZ[,N/m]", value_parser = parse_surface, allow_hyphen_values = true)]
    pub surface: Option<Surface>,
    /// Damping of force mode in free air, in N·s/m, 20 to 10000: the force for a tool speed of 1 m/s; no real
    /// controller's value is known
    #[arg(long, value_name = "N·s/m", default_value_t = FREE_DAMPING, value_parser = parse_damping)]
    pub force_damping: f64,
    /// Send the readings of a distance sensor at the tool, which measures along the tool's z axis to the surface: every
    /// 10 ms a datagram with a line such as "seq=7 0.123456", in m, for a source of `outrigger run` with input "udp"
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_loopback, requires = "surface")]
    pub distance_to: Option<SocketAddr>,
    /// The options by which the scripts of the simulated controller use ROS 2.
    #[cfg(feature = "ros2")]
    #[command(flatten)]
    pub scripts: crate::ros2::ScriptsArgs,
    /// Print one JSON line on standard output once clients can connect: robot, ports, model, software, pid; all other
    /// output goes to standard error
    #[arg(long)]
    pub ready: bool,
    /// Serve the live data for Foxglove, read-only; without a PORT at 127.0.0.1:8765, or another port of the loopback
    #[arg(long, value_name = "[ADDR:]PORT", num_args = 0..=1, require_equals = false, default_missing_value = "", value_parser = parse_web)]
    pub foxglove: Option<Web>,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// The default duration of writing a flight report, on the simulated controller \[s\].
const REPORT_SECONDS: f64 = 60.0;

/// Parses the port base of a simulated controller, which must leave room for every port; 0 requests one to be chosen.
fn parse_port_base(text: &str) -> Result<u16, String> {
    let above = Port::ALL.iter().filter_map(|port| port.at_base(0)).max().unwrap_or_default();
    let highest = u16::MAX - above;
    let base = text.parse::<u64>().map_err(|_| format!("found '{text}', expected a number from 0 to {highest}"))?;
    let fits = u16::try_from(base).ok().filter(|base| *base <= highest);
    fits.ok_or_else(|| format!("found {base}, expected at most {highest}"))
}

fn parse_report(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a time in seconds, 0 to 3600".into())
}

fn parse_damping(text: &str) -> Result<f64, String> {
    let damping = text.parse().ok().filter(|damping| (20.0..=10_000.0).contains(damping));
    damping.ok_or_else(|| "expected a damping in N·s/m, 20 to 10000".into())
}

/// A program on the simulated pendant's disk: its name, and the file with its URScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramArg {
    /// The name of the program, in the form that the dashboard command `load` takes.
    pub name: String,
    /// The path of the file with the URScript of the program. Without one, the program runs without effect until it
    /// is stopped.
    pub script: Option<PathBuf>,
}

fn parse_state(text: &str) -> Result<StartState, String> {
    StartState::from_name(text).ok_or_else(|| {
        let names = StartState::NAMED.map(|(_, name)| name);
        format!("expected one of {}", names.join(", "))
    })
}

/// Parses the host of the URCap External Control, which must be an address or localhost, because the simulator resolves
/// no names.
fn parse_external_control(text: &str) -> Result<ExternalControl, String> {
    let found: ExternalControl = text.parse()?;
    let callable = found.host.eq_ignore_ascii_case("localhost") || found.host.parse::<IpAddr>().is_ok();
    if callable { Ok(found) } else { Err(format!("expected an address or localhost, found '{}'", found.host)) }
}

/// The default stiffness \[N/m\] and the damping \[N·s/m\] of a simulated surface.
const SURFACE: (f64, f64) = (20_000.0, 100.0);

fn parse_surface(text: &str) -> Result<Surface, String> {
    const EXPECTED: &str =
        "expected X,Y,Z,NX,NY,NZ or X,Y,Z,NX,NY,NZ,STIFFNESS, such as 0,0,0.2,0,0,1 for a table 0.2 m high";
    let number = |word: &str| {
        let number = word.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| format!("'{word}' is not a number: {EXPECTED}"))
    };
    let numbers: Vec<f64> = text.split(',').map(number).collect::<Result<_, _>>()?;
    let (x, y, z, nx, ny, nz, stiffness) = match *numbers.as_slice() {
        [x, y, z, nx, ny, nz] => (x, y, z, nx, ny, nz, SURFACE.0),
        [x, y, z, nx, ny, nz, stiffness] => (x, y, z, nx, ny, nz, stiffness),
        _ => return Err(format!("{} numbers: {EXPECTED}", numbers.len())),
    };
    Surface::new([x, y, z], [nx, ny, nz], stiffness, SURFACE.1).ok_or_else(|| {
        format!("the direction NX,NY,NZ must not be 0,0,0, and the stiffness must be above 0: {EXPECTED}")
    })
}

fn parse_service(text: &str) -> Result<Service, String> {
    Service::from_name(text).ok_or_else(|| {
        let names = Service::NAMED.map(|(_, name)| name);
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_program(text: &str) -> Result<ProgramArg, String> {
    let (name, script) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(PathBuf::from(file))));
    if !name.ends_with(".urp") && !name.ends_with(".urpx") {
        return Err(format!("expected NAME.urp or NAME.urpx, optionally with =FILE.script, found '{text}'"));
    }
    Ok(ProgramArg { name: name.to_owned(), script })
}

fn parse_file(text: &str) -> Result<String, String> {
    match text.rsplit_once('.') {
        Some((_, "urp" | "urpx" | "installation")) => Ok(text.to_owned()),
        _ => Err(format!("expected NAME.urp, NAME.urpx or NAME.installation, found '{text}'")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn what_is_no_program_file_or_computer_is_refused_with_what_is() {
        assert_eq!(parse_program("weld.urp"), Ok(ProgramArg { name: "weld.urp".into(), script: None }));
        let with = parse_program("cell/weld.urp=a=b.script").expect("a program");
        assert_eq!((with.name.as_str(), with.script), ("cell/weld.urp", Some("a=b.script".into())));
        assert!(parse_program("weld").expect_err("no extension").contains("NAME.urp"));
        assert!(parse_external_control("pc.example").expect_err("a name").contains("localhost"));
        assert_eq!(parse_external_control("10.0.0.9").map(|found| found.port), Ok(50_002));
        assert!(parse_surface("0,0,0.2").expect_err("too few").contains("3 numbers: expected X,Y,Z"));
        assert!(parse_surface("0,0,high,0,0,1").expect_err("a word").contains("'high' is not a number"));
        assert!(parse_surface("0,0,0.2,0,0,0").expect_err("no direction").contains("must not be 0,0,0"));
        assert!(parse_surface("0,0,0.2,0,0,1,-5").expect_err("it pulls").contains("must be above 0"));
        assert_eq!(
            parse_surface("0,0,0.2,0,0,2,500").map(|found| (found.normal[2], found.stiffness)),
            Ok((1.0, 500.0))
        );
        assert_eq!(REPORT_SECONDS, outrigger_sim::pendant::OperationTiming::default().report.as_secs_f64());
        assert!(["-1", "nan", "3601", "1m"].iter().all(|text| parse_report(text).is_err()));
        assert!(["0", "nan", "19", "10001", "1N"].iter().all(|text| parse_damping(text).is_err()));
        assert!(parse_file("weld.txt").expect_err("another extension").contains("NAME.installation"));
    }

    #[test]
    fn a_port_base_without_room_for_every_port_is_a_usage_error() {
        let refused = |base: &str| {
            let words = ["outrigger", "sim", "ur", "--port-base", base];
            let error = Cli::command().try_get_matches_from(words).expect_err("no room");
            (error.exit_code(), error.to_string())
        };
        for base in ["65515", "65535", "70000"] {
            let (code, text) = refused(base);
            assert!(code == 2 && text.contains(&format!("found {base}, expected at most 65514")), "{text}");
        }
        assert!(refused("high").1.contains("found 'high', expected a number from 0 to 65514"));
        assert_eq!(["0", "40000", "65514"].map(parse_port_base), [Ok(0), Ok(40_000), Ok(65_514)]);
    }
}
