//! Motion by ROS 2 on every generation, with the speed slider and a pause at the pendant. The position of the arm is
//! read from port 30003.

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// Checks motions by ROS 2 on the command path `path`. `pause` is the expected effect of a pause at the pendant:
/// `overridden`, `ends` or `holds`.
fn moves(software: SoftwareVersion, path: &str, pause: &str) {
    let mut cell = Cell::commanding(software, path);
    let found = cell.judge_by("judge_motion.py", &[pause]);
    assert_eq!(found["done"], "yes");
    if pause == "overridden" {
        let log = cell.said();
        assert!(log.contains("a stop pressed at the pendant is overridden"), "{log}");
    }
    println!("{software} by {path}: slider {}; pause {}", found["slider"], found["pause"]);
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_cb2_moves_by_goals_and_a_pause_is_overridden_or_seen", NEEDS, || {
            moves(version(1, 8), "text", "overridden");
        }),
        test("a_cb3_moves_by_goals_and_a_pause_ends_them", NEEDS, || moves(version(3, 15), "text", "ends")),
        test("a_cb3_moves_by_goals_and_a_pause_holds_them", NEEDS, || moves(version(3, 15), "player", "holds")),
        test("an_e_series_moves_by_goals_and_a_pause_ends_them", NEEDS, || moves(version(5, 15), "text", "ends")),
        test("an_e_series_moves_by_goals_of_a_law_and_a_pause_holds_them", NEEDS, || {
            moves(version(5, 15), "reverse-servoj", "holds");
        }),
        test("an_e_series_moves_by_goals_and_a_pause_holds_them", NEEDS, || moves(version(5, 15), "player", "holds")),
        test("a_polyscope_x_moves_by_goals_and_a_pause_holds_them", NEEDS, || {
            moves(version(10, 12), "player", "holds");
        }),
    ]
}
