//! A sensor on a serial device. A pseudo terminal of the kernel replaces the line.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use outrigger::config::{Format, SourceInput, SourceSettings};
use outrigger::host::Clock;
use outrigger::sensor::{Arrival, Sources};
use outrigger_core::command::SourceConfig;
use outrigger_wire::sensor::{FRAME_MAX, Reading, SampleValue, SourceId};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Opens a pseudo terminal. Returns the sensor's end and the path of the other end.
fn wire() -> (File, PathBuf) {
    let sensor = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&sensor).and_then(|()| unlockpt(&sensor)).expect("it is ours");
    let device = ptsname(&sensor, Vec::new()).expect("a name").into_string().expect("of ASCII");
    (File::from(sensor), device.into())
}

fn opened(device: PathBuf, format: Format, values: usize) -> Sources {
    let settings = SourceSettings {
        name: "sensor".into(),
        input: SourceInput::Serial { device, baud: 115_200 },
        format,
        values,
        scale: 0.5,
        offset: 0.0,
        judged: SourceConfig::new(SourceId(0), 1, f32::MIN, f32::MAX),
    };
    Sources::open(&[settings], Clock::start(), false).expect("the device opens")
}

/// Returns the next reading, and the errors of the input before it. `None` once the line has been closed.
async fn next(sources: &mut Sources) -> (Option<Reading>, Vec<String>) {
    let mut complaints = Vec::new();
    loop {
        match sources.next().await.expect("the source is open") {
            Arrival::Reading { reading, .. } => return (Some(reading), complaints),
            Arrival::NotAReading { why, .. } => complaints.push(why),
            Arrival::Ended { .. } => return (None, complaints),
            Arrival::Line { text, .. } => panic!("{text:?} on standard input"),
        }
    }
}

fn reading(seq: u32, values: &[f32]) -> Reading {
    Reading { seq, value: SampleValue::new(values).expect("one to six") }
}

#[tokio::test]
async fn lines_are_readings_from_the_first_whole_one_on() {
    let (mut sensor, device) = wire();
    let mut sources = opened(device, Format::Text, 1);
    sensor.write_all(b"0.3\nseq=41 0.5\r\n").expect("the wire takes it");
    assert_eq!(next(&mut sources).await, (Some(reading(41, &[0.25])), vec![]));
    sensor.write_all(b"12 mm\n1 2\n6").expect("the wire takes it");
    sensor.write_all(b"\n").expect("the wire takes it");
    let (newest, complaints) = next(&mut sources).await;
    assert_eq!(newest.map(|reading| reading.value), Some(SampleValue::scalar(3.0)));
    assert!(complaints.iter().any(|why| why == "word 2 is not a number: 'mm'"), "{complaints:?}");
    drop(sensor);
    assert_eq!(next(&mut sources).await.0, None);
}

#[tokio::test]
async fn frames_are_readings_and_a_hurt_one_is_not() {
    let (mut sensor, device) = wire();
    let mut sources = opened(device, Format::Postcard, 6);
    // The frame contains bytes that a terminal would interpret: 3, 4, 17, 19, 13 and 10.
    let values = [3, 4, 17, 19, 13, 10].map(|byte| f32::from_le_bytes([byte; 4]));
    let mut room = [0; FRAME_MAX];
    let frame = reading(0x0a0d_1113, &values).to_frame(&mut room);
    sensor.write_all(&[0]).and_then(|()| sensor.write_all(frame)).expect("the wire takes it");
    let half = values.map(|value| value * 0.5 + 0.0);
    assert_eq!(next(&mut sources).await, (Some(reading(0x0a0d_1113, &half)), vec![]));

    let mut hurt = frame.to_vec();
    hurt[9] ^= 1;
    let (last, first) = frame.split_last().expect("a zero");
    sensor.write_all(&hurt).and_then(|()| sensor.write_all(first)).expect("the wire takes it");
    sensor.write_all(&[*last]).expect("the wire takes it");
    let (newest, complaints) = next(&mut sources).await;
    assert_eq!(newest, Some(reading(0x0a0d_1113, &half)));
    assert!(
        matches!(complaints.as_slice(), [why] if why == "wrong checksum" || why == "not a frame"),
        "{complaints:?}"
    );
}
