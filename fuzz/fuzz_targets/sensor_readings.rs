//! Reads any bytes as sensor readings. Checks that this project's codec and an independent one find the same readings,
//! that every byte is counted, and that readings are written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_tests::oracle::readings as oracle;
use outrigger_wire::sensor::{DATAGRAM_MAX, Decoder, FRAME_MAX, Form, LINE_MAX, Reading};

fn a_datagram(bytes: &[u8]) {
    match (Reading::from_datagram(bytes), oracle::datagram(bytes)) {
        (Ok(reading), Some(foreign)) => {
            assert!(foreign.same(reading.seq, reading.value.as_slice()));
            assert_eq!(reading.to_datagram(&mut [0xa5; DATAGRAM_MAX]), foreign.datagram());
            assert_eq!(reading.to_frame(&mut [0xa5; FRAME_MAX]), foreign.frame());
        }
        (Err(_), None) => {}
        // A board rejects a count that fits only a wider integer.
        (Err(_), Some(foreign)) => assert_ne!(foreign.datagram(), bytes),
        (Ok(reading), None) => panic!("postcard refuses {reading:?}"),
    }
}

fn a_stream(form: Form, bytes: &[u8]) {
    let mut expected = oracle::stream(form == Form::Frames, bytes).into_iter();
    let mut decoder = Decoder::new(form);
    let (mut of_readings, mut ends) = (0, 0);
    for byte in bytes {
        let before = decoder.waiting();
        let found = decoder.push(*byte).map(|found| found.map_err(drop));
        ends += usize::from(if form == Form::Frames { *byte == 0 } else { matches!(byte, b'\n' | b'\r') });
        assert!(decoder.waiting() <= LINE_MAX);
        match found {
            None => {}
            Some(Ok(reading)) => {
                of_readings += before;
                let foreign = expected.next().flatten().expect("a reading for the foreign codecs too");
                let numbers = reading.value.as_slice();
                let bits = form == Form::Frames;
                assert!(if bits { foreign.same(reading.seq, numbers) } else { foreign.close(reading.seq, numbers) });
            }
            Some(Err(())) => assert_eq!(expected.next(), Some(None)),
        }
    }
    assert_eq!(expected.next(), None);
    let accounted = of_readings + decoder.figures().garbage as usize + decoder.waiting() + ends;
    // Blank lines and comments are neither readings nor garbage.
    assert!(if form == Form::Frames { accounted == bytes.len() } else { accounted <= bytes.len() });
}

// The first byte chooses the form; the rest is what the sensor sends.
fuzz_target!(|case: &[u8]| {
    match case {
        [b'D', bytes @ ..] => a_datagram(bytes),
        [b'F', bytes @ ..] => a_stream(Form::Frames, bytes),
        [b'L', bytes @ ..] => a_stream(Form::Lines, bytes),
        _ => {}
    }
});
