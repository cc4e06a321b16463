//! The tables `[[source]]`: the inputs of sensors, and the accepted range and age of their readings.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use outrigger_core::command::{MAX_SOURCES, SourceConfig};
use outrigger_wire::sensor::SourceId;

use crate::address::local_socket;
use crate::reader::Section;

/// The settings of a sensor (source). `I` is the type of its input, on a host or on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSettings<I = SourceInput> {
    /// The name by which laws and reports refer to the sensor.
    pub name: String,
    /// The input at which the sensor's readings arrive.
    pub input: I,
    /// The form of the sensor's readings: text or binary.
    pub format: Format,
    /// The number of values in each of the sensor's readings, 1 … 6.
    pub values: usize,
    /// The factor that converts a value received from the sensor to SI units.
    pub scale: f32,
    /// The offset added to a value received from the sensor after the multiplication by `scale`, in SI units.
    pub offset: f32,
    /// The checks that each reading must pass: range, age and change. Limits are in SI units, after scaling.
    pub judged: SourceConfig,
}

impl SourceSettings {
    /// Returns a warning if the sensor's datagrams are accepted from any sender. `None` otherwise.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let SourceInput::Udp { listen, from: None } = &self.input else { return None };
        let name = &self.name;
        Some(format!(
            "source \"{name}\" accepts readings from any sender at {listen}: add from = \"ADDRESS\", the sensor's \
             own, to its [[source]]"
        ))
    }
}

/// The properties of a sensor (source) that a control law needs: its name, and the number of values in its readings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'d> {
    pub(crate) name: &'d str,
    pub(crate) values: usize,
}

/// A type of sensor input: that of a host, or that of a board.
pub(crate) trait Input: Clone {
    /// Reads the keys of a `[[source]]` that describe its input. Returns `None` and records a problem if a key
    /// without a default is missing.
    fn read(section: &mut Section<'_, '_>) -> Option<Self>;

    /// Returns a key of the `[[source]]` and the value expected there, if this input cannot supply readings of
    /// `format`, or not within the limits of `judged`. `None` if it can.
    fn complaint(&self, format: Format, judged: &SourceConfig) -> Option<(&'static str, &'static str)>;

    /// Returns the key that selects the input, and the reason why only one sensor can use the input, if both sources
    /// would use it. `None` otherwise.
    fn same_place(&self, other: &Self) -> Option<(&'static str, String)>;
}

/// The input of a host from which a sensor's readings are read.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceInput {
    /// UDP datagrams with readings. Only one sender is accepted if `from` names it.
    Udp {
        /// The local address and port that receive the datagrams.
        listen: SocketAddr,
        /// The only host from which datagrams are accepted. `None` accepts datagrams from any sender.
        from: Option<IpAddr>,
    },
    /// A serial device of the host.
    Serial {
        /// The path of the sensor's serial device, e.g. `/dev/ttyACM0`.
        device: PathBuf,
        /// The baud rate of the sensor's serial device \[Bd\].
        baud: u32,
    },
    /// Lines with readings on the standard input of the process.
    Stdin,
    /// Readings in requests of other processes, as `outrigger ctl ROBOT sample` sends them.
    Requests,
    /// Simulated readings that follow a sine, to try a configuration without a sensor.
    Simulated {
        /// The mean of the simulated sine, before scaling to SI units.
        mean: f32,
        /// The amplitude of the simulated sine, before scaling to SI units.
        amplitude: f32,
        /// The period of the simulated sine \[s\].
        period: f32,
        /// The number of simulated readings per second \[Hz\].
        rate: f32,
    },
}

/// The form of a sensor's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text: one line per reading.
    Text,
    /// Binary: each datagram or frame is one reading encoded by `postcard`.
    Postcard,
}

impl<I> SourceSettings<I> {
    /// Returns the engine's settings for judging the readings of this source, which has the number `number` in the
    /// engine.
    pub(crate) fn engine(&self, number: u8) -> SourceConfig {
        SourceConfig { id: SourceId(number), ..self.judged }
    }

