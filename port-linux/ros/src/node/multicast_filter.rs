//! Limits the multicast that a participant receives to the interfaces through which it joined.
//!
//! Linux delivers to a socket that is bound to every address the multicast of each group that any socket of the
//! machine has joined, on any interface (ip(7), `IP_MULTICAST_ALL`). `rustdds` 0.15 has such sockets: a node limited
//! to loopback would discover writers in a network and follow their commands. The sockets are found among those of
//! this process by their ports.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::sockopt::{set_ip_add_membership, socket_type};
use rustix::net::{SocketAddrV4, SocketType, getsockname};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use socket2::SockRef;

use crate::neighbours::discovery_port;

/// The multicast group on which DDS participants discover each other (RTPS 2.5, 9.6.2.2).
pub(super) const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// The number of a participant's sockets that receive multicast: for announcements, and for data sent to all.
const SOCKETS: usize = 2;

/// Lets `socket` receive the multicast group of DDS through these interfaces, and no other multicast.
///
/// # Errors
/// The errors of the operating system.
pub(super) fn hear_by(socket: impl AsFd, interfaces: &[IpAddr]) -> io::Result<()> {
    for interface in interfaces {
        if let IpAddr::V4(interface) = interface {
            // The socket may have joined through this interface already, and an interface without multicast does not
            // matter.
            let _ = set_ip_add_membership(&socket, &GROUP, interface);
        }
    }
    SockRef::from(&socket).set_multicast_all_v4(false)
}

/// Limits the sockets of this process at the ports of `domain` to these interfaces.
///
/// # Errors
/// The errors of the operating system, and an error if the participant's sockets are not found.
pub(super) fn confine(domain: u16, interfaces: &[IpAddr]) -> io::Result<()> {
    let port = discovery_port(domain);
    let ports = [port, port.saturating_add(1)];
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    let mut confined = 0;
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        let Some(number) = number else { continue };
        let socket = match pidfd_getfd(&this, number, PidfdGetfdFlags::empty()) {
            Ok(socket) => socket,
            // Another thread has closed it in the meantime.
            Err(Errno::BADF) => continue,
            Err(error) => return Err(error.into()),
        };
        if port_of(&socket).is_some_and(|port| ports.contains(&port)) {
            hear_by(&socket, interfaces)?;
            confined += 1;
        }
    }
    if confined < SOCKETS {
        return Err(io::Error::other(format!("found {confined} of {SOCKETS} multicast sockets")));
    }
    Ok(())
}

/// Returns the port of a UDP socket (IPv4) that is bound to every address; `None` for any other socket.
fn port_of(socket: &OwnedFd) -> Option<u16> {
    if socket_type(socket).ok()? != SocketType::DGRAM {
        return None;
    }
    let bound = SocketAddrV4::try_from(getsockname(socket).ok()?).ok()?;
    (*bound.ip() == Ipv4Addr::UNSPECIFIED).then(|| bound.port())
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn sockets_at_the_ports_of_a_domain_are_confined_and_others_are_not() {
        let bound = |port| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).expect("a free port");
        let port = discovery_port(93);
        let here = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let (first, other) = (bound(port), bound(0));
        let error = confine(93, &here).expect_err("one socket").to_string();
        assert!(error.contains("1 of 2 multicast sockets"), "{error}");
        let second = bound(port + 1);
        confine(93, &here).expect("both are found");
        let hears_all = |socket: &UdpSocket| SockRef::from(socket).multicast_all_v4().expect("an option of Linux");
        assert_eq!([hears_all(&first), hears_all(&second), hears_all(&other)], [false, false, true]);
    }
}
