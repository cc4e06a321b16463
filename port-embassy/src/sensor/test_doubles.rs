//! Test doubles for the sensors' tests: a clock that only advances on events, and ports and buses in memory.

extern crate std;

use core::cell::Cell;
use core::future::{Future, pending};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

use embedded_hal_async::delay::DelayNs;
use embedded_io_async::{ErrorKind, ErrorType, Read};
use outrigger_wire::time::{Duration, Instant};

use super::{Arrival, Sensor};

std::thread_local! {
    static NOW: Cell<Instant> = const { Cell::new(Instant::ZERO) };
    /// `true` if the script of a simulated sensor device has ended.
    static AT_END: Cell<bool> = const { Cell::new(false) };
}

/// Returns the time on the test's clock.
pub(super) fn clock() -> Instant {
    NOW.get()
}

/// Returns the instant this many µs after the test's beginning.
pub(super) fn after(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

/// Advances the test's clock to `at`, if the clock is earlier.
pub(super) fn advance_to(at: Instant) {
    NOW.set(NOW.get().max(at));
}

/// A delay that advances the test's clock instead of waiting.
#[derive(Debug)]
pub(super) struct Pause(());

impl Pause {
    /// Begins a test at time zero; its thread may have run another one before.
    pub(super) fn at_zero() -> Self {
        NOW.set(Instant::ZERO);
        AT_END.set(false);
        Self(())
    }
}

impl DelayNs for Pause {
    async fn delay_ns(&mut self, ns: u32) {
        NOW.set(NOW.get() + Duration::from_micros(u64::from(ns).div_ceil(1_000)));
    }
}

pub(super) fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns the sensor's next reading; `None` if the script of the simulated device has ended.
pub(super) fn next(sensor: &mut impl Sensor) -> Option<Arrival> {
    polled(sensor).1
}

/// Returns the sensor's next reading, and the number of polls until then.
pub(super) fn polled(sensor: &mut impl Sensor) -> (usize, Option<Arrival>) {
    let mut next = pin!(sensor.next());
    for polls in 1.. {
        if let Poll::Ready(arrival) = poll(next.as_mut()) {
            return (polls, Some(arrival));
        }
        if AT_END.take() {
            return (polls, None);
        }
    }
    unreachable!("no script is endless")
}

/// Waits forever, after the end of a simulated device's script.
pub(super) async fn silence<T>() -> T {
    AT_END.set(true);
    pending().await
}

/// An event of a serial port, with its time \[µs after the beginning\].
#[derive(Clone, Copy, Debug)]
pub(super) enum Happens<'s> {
    /// The bytes that can be read from the port from this time on \[µs\].
    Bytes(u64, &'s [u8]),
    /// An error that the port reports at this time \[µs\].
    Error(u64),
}

/// A simulated serial port that follows a script.
#[derive(Debug)]
pub(super) struct Port<'s>(pub(super) &'s [Happens<'s>]);

impl ErrorType for Port<'_> {
    type Error = ErrorKind;
}

impl Read for Port<'_> {
    async fn read(&mut self, window: &mut [u8]) -> Result<usize, ErrorKind> {
        let Some((first, rest)) = self.0.split_first() else { return silence().await };
        self.0 = rest;
        match *first {
            Happens::Bytes(at, bytes) => {
                advance_to(after(at));
                window[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
            Happens::Error(at) => {
                advance_to(after(at));
                Err(ErrorKind::Other)
            }
        }
    }
}
