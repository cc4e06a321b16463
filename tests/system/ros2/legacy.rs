//! The names of the ROS driver of 2015 (`ur_modern_driver`), on every generation.

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// Checks the topics, the services and the action of the ROS driver of 2015 (`ur_modern_driver`). This controller
/// does not fill the topics in `missing`.
fn works(software: SoftwareVersion, path: &str, missing: &str) {
    let bounds = "expert.min_payload = 0.5\nexpert.max_payload = 3.0";
    let mut cell = Cell::with_ros(software, path, bounds);
    let found = cell.judge_by("judge_legacy.py", &[missing]);
    assert_eq!(found["done"], "yes", "{software}: {found:#?}");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("names_of_2015_work_on_a_cb2", NEEDS, || works(version(1, 8), "text", "")),
        test("names_of_2015_work_on_a_cb3", NEEDS, || works(version(3, 15), "reverse-speedj", "")),
        test("names_of_2015_work_on_an_e_series", NEEDS, || works(version(5, 15), "player", "")),
    ]
}
