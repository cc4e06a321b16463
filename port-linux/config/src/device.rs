//! The table `[device]`: a board, and the inputs of its sensors.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use outrigger_core::bridges::{BridgeRate, Bridges};
use outrigger_core::command::{MAX_SOURCES, SourceConfig};
use outrigger_core::engine::{Device, Sensor, SensorInput, TelemetryTarget};
use outrigger_core::mode::{OperatorConfig, RequestAs};
use outrigger_wire::sensor::{Form, Scale};
use outrigger_wire::time::Duration;

use crate::reader::Section;
use crate::sources::{Format, Input, SourceSettings};

/// The settings of a board outside its control engine: network, telemetry, pins, recorder and requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSettings {
    /// The board's own IPv4 address.
    pub address: Ipv4Addr,
    /// The length of the prefix of the board's network \[bit\].
    pub prefix: u8,
    /// The IPv4 address of the board's gateway to other networks. `None` for no gateway.
    pub gateway: Option<Ipv4Addr>,
    /// The board's hardware (MAC) address. `None` lets the board derive one.
    pub mac: Option<[u8; 6]>,
    /// The receivers of telemetry, and the time between its messages. `None` sends no telemetry.
    pub telemetry: Option<TelemetryTarget>,
    /// The contacts wired to the board by which an operator requests commanding, acknowledges a fallback and stops the
    /// arm.
    pub pins: Pins,
    /// `true` if a contact is wired that requests the release of the arm's brakes.
    pub brake_release_pin: bool,
    /// The memory for the recorder of the board's inputs and outputs \[B\]. `None` leaves the size to the board.
    pub recorder: Option<u32>,
    /// The UDP port at which the board receives requests, as `outrigger ctl` sends them, and the file with the key that
    /// authenticates them. `None` opens no port.
    pub requests: Option<RequestPort>,
}

/// The UDP port at which a board accepts requests, e.g. to start or to stop commanding, that are authenticated by a
/// key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPort {
    /// The UDP port at the board's own address on which requests arrive.
    pub port: u16,
    /// The path of the file with the key, relative to the directory of the configuration.
    /// [`secret_key::load`](crate::secret_key::load) reads the file.
    pub key_file: PathBuf,
}

impl DeviceSettings {
    /// Reads the table `[device]` of a board's configuration. Returns `None` and records a problem if a key without a
    /// default is missing or wrong.
    pub(crate) fn read(mut section: Section<'_, '_>) -> Option<Self> {
        let network = network(&mut section);
        let gateway = section.address("gateway", "the IPv4 address of the gateway to other networks");
        if let (Some((address, prefix)), Some(gateway)) = (network, gateway)
            && (u32::from(address) ^ u32::from(gateway)).checked_shr(32 - u32::from(prefix)) != Some(0)
        {
            section.complain("gateway", format!("an address in the network of {address}/{prefix}"));
        }
        let mac = section.text("mac", "a hardware address").and_then(|text| {
            let mac = hardware_address(text);
            if mac.is_none() {
                section.complain("mac", "a hardware address for one device, e.g. \"02:00:0a:00:02:0f\"");
            }
            mac
        });
        let period = section.duration_or("telemetry_period", Duration::from_millis(100), (0.02..=10.0, "s"));
        let also = listener(&mut section, "telemetry_also");
        let telemetry = listener(&mut section, "telemetry").map(|to| TelemetryTarget {
            address: *to.ip(),
            port: to.port(),
            also,
            period,
        });
        for key in ["telemetry_period", "telemetry_also"] {
            if !section.has("telemetry") && section.has(key) {
                section.complain(key, "telemetry = \"ADDRESS:PORT\" with it");
            }
        }
        let pins = Pins::read(&mut section);
        let brake_release_pin = section.flag("brake_release_pin", false);
        let recorder = section.count("recorder", 16_384..=16_777_216);
        let requests = requests(&mut section);
        section.finish();
        let (address, prefix) = network?;
        Some(Self { address, prefix, gateway, mac, telemetry, pins, brake_release_pin, recorder, requests })
    }

