//! The loop of every port, with sockets and a clock in memory that return anything, to measure its size. It proves
//! nothing, because an `async fn` panics if it is polled after its end, and no optimiser knows that this never happens.
//! Any other panic in it is found by `.ci/run budgets`, in the firmware of every board.

use core::future::{Future, pending};
use core::pin::pin;
use core::task::{Context, Waker};

use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use outrigger_core::drive::{self, Application, Outstanding, Unacked};
use outrigger_core::engine::ur::{Ur, UrEngine, UrEvent};
use outrigger_core::engine::{Endpoint, Event, Input};
use outrigger_core::law::Law;
use outrigger_wire::time::{Duration, Instant};

use crate::session::any_input;
use crate::{any, any_bytes, used};

#[inline(never)]
pub(crate) fn run<L: Law<6>>(engine: &mut UrEngine<'_, L>) {
    let sockets = core::array::from_fn(|_| Wire { outstanding: Outstanding::default() });
    let (mut net, mut desk) = (Net { clock: Clock, sockets }, Desk);
    let mut task = pin!(drive::drive(&mut net, engine, &mut desk, any(Duration::from_millis(20))));
    while any(true) {
        if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            break;
        }
    }
}

struct Net {
    clock: Clock,
    /// The sockets of the primary and the real-time link, and of RTDE.
    sockets: [Wire; if cfg!(feature = "rtde") { 3 } else { 2 }],
}

impl drive::Net for Net {
    type Clock = Clock;
    type Socket = Wire;
    type Datagrams = ();

    fn split(&mut self) -> (&Clock, drive::Sockets<'_, Wire, ()>) {
        (&self.clock, drive::Sockets { streams: &mut self.sockets, datagrams: None })
    }
}

struct Clock;

impl drive::Clock for Clock {
    fn now(&self) -> Instant {
        any(Instant::from_micros(1))
    }

    async fn sleep_until(&self, at: Instant) {
        if any(at) > self.now() {
            pending().await
        }
    }
}

struct Wire {
    outstanding: Outstanding,
}

impl ErrorType for Wire {
    type Error = ErrorKind;
}

impl Read for Wire {
    async fn read(&mut self, window: &mut [u8]) -> Result<usize, ErrorKind> {
        window.iter_mut().zip(any_bytes()).for_each(|(to, from)| *to = *from);
        any(Ok(100))
    }
}

impl Write for Wire {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        used(bytes);
        // Zero, or more than was offered, is an error of a port, and panics in the trait's own `write_all`.
        let written = any(bytes.len()).min(bytes.len());
        self.outstanding.wrote(written, any(Instant::from_micros(1)));
        if written == 0 { Err(ErrorKind::TimedOut) } else { Ok(written) }
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl drive::Socket for Wire {
    fn open(&mut self, endpoint: Endpoint) {
        used(endpoint);
    }

    async fn opened(&mut self) -> bool {
        any(true)
    }

    fn abort(&mut self) {
        self.outstanding = Outstanding::default();
    }

    fn unacked(&mut self, now: Instant) -> Unacked {
        self.outstanding.waiting(any(10), now)
    }
}

struct Desk;

impl<'m, L: Law<6>> Application<6, Ur<'m>, L> for Desk {
    async fn next(&mut self) -> Input {
        any_input(any(Instant::from_micros(1)))
    }

    fn event(&mut self, event: Event<UrEvent>) {
        used(event);
    }
}
