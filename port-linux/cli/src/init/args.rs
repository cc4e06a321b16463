//! The arguments of `outrigger init`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use outrigger_config::{RobotAddress, local_socket, parse_software};
use outrigger_core::mode::PendantStop;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use crate::args::parse_model;

/// The arguments of `outrigger init`.
#[derive(Args, Clone, Debug)]
pub(crate) struct InitArgs {
    /// UR controller, HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    #[arg(value_name = "ROBOT")]
    pub robot: RobotAddress,
    /// Configuration file to write; it must not exist
    #[arg(short = 'o', long, value_name = "CONFIG.toml", default_value = "robot.toml")]
    pub out: PathBuf,
    /// Task of the arm; prompted for if omitted
    #[arg(long, value_name = "TASK")]
    pub task: Option<Task>,
    /// Connection of the sensor: udp:[ADDR:]PORT, on which its datagrams arrive, or serial:DEVICE[@BAUD]; prompted for
    /// if omitted and needed for the task
    #[arg(long, value_name = "SENSOR", value_parser = parse_wiring)]
    pub sensor: Option<Wiring>,
    /// Address of the sensor; datagrams from other addresses are rejected
    #[arg(long, value_name = "ADDR")]
    pub from: Option<IpAddr>,
    /// SI units per unit of a reading, e.g. 0.001 for mm
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub scale: f64,
    /// For standoff: the distance to hold [m]
    #[arg(long, value_name = "M", default_value_t = 0.05)]
    pub distance: f64,
    /// Model of the arm, e.g. ur5e; with --polyscope no controller is queried, and the robot may be absent
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// Version of the controller's software, e.g. 5.15
    #[arg(long = "polyscope", alias = "software", value_name = "VERSION", value_parser = parse_software)]
    pub software: Option<SoftwareVersion>,
    /// For software before 3.4, which does not report a stop at the pendant: "overridden" commands the arm anyway,
    /// and the next command overrides such a stop; prompted for if omitted
    #[arg(long, value_name = "WORD", value_parser = parse_pendant_stop)]
    pub pendant_stop: Option<PendantStop>,
    /// Run the file at once on a simulated arm with a simulated sensor, for this many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(5..=3600))]
    pub dry_run: Option<u64>,
    /// Skip the check of the robot with the new file
    #[arg(long)]
    pub no_doctor: bool,
}

/// A task of the arm that a first configuration is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Task {
    /// Hold the tool at a distance from a surface, by a distance sensor along the tool's z axis
    Standoff,
    /// Yield to a hand that guides the arm, by a force sensor of six values
    Force,
    /// Move the last joint back and forth by five degrees, without a sensor
    Servo,
}

impl Task {
    /// Returns the number of values in a reading of the task's sensor; 0 if the task has no sensor.
    pub(super) const fn values(self) -> u8 {
        match self {
            Self::Standoff => 1,
            Self::Force => 6,
            Self::Servo => 0,
        }
    }
}

/// The connection of a sensor to this computer, as given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wiring {
    /// By UDP: the sensor sends datagrams to this address of this computer.
    Udp(SocketAddr),
    /// By the serial device with this path, at this baud rate \[Bd\].
    Serial(String, u32),
}

pub(super) const WIRINGS: &str =
    "expected udp:PORT, udp:ADDR:PORT or serial:DEVICE[@BAUD], such as udp:5005 or serial:/dev/ttyACM0@115200";

/// The baud rate of a sensor's serial device if none is given \[Bd\].
const BAUD: u32 = 115_200;

pub(super) fn parse_wiring(text: &str) -> Result<Wiring, String> {
    let wrong = || WIRINGS.to_owned();
    match text.split_once(':') {
        Some(("udp", at)) => {
            let address = local_socket(at, Ipv4Addr::UNSPECIFIED).filter(|address| address.port() > 0);
            address.map(Wiring::Udp).ok_or_else(wrong)
        }
        Some(("serial", device)) => {
            let (device, baud) = match device.rsplit_once('@') {
                Some((device, baud)) => (device, baud.parse().map_err(|_| wrong())?),
                None => (device, BAUD),
            };
            let plain = !device.is_empty() && !device.contains(['"', '\\', '\n']);
            if plain { Ok(Wiring::Serial(device.to_owned(), baud)) } else { Err(wrong()) }
        }
        _ => Err(wrong()),
    }
}

fn parse_pendant_stop(text: &str) -> Result<PendantStop, String> {
    let known = PendantStop::WORDS.iter().find(|(word, _)| *word == text);
    known.map(|(_, stop)| *stop).ok_or_else(|| "expected seen or overridden".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_are_read_as_people_write_them() {
        let any = |port| Wiring::Udp(SocketAddr::from(([0, 0, 0, 0], port)));
        assert_eq!(parse_wiring("udp:5005"), Ok(any(5005)));
        assert_eq!(parse_wiring("udp:127.0.0.1:5005"), Ok(Wiring::Udp("127.0.0.1:5005".parse().unwrap())));
        assert_eq!(parse_wiring("serial:/dev/ttyACM0"), Ok(Wiring::Serial("/dev/ttyACM0".into(), BAUD)));
        assert_eq!(parse_wiring("serial:/dev/ttyS1@9600"), Ok(Wiring::Serial("/dev/ttyS1".into(), 9_600)));
        for wrong in ["5005", "udp:0", "udp:host:5", "serial:", "serial:/dev/x@fast", "serial:a\"b", "spi:1"] {
            assert_eq!(parse_wiring(wrong), Err(WIRINGS.to_owned()), "{wrong}");
        }
    }
}
