//! The messages at readers, compared with the recording of the same run: all bits are equal, and nothing is lost.

use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, file, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// The default duration of the test that compares messages at 500 Hz with a recording \[s\].
const SECONDS: u64 = 8;
/// The environment variable that replaces the default durations of tests \[s\]. The nightly run sets it.
const VARIABLE: &str = "OUTRIGGER_ROS2_SECONDS";

/// Returns the duration of a test: that in the environment variable [`VARIABLE`], else `otherwise` \[s\].
pub(crate) fn seconds(otherwise: u64) -> Duration {
    let said = std::env::var(VARIABLE).ok().map(|text| text.parse().expect("OUTRIGGER_ROS2_SECONDS is a number"));
    Duration::from_secs(said.unwrap_or(otherwise))
}

fn is_as_recorded(software: SoftwareVersion, by: &str, seconds: Duration) {
    let recording = file(".mcap");
    let recording = recording.to_str().expect("text");
    let mut cell = Cell::configured(software, "text", &format!("run.record = \"{recording}\""));
    let seconds = seconds.as_secs().to_string();
    let found = cell.judge_by("judge_recorded.py", &[outrigger_system::program(), recording, by, &seconds]);
    println!("{software}: {found:#?}");
    for suffix in ["", ".csv"] {
        let _ = std::fs::remove_file(format!("{recording}{suffix}"));
    }
}

fn payloads_of_each_release() {
    for distro in ["humble", "jazzy", "kilted", "lyrical", "rolling"] {
        let mut cell = Cell::configured_as(version(5, 15), "text", "", &["--distro", distro]);
        cell.judge_by("judge_payload.py", &[distro]);
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("payloads_of_each_release_are_told_apart_and_reach_the_controller", NEEDS, payloads_of_each_release),
        test("at_500_hz_nothing_is_lost_and_every_message_is_as_recorded", NEEDS, || {
            is_as_recorded(version(5, 15), "variables", seconds(SECONDS));
        }),
        test("every_message_of_a_cb3_is_as_recorded", NEEDS, || {
            is_as_recorded(version(3, 15), "variables", Duration::from_secs(4));
        }),
        test("every_message_of_a_cb2_is_as_recorded", NEEDS, || {
            is_as_recorded(version(1, 8), "30003", Duration::from_secs(4));
        }),
        test("every_message_of_a_polyscope_x_is_as_recorded", NEEDS, || {
            is_as_recorded(version(10, 12), "variables", Duration::from_secs(4));
        }),
    ]
}
