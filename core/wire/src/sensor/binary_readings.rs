//! Readings in binary form: as a `postcard` datagram, and with a checksum and byte stuffing for serial lines.
//!
//! A frame is a datagram and its CRC-32 as a little-endian `u32`, stuffed by COBS so that no byte is zero, and then a
//! zero. A receiver that joins the stream, or loses a byte, waits for the next zero. The CRC is that of Ethernet and
//! zlib (reflected polynomial `0xedb88320`, all bits set at the start, inverted at the end).

use heapless::Vec;

use super::{NotAReading, Reading};
use crate::checksum::crc32;
use crate::cobs;
use crate::sensor::SampleValue;

/// The length of the longest sensor datagram \[B\]: a sequence number of 5 bytes, the number of values, six values.
pub const DATAGRAM_MAX: usize = 5 + 1 + 4 * SampleValue::CAPACITY;
/// The length of the longest sensor datagram together with its checksum \[B\].
const CONTENT_MAX: usize = DATAGRAM_MAX + 4;
/// The length of the longest sensor frame, with the zero byte at its end \[B\]. Stuffing adds one byte to contents of
/// less than 254 bytes.
pub const FRAME_MAX: usize = 1 + CONTENT_MAX + 1;

const _: () = assert!(CONTENT_MAX <= cobs::CONTENT_MAX, "one byte of stuffing in all");

type Content = Vec<u8, CONTENT_MAX>;

impl Reading {
    /// Reads one sensor datagram. Bytes behind the reading are rejected, because they are a sign of another form.
    ///
    /// # Errors
    /// [`NotAReading`]: `Malformed`, `Count`.
    pub fn from_datagram(bytes: &[u8]) -> Result<Self, NotAReading> {
        let (seq, rest) = varint(bytes)?;
        let (count, rest) = varint(rest)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if !(1..=SampleValue::CAPACITY).contains(&count) {
            return Err(NotAReading::count(count, count.clamp(1, SampleValue::CAPACITY)));
        }
        let (words, behind) = rest.as_chunks();
        if words.len() != count || !behind.is_empty() {
            return Err(NotAReading::Malformed);
        }
        let mut numbers = [0.0; SampleValue::CAPACITY];
        for (number, word) in numbers.iter_mut().zip(words) {
            *number = f32::from_le_bytes(*word);
        }
        let value = numbers.get(..count).and_then(SampleValue::new).ok_or(NotAReading::Malformed)?;
        Ok(Self { seq, value })
    }

    /// Reads one sensor frame, without the zero byte at its end.
    ///
    /// # Errors
    /// [`NotAReading`]: `TooLong`, `Stuffing`, `Checksum`, `Malformed`, `Count`.
    pub fn from_frame(bytes: &[u8]) -> Result<Self, NotAReading> {
        if bytes.len() >= FRAME_MAX {
            return Err(NotAReading::TooLong);
        }
        let content: Content = cobs::content(bytes).ok_or(NotAReading::Stuffing)?;
        let (datagram, sum) = content.split_last_chunk().ok_or(NotAReading::Checksum)?;
        if crc32(datagram) != u32::from_le_bytes(*sum) {
            return Err(NotAReading::Checksum);
        }
        Self::from_datagram(datagram)
    }

    /// Writes the sensor's reading as a datagram and returns its bytes; for programs that act as a sensor.
    pub fn to_datagram<'o>(&self, out: &'o mut [u8; DATAGRAM_MAX]) -> &'o [u8] {
        written(&self.content(), out)
    }

    /// Writes the sensor's reading as a frame with its final zero and returns its bytes; for programs that act as a
    /// sensor.
    pub fn to_frame<'o>(&self, out: &'o mut [u8; FRAME_MAX]) -> &'o [u8] {
        let mut content = self.content();
        // Vectors of the size of the longest reading have room for any reading.
        let _ = content.extend_from_slice(&crc32(&content).to_le_bytes());
        let frame = cobs::framed::<FRAME_MAX>(&content).unwrap_or_default();
        written(&frame, out)
    }

    fn content(&self) -> Content {
        let numbers = self.value.as_slice();
        let mut content = Content::new();
        let mut seq = self.seq;
        while seq >= 0x80 {
            let [low, ..] = seq.to_le_bytes();
            let _ = content.push(low | 0x80);
            seq >>= 7;
        }
        let [low, ..] = seq.to_le_bytes();
        let _ = content.push(low);
        // One to six: a varint of one byte.
        let _ = content.push(u8::try_from(numbers.len()).unwrap_or_default());
        for number in numbers {
            let _ = content.extend_from_slice(&number.to_le_bytes());
        }
        content
    }
}

