//! Claims of who has an address, as ARP makes them (RFC 826).

use core::net::Ipv4Addr;

const ETHERTYPE: usize = 12;
pub(crate) const ARP: [u8; 2] = [0x08, 0x06];
/// Ethernet and IPv4, and the lengths of their addresses.
pub(crate) const KINDS: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: [u8; 2] = [0, 1];

/// An ARP packet in its frame: what is looked at of it.
pub(crate) struct ArpClaim {
    /// Somebody asks; else it answers, or tells unasked.
    pub(crate) request: bool,
    /// The sender's.
    pub(crate) hardware: [u8; 6],
    /// The address that the sender claims.
    pub(crate) sender: Ipv4Addr,
    /// The address that is asked for.
    pub(crate) target: Ipv4Addr,
}

impl ArpClaim {
    /// `None` where it is no ARP packet, or none of Ethernet and IPv4: the stack makes nothing of it.
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
