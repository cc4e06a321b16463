//! Clients that behave like ros2_control and MoveIt, configured by the files for them among the examples.

use libtest_mimic::Trial;
use outrigger_emulated::require::{Need, workspace};
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, numbers, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// Checks that the joints follow a hardware component of ros2_control, and then a plan of MoveIt.
fn follows(software: SoftwareVersion, path: &str) {
    let mut cell = Cell::configured_as(software, path, "", &["--namespace", "/hardware"]);
    let folder = workspace().join("port-linux/cli/examples/ros2");
    let found = cell.judge_by("judge_control.py", &[&folder.to_string_lossy()]);
    assert_eq!(found["done"], "yes", "{software}: {found:#?}");
    println!("{software} by {path}: {:?} rad behind ros2_control", numbers(&found, "behind"));
}

/// Checks that the joints follow plans of MoveIt, and that one can be cancelled.
fn plans(software: SoftwareVersion, path: &str) {
    let found = Cell::commanding(software, path).judge_by("judge_control.py", &[]);
    assert_eq!(found["done"], "yes", "{software} by {path}: {found:#?}");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("plans_of_moveit_move_a_cb2", NEEDS, || plans(version(1, 8), "text")),
        test("plans_of_moveit_move_a_cb3_by_its_player", NEEDS, || plans(version(3, 15), "player")),
        test("plans_of_moveit_move_an_e_series_by_its_player", NEEDS, || plans(version(5, 15), "player")),
        test("plans_of_moveit_move_a_polyscope_x_by_its_player", NEEDS, || plans(version(10, 12), "player")),
        test("ros2_control_and_moveit_move_a_cb3", NEEDS, || follows(version(3, 15), "reverse-speedj")),
        test("ros2_control_and_moveit_move_an_e_series", NEEDS, || follows(version(5, 15), "reverse-speedj")),
        test("ros2_control_and_moveit_move_a_polyscope_x", NEEDS, || follows(version(10, 12), "reverse-speedj")),
    ]
}
