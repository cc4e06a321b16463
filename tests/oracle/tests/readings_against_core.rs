//! Tests that the core's decoder and third-party codecs find the same sensor readings in the same bytes.

use outrigger_oracle::readings as oracle;
use outrigger_wire::sensor::{DATAGRAM_MAX, Decoder, FRAME_MAX, Figures, Form, LINE_MAX, Reading, SampleValue};
use proptest::collection::vec;
use proptest::prelude::*;

fn any_reading() -> impl Strategy<Value = Reading> + Clone {
    let seq = prop_oneof![any::<u32>(), 0..300_u32];
    // All bits: NaN with any payload, infinities, and many zeros, which the stuffing removes.
    let number = prop_oneof![any::<u32>().prop_map(f32::from_bits), Just(0.0), Just(1.0), -1e3..1e3_f32];
    (seq, vec(number, 1..=6))
        .prop_map(|(seq, numbers)| Reading { seq, value: SampleValue::new(&numbers).expect("one to six numbers") })
}

fn foreign(reading: &Reading) -> oracle::Reading {
    let values = heapless::Vec::from_slice(reading.value.as_slice()).expect("one to six numbers");
    oracle::Reading { seq: reading.seq, values }
}

/// Generates parts of a stream of sensor readings: valid messages, damaged ones and random bytes.
fn any_part(form: Form) -> impl Strategy<Value = Vec<u8>> {
    let whole = any_reading().prop_map(move |reading| match form {
        Form::Frames => reading.to_frame(&mut [0; FRAME_MAX]).to_vec(),
        Form::Lines => {
            let numbers: Vec<_> = reading.value.as_slice().iter().map(f32::to_string).collect();
            format!("seq={} {}\r\n", reading.seq, numbers.join(", ")).into_bytes()
        }
    });
    let hurt = (whole.clone(), any::<usize>(), any::<u8>()).prop_map(|(mut bytes, at, with)| {
        let at = at % bytes.len();
        bytes[at] ^= with;
        bytes
    });
    let lost = (whole.clone(), any::<usize>()).prop_map(|(mut bytes, at)| {
        bytes.remove(at % bytes.len());
        bytes
    });
    let unnumbered = "(seq=[0-9]{0,11} )?([-+]?[0-9]{1,3}(\\.[0-9]{0,4})?[ ,;\t]){0,8}\n".prop_map(String::into_bytes);
    let long = (vec(1..=255_u8, 1), 30..2 * LINE_MAX).prop_map(|(byte, len)| byte.repeat(len));
    prop_oneof![8 => whole, 1 => hurt, 1 => lost, 2 => unnumbered, 1 => long, 1 => vec(any::<u8>(), 0..20)]
}

fn any_stream() -> impl Strategy<Value = (Form, Vec<u8>)> {
    prop_oneof![Just(Form::Lines), Just(Form::Frames)]
        .prop_flat_map(|form| (Just(form), vec(any_part(form), 0..12).prop_map(|parts| parts.concat())))
}

/// Returns the results of `outrigger_wire`'s decoder for a stream of sensor readings: readings, `None` for rejected
/// messages, and the decoder's counts.
fn found(form: Form, bytes: &[u8]) -> (Vec<Option<Reading>>, Figures) {
    let mut decoder = Decoder::new(form);
    let found = bytes.iter().filter_map(|byte| decoder.push(*byte).map(Result::ok)).collect();
    (found, decoder.figures())
}

proptest! {
    #[test]
    fn a_reading_is_written_as_the_foreign_codecs_write_it_and_read_back_to_the_bit(reading in any_reading()) {
        let (mut datagram, mut frame) = ([0xa5; DATAGRAM_MAX], [0xa5; FRAME_MAX]);
        let (datagram, frame) = (reading.to_datagram(&mut datagram), reading.to_frame(&mut frame));
        prop_assert_eq!(datagram, foreign(&reading).datagram());
        prop_assert_eq!(frame, foreign(&reading).frame());
        for read in [Reading::from_datagram(datagram), Reading::from_frame(&frame[..frame.len() - 1])] {
            let read = read.expect("what was written");
            prop_assert!(read.seq == reading.seq && read.value.same_bits(&reading.value));
        }
    }

    #[test]
    fn any_datagram_is_what_postcard_makes_of_it(bytes in vec(any::<u8>(), 0..40)) {
        match (Reading::from_datagram(&bytes), oracle::datagram(&bytes)) {
            (Ok(core), Some(foreign)) => prop_assert!(foreign.same(core.seq, core.value.as_slice())),
            (Ok(core), None) => prop_assert!(false, "postcard refuses {:?}", core),
            // The codec accepts a count of values in more bytes than a board does.
            (Err(why), Some(foreign)) => prop_assert_ne!(foreign.datagram(), bytes, "{}", why),
            (Err(_), None) => {}
        }
    }

    #[test]
    fn any_stream_says_what_the_foreign_codecs_find_in_it((form, bytes) in any_stream()) {
        let expected = oracle::stream(form == Form::Frames, &bytes);
        let (found, figures) = found(form, &bytes);
        prop_assert_eq!(found.len(), expected.len());
        for (core, foreign) in found.iter().zip(&expected) {
            match (core, foreign) {
                (None, None) => {}
                (Some(core), Some(foreign)) if form == Form::Frames => {
                    prop_assert!(foreign.same(core.seq, core.value.as_slice()));
                }
                (Some(core), Some(foreign)) => prop_assert!(foreign.close(core.seq, core.value.as_slice())),
                _ => prop_assert!(false, "{:?} where {:?} was expected", core, foreign),
            }
        }
        prop_assert_eq!(figures.readings as usize, found.iter().flatten().count());
        prop_assert_eq!(figures.refused as usize, found.iter().filter(|found| found.is_none()).count());
        prop_assert!(figures.garbage as usize <= bytes.len());
    }

    /// Cuts a stream of sensor readings in two at every position, and into pieces of 1 … 63 bytes. The decoder's counts
    /// must be those of the whole stream; after a cut in two, the last reading as well.
    #[test]
    fn any_stream_says_the_same_however_it_is_cut((form, bytes) in any_stream()) {
        let (whole, figures) = found(form, &bytes);
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            let mut decoder = Decoder::new(form);
            let mut refused = 0;
            let newest = [first, second].map(|piece| decoder.newest(piece, |_, _| refused += 1));
            let last = newest[1].or(newest[0]).map(|reading| reading.to_frame(&mut [0; FRAME_MAX]).to_vec());
            let expected = whole.iter().flatten().last().map(|reading| reading.to_frame(&mut [0; FRAME_MAX]).to_vec());
            prop_assert_eq!(last, expected);
            prop_assert_eq!((decoder.figures(), refused), (figures, figures.refused));
        }
        for length in 1..bytes.len().min(64) {
            let mut decoder = Decoder::new(form);
            for piece in bytes.chunks(length) {
                decoder.newest(piece, |_, _| ());
                prop_assert!(decoder.waiting() <= LINE_MAX);
            }
            prop_assert_eq!(decoder.figures(), figures);
        }
    }
}
