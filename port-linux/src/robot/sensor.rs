//! The sensors of a program that uses this library: the input of their readings, and the checks of each reading.

use std::iter::{Once, once};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration as StdDuration;

use outrigger_config::{Format, SourceInput, SourceSettings};
use outrigger_core::command::SourceConfig;
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

use crate::exit::Failure;

/// A sensor on this host or its network, whose readings are passed to a law.
///
/// A reading is a line of text with one to six numbers, `0.0512` or `seq=17 0.0512`, in a datagram or from a serial
/// device. With [`postcard`](Self::postcard) it has the binary form of [`outrigger_wire::sensor`]. The [`SourceId`]
/// of a robot's first sensor is 0, of the next 1, up to 3.
///
/// Every sensor passed to [`Robot::run`](super::Robot::run) must be fresh: the arm is not commanded without a reading
/// of each that is at most 0.1 s old (or the time set by [`max_age`](Self::max_age)).
///
/// ```
/// # fn main() -> Result<(), outrigger::Failure> {
/// use outrigger::Sensor;
///
/// let distance = Sensor::udp("0.0.0.0:5005").from("192.168.56.7")?.range(0.0, 0.3).scale(1e-3);
/// # let _ = distance;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sensor {
    input: Input,
    format: Format,
    scale: f32,
    judged: SourceConfig,
}

#[derive(Clone, Debug)]
enum Input {
    /// The local address as given by the caller, which is parsed when the session starts (only then errors are
    /// reported); and the only accepted sender, if one was named.
    Udp {
        listen: String,
        from: Option<IpAddr>,
    },
    Serial {
        device: PathBuf,
        baud: u32,
    },
}

impl Sensor {
    /// Creates a sensor that sends datagrams to this local address and port, e.g. `"0.0.0.0:5005"`. Any sender is
    /// accepted until [`from`](Self::from) names one.
    #[must_use]
    pub fn udp(listen: &str) -> Self {
        Self::new(Input::Udp { listen: listen.to_owned(), from: None })
    }

    /// Creates a sensor at a serial device with this rate \[Bd\], e.g. `"/dev/ttyACM0"` at 115 200.
    #[must_use]
    pub fn serial(device: impl Into<PathBuf>, baud: u32) -> Self {
        Self::new(Input::Serial { device: device.into(), baud })
    }

    fn new(input: Input) -> Self {
        // The sensor is unknown, and may well repeat a reading.
        let judged =
            SourceConfig { stuck_after: None, ..SourceConfig::new(SourceId::default(), 1, f32::MIN, f32::MAX) };
        Self { input, format: Format::Text, scale: 1.0, judged }
    }

    /// Accepts datagrams from this IP address only.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] for an address that is not valid, and for a sensor without datagrams.
    pub fn from(mut self, sender: &str) -> Result<Self, Failure> {
        let Input::Udp { from, .. } = &mut self.input else {
            return Err(Failure::Usage(format!("a serial device has no sender '{sender}'; leave `from` out")));
        };
        let expected = || Failure::Usage(format!("'{sender}' is no IP address of a sensor, e.g. 192.168.56.7"));
        *from = Some(sender.parse().map_err(|_| expected())?);
        Ok(self)
    }

    /// Sets the number of values in each reading, 1 to 6. The default is 1.
    #[must_use]
    pub const fn values(mut self, count: u8) -> Self {
        self.judged.channels = count;
        self
    }

    /// Sets the factor that converts every value to SI units. The default is 1.
    #[must_use]
    pub const fn scale(mut self, factor: f32) -> Self {
        self.scale = factor;
        self
    }

    /// Sets the lowest and the highest value that counts as a measurement, in SI units. By default any value does.
    #[must_use]
    pub const fn range(mut self, min: f32, max: f32) -> Self {
        (self.judged.min, self.judged.max) = (min, max);
        self
    }

    /// Sets the maximum age of readings. The default is 100 ms, the maximum 10 s.
    #[must_use]
    pub fn max_age(mut self, age: StdDuration) -> Self {
        self.judged.max_age = Duration::from_micros(u64::try_from(age.as_micros()).unwrap_or(u64::MAX));
        self
    }

    /// Sets the time after which bit-identical readings count as a stuck sensor. By default they may repeat without
    /// limit.
    #[must_use]
    pub fn stuck_after(mut self, time: StdDuration) -> Self {
        self.judged.stuck_after = Some(Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)));
        self
    }

    /// Sets that the sensor sends its readings in the binary form (postcard).
    #[must_use]
    pub const fn postcard(mut self) -> Self {
        self.format = Format::Postcard;
        self
    }

    /// Returns the settings that a configuration file would have for this sensor, as the source with this number.
    pub(super) fn settings(self, number: u8) -> Result<SourceSettings, Failure> {
        let input = match self.input {
            Input::Serial { device, baud } => SourceInput::Serial { device, baud },
            Input::Udp { listen, from } => {
                let expected = "expected a local address and port, e.g. 0.0.0.0:5005";
                let at: Result<SocketAddr, _> = listen.parse();
                let listen =
                    at.map_err(|_| Failure::Usage(format!("sensor {number}: {expected}, found '{listen}'")))?;
                SourceInput::Udp { listen, from }
            }
        };
        Ok(SourceSettings {
            name: format!("sensor {number}"),
            input,
            format: self.format,
            values: usize::from(self.judged.channels),
            scale: self.scale,
            offset: 0.0,
            judged: SourceConfig { id: SourceId(number), ..self.judged },
        })
    }
}

/// A single sensor can be passed as a list of sensors.
impl IntoIterator for Sensor {
    type Item = Self;
    type IntoIter = Once<Self>;

    fn into_iter(self) -> Once<Self> {
        once(self)
    }
}
