//! Receives the announcements in a domain on every interface of this machine, and tests multicast on the interfaces
//! through which a node joins.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::{
    set_ip_add_membership_with_ifindex, set_ip_multicast_if, set_ip_multicast_loop, set_socket_reuseaddr,
    set_socket_reuseport,
};
use rustix::net::{AddressFamily, SocketType, bind, socket};

use super::multicast_filter::{GROUP, hear_by};
use super::unicast_peers::{facing, sender};
use crate::neighbours::{Announcement, Multicast, Prefix, Surroundings, discovery_port};

/// The first domain that has ports which Linux may assign to any program: 32768 to 60999 by default
/// (`net.ipv4.ip_local_port_range`).
const LEAST_ANYBODYS: u16 = 102;
/// The last domain that has ports which Linux may assign to any program.
const MOST_ANYBODYS: u16 = 214;
/// The largest number of other DDS participants that are stored.
const MOST: usize = 256;
/// The largest number of announcements and test messages read in one call.
const AT_ONCE: usize = 64;
/// The RTPS version in a test message without content.
const VERSION: [u8; 2] = [2, 4];
/// The number of this DDS implementation's vendor, RustDDS, in a test message.
const VENDOR: [u8; 2] = [1, 0x12];

/// Receives the announcements of participants in a DDS domain, and tests multicast.
#[derive(Debug)]
pub(super) struct Probe {
    domain: u16,
    /// The interfaces through which the node joins, each with the outcome of its test message.
    interfaces: Vec<(IpAddr, Sent)>,
    own: Prefix,
    socket: Result<UdpSocket, io::Error>,
    heard: BTreeMap<Prefix, Announcement>,
}

/// A test message without content that was sent to the multicast group.
#[derive(Debug)]
struct Sent {
    result: io::Result<()>,
    returned: bool,
}

impl Probe {
    /// Starts to receive in `domain`, and sends a message without content to its multicast group through each of
    /// `interfaces`, in the name of the participant `own`.
    pub(super) fn start(domain: u16, interfaces: &[IpAddr], own: Prefix) -> Self {
        let port = discovery_port(domain);
        let socket = listen(port);
        let sent = |interface: &IpAddr| {
            let result = match *interface {
                IpAddr::V4(interface) => send(port, interface, own),
                IpAddr::V6(_) => Err(io::Error::other("it is an IPv6 address; discovery uses IPv4")),
            };
            (*interface, Sent { result, returned: false })
        };
        Self { domain, interfaces: interfaces.iter().map(sent).collect(), own, socket, heard: BTreeMap::new() }
    }

    fn joins_at(&self, address: IpAddr) -> bool {
        self.interfaces.iter().any(|(interface, _)| *interface == address)
    }

    /// Reads the announcements and test messages that have arrived.
    pub(super) fn look(&mut self) {
        let Ok(socket) = &self.socket else { return };
        let mut bytes = [0; 64];
        for _ in 0..AT_ONCE {
            // The rest of a longer message is dropped.
            let Ok((length, from)) = socket.recv_from(&mut bytes) else { return };
            let Some((prefix, vendor)) = bytes.get(..length).and_then(sender) else { continue };
            let from = from.ip();
            if prefix == self.own {
                if let Some((_, sent)) = self.interfaces.iter_mut().find(|(interface, _)| *interface == from) {
                    sent.returned = true;
                }
                continue;
            }
            let known = self.heard.get(&prefix);
            // Of a participant on several interfaces, the one that this node also uses is kept.
            if known.is_some_and(|known| self.joins_at(known.facing)) || (known.is_none() && self.heard.len() >= MOST) {
                continue;
            }
            if let Some(facing) = facing(from) {
                self.heard.insert(prefix, Announcement { prefix, vendor, from, facing });
            }
        }
    }

    /// Returns the network conditions found so far, for a node that announces itself to each of `peers` individually.
    pub(super) fn surroundings(&self, peers: &[String]) -> Surroundings {
        let multicast = |sent: &Sent| match &sent.result {
            Err(error) => Multicast::Refused(error.to_string()),
            Ok(()) if sent.returned => Multicast::Returns,
            Ok(()) => Multicast::Lost,
        };
        Surroundings {
            interfaces: self.interfaces.iter().map(|(interface, sent)| (*interface, multicast(sent))).collect(),
            domain: self.domain,
            peers: peers.to_vec(),
            port: self.socket.as_ref().err().map(ToString::to_string),
            heard: self.heard.values().copied().collect(),
        }
    }
}

