//! Splits the bytes of a feed or a recording into messages, and decodes them.

use outrigger_wire::fields::FieldVisitor;
use outrigger_wire::frame::{Assembler, Framing, MAX_PRIMARY_SIZE};
use outrigger_wire::fri::Measurement;
use outrigger_wire::primary::{self, MessageKind, RobotMessagePayload, SubPackage};
use outrigger_wire::realtime::Packet;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::{self, TextMessage};

use super::rtde_decoder::{Columns, Content, Conversation};
use super::{WireFormat, name_of};

/// A decoded message of a controller.
pub enum Message<'a> {
    /// A packet of the real-time interface, port 30003.
    Realtime(Packet<'a>),
    /// The values of an RTDE package of port 30004, with their names and types.
    Rtde(Columns<'a>, &'a [u8]),
    /// A text message of the controller, received over RTDE (port 30004).
    RtdeText(TextMessage<'a>),
    /// A measurement that a KRC sends by the Fast Research Interface.
    Fri(Measurement<'a>),
    /// A part of a robot state of port 30001 or 30002.
    SubPackage(SubPackage<'a>),
    /// Any other message of port 30001 or 30002, with the software version that determines its format.
    Primary(primary::Message<'a>, Option<SoftwareVersion>),
    /// A description of received bytes that could not be decoded.
    Trouble(String),
}

impl Message<'_> {
    /// Passes every field of a state to `visitor`. States are in messages of 30003, 30004 and FRI.
    pub fn visit_state(&self, visitor: &mut dyn FieldVisitor) {
        match self {
            Self::Realtime(packet) => packet.visit(visitor),
            Self::Rtde(columns, values) => columns.visit(values, visitor),
            Self::Fri(measurement) => measurement.visit(visitor),
            _ => {}
        }
    }
}

/// The extent of the received bytes that were decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The offset of the first byte that was decoded. Bytes before it belong to a message whose beginning was lost.
    pub from: usize,
    /// `true` if the decoded bytes are the start of a stream: of a new connection, or after a loss.
    pub begins: bool,
}

/// The streams of one controller: primary, real-time, RTDE, and additional RTDE variables. FRI datagrams need no
/// memory.
#[derive(Debug)]
pub struct Streams<'m> {
    streams: [Stream<'m>; 4],
    software: Option<SoftwareVersion>,
}

#[derive(Debug)]
struct Stream<'m> {
    assembler: Assembler<'m>,
    state: State,
    /// The variables and types of the RTDE connection, as observed. Unused by streams of other wire formats.
    conversation: Conversation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next byte of the stream is the first one of a connection.
    New,
    /// Earlier bytes of the stream were lost, or never received.
    Broken,
    Whole,
}

/// Allocates the memory for assembling the messages of [`Streams`].
#[must_use]
pub fn memory() -> [Vec<u8>; 4] {
    [2 * MAX_PRIMARY_SIZE, 64 * 1024, 2 * rtde::MAX_SIZE, 2 * rtde::MAX_SIZE].map(|size| vec![0; size])
}

/// Returns the index of the stream with this wire format.
const fn index(format: WireFormat) -> usize {
    match format {
        WireFormat::Primary => 0,
        WireFormat::Realtime | WireFormat::Fri => 1,
        WireFormat::Rtde => 2,
        WireFormat::Variables => 3,
    }
}

impl<'m> Streams<'m> {
    /// Creates the decoders of a controller's streams, without any data yet, in [`memory`]. Returns `None` if the
    /// memory is too small.
    #[must_use]
    pub fn new(memory: &'m mut [Vec<u8>; 4]) -> Option<Self> {
        let [primary, realtime, rtde, variables] = memory;
        let stream = |framing, memory: &'m mut Vec<u8>| {
            let assembler = Assembler::new(framing, memory).ok()?;
            Some(Stream { assembler, state: State::Broken, conversation: Conversation::default() })
        };
        let streams = [
            stream(Framing::Primary, primary)?,
            stream(Framing::Realtime, realtime)?,
            stream(Framing::Rtde, rtde)?,
            stream(Framing::Rtde, variables)?,
        ];
        Some(Self { streams, software: None })
    }

    /// Starts the stream of `port` anew, because a new connection was established.
    pub fn opened(&mut self, port: u16) {
        if let Some(stream) = self.of(port) {
            stream.state = State::New;
            stream.conversation = Conversation::default();
        }
    }

    /// Marks every stream of the controller as incomplete, after entries of the feed were lost.
    pub fn lost(&mut self) {
        self.streams.iter_mut().for_each(|stream| stream.state = State::Broken);
    }

    /// Processes bytes that were sent to the controller's `port`.
    pub fn sent(&mut self, port: u16, bytes: &[u8]) {
        let format = WireFormat::of(port).filter(|format| format.framing() == Framing::Rtde);
        if let Some(stream) = format.and_then(|format| self.streams.get_mut(index(format))) {
            stream.conversation.sent(bytes);
        }
    }

    fn of(&mut self, port: u16) -> Option<&mut Stream<'m>> {
        self.streams.get_mut(index(WireFormat::of(port)?))
    }

    /// Processes bytes that were received from `port`, and passes every message that they complete to `tell`. Returns
    /// `None` if no byte can be used, because earlier ones were lost, or because the port has no known wire format.
    pub fn received(
        &mut self,
        port: u16,
        bytes: &[u8],
        first_start: Option<usize>,
        mut tell: impl FnMut(Message<'_>),
    ) -> Option<Taken> {
        let format = WireFormat::of(port)?;
        let framing = format.framing();
        // A datagram is a whole message. It has no rest for the next one.
        if framing == Framing::Fri {
            tell(match Measurement::new_checked(bytes) {
                Ok(measurement) => Message::Fri(measurement),
                Err(error) => Message::Trouble(format!("FRI: {error}")),
            });
            return Some(Taken { from: 0, begins: false });
        }
        let stream = self.streams.get_mut(index(format))?;
        let port = name_of(port);
        let taken = match (stream.state, first_start) {
            (State::Whole, _) => Taken { from: 0, begins: false },
            (State::New, _) => Taken { from: 0, begins: true },
            (State::Broken, Some(from)) => Taken { from, begins: true },
            // Real-time packets can be located without knowing where they start.
            (State::Broken, None) if framing == Framing::Realtime => Taken { from: 0, begins: true },
            (State::Broken, None) => return None,
        };
        if taken.begins {
            stream.assembler.reset();
            stream.state = State::Whole;
        }
        let mut rest = bytes.get(taken.from..).unwrap_or_default();
        while !rest.is_empty() {
            let window = stream.assembler.window();
            let count = window.len().min(rest.len());
            let (now, later) = rest.split_at(count);
            window[..count].copy_from_slice(now);
            rest = later;
            stream.assembler.commit(count);
            while let Some(frame) = stream.assembler.next_frame() {
                match frame {
                    Ok(message) => match framing {
                        Framing::Primary => understand(message, &mut self.software, &mut tell),
                        Framing::Rtde => match stream.conversation.received(message) {
                            Ok(Some(Content::Data(columns, values))) => tell(Message::Rtde(columns, values)),
                            Ok(Some(Content::Text(text))) => tell(Message::RtdeText(text)),
                            Ok(None) => {}
                            Err(trouble) => tell(Message::Trouble(format!("port {port}: {trouble}"))),
                        },
                        Framing::Realtime | Framing::Fri => match Packet::new_checked(message) {
                            Ok(packet) => tell(Message::Realtime(packet)),
                            Err(error) => tell(Message::Trouble(format!("port {port}: {error}"))),
                        },
                    },
                    Err(error) => tell(Message::Trouble(format!("port {port}: {error}"))),
                }
            }
        }
        Some(taken)
    }
}

/// Decodes a message of the primary or secondary interface, and passes it to `tell`.
fn understand(bytes: &[u8], software: &mut Option<SoftwareVersion>, tell: &mut dyn FnMut(Message<'_>)) {
    let trouble = |error| Message::Trouble(format!("primary message: {error}"));
    let message = match primary::Message::new_checked(bytes) {
        Ok(message) => message,
        Err(error) => return tell(trouble(error)),
    };
    match message.kind() {
        MessageKind::RobotState(packages) => {
            for package in packages {
                tell(package.map_or_else(trouble, Message::SubPackage));
            }
        }
        MessageKind::RobotMessage(robot_message) => {
            if let Ok(RobotMessagePayload::Version(version)) = robot_message.payload(None) {
                *software = Some(version.software());
            }
            tell(Message::Primary(message, *software));
        }
        MessageKind::ProgramState(_) | MessageKind::Internal { .. } => tell(Message::Primary(message, *software)),
    }
}
