//! Sensor readings: one to six numbers with a sequence number, as a line of text, as a datagram, or as a frame with a
//! checksum on a serial line.
//!
//! | form | for | carried by | bytes |
//! |---|---|---|---|
//! | [line](Reading::from_line) | people, scripts, instruments | serial line, datagram, standard input | `[seq=N] VALUE [VALUE …]` |
//! | [datagram](Reading::from_datagram) | devices on the network | UDP | count as a varint, number of values, `f32` each |
//! | [frame](Reading::from_frame) | devices on a wire | serial line | a datagram and its CRC-32, byte-stuffed, then a zero |
//!
//! A distance is a reading of one number; a six-axis force/torque sensor sends six. The unit is SI, directly or after a
//! [`Scale`]: m, N, N·m, m/s, rad/s, as the law that uses the reading requires.
//!
//! Hosts and boards read all forms with this code. It reads no clock: the caller records the time of arrival.
//!
//! ```
//! use outrigger_wire::sensor::SourceId;
//! use outrigger_wire::sensor::Reading;
//! use outrigger_wire::time::Instant;
//!
//! let reading = Reading::from_line(b"seq=12 0.0503\n", 0)?.expect("not a blank line");
//! assert_eq!((reading.seq, reading.value.first()), (12, 0.0503));
//! let sample = reading.sample(SourceId(0), Instant::from_micros(1000)); // what an engine takes
//! # let _ = sample;
//! # Ok::<(), outrigger_wire::sensor::NotAReading>(())
//! ```

mod binary_readings;
mod decoder;
mod sample;
mod text_readings;

pub use binary_readings::{DATAGRAM_MAX, FRAME_MAX};
pub use decoder::{Decoder, Figures, Form, LINE_MAX};
pub use sample::{Sample, SampleValue, SourceId};
pub use text_readings::word;

use crate::time::Instant;

/// A reading as the sensor sent it, without source and time of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reading {
    /// The sensor's counter of its readings, wrapping. It shows lost and repeated readings.
    pub seq: u32,
    /// The numbers of the sensor's reading. NaN and infinity are accepted here; the engine rejects them with a reason.
    pub value: SampleValue,
}

impl Reading {
    /// Returns this reading in the form that the engine takes: from sensor `source`, received at `taken_at`.
    #[must_use]
    pub const fn sample(&self, source: SourceId, taken_at: Instant) -> Sample {
        Sample { source, value: self.value, seq: self.seq, taken_at }
    }

    /// Returns the reading if it has exactly `expected` numbers.
    ///
    /// # Errors
    /// [`NotAReading::Count`] if the number differs.
    pub fn with_count(self, expected: usize) -> Result<Self, NotAReading> {
        let found = self.value.as_slice().len();
        if found == expected { Ok(self) } else { Err(NotAReading::count(found, expected)) }
    }
}

/// A conversion of a sensor's numbers to SI units: multiplies by `factor`, then adds `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scale {
    /// The factor by which a sensor's number is multiplied: SI units per unit of the sensor.
    pub factor: f32,
    /// The number that is added to a sensor's number after the multiplication \[SI unit\].
    pub offset: f32,
}

impl Scale {
    /// The conversion of a sensor whose numbers are in SI units already: it changes no number.
    pub const NONE: Self = Self { factor: 1.0, offset: 0.0 };

    /// Returns the sensor's reading with every number converted to SI.
    #[must_use]
    pub fn of(&self, reading: Reading) -> Reading {
        Reading { value: reading.value.map(|number| number * self.factor + self.offset), ..reading }
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::NONE
    }
}

/// The reason why bytes from a sensor are not a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NotAReading {
    /// The sensor's message is too long: a line longer than [`LINE_MAX`], or a frame longer than [`FRAME_MAX`].
    TooLong,
    /// The sensor's line contains bytes that are not printable ASCII.
    NotText,
    /// A word of the sensor's line is not a number.
    NotANumber {
        /// The position of the word in the line, from 1, saturating; see [`word`].
        word: u8,
    },
    /// A sensor's line begins with `seq=` and has no number of 32 bits behind it.
    NotASequence,
    /// The message has too many or too few numbers for a reading.
    Count {
        /// The number of values found in the reading, saturating.
        found: u8,
        /// The possible number of values that is nearest to the one found (1 or 6), or the number expected of this
        /// sensor.
        expected: u8,
    },
    /// A sensor's frame has invalid byte stuffing: bytes were lost, or it is not a frame.
    Stuffing,
    /// The checksum of the sensor's frame does not match its content.
    Checksum,
    /// The binary content of a reading ends before its last number, continues behind it, or has a counter beyond 32
    /// bits.
    Malformed,
}

impl NotAReading {
    fn count(found: usize, expected: usize) -> Self {
        Self::Count { found: saturated(found), expected: saturated(expected) }
    }
}

fn saturated(value: usize) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

impl core::fmt::Display for NotAReading {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooLong => write!(f, "longer than any reading"),
            Self::NotText => write!(f, "not text"),
            Self::NotANumber { word } => write!(f, "word {word} is not a number"),
            Self::NotASequence => write!(f, "word 1 is not a sequence number"),
            Self::Count { found, expected } => write!(f, "found {found} values, expected {expected}"),
            Self::Stuffing => write!(f, "not a frame"),
            Self::Checksum => write!(f, "wrong checksum"),
            Self::Malformed => write!(f, "not the binary form of a reading"),
        }
    }
}

impl core::error::Error for NotAReading {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_scaled_to_si_becomes_a_sample_at_its_arrival() {
        let millimetres = Reading { seq: 7, value: SampleValue::new(&[50.0, -8.0]).unwrap() };
        let metres = Scale { factor: 0.001, offset: 0.25 }.of(millimetres);
        let at = Instant::from_micros(1234);
        let sample = metres.sample(SourceId(2), at);
        assert_eq!(sample.value.as_slice(), [50.0 * 0.001 + 0.25, -8.0 * 0.001 + 0.25]);
        assert_eq!((sample.source, sample.seq, sample.taken_at), (SourceId(2), 7, at));
    }

    #[test]
    fn a_reading_with_another_count_is_refused_with_both() {
        let reading = Reading { seq: 0, value: SampleValue::scalar(1.0) };
        assert_eq!(reading.with_count(1), Ok(reading));
        assert_eq!(reading.with_count(6), Err(NotAReading::Count { found: 1, expected: 6 }));
    }
}
