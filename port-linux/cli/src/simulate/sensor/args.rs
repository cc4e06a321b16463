//! The arguments of `outrigger sim sensor`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args, ValueEnum};
use outrigger_config::{Format, RobotAddress};
use outrigger_sim::sensor::Part;
use outrigger_sim::surface::Surface;

use crate::args::parse_loopback;

/// The arguments of `outrigger sim sensor`.
#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("measures").args(["script", "file", "surface"]).required(true).multiple(true))]
pub(crate) struct SimSensorArgs {
    /// Write to this serial device; unix:PATH is a Unix socket, such as a serial port of QEMU; pty:PATH creates a
    /// pseudo terminal that a run opens as device = "PATH"
    #[arg(long, value_name = "PATH", conflicts_with = "udp")]
    pub uart: Option<Uart>,
    /// Send datagrams to this address, one reading each; without --uart and --udp readings go to standard output
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_loopback)]
    pub udp: Option<SocketAddr>,
    /// Part of the simulated measurement, or a fault of it, e.g. sine:0.01,0.5,0.05; may be repeated; --help lists
    /// them
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub script: Vec<Part>,
    /// Replay a file: a table t,v0,v1,... at its own times, or a sensor's lines at --rate
    #[arg(long, value_name = "FILE", conflicts_with = "surface")]
    pub file: Option<PathBuf>,
    /// Repeat the file from its beginning after its end
    #[arg(long = "loop", requires = "file")]
    pub again: bool,
    /// Measure the distance, along the z axis of the tool of --robot, to a flat surface: a point on it in m and the
    /// direction it faces, both in the base frame
    #[arg(long, value_name = "X,Y,Z,NX,NY,NZ", value_parser = parse_surface, allow_hyphen_values = true, requires = "robot")]
    pub surface: Option<Surface>,
    /// UR controller, simulated or real, that the tool's pose is read from; nothing is sent to it:
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    #[arg(long, value_name = "ROBOT", requires = "surface")]
    pub robot: Option<RobotAddress>,
    /// Send readings for a [[source]] of this configuration, of a board or a host: its format, values,
    /// scale, offset and rate in Bd, and its address if it listens to datagrams
    #[arg(long, value_name = "CONFIG.toml")]
    pub config: Option<PathBuf>,
    /// Name of the source in the configuration; not needed if there is one
    #[arg(long, value_name = "NAME", requires = "config")]
    pub source: Option<String>,
    /// Readings per second; default 100; not for a table, which contains its times
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Values per reading, 1 to 6; default 1, or as in the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub values: Option<u8>,
    /// Format as in a [[source]]: text, a line per reading, or postcard: frames with a checksum on a serial line,
    /// datagrams without one; default text
    #[arg(long, visible_alias = "form", value_name = "FORMAT", value_enum)]
    pub format: Option<Form>,
    /// Rate of the serial device in Bd; default 115200
    #[arg(long, value_name = "BD", value_parser = clap::value_parser!(u32).range(50..=4_000_000))]
    pub baud: Option<u32>,
    /// Scale as in a [[source]]: SI units per unit of the sensor; the values sent are divided by it
    #[arg(long, value_name = "X", value_parser = parse_number, allow_hyphen_values = true)]
    pub scale: Option<f64>,
    /// Offset as in a [[source]], in SI units; it is subtracted before the division
    #[arg(long, value_name = "X", value_parser = parse_number, allow_hyphen_values = true)]
    pub offset: Option<f64>,
    /// Decimals of values in lines; default: as many as represent the value exactly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub decimals: Option<u8>,
    /// Send lines without seq=, like a plain instrument
    #[arg(long)]
    pub no_seq: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
}

/// The kind and the path of the serial line to which a simulated sensor sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Uart {
    /// An existing serial device, by its path.
    Device(PathBuf),
    /// The path of a Unix socket at which another program, such as QEMU, listens.
    Socket(PathBuf),
    /// A pseudo terminal that is created under this name.
    Pseudo(PathBuf),
}

impl FromStr for Uart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (made, path): (fn(PathBuf) -> Self, &str) = match text.split_once(':') {
            Some(("unix", path)) => (Self::Socket, path),
            Some(("pty", path)) => (Self::Pseudo, path),
            _ => (Self::Device, text),
        };
        if path.is_empty() {
            return Err("expected a path, such as /dev/ttyUSB0, unix:uart.sock or pty:sensor".into());
        }
        Ok(made(path.into()))
    }
}

/// The encoding of a simulated sensor's readings, by its name in configurations (`text`, `postcard`) or on a serial
/// line (`lines`, `frames`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Lines of text.
    #[value(alias = "lines")]
    Text,
    /// Frames, or datagrams.
    #[value(alias = "frames")]
    Postcard,
}

impl From<Form> for Format {
    fn from(form: Form) -> Self {
        match form {
            Form::Text => Self::Text,
            Form::Postcard => Self::Postcard,
        }
    }
}

fn parse_number(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "expected a number".into())
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.001..=10_000.0).contains(rate));
    rate.ok_or_else(|| "expected readings per second, from 0.001 to 10000".into())
}

fn parse_surface(text: &str) -> Result<Surface, String> {
    const EXPECTED: &str = "expected X,Y,Z,NX,NY,NZ, such as 0,0,0.2,0,0,1 for a table 0.2 m high";
    let number = |word: &str| word.trim().parse::<f64>().map_err(|_| format!("'{word}' is not a number: {EXPECTED}"));
    let numbers: Vec<f64> = text.split(',').map(number).collect::<Result<_, _>>()?;
    let [x, y, z, nx, ny, nz] = *numbers.as_slice() else {
        return Err(format!("{} numbers: {EXPECTED}", numbers.len()));
    };
    // The stiffness and damping do not matter to a distance sensor.
    Surface::new([x, y, z], [nx, ny, nz], 1.0, 0.0)
        .ok_or_else(|| format!("the direction NX,NY,NZ must not be 0,0,0, and all must be finite: {EXPECTED}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_line_is_a_device_a_socket_or_one_that_is_made() {
        assert_eq!("/dev/ttyUSB0".parse(), Ok(Uart::Device("/dev/ttyUSB0".into())));
        assert_eq!("/dev/serial/by-path/pci:1".parse(), Ok(Uart::Device("/dev/serial/by-path/pci:1".into())));
        assert_eq!("unix:uart.sock".parse(), Ok(Uart::Socket("uart.sock".into())));
        assert_eq!("pty:sensor".parse(), Ok(Uart::Pseudo("sensor".into())));
        assert!("pty:".parse::<Uart>().expect_err("no path").contains("pty:sensor"));
    }

    #[test]
    fn a_surface_is_a_point_and_a_direction() {
        assert_eq!(parse_surface("0,0,0.2,0,0,2").map(|surface| surface.normal), Ok([0.0, 0.0, 1.0]));
        assert!(parse_surface("0,0,0.2,0,0,1,500").expect_err("a stiffness").contains("7 numbers: expected X,Y,Z"));
        assert!(parse_surface("0,0,0.2,0,0,0").expect_err("no direction").contains("must not be 0,0,0"));
        assert!(parse_rate("0").is_err() && parse_rate("12.5") == Ok(12.5));
    }
}
