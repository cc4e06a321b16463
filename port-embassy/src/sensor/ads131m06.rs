//! TI ADS131M06: six 24-bit converters that sample simultaneously, for the six bridges of a force/torque sensor, on
//! SPI.
//!
//! A frame is eight 24-bit words, most significant byte first (mode 1, up to 25 MHz): status, six channels, and a
//! CRC-16 of the words before. The first word is the reply to the command of the previous frame, or the status if there
//! was none. DRDY is low while there are unread conversions; the device stores two, and sends the older first.
//! Implemented from the data sheet (SBAS949) and tested only with a model of the device.

use embassy_futures::select::{Either, select};
use embedded_hal_async::delay::DelayNs;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;
use outrigger_core::bridges::{BridgeRate, Bridges};
use outrigger_wire::sensor::{Reading, SampleValue};

use super::{Arrival, Clock, Counters, Sensor};

const CHANNELS: usize = 6;
/// The size of one SPI frame \[B\]: status, channels and checksum, three bytes each.
const FRAME: usize = 3 * (1 + CHANNELS + 1);
/// The null command of the converter: all zeros.
const NULL: [u16; 5] = [0; 5];
/// The command that writes four registers, beginning with MODE: MODE, CLOCK, GAIN1, GAIN2.
const WRITE_SETTINGS: u16 = 0b011 << 13 | 0x02 << 7 | 3;
/// The converter's reply to [`WRITE_SETTINGS`]: the four registers were written.
const SETTINGS_WRITTEN: u16 = 0b010 << 13 | 0x02 << 7 | 3;
/// The value of the register MODE: 24-bit words, SPI timeout on, and the flag of a reset cleared.
const MODE: u16 = 0x0110;
/// The value of the register CLOCK without the rate: all channels on, high resolution.
const CLOCK: u16 = 0x3f02;
/// The values of the registers GAIN1 and GAIN2: a gain of 128 on each channel.
const GAINS: [u16; 2] = [0x7777, 0x0077];
/// The bit of the converter's status that is set after a reset of the device, which then has lost its settings.
const RESET: u16 = 1 << 10;
/// The bits of the converter's status that are all set if every channel has an unread conversion.
const READY: u16 = 0b11_1111;
/// The voltage of one count of the converter \[V\]: 1.2 V divided by the gain and by 2²³.
const VOLT: f32 = 1.2 / 128.0 / 8_388_608.0;
/// The ends of a channel's range \[counts\], which result from a broken wire or an overload.
const RAILS: [i32; 2] = [-0x80_0000, 0x7f_ffff];
/// The longest wait for a conversion \[ms\]: five periods of the slowest rate.
const WAIT_MS: u32 = 20;
/// The pause between a failed SPI transfer and the next attempt \[ms\].
const PAUSE_MS: u32 = 1;

/// Returns the converter's oversampling for this sample rate, in its position in the CLOCK register.
const fn oversampling(rate: BridgeRate) -> u16 {
    let oversampling = match rate {
        BridgeRate::Hz250 => 7,
        BridgeRate::Hz500 => 6,
        BridgeRate::Hz1000 => 5,
    };
    oversampling << 2
}

/// A six-axis force/torque sensor: Fx Fy Fz \[N\], Tx Ty Tz \[N·m\]; NaN if a channel is at an end of its range.
///
/// The rates are those of a device with a clock of 8.192 MHz.
#[derive(Debug)]
pub struct Ads131m06<'d, S, P, D> {
    spi: S,
    data_ready: P,
    rate: BridgeRate,
    bridges: Bridges,
    delay: D,
    clock: Clock,
    counters: &'d Counters,
    seq: u32,
    /// `true` if all earlier conversions were read, so that the next one is the newest.
    in_step: bool,
    /// `true` if the converter has its settings, as far as is known.
    set_up: bool,
}

impl<'d, S: SpiDevice, P: Wait, D: DelayNs> Ads131m06<'d, S, P, D> {
    /// Creates the sensor whose converter is behind `spi`, with its DRDY at `data_ready`.
    pub const fn new(
        spi: S,
        data_ready: P,
        rate: BridgeRate,
        bridges: Bridges,
        delay: D,
        clock: Clock,
        counters: &'d Counters,
    ) -> Self {
        Self { spi, data_ready, rate, bridges, delay, clock, counters, seq: 0, in_step: false, set_up: false }
    }

