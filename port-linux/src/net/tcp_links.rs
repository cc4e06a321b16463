//! TCP connections to a robot. Each link uses one connection after another.

use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};

use outrigger_config::{BusyPoll, RobotAddress};
use outrigger_core::drive::{self, Outstanding, Unacked};
use outrigger_core::engine::{Endpoint, LinkId};
use outrigger_wire::time::{Duration, Instant};
use rustix::net::sockopt::{set_socket_linger, set_tcp_nodelay};

use super::Trouble;
use super::state_prediction::Pace;
use crate::exit::{TOO_FEW_FILES, is_too_few_files};
use crate::feed::Tap;
use crate::host::clock::Clock;
use crate::host::os;
use crate::host::reactor::{self, Readiness, Watched};

/// The interval for reading a connection that carries no states for the control cycle.
const PUT_OFF: Duration = Duration::from_millis(50);
/// The additional delay of a read on a connection without states for the control cycle, if nothing else wakes the
/// loop by then.
const SLACK: Duration = Duration::from_millis(20);
/// The age of sent bytes from which the operating system is queried for their acknowledgement. Younger bytes are
/// usually acknowledged together with the next state.
const ASKED_AFTER: Duration = Duration::from_millis(2);

/// The maximum number of queued incoming connections that are accepted at once. Only one of them is kept.
const AT_ONCE: usize = 64;

/// The address of the robot, for all connections to it.
#[derive(Clone, Debug)]
pub(super) struct Robot {
    pub(super) address: RobotAddress,
    pub(super) ip: IpAddr,
}

/// A link: connections to one of the controller's ports, one after another.
pub struct Link {
    id: LinkId,
    robot: Robot,
    state: LinkState,
    outstanding: Outstanding,
    /// The time at which the oldest possibly unacknowledged byte was written. `None` if all are acknowledged.
    unasked: Option<Instant>,
    /// `true` if the last query found bytes that the controller had not acknowledged.
    waiting: bool,
    clock: Clock,
    pace: Pace,
    trouble: Trouble,
    /// `true` if data was read, and nothing was written since that would carry the acknowledgement. Linux then falls
    /// back to delayed acknowledgements, and an old controller waits for them.
    acknowledge: bool,
    /// The time of the next read on this connection, if the states for the control cycle arrive over another one.
    put_off: Option<Instant>,
    /// The copier of the socket's traffic into the session's feed, if there is one.
    tap: Option<Tap>,
    /// The port of the current connection, as the controller numbers it. If the controller connects to this process,
    /// the local port.
    port: u16,
    /// The listening socket. It is kept as long as its port is used, so that connections are queued while none is
    /// expected.
    listener: Option<(u16, Watched<TcpListener>)>,
}

enum LinkState {
    Closed,
    Opening(SocketAddr, Watched<TcpStream>),
    /// The controller may connect to this local port, at which this process listens.
    Listening(u16),
    Open(SocketAddr, Watched<TcpStream>),
}

impl Link {
    pub(super) fn keep_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    pub(super) fn new(id: LinkId, robot: Robot, clock: Clock, trouble: Trouble) -> Self {
        Self {
            id,
            robot,
            state: LinkState::Closed,
            outstanding: Outstanding::default(),
            unasked: None,
            waiting: false,
            clock,
            pace: Pace::new(clock, BusyPoll::Off),
            trouble,
            acknowledge: false,
            put_off: None,
            tap: None,
            port: 0,
            listener: None,
        }
    }

    pub(super) const fn id(&self) -> LinkId {
        self.id
    }

    /// Copies all traffic of the link's connections to `tap` from now on.
    pub(super) fn tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    fn stream(&self) -> io::Result<&Watched<TcpStream>> {
        match &self.state {
            LinkState::Open(_, stream) => Ok(stream),
            LinkState::Closed | LinkState::Opening(..) | LinkState::Listening(_) => {
                Err(io::ErrorKind::NotConnected.into())
            }
        }
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

/// Describes why a connection to the controller failed, and what to check.
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
        (self.outstanding, self.unasked, self.waiting) = (Outstanding::default(), None, false);
        (self.acknowledge, self.put_off) = (false, None);
        match os::connecting(to).map(Watched::new) {
            Ok(stream) => self.state = LinkState::Opening(to, stream),
            Err(error) => self.refused(to, &error),
        }
    }

