//! The contents of a frame that holds a TCP segment or a UDP datagram over IPv4.

use std::net::{Ipv4Addr, SocketAddr};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A TCP segment in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The source port of the segment.
    pub from: u16,
    /// The destination port of the segment.
    pub to: u16,
    /// `true` if the segment opens a connection (SYN).
    pub syn: bool,
    /// `true` if the segment resets a connection (RST).
    pub rst: bool,
    /// The payload of the segment.
    pub payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Returns the TCP segment in an Ethernet frame; `None` if the frame holds none.
    #[must_use]
    pub fn of(frame: &'a [u8]) -> Option<Self> {
        let (_, segment) = packet(frame, TCP)?;
        let flags = *segment.get(13)?;
        let payload = segment.get(usize::from(*segment.get(12)? >> 4) * 4..)?;
        let (from, to) = (number(segment, 0)?, number(segment, 2)?);
        Some(Self { from, to, syn: flags & 0x02 != 0, rst: flags & 0x04 != 0, payload })
    }
}

/// Returns the UDP datagram in an Ethernet frame: its source, its destination and its payload. `None` if the frame
/// holds none.
#[must_use]
pub fn datagram(frame: &[u8]) -> Option<(SocketAddr, SocketAddr, &[u8])> {
    let (addresses, datagram) = packet(frame, UDP)?;
    let end = |address, at| Some(SocketAddr::from((address, number(datagram, at)?)));
    let [from, to] = addresses;
    Some((end(from, 0)?, end(to, 2)?, datagram.get(8..usize::from(number(datagram, 4)?))?))
}

/// Returns source, destination and payload of the IPv4 packet in a frame; `None` if the frame holds no packet of this
/// protocol.
fn packet(frame: &[u8], protocol: u8) -> Option<([Ipv4Addr; 2], &[u8])> {
    const ETHERNET: usize = 14;
    const IPV4: [u8; 2] = [0x08, 0x00];
    let packet = frame.get(ETHERNET..).filter(|_| frame.get(12..ETHERNET) == Some(&IPV4))?;
    let header = usize::from(packet.first()? & 0x0f) * 4;
    let content = packet.get(header..usize::from(number(packet, 2)?)).filter(|_| packet.get(9) == Some(&protocol))?;
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(packet.get(at..at + 4)?).ok()?));
    Some(([address(12)?, address(16)?], content))
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}
