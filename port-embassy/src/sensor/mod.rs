//! Sensors of a board. Each is a task that waits for readings, adds their time of arrival and passes them on.
//!
//! | sensor | readings come | over |
//! |---|---|---|
//! | [`Uart`] | as lines of text or as frames with a checksum | `embedded_io_async::Read` |
//! | [`Analog`] | from a converter, at a chosen rate | [`Adc`] |
//! | [`Gp2y0e03`] | from a distance sensor, as an example of a bus that is polled | `embedded_hal_async::i2c::I2c` |
//! | [`Ads131m06`] | from a six-channel bridge converter, as an example of a device that signals when it is ready | `embedded_hal_async::spi::SpiDevice` |
//!
//! A sensor only counts its failures and tries again at its own pace. The engine detects missing, old, frozen and
//! out-of-range readings by the readings alone.
//!
//! ```
//! # use embedded_hal_async::delay::DelayNs;
//! # use embedded_io_async::Read;
//! use outrigger_wire::sensor::SourceId;
//! use outrigger_wire::sensor::{Form, Scale};
//! use outrigger_embassy::sensor::{Counters, Uart, pump};
//!
//! // The body of a task: `port` is the board's buffered serial port, `delay` is `embassy_time::Delay`.
//! async fn distance(port: impl Read, delay: impl DelayNs, counters: &Counters, robot: outrigger_embassy::Handle<'_>) {
//!     let to_metres = Scale { factor: 0.001, offset: 0.0 };
//!     let sensor = Uart::new(port, Form::Lines, to_metres, delay, outrigger_embassy::now, counters);
//!     pump(sensor, robot, SourceId(0)).await
//! }
//! ```

mod ads131m06;
mod analog;
mod counters;
mod gp2y0e03;
#[cfg(test)]
mod test_doubles;
mod uart;

pub use ads131m06::Ads131m06;
pub use analog::{Adc, Analog, Calibration};
pub use counters::{Counted, Counters};
pub use gp2y0e03::Gp2y0e03;
pub use uart::Uart;

use embassy_futures::yield_now;
use outrigger_wire::sensor::{Reading, SourceId};
use outrigger_wire::time::Instant;

use crate::robot_mailbox::Handle;

/// The clock for time stamps of readings: on a board [`now`](crate::now), which is also the engine's.
pub type Clock = fn() -> Instant;

/// A sensor's reading in SI units, with its time of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Arrival {
    /// The sensor's reading in SI units.
    pub reading: Reading,
    /// The time directly after the transfer from the sensor that completed the reading, on the sensor's [`Clock`].
    pub at: Instant,
}

/// A sensor of a board, of any kind.
#[expect(async_fn_in_trait, reason = "sensors run in tasks of their own, on the executor that made them")]
pub trait Sensor {
    /// Waits for the next reading. Never fails: failures are counted, and the sensor tries again at its own pace.
    async fn next(&mut self) -> Arrival;
}

/// Passes every reading of `sensor` to the robot's task, as readings of `source`. It never waits for that task, which
/// gets only the newest of several readings that it has not taken yet.
pub async fn pump(mut sensor: impl Sensor, robot: Handle<'_>, source: SourceId) -> ! {
    loop {
        let Arrival { reading, at } = sensor.next().await;
        robot.sample(reading.sample(source, at));
        // A sensor that always has another reading must not prevent other tasks from running.
        yield_now().await;
    }
}

#[cfg(test)]
mod tests;