    /// Reads every `[[source]]` in the order of the file. A source without a valid name or input is `None` and has
    /// recorded a problem. Also returns the name and the number of values of each source, as far as the file has them.
    pub(crate) fn read_all<'d>(sections: Vec<Section<'d, '_>>) -> (Vec<Option<Self>>, Vec<Option<Named<'d>>>)
    where
        I: Input,
    {
        let (mut sources, mut names) = (Vec::<Option<Self>>::new(), Vec::<Option<Named<'_>>>::new());
        for (number, mut section) in sections.into_iter().enumerate() {
            if number == MAX_SOURCES {
                section.complain("name", format!("at most {MAX_SOURCES} sources"));
            }
            let name = section.text("name", "the name that the law refers to");
            if name.is_some_and(|name| names.iter().flatten().any(|other| other.name == name)) {
                section.complain("name", "a name that no other source has");
            }
            if name.is_none() && !section.has("name") {
                section.complain("name", "the name that the law refers to, as a string");
            }
            let values =
                section.integer("values", Some(1), SourceConfig::CHANNELS).and_then(|n| usize::try_from(n).ok());
            let named = name.map(|name| Named { name, values: values.unwrap_or(1) });
            let source = Self::read(section, named, &sources);
            names.push(named);
            sources.push(source);
        }
        (sources, names)
    }

    /// Reads one `[[source]]`; `before` are the sources read so far. Returns `None` and records a problem if a key
    /// without a default is missing.
    fn read(mut section: Section<'_, '_>, named: Option<Named<'_>>, before: &[Option<Self>]) -> Option<Self>
    where
        I: Input,
    {
        let input = I::read(&mut section);
        let format = section.choice("format", &[("text", Format::Text), ("postcard", Format::Postcard)], Format::Text);
        let taken =
            |input: &I| before.iter().flatten().find_map(|other| Some((&other.name, other.input.same_place(input)?)));
        if let Some((other, (key, why))) = input.as_ref().and_then(taken) {
            section.complain(key, format!("another one than that of \"{other}\": {why}"));
        }
        let scale = section.number_or("scale", 1.0, (-1e6..=1e6, ""));
        let offset = section.number_or("offset", 0.0, (-1e6..=1e6, "SI units"));
        let [min, max] = section.span("range", (-1e9..=1e9, "SI units")).unwrap_or([f32::MIN, f32::MAX]);
        // The reader admits 1 … 6 values.
        let values = named.map_or(1, |named| named.values);
        let judged = SourceConfig::new(SourceId::default(), values as u8, min, max);
        // The sensor is unknown, and may well repeat a reading.
        let mut judged = SourceConfig { stuck_after: None, ..judged };
        judged.read(&mut section);
        if let Some((key, expected)) = input.as_ref().and_then(|input| input.complaint(format, &judged)) {
            section.complain(key, expected);
        }
        section.finish();
        let (Named { name, values }, input) = (named?, input?);
        Some(Self { name: name.to_owned(), input, format, values, scale, offset, judged })
    }
}

impl Input for SourceInput {
    fn complaint(&self, format: Format, _: &SourceConfig) -> Option<(&'static str, &'static str)> {
        let devices = matches!(self, Self::Udp { .. } | Self::Serial { .. });
        (format == Format::Postcard && !devices)
            .then_some(("format", "\"text\": the postcard form is for devices (input = \"udp\" or \"serial\")"))
    }

    fn same_place(&self, other: &Self) -> Option<(&'static str, String)> {
        match (self, other) {
            (Self::Udp { listen, .. }, Self::Udp { listen: other, .. }) => {
                let all = |at: &SocketAddr| at.ip().is_unspecified();
                let same = listen.port() == other.port() && listen.port() != 0;
                let same = same && (listen.ip() == other.ip() || all(listen) || all(other));
                same.then(|| ("listen", format!("UDP port {} has one sensor", listen.port())))
            }
            (Self::Serial { device, .. }, Self::Serial { device: other, .. }) => {
                (device == other).then(|| ("device", format!("{} has one sensor", device.display())))
            }
            (Self::Stdin, Self::Stdin) => Some(("input", "standard input has one sensor".into())),
            _ => None,
        }
    }

    fn read(section: &mut Section<'_, '_>) -> Option<Self> {
        #[derive(Clone, Copy)]
        enum Kind {
            Missing,
            Udp,
            Serial,
            Stdin,
            Requests,
            Simulated,
        }
        let kinds = [
            ("udp", Kind::Udp),
            ("serial", Kind::Serial),
            ("stdin", Kind::Stdin),
            ("requests", Kind::Requests),
            ("simulated", Kind::Simulated),
        ];
        match section.choice("input", &kinds, Kind::Missing) {
            Kind::Missing => {
                if !section.has("input") {
                    section.complain("input", "one of \"udp\", \"serial\", \"stdin\", \"requests\", \"simulated\"");
                }
                None
            }
            Kind::Udp => {
                let from = section.text("from", "the sensor's address");
                let from = from.and_then(|text| {
                    text.parse()
                        .map_err(|_| section.complain("from", "the sensor's IP address, e.g. \"192.168.56.50\""))
                        .ok()
                });
                let listen = section.text("listen", "a local address and port");
                let parsed = listen.and_then(|text| local_socket(text, Ipv4Addr::UNSPECIFIED));
                if parsed.is_none() && (listen.is_some() || !section.has("listen")) {
                    section.complain("listen", "a local address and port, e.g. \"0.0.0.0:5005\", or a port");
                }
                Some(Self::Udp { listen: parsed?, from })
            }
            Kind::Serial => {
                let device = section.text("device", "the device's path");
                if device.is_none() && !section.has("device") {
                    section.complain("device", "the device's path, e.g. \"/dev/ttyACM0\"");
                }
                let baud = section.integer("baud", Some(115_200), 50..=4_000_000)?;
                Some(Self::Serial { device: device?.into(), baud: u32::try_from(baud).ok()? })
            }
            Kind::Stdin => Some(Self::Stdin),
            Kind::Requests => Some(Self::Requests),
            Kind::Simulated => Some(Self::Simulated {
                mean: section.number_or("mean", 0.0, (-1e6..=1e6, "")),
                amplitude: section.number_or("amplitude", 0.0, (0.0..=1e6, "")),
                period: section.number_or("period", 5.0, (0.01..=3600.0, "s")),
                rate: section.number_or("rate", 200.0, (1.0..=1000.0, "Hz")),
            }),
        }
    }
}
