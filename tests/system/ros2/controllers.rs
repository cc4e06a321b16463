//! The controllers that the node lists as active, compared with the commands that it accepts, on every path.

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;

use crate::cell::{Cell, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// Compares the controllers that the node lists as active with the commands that it accepts on a command path, and
/// checks which controllers are active at rest and while the arm is commanded.
fn agree(path: &str, expected: &str) {
    // The first software of an e-Series that accepts torques as well as everything else.
    let software = if path == "reverse-torque" { version(5, 25) } else { version(5, 15) };
    let mut cell = Cell::commanding(software, path);
    let found = cell.judge_by("judge_controllers.py", &["commands"]);
    assert_eq!(found["done"], "yes", "{path}: {found:#?}");
    assert_eq!(found["resting"], "gravity_update_controller", "{path}");
    assert_eq!(found["commanded"], expected, "{path}");
}

/// The controllers that the node lists as active on a command path with a control law on this computer.
const BY_LAW: &str = "forward_position_controller forward_velocity_controller joint_trajectory_controller scaled_joint_trajectory_controller";
/// The controllers that the node lists as active on a command path with a control law that sends torques.
const BY_TORQUES: &str = "forward_effort_controller forward_position_controller forward_velocity_controller joint_trajectory_controller \
    scaled_joint_trajectory_controller";
/// The controllers that the node lists as active on a path with a program on the controller that executes whole
/// motions.
const BY_PLAYER: &str = "force_mode_controller freedrive_mode_controller joint_trajectory_controller \
    passthrough_trajectory_controller scaled_joint_trajectory_controller tool_contact_controller";

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("controllers_of_a_text_path_are_active_where_they_accept", NEEDS, || agree("text", BY_LAW)),
        test("controllers_of_speeds_are_active_where_they_accept", NEEDS, || agree("reverse-speedj", BY_LAW)),
        test("controllers_of_torques_are_active_where_they_accept", NEEDS, || agree("reverse-torque", BY_TORQUES)),
        test("controllers_of_positions_are_active_where_they_accept", NEEDS, || agree("reverse-servoj", BY_LAW)),
        test("controllers_of_a_buffer_are_active_where_they_accept", NEEDS, || agree("buffered", BY_LAW)),
        test("controllers_of_a_player_are_active_where_they_accept", NEEDS, || agree("player", BY_PLAYER)),
        test("controllers_of_a_node_that_only_looks_are_inactive", NEEDS, || {
            let found = Cell::looking(version(5, 15), &[]).judge_by("judge_controllers.py", &["looks"]);
            assert_eq!((found["resting"].as_str(), found["done"].as_str()), ("nothing", "yes"), "{found:#?}");
        }),
    ]
}
