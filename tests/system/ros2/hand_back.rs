//! The services `hand_back_control` and `resend_robot_program`, opposite the pendant of simulated controllers. Checks
//! which program runs, and when.

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// Checks that the pendant's program continues after the program node of the URCap once control is handed back, and not
/// before.
fn continues(software: SoftwareVersion, path: &str) {
    let mut cell = Cell::with_urcap(software, path);
    let found = cell.judge_by("judge_hand_back.py", &["urcap"]);
    assert_eq!(found["done"], "yes", "{software} by {path}: {found:#?}");
}

/// Checks the services `hand_back_control` and `resend_robot_program` without a URCap. With `resident` the node's
/// program stays on the controller, otherwise both services must refuse.
fn is_sent(path: &str, resident: bool) {
    let more = if resident { "program.expert.resident = true" } else { "" };
    let mut cell = Cell::configured(version(5, 15), path, more);
    let found = cell.judge_by("judge_hand_back.py", &[if resident { "resident" } else { "none" }]);
    assert_eq!(found["done"], "yes", "{path}: {found:#?}");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_pendants_program_continues_on_a_cb3_once_it_is_handed_back", NEEDS, || {
            continues(version(3, 15), "reverse-speedj");
        }),
        test("a_pendants_program_continues_on_an_e_series_once_it_is_handed_back", NEEDS, || {
            continues(version(5, 15), "player");
        }),
        test("a_program_that_stays_is_sent_again_and_handed_back", NEEDS, || is_sent("reverse-speedj", true)),
        test("where_no_program_stays_nothing_is_handed_back_or_sent", NEEDS, || {
            is_sent("text", false);
            is_sent("reverse-speedj", false);
        }),
    ]
}
