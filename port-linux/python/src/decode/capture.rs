//! The traffic of controllers in a capture of the network: packets, connections, and their bytes in order.

mod tcp;

use std::fs::File;
use std::net::IpAddr;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use outrigger::feed::WireFormat;
use outrigger_cli::decode::{MEMORY, RecordedStream, Undecoded};
use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{Block, InterfaceDescriptionBlock, Linktype, PcapBlockOwned, PcapError, create_reader};

use self::tcp::{Direction, Piece};
use super::sink::{Origin, Sink};
use super::{Stopped, nothing};

/// The size of the memory for one block of a capture \[B\].
const BLOCK: usize = 1 << 20;
/// The largest number of interfaces in a capture.
const MOST_INTERFACES: usize = 1024;
/// The largest number of connections at a time.
const MOST_CONNECTIONS: usize = 64;

/// Returns whether a file that begins with these bytes is a capture.
pub(super) fn is_one(start: &[u8]) -> bool {
    const MICROSECONDS: u32 = 0xa1b2_c3d4;
    const NANOSECONDS: u32 = 0xa1b2_3c4d;
    const BLOCKS: u32 = 0x0a0d_0d0a;
    let first = start.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    first.is_some_and(|first| {
        [MICROSECONDS, NANOSECONDS].iter().any(|magic| first == *magic || first == magic.swap_bytes())
            || first == BLOCKS
    })
}

/// The form of the packets of one interface.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    /// The number of units of time in a second.
    resolution: u64,
    /// The time that is added to each packet's \[s\].
    offset: i64,
}

/// Decodes every message on ports in these formats.
pub(super) fn decode(file: File, formats: &[WireFormat], recipe: Option<&str>, sink: &mut Sink) -> Result<(), Stopped> {
    // Memory that was never written to takes no space.
    let mut memories: Vec<_> = (0..MOST_CONNECTIONS).map(|_| vec![0; MEMORY]).collect();
    let spare = memories.iter_mut().map(Vec::as_mut_slice).collect();
    let mut traffic = Traffic { formats, recipe, spare, connections: vec![], is_full: false, found: false };
    let mut reader = create_reader(BLOCK, file).map_err(|error| broken(0, &error))?;
    let mut interfaces: Vec<Interface> = vec![];
    let mut at = 0_u64;
    loop {
        let used = match reader.next() {
            Ok((used, block)) => {
                packet(&block, &mut interfaces, &mut |packet, link, time| traffic.packet(packet, link, time, sink));
                used
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::Incomplete(_)) => {
                let before = reader.data().len();
                reader.refill().map_err(|error| broken(at, &error))?;
                if reader.data().len() == before && !reader.reader_exhausted() {
                    return Err(broken(at, &PcapError::BufferTooSmall::<&[u8]>));
                }
                continue;
            }
            Err(error) => {
                let stopped = broken(at, &error);
                traffic.finish(sink);
                return Err(stopped);
            }
        };
        reader.consume(used);
        at += used as u64;
        if sink.is_full() && !sink.flush() {
            return Ok(());
        }
    }
    traffic.finish(sink);
    if traffic.found { Ok(()) } else { Err(nothing("the capture", formats)) }
}

/// Returns the error for a block of a capture that cannot be read.
fn broken<I>(at: u64, error: &PcapError<I>) -> Stopped {
    let what = match error {
        PcapError::Eof | PcapError::UnexpectedEof | PcapError::Incomplete(_) => "the end of the block is missing",
        PcapError::BufferTooSmall => "found a block of more than 1 MiB",
        PcapError::ReadError => "it cannot be read",
        _ => "found no block of a capture",
    };
    Stopped { text: format!("the capture is damaged at byte {at}: {what}"), at: Some(at) }
}

/// Calls `take` with the packet of a block, if it has one: its bytes, their form and the time since 1970 \[s\].
fn packet(block: &PcapBlockOwned<'_>, interfaces: &mut Vec<Interface>, take: &mut dyn FnMut(&[u8], Linktype, f64)) {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
            *interfaces = vec![Interface { link: header.network, resolution, offset: 0 }];
        }
        PcapBlockOwned::Legacy(block) => {
            let Some(Interface { link, resolution, .. }) = interfaces.first() else { return };
            take(block.data, *link, f64::from(block.ts_sec) + f64::from(block.ts_usec) / *resolution as f64);
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
        PcapBlockOwned::NG(Block::InterfaceDescription(block)) if interfaces.len() < MOST_INTERFACES => {
            interfaces.push(interface(block));
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
            let number = usize::try_from(block.if_id).unwrap_or(usize::MAX);
            let Some(Interface { link, resolution, offset }) = interfaces.get(number) else { return };
            let units = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
            let seconds = (units / resolution) as f64 + (units % resolution) as f64 / *resolution as f64;
            take(block.packet_data(), *link, seconds + *offset as f64);
        }
        PcapBlockOwned::NG(Block::SimplePacket(block)) => {
            let Some(Interface { link, .. }) = interfaces.first() else { return };
            take(block.packet_data(), *link, f64::NAN);
        }
        PcapBlockOwned::NG(_) => {}
    }
}

