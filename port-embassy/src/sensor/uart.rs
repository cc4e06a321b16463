//! A sensor that sends its readings over a serial line.

use embassy_futures::yield_now;
use embedded_hal_async::delay::DelayNs;
use embedded_io_async::Read;
use outrigger_wire::sensor::{Decoder, Form, Reading, Scale};

use super::{Arrival, Clock, Counters, Sensor};

/// The number of bytes read at once from the serial port. It is small, because bytes behind the newest complete reading
/// must wait in any case.
const CHUNK: usize = 64;
/// The pause after an error of the serial port \[ms\]: a line that is held low reports an error at each read.
const PAUSE_MS: u32 = 1;

/// Reads lines or frames from a serial port.
///
/// The port's own buffer must hold the bytes that arrive while other tasks run. Lost bytes are an error of the port,
/// and the current message is then discarded. Only the newest reading of each read is passed on, because earlier ones
/// are older than their time of arrival.
#[derive(Debug)]
pub struct Uart<'d, R, D> {
    port: R,
    decoder: Decoder,
    scale: Scale,
    delay: D,
    clock: Clock,
    counters: &'d Counters,
}

impl<'d, R: Read, D: DelayNs> Uart<'d, R, D> {
    /// Creates a sensor whose messages of the format `form` arrive at `port`, in units that `scale` converts to SI
    /// units.
    pub const fn new(port: R, form: Form, scale: Scale, delay: D, clock: Clock, counters: &'d Counters) -> Self {
        Self { port, decoder: Decoder::new(form), scale, delay, clock, counters }
    }
}

impl<R: Read, D: DelayNs> Uart<'_, R, D> {
    /// Processes the bytes of a read from the serial port, or its failure, and returns the newest reading among them,
    /// if any.
    fn take(&mut self, arrived: Option<&[u8]>) -> Option<Reading> {
        let newest = match arrived {
            Some(bytes) => self.decoder.newest(bytes, |_, _| {}),
            None => {
                self.decoder.resync();
                self.counters.fault();
                None
            }
        };
        self.counters.set(self.decoder.figures());
        newest.map(|reading| self.scale.of(reading))
    }
}

