//! Connections to a robot, one after another on each link.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};

use outrigger_core::drive::{self, Outstanding, Unacked};
use outrigger_core::engine::{Endpoint, LinkId};
use outrigger_core::time::Instant;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

use super::Trouble;
use crate::clock::Clock;
use crate::config::RobotAddress;
use crate::exit::{TOO_FEW_FILES, is_too_few_files};
use crate::feed::Tap;
use crate::syscalls;

/// Where the robot is, for every connection to it.
#[derive(Clone, Debug)]
pub(super) struct Robot {
    pub(super) address: RobotAddress,
    pub(super) ip: IpAddr,
}

/// One connection after another to one of the controller's ports.
pub struct Link {
    id: LinkId,
    robot: Robot,
    state: LinkState,
    outstanding: Outstanding,
    clock: Clock,
    busy_poll_micros: Option<u32>,
    trouble: Trouble,
    /// Something was read: Linux falls back to delayed acknowledgements by itself, and an old controller then waits for
    /// them. Asked for once what was read is answered, which must not wait for it.
    acknowledge: bool,
    /// Who listens to what crosses the socket.
    tap: Option<Tap>,
    /// The port of the present connection, as the controller numbers it.
    port: u16,
}

enum LinkState {
    Closed,
    Opening(SocketAddr, Pin<Box<dyn Future<Output = io::Result<TcpStream>>>>),
    Open(SocketAddr, TcpStream),
}

impl Link {
    pub(super) fn new(id: LinkId, robot: Robot, clock: Clock, busy_poll_micros: Option<u32>, trouble: Trouble) -> Self {
        Self {
            id,
            robot,
            state: LinkState::Closed,
            outstanding: Outstanding::default(),
            clock,
            busy_poll_micros,
            trouble,
            acknowledge: false,
            tap: None,
            port: 0,
        }
    }

    pub(super) const fn id(&self) -> LinkId {
        self.id
    }

    /// From now on everything that crosses the sockets goes there as well.
    pub(super) fn tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    fn stream(&mut self) -> io::Result<&mut TcpStream> {
        match &mut self.state {
            LinkState::Open(_, stream) => Ok(stream),
            LinkState::Closed | LinkState::Opening(..) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Options that every connection needs before its first byte.
    fn connecting(&self, to: SocketAddr) -> io::Result<impl Future<Output = io::Result<TcpStream>> + use<>> {
        let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_nodelay(true)?;
        if let Some(micros) = self.busy_poll_micros {
            syscalls::set_busy_poll(&socket, micros)?;
        }
        Ok(async move {
            let stream = socket.connect(to).await?;
            // The controller's first packets must not wait for a delayed acknowledgement either.
            stream.set_quickack(true)?;
            Ok(stream)
        })
    }

    fn tell_closed(&mut self) {
        if let Some(tap) = &mut self.tap {
            tap.closed(self.clock.now());
        }
    }

    fn refused(&mut self, at: SocketAddr, error: &io::Error) {
        self.trouble.note(self.id, cannot_connect(at, error));
        self.state = LinkState::Closed;
    }
}

/// What a failed connection attempt means, and what to check.
#[must_use]
pub fn cannot_connect(at: SocketAddr, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "nothing listens there: is the controller started, and this interface enabled in its security settings?"
        }
        io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable => {
            "no answer: is the address right, the cable plugged in, a firewall between?"
        }
        io::ErrorKind::NetworkUnreachable => "this machine has no route there: check its own network settings",
        io::ErrorKind::PermissionDenied => "this machine forbids it: check its firewall",
        _ if is_too_few_files(error) => TOO_FEW_FILES,
        _ => "check the address and the network",
    };
    format!("cannot connect to {at}: {error}; {advice}")
}

impl drive::Socket for Link {
    fn open(&mut self, endpoint: Endpoint) {
        let to = SocketAddr::new(self.robot.ip, self.robot.address.port(endpoint.port));
        self.port = endpoint.port;
        self.outstanding = Outstanding::default();
        match self.connecting(to) {
            Ok(connecting) => self.state = LinkState::Opening(to, Box::pin(connecting)),
            Err(error) => self.refused(to, &error),
        }
    }

    async fn opened(&mut self) -> bool {
        let (to, result) = match &mut self.state {
            LinkState::Closed => return false,
            LinkState::Open(..) => return true,
            LinkState::Opening(to, connecting) => (*to, connecting.await),
        };
        match result {
            Ok(stream) => {
                self.state = LinkState::Open(to, stream);
                if let Some(tap) = &mut self.tap {
                    tap.opened(self.clock.now(), self.port);
                }
            }
            Err(error) => self.refused(to, &error),
        }
        matches!(self.state, LinkState::Open(..))
    }

    fn abort(&mut self) {
        match &self.state {
            // With no lingering the kernel resets the connection when it is closed, and drops what is queued.
            LinkState::Open(at, stream) => {
                if let Err(error) = stream.set_zero_linger() {
                    self.trouble.note(self.id, format!("cannot reset the connection to {at}: {error}"));
                }
            }
            LinkState::Opening(at, _) => {
                self.trouble.note(self.id, cannot_connect(*at, &io::ErrorKind::TimedOut.into()));
            }
            LinkState::Closed => {}
        }
        self.state = LinkState::Closed;
        self.tell_closed();
    }

    fn unacked(&mut self, now: Instant) -> Unacked {
        let LinkState::Open(_, stream) = &self.state else { return Unacked::default() };
        syscalls::unacknowledged(stream).map(|bytes| self.outstanding.waiting(bytes, now)).unwrap_or_default()
    }
}

impl embedded_io_async::ErrorType for Link {
    type Error = io::Error;
}

impl embedded_io_async::Read for Link {
    async fn read(&mut self, window: &mut [u8]) -> io::Result<usize> {
        let clock = self.clock;
        let acknowledge = std::mem::take(&mut self.acknowledge);
        let stream = self.stream()?;
        if acknowledge {
            stream.set_quickack(true)?;
        }
        let mut window = ReadBuf::new(window);
        let read = poll_fn(|cx| pin!(&mut *stream).poll_read(cx, &mut window)).await;
        let arrived = clock.now();
        if read.is_err() || window.filled().is_empty() {
            self.tell_closed();
            return read.map(|()| 0);
        }
        self.acknowledge = true;
        if let Some(tap) = &mut self.tap {
            tap.received(arrived, window.filled());
        }
        Ok(window.filled().len())
    }
}

impl embedded_io_async::Write for Link {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let clock = self.clock;
        let stream = self.stream()?;
        let written = poll_fn(|cx| pin!(&mut *stream).poll_write(cx, bytes)).await?;
        let now = clock.now();
        self.outstanding.wrote(written, now);
        if let Some(tap) = &mut self.tap {
            tap.sent(now, bytes.get(..written).unwrap_or_default());
        }
        Ok(written)
    }

    async fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
