//! The interface by which a port provides its clock and its sockets to the loop of the engine.

use core::future::{Future, pending};
use core::net::{IpAddr, SocketAddr};

use embedded_io_async::{Read, Write};

use crate::engine::Endpoint;
use outrigger_wire::time::{Duration, Instant};

/// The monotonic clock that a port provides.
pub trait Clock {
    /// Returns the present time, in µs since an instant that stays the same for the life of the engine.
    fn now(&self) -> Instant;

    /// Resolves at the time `at`, or as soon after it as the platform allows; at once if `at` has passed.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()>;
}

/// The written bytes of one connection that the peer has not acknowledged: their number and age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unacked {
    /// The number of bytes that were written and are not acknowledged; 0 if the platform does not report it.
    pub bytes: u32,
    /// The time since the oldest of the unacknowledged bytes was written.
    pub age: Duration,
}

/// A TCP socket, used for one connection after another.
///
/// `read` must lose nothing when its future is dropped before it is ready: the loop drops it at every other input.
pub trait Socket: Read + Write {
    /// Begins to connect to `endpoint` of the robot and returns at once.
    fn open(&mut self, endpoint: Endpoint);

    /// Resolves when the attempt to connect begun by [`open`](Self::open) has ended: `true` if the connection is
    /// established. Dropping the future loses nothing.
    fn opened(&mut self) -> impl Future<Output = bool>;

    /// Starts to wait for one connection to our `port` and returns at once.
    fn listen(&mut self, port: u16) {
        let _ = port;
    }

    /// Resolves when a connection is made, with the address of the peer; `None` if listening failed. Dropping the
    /// future loses nothing.
    fn accepted(&mut self) -> impl Future<Output = Option<SocketAddr>> {
        async { None }
    }

    /// Returns the two IP addresses of the connection: our own and the controller's; `None` if the platform does not
    /// report them.
    fn ends(&self) -> Option<(IpAddr, IpAddr)> {
        None
    }

    /// Resets the connection, or stops opening it or listening; queued data is dropped.
    fn abort(&mut self);

    /// Returns number and age of the written bytes that the peer has not acknowledged at `now`.
    fn unacked(&mut self, now: Instant) -> Unacked;

    /// `true` if the platform can delay reading from a socket: [`put_off`](Self::put_off) has an effect.
    const PUTS_OFF: bool = false;

    /// Sets whether data of this connection may be read some 50 ms late, because the states of the control cycle arrive
    /// on another connection. The end of this connection must still be reported in time.
    fn put_off(&mut self, off: bool) {
        let _ = off;
    }
}

/// A UDP socket of a port, for datagrams of the controller.
pub trait Datagrams {
    /// Starts to receive datagrams at our `port`; returns `false` if that fails.
    fn listen(&mut self, port: u16) -> bool;

    /// Resolves with the next datagram, written to `window` as far as it fits: its length, and its sender. Dropping the
    /// future loses nothing.
    fn receive(&mut self, window: &mut [u8]) -> impl Future<Output = (usize, SocketAddr)>;

    /// Sends a datagram, at once or never: one without room is lost, as on any network.
    fn send(&mut self, bytes: &[u8], to: SocketAddr);
}

/// The socket type of a port without datagrams.
impl Datagrams for () {
    fn listen(&mut self, _: u16) -> bool {
        false
    }

    fn receive(&mut self, _: &mut [u8]) -> impl Future<Output = (usize, SocketAddr)> {
        pending()
    }

    fn send(&mut self, _: &[u8], _: SocketAddr) {}
}

/// A socket type without values, for a controller without connections.
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

/// The sockets of a controller's links: those of its connections, in the order of the links' numbers, then the datagram
/// socket.
#[derive(Debug)]
pub struct Sockets<'s, S, D> {
    /// The sockets of the connections, in the order of the links' numbers.
    pub streams: &'s mut [S],
    /// The socket of the datagram link, which follows the connections, if the controller uses datagrams.
    pub datagrams: Option<&'s mut D>,
}

/// The clock and the sockets that a port provides to the loop.
pub trait Net {
    /// The type of the port's monotonic clock.
    type Clock: Clock;
    /// The type of the port's TCP sockets.
    type Socket: Socket;
    /// The type of the port's UDP socket; `()` without one.
    type Datagrams: Datagrams;

    /// Returns the port's clock and sockets, borrowed separately.
    fn split(&mut self) -> (&Self::Clock, Sockets<'_, Self::Socket, Self::Datagrams>);
}