fn written<'o, const N: usize>(bytes: &[u8], out: &'o mut [u8; N]) -> &'o [u8] {
    for (place, byte) in out.iter_mut().zip(bytes) {
        *place = *byte;
    }
    out.get(..bytes.len()).unwrap_or(&[])
}

/// Reads a varint of 32 bits, low groups of seven bits first; returns it with the bytes behind it.
fn varint(bytes: &[u8]) -> Result<(u32, &[u8]), NotAReading> {
    let mut value = 0_u32;
    let mut rest = bytes;
    for shift in [0, 7, 14, 21, 28] {
        let [byte, after @ ..] = rest else { break };
        rest = after;
        let group = u32::from(byte & 0x7f);
        if shift == 28 && *byte > 0x0f {
            break;
        }
        value |= group << shift;
        if byte & 0x80 == 0 {
            return Ok((value, rest));
        }
    }
    Err(NotAReading::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(seq: u32, numbers: &[f32]) -> Reading {
        Reading { seq, value: SampleValue::new(numbers).unwrap() }
    }

    #[test]
    fn the_longest_reading_fills_the_longest_forms() {
        let longest = reading(u32::MAX, &[f32::NAN; 6]);
        assert_eq!(longest.to_datagram(&mut [0xa5; DATAGRAM_MAX]).len(), DATAGRAM_MAX);
        assert_eq!(longest.to_frame(&mut [0xa5; FRAME_MAX]).len(), FRAME_MAX);
    }

    #[test]
    fn a_datagram_is_one_reading_and_nothing_else() {
        let malformed = Err(NotAReading::Malformed);
        assert_eq!(Reading::from_datagram(&[0xac, 2, 1, 0, 0, 0x80, 0x3f]), Ok(reading(300, &[1.0])));
        assert_eq!(Reading::from_datagram(&[0xac, 2, 1, 0, 0, 0x80, 0x3f, 0]), malformed);
        assert_eq!(Reading::from_datagram(&[0xac, 2, 1, 0, 0, 0x80]), malformed);
        assert_eq!(Reading::from_datagram(&[]), malformed);
        assert_eq!(Reading::from_datagram(&[0xff, 0xff, 0xff, 0xff, 0x1f, 1, 0, 0, 0, 0]), malformed);
        assert_eq!(
            Reading::from_datagram(&[0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0, 0, 0, 0]),
            Ok(reading(u32::MAX, &[0.0]))
        );
        assert_eq!(Reading::from_datagram(&[1, 0]), Err(NotAReading::Count { found: 0, expected: 1 }));
        assert_eq!(Reading::from_datagram(&[1, 7]), Err(NotAReading::Count { found: 7, expected: 6 }));
    }

    #[test]
    fn a_frame_with_any_bit_changed_is_refused() {
        let mut out = [0; FRAME_MAX];
        let frame = reading(300, &[1.0, -0.0, 0.1, 2.5, f32::MIN_POSITIVE, 7e5]).to_frame(&mut out).to_vec();
        let (zero, frame) = frame.split_last().unwrap();
        assert_eq!(*zero, 0);
        assert!(Reading::from_frame(frame).is_ok());
        for bit in 0..8 * frame.len() {
            let mut hurt = frame.to_vec();
            hurt[bit / 8] ^= 1 << (bit % 8);
            let error = Reading::from_frame(&hurt).expect_err("not what was sent");
            assert!(matches!(error, NotAReading::Checksum | NotAReading::Stuffing), "bit {bit}: {error:?}");
        }
        assert_eq!(Reading::from_frame(&[]), Err(NotAReading::Checksum));
        assert_eq!(Reading::from_frame(&[1; FRAME_MAX]), Err(NotAReading::TooLong));
    }
}
