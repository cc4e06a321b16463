//! Sharp GP2Y0E02B and GP2Y0E03, an optical distance sensor for 4…50 cm, at 0x40 of an I²C bus.
//!
//! It measures continuously, with a period of at most 40 ms. Registers, according to its application note: 0x5e and
//! 0x5f contain the distance, the upper eight and the lower four bits; 0x35 contains a shift n of 1 or 2. The distance
//! in cm is these twelve bits divided by 16 and by 2ⁿ. Implemented from the documents and tested only with a model of
//! the sensor.

use embedded_hal_async::delay::DelayNs;
use embedded_hal_async::i2c::I2c;
use outrigger_wire::sensor::{Reading, SampleValue};

use super::{Arrival, Clock, Counters, Sensor};

const ADDRESS: u8 = 0x40;
const SHIFT: u8 = 0x35;
const DISTANCE: u8 = 0x5e;
/// The period in which the distance sensor makes a new measurement \[ms\].
const PERIOD_MS: u32 = 40;
/// The smallest distance of the sensor's range \[m\]. For a nearer object the sensor still reports a number.
const NEAREST: f32 = 0.04;
/// The largest distance of the sensor's range \[m\]. For a farther object the sensor still reports a number.
const FARTHEST: f32 = 0.5;

/// Measures the distance to an object \[m\]; NaN outside the sensor's range.
///
/// Configure its source with a `max_age` of at least 0.15 s: a reading may be 40 ms old when it is read, and is read
/// every 40 ms.
#[derive(Debug)]
pub struct Gp2y0e03<'d, B, D> {
    bus: B,
    delay: D,
    clock: Clock,
    counters: &'d Counters,
    /// The distance of one count of the sensor \[m\]. `None` before the sensor has reported it, and after it did not
    /// answer, because it may have been replaced.
    step: Option<f32>,
    seq: u32,
}

impl<'d, B: I2c, D: DelayNs> Gp2y0e03<'d, B, D> {
    /// Creates the sensor on this bus, which must run at 400 kHz at most.
    pub const fn new(bus: B, delay: D, clock: Clock, counters: &'d Counters) -> Self {
        Self { bus, delay, clock, counters, step: None, seq: 0 }
    }

    /// Reads the newest distance \[m\]; `None` if the sensor does not answer or reports invalid data.
    async fn distance(&mut self) -> Option<f32> {
        let step = match self.step {
            Some(step) => step,
            None => self.read_step().await?,
        };
        let mut bytes = [0; 2];
        self.bus.write_read(ADDRESS, &[DISTANCE], &mut bytes).await.ok()?;
        self.step = Some(step);
        let [upper, lower] = bytes;
        let distance = f32::from(u16::from(upper) << 4 | u16::from(lower & 0xf)) * step;
        Some(if (NEAREST..=FARTHEST).contains(&distance) { distance } else { f32::NAN })
    }

    async fn read_step(&mut self) -> Option<f32> {
        let mut shift = [0];
        self.bus.write_read(ADDRESS, &[SHIFT], &mut shift).await.ok()?;
        match shift {
            [1] => Some(0.01 / 32.0),
            [2] => Some(0.01 / 64.0),
            _ => None,
        }
    }
}

impl<B: I2c, D: DelayNs> Sensor for Gp2y0e03<'_, B, D> {
    /// Returns the sensor's next reading. A failed attempt leaves a gap in the sequence numbers.
    async fn next(&mut self) -> Arrival {
        loop {
            self.delay.delay_ms(PERIOD_MS).await;
            let distance = self.distance().await;
            let at = (self.clock)();
            self.seq = self.seq.wrapping_add(1);
            if let Some(distance) = distance {
                self.counters.reading();
                return Arrival { reading: Reading { seq: self.seq, value: SampleValue::scalar(distance) }, at };
            }
            self.step = None;
            self.counters.fault();
        }
    }
}

#[cfg(test)]
mod tests {
    use embedded_hal_async::i2c::{ErrorKind, ErrorType, NoAcknowledgeSource, Operation};

