//! What the documentation shows is what the code does.

use std::path::Path;

use outrigger_wire::sensor::{FRAME_MAX, Reading, SampleValue};

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/inputs.md")).expect("the page")
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
        // Ten bits a byte.
        let [one, six] = [one, six].map(|bytes| bytes as f64 * 10.0 * 1e3 / baud);
        assert!(page.contains(&format!("| {shown} Bd | {one:.1} ms | {six:.1} ms, at most ")), "{one} {six}");
    }
}
