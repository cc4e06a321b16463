//! Sockets and clock over `embassy-net`. Only this file names the stack's types.
//!
//! The stack's own timeout and keep-alive stay off. The engine judges silence and unacknowledged bytes by its own
//! configuration, and ends connections far earlier.

use core::future::{Future, pending, poll_fn};
use core::mem::MaybeUninit;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use embassy_futures::poll_once;
pub use embassy_net::Stack;
use embassy_net::tcp::{Error, State, TcpSocket};
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{IpAddress, IpEndpoint, StaticConfigV4};
use embassy_time::{Timer, with_timeout};
use embedded_io_async::{ErrorType, Read, Write};
use heapless::Vec;
use outrigger_core::drive::{self, Outstanding, Unacked};
use outrigger_core::engine::ur::LINKS;
use outrigger_core::engine::{Endpoint, LinkId};
use outrigger_wire::time::{Duration, Instant};

use crate::connection_fault::ConnectionFault;
use crate::memory::{Buffers, Split};
use crate::robot_mailbox::Shared;

/// Returns the time on the clock of the sample time stamps: `embassy-time`'s, in µs since boot.
#[must_use]
pub fn now() -> Instant {
    Instant::from_micros(embassy_time::Instant::now().as_micros())
}

/// The number of sockets: one for each link to the controller, and one to which a URScript program on the controller
/// connects.
const SOCKETS: usize = LINKS.len() + 1;

/// The TCP sockets for the links between this device and one controller, and the engine's clock.
#[derive(Debug)]
pub struct Connections<'d> {
    clock: EmbassyClock,
    links: Vec<Link<'d>, { SOCKETS }>,
}

impl<'d> Connections<'d> {
    /// Creates the TCP sockets for the links to a UR controller, in use for as long as this value lives: two of the
    /// stack's sockets, three with buffers for RTDE, and four with buffers for a program's connection.
    ///
    /// # Panics
    /// In the stack, if it has too few sockets left.
    pub(crate) fn new<const REALTIME: usize, const RTDE: usize, const REVERSE: usize>(
        stack: Stack<'d>,
        robot: Ipv4Addr,
        buffers: &'d mut Buffers<REALTIME, RTDE, REVERSE>,
        shared: &'d Shared,
    ) -> Self {
        let Split { primary, realtime, rtde, reverse } = buffers.split();
        // A socket's index is that of its link.
        let rtde = rtde.or_else(|| reverse.is_some().then(Default::default));
        // RTDE is behind text, because the stack sends in this order and a command must precede an acknowledgement.
        let buffers = [Some(primary), Some(realtime), rtde, reverse];
        let mut links = Vec::new();
        for (id, (receive, transmit)) in LINKS.into_iter().chain([LinkId::REVERSE]).zip(buffers.into_iter().flatten()) {
            // There is room for every link.
            let _ = links.push(Link::new(id, stack, robot, (receive, transmit), shared));
        }
        Self { clock: EmbassyClock, links }
    }

    /// Creates the socket of one link on which this device listens, so that the robot's controller connects to it.
    #[cfg(feature = "test-peer")]
    pub(crate) fn listening(
        id: LinkId,
        stack: Stack<'d>,
        buffers: (&'d mut [u8], &'d mut [u8]),
        shared: &'d Shared,
    ) -> Self {
        let mut links = Vec::new();
        let _ = links.push(Link::new(id, stack, Ipv4Addr::UNSPECIFIED, buffers, shared));
        Self { clock: EmbassyClock, links }
    }
}

impl<'d> drive::Net for Connections<'d> {
    type Clock = EmbassyClock;
    type Socket = Link<'d>;
    type Datagrams = ();

    fn split(&mut self) -> (&EmbassyClock, drive::Sockets<'_, Link<'d>, ()>) {
        (&self.clock, drive::Sockets { streams: &mut self.links, datagrams: None })
    }
}

impl Flush for Connections<'_> {
    async fn flush(&mut self, limit: Duration) {
        let limit = embassy_time::Duration::from_micros(limit.as_micros());
        let _ = with_timeout(limit, async {
            for link in &mut self.links {
                let _ = link.socket.flush().await;
            }
        })
        .await;
    }
}

/// A set of sockets whose resets must be sent before the robot's task ends.
pub trait Flush {
    /// Waits until the reset of every closed TCP connection is sent, at most for `limit`.
    fn flush(&mut self, limit: Duration) -> impl Future<Output = ()>;
}

/// The engine's clock, read from `embassy-time`.
#[derive(Clone, Copy, Debug)]
pub struct EmbassyClock;

impl drive::Clock for EmbassyClock {
    fn now(&self) -> Instant {
        now()
    }

    async fn sleep_until(&self, at: Instant) {
        // A timer is never ready at its first poll, even if its time has passed.
        if at <= now() {
            return;
        }
        // A duration is rounded up to ticks, so that no task is woken early.
        let ticks = embassy_time::Duration::try_from_micros(at.as_micros()).map(|since_boot| since_boot.as_ticks());
        match ticks {
            Some(ticks) => Timer::at(embassy_time::Instant::from_ticks(ticks)).await,
            None => pending().await,
        }
    }
}

