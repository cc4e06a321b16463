//! The sensors of port-embassy, with ports and buses that may return anything.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use embedded_hal::digital;
use embedded_hal_async::delay::DelayNs;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::{i2c, spi};
use embedded_io_async::{ErrorKind, ErrorType, Read};
use outrigger_core::bridges::{BridgeRate, Bridges};
use outrigger_embassy::sensor::{Adc, Ads131m06, Analog, Calibration, Counters, Gp2y0e03, Sensor, Uart};
use outrigger_wire::sensor::{Form, Scale};
use outrigger_wire::time::Instant;

use crate::{any, any_numbers, used};

#[inline(never)]
pub fn probe() {
    static COUNTERS: Counters = Counters::new();
    let delay = || Anything;
    let scale = Scale { factor: any(0.001), offset: any(0.0) };
    next(Uart::new(Anything, any(Form::Lines), scale, delay(), clock, &COUNTERS));
    if let Some(calibration) = Calibration::through(any((745, 0.0)), any((3723, 0.5)), any(670), any(3890)) {
        next(Analog::new(Anything, calibration, any(500), delay(), clock, &COUNTERS));
    }
    next(Gp2y0e03::new(Anything, delay(), clock, &COUNTERS));
    let bridges = Bridges { matrix: any([any_numbers(); 6]), unloaded: any_numbers() };
    next(Ads131m06::new(Anything, Anything, any(BridgeRate::Hz500), bridges, delay(), clock, &COUNTERS));
    used(COUNTERS.counted());
}

/// Polls the sensor once: up to a reading, or to the point where the task would yield. A second poll would do the same,
/// except for the compiler's own check that no finished future is polled, which executors never do.
#[inline(never)]
fn next(sensor: impl Sensor) {
    let mut sensor = any(sensor);
    if let Poll::Ready(arrival) = pin!(sensor.next()).poll(&mut Context::from_waker(Waker::noop())) {
        used(arrival);
    }
}

fn clock() -> Instant {
    any(Instant::from_micros(9))
}

/// Fills a buffer with unknown bytes, one by one. If the buffer itself were passed to the opaque function, the
/// optimiser would have to assume that the surrounding future was changed, too.
fn fill(buffer: &mut [u8]) {
    for byte in buffer {
        *byte = any(*byte);
    }
}

/// A port, a bus, a pin, a converter and a timer; each accepts any call, and fails or not.
struct Anything;

impl ErrorType for Anything {
    type Error = ErrorKind;
}

impl Read for Anything {
    async fn read(&mut self, window: &mut [u8]) -> Result<usize, ErrorKind> {
        fill(window);
        any(Ok(7))
    }
}

impl DelayNs for Anything {
    async fn delay_ns(&mut self, ns: u32) {
        used(ns);
    }
}

impl Adc for Anything {
    type Error = ();

    async fn convert(&mut self) -> Result<i32, ()> {
        any(Ok(7))
    }
}

impl i2c::ErrorType for Anything {
    type Error = i2c::ErrorKind;
}

impl i2c::I2c for Anything {
    async fn transaction(&mut self, address: u8, parts: &mut [i2c::Operation<'_>]) -> Result<(), i2c::ErrorKind> {
        used(address);
        for part in parts {
            match part {
                i2c::Operation::Read(buffer) => fill(buffer),
                i2c::Operation::Write(bytes) => bytes.iter().for_each(|byte| used(*byte)),
            }
        }
        any(Ok(()))
    }
}

impl spi::ErrorType for Anything {
    type Error = spi::ErrorKind;
}

impl spi::SpiDevice for Anything {
    async fn transaction(&mut self, parts: &mut [spi::Operation<'_, u8>]) -> Result<(), spi::ErrorKind> {
        for part in parts {
            match part {
                spi::Operation::Read(buffer) | spi::Operation::TransferInPlace(buffer) => fill(buffer),
                spi::Operation::Transfer(buffer, _) => fill(buffer),
                spi::Operation::Write(bytes) => bytes.iter().for_each(|byte| used(*byte)),
                spi::Operation::DelayNs(ns) => used(*ns),
            }
        }
        any(Ok(()))
    }
}

impl digital::ErrorType for Anything {
    type Error = digital::ErrorKind;
}

impl Wait for Anything {
    async fn wait_for_high(&mut self) -> Result<(), digital::ErrorKind> {
        any(Ok(()))
    }
    async fn wait_for_low(&mut self) -> Result<(), digital::ErrorKind> {
        any(Ok(()))
    }
    async fn wait_for_rising_edge(&mut self) -> Result<(), digital::ErrorKind> {
        any(Ok(()))
    }
    async fn wait_for_falling_edge(&mut self) -> Result<(), digital::ErrorKind> {
        any(Ok(()))
    }
    async fn wait_for_any_edge(&mut self) -> Result<(), digital::ErrorKind> {
        any(Ok(()))
    }
}
