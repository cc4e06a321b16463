//! What is around the engine of a board: its network, its sensors and where they are wired, who listens.

use core::net::{Ipv4Addr, SocketAddrV4};

use crate::bridges::{BridgeRate, Bridges};
use crate::command::{MAX_SOURCES, SourceConfig};
use crate::robot::BadValue;
use outrigger_wire::sensor::{Form, Scale, SourceId};
use outrigger_wire::time::Duration;

/// What is around the engine of a board.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// Its own address.
    pub address: Ipv4Addr,
    /// Bits of the address that name the network, 1 … 30.
    pub prefix: u8,
    /// The way to other networks; `None` where the robot and the listener are on the board's own.
    pub gateway: Option<Ipv4Addr>,
    /// Hardware address, where it is not to be [the derived one](Device::hardware_address).
    pub mac: Option<[u8; 6]>,
    /// Where telemetry goes; `None` sends none.
    pub telemetry: Option<TelemetryTarget>,
    /// The sensors, in the order of the configuration.
    pub sensors: [Option<Sensor>; MAX_SOURCES],
    /// Memory for the recorder \[B\], where the board leaves the choice.
    pub recorder: Option<u32>,
    /// Whether a contact at a pin of the board asks for the arm's brakes to be released.
    pub brake_release_pin: bool,
}

impl Device {
    /// The hardware address: the configured one, else one derived from the own address, locally administered.
    #[must_use]
    pub fn hardware_address(&self) -> [u8; 6] {
        let [a, b, c, d] = self.address.octets();
        self.mac.unwrap_or([0x02, 0x00, a, b, c, d])
    }

    /// Whether a board can be started with it: what a network stack or a port would not bear.
    ///
    /// # Errors
    /// The first field that cannot be.
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

    /// Each sensor, and the places behind it.
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

    /// The first sensor that is at a port which a board with these does not have.
    ///
    /// # Errors
    /// Which it is.
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

    /// The sensors, with the source that each is for an engine of these `sources`.
    pub fn sensors_of(
        &self,
        sources: &[Option<SourceConfig>; MAX_SOURCES],
    ) -> impl Iterator<Item = (SourceId, Sensor)> {
        sources.iter().flatten().map(|source| source.id).zip(self.sensors.iter().flatten().copied())
    }
}

/// Who listens to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TelemetryTarget {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its UDP port.
    pub port: u16,
    /// A second one, who is sent the same.
    pub also: Option<SocketAddrV4>,
    /// Time between two messages of each kind that is repeated.
    pub period: Duration,
}

/// Where a board's readings come from, and how they become SI units.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sensor {
    /// Where they come from.
    pub input: SensorInput,
    /// From what it sends to SI.
    pub scale: Scale,
}

/// Where a board's readings come from.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SensorInput {
    /// The board's serial port.
    Serial {
        /// Its rate \[Bd\].
        baud: u32,
        /// What it carries.
        form: Form,
    },
    /// One of the board's analogue inputs \[V\].
    Analog {
        /// Which, from 1.
        port: u8,
        /// Readings per second.
        rate: u32,
    },
    /// A GP2Y0E03 at the board's I²C bus \[m\].
    Gp2y0e03,
    /// A force/torque sensor read through an ADS131M06 at the board's SPI port \[N, N·m\].
    Ads131m06 {
        /// Readings per second.
        rate: BridgeRate,
        /// From voltages to forces and torques.
        bridges: Bridges,
    },
}

impl SensorInput {
    /// The highest number of an analogue input.
    pub const MOST_ANALOG: u8 = 4;

    /// The port that it takes, and which of that kind, from 1.
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

/// What a sensor is wired to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PortKind {
    /// A serial port.
    Serial,
    /// An analogue input.
    Analog,
    /// An I²C bus.
    I2c,
    /// An SPI port with a data-ready line.
    Spi,
}

impl PortKind {
    /// What people call it.
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

/// How many ports of each kind a board has for sensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Serial ports.
    pub serial: u8,
    /// Analogue inputs.
    pub analog: u8,
    /// I²C buses.
    pub i2c: u8,
    /// SPI ports with a data-ready line.
    pub spi: u8,
}

impl Ports {
    /// Those of this kind.
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

/// A sensor is at a port that the board does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoPort {
    /// Its place among the sources of the configuration, from 0.
    pub source: u8,
    /// Where it is.
    pub kind: PortKind,
    /// At which of these, from 1.
    pub number: u8,
    /// So many of these the board has.
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
