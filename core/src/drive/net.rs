//! The interface of a port: its clock and its sockets.

use core::future::{Future, pending};
use core::net::{IpAddr, SocketAddr};

use embedded_io_async::{Read, Write};

use crate::engine::Endpoint;
use outrigger_wire::time::{Duration, Instant};

/// The port's monotonic clock.
pub trait Clock {
    /// Now, in µs since an epoch that stays the same for the life of the engine.
    fn now(&self) -> Instant;

    /// Resolves at `at`, or as soon after it as the platform allows; at once where `at` has passed.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()>;
}

/// The bytes of one connection that the peer has not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unacked {
    /// Bytes written and not acknowledged; 0 where the platform cannot tell.
    pub bytes: u32,
    /// Time since the oldest of them was written.
    pub age: Duration,
}

/// One TCP socket, used for one connection after another.
///
/// `read` must lose nothing when its future is dropped before it is ready: the loop drops it at every other input.
pub trait Socket: Read + Write {
    /// Begins to connect to `endpoint` of the robot and returns at once.
    fn open(&mut self, endpoint: Endpoint);

    /// Resolves when the attempt has ended: `true` where the connection stands. Dropping the future loses nothing.
    fn opened(&mut self) -> impl Future<Output = bool>;

    /// Begins to wait for one connection to our `port` and returns at once.
    fn listen(&mut self, port: u16) {
        let _ = port;
    }

    /// Resolves when a connection has come, with who made it; `None` where nobody can listen there. Dropping the future
    /// loses nothing.
    fn accepted(&mut self) -> impl Future<Output = Option<SocketAddr>> {
        async { None }
    }

    /// The two ends of the connection that stands: our address and the controller's.
    fn ends(&self) -> Option<(IpAddr, IpAddr)> {
        None
    }

    /// Resets the connection, gives up opening it or listening; what is queued is dropped.
    fn abort(&mut self);

    /// Returns the bytes that the peer has not acknowledged at `now`.
    fn unacked(&mut self, now: Instant) -> Unacked;

    /// `true` where [`put_off`](Self::put_off) has an effect.
    const PUTS_OFF: bool = false;

    /// The states of the cycle come by another connection: what this one brings may be read some 50 ms late. Its end may not.
    fn put_off(&mut self, off: bool) {
        let _ = off;
    }
}

/// One UDP socket.
pub trait Datagrams {
    /// Receives at our `port` from now on; `false` where that cannot be.
    fn listen(&mut self, port: u16) -> bool;

    /// Resolves with the next datagram, written to `window` as far as it fits: its length, and who sent it. Dropping the
    /// future loses nothing.
    fn receive(&mut self, window: &mut [u8]) -> impl Future<Output = (usize, SocketAddr)>;

    /// Sends one, at once or never: what finds no room is lost, as on any network.
    fn send(&mut self, bytes: &[u8], to: SocketAddr);
}

/// No datagrams.
impl Datagrams for () {
    fn listen(&mut self, _: u16) -> bool {
        false
    }

    fn receive(&mut self, _: &mut [u8]) -> impl Future<Output = (usize, SocketAddr)> {
        pending()
    }

    fn send(&mut self, _: &[u8], _: SocketAddr) {}
}

/// No socket: for a peer without connections.
#[derive(Debug)]
pub enum NoSocket {}

impl embedded_io_async::ErrorType for NoSocket {
    type Error = core::convert::Infallible;
}

impl Read for NoSocket {
    async fn read(&mut self, _: &mut [u8]) -> Result<usize, Self::Error> {
        match *self {}
    }
}

impl Write for NoSocket {
    async fn write(&mut self, _: &[u8]) -> Result<usize, Self::Error> {
        match *self {}
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        match *self {}
    }
}

impl Socket for NoSocket {
    fn open(&mut self, _: Endpoint) {
        match *self {}
    }

    async fn opened(&mut self) -> bool {
        match *self {}
    }

    fn abort(&mut self) {
        match *self {}
    }

    fn unacked(&mut self, _: Instant) -> Unacked {
        match *self {}
    }
}

/// The sockets of a peer's links: those of its connections, in the order of the links' numbers, then the flow of datagrams.
#[derive(Debug)]
pub struct Sockets<'s, S, D> {
    /// One for each connection.
    pub streams: &'s mut [S],
    /// For the link behind them, where the peer has one.
    pub datagrams: Option<&'s mut D>,
}

/// The clock and the sockets of a port.
pub trait Net {
    /// The clock.
    type Clock: Clock;
    /// A socket for connections.
    type Socket: Socket;
    /// The socket for datagrams; `()` where there is none.
    type Datagrams: Datagrams;

    /// All of it, borrowed apart.
    fn split(&mut self) -> (&Self::Clock, Sockets<'_, Self::Socket, Self::Datagrams>);
}
