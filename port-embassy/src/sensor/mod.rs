//! Sensors of a board: each is a task that waits for readings, stamps them at their arrival and hands them over.
//!
//! | sensor | readings come | over |
//! |---|---|---|
//! | [`Uart`] | as lines of text or as frames with a checksum | `embedded_io_async::Read` |
//! | [`Analog`] | from a converter, at a rate of one's own | [`Adc`] |
//! | [`Gp2y0e03`] | from a distance sensor, as an example of a bus that is asked | `embedded_hal_async::i2c::I2c` |
//! | [`Ads131m06`] | from a six-channel bridge converter, as an example of a device that tells when it is ready | `embedded_hal_async::spi::SpiDevice` |
//!
//! A sensor that fails does nothing about it but count and try again at its own pace: what is missing, too old, out of
//! range or frozen is the engine's to judge, and it knows by the readings alone.
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
#[cfg(test)]
mod doubles;
mod gp2y0e03;
mod uart;

pub use ads131m06::Ads131m06;
pub use analog::{Adc, Analog, Calibration};
pub use counters::{Counted, Counters};
pub use gp2y0e03::Gp2y0e03;
pub use uart::Uart;

use embassy_futures::yield_now;
use outrigger_wire::sensor::{Reading, SourceId};
use outrigger_wire::time::Instant;

use crate::handle::Handle;

/// The clock that readings are stamped with: on a board [`now`](crate::now), as the engine's clock does.
pub type Clock = fn() -> Instant;

/// A reading in SI units, and when it arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Arrival {
    /// The reading.
    pub reading: Reading,
    /// Right after the transfer that completed it.
    pub at: Instant,
}

/// Something that measures.
#[expect(async_fn_in_trait, reason = "sensors run in tasks of their own, on the executor that made them")]
pub trait Sensor {
    /// Waits for the next reading. Fails never: what goes wrong is counted and tried again, at the sensor's own pace.
    async fn next(&mut self) -> Arrival;
}

/// Hands every reading of `sensor` to the robot's task, as those of `source`. It never waits for that task: of several
/// readings that it has not taken yet it will see the newest.
pub async fn pump(mut sensor: impl Sensor, robot: Handle<'_>, source: SourceId) -> ! {
    loop {
        let Arrival { reading, at } = sensor.next().await;
        robot.sample(reading.sample(source, at));
        // A sensor that always has one more must not keep other tasks from running.
        yield_now().await;
    }
}

#[cfg(test)]
mod tests;
