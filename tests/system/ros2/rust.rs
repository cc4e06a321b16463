//! A judge with `ros2-client`. It is a package of its own, because nothing else in the workspace needs its
//! dependencies.

use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Trial;
use outrigger_emulated::require::{Need, workspace};

use crate::cell::{Cell, numbers, test, version};

const NEEDS: &[Need] = &[];

/// Builds the test program that uses `ros2-client`, with its own lock file, and returns its path.
pub(crate) fn built() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ros2-client");
    let output = Command::new(env!("CARGO"))
        .current_dir(workspace().join("tests/system/ros2/client"))
        .args(["build", "--release", "--locked"])
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("release/outrigger-ros2-client-judge")
}

/// Checks that programs with `ros2-client` can use a service and an action of the node, in each of its service
/// mappings.
fn ros2_client() {
    let program = built();
    for mapping in ["enhanced", "cyclone"] {
        let mut cell = Cell::commanding(version(5, 15), "reverse-speedj");
        let domain = cell.domain.to_string();
        let found = cell.hears_of(Command::new("timeout").arg("200").arg(&program).arg(domain).arg(mapping));
        assert_eq!(numbers(&found, "software"), [5.0, 15.0, 0.0, 0.0], "{mapping}");
        let truth = cell.controller.controller().truth().q;
        let there = numbers(&found, "there");
        assert_eq!(there.len(), 6, "{found:#?}");
        assert!(
            there.iter().zip(truth).all(|(wanted, q)| (wanted - q).abs() < 0.02),
            "{mapping}: {there:?}, {truth:?}"
        );
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![test("ros2_client_asks_and_moves", NEEDS, ros2_client)]
}
