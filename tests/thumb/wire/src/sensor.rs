//! Sensor readings: streams, datagrams, lines, and the output of a sensor.

use outrigger_wire::sensor::{DATAGRAM_MAX, Decoder, FRAME_MAX, Form, NotAReading, Reading, Scale, SourceId, word};
use outrigger_wire::time::Instant;

use crate::{any, any_bytes, shown, used};

#[inline(never)]
pub fn probe() {
    let mut decoder = any(Decoder::new(any(Form::Frames)));
    let newest = decoder.newest(any_bytes(), |message, why| {
        shown(why);
        if let NotAReading::NotANumber { word: place } = why {
            used(word(message, place));
        }
    });
    decoder.resync();
    used((decoder.figures(), decoder.waiting()));
    for reading in [newest, Reading::from_datagram(any_bytes()).ok(), Reading::from_frame(any_bytes()).ok()] {
        written(reading);
    }
    match Reading::from_line(any_bytes(), any(7)) {
        Ok(reading) => written(reading),
        Err(why) => shown(why),
    }
}

#[inline(never)]
fn written(reading: Option<Reading>) {
    let Some(reading) = reading else { return };
    let reading = any(Scale { factor: 0.001, offset: 0.0 }).of(reading);
    used(reading.to_datagram(&mut [0; DATAGRAM_MAX]));
    used(reading.to_frame(&mut [0; FRAME_MAX]));
    used(reading.with_count(any(1)).map(|reading| reading.sample(SourceId(any(1)), Instant::from_micros(any(9)))));
}