fn interface(block: &InterfaceDescriptionBlock<'_>) -> Interface {
    let resolution = block.ts_resolution().filter(|resolution| *resolution > 0).unwrap_or(1_000_000);
    Interface { link: block.linktype, resolution, offset: block.ts_offset() }
}

/// Returns the parts of a packet of this link.
fn sliced(packet: &[u8], link: Linktype) -> Option<LaxSlicedPacket<'_>> {
    // Of the cooked forms of Linux, IP follows behind a header of fixed length.
    let behind = match link {
        Linktype::ETHERNET => return LaxSlicedPacket::from_ethernet(packet).ok(),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => 0,
        Linktype::NULL | Linktype::LOOP => 4,
        Linktype::LINUX_SLL => 16,
        Linktype::LINUX_SLL2 => 20,
        _ => return None,
    };
    LaxSlicedPacket::from_ip(packet.get(behind..)?).ok()
}

/// The two ends of a connection: the controller's and ours, an address and a port each.
#[derive(Clone, Copy, PartialEq)]
struct Ends {
    controller: (IpAddr, u16),
    client: (IpAddr, u16),
}

/// One connection to a port of a controller.
struct Connection<'m> {
    ends: Ends,
    format: WireFormat,
    stream: RecordedStream<'m>,
    origin: Origin,
    received: Direction,
    sent: Direction,
    /// The number of bytes that went into the decoder so far.
    decoded: u64,
    /// True if the controller has ended the connection.
    is_closed: bool,
    /// True if the first bytes of the connection are in the capture.
    has_begun: bool,
    /// True after bytes that cannot be decoded, until a message is found again at the beginning of a packet.
    is_lost: bool,
}

/// The connections in a capture.
struct Traffic<'a, 'm> {
    formats: &'a [WireFormat],
    recipe: Option<&'a str>,
    spare: Vec<&'m mut [u8]>,
    connections: Vec<Connection<'m>>,
    /// True if a connection was left out because there were too many.
    is_full: bool,
    found: bool,
}

impl<'m> Connection<'m> {
    fn new(ends: Ends, format: WireFormat, stream: RecordedStream<'m>, origin: Origin) -> Self {
        let (received, sent) = (Direction::default(), Direction::default());
        let (decoded, is_closed, has_begun, is_lost) = (0, false, false, false);
        Self { ends, format, stream, origin, received, sent, decoded, is_closed, has_begun, is_lost }
    }

    /// Decodes a datagram, which has whole messages.
    fn datagram(&mut self, is_sent: bool, bytes: &[u8], sink: &mut Sink) {
        self.take(is_sent, Piece::Bytes(bytes), sink);
        if let Err(undecoded) = self.stream.finish() {
            sink.undecoded(&undecoded, &self.origin);
        }
        let _ = self.stream.take(false, &[], |_| Ok::<_, Undecoded>(true));
    }

    /// Decodes a part of one direction.
    fn take(&mut self, is_sent: bool, piece: Piece<'_>, sink: &mut Sink) {
        let Self { stream, origin, decoded, has_begun, is_lost, .. } = self;
        let again = |stream: &mut RecordedStream<'m>| {
            let _ = stream.take(false, &[], |_| Ok::<_, Undecoded>(true));
        };
        match piece {
            Piece::Start | Piece::Missing(_) if is_sent => {}
            Piece::Start => {
                again(stream);
                (*has_begun, *is_lost) = (true, false);
            }
            Piece::Missing(count) => {
                let problem = format!("{count} bytes are missing in the capture");
                sink.undecoded(&Undecoded { at: *decoded, problem, is_lost: true }, origin);
                again(stream);
                *has_begun = false;
            }
            Piece::Bytes(bytes) => {
                let has_messages = stream.has_messages(is_sent);
                if has_messages {
                    if *is_lost {
                        again(stream);
                    }
                    *decoded += bytes.len() as u64;
                }
                let _ = stream.take(is_sent, bytes, |messages| {
                    sink.drain_watched(messages, origin, |undecoded| {
                        let was_lost = *is_lost;
                        *is_lost = undecoded.is_some_and(|undecoded| undecoded.is_lost || !*has_begun);
                        !was_lost
                    })
                });
            }
        }
    }
}

