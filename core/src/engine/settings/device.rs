//! The configuration of a board around the engine: its network, its sensors and their wiring, the receivers of
//! telemetry.

use core::net::{Ipv4Addr, SocketAddrV4};

use crate::bridges::{BridgeRate, Bridges};
use crate::command::{MAX_SOURCES, SourceConfig};
use crate::robot::BadValue;
use outrigger_wire::sensor::{Form, Scale, SourceId};
use outrigger_wire::time::Duration;

/// The configuration of a board, apart from its engine.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// The board's own IPv4 address.
    pub address: Ipv4Addr,
    /// The number of address bits that identify the network, 1 … 30.
    pub prefix: u8,
    /// The gateway to other networks; `None` if the robot and the telemetry receiver are on the board's own network.
    pub gateway: Option<Ipv4Addr>,
    /// The hardware address of the board's network interface; `None` for [the derived one](Device::hardware_address).
    pub mac: Option<[u8; 6]>,
    /// The receiver of the board's telemetry; `None` sends none.
    pub telemetry: Option<TelemetryTarget>,
    /// The sensors, in the order of the configuration.
    pub sensors: [Option<Sensor>; MAX_SOURCES],
    /// The size of the memory for the recorder of the engine's inputs \[B\], on boards that let it be chosen.
    pub recorder: Option<u32>,
    /// `true` if a contact at a pin of the board requests the release of the arm's brakes.
    pub brake_release_pin: bool,
}

impl Device {
    /// Returns the hardware address: the configured one, or else a locally administered one derived from the board's
    /// address.
    #[must_use]
    pub fn hardware_address(&self) -> [u8; 6] {
        let [a, b, c, d] = self.address.octets();
        self.mac.unwrap_or([0x02, 0x00, a, b, c, d])
    }

    /// Checks that a board can start with this configuration: every value is one that a network stack or a port
    /// accepts.
    ///
    /// # Errors
    /// Returns the first field that is not accepted.
    pub fn check(&self) -> Result<(), BadValue> {
        let Self { address, prefix, mac, telemetry, sensors, .. } = self;
        let own = !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
        BadValue::unless(
            own && (1..=30).contains(prefix),
            "address",
            "the board's own IPv4 address, and a prefix of 1 to 30",
        )?;
        let one = mac.is_none_or(|[first, ..]| first & 1 == 0);
        BadValue::unless(one, "mac", "the hardware address of one device")?;
        let told = telemetry.is_none_or(|to| {
            to.port != 0 && to.also.is_none_or(|also| also.port() != 0) && to.period >= Duration::from_millis(20)
        });
        BadValue::unless(told, "telemetry", "a port other than 0, and at least 0.02 s between messages")?;
        let read = sensors.iter().flatten().all(|sensor| match sensor.input {
            SensorInput::Serial { baud, .. } => (1_200..=4_000_000).contains(&baud),
            SensorInput::Analog { port, rate } => {
                (1..=SensorInput::MOST_ANALOG).contains(&port) && (1..=10_000).contains(&rate)
            }
            SensorInput::Gp2y0e03 | SensorInput::Ads131m06 { .. } => true,
        });
        BadValue::unless(read, "sensors", "1200 to 4000000 Bd, 1 to 10000 readings per second, input 1 to 4")?;
        for (sensor, others) in self.with_those_behind() {
            let alone = !others.iter().flatten().any(|other| other.input.port() == sensor.input.port());
            BadValue::unless(alone, "sensors", "each sensor at a port of its own")?;
            if let SensorInput::Ads131m06 { bridges, .. } = &sensor.input {
                bridges.check()?;
            }
        }
        Ok(())
    }

    /// Returns each configured sensor, together with the entries of `sensors` after it, to find two sensors at one
    /// port.
    fn with_those_behind(&self) -> impl Iterator<Item = (&Sensor, &[Option<Sensor>])> {
        let mut rest = &self.sensors[..];
        core::iter::from_fn(move || {
            loop {
                let (first, behind) = rest.split_first()?;
                rest = behind;
                if let Some(sensor) = first {
                    return Some((sensor, behind));
                }
            }
        })
    }

    /// Checks that a board with these ports has the port of every sensor.
    ///
    /// # Errors
    /// The first sensor at a port that the board does not have.
    pub fn check_ports(&self, ports: &Ports) -> Result<(), NoPort> {
        for (at, sensor) in (0..).zip(&self.sensors) {
            let Some((kind, number)) = sensor.map(|sensor| sensor.input.port()) else { continue };
            let has = ports.of(kind);
            if number > has {
                return Err(NoPort { source: at, kind, number, has });
            }
        }
        Ok(())
    }

