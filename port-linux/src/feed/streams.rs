//! Bytes of a feed, or of a recording, as the messages they are.

use outrigger_wire::fields::FieldVisitor;
use outrigger_wire::frame::{Assembler, Framing, MAX_PRIMARY_SIZE};
use outrigger_wire::fri::Measurement;
use outrigger_wire::primary::{self, MessageKind, RobotMessagePayload, SubPackage};
use outrigger_wire::realtime::Packet;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::{self, TextMessage};

use super::rtde::{Columns, Content, Conversation};
use super::{WireFormat, name_of};

/// One message of a controller.
pub enum Message<'a> {
    /// A packet of 30003.
    Realtime(Packet<'a>),
    /// Values of 30004.
    Rtde(Columns<'a>, &'a [u8]),
    /// Words on 30004.
    RtdeText(TextMessage<'a>),
    /// A measurement of a KRC.
    Fri(Measurement<'a>),
    /// A part of a robot state of 30001 or 30002.
    SubPackage(SubPackage<'a>),
    /// Any other message of 30001 or 30002, with the software whose forms it has.
    Primary(primary::Message<'a>, Option<SoftwareVersion>),
    /// Something that could not be understood.
    Trouble(String),
}

impl Message<'_> {
    /// Shows every field of a state: of 30003, 30004 and FRI.
    pub fn visit_state(&self, visitor: &mut dyn FieldVisitor) {
        match self {
            Self::Realtime(packet) => packet.visit(visitor),
            Self::Rtde(columns, values) => columns.visit(values, visitor),
            Self::Fri(measurement) => measurement.visit(visitor),
            _ => {}
        }
    }
}

/// What became of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// They are understood from this one on; those before belong to a message whose beginning was lost.
    pub from: usize,
    /// Whether they begin a stream: of a new connection, or after a loss.
    pub begins: bool,
}

/// The streams of one controller: primary, real-time, RTDE, and its further variables. Datagrams of FRI need no memory.
#[derive(Debug)]
pub struct Streams<'m> {
    streams: [Stream<'m>; 4],
    software: Option<SoftwareVersion>,
}

#[derive(Debug)]
struct Stream<'m> {
    assembler: Assembler<'m>,
    state: State,
    /// Of RTDE.
    conversation: Conversation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next byte is the first of a connection.
    New,
    /// What came before was lost, or was never heard.
    Broken,
    Whole,
}

/// Memory of [`Streams`].
#[must_use]
pub fn memory() -> [Vec<u8>; 4] {
    [2 * MAX_PRIMARY_SIZE, 64 * 1024, 2 * rtde::MAX_SIZE, 2 * rtde::MAX_SIZE].map(|size| vec![0; size])
}

/// Returns the place of a format's stream.
const fn index(format: WireFormat) -> usize {
    match format {
        WireFormat::Primary => 0,
        WireFormat::Realtime | WireFormat::Fri => 1,
        WireFormat::Rtde => 2,
        WireFormat::Variables => 3,
    }
}

impl<'m> Streams<'m> {
    /// Streams of which nothing has been heard yet, in [`memory`].
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

    /// A connection to `port` begins.
    pub fn opened(&mut self, port: u16) {
        if let Some(stream) = self.of(port) {
            stream.state = State::New;
            stream.conversation = Conversation::default();
        }
    }

    /// Entries were lost: of every stream something may be missing.
    pub fn lost(&mut self) {
        self.streams.iter_mut().for_each(|stream| stream.state = State::Broken);
    }

    /// Bytes that went out.
    pub fn sent(&mut self, port: u16, bytes: &[u8]) {
        let format = WireFormat::of(port).filter(|format| format.framing() == Framing::Rtde);
        if let Some(stream) = format.and_then(|format| self.streams.get_mut(index(format))) {
            stream.conversation.sent(bytes);
        }
    }

    fn of(&mut self, port: u16) -> Option<&mut Stream<'m>> {
        self.streams.get_mut(index(WireFormat::of(port)?))
    }

    /// Bytes that came in: tells every message that they complete. `None` where none of them is of use, because what
    /// came before was lost.
    pub fn received(
        &mut self,
        port: u16,
        bytes: &[u8],
        first_start: Option<usize>,
        mut tell: impl FnMut(Message<'_>),
    ) -> Option<Taken> {
        let format = WireFormat::of(port)?;
        let framing = format.framing();
        // A datagram is a message, or none: nothing is left for the next.
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
            // Real-time packets are found again without knowing where they start.
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

/// A message of the primary or secondary interface.
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
