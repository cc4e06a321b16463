//! Readings in text form: `[seq=N] VALUE [VALUE …]`, separated by blanks, tabs, commas or semicolons.

use super::{NotAReading, Reading, saturated};
use crate::decimal;
use crate::sensor::SampleValue;

const SEQ: &[u8] = b"seq=";

impl Reading {
    /// Reads the sensor's reading in one line of text, with or without its end. Returns `Ok(None)` if the line is
    /// blank, or a comment that begins with `#`. A line without `seq=` gets the sequence number `next`.
    ///
    /// # Errors
    /// [`NotAReading`]: `NotText`, `NotANumber`, `NotASequence`, `Count`.
    pub fn from_line(line: &[u8], next: u32) -> Result<Option<Self>, NotAReading> {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(None);
        }
        if line.iter().any(|byte| !matches!(byte, b'\t' | b' '..=b'~')) {
            return Err(NotAReading::NotText);
        }
        let mut seq = next;
        let mut numbers = [0.0; SampleValue::CAPACITY];
        let mut count = 0_usize;
        for (index, word) in words(line).enumerate() {
            if index == 0
                && let Some(digits) = word.strip_prefix(SEQ)
            {
                let number = decimal::unsigned(digits).and_then(|number| u32::try_from(number).ok());
                seq = number.ok_or(NotAReading::NotASequence)?;
                continue;
            }
            let word_number = saturated(index.saturating_add(1));
            let number = decimal::parse(word).ok_or(NotAReading::NotANumber { word: word_number })?;
            if let Some(place) = numbers.get_mut(count) {
                *place = number;
            }
            count = count.saturating_add(1);
        }
        if count > SampleValue::CAPACITY {
            return Err(NotAReading::count(count, SampleValue::CAPACITY));
        }
        let value = numbers.get(..count).and_then(SampleValue::new).ok_or(NotAReading::count(0, 1))?;
        Ok(Some(Self { seq, value }))
    }
}

/// Returns the word of a sensor's line at this position, counted from 1 as in [`NotAReading::NotANumber`]; `None` if
/// the line has no such word.
#[must_use]
pub fn word(line: &[u8], place: u8) -> Option<&[u8]> {
    words(line.trim_ascii()).nth(usize::from(place).checked_sub(1)?)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t' | b',' | b';')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(seq: u32, numbers: &[f32]) -> Reading {
        Reading { seq, value: SampleValue::new(numbers).unwrap() }
    }

    #[test]
    fn a_line_is_values_with_or_without_a_sequence_number() {
        for (line, expected) in [
            (&b"0.0503\n"[..], Some(reading(7, &[0.0503]))),
            (b"  seq=12 1,2;3\t-4e-3 \r\n", Some(reading(12, &[1.0, 2.0, 3.0, -0.004]))),
            (b"seq=4294967295 1 2 3 4 5 6", Some(reading(u32::MAX, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))),
            (b"\n", None),
            (b" \t", None),
            (b"# warming up \xb0C", None),
        ] {
            assert_eq!(Reading::from_line(line, 7), Ok(expected));
        }
    }

    #[test]
    fn a_line_that_is_no_reading_is_refused_with_the_word_at_fault() {
        let refused = |line: &[u8]| Reading::from_line(line, 0).expect_err("not a reading");
        assert_eq!(refused(b"0.05 mm"), NotAReading::NotANumber { word: 2 });
        assert_eq!(word(b" 0.05,, mm\r\n", 2), Some(&b"mm"[..]));
        assert_eq!((word(b"0.05", 0), word(b"0.05", 2)), (None, None));
        assert_eq!(refused(b"1 seq=2"), NotAReading::NotANumber { word: 2 });
        for line in ["seq=-1 0.05", "seq= 0.05", "seq=4294967296 1", "seq=99999999999999999999999 1"] {
            assert_eq!(refused(line.as_bytes()), NotAReading::NotASequence, "{line}");
        }
        assert_eq!(refused(b"1 2 3 4 5 6 7 8"), NotAReading::Count { found: 8, expected: 6 });
        assert_eq!(refused(b"seq=3"), NotAReading::Count { found: 0, expected: 1 });
        assert_eq!(refused(b",;"), NotAReading::Count { found: 0, expected: 1 });
        assert_eq!(refused(b"\xff"), NotAReading::NotText);
        assert_eq!(refused(b"1 \x002"), NotAReading::NotText);
    }
}