    /// Returns the sensors, each with the identifier of its source: the first sensor with that of the first configured
    /// of `sources`, and so on.
    pub fn sensors_of(
        &self,
        sources: &[Option<SourceConfig>; MAX_SOURCES],
    ) -> impl Iterator<Item = (SourceId, Sensor)> {
        sources.iter().flatten().map(|source| source.id).zip(self.sensors.iter().flatten().copied())
    }
}

/// The receivers of a board's telemetry, and the period in which it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TelemetryTarget {
    /// The IPv4 address of the telemetry's receiver.
    pub address: Ipv4Addr,
    /// The UDP port of the telemetry's receiver.
    pub port: u16,
    /// A second receiver of the telemetry; `None` if there is one receiver only.
    pub also: Option<SocketAddrV4>,
    /// The time between two telemetry messages of the status, and of the motion; at least 20 ms.
    pub period: Duration,
}

/// A sensor of a board, with the conversion of its readings to SI units.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sensor {
    /// The board's input that the sensor is wired to.
    pub input: SensorInput,
    /// The conversion of the sensor's readings to SI units.
    pub scale: Scale,
}

/// The input of a board that a sensor's readings come from.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SensorInput {
    /// The board's serial port, for a sensor that sends bytes.
    Serial {
        /// The bit rate of the serial port \[Bd\].
        baud: u32,
        /// The format in which the serial sensor sends its readings.
        form: Form,
    },
    /// An analogue input of the board, whose voltage is read \[V\].
    Analog {
        /// The number of the analogue input, from 1.
        port: u8,
        /// The number of readings of the analogue input per second.
        rate: u32,
    },
    /// A distance sensor GP2Y0E03 on the board's I²C bus \[m\].
    Gp2y0e03,
    /// A force/torque sensor read through an ADS131M06 on the board's SPI port \[N, N·m\].
    Ads131m06 {
        /// The number of readings of the strain gauge bridges per second.
        rate: BridgeRate,
        /// The conversion from the bridges' voltages to forces and torques.
        bridges: Bridges,
    },
}

impl SensorInput {
    /// The highest number of an analogue input on a board.
    pub const MOST_ANALOG: u8 = 4;

    /// Returns the kind of the port that the sensor occupies, and the number of that port, from 1.
    #[must_use]
    pub const fn port(&self) -> (PortKind, u8) {
        match self {
            Self::Serial { .. } => (PortKind::Serial, 1),
            Self::Analog { port, .. } => (PortKind::Analog, *port),
            Self::Gp2y0e03 => (PortKind::I2c, 1),
            Self::Ads131m06 { .. } => (PortKind::Spi, 1),
        }
    }
}

/// A kind of port of a board for sensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PortKind {
    /// A serial port for a sensor that sends bytes.
    Serial,
    /// An analogue input for a sensor's voltage.
    Analog,
    /// An I²C bus for a distance sensor.
    I2c,
    /// An SPI port with a data-ready line, for strain gauge bridges.
    Spi,
}

impl PortKind {
    /// Returns the name that reports use for the kind of port.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial port",
            Self::Analog => "analogue input",
            Self::I2c => "I2C bus",
            Self::Spi => "SPI port",
        }
    }
}

/// The number of ports of each kind that a board has for sensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// The number of the board's serial ports.
    pub serial: u8,
    /// The number of the board's analogue inputs.
    pub analog: u8,
    /// The number of the board's I²C buses.
    pub i2c: u8,
    /// The number of the board's SPI ports with a data-ready line.
    pub spi: u8,
}

impl Ports {
    /// Returns the number of ports of the kind `kind` that the board has.
    #[must_use]
    pub const fn of(&self, kind: PortKind) -> u8 {
        match kind {
            PortKind::Serial => self.serial,
            PortKind::Analog => self.analog,
            PortKind::I2c => self.i2c,
            PortKind::Spi => self.spi,
        }
    }
}

/// An error: a sensor is configured at a port that the board does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoPort {
    /// The index of the sensor's source in the configuration, from 0.
    pub source: u8,
    /// The kind of the port that the sensor needs.
    pub kind: PortKind,
    /// The number of the port that the sensor needs, from 1.
    pub number: u8,
    /// The number of ports of this kind that the board has.
    pub has: u8,
}

