//! The table of the wire formats of controllers: ports, framing, names and topics. Everything that reads streams or
//! recordings of them uses it.

use outrigger_wire::frame::Framing;

/// The number by which feeds and recordings identify the stream of a KRC's Fast Research Interface, whichever local
/// port its measurements arrive at.
pub const FRI: u16 = outrigger_wire::fri::DEFAULT_PORT;

/// The number by which feeds and recordings identify the stream of the RTDE connection for
/// `run.expert.record_variables`. It is no port of a controller. With the number of the session's own connection, names
/// and types of one would be used for the data of the other.
pub const VARIABLES: u16 = 0;

/// The controller's port for RTDE (Real-Time Data Exchange).
const RTDE: u16 = 30_004;

/// A format of a controller's messages. [`WireFormat::ports`] lists the streams that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// The format of messages of the primary and the secondary interface.
    Primary,
    /// The format of packets of the real-time interface.
    Realtime,
    /// The format of packages of RTDE (Real-Time Data Exchange).
    Rtde,
    /// The format of RTDE packages on the connection for `run.expert.record_variables`.
    Variables,
    /// The format of datagrams of KUKA's Fast Research Interface, in either direction.
    Fri,
}

/// The properties of one wire format: a row of the table of formats.
struct Row {
    framing: Framing,
    /// The numbers of the streams in this format, in feeds and recordings: ports as the controller numbers them, or
    /// [`FRI`] and [`VARIABLES`].
    ports: &'static [u16],
    /// The controller's ports that send the same messages as `ports`, and accept no commands.
    read_only: &'static [u16],
    /// The word that names the wire format on a command line. `None` if a port number names it.
    word: Option<&'static str>,
    /// The label of an additional connection to a controller port that the session's own connection uses, too:
    /// `variables` for that of RTDE. `None` for the formats of all other connections.
    connection: Option<&'static str>,
    /// The topic of robot states in recordings. `None` if messages in this wire format are not states.
    states: Option<&'static str>,
    /// The topic of commands to the controller in recordings. `None` if commands in this wire format are recorded as
    /// bytes only.
    commands: Option<&'static str>,
}

impl WireFormat {
    /// All wire formats of recorded traffic, in the order of the table of formats.
    pub const ALL: [Self; 5] = [Self::Primary, Self::Realtime, Self::Rtde, Self::Variables, Self::Fri];

    /// The numbers of the streams that carry whole states, the most precise first.
    pub const STATES_BY_PRECISION: [u16; 3] = [RTDE, FRI, 30_003];

    const fn row(self) -> Row {
        const PLAIN: Row = Row {
            framing: Framing::Primary,
            ports: &[],
            read_only: &[],
            word: None,
            connection: None,
            states: None,
            commands: None,
        };
        match self {
            Self::Primary => Row { ports: &[30_001, 30_002], read_only: &[30_011, 30_012], ..PLAIN },
            Self::Realtime => Row {
                framing: Framing::Realtime,
                ports: &[30_003],
                read_only: &[30_013],
                states: Some("/realtime"),
                ..PLAIN
            },
            Self::Rtde => Row { framing: Framing::Rtde, ports: &[RTDE], states: Some("/rtde"), ..PLAIN },
            Self::Variables => Row {
                framing: Framing::Rtde,
                ports: &[VARIABLES],
                word: Some("variables"),
                connection: Some("variables"),
                states: Some("/rtde/variables"),
                ..PLAIN
            },
            Self::Fri => Row {
                framing: Framing::Fri,
                ports: &[FRI],
                word: Some("fri"),
                states: Some("/fri"),
                commands: Some("/fri_command"),
                ..PLAIN
            },
        }
    }

    /// Returns the format of the stream with this number in a feed. `None` for a port of another kind.
    #[must_use]
    pub fn of(port: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|format| {
            let row = format.row();
            row.ports.contains(&port) || row.read_only.contains(&port)
        })
    }

    /// Returns the format that a command line names, by a port or by a word if the format has one.
    ///
    /// # Errors
    /// Returns the list of the accepted names.
    pub fn named(text: &str) -> Result<Self, String> {
        let port: Option<u16> = text.parse().ok();
        let named = Self::ALL.into_iter().find(|format| match format.row() {
            Row { word: Some(word), .. } => word == text,
            Row { ports, read_only, .. } => port
                .is_some_and(|port| port.to_string() == text && (ports.contains(&port) || read_only.contains(&port))),
        });
        named.ok_or_else(|| {
            let plain = || Self::ALL.into_iter().map(Self::row).filter(|row| row.word.is_none());
            let ports = plain().flat_map(|row| row.ports).chain(plain().flat_map(|row| row.read_only));
            let words = Self::ALL.into_iter().filter_map(|format| format.row().word);
            let all: Vec<String> = ports.map(u16::to_string).chain(words.map(str::to_owned)).collect();
            format!("expected {}", joined(&all, "or"))
        })
    }

    /// Returns the rules by which a stream in this format is separated into messages.
    #[must_use]
    pub const fn framing(self) -> Framing {
        self.row().framing
    }

    /// Returns the numbers of the streams in this format, in feeds and recordings.
    #[must_use]
    pub const fn ports(self) -> &'static [u16] {
        self.row().ports
    }

    /// Returns the topic of states in this format in recordings. `None` if its messages are not states.
    #[must_use]
    pub const fn states(self) -> Option<&'static str> {
        self.row().states
    }

    /// Returns the topic of commands in this format in recordings. `None` if sent data is recorded as bytes only.
    #[must_use]
    pub const fn commands(self) -> Option<&'static str> {
        self.row().commands
    }

    /// Returns `"variables"` for [`Self::Variables`]: the label of the additional RTDE connection, which uses the same
    /// controller port 30004 as the session's own connection. `None` for all other formats.
    #[must_use]
    pub const fn connection(self) -> Option<&'static str> {
        self.row().connection
    }

    /// Returns `true` for a format of named variables, which are not a whole robot state.
    #[must_use]
    pub const fn is_partial(self) -> bool {
        self.connection().is_some()
    }
}

