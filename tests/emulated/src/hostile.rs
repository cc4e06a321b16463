//! Unsolicited frames for a board's network stack: floods, forgeries and garbage.

use outrigger_sim::rng::Rng;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpAddress,
    IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber, UdpPacket, UdpRepr,
};

/// A kind of unsolicited frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nuisance {
    /// ARP requests and replies with a random sender each.
    Arp,
    /// ARP requests and replies that claim the address `Target::from`, each with a random hardware address.
    Claim,
    /// UDP datagrams with random lengths below 1400 bytes: half of them to port 47000, the rest to random ports.
    Udp,
    /// TCP segments from `Target::from` that belong to no connection: with random sequence numbers, from ports of a
    /// controller or random ports, to random ports. They open, reset and end connections, or carry data.
    Tcp,
    /// Random bytes after a plausible Ethernet header. Some frames are too short or too long.
    Noise,
}

impl Nuisance {
    /// All kinds of unsolicited frames.
    pub const ALL: [Self; 5] = [Self::Arp, Self::Claim, Self::Udp, Self::Tcp, Self::Noise];
}

/// The device at which unsolicited frames are aimed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The hardware address of the receiver.
    pub mac: [u8; 6],
    /// The IP address of the receiver.
    pub address: Ipv4Address,
    /// The IP address that frames claim as their source, where this matters.
    pub from: Ipv4Address,
}

impl Default for Target {
    /// Returns the emulated board, with the robot as the claimed source.
    fn default() -> Self {
        Self { mac: [2, 0, 10, 0, 2, 15], address: Ipv4Address::new(10, 0, 2, 15), from: Ipv4Address::new(10, 0, 2, 2) }
    }
}

/// A generator of unsolicited frames, from a seed.
#[derive(Debug)]
pub struct Hostile {
    target: Target,
    rng: Rng,
}

impl Hostile {
    /// Returns a generator of frames for `target`.
    #[must_use]
    pub fn new(target: Target, seed: u64) -> Self {
        Self { target, rng: Rng::new(seed, 0xBAD) }
    }

    /// Returns the next unsolicited frame of this kind.
    pub fn frame(&mut self, nuisance: Nuisance) -> Vec<u8> {
        match nuisance {
            Nuisance::Arp => {
                let (mac, address) = self.somebody();
                self.arp(mac, address)
            }
            Nuisance::Claim => {
                let (mac, _) = self.somebody();
                self.arp(mac, self.target.from)
            }
            Nuisance::Udp => self.udp(),
            Nuisance::Tcp => self.tcp(),
            Nuisance::Noise => self.noise(),
        }
    }

