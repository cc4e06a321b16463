use core::convert::Infallible;

use embedded_hal::digital;
use embedded_hal_async::spi::{ErrorKind, ErrorType, Operation};
use outrigger_core::command::{SourceConfig, SourceMonitor};
use outrigger_core::robot::Reason;
use outrigger_wire::sensor::SourceId;

use super::super::test_doubles::{Pause, advance_to, after, clock, next, silence};
use super::*;

/// The device's behaviour at one conversion.
#[derive(Clone, Copy)]
enum Step {
    Converts([i32; CHANNELS]),
    /// The frame arrives with one bit changed.
    IsHeardBadly([i32; CHANNELS]),
    /// The bus reports an error.
    Fails,
    /// The device's power was interrupted for a moment.
    Resets,
}

/// A simulated device according to its data sheet: settings, a reset flag, and two stored conversions.
struct Device<'s> {
    script: &'s [Step],
    registers: [u16; 4],
    kept: heapless::Vec<[i32; CHANNELS], 2>,
    /// The first word of the next frame; `None` if that is the status.
    answer: Option<u16>,
    written: usize,
}

impl<'s> Device<'s> {
    /// Returns a device after power-up, with two unread conversions.
    fn new(script: &'s [Step]) -> Self {
        let mut device = Self { script, registers: [0; 4], kept: heapless::Vec::new(), answer: None, written: 0 };
        device.reset();
        device
    }

    fn reset(&mut self) {
        self.registers = [0x0510, 0x3f0e, 0, 0];
        self.kept = heapless::Vec::from_slice(&[[1; CHANNELS], [2; CHANNELS]]).unwrap();
        self.answer = Some(0xff26);
    }
}

impl ErrorType for Device<'_> {
    type Error = ErrorKind;
}

impl SpiDevice for Device<'_> {
    async fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
        let [Operation::Transfer(received, sent)] = operations else { panic!("not one transfer: {operations:?}") };
        assert_eq!((received.len(), sent.len()), (FRAME, FRAME));
        let mut hurt = 0;
        if self.kept.is_empty() {
            // The duration of a conversion.
            advance_to(after(clock().as_micros() + 2_000));
            let Some((first, rest)) = self.script.split_first() else { return silence().await };
            self.script = rest;
            match *first {
                Step::Converts(counts) => self.kept.push(counts).unwrap(),
                Step::IsHeardBadly(counts) => {
                    self.kept.push(counts).unwrap();
                    hurt = 0x04;
                }
                Step::Fails => return Err(ErrorKind::Overrun),
                Step::Resets => self.reset(),
            }
        }
        let status = self.registers[0] & RESET | 0x0100 | if self.kept.is_empty() { 0 } else { READY };
        let mut words = heapless::Vec::<[u8; 3], 8>::new();
        let [high, low] = self.answer.take().unwrap_or(status).to_be_bytes();
        words.push([high, low, 0]).unwrap();
        for count in self.kept.remove(0) {
            let [_, high, middle, low] = count.to_be_bytes();
            words.push([high, middle, low]).unwrap();
        }
        let [high, low] = crc16(words.as_flattened()).to_be_bytes();
        words.push([high, low, 0]).unwrap();
        received.copy_from_slice(words.as_flattened());
        received[7] ^= hurt;
        let word = |n: usize| u16::from_be_bytes([sent[3 * n], sent[3 * n + 1]]);
        match word(0) {
            0 => {}
            0x6103 => {
                self.registers = [word(1), word(2), word(3), word(4)];
                self.written += 1;
                self.answer = Some(0x4103);
            }
            other => panic!("command {other:#06x}"),
        }
        Ok(())
    }
}

/// A DRDY line that is always low; the simulated device makes its conversion when the line is read.
struct Low;

impl digital::ErrorType for Low {
    type Error = Infallible;
}

impl Wait for Low {
    async fn wait_for_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
    async fn wait_for_high(&mut self) -> Result<(), Infallible> {
        silence().await
    }
    async fn wait_for_rising_edge(&mut self) -> Result<(), Infallible> {
        silence().await
    }
    async fn wait_for_falling_edge(&mut self) -> Result<(), Infallible> {
        silence().await
    }
    async fn wait_for_any_edge(&mut self) -> Result<(), Infallible> {
        silence().await
    }
}

/// Returns a calibration: one newton or newton metre per count of the channel, with ten counts without load.
fn bridges() -> Bridges {
    let mut matrix = [[0.0; CHANNELS]; CHANNELS];
    for (axis, row) in matrix.iter_mut().enumerate() {
        row[axis] = 1.0 / VOLT;
    }
    Bridges { matrix, unloaded: [10.0 * VOLT; CHANNELS] }
}

fn sensor<'d>(script: &'d [Step], counters: &'d Counters) -> Ads131m06<'d, Device<'d>, Low, Pause> {
    Ads131m06::new(Device::new(script), Low, BridgeRate::Hz500, bridges(), Pause::at_zero(), clock, counters)
}

fn wrench(sensor: &mut impl Sensor) -> Option<(u32, [i32; CHANNELS])> {
    let reading = next(sensor)?.reading;
    let mut rounded = [0; CHANNELS];
    for (to, value) in rounded.iter_mut().zip(reading.value.as_slice()) {
        *to = if value.is_nan() { i32::MIN } else { (value + value.signum() * 0.5) as i32 };
    }
    Some((reading.seq, rounded))
}

