//! Determines the readings to send and their destination, from the arguments and from the receiver's configuration if
//! one is given.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use outrigger_config::{AnyConfiguration, Awaited, Format, SourcePort, bounded_file_read};
use outrigger_sim::sensor::{Measures, Rows, Settings};

use super::args::{SimSensorArgs, Uart};
use super::message::Written;
use super::nonblocking_sender::Wire;
use super::readings_file;
use outrigger::exit::Failure;

/// The default baud rate of a simulated sensor's serial line \[Bd\].
const BAUD: u32 = 115_200;
/// The largest file of readings that is read \[B\].
const FILE_MAX: u64 = 256 << 20;

/// The parameters of a simulated sensor: the destination, the encoding and the values of its readings.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) to: To,
    pub(super) written: Written,
    pub(super) settings: Settings,
}

/// The destination of a simulated sensor's readings: a serial line, UDP or standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum To {
    Uart(Uart, u32),
    Udp(SocketAddr),
    Output,
}

impl Plan {
    /// Creates the parameters of a simulated sensor from the arguments and from the configuration that they name.
    ///
    /// # Errors
    /// [`Failure::Usage`] for options that contradict each other, [`Failure::BadInput`] for files.
    pub(super) fn of(args: &SimSensorArgs) -> Result<Self, Failure> {
        let awaited = args.config.as_deref().map(|path| awaited(path, args.source.as_deref())).transpose()?;
        let to = To::of(args, awaited.as_ref())?;
        let rows = args.file.as_deref().map(|path| read(path, args)).transpose()?;
        let values = values(args, awaited.as_ref(), rows.as_ref())?;
        let scale = (
            args.scale.or_else(|| awaited.as_ref().map(|source| source.scale.into())).unwrap_or(1.0),
            args.offset.or_else(|| awaited.as_ref().map(|source| source.offset.into())).unwrap_or(0.0),
        );
        if scale.0 == 0.0 {
            return Err(Failure::Usage("scale is 0, which makes every reading the same: set another scale".into()));
        }
        if let Some(beyond) = args.script.iter().filter_map(|part| part.value).find(|value| *value >= values) {
            return Err(Failure::Usage(format!(
                "the script sets value {beyond} (from 0), but a reading has {values}: give --values"
            )));
        }
        let measures = match rows {
            Some(rows) => Measures::Rows(rows),
            None => Measures::Ahead { period: Duration::from_secs_f64(1.0 / args.rate.unwrap_or(super::RATE)) },
        };
        let settings = Settings { measures, script: args.script.clone(), values, scale, seed: args.seed };
        let format = args.format.map(Format::from);
        let format = format.or_else(|| awaited.as_ref().map(|source| source.format)).unwrap_or(Format::Text);
        let written = match (format, &to) {
            (Format::Text, _) => Written::Lines { decimals: args.decimals, seq: !args.no_seq },
            (Format::Postcard, To::Udp(_)) => Written::Datagrams,
            (Format::Postcard, _) => Written::Frames,
        };
        if !matches!(written, Written::Lines { .. }) && (args.decimals.is_some() || args.no_seq) {
            return Err(Failure::Usage(
                "--decimals and --no-seq are for lines: omit them, or set --format text".into(),
            ));
        }
        if args.baud.is_some() && !matches!(to, To::Uart(Uart::Device(_) | Uart::Pseudo(_), _)) {
            return Err(Failure::Usage("--baud is for a serial device: give --uart PATH, or omit it".into()));
        }
        Ok(Self { to, written, settings })
    }
}