impl Traffic<'_, '_> {
    fn packet(&mut self, packet: &[u8], link: Linktype, time: f64, sink: &mut Sink) {
        let Some(LaxSlicedPacket { net: Some(net), transport: Some(transport), .. }) = sliced(packet, link) else {
            return;
        };
        let [source, target]: [IpAddr; 2] = match &net {
            LaxNetSlice::Ipv4(ip) => [ip.header().source_addr().into(), ip.header().destination_addr().into()],
            LaxNetSlice::Ipv6(ip) => [ip.header().source_addr().into(), ip.header().destination_addr().into()],
            LaxNetSlice::Arp(_) => return,
        };
        let (from, to) = match &transport {
            TransportSlice::Tcp(tcp) => (tcp.source_port(), tcp.destination_port()),
            TransportSlice::Udp(udp) => (udp.source_port(), udp.destination_port()),
            _ => return,
        };
        let is_udp = matches!(transport, TransportSlice::Udp(_));
        let format = |port| {
            let format = WireFormat::of(port).filter(|_| port > 0)?;
            (self.formats.contains(&format) && (format == WireFormat::Fri) == is_udp).then_some(format)
        };
        let (ends, format, is_sent) = match (format(from), format(to)) {
            (Some(format), _) => (Ends { controller: (source, from), client: (target, to) }, format, false),
            (None, Some(format)) => (Ends { controller: (target, to), client: (source, from) }, format, true),
            (None, None) => return,
        };
        let index = self.connection(ends, format, sink);
        let Some(connection) = index.and_then(|index| self.connections.get_mut(index)) else { return };
        connection.origin.time = Some(time);
        match &transport {
            TransportSlice::Udp(udp) => connection.datagram(is_sent, udp.payload(), sink),
            TransportSlice::Tcp(tcp) => {
                let direction = if is_sent { &mut connection.sent } else { &mut connection.received };
                let mut direction = std::mem::take(direction);
                direction.segment(tcp.sequence_number(), tcp.syn(), tcp.payload(), &mut |piece| {
                    connection.take(is_sent, piece, sink);
                });
                *(if is_sent { &mut connection.sent } else { &mut connection.received }) = direction;
                connection.is_closed = tcp.rst() || tcp.fin() && !is_sent || connection.is_closed && !tcp.syn();
            }
            _ => {}
        }
        self.found = true;
    }

    /// Returns the index of the connection with these ends, of a new one if it has not occurred before.
    fn connection(&mut self, ends: Ends, format: WireFormat, sink: &mut Sink) -> Option<usize> {
        if let Some(index) = self.connections.iter().position(|known| known.ends == ends) {
            return Some(index);
        }
        let origin = Origin {
            port: Some(ends.controller.1),
            client: Some(std::net::SocketAddr::from(ends.client).to_string()),
            ..Origin::default()
        };
        if let Some(memory) = self.spare.pop() {
            let stream = RecordedStream::new(format, self.recipe, memory).ok()?;
            self.connections.push(Connection::new(ends, format, stream, origin));
            return Some(self.connections.len() - 1);
        }
        // The place of a connection that is over.
        let over = self.connections.iter().position(|known| known.is_closed && known.format == format);
        match over {
            Some(index) => {
                let mut old = self.connections.swap_remove(index);
                let begin = old.decoded;
                let _ = old.stream.take(false, &[], |_| Ok::<_, Undecoded>(true));
                let origin = Origin { begin, ..origin };
                self.connections
                    .push(Connection { decoded: begin, ..Connection::new(ends, format, old.stream, origin) });
                Some(self.connections.len() - 1)
            }
            None if self.is_full => None,
            None => {
                self.is_full = true;
                let problem = format!("left out: more than {MOST_CONNECTIONS} connections at a time");
                sink.undecoded(&Undecoded { at: 0, problem, is_lost: true }, &origin);
                None
            }
        }
    }

    /// Takes what waits for earlier bytes that are not in the capture.
    fn finish(&mut self, sink: &mut Sink) {
        for connection in &mut self.connections {
            let mut received = std::mem::take(&mut connection.received);
            received.finish(&mut |piece| connection.take(false, piece, sink));
        }
    }
}
