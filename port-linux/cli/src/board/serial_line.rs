//! A serial line: a device of this machine, or a socket that forwards to one.

use std::fmt;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::str::FromStr;

use outrigger_wire::time::Duration;

use outrigger::exit::Failure;
use outrigger::host::clock::std_duration;
use outrigger::host::os::Line;

/// The name of a serial line: a device, or the address of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PortName {
    Device(PathBuf),
    Unix(PathBuf),
    Tcp(String),
}

impl FromStr for PortName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(("tcp", place)) if place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) => {
                Ok(Self::Tcp(place.into()))
            }
            None if !text.is_empty() => Ok(Self::Device(text.into())),
            _ if text.starts_with('/') => Ok(Self::Device(text.into())),
            _ => Err("expected a device such as /dev/ttyACM0, unix:PATH or tcp:HOST:PORT".into()),
        }
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(path) => write!(f, "{}", path.display()),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(place) => write!(f, "tcp:{place}"),
        }
    }
}

/// An open serial line to a board, with its name for error messages.
#[derive(Debug)]
pub(super) struct Port {
    line: Line,
    name: PortName,
}

impl Port {
    pub(super) fn open(name: &PortName, baud: u32) -> Result<Self, Failure> {
        let opened = match name {
            PortName::Device(path) => Line::device(path, baud),
            PortName::Unix(path) => Line::unix(path),
            PortName::Tcp(place) => TcpStream::connect(place).map(Line::from),
        };
        let line = opened.map_err(|error| {
            let what = match (error.kind(), name) {
                (ErrorKind::PermissionDenied, PortName::Device(_)) => {
                    "; a serial device belongs to a group, often dialout: add yourself to it"
                }
                (ErrorKind::NotFound, PortName::Device(_)) => "; `ls /dev/ttyACM* /dev/ttyUSB*` lists the devices",
                (ErrorKind::WouldBlock, PortName::Device(_)) => "; another program uses it",
                _ => "",
            };
            Failure::Connection(format!("cannot open {name}: {error}{what}"))
        })?;
        Ok(Self { line, name: name.clone() })
    }

    /// Sends all bytes to the board over the serial line.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.line.write_all(bytes).map_err(|error| self.gone(&error))
    }

    /// Receives the bytes that arrive within `span`, as far as they fit into `room`. Returns their number, or 0 if
    /// there are none.
    pub(super) fn receive(&mut self, room: &mut [u8], span: Duration) -> Result<usize, Failure> {
        match self.line.has_something(std_duration(span)) {
            Ok(true) => {}
            Ok(false) => return Ok(0),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(0),
            Err(error) => return Err(self.gone(&error)),
        }
        match self.line.read(room) {
            Ok(0) => Err(self.gone(&ErrorKind::UnexpectedEof.into())),
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(self.gone(&error)),
        }
    }

    fn gone(&self, error: &io::Error) -> Failure {
        Failure::Connection(format!("{}: lost the line: {error}", self.name))
    }

    pub(super) const fn name(&self) -> &PortName {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_device_or_a_socket() {
        for text in ["/dev/ttyACM0", "/dev/serial/by-path/pci-0000:00:14.0", "unix:bench.sock", "tcp:[::1]:4000"] {
            assert_eq!(text.parse::<PortName>().map(|port| port.to_string()), Ok(text.into()));
        }
        for text in ["", "unix:", "tcp:host", "tcp:host:99999", "udp:host:1"] {
            assert!(text.parse::<PortName>().is_err(), "{text}");
        }
    }
}