impl core::fmt::Display for NoPort {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { source, kind, number, has } = self;
        write!(f, "source[{source}].input: found {} {number}, ", kind.name())?;
        if *has == 0 { f.write_str("and this board has none") } else { write!(f, "and this board has {has} of them") }
    }
}

impl core::error::Error for NoPort {}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::engine::settings) fn device() -> Device {
        Device {
            address: Ipv4Addr::new(10, 0, 2, 15),
            prefix: 24,
            gateway: None,
            mac: None,
            telemetry: Some(TelemetryTarget {
                address: Ipv4Addr::new(10, 0, 2, 2),
                port: 47_000,
                also: Some(SocketAddrV4::new(Ipv4Addr::new(10, 0, 2, 3), 47_001)),
                period: Duration::from_millis(100),
            }),
            sensors: [None; MAX_SOURCES],
            recorder: Some(65_536),
            brake_release_pin: false,
        }
    }

    pub(in crate::engine::settings) fn bridges() -> Bridges {
        let mut matrix = [[0.5; 6]; 6];
        for (axis, row) in matrix.iter_mut().enumerate() {
            row[axis] = 30_000.0;
        }
        Bridges { matrix, unloaded: [1e-4, -2e-4, 0.0, 0.0, 3e-5, 0.0] }
    }

    pub(in crate::engine::settings) fn wrenches(bridges: Bridges) -> Option<Sensor> {
        Some(Sensor { input: SensorInput::Ads131m06 { rate: BridgeRate::Hz500, bridges }, scale: Scale::NONE })
    }

    #[test]
    fn what_a_network_stack_would_not_bear_is_refused_before_it_is_asked() {
        assert_eq!(device().check(), Ok(()));
        for (wrong, is) in [
            (Device { address: Ipv4Addr::new(224, 0, 0, 1), ..device() }, false),
            (Device { address: Ipv4Addr::UNSPECIFIED, ..device() }, false),
            (Device { prefix: 33, ..device() }, false),
            (Device { mac: Some([3, 0, 0, 0, 0, 1]), ..device() }, false),
            (Device { mac: Some([2, 0, 0, 0, 0, 1]), telemetry: None, ..device() }, true),
        ] {
            assert_eq!(wrong.check().is_ok(), is, "{wrong:?}");
        }
        let mut wrong = device();
        wrong.sensors[1] = Some(Sensor { input: SensorInput::Analog { port: 1, rate: 0 }, scale: Scale::NONE });
        assert!(wrong.check().is_err());
        let at = |port| Some(Sensor { input: SensorInput::Analog { port, rate: 500 }, scale: Scale::NONE });
        for (sensors, is) in [
            ([at(1), None, at(2), None], true),
            ([at(2), None, at(2), None], false),
            ([at(5), None, None, None], false),
            ([wrenches(bridges()), at(1), None, None], true),
            ([wrenches(Bridges { matrix: [[1.0; 6]; 6], ..bridges() }), at(1), None, None], false),
            ([wrenches(bridges()), wrenches(bridges()), None, None], false),
        ] {
            assert_eq!(Device { sensors, ..device() }.check().is_ok(), is, "{sensors:?}");
        }
    }

    #[test]
    fn a_sensor_at_a_port_that_a_board_lacks_is_named() {
        let ports = Ports { serial: 1, analog: 2, i2c: 0, spi: 0 };
        let told = |inputs: [Option<SensorInput>; MAX_SOURCES]| {
            let sensors = inputs.map(|input| Some(Sensor { input: input?, scale: Scale::NONE }));
            Device { sensors, ..device() }.check_ports(&ports).map_err(|error| error.to_string())
        };
        let analog = |port| Some(SensorInput::Analog { port, rate: 500 });
        let serial = Some(SensorInput::Serial { baud: 9_600, form: Form::Lines });
        assert_eq!(told([serial, analog(1), analog(2), None]), Ok(()));
        let third = "source[1].input: found analogue input 3, and this board has 2 of them";
        assert_eq!(told([serial, analog(3), None, None]), Err(third.into()));
        let bus = "source[0].input: found I2C bus 1, and this board has none";
        assert_eq!(told([Some(SensorInput::Gp2y0e03), None, None, None]), Err(bus.into()));
        let spi = SensorInput::Ads131m06 { rate: BridgeRate::Hz250, bridges: bridges() };
        let spi = told([serial, None, None, Some(spi)]);
        assert_eq!(spi, Err("source[3].input: found SPI port 1, and this board has none".into()));
    }
}