    /// Returns the settings of the table `[device]` in the form that is compiled into the firmware.
    pub(crate) fn device(&self, sources: &[SourceSettings<BoardInput>]) -> Device {
        let mut sensors = [None; MAX_SOURCES];
        for (slot, source) in sensors.iter_mut().zip(sources) {
            let input = match (&source.input, source.format) {
                (BoardInput::Uart { baud }, Format::Text) => SensorInput::Serial { baud: *baud, form: Form::Lines },
                (BoardInput::Uart { baud }, Format::Postcard) => {
                    SensorInput::Serial { baud: *baud, form: Form::Frames }
                }
                (BoardInput::Adc { port, rate }, _) => SensorInput::Analog { port: *port, rate: *rate },
                (BoardInput::Gp2y0e03, _) => SensorInput::Gp2y0e03,
                (BoardInput::Ads131m06 { rate, bridges }, _) => {
                    SensorInput::Ads131m06 { rate: *rate, bridges: *bridges }
                }
            };
            *slot = Some(Sensor { input, scale: Scale { factor: source.scale, offset: source.offset } });
        }
        let Self { address, prefix, gateway, mac, telemetry, recorder, brake_release_pin, .. } = *self;
        Device { address, prefix, gateway, mac, telemetry, sensors, recorder, brake_release_pin }
    }
}

/// The contacts wired to a board by which an operator requests commanding, acknowledges a fallback and stops the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// `true` if a contact by which an operator requests commanding is wired to the board.
    pub request: bool,
    /// The meaning of the contact for requests: its signal must be held for commanding to continue, or its edge only
    /// starts commanding.
    pub request_as: RequestAs,
    /// `true` if a contact by which an operator acknowledges a fallback is wired to the board.
    pub acknowledge: bool,
    /// `true` if a contact by which an operator stops the arm is wired to the board.
    pub stop: bool,
    /// The time for which the signal of a contact must keep a level before the level counts.
    pub filter: Duration,
}

impl Pins {
    fn read(section: &mut Section<'_, '_>) -> Self {
        let default = OperatorConfig::default();
        Self {
            request: section.flag("request_pin", default.request_pin),
            request_as: section.choice("request_pin_as", RequestAs::WORDS, default.pin_as),
            acknowledge: section.flag("acknowledge_pin", default.acknowledge_pin),
            stop: section.flag("stop_pin", default.stop_pin),
            filter: section.duration_or("pin_filter", default.pin_filter, OperatorConfig::PIN_FILTER),
        }
    }

    /// Copies these settings of a board's contacts into the engine's settings for operators.
    pub(crate) const fn write(self, operator: &mut OperatorConfig) {
        (operator.request_pin, operator.pin_as) = (self.request, self.request_as);
        (operator.acknowledge_pin, operator.stop_pin) = (self.acknowledge, self.stop);
        operator.pin_filter = self.filter;
    }
}

/// Reads the IPv4 address and port of a telemetry receiver at `key`. Returns `None` if it is absent, or is wrong, which
/// is recorded as a problem.
fn listener(section: &mut Section<'_, '_>, key: &str) -> Option<SocketAddrV4> {
    let text = section.text(key, "the listener's address and port")?;
    let parsed = text.parse::<SocketAddrV4>().ok().filter(|to| to.port() != 0);
    if parsed.is_none() {
        section.complain(key, "the listener's IPv4 address and port, e.g. \"192.168.56.1:47000\"");
    }
    parsed
}

/// Reads the port at which the board receives requests, and its key file. Returns `None` unless it has both; one of
/// them alone, or a wrong value, is recorded as a problem.
fn requests(section: &mut Section<'_, '_>) -> Option<RequestPort> {
    let port = section.count("requests", 1..=65_535).and_then(|port| u16::try_from(port).ok());
    let key_file = section.text("key_file", "the file with the key of requests").map(PathBuf::from);
    if section.has("requests") && !section.has("key_file") {
        section.complain("key_file", "a file with the key: requests need one");
    }
    if section.has("key_file") && !section.has("requests") {
        section.complain("key_file", "requests = PORT with it");
    }
    Some(RequestPort { port: port?, key_file: key_file? })
}

