//! ARP packets, whose senders thereby claim to have an IP address (RFC 826).

use core::net::Ipv4Addr;

const ETHERTYPE: usize = 12;
pub(crate) const ARP: [u8; 2] = [0x08, 0x06];
/// The protocol types Ethernet and IPv4, and the lengths of their addresses.
pub(crate) const KINDS: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: [u8; 2] = [0, 1];

/// The fields of an ARP packet that the guard of the IP address uses.
pub(crate) struct ArpClaim {
    /// `true` for an ARP request; `false` for a reply or an unrequested announcement.
    pub(crate) request: bool,
    /// The hardware address of the packet's sender.
    pub(crate) hardware: [u8; 6],
    /// The IP address that the packet's sender claims.
    pub(crate) sender: Ipv4Addr,
    /// The IP address whose owner the packet asks for.
    pub(crate) target: Ipv4Addr,
}

impl ArpClaim {
    /// Reads an ARP packet; `None` if the frame is no ARP packet for Ethernet and IPv4, which the stack ignores.
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let arp = frame.get(ETHERTYPE..)?.strip_prefix(&ARP)?.strip_prefix(&KINDS)?;
        let (operation, arp) = arp.split_first_chunk::<2>()?;
        let (hardware, arp) = arp.split_first_chunk::<6>()?;
        let (sender, arp) = arp.split_first_chunk::<4>()?;
        let (_, arp) = arp.split_first_chunk::<6>()?;
        let (target, _) = arp.split_first_chunk::<4>()?;
        Some(Self {
            request: *operation == REQUEST,
            hardware: *hardware,
            sender: Ipv4Addr::from(*sender),
            target: Ipv4Addr::from(*target),
        })
    }
}