    /// Waits for conversions, at most for the time that a connected device can take, and reads them \[counts\]. Returns
    /// `None` if a transfer failed or was damaged, or the converter had lost its settings, which is counted, or if a
    /// channel had no unread conversion, which is not.
    async fn conversions(&mut self) -> Option<[i32; CHANNELS]> {
        // Out of step, two additional frames come first: they write the settings if necessary, and read the old
        // conversions.
        let last = if self.in_step { 0 } else { 2 };
        let settings = !self.in_step && !self.set_up;
        for n in 0..3 {
            let command = if n == 0 && settings { self.settings() } else { NULL };
            let sent = frame(&command);
            let mut received = [0; FRAME];
            let ready = select(self.data_ready.wait_for_low(), self.delay.delay_ms(WAIT_MS)).await;
            if !matches!(ready, Either::First(Ok(()))) || self.spi.transfer(&mut received, &sent).await.is_err() {
                self.counters.fault();
                return None;
            }
            let Some((answer, counts)) = checked(&received) else {
                self.counters.refused(FRAME as u32);
                return None;
            };
            if n == 1 && settings {
                self.set_up = answer == SETTINGS_WRITTEN;
            } else if n == last {
                self.set_up &= answer & RESET == 0;
                if !self.set_up {
                    self.counters.fault();
                }
                return (self.set_up && answer & READY == READY).then_some(counts);
            }
        }
        None
    }

    const fn settings(&self) -> [u16; 5] {
        let [gain1, gain2] = GAINS;
        [WRITE_SETTINGS, MODE, CLOCK | oversampling(self.rate), gain1, gain2]
    }
}

/// Returns an SPI frame to be sent to the converter: a command with its data, two bytes of each word.
fn frame(command: &[u16; 5]) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    for (word, value) in frame.as_chunks_mut::<3>().0.iter_mut().zip(command) {
        let [high, low] = value.to_be_bytes();
        *word = [high, low, 0];
    }
    frame
}

/// Checks the checksum of the converter's frame and returns the reply and the conversions; `None` if the checksum is
/// wrong.
fn checked(frame: &[u8; FRAME]) -> Option<(u16, [i32; CHANNELS])> {
    let (content, [high, low, _]) = frame.split_last_chunk::<3>()?;
    if crc16(content) != u16::from_be_bytes([*high, *low]) {
        return None;
    }
    let ([[answer_high, answer_low, _], channels @ ..], _) = content.as_chunks::<3>() else { return None };
    let mut counts = [0; CHANNELS];
    for (count, [high, middle, low]) in counts.iter_mut().zip(channels) {
        // The upper byte contains the sign.
        *count = i32::from_be_bytes([*high, *middle, *low, 0]) >> 8;
    }
    Some((u16::from_be_bytes([*answer_high, *answer_low]), counts))
}

/// Returns the CRC-16 of CCITT: polynomial 0x1021, all bits set at the start.
fn crc16(bytes: &[u8]) -> u16 {
    let mut crc = u16::MAX;
    for byte in bytes {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc = (crc << 1) ^ if carry { 0x1021 } else { 0 };
        }
    }
    crc
}

impl<S: SpiDevice, P: Wait, D: DelayNs> Sensor for Ads131m06<'_, S, P, D> {
    /// Returns the sensor's next reading. A reading that was missed or failed leaves a gap in the sequence numbers.
    #[expect(clippy::cast_precision_loss, reason = "24 bits are exact")]
    async fn next(&mut self) -> Arrival {
        loop {
            let conversions = self.conversions().await;
            let at = (self.clock)();
            self.seq = self.seq.wrapping_add(1);
            self.in_step = conversions.is_some();
            if let Some(counts) = conversions {
                self.counters.reading();
                let volts = counts.map(|n| if RAILS.contains(&n) { f32::NAN } else { n as f32 * VOLT });
                let wrench = self.bridges.wrench(volts);
                let value = SampleValue::new(&wrench).unwrap_or(SampleValue::scalar(f32::NAN));
                return Arrival { reading: Reading { seq: self.seq, value }, at };
            }
            self.delay.delay_ms(PAUSE_MS).await;
        }
    }
}

#[cfg(test)]
mod tests;
