//! A sensor whose output is a voltage or a current.

use embedded_hal_async::delay::DelayNs;
use outrigger_wire::sensor::{Reading, SampleValue};

use super::{Arrival, Clock, Counters, Sensor};

/// A channel of an analog-to-digital converter. (`embedded-hal` has no trait for it: a board wraps its own in a line
/// or two.)
#[expect(async_fn_in_trait, reason = "as for `Sensor`")]
pub trait Adc {
    /// The error type of an analog-to-digital converter.
    type Error;

    /// Makes one conversion \[counts\]; the result can be negative if the converter measures differences.
    ///
    /// # Errors
    /// The error of the converter.
    async fn convert(&mut self) -> Result<i32, Self::Error>;
}

/// A conversion from counts to SI units: `gain · counts + offset`, if the wire is intact.
///
/// Sensors leave room at both ends of their range (4…20 mA, 0.5…4.5 V) so that a broken wire or a short can be
/// detected. Outside `lowest…highest` the value is NaN, which the engine rejects as out of range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Calibration {
    /// The reading's increase per count of the converter \[SI unit\].
    pub gain: f32,
    /// The reading at zero counts of the converter \[SI unit\].
    pub offset: f32,
    /// The least count of the analog-to-digital converter that the sensor can cause with an intact wire; the value is
    /// NaN below it.
    pub lowest: i32,
    /// The greatest count of the analog-to-digital converter that the sensor can cause with an intact wire; the value
    /// is NaN above it.
    pub highest: i32,
}

impl Calibration {
    /// Returns the calibration by the line through two measured points (counts, value in SI units), for counts of
    /// `lowest…highest`. `None` if both points have the same counts.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "converters have at most 24 bits")]
    pub fn through(a: (i32, f32), b: (i32, f32), lowest: i32, highest: i32) -> Option<Self> {
        let counts = b.0.checked_sub(a.0).filter(|counts| *counts != 0)?;
        let gain = (b.1 - a.1) / counts as f32;
        Some(Self { gain, offset: a.1 - gain * a.0 as f32, lowest, highest })
    }

    /// Returns the calibrated value at `counts`, in the SI unit; NaN if the wire is not intact.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "converters have at most 24 bits")]
    pub fn value(&self, counts: i32) -> f32 {
        if (self.lowest..=self.highest).contains(&counts) { self.gain * counts as f32 + self.offset } else { f32::NAN }
    }
}

/// An analog sensor whose converter is read periodically, at a chosen rate.
#[derive(Debug)]
pub struct Analog<'d, A, D> {
    adc: A,
    calibration: Calibration,
    period_us: u32,
    delay: D,
    clock: Clock,
    counters: &'d Counters,
    seq: u32,
}

impl<'d, A: Adc, D: DelayNs> Analog<'d, A, D> {
    /// Creates a sensor at `adc` that is read every `period_us` µs (plus the time of a conversion).
    pub const fn new(
        adc: A,
        calibration: Calibration,
        period_us: u32,
        delay: D,
        clock: Clock,
        counters: &'d Counters,
    ) -> Self {
        Self { adc, calibration, period_us, delay, clock, counters, seq: 0 }
    }
}

impl<A: Adc, D: DelayNs> Sensor for Analog<'_, A, D> {
    /// Returns the sensor's next reading. A failed conversion leaves a gap in the sequence numbers.
    async fn next(&mut self) -> Arrival {
        loop {
            self.delay.delay_us(self.period_us).await;
            let converted = self.adc.convert().await;
            let at = (self.clock)();
            self.seq = self.seq.wrapping_add(1);
            if let Ok(counts) = converted {
                self.counters.reading();
                let value = SampleValue::scalar(self.calibration.value(counts));
                return Arrival { reading: Reading { seq: self.seq, value }, at };
            }
            self.counters.fault();
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::{SourceConfig, SourceMonitor};
    use outrigger_core::robot::Reason;
    use outrigger_wire::sensor::SourceId;

    use super::super::test_doubles::{Pause, advance_to, after, clock, next, silence};
    use super::*;

    /// A simulated converter that returns these conversions in turn, each after 20 µs; `None` is a failed one.
    struct Script<'s>(&'s [Option<i32>]);

    impl Adc for Script<'_> {
        type Error = ();

        async fn convert(&mut self) -> Result<i32, ()> {
            let Some((first, rest)) = self.0.split_first() else { return silence().await };
            self.0 = rest;
            advance_to(after(clock().as_micros() + 20));
            first.ok_or(())
        }
    }

    /// Returns the calibration of a laser sensor: 4…20 mA for 0…0.5 m, at 150 Ω and 12 bits of 3.3 V: 745 and 3 723
    /// counts.
    fn laser() -> Calibration {
        Calibration::through((745, 0.0), (3723, 0.5), 670, 3890).unwrap()
    }

    #[test]
    fn two_measured_points_give_gain_and_offset() {
        let calibration = laser();
        assert!(calibration.value(745).abs() < 1e-6);
        assert!((calibration.value(2234) - 0.25).abs() < 1e-6);
        assert!((calibration.value(3723) - 0.5).abs() < 1e-6);
        assert_eq!(Calibration::through((7, 0.0), (7, 1.0), 0, 9), None);
        assert_eq!(Calibration::through((i32::MIN, 0.0), (i32::MAX, 1.0), 0, 9), None);
    }

    #[test]
    fn an_open_wire_and_a_short_are_out_of_range_for_the_engine() {
        let config = SourceConfig::new(SourceId(1), 1, -0.1, 0.6);
        for (counts, verdict) in [
            (0, Some(Reason::SourceOutOfRange)),
            (669, Some(Reason::SourceOutOfRange)),
            (745, None),
            (4095, Some(Reason::SourceOutOfRange)),
        ] {
            let counters = Counters::new();
            let script = [Some(counts)];
            let mut sensor = Analog::new(Script(&script), laser(), 500, Pause::at_zero(), clock, &counters);
            let mut monitor = SourceMonitor::new(config);
            let arrival = next(&mut sensor).unwrap();
            monitor.observe(arrival.reading.sample(SourceId(1), arrival.at), arrival.at);
            assert_eq!(monitor.fresh(arrival.at).err(), verdict, "{counts} counts");
        }
    }

    #[test]
    fn conversions_are_stamped_when_done_and_a_failed_one_is_missing_in_the_sequence() {
        let counters = Counters::new();
        let mut sensor =
            Analog::new(Script(&[Some(745), None, Some(3723)]), laser(), 500, Pause::at_zero(), clock, &counters);
        let first = next(&mut sensor).unwrap();
        let second = next(&mut sensor).unwrap();
        assert_eq!((first.reading.seq, first.at), (1, after(520)));
        assert_eq!((second.reading.seq, second.at), (3, after(1560)));
        assert_eq!(next(&mut sensor), None);
        let counted = counters.counted();
        assert_eq!((counted.figures.readings, counted.faults), (2, 1));
    }
}
