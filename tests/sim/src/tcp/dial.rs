//! Calls of the controller over kernel TCP: connects that are under way.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{set_tcp_nodelay, socket_error};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use crate::controller::{Conn, Controller, Refused};
use crate::dial::Dial;

/// Connects that are under way.
#[derive(Debug, Default)]
pub(super) struct Calls {
    under_way: Vec<(Conn, OwnedFd)>,
}

impl Calls {
    /// Begins what the controller asks for and ends what was answered; yields the connections that stand now.
    pub(super) fn turn(&mut self, controller: &mut Controller) -> std::vec::IntoIter<(Conn, TcpStream)> {
        let mut answered = vec![];
        while let Some(dial) = controller.poll_dial() {
            match begin(&dial) {
                Ok(socket) => self.under_way.push((dial.conn, socket)),
                Err(_) => controller.dialled(dial.conn, Err(Refused)),
            }
        }
        for (conn, socket) in std::mem::take(&mut self.under_way) {
            if !controller.is_open(conn) {
                // Nobody waits for it any more.
                continue;
            }
            match outcome(&socket) {
                None => self.under_way.push((conn, socket)),
                Some(Ok(())) => {
                    controller.dialled(conn, Ok(()));
                    answered.push((conn, TcpStream::from(socket)));
                }
                Some(Err(_)) => controller.dialled(conn, Err(Refused)),
            }
        }
        answered.into_iter()
    }

    /// What becomes ready to write when it is answered.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &OwnedFd> {
        self.under_way.iter().map(|(_, socket)| socket)
    }
}

/// Addresses, and the name of this machine; no other name is looked up, which would block.
fn address(host: &str) -> Option<IpAddr> {
    if host.eq_ignore_ascii_case("localhost") { Some(Ipv4Addr::LOCALHOST.into()) } else { host.parse().ok() }
}

fn begin(dial: &Dial) -> Result<OwnedFd, Errno> {
    let address = SocketAddr::new(address(&dial.host).ok_or(Errno::HOSTUNREACH)?, dial.port);
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// How a connect ended; none while it has not.
fn outcome(socket: &OwnedFd) -> Option<Result<(), Errno>> {
    let mut ready = [PollFd::new(socket, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut ready, Some(&now)) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(socket_error(socket).and_then(|state| state)),
    }
}