    async fn opened(&mut self) -> bool {
        let (to, result) = match &self.state {
            LinkState::Closed | LinkState::Listening(_) => return false,
            LinkState::Open(..) => return true,
            LinkState::Opening(to, stream) => (*to, poll_fn(|_| stream.poll_io(Readiness::Writing, connected)).await),
        };
        match result {
            Ok(()) => {
                if let LinkState::Opening(to, stream) = std::mem::replace(&mut self.state, LinkState::Closed) {
                    self.state = LinkState::Open(to, stream);
                }
                if let Some(tap) = &mut self.tap {
                    tap.opened(self.clock.now(), self.port);
                }
            }
            Err(error) => self.refused(to, &error),
        }
        matches!(self.state, LinkState::Open(..))
    }

    fn listen(&mut self, port: u16) {
        self.port = port;
        (self.outstanding, self.unasked, self.waiting) = (Outstanding::default(), None, false);
        (self.acknowledge, self.put_off) = (false, None);
        self.state = LinkState::Listening(port);
    }

    async fn accepted(&mut self) -> Option<SocketAddr> {
        let LinkState::Listening(port) = self.state else { return None };
        let robot = self.robot.ip;
        let accepted = match self.listener_at(port) {
            Ok(listener) => {
                let first = poll_fn(|_| listener.poll_io(Readiness::Reading, TcpListener::accept)).await;
                first.map(|first| newest(listener, first, robot))
            }
            Err(error) => Err(error),
        };
        match accepted.and_then(|(stream, from)| ready(stream).map(|stream| (stream, from))) {
            Ok((stream, from)) => {
                self.state = LinkState::Open(from, stream);
                if let Some(tap) = &mut self.tap {
                    tap.opened(self.clock.now(), self.port);
                }
                Some(from)
            }
            Err(error) => {
                let at = SocketAddr::new(self.facing(), port);
                self.trouble.note(self.id, cannot_listen(at, &error));
                (self.state, self.listener) = (LinkState::Closed, None);
                None
            }
        }
    }

    fn ends(&self) -> Option<(IpAddr, IpAddr)> {
        let stream = self.stream().ok()?;
        Some((stream.local_addr().ok()?.ip(), stream.peer_addr().ok()?.ip()))
    }

    fn abort(&mut self) {
        match &self.state {
            // Without lingering the kernel resets the connection when it is closed, and discards queued data.
            LinkState::Open(at, stream) => {
                if let Err(error) = set_socket_linger(&**stream, Some(std::time::Duration::ZERO)) {
                    self.trouble.note(self.id, format!("cannot reset the connection to {at}: {error}"));
                }
            }
            LinkState::Opening(at, _) => {
                self.trouble.note(self.id, cannot_connect(*at, &io::ErrorKind::TimedOut.into()));
            }
            LinkState::Closed | LinkState::Listening(_) => {}
        }
        self.state = LinkState::Closed;
        self.tell_closed();
    }

    fn unacked(&mut self, now: Instant) -> Unacked {
        let LinkState::Open(_, stream) = &self.state else { return Unacked::default() };
        if !self.waiting && self.unasked.is_none_or(|since| now.since(since) < ASKED_AFTER) {
            return Unacked::default();
        }
        let unacked = os::unacknowledged(&**stream).map(|bytes| self.outstanding.waiting(bytes, now));
        let unacked = unacked.unwrap_or_default();
        self.waiting = unacked.bytes > 0;
        self.unasked = self.waiting.then(|| now - unacked.age);
        unacked
    }

    const PUTS_OFF: bool = true;

    fn put_off(&mut self, off: bool) {
        if off != self.put_off.is_some() {
            self.put_off = off.then_some(Instant::ZERO);
        }
    }
}

impl Link {
    /// Returns the local address that faces the robot, so that other networks cannot connect. Without a route to the
    /// robot, returns the address for all interfaces.
    fn facing(&self) -> IpAddr {
        let any: SocketAddr =
            if self.robot.ip.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
        // Nothing is sent. The kernel only reports the address from which it would send.
        let faces = UdpSocket::bind(any).and_then(|socket| {
            socket.connect((self.robot.ip, self.robot.address.port(FIRST)))?;
            socket.local_addr()
        });
        faces.map_or(any.ip(), |address| address.ip())
    }