/// A link to the controller: one connection after another to one of its ports, or from it to one of this device's
/// ports.
pub struct Link<'d> {
    id: LinkId,
    stack: Stack<'d>,
    robot: Ipv4Addr,
    socket: TcpSocket<'d>,
    opening: Opening,
    outstanding: Outstanding,
    shared: &'d Shared,
}

impl core::fmt::Debug for Link<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Link").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The state of an attempt to connect to the controller.
#[derive(Clone, Copy)]
enum Opening {
    None,
    /// A connection attempt is requested; the previous connection may still have a reset to send.
    Wanted(Endpoint),
    /// The stack is to listen on this TCP port of this device, so that the controller can connect.
    Listen(u16),
    /// The network stack has begun to connect to the controller, or to listen for it.
    Begun,
    Failed(ConnectionFault),
}

impl<'d> Link<'d> {
    fn new(
        id: LinkId,
        stack: Stack<'d>,
        robot: Ipv4Addr,
        (receive, transmit): (&'d mut [u8], &'d mut [u8]),
        shared: &'d Shared,
    ) -> Self {
        let mut socket = TcpSocket::new(stack, receive, transmit);
        // A command must not wait for the acknowledgement of the previous one.
        socket.set_nagle_enabled(false);
        Self { id, stack, robot, socket, opening: Opening::None, outstanding: Outstanding::default(), shared }
    }

    /// Aborts the previous connection and begins a new attempt to connect, or to listen.
    fn begin(&mut self, opening: Opening) {
        if !matches!(self.socket.state(), State::Closed | State::TimeWait) {
            self.socket.abort();
        }
        self.outstanding = Outstanding::default();
        self.opening = opening;
    }

    /// Waits for the end of the attempt to connect, whose state changes as the stack makes progress.
    async fn ended(&mut self) -> Result<(), ConnectionFault> {
        let result = match self.opening {
            Opening::Failed(trouble) => Err(trouble),
            Opening::None | Opening::Wanted(_) | Opening::Listen(_) | Opening::Begun => {
                poll_fn(|context| {
                    let result = self.result();
                    if result.is_none() {
                        // Registers the waker: the stack wakes it at every change of the socket's state.
                        let _ = pin!(self.socket.wait_write_ready()).poll(context);
                    }
                    result.map_or(Poll::Pending, Poll::Ready)
                })
                .await
            }
        };
        self.opening = Opening::None;
        match result {
            Ok(()) => self.shared.set_trouble(self.id, None),
            Err(trouble) => self.note(trouble),
        }
        result
    }

    /// Requests a connection from the stack, with another local port than the last one.
    fn connect(&mut self, endpoint: Endpoint) -> Opening {
        let reaches = |config: StaticConfigV4| config.address.contains_addr(&self.robot) || config.gateway.is_some();
        if !self.stack.config_v4().is_some_and(reaches) {
            return Opening::Failed(ConnectionFault::NoRoute);
        }
        let to = IpEndpoint::new(IpAddress::Ipv4(self.robot), endpoint.port);
        // One poll begins the connection; afterwards the socket's state shows its progress.
        match pin!(self.socket.connect(to)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending | Poll::Ready(Ok(())) => Opening::Begun,
            Poll::Ready(Err(_)) => Opening::Failed(ConnectionFault::NoRoute),
        }
    }

    /// Returns the result of an attempt to connect; `None` while it lasts.
    fn result(&self) -> Option<Result<(), ConnectionFault>> {
        match self.socket.state() {
            State::SynSent | State::SynReceived | State::Listen => None,
            State::Closed | State::TimeWait => Some(Err(ConnectionFault::Refused)),
            _ => Some(Ok(())),
        }
    }

    /// Makes the stack acknowledge the read bytes now instead of up to 10 ms later, because a controller with Nagle's
    /// algorithm delays its next state until then. The stack has no setter for that delay. Switching the keep-alive on
    /// and off sends one segment at once, or none if an answer with the acknowledgement is sent before the stack's
    /// turn.
    fn acknowledge(&mut self) {
        self.socket.set_keep_alive(Some(embassy_time::Duration::from_secs(1)));
        self.socket.set_keep_alive(None);
    }

    fn note(&self, trouble: ConnectionFault) {
        let trouble = if self.stack.is_link_up() { trouble } else { ConnectionFault::NoLink };
        self.shared.set_trouble(self.id, Some(trouble));
    }
}