/// Checks that the port of a domain's announcements can be opened, shared with other programs. A participant that
/// cannot open it would run without it and discover no other.
///
/// # Errors
/// The reason as text, with a remedy.
pub(super) fn can_be_joined(domain: u16) -> Result<(), String> {
    let port = discovery_port(domain);
    bound(port).map(drop).map_err(|error| {
        let anybodys = match domain {
            LEAST_ANYBODYS..=MOST_ANYBODYS => {
                ": Linux assigns ports of the domains 102 to 214 to any program; set a domain of 0 to 101"
            }
            _ => ": a program other than a DDS participant uses it; end that, or set another domain",
        };
        format!("port {port}, where participants of domain {domain} announce themselves: {error}{anybodys}")
    })
}

/// Opens a socket at this port on every interface, shared with other programs.
fn bound(port: u16) -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    set_socket_reuseaddr(&socket, true)?;
    set_socket_reuseport(&socket, true)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
    Ok(socket)
}

/// Opens a socket at the port of announcements that receives them through these interfaces.
pub(super) fn listen_by(port: u16, interfaces: &[IpAddr]) -> io::Result<UdpSocket> {
    let socket = bound(port)?;
    hear_by(&socket, interfaces)?;
    let socket = UdpSocket::from(socket);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Opens a socket at the port of announcements that receives them through every interface.
fn listen(port: u16) -> io::Result<UdpSocket> {
    let socket = bound(port)?;
    for index in interfaces() {
        // An interface that is down or has no multicast is skipped.
        let _ = set_ip_add_membership_with_ifindex(&socket, &GROUP, &Ipv4Addr::UNSPECIFIED, index);
    }
    let socket = UdpSocket::from(socket);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Returns the index numbers of this machine's network interfaces.
fn interfaces() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/sys/class/net") else { return vec![] };
    let index =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("ifindex")).ok()?.trim().parse().ok();
    entries.flatten().filter_map(index).collect()
}

fn send(port: u16, interface: Ipv4Addr, own: Prefix) -> io::Result<()> {
    let socket = UdpSocket::bind((interface, 0))?;
    by(&socket, interface)?;
    socket.send_to(&header(own), (GROUP, port)).map(drop)
}

/// Makes this socket send multicast through this interface, and makes this machine receive the multicast as well.
pub(super) fn by(socket: &UdpSocket, interface: Ipv4Addr) -> io::Result<()> {
    set_ip_multicast_if(socket, &interface)?;
    set_ip_multicast_loop(socket, true)?;
    Ok(())
}

/// Returns an RTPS message without content in the name of the participant `own` (RTPS 2.5, 9.4.4).
pub(super) fn header(own: Prefix) -> Vec<u8> {
    [b"RTPS".as_slice(), &VERSION, &VENDOR, &own].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_content_is_one_of_its_sender() {
        let own = [7; 12];
        assert_eq!(header(own).len(), 20);
        assert_eq!(sender(&header(own)), Some((own, VENDOR)));
    }

    #[test]
    fn a_domain_whose_port_somebody_has_for_himself_is_refused_in_words() {
        for (domain, then) in [(7, "another domain"), (203, "0 to 101")] {
            let Ok(_his) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, discovery_port(domain))) else { continue };
            let why = can_be_joined(domain).unwrap_err();
            assert!(why.contains(&discovery_port(domain).to_string()) && why.ends_with(then), "{why}");
        }
        // Two sockets that share the port can both open it.
        let _ours = bound(discovery_port(6)).unwrap();
        assert_eq!(can_be_joined(6), Ok(()));
    }

    #[test]
    fn an_address_that_is_not_here_is_refused_in_words() {
        // TEST-NET-3 (RFC 5737) is assigned to nobody.
        let interfaces = [IpAddr::from([203, 0, 113, 1]), IpAddr::from([0; 16])];
        let probe = Probe::start(201, &interfaces, [1; 12]);
        let multicast: Vec<_> = probe.surroundings(&[]).interfaces.into_iter().map(|(_, of)| of).collect();
        assert!(
            matches!(&multicast[..], [Multicast::Refused(nobodys), Multicast::Refused(six)] if !nobodys.is_empty() && six.contains("IPv4")),
            "{multicast:?}"
        );
    }
}