    /// Returns the listening socket at this local port, and opens it if there is none.
    fn listener_at(&mut self, port: u16) -> io::Result<&Watched<TcpListener>> {
        let known = self.listener.as_ref().is_some_and(|(at, _)| *at == port);
        let listener = match self.listener.take().filter(|_| known) {
            Some(listener) => listener,
            None => {
                let listener = TcpListener::bind((self.facing(), port))?;
                listener.set_nonblocking(true)?;
                (port, Watched::new(listener))
            }
        };
        Ok(&self.listener.insert(listener).1)
    }
}

/// Returns the newest queued connection, preferably one of the robot, and closes the others. So a program does not
/// wait behind connections that send nothing.
fn newest(listener: &TcpListener, first: (TcpStream, SocketAddr), robot: IpAddr) -> (TcpStream, SocketAddr) {
    let is_robots = |from: &SocketAddr| from.ip().to_canonical() == robot.to_canonical();
    let mut newest = first;
    for _ in 1..AT_ONCE {
        let Ok(next) = listener.accept() else { break };
        if is_robots(&next.1) || !is_robots(&newest.1) {
            newest = next;
        }
    }
    newest
}

/// A port of the controller, to find the route to it. Any port serves for that.
const FIRST: u16 = 30_003;

/// Describes why the port for the controller cannot be opened, and what to do.
fn cannot_listen(at: SocketAddr, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "another program has this port: end it, or choose another by `program.expert.port`",
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for the administrator: choose another by `program.expert.port`"
        }
        _ if is_too_few_files(error) => TOO_FEW_FILES,
        _ => "check this machine's own network settings",
    };
    format!("cannot listen at {at}: {error}; {advice}")
}

/// Makes an accepted connection non-blocking, with the same options as a connection that this process opens.
fn ready(stream: TcpStream) -> io::Result<Watched<TcpStream>> {
    stream.set_nonblocking(true)?;
    set_tcp_nodelay(&stream, true)?;
    os::acknowledge_at_once(&stream)?;
    Ok(Watched::new(stream))
}

/// Checks that an attempt to connect by TCP has succeeded, and makes the kernel acknowledge the first received data at
/// once. Returns the error if the attempt failed.
fn connected(stream: &TcpStream) -> io::Result<()> {
    match stream.take_error()? {
        Some(error) => Err(error),
        // The controller's first packets must not wait for a delayed acknowledgement either.
        None => os::acknowledge_at_once(stream),
    }
}

impl embedded_io_async::ErrorType for Link {
    type Error = io::Error;
}

impl embedded_io_async::Read for Link {
    async fn read(&mut self, window: &mut [u8]) -> io::Result<usize> {
        let room = window.len();
        let Self { state: LinkState::Open(_, stream), put_off, clock, acknowledge, .. } = self else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if std::mem::take(acknowledge) {
            os::acknowledge_at_once(&**stream)?;
        }
        let mut read_now = |mut stream: &TcpStream| stream.read(window);
        let read = match put_off {
            None => poll_fn(|_| stream.poll_io(Readiness::Reading, &mut read_now)).await,
            Some(at) => loop {
                if !stream.is_named(Readiness::Ending) && clock.now() < *at {
                    reactor::sleep_until(*clock, *at + SLACK).await;
                }
                let read = read_now(stream);
                *at = clock.now() + PUT_OFF;
                match read {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => break read,
                }
            },
        };
        let arrived = self.clock.now();
        let count = match read {
            Ok(count) if count > 0 => count,
            ended => {
                self.tell_closed();
                return ended;
            }
        };
        self.acknowledge = self.put_off.is_none();
        match &mut self.put_off {
            // More data of the same size may be queued.
            Some(at) if count == room => *at = Instant::ZERO,
            Some(_) => {}
            None => {
                if count == room {
                    self.stream()?.again();
                }
                self.pace.arrived(arrived);
            }
        }
        if let Some(tap) = &mut self.tap {
            tap.received(arrived, window.get(..count).unwrap_or_default());
        }
        Ok(count)
    }
}

impl embedded_io_async::Write for Link {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let stream = self.stream()?;
        let written = match (&**stream).write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll_fn(|_| stream.poll_io(Readiness::Writing, |mut stream| stream.write(bytes))).await?
            }
            written => written?,
        };
        let now = self.clock.now();
        self.acknowledge = false;
        self.unasked = self.unasked.or(Some(now));
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
