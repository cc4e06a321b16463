//! Reads a stream of sensor readings with third-party codecs: `postcard`, `cobs`, `crc`, and the numbers of the
//! standard library. The rules are those of `port-linux/docs/sensors.md`.

use crc::{CRC_32_ISO_HDLC, Crc};
use serde::{Deserialize, Serialize};

const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The lengths \[B\] of the longest valid line, and of the longest valid frame without its final zero byte, in a stream
/// of sensor readings.
const LONGEST: [usize; 2] = [256, 35];

/// A sensor reading, in the form that the third-party codec `postcard` writes and reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The sequence number of the reading.
    pub seq: u32,
    /// The one to six measured values of the reading.
    pub values: heapless::Vec<f32, 6>,
}

impl Reading {
    /// Returns whether `seq` and `values` are those of this reading, to the bit. Compares bits because NaN is a
    /// possible measurement.
    #[must_use]
    pub fn same(&self, seq: u32, values: &[f32]) -> bool {
        self.seq == seq && self.values.iter().map(|v| v.to_bits()).eq(values.iter().map(|v| v.to_bits()))
    }

    /// Returns whether `seq` is that of this reading and `values` differ from the reading's by at most one unit in the
    /// last place, because numbers in text may be rounded in either direction.
    #[must_use]
    pub fn close(&self, seq: u32, values: &[f32]) -> bool {
        let near = |(a, b): (&f32, &f32)| a.is_nan() && b.is_nan() || a.to_bits().abs_diff(b.to_bits()) <= 1;
        self.seq == seq && self.values.len() == values.len() && self.values.iter().zip(values).all(near)
    }

    /// Returns the reading as a binary datagram, which `postcard` encodes.
    ///
    /// # Panics
    /// Never, because there is room for any reading.
    #[must_use]
    pub fn datagram(&self) -> Vec<u8> {
        postcard::to_slice(self, &mut [0; 64]).expect("room").to_vec()
    }

    /// Returns the reading as a frame for a serial line: datagram and checksum, encoded with COBS, and a zero byte.
    #[must_use]
    pub fn frame(&self) -> Vec<u8> {
        let mut content = self.datagram();
        content.extend(CRC.checksum(&content).to_le_bytes());
        let mut frame = vec![0; cobs::max_encoding_length(content.len())];
        let len = cobs::encode(&content, &mut frame);
        frame.truncate(len);
        frame.push(0);
        frame
    }
}

/// Decodes a binary datagram to the sensor reading in it; `None` if the datagram is invalid.
#[must_use]
pub fn datagram(bytes: &[u8]) -> Option<Reading> {
    let (reading, rest) = postcard::take_from_bytes::<Reading>(bytes).ok()?;
    (rest.is_empty() && !reading.values.is_empty()).then_some(reading)
}

/// Decodes a frame of a serial line, without its zero byte, to the sensor reading in it; `None` if the frame is
/// invalid.
#[must_use]
pub fn frame(bytes: &[u8]) -> Option<Reading> {
    let mut content = vec![0; bytes.len() + 1];
    let len = cobs::decode(bytes, &mut content).ok()?;
    let (bytes, sum) = content.get(..len)?.split_last_chunk()?;
    (CRC.checksum(bytes) == u32::from_le_bytes(*sum)).then_some(())?;
    datagram(bytes)
}

/// The content of one message, a line or a frame, in a stream of sensor readings.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A valid sensor reading.
    Reading(Reading),
    /// No content: blank, or a comment.
    Nothing,
    /// An invalid message.
    Wrong,
}

/// Returns the content of one line of text with a sensor reading, without the line's end. `next` is the sequence number
/// of a reading that has none.
#[must_use]
pub fn line(bytes: &[u8], next: u32) -> Content {
    let bytes = bytes.trim_ascii();
    if bytes.is_empty() || bytes.starts_with(b"#") {
        return Content::Nothing;
    }
    numbers(bytes, next).map_or(Content::Wrong, Content::Reading)
}

fn numbers(bytes: &[u8], next: u32) -> Option<Reading> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.contains(|c: char| c != '\t' && !(' '..='~').contains(&c)) {
        return None;
    }
    let mut words = text.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()).peekable();
    let mut reading = Reading { seq: next, ..Reading::default() };
    if let Some(digits) = words.next_if(|word| word.starts_with("seq=")).and_then(|word| word.strip_prefix("seq=")) {
        // The standard library also accepts a sign.
        reading.seq = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
    }
    for word in words {
        reading.values.push(word.parse().ok()?).ok()?;
    }
    (!reading.values.is_empty()).then_some(reading)
}

/// Returns the content of a stream of sensor readings in order: readings, and `None` for each invalid message. The
/// beginning up to the first delimiter and the unfinished end are ignored.
#[must_use]
pub fn stream(is_frames: bool, bytes: &[u8]) -> Vec<Option<Reading>> {
    let ends = |byte: &u8| if is_frames { *byte == 0 } else { matches!(byte, b'\n' | b'\r') };
    let mut messages: Vec<_> = bytes.split(ends).skip(1).collect();
    messages.pop();
    let mut next = 0;
    let mut said = Vec::new();
    for message in messages.into_iter().filter(|message| !message.is_empty()) {
        let says = if message.len() > LONGEST[usize::from(is_frames)] {
            Content::Wrong
        } else if is_frames {
            frame(message).map_or(Content::Wrong, Content::Reading)
        } else {
            line(message, next)
        };
        match says {
            Content::Nothing => {}
            Content::Reading(reading) => {
                next = reading.seq.wrapping_add(1);
                said.push(Some(reading));
            }
            Content::Wrong => said.push(None),
        }
    }
    said
}
