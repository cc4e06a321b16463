//! What a frame carries, where it is a TCP segment over IPv4.

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Port it comes from.
    pub from: u16,
    /// Port it goes to.
    pub to: u16,
    /// It opens a connection.
    pub syn: bool,
    /// It resets one.
    pub rst: bool,
    /// Its bytes.
    pub payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// The segment in an Ethernet frame; `None` where there is none.
    #[must_use]
    pub fn of(frame: &'a [u8]) -> Option<Self> {
        const ETHERNET: usize = 14;
        const IPV4: [u8; 2] = [0x08, 0x00];
        const TCP: u8 = 6;
        let packet = frame.get(ETHERNET..).filter(|_| frame.get(12..ETHERNET) == Some(&IPV4))?;
        let (header, protocol) = (usize::from(packet.first()? & 0x0f) * 4, *packet.get(9)?);
        let number = |bytes: &[u8], at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let segment = packet.get(header..usize::from(number(packet, 2)?)).filter(|_| protocol == TCP)?;
        let flags = *segment.get(13)?;
        let payload = segment.get(usize::from(*segment.get(12)? >> 4) * 4..)?;
        let (from, to) = (number(segment, 0)?, number(segment, 2)?);
        Some(Self { from, to, syn: flags & 0x02 != 0, rst: flags & 0x04 != 0, payload })
    }
}
