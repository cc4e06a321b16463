//! Encodes the readings of a simulated sensor as lines, frames or datagrams.

use std::fmt::Write as _;

use outrigger_sim::sensor::Sent;
use outrigger_wire::sensor::{DATAGRAM_MAX, FRAME_MAX, Reading, SampleValue};

/// The magnitude from which on a value is written in its shortest form, without the requested decimals, because a line
/// of six values has no room for more digits.
const SHORT: f32 = 1e9;

/// The encoding of a simulated sensor's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Lines of text, one reading per line.
    Lines {
        /// The number of decimals of each value below a thousand million; `None` for as many as represent the value
        /// exactly.
        decimals: Option<u8>,
        /// `true` if each line contains the sequence number of its reading.
        seq: bool,
    },
    /// Frames with a checksum, for a serial line or another stream of bytes.
    Frames,
    /// Datagrams of UDP, one reading each, without a checksum of their own.
    Datagrams,
}

impl Written {
    /// Returns the bytes of one message with a reading or with invalid bytes; `None` if the sensor is to be silent.
    pub(super) fn message(self, sent: Sent) -> Option<Vec<u8>> {
        let (seq, values, hurt) = match sent {
            Sent::Nothing => return None,
            Sent::Garbage(bytes) => return Some(bytes),
            Sent::Reading { seq, values, hurt } => (seq, values, hurt),
        };
        let reading = || Some(Reading { seq, value: SampleValue::new(&values)? });
        let mut bytes = match self {
            Self::Frames => reading()?.to_frame(&mut [0; FRAME_MAX]).to_vec(),
            Self::Datagrams => reading()?.to_datagram(&mut [0; DATAGRAM_MAX]).to_vec(),
            Self::Lines { decimals, seq: said } => {
                let mut line = if said { format!("seq={seq}") } else { String::new() };
                for value in &values {
                    line.extend((!line.is_empty()).then_some(' '));
                    let _ = match decimals {
                        Some(decimals) if value.abs() < SHORT => write!(line, "{value:.*}", usize::from(decimals)),
                        // The shortest text that is read back as the same number.
                        _ => write!(line, "{value:?}"),
                    };
                }
                line.push('\n');
                line.into_bytes()
            }
        };
        if let Some(hurt) = hurt {
            let bit = hurt % (8 * bytes.len() as u64);
            let byte = usize::try_from(bit / 8).ok().and_then(|place| bytes.get_mut(place));
            byte.into_iter().for_each(|byte| *byte ^= 1 << (bit % 8));
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use outrigger_wire::sensor::{Decoder, Form, LINE_MAX};
    use proptest::prelude::*;

    use super::*;

    const EXACT: Written = Written::Lines { decimals: None, seq: true };

    fn reading(seq: u32, values: &[f32], hurt: Option<u64>) -> Sent {
        Sent::Reading { seq, values: values.to_vec(), hurt }
    }

    fn bits(reading: &Reading) -> (u32, Vec<u32>) {
        let value = |value: &f32| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() };
        (reading.seq, reading.value.as_slice().iter().map(value).collect())
    }

    #[test]
    fn lines_are_as_an_instrument_prints_them_where_that_is_asked_for() {
        let text = |written: Written, sent| String::from_utf8(written.message(sent).expect("a message")).expect("text");
        assert_eq!(text(EXACT, reading(7, &[0.05, -1.0], None)), "seq=7 0.05 -1.0\n");
        let instrument = Written::Lines { decimals: Some(1), seq: false };
        assert_eq!(text(instrument, reading(7, &[52.34, 0.0], None)), "52.3 0.0\n");
        assert_eq!(EXACT.message(Sent::Nothing), None);
    }

    #[test]
    fn a_hurt_message_differs_in_one_bit() {
        for written in [EXACT, Written::Frames, Written::Datagrams] {
            let whole = written.message(reading(7, &[1.0], None)).expect("a message");
            for bit in 0..8 * whole.len() as u64 {
                let hurt = written.message(reading(7, &[1.0], Some(bit))).expect("a message");
                let differ: u32 = whole.iter().zip(&hurt).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!((hurt.len(), differ), (whole.len(), 1));
            }
        }
    }

    proptest! {
        /// Splits the encoded bytes into pieces of any length, as a serial line delivers them, and checks that the
        /// core decodes them.
        #[test]
        fn what_is_sent_is_read_back_by_the_core(
            sent in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u32>(), 1..=6)), 1..8),
        ) {
            for (written, form) in [(EXACT, Form::Lines), (Written::Frames, Form::Frames)] {
                let mut decoder = Decoder::new(form);
                // A decoder reads correctly from the first end of a message on.
                let end = if form == Form::Lines { b'\n' } else { 0 };
                prop_assert!(decoder.push(end).is_none());
                for (seq, values) in &sent {
                    let values: Vec<f32> = values.iter().copied().map(f32::from_bits).collect();
                    let message = written.message(reading(*seq, &values, None)).expect("a message");
                    prop_assert!(message.len() <= LINE_MAX);
                    let mut read: Vec<Reading> =
                        message.iter().filter_map(|byte| decoder.push(*byte)?.ok()).collect();
                    let expected = Reading { seq: *seq, value: SampleValue::new(&values).expect("one to six") };
                    prop_assert_eq!(read.pop().map(|read| bits(&read)), Some(bits(&expected)));
                    prop_assert!(read.is_empty());
                    let datagram = Written::Datagrams.message(reading(*seq, &values, None)).expect("a message");
                    let read = Reading::from_datagram(&datagram).map(|read| bits(&read));
                    prop_assert_eq!(read, Ok(bits(&expected)));
                }
            }
        }
    }
}