impl drive::Socket for Link<'_> {
    fn open(&mut self, endpoint: Endpoint) {
        self.begin(Opening::Wanted(endpoint));
    }

    async fn opened(&mut self) -> bool {
        if let Opening::Wanted(endpoint) = self.opening {
            // Connecting would discard a reset that the socket still has to send.
            let _ = self.socket.flush().await;
            self.opening = self.connect(endpoint);
        }
        self.ended().await.is_ok()
    }

    fn listen(&mut self, port: u16) {
        self.begin(Opening::Listen(port));
    }

    async fn accepted(&mut self) -> Option<SocketAddr> {
        if let Opening::Listen(port) = self.opening {
            // Listening would discard a reset that the socket still has to send.
            let _ = self.socket.flush().await;
            // One poll begins to listen; afterwards the socket's state shows its progress.
            self.opening = match poll_once(self.socket.accept(port)) {
                Poll::Ready(Err(_)) => Opening::Failed(ConnectionFault::NoRoute),
                Poll::Pending | Poll::Ready(Ok(())) => Opening::Begun,
            };
        }
        self.ended().await.ok()?;
        self.socket.remote_endpoint().map(SocketAddr::from)
    }

    fn ends(&self) -> Option<(IpAddr, IpAddr)> {
        let of = |endpoint: IpEndpoint| SocketAddr::from(endpoint).ip();
        Some((of(self.socket.local_endpoint()?), of(self.socket.remote_endpoint()?)))
    }

    fn abort(&mut self) {
        // The engine knows the reason for closing an open connection; only the stack knows that there is no link.
        if !matches!(self.opening, Opening::None) || !self.stack.is_link_up() {
            self.note(ConnectionFault::NoAnswer);
        }
        self.opening = Opening::None;
        self.socket.abort();
    }

    fn unacked(&mut self, now: Instant) -> Unacked {
        self.outstanding.waiting(self.socket.send_queue(), now)
    }
}

impl ErrorType for Link<'_> {
    type Error = Error;
}

impl Read for Link<'_> {
    async fn read(&mut self, window: &mut [u8]) -> Result<usize, Error> {
        // The stack returns bytes when the future is polled and ready, so dropping it before loses nothing.
        let read = self.socket.read(window).await;
        match read {
            Ok(0) => {
                self.note(ConnectionFault::Closed);
                self.socket.close();
            }
            Ok(_) => self.acknowledge(),
            Err(Error::ConnectionReset) => self.note(ConnectionFault::Reset),
        }
        read
    }
}

impl Write for Link<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let written = self.socket.write(bytes).await?;
        self.outstanding.wrote(written, now());
        Ok(written)
    }

    async fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// The memory in which the stack stores the sender and length of waiting datagrams, in each direction.
pub(crate) type Metadata = [[PacketMetadata; DATAGRAMS]; 2];

/// The number of datagrams of any length that may wait in each direction.
const DATAGRAMS: usize = 16;

/// The UDP socket and the clock for a KRC.
pub struct Flow<'d> {
    clock: EmbassyClock,
    socket: Datagrams<'d>,
}

impl core::fmt::Debug for Flow<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Flow").finish_non_exhaustive()
    }
}

impl<'d> Flow<'d> {
    /// Creates the UDP socket for a KRC, one of the stack's sockets, in use for as long as this value lives.
    ///
    /// # Panics
    /// In the stack, if it has none left.
    pub(crate) fn new(
        stack: Stack<'d>,
        receive: &'d mut [u8],
        transmit: &'d mut [u8],
        metadata: &'d mut MaybeUninit<Metadata>,
    ) -> Self {
        let [received, sent] = metadata.write([[PacketMetadata::EMPTY; DATAGRAMS]; 2]);
        Self { clock: EmbassyClock, socket: Datagrams(UdpSocket::new(stack, received, receive, sent, transmit)) }
    }
}

impl<'d> drive::Net for Flow<'d> {
    type Clock = EmbassyClock;
    type Socket = drive::NoSocket;
    type Datagrams = Datagrams<'d>;

    fn split(&mut self) -> (&EmbassyClock, drive::Sockets<'_, drive::NoSocket, Datagrams<'d>>) {
        (&self.clock, drive::Sockets { streams: &mut [], datagrams: Some(&mut self.socket) })
    }
}

impl Flush for Flow<'_> {
    async fn flush(&mut self, _: Duration) {}
}

/// An open UDP port of the stack, over which the engine exchanges datagrams with a KRC.
pub struct Datagrams<'d>(UdpSocket<'d>);

impl drive::Datagrams for Datagrams<'_> {
    fn listen(&mut self, port: u16) -> bool {
        // A bound socket is used again.
        self.0.is_open() || self.0.bind(port).is_ok()
    }

    async fn receive(&mut self, window: &mut [u8]) -> (usize, SocketAddr) {
        self.0
            .recv_from_with(|bytes, about| {
                let length = bytes.len().min(window.len());
                window.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                (length, about.endpoint.into())
            })
            .await
    }

    /// Sends a datagram to the controller. A datagram without room or route is dropped, as on any network.
    fn send(&mut self, bytes: &[u8], to: SocketAddr) {
        if let SocketAddr::V4(to) = to {
            let _ = poll_once(self.0.send_to(bytes, IpEndpoint::from(to)));
        }
    }
}