impl To {
    fn of(args: &SimSensorArgs, awaited: Option<&Awaited>) -> Result<Self, Failure> {
        let place = awaited.map(|source| (&source.name, &source.place));
        if let Some((name, SourcePort::Nowhere(why))) = place {
            return Err(Failure::Usage(format!("cannot send to source \"{name}\": {why}")));
        }
        let baud = match place {
            Some((_, SourcePort::Uart(baud) | SourcePort::Serial(_, baud))) => *baud,
            _ => BAUD,
        };
        match (&args.uart, args.udp, place) {
            (Some(uart), ..) => Ok(Self::Uart(uart.clone(), args.baud.unwrap_or(baud))),
            (None, Some(to), _) => Ok(Self::Udp(to)),
            (None, None, Some((_, SourcePort::Udp(listen)))) => Ok(Self::Udp(reached(*listen))),
            (None, None, Some((name, SourcePort::Serial(device, _)))) => Err(Failure::Usage(format!(
                "source \"{name}\" reads {0}: give --uart, the other end of that line; without a line, --uart pty:PATH makes one \
                 that the run reads as device = \"PATH\"",
                device.display()
            ))),
            (None, None, Some((name, SourcePort::Uart(_)))) => Err(Failure::Usage(format!(
                "source \"{name}\" is a board's serial port: give --uart, this machine's end of its line"
            ))),
            (None, None, Some((_, SourcePort::Stdin | SourcePort::Nowhere(_))) | None) => Ok(Self::Output),
        }
    }

    /// Opens the destination to which the simulated sensor's readings are sent.
    ///
    /// # Errors
    /// [`Failure::Connection`] with advice.
    pub(super) fn open(&self) -> Result<Wire, Failure> {
        match self {
            Self::Uart(uart, baud) => Wire::serial(uart, *baud),
            Self::Udp(to) => Wire::datagrams(*to),
            Self::Output => Ok(Wire::output()),
        }
    }

    /// Returns the number of bytes per second that the destination can carry, with a start and a stop bit for each
    /// byte; `None` if it is unknown.
    pub(super) fn carries(&self) -> Option<f64> {
        match self {
            Self::Uart(Uart::Device(_), baud) => Some(f64::from(*baud) / 10.0),
            _ => None,
        }
    }
}

impl std::fmt::Display for To {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Uart(Uart::Device(path), baud) => write!(f, "{} at {baud} Bd", path.display()),
            Self::Uart(Uart::Socket(path), _) => write!(f, "the Unix socket {}", path.display()),
            Self::Uart(Uart::Pseudo(path), _) => write!(f, "the pseudo terminal {}", path.display()),
            Self::Udp(to) => write!(f, "{to}"),
            Self::Output => write!(f, "standard output"),
        }
    }
}

/// Returns the address to which a process on this machine sends so that it reaches one that listens at `listen`: the
/// loopback for an unspecified address.
fn reached(listen: SocketAddr) -> SocketAddr {
    match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listen.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(std::net::Ipv6Addr::LOCALHOST.into(), listen.port()),
        _ => listen,
    }
}

fn awaited(path: &Path, source: Option<&str>) -> Result<Awaited, Failure> {
    AnyConfiguration::load(path)?.awaited(source).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))
}

fn read(path: &Path, args: &SimSensorArgs) -> Result<Rows, Failure> {
    let shown = path.display();
    let failed = |error: std::io::Error| Failure::BadInput(format!("cannot read {shown}: {error}"));
    let text = bounded_file_read::read_text(path, FILE_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => Failure::BadInput(format!("{shown}: {error}: replay it in parts")),
        _ => failed(error),
    })?;
    readings_file::read(&text, args.rate, args.again).map_err(|why| Failure::BadInput(format!("{shown}: {why}")))
}

/// Returns the number of values in a reading, 1 if nothing specifies it.
fn values(args: &SimSensorArgs, awaited: Option<&Awaited>, rows: Option<&Rows>) -> Result<usize, Failure> {
    let said = [
        ("--values", args.values.map(usize::from)),
        ("the file", rows.and_then(|rows| rows.rows.first()).map(|row| row.values.len())),
        ("the source", awaited.map(|source| source.values)),
    ];
    let mut said = said.into_iter().filter_map(|(who, values)| Some((who, values?)));
    let Some((first, values)) = said.next() else { return Ok(1) };
    match said.find(|(_, other)| *other != values) {
        None => Ok(values),
        Some((who, other)) => Err(Failure::Usage(format!(
            "{first} has readings of {values} value(s), but {who} of {other}: make them equal"
        ))),
    }
}
