//! What a sensor sends: one reading, in a text form for people and scripts and a binary form for devices.
//!
//! Text, one reading per line: `[seq=N] VALUE [VALUE …]`, values separated by blanks, commas or semicolons,
//! at most six. Blank lines and lines that start with `#` carry nothing.
//!
//! Binary, one reading per datagram: the `postcard` form of [`Reading`], that is the sequence number as a
//! varint, the number of values as a varint, and each value as a little-endian `f32`.

use heapless::Vec;
use serde::{Deserialize, Serialize};

/// The most values of one reading.
pub const MAX_VALUES: usize = 6;

/// One reading as it was sent, in the sensor's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Counted up by the sensor, wrapping: what shows that a reading was lost or repeated.
    pub seq: u32,
    /// The values. NaN and infinity pass: refusing them, with their reason, is the engine's work.
    pub values: Vec<f32, MAX_VALUES>,
}

/// Why bytes are not a reading.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAReading {
    /// A word that is no number.
    #[error("'{0}' is not a number")]
    NotANumber(String),
    /// `seq=` without a number of 32 bits behind it.
    #[error("'{0}' is not a sequence number")]
    NotASequence(String),
    /// Too many or too few values.
    #[error("found {found} values, expected {expected}")]
    Count {
        /// Values in the reading.
        found: usize,
        /// Values the configuration expects.
        expected: usize,
    },
    /// Not the `postcard` form.
    #[error("not a postcard reading: {0}")]
    Malformed(postcard::Error),
    /// Not text at all.
    #[error("not UTF-8 text")]
    NotText,
}

impl Reading {
    /// Reads one line. `Ok(None)` where the line carries nothing. A line without `seq=` gets `next`.
    ///
    /// # Errors
    /// [`NotAReading`].
    pub fn from_line(line: &[u8], next: u32) -> Result<Option<Self>, NotAReading> {
        let line = std::str::from_utf8(line).map_err(|_| NotAReading::NotText)?.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let mut reading = Self { seq: next, values: Vec::new() };
        let words = || line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty());
        for (index, word) in words().enumerate() {
            if let Some(seq) = word.strip_prefix("seq=")
                && index == 0
            {
                reading.seq = seq.parse().map_err(|_| NotAReading::NotASequence(word.into()))?;
                continue;
            }
            let value = word.parse().map_err(|_| NotAReading::NotANumber(word.into()))?;
            reading.values.push(value).map_err(|_| {
                let found = words().filter(|word| !word.starts_with("seq=")).count();
                NotAReading::Count { found, expected: MAX_VALUES }
            })?;
        }
        Ok(Some(reading))
    }

    /// Reads one datagram in `postcard` form. Bytes behind the reading are refused: they are a sign of another form.
    ///
    /// # Errors
    /// [`NotAReading`].
    pub fn from_postcard(bytes: &[u8]) -> Result<Self, NotAReading> {
        match postcard::take_from_bytes::<Self>(bytes) {
            Ok((reading, [])) => Ok(reading),
            Ok(_) => Err(NotAReading::Malformed(postcard::Error::SerdeDeCustom)),
            Err(error) => Err(NotAReading::Malformed(error)),
        }
    }

    /// Refuses a reading that does not have exactly `expected` values.
    ///
    /// # Errors
    /// [`NotAReading::Count`].
    pub fn with_count(self, expected: usize) -> Result<Self, NotAReading> {
        let found = self.values.len();
        if found == expected { Ok(self) } else { Err(NotAReading::Count { found, expected }) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reading(seq: u32, values: &[f32]) -> Reading {
        Reading { seq, values: Vec::from_slice(values).expect("at most six") }
    }

    #[test]
    fn a_line_is_values_with_or_without_a_sequence_number() {
        for (line, expected) in [
            (&b"0.0503\n"[..], Some(reading(7, &[0.0503]))),
            (b"  seq=12 1,2;3\t-4e-3 \r\n", Some(reading(12, &[1.0, 2.0, 3.0, -0.004]))),
            (b"\n", None),
            (b"# warming up", None),
        ] {
            assert_eq!(Reading::from_line(line, 7), Ok(expected));
        }
    }

    #[test]
    fn a_line_that_is_no_reading_is_refused_with_the_word_at_fault() {
        let refused = |line: &[u8]| Reading::from_line(line, 0).expect_err("not a reading");
        assert_eq!(refused(b"0.05 mm"), NotAReading::NotANumber("mm".into()));
        assert_eq!(refused(b"seq=-1 0.05"), NotAReading::NotASequence("seq=-1".into()));
        assert_eq!(refused(b"1 2 3 4 5 6 7"), NotAReading::Count { found: 7, expected: 6 });
        assert_eq!(refused(b"\xff"), NotAReading::NotText);
    }

    #[test]
    fn the_binary_form_is_what_the_documentation_says() {
        let mut room = [0; 32];
        let bytes = postcard::to_slice(&reading(300, &[1.0]), &mut room).expect("room for one value");
        assert_eq!(bytes, [0xac, 0x02, 0x01, 0x00, 0x00, 0x80, 0x3f]);
        assert_eq!(Reading::from_postcard(bytes), Ok(reading(300, &[1.0])));
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Reading::from_line(&bytes, 0);
            if let Ok(reading) = Reading::from_postcard(&bytes) {
                prop_assert!(reading.values.len() <= MAX_VALUES);
            }
        }
    }
}