/// Returns the controller's port of the stream that has the number `port` in feeds and recordings, and the label
/// `"variables"` if it is the stream of the additional RTDE connection ([`VARIABLES`]), otherwise `None`.
#[must_use]
pub fn connection_of(port: u16) -> (u16, Option<&'static str>) {
    match WireFormat::of(port).and_then(WireFormat::connection) {
        Some(word) => (RTDE, Some(word)),
        None => (port, None),
    }
}

/// Returns the streams of the `wanted` formats as a list for people, e.g. `30003, 30004 or variables`.
pub fn listed(wanted: impl Fn(WireFormat) -> bool, conjunction: &str) -> String {
    let formats = WireFormat::ALL.into_iter().filter(|format| wanted(*format)).map(WireFormat::row);
    let names = formats.flat_map(|row| {
        row.ports.iter().map(move |port| match (row.connection, row.word) {
            (Some(connection), _) => connection.to_owned(),
            (None, Some(word)) => format!("{port} ({})", word.to_uppercase()),
            (None, None) => port.to_string(),
        })
    });
    joined(&names.collect::<Vec<_>>(), conjunction)
}

fn joined(names: &[String], conjunction: &str) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} {conjunction} {last}", others.join(", ")),
        all => all.concat(),
    }
}

/// Returns the name of the stream at `port` in messages for people.
#[must_use]
pub fn name_of(port: u16) -> String {
    match connection_of(port) {
        (port, Some(word)) => format!("{port} ({word})"),
        (port, None) => port.to_string(),
    }
}

/// Returns the topic, in a recording, of the bytes received from the controller's stream `port`.
#[must_use]
pub fn raw_topic(port: u16) -> String {
    match connection_of(port) {
        (port, Some(word)) => format!("/raw/{port}/{word}"),
        (port, None) => format!("/raw/{port}"),
    }
}

/// Returns the topic, in a recording, of the bytes sent to the controller's stream `port`.
#[must_use]
pub fn sent_topic(port: u16) -> String {
    raw_topic(port) + "/sent"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_has_one_format_and_names_of_its_own() {
        let ports: Vec<u16> = WireFormat::ALL.into_iter().flat_map(WireFormat::ports).copied().collect();
        assert_eq!(ports, [30_001, 30_002, 30_003, 30_004, VARIABLES, FRI]);
        let names: Vec<_> = ports.iter().map(|port| name_of(*port)).collect();
        assert_eq!(names, ["30001", "30002", "30003", "30004", "30004 (variables)", "49938"]);
        assert_eq!((raw_topic(VARIABLES), sent_topic(FRI)), ("/raw/30004/variables".into(), "/raw/49938/sent".into()));
        let states = listed(|format| format.states().is_some() && !format.is_partial(), "and");
        assert_eq!(states, "30003, 30004 and 49938 (FRI)");
        assert_eq!(listed(|_| true, "or"), "30001, 30002, 30003, 30004, variables or 49938 (FRI)");
        assert_eq!([30_013, 29_999].map(WireFormat::of), [Some(WireFormat::Realtime), None]);
        for port in WireFormat::STATES_BY_PRECISION {
            let format = WireFormat::of(port).expect("a format");
            assert!(format.states().is_some() && !format.is_partial(), "{port}");
        }
    }

    #[test]
    fn a_command_line_names_ports_or_words() {
        let named = ["30001", "30012", "30003", "30013", "30004", "variables", "fri"].map(WireFormat::named);
        use WireFormat::{Fri, Primary, Realtime, Rtde, Variables};
        assert_eq!(named, [Primary, Primary, Realtime, Realtime, Rtde, Variables, Fri].map(Ok));
        for wrong in ["80", "0", "49938", "030001", "+30001", "FRI", ""] {
            let expected = "expected 30001, 30002, 30003, 30004, 30011, 30012, 30013, variables or fri";
            assert_eq!(WireFormat::named(wrong), Err(expected.into()), "{wrong}");
        }
    }
}