/// Reads the board's own address and its network prefix. Returns `None` and records a problem if they are missing or
/// wrong.
fn network(section: &mut Section<'_, '_>) -> Option<(Ipv4Addr, u8)> {
    let expected = "the board's own IPv4 address and prefix, e.g. \"192.168.56.60/24\"";
    let text = section.text("address", expected);
    let parsed = text.and_then(|text| text.split_once('/')).and_then(|(address, prefix)| {
        let prefix = prefix.parse().ok().filter(|prefix| (1..=30).contains(prefix))?;
        let one = |at: &Ipv4Addr| !(at.is_unspecified() || at.is_multicast() || at.is_broadcast());
        Some((address.parse().ok().filter(one)?, prefix))
    });
    if parsed.is_none() && (text.is_some() || !section.has("address")) {
        section.complain("address", expected);
    }
    parsed
}

/// Parses a hardware address of six bytes in hexadecimal. Returns `None` also for a group (multicast) address.
fn hardware_address(text: &str) -> Option<[u8; 6]> {
    let bytes: Vec<_> = text
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).ok().filter(|_| byte.len() == 2 && !byte.starts_with('+')))
        .collect::<Option<_>>()?;
    <[u8; 6]>::try_from(bytes).ok().filter(|[first, ..]| first & 1 == 0)
}

/// The lowest value of `max_age` that is accepted for a GP2Y0E03 distance sensor: its reading is up to 80 ms old before
/// the next one arrives.
const SLOW: Duration = Duration::from_millis(100);

/// The lowest value of `max_age` that is accepted for an ADS131M06 at its lowest rate. Readings arrive every 4 ms, and
/// after a faulty one the next two are skipped.
const BRIDGES_SLOW: Duration = Duration::from_millis(12);

/// The input of a board from which a sensor's readings are read.
#[derive(Clone, Debug, PartialEq)]
pub enum BoardInput {
    /// The board's serial port for sensors.
    Uart {
        /// The baud rate of the serial port \[Bd\].
        baud: u32,
    },
    /// An analogue input of the board, read as a voltage \[V\].
    Adc {
        /// The number of the analogue input, from 1.
        port: u8,
        /// The number of readings of the analogue input per second.
        rate: u32,
    },
    /// A GP2Y0E03 distance sensor at the board's I²C bus \[m\].
    Gp2y0e03,
    /// A force/torque sensor read through an ADS131M06 at the board's SPI port \[N, N·m\].
    Ads131m06 {
        /// The rate at which the ADS131M06 delivers readings.
        rate: BridgeRate,
        /// The calibration from the sensor's bridge voltages to forces and torques.
        bridges: Bridges,
    },
}

impl BoardInput {
    /// Returns the reason why two sources cannot share this input, for an error message.
    const fn place(&self) -> &'static str {
        match self {
            Self::Uart { .. } => "a board has one serial port for sensors",
            Self::Adc { .. } => "each analogue input has one sensor: port = 1, 2 …",
            Self::Gp2y0e03 => "a board has one I²C bus, and this sensor one address there",
            Self::Ads131m06 { .. } => "a board has one SPI port for sensors",
        }
    }
}

