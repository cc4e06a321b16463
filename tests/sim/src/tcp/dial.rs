//! The connections that the controller opens over kernel TCP, while they are being established.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::{set_tcp_nodelay, socket_error};
use rustix::net::{AddressFamily, bind, connect};

use crate::controller::{Conn, Controller, Refused};
use crate::dial::Dial;
use crate::os;

/// The connection attempts of the controller that are in progress.
#[derive(Debug)]
pub(super) struct Calls {
    /// The IP address that the simulated controller listens on.
    listen: IpAddr,
    under_way: Vec<(Conn, OwnedFd)>,
}

impl Calls {
    /// Returns an empty list of connection attempts, for a controller that listens on this address.
    pub(super) const fn new(listen: IpAddr) -> Self {
        Self { listen, under_way: vec![] }
    }

    /// Starts the connections that the controller requests and finishes those that were accepted or refused. Returns
    /// the newly established connections.
    pub(super) fn turn(&mut self, controller: &mut Controller) -> std::vec::IntoIter<(Conn, TcpStream)> {
        let mut answered = vec![];
        while let Some(dial) = controller.poll_dial() {
            match begin(&dial, self.listen) {
                Ok(socket) => self.under_way.push((dial.conn, socket)),
                Err(_) => controller.dialled(dial.conn, Err(Refused)),
            }
        }
        for (conn, socket) in std::mem::take(&mut self.under_way) {
            if !controller.is_open(conn) {
                // The controller no longer needs it.
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

    /// Returns the sockets of the attempts in progress; each becomes writable when its attempt has a result.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &OwnedFd> {
        self.under_way.iter().map(|(_, socket)| socket)
    }
}

/// Parses a host: an IP address, or the name `localhost`. No other name is looked up, because that would block.
fn address(host: &str) -> Option<IpAddr> {
    if host.eq_ignore_ascii_case("localhost") { Some(Ipv4Addr::LOCALHOST.into()) } else { host.parse().ok() }
}

/// Returns the source address for a connection from a controller that listens on `listen`: that address if it can
/// reach `to`, else `None`.
fn source(listen: IpAddr, to: IpAddr) -> Option<IpAddr> {
    let leads = listen.is_ipv4() == to.is_ipv4() && listen.is_loopback() == to.is_loopback();
    Some(listen).filter(|listen| leads && !listen.is_unspecified())
}

fn begin(dial: &Dial, listen: IpAddr) -> Result<OwnedFd, Errno> {
    let address = SocketAddr::new(address(&dial.host).ok_or(Errno::HOSTUNREACH)?, dial.port);
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = os::stream_socket(family)?;
    set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source(listen, address.ip()) {
        bind(&socket, &SocketAddr::new(source, 0))?;
    }
    match connect(&socket, &address) {
        Ok(()) | Err(os::UNDER_WAY) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// Returns the result of a non-blocking connect; `None` while it is in progress.
fn outcome(socket: &OwnedFd) -> Option<Result<(), Errno>> {
    let mut ready = [PollFd::new(socket, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut ready, Some(&now)) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(socket_error(socket).and_then(|state| state)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;
    use crate::controller::Options;
    use crate::port::Port;
    use crate::tcp::Server;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn a_call_comes_from_the_address_that_the_controller_listens_on() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (listen, to, from) in [
            ("127.0.0.5", "127.0.0.1", Some("127.0.0.5")),
            ("192.168.1.5", "192.168.1.20", Some("192.168.1.5")),
            ("::1", "::1", Some("::1")),
            // The system chooses.
            ("0.0.0.0", "127.0.0.1", None),
            ("::", "::1", None),
            ("::1", "127.0.0.1", None),
            ("192.168.1.5", "127.0.0.1", None),
            ("127.0.0.1", "192.168.1.20", None),
        ] {
            assert_eq!(source(ip(listen), ip(to)), from.map(ip), "{listen} to {to}");
        }
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_program_talks_to_a_server_over_the_loopback_and_survives_its_restart() {
        let controller = Controller::new(Options::default()).unwrap();
        let server = Server::bind_from(controller, LOCAL, 47_000).unwrap().spawn().unwrap();
        let listener = TcpListener::bind((LOCAL, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let program = format!(
            "def main():\n while True:\n  if socket_open(\"localhost\", {}):\n   while True:\n    a = \
             socket_read_binary_integer(2, \"socket_0\", 0)\n    if a[0] != 2:\n     break\n    end\n    \
             socket_send_int(a[1] + a[2])\n   end\n  end\n  sync()\n end\nend\n",
            address.port()
        );
        let mut primary = TcpStream::connect(server.address(Port::Primary)).unwrap();
        primary.write_all(program.as_bytes()).unwrap();
        let add = |listener: &TcpListener| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut sum = [0; 4];
            for number in 0..10_i32 {
                stream.write_all(&[number.to_be_bytes(), 5_i32.to_be_bytes()].concat()).unwrap();
                stream.read_exact(&mut sum).unwrap();
                assert_eq!(i32::from_be_bytes(sum), number + 5);
            }
        };
        add(&listener);
        // Refused for a while, then available again.
        drop(listener);
        let cycles = server.controller().cycles();
        while server.controller().cycles() < cycles + 100 {
            std::thread::yield_now();
        }
        add(&TcpListener::bind(address).unwrap());
        assert!(server.controller().program().0);
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_name_that_is_not_looked_up_and_a_port_where_nobody_listens_are_refused() {
        let controller = Controller::new(Options::default()).unwrap();
        let server = Server::bind_from(controller, LOCAL, 49_000).unwrap().spawn().unwrap();
        // Bound, so that no other process listens there, and closed again.
        let port = TcpListener::bind((LOCAL, 0)).unwrap().local_addr().unwrap().port();
        let program = format!(
            "def main():\n if not socket_open(\"pc.example\", {port}) and not socket_open(\"127.0.0.1\", {port}) and not \
             socket_open(\"\", 0):\n  write_output_integer_register(0, 1)\n end\n write_output_integer_register(1, 1)\n \
             sleep(100)\nend\n"
        );
        let mut primary = TcpStream::connect(server.address(Port::Primary)).unwrap();
        primary.write_all(program.as_bytes()).unwrap();
        let begun = server.controller().cycles();
        while server.controller().registers().1.ints[1] == 0 {
            assert!(server.controller().cycles() < begun + 5000, "each call ends");
            std::thread::yield_now();
        }
        assert_eq!(server.controller().registers().1.ints[0], 1);
    }
}