    fn below(&mut self, limit: u16) -> u16 {
        u16::try_from(self.rng.up_to(u64::from(limit.saturating_sub(1)))).unwrap_or(0)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.rng.next_u64() as u8).collect()
    }

    /// Returns random addresses in this network that are never the robot's.
    fn somebody(&mut self) -> (EthernetAddress, Ipv4Address) {
        let host = 20 + self.below(200) as u8;
        (EthernetAddress([2, 0, 0, 0, 1, host]), Ipv4Address::new(10, 0, 2, host))
    }

    fn ethernet(&self, from: EthernetAddress, ethertype: EthernetProtocol, length: usize) -> Vec<u8> {
        let header = EthernetRepr { src_addr: from, dst_addr: EthernetAddress(self.target.mac), ethertype };
        let mut frame = vec![0; header.buffer_len() + length];
        header.emit(&mut EthernetFrame::new_unchecked(&mut frame));
        frame
    }

    fn arp(&mut self, mac: EthernetAddress, address: Ipv4Address) -> Vec<u8> {
        let arp = ArpRepr::EthernetIpv4 {
            operation: if self.rng.unit() < 0.5 { ArpOperation::Request } else { ArpOperation::Reply },
            source_hardware_addr: mac,
            source_protocol_addr: address,
            target_hardware_addr: EthernetAddress(self.target.mac),
            target_protocol_addr: self.target.address,
        };
        let mut frame = self.ethernet(mac, EthernetProtocol::Arp, arp.buffer_len());
        arp.emit(&mut ArpPacket::new_unchecked(EthernetFrame::new_unchecked(&mut frame).payload_mut()));
        frame
    }

    /// Returns a frame with an IPv4 header and `length` bytes after it, which `fill` writes.
    fn ipv4(
        &mut self,
        from: Ipv4Address,
        next_header: IpProtocol,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Vec<u8> {
        let (mac, _) = self.somebody();
        let header =
            Ipv4Repr { src_addr: from, dst_addr: self.target.address, next_header, payload_len: length, hop_limit: 64 };
        let mut frame = self.ethernet(mac, EthernetProtocol::Ipv4, header.buffer_len() + length);
        let mut ethernet = EthernetFrame::new_unchecked(&mut frame);
        let mut packet = Ipv4Packet::new_unchecked(ethernet.payload_mut());
        header.emit(&mut packet, &ChecksumCapabilities::default());
        fill(packet.payload_mut());
        frame
    }

    fn udp(&mut self) -> Vec<u8> {
        let (_, from) = self.somebody();
        let length = usize::from(self.below(1400));
        let payload = self.bytes(length);
        let port = if self.rng.unit() < 0.5 { 47_000 } else { 1 + self.below(60_000) };
        let udp = UdpRepr { src_port: 1 + self.below(60_000), dst_port: port };
        let to = self.target.address;
        self.ipv4(from, IpProtocol::Udp, udp.header_len() + length, |bytes| {
            let mut packet = UdpPacket::new_unchecked(bytes);
            let addresses = (IpAddress::Ipv4(from), IpAddress::Ipv4(to));
            let body = |space: &mut [u8]| space.copy_from_slice(&payload);
            udp.emit(&mut packet, &addresses.0, &addresses.1, length, body, &ChecksumCapabilities::default());
        })
    }

    fn tcp(&mut self) -> Vec<u8> {
        let from = self.target.from;
        let length = usize::from(self.below(64));
        let payload = self.bytes(length);
        let ports = [30_001, 30_002, 30_003, 30_011, 1 + self.below(60_000)];
        let src_port = ports.get(usize::from(self.below(5))).copied().unwrap_or(30_003);
        let control = match self.below(4) {
            0 => TcpControl::Syn,
            1 => TcpControl::Rst,
            2 => TcpControl::Fin,
            _ => TcpControl::Psh,
        };
        let seq = |rng: &mut Rng| TcpSeqNumber(rng.next_u64() as i32);
        let tcp = TcpRepr {
            src_port,
            dst_port: 49_152 + self.below(16_000),
            control,
            seq_number: seq(&mut self.rng),
            ack_number: (control != TcpControl::Syn).then(|| seq(&mut self.rng)),
            window_len: self.below(u16::MAX),
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: &payload,
        };
        let addresses = (IpAddress::Ipv4(from), IpAddress::Ipv4(self.target.address));
        self.ipv4(from, IpProtocol::Tcp, tcp.buffer_len(), |bytes| {
            let mut packet = TcpPacket::new_unchecked(bytes);
            tcp.emit(&mut packet, &addresses.0, &addresses.1, &ChecksumCapabilities::default());
        })
    }

    fn noise(&mut self) -> Vec<u8> {
        let ethertype = match self.below(4) {
            0 => EthernetProtocol::Ipv4,
            1 => EthernetProtocol::Arp,
            2 => EthernetProtocol::Ipv6,
            _ => EthernetProtocol::Unknown(self.below(u16::MAX)),
        };
        let length = usize::from(match self.below(4) {
            0 => self.below(20),
            1 => 1500 + self.below(500),
            _ => self.below(1500),
        });
        let (mac, _) = self.somebody();
        let mut frame = self.ethernet(mac, ethertype, 0);
        frame.extend(self.bytes(length));
        if self.rng.unit() < 0.1 {
            // At least one byte remains, because an empty datagram ends QEMU's network.
            frame.truncate(1 + usize::from(self.below(13)));
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(nuisance: Nuisance) -> Vec<Vec<u8>> {
        let mut hostile = Hostile::new(Target::default(), 1);
        (0..300).map(|_| hostile.frame(nuisance)).collect()
    }

    #[test]
    fn what_is_forged_is_well_formed_so_that_it_reaches_the_stack() {
        for frame in [Nuisance::Arp, Nuisance::Claim].into_iter().flat_map(frames) {
            let ethernet = EthernetFrame::new_checked(&frame).unwrap();
            ArpRepr::parse(&ArpPacket::new_checked(ethernet.payload()).unwrap()).unwrap();
        }
        for nuisance in [Nuisance::Udp, Nuisance::Tcp] {
            for frame in frames(nuisance) {
                assert!(frame.len() <= 1514, "{}", frame.len());
                let ethernet = EthernetFrame::new_checked(&frame).unwrap();
                let packet = Ipv4Packet::new_checked(ethernet.payload()).unwrap();
                let checksums = ChecksumCapabilities::default();
                let ip = Ipv4Repr::parse(&packet, &checksums).unwrap();
                let (from, to) = (IpAddress::Ipv4(ip.src_addr), IpAddress::Ipv4(ip.dst_addr));
                if nuisance == Nuisance::Udp {
                    UdpRepr::parse(&UdpPacket::new_checked(packet.payload()).unwrap(), &from, &to, &checksums).unwrap();
                } else {
                    TcpRepr::parse(&TcpPacket::new_checked(packet.payload()).unwrap(), &from, &to, &checksums).unwrap();
                }
            }
        }
    }

    #[test]
    fn noise_has_every_length_and_the_same_seed_makes_the_same() {
        let lengths: Vec<usize> = frames(Nuisance::Noise).iter().map(Vec::len).collect();
        assert!(lengths.iter().any(|length| (1..14).contains(length)) && lengths.iter().any(|length| *length > 1600));
        assert_eq!(frames(Nuisance::Noise), frames(Nuisance::Noise));
    }
}
