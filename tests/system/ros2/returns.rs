//! A node that is killed while it commands, and one that replaces it.

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, test, version};

const NEEDS: &[Need] = &[Need::Python];

fn dies_and_returns(software: SoftwareVersion, path: &str) {
    let found = Cell::commanding(software, path).judge_by("judge_returns.py", &[]);
    assert_eq!(found["done"], "yes");
    println!("{software} by {path}: {}; seen {}", found["way"], found["seen"]);
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_node_dies_and_returns_and_nothing_moves_by_itself", NEEDS, || {
            dies_and_returns(version(5, 15), "reverse-speedj");
        }),
        test("a_node_beside_a_cb2_dies_and_returns_and_nothing_moves_by_itself", NEEDS, || {
            dies_and_returns(version(1, 8), "text");
        }),
    ]
}