#[test]
fn the_checksum_is_the_one_of_the_data_sheet() {
    assert_eq!(crc16(b"123456789"), 0x29b1);
}

#[test]
fn a_device_that_was_just_powered_up_is_set_up_before_it_is_believed() {
    let counters = Counters::new();
    let load = [10, 20, -30, 1_010, -99_990, 100_000];
    let script = [Step::Converts(load)];
    let mut sensor = sensor(&script, &counters);
    // The two stored conversions are from before the settings.
    assert_eq!(wrench(&mut sensor), Some((1, [0, 10, -40, 1_000, -100_000, 99_990])));
    // High resolution, oversampling of 8 192 for 500/s, a gain of 128.
    assert_eq!((sensor.spi.registers, sensor.spi.written), ([0x0110, 0x3f1a, 0x7777, 0x0077], 1));
    assert_eq!(counters.counted().figures.readings, 1);
}

fn good(n: i32) -> Step {
    Step::Converts([n; CHANNELS])
}

/// Reads until the script ends and returns sequence number and first axis of every reading.
fn all(sensor: &mut impl Sensor) -> heapless::Vec<(u32, i32), 8> {
    core::iter::from_fn(|| wrench(sensor)).map(|(seq, [first, ..])| (seq, first)).collect()
}

#[test]
fn a_hurt_frame_and_a_failed_transfer_are_counted_and_missing_in_the_sequence() {
    let counters = Counters::new();
    let hurt = Step::IsHeardBadly([12; CHANNELS]);
    let script = [good(11), hurt, good(13), good(14), good(15), Step::Fails, good(17), good(18), good(19), good(20)];
    let mut sensor = sensor(&script, &counters);
    // After a failure two conversions are skipped, because they may be old.
    assert_eq!(all(&mut sensor), [(1, 1), (3, 5), (5, 9), (6, 10)]);
    let counted = counters.counted();
    assert_eq!((counted.figures.refused, counted.figures.garbage, counted.faults), (1, 24, 1));
    assert_eq!(sensor.spi.written, 1);
}

#[test]
fn a_device_that_lost_its_power_is_set_up_again() {
    let counters = Counters::new();
    let script = [good(11), good(12), Step::Resets, good(14), good(15), good(16), good(17)];
    let mut sensor = sensor(&script, &counters);
    // Neither the conversions stored before, nor those made without the settings.
    let seen = all(&mut sensor);
    assert_eq!(seen.iter().map(|(_, first)| *first).collect::<heapless::Vec<_, 8>>(), [1, 2, 5, 6, 7]);
    assert_eq!((sensor.spi.written, sensor.spi.registers[2]), (2, 0x7777));
}

#[test]
fn a_channel_at_its_end_has_no_value() {
    let counters = Counters::new();
    let script = [Step::Converts([11, 12, 0x7f_ffff, 14, -0x80_0000, 16])];
    // The matrix spreads NaN to every axis.
    assert_eq!(wrench(&mut sensor(&script, &counters)), Some((1, [i32::MIN; CHANNELS])));
}

/// A DRDY line that is high for this number of waits, and low afterwards.
struct High(u32);

impl digital::ErrorType for High {
    type Error = Infallible;
}

impl Wait for High {
    async fn wait_for_low(&mut self) -> Result<(), Infallible> {
        if self.0 > 0 {
            self.0 -= 1;
            core::future::pending::<()>().await;
        }
        Ok(())
    }
    async fn wait_for_high(&mut self) -> Result<(), Infallible> {
        silence().await
    }
    async fn wait_for_rising_edge(&mut self) -> Result<(), Infallible> {
        silence().await
    }
    async fn wait_for_falling_edge(&mut self) -> Result<(), Infallible> {
        silence().await
    }
    async fn wait_for_any_edge(&mut self) -> Result<(), Infallible> {
        silence().await
    }
}

#[test]
fn a_device_that_never_converts_is_waited_for_no_longer_than_it_says_and_its_source_is_stale() {
    let (counters, script) = (Counters::new(), [11, 12, 13, 14].map(good));
    let mut monitor = SourceMonitor::new(SourceConfig::new(SourceId(0), 6, -1e6, 1e6));
    let (device, pause) = (Device::new(&script), Pause::at_zero());
    let mut sensor = Ads131m06::new(device, High(10), BridgeRate::Hz500, bridges(), pause, clock, &counters);
    let first = next(&mut sensor).unwrap();
    // Ten waits of 20 ms with a pause of 1 ms after each; then the device is treated as just powered up.
    assert_eq!((first.reading.seq, counters.counted().faults), (11, 10));
    assert!(first.at >= after(10 * 21_000) && first.at < after(10 * 21_000 + 10_000), "{:?}", first.at);
    monitor.observe(first.reading.sample(SourceId(0), first.at), clock());
    assert!(monitor.fresh(clock()).is_ok());
    // The device stops.
    sensor.data_ready.0 = 6;
    let again = next(&mut sensor).unwrap();
    assert_eq!(counters.counted().faults, 16);
    assert_eq!(monitor.fresh(again.at), Err(Reason::SourceStale));
}