impl<R: Read, D: DelayNs> Sensor for Uart<'_, R, D> {
    /// Returns the sensor's next reading. Dropping the future loses no bytes beyond those that the serial port itself
    /// has lost.
    async fn next(&mut self) -> Arrival {
        let mut bytes = [0; CHUNK];
        loop {
            let read = self.port.read(&mut bytes).await;
            let at = (self.clock)();
            // A read of zero bytes means that the port has ended.
            let arrived = read.ok().and_then(|count| bytes.get(..count)).filter(|arrived| !arrived.is_empty());
            let failed = arrived.is_none();
            if let Some(reading) = self.take(arrived) {
                return Arrival { reading, at };
            }
            if failed {
                self.delay.delay_ms(PAUSE_MS).await;
            } else {
                // A sensor that sends continuously must not prevent other tasks from running.
                yield_now().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::{SourceConfig, SourceMonitor};
    use outrigger_core::robot::Reason;
    use outrigger_wire::sensor::{FRAME_MAX, Figures, SampleValue, SourceId};

    use super::super::test_doubles::{Happens, Pause, Port, after, clock, next, polled};
    use super::*;
    use crate::sensor::Counted;

    fn distance(seq: u32, metres: f32) -> Reading {
        Reading { seq, value: SampleValue::scalar(metres) }
    }

    fn uart<'d>(form: Form, script: &'d [Happens<'d>], counters: &'d Counters) -> Uart<'d, Port<'d>, Pause> {
        Uart::new(Port(script), form, Scale::NONE, Pause::at_zero(), clock, counters)
    }

    #[test]
    fn a_reading_is_stamped_when_its_last_byte_arrives() {
        let counters = Counters::new();
        let script = [
            Happens::Bytes(100, b"x\nseq=5 0."),
            Happens::Bytes(250, b"0503\n0.05"),
            Happens::Bytes(400, b"04"),
            Happens::Bytes(600, b"\r\n"),
        ];
        let mut sensor = uart(Form::Lines, &script, &counters);
        assert_eq!(next(&mut sensor), Some(Arrival { reading: distance(5, 0.0503), at: after(250) }));
        assert_eq!(next(&mut sensor), Some(Arrival { reading: distance(6, 0.0504), at: after(600) }));
        assert_eq!(next(&mut sensor), None);
        assert_eq!(counters.counted().figures, Figures { readings: 2, refused: 0, garbage: 1 });
    }

    #[test]
    fn frames_of_a_force_sensor_are_scaled_and_a_hurt_one_is_counted() {
        let counters = Counters::new();
        let wrench = Reading { seq: 9, value: SampleValue::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap() };
        let mut good = [0; FRAME_MAX];
        let good = wrench.to_frame(&mut good);
        let mut hurt = [0; FRAME_MAX];
        hurt[..good.len()].copy_from_slice(good);
        hurt[3] ^= 0x10;
        let script = [Happens::Bytes(100, &[0]), Happens::Bytes(200, &hurt[..good.len()]), Happens::Bytes(300, good)];
        let mut sensor = uart(Form::Frames, &script, &counters);
        sensor.scale = Scale { factor: 0.5, offset: 1.0 };
        let arrival = next(&mut sensor).unwrap();
        assert_eq!(arrival.reading.value.as_slice(), [1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
        assert_eq!((arrival.reading.seq, arrival.at), (9, after(300)));
        let garbage = u32::try_from(good.len() - 1).unwrap();
        assert_eq!(counters.counted().figures, Figures { readings: 1, refused: 1, garbage });
    }

    #[test]
    fn what_follows_an_overrun_within_a_line_is_no_number() {
        let counters = Counters::new();
        let script = [Happens::Bytes(100, b"\n0.0"), Happens::Error(200), Happens::Bytes(300, b"3\n0.05\n")];
        let mut sensor = uart(Form::Lines, &script, &counters);
        assert_eq!(next(&mut sensor).map(|arrival| arrival.reading), Some(distance(0, 0.05)));
        let figures = Figures { readings: 1, refused: 0, garbage: 4 };
        assert_eq!(counters.counted(), Counted { figures, faults: 1 });
    }

    #[test]
    fn a_port_that_only_fails_is_asked_again_at_a_pace() {
        let counters = Counters::new();
        let script = [Happens::Error(0); 10];
        let mut sensor = uart(Form::Lines, &script, &counters);
        assert_eq!(next(&mut sensor), None);
        assert_eq!(counters.counted().faults, 10);
        assert_eq!(clock(), after(10 * u64::from(PAUSE_MS) * 1_000));
    }

    #[test]
    fn a_sensor_that_is_unplugged_is_stale_for_the_engine() {
        let counters = Counters::new();
        let script = [Happens::Bytes(100, b"\n0.05\n"), Happens::Error(200), Happens::Bytes(500_000, b"0.0")];
        let mut sensor = uart(Form::Lines, &script, &counters);
        let mut monitor = SourceMonitor::new(SourceConfig::new(SourceId(0), 1, 0.0, 1.0));
        let arrival = next(&mut sensor).unwrap();
        monitor.observe(arrival.reading.sample(SourceId(0), arrival.at), clock());
        assert!(monitor.fresh(clock()).is_ok());
        assert_eq!(next(&mut sensor), None);
        assert_eq!(monitor.fresh(clock()), Err(Reason::SourceStale));
    }

    #[test]
    fn babble_lets_other_tasks_run_and_is_counted() {
        let counters = Counters::new();
        let babble = [b'x'; CHUNK];
        let script = [Happens::Bytes(0, &babble); 100];
        let mut sensor = uart(Form::Lines, &script, &counters);
        assert_eq!(polled(&mut sensor), (101, None));
        assert_eq!(counters.counted().figures.garbage, 6_400);
    }
}
