//! Judges with Fast DDS: C++ programs in this folder, built here with Debian's library.

use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Trial;
use outrigger_emulated::require::{Need, workspace};

use crate::cell::{Cell, Q, numbers, test, version};

const NEEDS: &[Need] = &[Need::FastDds];

/// Builds a program of the folder `fastdds` and returns its path.
pub(crate) fn built(name: &str) -> PathBuf {
    let source = workspace().join("tests/system/ros2/fastdds").join(name).with_extension("cpp");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ros2-fastdds-{name}"));
    let output = Command::new("c++")
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(&source)
        .args(["-lfastrtps", "-lfastcdr"])
        .output()
        .expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Checks topics, services and an action with Fast DDS. The values that the checking program decodes must equal those
/// of the simulation.
fn fast_dds() {
    let program = built("judge");
    let mut cell = Cell::commanding(version(5, 15), "reverse-speedj");
    let domain = cell.domain.to_string();
    let found = cell.hears_of(Command::new("timeout").arg("600").arg(program).arg(domain));
    println!("{found:#?}");
    assert_eq!(found["topics"], "12");
    assert_eq!(numbers(&found, "rt/joint_states"), Q);
    assert_eq!(numbers(&found, "rt/dynamic_joint_states"), Q);
    assert_eq!(numbers(&found, "rt/speed_scaling_state_broadcaster/speed_scaling"), [100.0]);
    assert_eq!(found["rt/io_and_status_controller/robot_mode"], "7");
    assert_eq!(found["rt/io_and_status_controller/safety_mode"], "1");
    assert_eq!(found["rt/io_and_status_controller/robot_program_running"], "0");
    assert_eq!(numbers(&found, "software"), [5.0, 15.0, 0.0, 0.0]);
    let pose = numbers(&found, "rt/tcp_pose_broadcaster/pose");
    assert_eq!(pose, numbers(&found, "rt/tf"));
    let norm: f64 = pose[3..].iter().map(|part| part * part).sum();
    assert!((norm - 1.0).abs() < 1e-9, "{pose:?}");
    // The arm is at the end of the trajectory of the goal.
    let truth = cell.controller.controller().truth().q;
    let there = numbers(&found, "there");
    assert!(there.iter().zip(truth).all(|(wanted, q)| (wanted - q).abs() < 0.02), "{there:?}, {truth:?}");
    assert!(there.iter().zip(Q).any(|(wanted, q)| (wanted - q).abs() > 0.2), "{there:?}");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![test("fast_dds_hears_asks_and_moves", NEEDS, fast_dds)]
}