/// Reads the calibration of a force/torque sensor: the matrix and the voltages without load. Returns `None` and records
/// a problem if the matrix is missing, or no sensor could have this calibration.
fn bridges(section: &mut Section<'_, '_>) -> Option<Bridges> {
    let expected = "six rows (Fx Fy Fz [N/V], Tx Ty Tz [N·m/V]) of six numbers, a column for each channel";
    let matrix = section.rows::<6, 6>("matrix", expected);
    if matrix.is_none() && !section.has("matrix") {
        section.complain("matrix", expected);
    }
    let most = Bridges::MOST_UNLOADED;
    let unloaded = section.numbers("unloaded", (-most..=most, "V"));
    let bridges = Bridges { matrix: matrix?, unloaded: unloaded.unwrap_or_default() };
    match bridges.check() {
        Ok(()) => Some(bridges),
        Err(error) => {
            section.complain(error.field, error.expected);
            None
        }
    }
}

/// Reads the rate of an ADS131M06: 250, 500 or 1000 readings per second. The default is the highest.
fn bridge_rate(section: &mut Section<'_, '_>) -> BridgeRate {
    let told = section.count_or("rate", 1_000, 250..=1_000);
    BridgeRate::ALL.into_iter().find(|rate| rate.per_second() == told).unwrap_or_else(|| {
        section.complain("rate", "250, 500 or 1000 readings per second");
        BridgeRate::Hz1000
    })
}

impl Input for BoardInput {
    fn read(section: &mut Section<'_, '_>) -> Option<Self> {
        #[derive(Clone, Copy)]
        enum Kind {
            Missing,
            Uart,
            Adc,
            Gp2y0e03,
            Ads131m06,
        }
        const KINDS: &[(&str, Kind)] =
            &[("uart", Kind::Uart), ("adc", Kind::Adc), ("gp2y0e03", Kind::Gp2y0e03), ("ads131m06", Kind::Ads131m06)];
        match section.choice("input", KINDS, Kind::Missing) {
            Kind::Missing => {
                if !section.has("input") {
                    section.complain("input", "one of \"uart\", \"adc\", \"gp2y0e03\", \"ads131m06\"");
                }
                None
            }
            Kind::Uart => Some(Self::Uart { baud: section.count_or("baud", 115_200, 1_200..=4_000_000) }),
            Kind::Adc => {
                let port = section.count_or("port", 1, 1..=i64::from(SensorInput::MOST_ANALOG));
                let rate = section.count_or("rate", 500, 1..=10_000);
                Some(Self::Adc { port: u8::try_from(port).ok()?, rate })
            }
            Kind::Gp2y0e03 => Some(Self::Gp2y0e03),
            Kind::Ads131m06 => {
                let (rate, bridges) = (bridge_rate(section), bridges(section));
                Some(Self::Ads131m06 { rate, bridges: bridges? })
            }
        }
    }

    fn complaint(&self, format: Format, judged: &SourceConfig) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Adc { .. } if format == Format::Postcard => Some(("format", "no value: voltages have no format")),
            Self::Gp2y0e03 | Self::Ads131m06 { .. } if format == Format::Postcard => {
                Some(("format", "no value: this sensor has its own format"))
            }
            Self::Ads131m06 { .. } if judged.channels != 6 => {
                Some(("values", "6: three forces and three torques, values = 6"))
            }
            Self::Ads131m06 { rate: BridgeRate::Hz250, .. } if judged.max_age < BRIDGES_SLOW => {
                Some(("max_age", "at least 0.012 s at 250 readings per second"))
            }
            Self::Adc { .. } if judged.channels != 1 => Some(("values", "1: an analogue input has one value")),
            Self::Gp2y0e03 if judged.channels != 1 => Some(("values", "1: a distance")),
            Self::Gp2y0e03 if judged.max_age < SLOW => {
                Some(("max_age", "at least 0.1 s: it measures every 40 ms, and is polled as often"))
            }
            _ => None,
        }
    }

    fn same_place(&self, other: &Self) -> Option<(&'static str, String)> {
        let same = match (self, other) {
            (Self::Adc { port, .. }, Self::Adc { port: other, .. }) => {
                return (port == other).then(|| ("port", self.place().into()));
            }
            _ => core::mem::discriminant(self) == core::mem::discriminant(other),
        };
        same.then(|| ("input", self.place().into()))
    }
}
