//! Extracts readings from a stream of bytes, in fixed memory.
//!
//! Bytes arrive in pieces of any size. A message ends at its delimiter: a zero for frames, a line feed or carriage
//! return for lines. A message that is too long is skipped to its delimiter. A decoder discards everything up to the
//! first delimiter, because the sensor may have been sending before: `0.0503` cut in half is a wrong number, not an
//! error. The same applies after bytes are known to be lost.

use super::{FRAME_MAX, NotAReading, Reading};

/// The length of the longest line that can be a sensor's reading \[B\], without its end: six numbers of 17 digits with
/// their exponents, and more.
pub const LINE_MAX: usize = 256;

/// The form in which a sensor sends its readings on a serial line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Form {
    /// The form with one reading per line of text. There is no checksum, so a byte lost within a number results in
    /// another number.
    #[default]
    Lines,
    /// The form with one reading per binary frame with a checksum.
    Frames,
}

impl Form {
    const fn longest(self) -> usize {
        match self {
            Self::Lines => LINE_MAX,
            Self::Frames => FRAME_MAX - 1,
        }
    }

    const fn ends(self, byte: u8) -> bool {
        match self {
            Self::Lines => matches!(byte, b'\n' | b'\r'),
            Self::Frames => byte == 0,
        }
    }
}

/// The counts of a sensor's messages since the decoder was created; all saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Figures {
    /// The number of valid sensor readings decoded.
    pub readings: u32,
    /// The number of complete messages that are not sensor readings, including those that are too long.
    pub refused: u32,
    /// The number of bytes that belong to no sensor reading: those of rejected messages, and those before the first
    /// delimiter at the start and after each [loss](Decoder::resync).
    pub garbage: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The decoder collects a sensor's message whose beginning was received.
    Collecting,
    /// The decoder is in a sensor's message that is too long, and skips it up to its delimiter.
    Skipping,
    /// The decoder is in a sensor's message whose beginning was not received, and waits for its delimiter.
    Joining,
}

/// Extracts a sensor's readings from one stream of bytes.
#[derive(Clone, Debug)]
pub struct Decoder {
    form: Form,
    bytes: [u8; LINE_MAX],
    len: usize,
    state: State,
    /// The sequence number given to the next line of text that contains none.
    next_seq: u32,
    figures: Figures,
}

impl Decoder {
    /// Returns a decoder for a sensor's stream that may begin in the middle of a message.
    #[must_use]
    pub const fn new(form: Form) -> Self {
        let figures = Figures { readings: 0, refused: 0, garbage: 0 };
        Self { form, bytes: [0; LINE_MAX], len: 0, state: State::Joining, next_seq: 0, figures }
    }

    /// Returns the counts of readings, rejected messages and unusable bytes of the sensor's stream.
    #[must_use]
    pub const fn figures(&self) -> Figures {
        self.figures
    }

    /// Returns the number of received bytes of an incomplete sensor message \[B\].
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.len
    }

    /// Records that bytes of the sensor's stream were lost: the current message is discarded up to its delimiter.
    pub fn resync(&mut self) {
        self.figures.garbage = self.figures.garbage.saturating_add(count(self.len));
        self.len = 0;
        self.state = State::Joining;
    }

    /// Processes the bytes of one read and returns the newest reading among them; `None` if they complete none. Earlier
    /// readings are dropped, because they are older than their time of arrival. Complete messages that are not readings
    /// are passed to `refused` with their bytes (none if there were too many).
    pub fn newest(&mut self, bytes: &[u8], mut refused: impl FnMut(&[u8], NotAReading)) -> Option<Reading> {
        let mut newest = None;
        for byte in bytes {
            match self.push(*byte) {
                None => {}
                Some(Ok(reading)) => newest = Some(reading),
                Some(Err((message, why))) => refused(message, why),
            }
        }
        newest
    }

    /// Processes one byte of a sensor's stream. If it completes a message, returns the reading, or the message and the
    /// reason why it is not a reading; otherwise, and after a blank line or a comment, `None`.
    pub fn push(&mut self, byte: u8) -> Option<Result<Reading, (&[u8], NotAReading)>> {
        if self.form.ends(byte) {
            return self.end();
        }
        match (self.state, self.bytes.get_mut(..self.form.longest()).and_then(|bytes| bytes.get_mut(self.len))) {
            (State::Collecting, Some(place)) => {
                *place = byte;
                self.len = self.len.saturating_add(1);
            }
            (State::Collecting, None) => {
                let dropped = count(self.len).saturating_add(1);
                self.figures.garbage = self.figures.garbage.saturating_add(dropped);
                self.len = 0;
                self.state = State::Skipping;
            }
            (State::Skipping | State::Joining, _) => self.figures.garbage = self.figures.garbage.saturating_add(1),
        }
        None
    }

    fn end(&mut self) -> Option<Result<Reading, (&[u8], NotAReading)>> {
        let len = core::mem::take(&mut self.len);
        let message = self.bytes.get(..len).unwrap_or(&[]);
        let read = match (core::mem::replace(&mut self.state, State::Collecting), self.form) {
            (State::Joining, _) => return None,
            (State::Skipping, _) => Err(NotAReading::TooLong),
            // Two delimiters in a row: some systems end lines with both, and some senders begin a frame with a zero.
            (State::Collecting, _) if message.is_empty() => return None,
            (State::Collecting, Form::Lines) => Reading::from_line(message, self.next_seq),
            (State::Collecting, Form::Frames) => Reading::from_frame(message).map(Some),
        };
        match read {
            Ok(None) => None,
            Ok(Some(reading)) => {
                self.figures.readings = self.figures.readings.saturating_add(1);
                self.next_seq = reading.seq.wrapping_add(1);
                Some(Ok(reading))
            }
            Err(why) => {
                self.figures.refused = self.figures.refused.saturating_add(1);
                self.figures.garbage = self.figures.garbage.saturating_add(count(len));
                Some(Err((message, why)))
            }
        }
    }
}

fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::SampleValue;

    type Received = Vec<Result<Reading, NotAReading>>;

    fn decoded(decoder: &mut Decoder, bytes: &[u8]) -> Received {
        bytes.iter().filter_map(|byte| decoder.push(*byte).map(|seen| seen.map_err(|(_, why)| why))).collect()
    }

    fn distance(seq: u32, metres: f32) -> Reading {
        Reading { seq, value: SampleValue::scalar(metres) }
    }

    fn framed(readings: &[Reading]) -> Vec<u8> {
        readings.iter().flat_map(|reading| reading.to_frame(&mut [0; FRAME_MAX]).to_vec()).collect()
    }

    #[test]
    fn half_a_line_at_the_beginning_is_no_number() {
        let mut decoder = Decoder::new(Form::Lines);
        assert_eq!(
            decoded(&mut decoder, b"503\n0.0504\r\n0.0505\r0.06"),
            [Ok(distance(0, 0.0504)), Ok(distance(1, 0.0505))]
        );
        assert_eq!(decoder.figures(), Figures { readings: 2, refused: 0, garbage: 3 });
        assert_eq!(decoder.waiting(), 4);
    }

    #[test]
    fn after_lost_bytes_the_rest_of_a_line_is_no_number() {
        let mut decoder = Decoder::new(Form::Lines);
        assert_eq!(decoded(&mut decoder, b"\n0.0"), []);
        decoder.resync();
        assert_eq!(decoded(&mut decoder, b"3\n0.05\n"), [Ok(distance(0, 0.05))]);
        assert_eq!(decoder.figures(), Figures { readings: 1, refused: 0, garbage: 4 });
    }

    #[test]
    fn lines_without_a_number_of_their_own_are_counted_from_the_last_one() {
        let mut decoder = Decoder::new(Form::Lines);
        let seen = decoded(&mut decoder, b"\nseq=4294967295 1\n2\n# three\nx\n3\n");
        let not_a_number = NotAReading::NotANumber { word: 1 };
        assert_eq!(seen, [Ok(distance(u32::MAX, 1.0)), Ok(distance(0, 2.0)), Err(not_a_number), Ok(distance(1, 3.0))]);
    }

    #[test]
    fn endless_lines_and_frames_are_skipped_to_their_end() {
        for (form, good) in [(Form::Lines, b"5\n".to_vec()), (Form::Frames, framed(&[distance(0, 5.0)]))] {
            let mut decoder = Decoder::new(form);
            let delimiter = *good.last().unwrap();
            let fits = [vec![delimiter], vec![b'x'; form.longest()], vec![delimiter]].concat();
            assert!(!decoded(&mut decoder, &fits).contains(&Err(NotAReading::TooLong)));
            let endless = [vec![b'x'; 10 * LINE_MAX], vec![delimiter], good].concat();
            assert_eq!(decoded(&mut decoder, &endless), [Err(NotAReading::TooLong), Ok(distance(0, 5.0))]);
            let garbage = u32::try_from(10 * LINE_MAX + form.longest()).unwrap();
            assert_eq!(decoder.figures(), Figures { readings: 1, refused: 2, garbage });
        }
    }

    #[test]
    fn a_hurt_frame_costs_itself_and_no_other() {
        let readings = [distance(1, 0.1), distance(2, 0.2), distance(3, 0.3)];
        let mut stream = [vec![0], framed(&readings)].concat();
        let second = framed(&readings[..1]).len() + 4;
        stream[second] ^= 0x40;
        let mut decoder = Decoder::new(Form::Frames);
        let seen = decoded(&mut decoder, &stream);
        assert!(matches!(seen[..], [Ok(first), Err(_), Ok(third)] if first == readings[0] && third == readings[2]));
        // The same stream without the delimiter of one frame: two frames become one message.
        stream.remove(second);
        assert_eq!(decoded(&mut Decoder::new(Form::Frames), &stream).len(), 3);
    }

    #[test]
    fn of_what_one_read_returned_only_the_newest_reading_counts() {
        let mut decoder = Decoder::new(Form::Lines);
        let mut refused = Vec::new();
        let newest = decoder.newest(b"\n0.1\nmm\n0.2\n0.3", |bytes, why| refused.push((bytes.to_vec(), why)));
        assert_eq!(newest, Some(distance(1, 0.2)));
        assert_eq!(refused, [(b"mm".to_vec(), NotAReading::NotANumber { word: 1 })]);
        assert_eq!(decoder.figures(), Figures { readings: 2, refused: 1, garbage: 2 });
    }
}