    use super::super::test_doubles::{Pause, advance_to, after, clock, next, silence};
    use super::*;

    /// A bus with one sensor: the contents of its distance registers at each read, or that it does not answer.
    struct Bus<'s> {
        shift: u8,
        script: &'s [Option<[u8; 2]>],
    }

    impl ErrorType for Bus<'_> {
        type Error = ErrorKind;
    }

    impl I2c for Bus<'_> {
        async fn transaction(&mut self, address: u8, operations: &mut [Operation<'_>]) -> Result<(), ErrorKind> {
            assert_eq!(address, 0x40);
            let [Operation::Write([register]), Operation::Read(to)] = operations else {
                panic!("not a register read: {operations:?}")
            };
            advance_to(after(clock().as_micros() + 100));
            let Some((first, rest)) = self.script.split_first() else { return silence().await };
            match (register, first) {
                (_, None) => {
                    self.script = rest;
                    Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address))
                }
                (0x35, Some(_)) => {
                    to.copy_from_slice(&[self.shift]);
                    Ok(())
                }
                (0x5e, Some(distance)) => {
                    self.script = rest;
                    to.copy_from_slice(distance);
                    Ok(())
                }
                (other, _) => panic!("register {other:#x}"),
            }
        }
    }

    fn distance(sensor: &mut impl Sensor) -> Option<(u32, f32, Option<u64>)> {
        let arrival = next(sensor)?;
        Some((arrival.reading.seq, arrival.reading.value.first(), Some(arrival.at.as_micros())))
    }

    #[test]
    fn twelve_bits_and_a_shift_are_a_distance_stamped_after_the_transfer() {
        let counters = Counters::new();
        // 0x640 = 1600 counts: 25 cm at a shift of 2. The upper half of the low byte has no meaning.
        let bus = Bus { shift: 2, script: &[Some([0x64, 0xf0]), Some([0x64, 0x01])] };
        let mut sensor = Gp2y0e03::new(bus, Pause::at_zero(), clock, &counters);
        // The first time, the shift is read too.
        assert_eq!(distance(&mut sensor), Some((1, 0.25, Some(40_200))));
        assert_eq!(distance(&mut sensor), Some((2, 0.25 + 0.01 / 64.0, Some(80_300))));
        let bus = Bus { shift: 1, script: &[Some([0x32, 0x00])] };
        assert_eq!(
            next(&mut Gp2y0e03::new(bus, Pause::at_zero(), clock, &counters)).unwrap().reading.value.first(),
            0.25
        );
    }

    #[test]
    fn outside_its_range_it_has_no_distance() {
        let counters = Counters::new();
        let bus = Bus { shift: 2, script: &[Some([0x0f, 0x00]), Some([0xff, 0x0f])] };
        let mut sensor = Gp2y0e03::new(bus, Pause::at_zero(), clock, &counters);
        for _ in 0..2 {
            assert!(next(&mut sensor).unwrap().reading.value.first().is_nan());
        }
    }

    #[test]
    fn a_sensor_that_does_not_answer_is_asked_at_its_pace_and_missing_in_the_sequence() {
        let counters = Counters::new();
        let bus = Bus { shift: 2, script: &[Some([0x64, 0]), None, None, Some([0x64, 0])] };
        let mut sensor = Gp2y0e03::new(bus, Pause::at_zero(), clock, &counters);
        assert_eq!(next(&mut sensor).unwrap().reading.seq, 1);
        let arrival = next(&mut sensor).unwrap();
        assert_eq!(arrival.reading.seq, 4);
        assert!(arrival.at >= after(4 * 40_000));
        assert_eq!(counters.counted().faults, 2);
        // A sensor that answers again may be another one: with an invalid shift there is no distance.
        let bus = Bus { shift: 0x20, script: &[Some([0x64, 0]), None] };
        let mut sensor = Gp2y0e03::new(bus, Pause::at_zero(), clock, &counters);
        assert!(matches!(
            super::super::test_doubles::poll(core::pin::pin!(sensor.distance())),
            core::task::Poll::Ready(None)
        ));
    }
}
