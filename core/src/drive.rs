//! What a port supplies to be driven: sockets and a clock (feature `async`).

use core::future::Future;

use embedded_io_async::{Read, Write};

use crate::session::{Endpoint, LinkId};
use crate::time::{Duration, Instant};

/// The port's monotonic clock.
pub trait Clock {
    /// Now, in µs since an epoch that stays the same for the life of the engine.
    fn now(&self) -> Instant;

    /// Resolves at `at`, or as soon after it as the platform allows; at once where `at` has passed.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()>;
}

/// What waits for the peer's acknowledgement on one connection.
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

    /// Resets the connection, or gives up opening it; what is queued is dropped.
    fn abort(&mut self);

    /// What the peer has not acknowledged at `now`.
    fn unacked(&mut self, now: Instant) -> Unacked;
}

/// What a port supplies: a clock, and one socket per link.
pub trait Net {
    /// The clock.
    type Clock: Clock;
    /// The sockets.
    type Socket: Socket;

    /// Both, borrowed apart. The sockets stand in the order of [`LinkId::ALL`].
    fn split(&mut self) -> (&Self::Clock, &mut [Self::Socket; LinkId::COUNT]);
}
