//! Sends the farewell of a participant that cannot send it itself because its threads have ended (module
//! `interruption_detector`). Without it, others would go on sending to it, and list its node, until its lease of 50 s
//! expires.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use super::discovery_probe::{self, header};
use super::domain_selection::Domain;
use super::multicast_filter::GROUP;
use super::unicast_peers::{PARTICIPANTS, participant_port};
use crate::neighbours::{Prefix, discovery_port};

/// The header of a DATA submessage from the writer of announcements to every reader (RTPS 2.5, 9.4.5.4):
/// little-endian, with parameters and a key, and with a number too large to be reached by counting.
const DATA: [u8; 24] = [
    0x15, 0x0b, 80, 0, // Kind, flags, length.
    0, 0, 16, 0, // Parameters begin 16 bytes behind this.
    0, 0, 0, 0, 0x00, 0x01, 0x00, 0xc2, // Reader, writer.
    0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, // Number, the upper half first.
];
/// The parameter that states a participant as disposed and unregistered (RTPS 2.5, 9.6.4.9).
const STATUS: [u8; 8] = [0x71, 0, 4, 0, 0, 0, 0, 3];
/// The header of the key's hash, which is the key itself and follows it (RTPS 2.5, 9.6.4.8). Fast DDS does not read a
/// hash behind the other parameters.
const HASH: [u8; 4] = [0x70, 0, 16, 0];
/// The header of a parameter list whose first entry is the participant's identifier of 16 bytes, which follows (RTPS
/// 2.5, 9.6.3).
const KEY: [u8; 8] = [0, 3, 0, 0, 0x50, 0, 16, 0];
/// The entity that follows the prefix in a participant's identifier (RTPS 2.5, 9.3.1.3).
const PARTICIPANT: [u8; 4] = [0, 0, 1, 0xc1];
/// The entry that ends a list of RTPS parameters.
const END: [u8; 4] = [1, 0, 0, 0];

fn message(of: Prefix) -> Vec<u8> {
    let guid = [&of[..], &PARTICIPANT].concat();
    [&*header(of), &DATA, &STATUS, &HASH, &guid, &END, &KEY, &guid, &END].concat()
}

/// Announces to a domain that the participant `of` has left: by multicast, to this machine, and to the configured
/// hosts. Another participant that does not receive this notices it when the lease expires.
pub(super) fn say(of: Prefix, place: &Domain) {
    let message = message(of);
    let Domain { domain, interfaces, peers } = place;
    for interface in interfaces {
        let IpAddr::V4(interface) = *interface else { continue };
        let Ok(socket) = UdpSocket::bind((interface, 0)) else { continue };
        let _ = discovery_probe::by(&socket, interface)
            .and_then(|()| socket.send_to(&message, (GROUP, discovery_port(*domain))).map(drop));
    }
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)) else { return };
    let hosts = peers.iter().filter_map(|peer| (peer.as_str(), 0).to_socket_addrs().ok()?.find(SocketAddr::is_ipv4));
    let here = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
    for host in hosts.map(|at| at.ip()).chain(here).chain(interfaces.iter().copied()) {
        for participant in 0..PARTICIPANTS {
            let _ = socket.send_to(&message, (host, participant_port(*domain, participant)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_farewell_has_the_bytes_that_the_specification_says() {
        let message = message([7; 12]);
        assert_eq!(message.len(), 20 + 4 + usize::from(DATA[2]));
        let guid = [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 1, 0xc1];
        let (parameters, key) = message[44..].split_at(8 + 20 + 4);
        assert_eq!((&parameters[..8], &parameters[12..28]), (&STATUS[..], &guid[..]));
        assert_eq!((&key[..4], &key[8..24], key.len()), (&[0, 3, 0, 0][..], &guid[..], 28));
    }
}
