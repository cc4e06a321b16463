use core::pin::pin;
use std::path::Path;

use outrigger_wire::sensor::{FRAME_MAX, SampleValue};

use super::test_doubles::{after, poll};
use super::*;
use crate::robot_mailbox::{Mail, Shared};

/// A sensor that always has another reading.
struct Babbling(u32);

impl Sensor for Babbling {
    async fn next(&mut self) -> Arrival {
        self.0 += 1;
        Arrival { reading: Reading { seq: self.0, value: SampleValue::scalar(0.5) }, at: after(u64::from(self.0)) }
    }
}

#[test]
fn the_newest_reading_waits_for_the_robots_task_however_fast_the_sensor_is() {
    let shared = Shared::new();
    let mut pump = pin!(pump(Babbling(0), Handle::new(&shared), SourceId(3)));
    // Each poll returns although there is always another reading.
    for _ in 0..1_000 {
        assert!(poll(pump.as_mut()).is_pending());
    }
    let core::task::Poll::Ready(Mail::Sample(sample)) = poll(pin!(shared.next())) else { panic!("no sample") };
    assert_eq!((sample.source, sample.seq, sample.taken_at), (SourceId(3), 1_000, after(1_000)));
    assert!(poll(pin!(shared.next())).is_pending());
}

/// Returns the text of the reference of a board's inputs.
fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/inputs-reference.md");
    std::fs::read_to_string(page).expect("the page")
}

#[test]
fn the_frame_in_the_documentation_is_the_frame_of_that_reading() {
    let page = page();
    let section = page.split("\n## Firmware of a sensor\n").nth(1).expect("the section");
    let shown = section.split("```text\n").nth(1).and_then(|rest| rest.lines().next()).expect("the bytes");
    let shown: Vec<_> = shown.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect();
    let value = SampleValue::new(&[1.0, 2.0, 3.0, 0.1, 0.2, 0.3]).expect("six values");
    assert_eq!(Reading { seq: 1, value }.to_frame(&mut [0; FRAME_MAX]), shown);
}

#[test]
fn the_times_on_the_wire_are_those_of_the_longest_frames() {
    let page = page();
    let longest = |values| {
        let value = SampleValue::new(&vec![f32::NAN; values]).expect("one to six values");
        Reading { seq: u32::MAX, value }.to_frame(&mut [0; FRAME_MAX]).len()
    };
    let [one, six] = [1, 6].map(longest);
    assert!(page.contains(&format!("| at | a distance, {one} B at most | six values, {six} B at most |")));
    for (shown, baud) in [("115 200", 115_200.0), ("921 600", 921_600.0)] {
        // Ten bits per byte.
        let [one, six] = [one, six].map(|bytes| bytes as f64 * 10.0 * 1e3 / baud);
        assert!(page.contains(&format!("| {shown} Bd | {one:.1} ms | {six:.1} ms, at most ")), "{one} {six}");
    }
}
