//! The input format that each `[[source]]` expects. Programs that simulate a sensor use it.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::device::BoardInput;
use crate::sources::{Format, SourceInput, SourceSettings};
use crate::{AnyConfiguration, RunsOn};

/// The readings that one source (sensor) expects: the place where they arrive, their form and their scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Awaited {
    /// The name of the source in the configuration file.
    pub name: String,
    /// The place at which the source receives readings, such as a serial device or a UDP port.
    pub place: SourcePort,
    /// The form of the source's readings: text or binary.
    pub format: Format,
    /// The number of values in each of the source's readings, 1 … 6.
    pub values: usize,
    /// The factor that converts a value received by the source to SI units.
    pub scale: f32,
    /// The offset added to a value received by the source after the multiplication by `scale`, in SI units.
    pub offset: f32,
}

/// The place at which a source receives what a sensor sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourcePort {
    /// A board's serial port, with its baud rate \[Bd\].
    Uart(u32),
    /// The path of a host's serial device, with its baud rate \[Bd\].
    Serial(PathBuf, u32),
    /// The local address and port of a host that receive UDP datagrams with readings.
    Udp(SocketAddr),
    /// The standard input of a process on a host.
    Stdin,
    /// The source receives nothing that a sensor could send, for the reason in this text.
    Nowhere(&'static str),
}

impl AnyConfiguration {
    /// Returns the place and the form in which the source (sensor) `name` expects readings. Without a name, the
    /// configuration must have exactly one source.
    ///
    /// # Errors
    /// Returns the reason as text, with the names of the sources in the file: no source has this name, the file has
    /// no source, or it has several and `name` is `None`.
    pub fn awaited(&self, name: Option<&str>) -> Result<Awaited, String> {
        let sources: Vec<Awaited> = match self {
            Self::Ur(RunsOn::Host(host)) => host.control.sources.iter().map(of_host).collect(),
            Self::Krc(RunsOn::Host(host)) => host.sources.iter().map(of_host).collect(),
            Self::Ur(RunsOn::Board(board)) => board.control.sources.iter().map(of_board).collect(),
            Self::Krc(RunsOn::Board(board)) => board.sources.iter().map(of_board).collect(),
        };
        let names: Vec<String> = sources.iter().map(|source| format!("\"{}\"", source.name)).collect();
        let names = names.join(", ");
        let mut fitting = sources.into_iter().filter(|source| name.is_none_or(|name| name == source.name));
        match (fitting.next(), fitting.next(), name) {
            (Some(source), None, _) => Ok(source),
            (Some(_), Some(_), _) => Err(format!("it has several sources: choose one of {names}")),
            (None, ..) if names.is_empty() => Err("it has no [[source]]".into()),
            (None, _, name) => Err(format!("it has no source \"{}\", but {names}", name.unwrap_or_default())),
        }
    }
}

fn of_host(source: &SourceSettings) -> Awaited {
    let place = match &source.input {
        SourceInput::Udp { listen, .. } => SourcePort::Udp(*listen),
        SourceInput::Serial { device, baud } => SourcePort::Serial(device.clone(), *baud),
        SourceInput::Stdin => SourcePort::Stdin,
        SourceInput::Requests => SourcePort::Nowhere("its readings are requests: `outrigger ctl ROBOT sample`"),
        SourceInput::Simulated { .. } => SourcePort::Nowhere("it is simulated by the run itself"),
    };
    of(source, place)
}

fn of_board(source: &SourceSettings<BoardInput>) -> Awaited {
    let place = match source.input {
        BoardInput::Uart { baud } => SourcePort::Uart(baud),
        BoardInput::Adc { .. } => SourcePort::Nowhere("it is an analogue input: it needs a voltage"),
        BoardInput::Gp2y0e03 => SourcePort::Nowhere("it is a chip at the board's I²C bus"),
        BoardInput::Ads131m06 { .. } => SourcePort::Nowhere("it is a chip at the board's SPI port"),
    };
    of(source, place)
}

fn of<I>(source: &SourceSettings<I>, place: SourcePort) -> Awaited {
    let SourceSettings { name, format, values, scale, offset, .. } = source;
    Awaited { name: name.clone(), place, format: *format, values: *values, scale: *scale, offset: *offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: &str = r#"
        robot.address = "192.168.56.101"
        law = { kind = "joint-servo", sensor = "push" }
        device.address = "192.168.56.60/24"
        [[source]]
        name = "push"
        input = "uart"
        baud = 921600
        format = "postcard"
        values = 6
        scale = 0.5
        [[source]]
        name = "level"
        input = "adc"
    "#;

    const HOST: &str = r#"
        robot.address = "192.168.56.101"
        law = { kind = "standoff", source = "distance", distance = 0.05 }
        [[source]]
        name = "distance"
        input = "udp"
        listen = "0.0.0.0:5005"
        scale = 0.001
        expert.offset = 0.01
    "#;

    #[test]
    fn a_source_says_where_and_how_it_reads() {
        let board = AnyConfiguration::parse(BOARD).expect("a board's");
        let push = board.awaited(Some("push")).expect("there is one");
        assert_eq!(
            (push.place, push.format, push.values, push.scale),
            (SourcePort::Uart(921_600), Format::Postcard, 6, 0.5)
        );
        assert!(matches!(board.awaited(Some("level")).expect("another").place, SourcePort::Nowhere(_)));
        let host = AnyConfiguration::parse(HOST).expect("a host's");
        let only = host.awaited(None).expect("the only one");
        assert_eq!((only.name.as_str(), only.scale, only.offset), ("distance", 0.001, 0.01));
        assert_eq!(only.place, SourcePort::Udp(SocketAddr::from(([0, 0, 0, 0], 5005))));
    }

    #[test]
    fn a_source_that_is_none_is_told_with_those_that_are() {
        let board = AnyConfiguration::parse(BOARD).expect("a board's");
        assert_eq!(board.awaited(None), Err("it has several sources: choose one of \"push\", \"level\"".into()));
        assert_eq!(board.awaited(Some("psh")), Err("it has no source \"psh\", but \"push\", \"level\"".into()));
    }
}
