//! The command `outrigger doctor --ros2` opposite Cyclone DDS, and a node with names from a serial number that is
//! checked by the same script.

use std::cell::RefCell;
use std::process::Command;

use super::cell::{Cell, Found, HERE, controller, domain, judge_by, robot, version};

/// Runs `doctor --ros2` in a ROS domain. Returns its output and its exit code.
fn doctor(domain: u16, robot: &str, arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new("timeout")
        .args(["60", outrigger_system::program(), "doctor", robot, "--ros2", "--duration", "3", "--distro", "jazzy"])
        .args(["--domain", &domain.to_string()])
        .args(arguments)
        .envs(HERE)
        .output()
        .expect("it was built");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

fn neighbours(domain: u16, what: &str, act: impl Fn(&str)) -> Found {
    judge_by("neighbours.py", &[what, &domain.to_string()], act)
}

#[track_caller]
fn says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "{said}: there is no '{word}'");
    }
}

/// Checks that `doctor --ros2` reports each problem between two nodes that causes no error message, with its remedy.
/// Also checks a domain with a suitable node, and an empty one. The controller is a CB2, which cannot fill every topic.
pub(super) fn judges_a_domain() {
    let controller = controller(version(1, 8));
    let robot = robot(&controller);
    let look = |what, domain, arguments: &[&str]| {
        let said = RefCell::new(None);
        neighbours(domain, what, |_| drop(said.replace(Some(doctor(domain, &robot, arguments)))));
        said.into_inner().expect("it asks for that")
    };
    let (said, code) = look("trouble", domain(), &[]);
    assert_eq!(code, Some(4), "{said}");
    says(
        &said,
        &[
            "a node named /outrigger already runs (Cyclone DDS",
            "--namespace /other_name",
            "node /outrigger (Cyclone DDS, at 127.0.0.1) offers the same service as this node: /io_and_status_controller/set_io.",
            "subscribes to /joint_states and requires earlier messages (transient local)",
            "Set that reader to volatile",
            "reads /tcp_pose_broadcaster/pose with the message type std_msgs/msg/String, but for this node it is geometry_msgs/msg/PoseStamped",
            "node /cell/old (Cyclone DDS",
            "uses ROS 2 Humble or older, but this node is set to jazzy",
            "topics without data, because this robot, with software 1.8",
            "/robot_description",
        ],
    );
    // A suitable node is reported, and nothing has to be fixed.
    let (said, _) = look("fits", domain(), &[]);
    says(&said, &["node /viewer (Cyclone DDS"]);
    assert!(!said.contains("ROS 2: a") && !said.contains("ROS 2: node"), "{said}");
    let (said, _) = doctor(domain(), &robot, &[]);
    says(&said, &["no other ROS 2 program found in domain", "1. same domain?", "--interface"]);
}

/// Checks the names of a node as on a PolyScope X controller: a namespace from the serial number, and joint states
/// outside of it.
pub(super) fn a_serial_number_makes_names() {
    let cell = Cell::looking(version(5, 15), &["--surface", "native", "--namespace", "serial"]);
    neighbours(cell.domain, "controller", |deed| panic!("nobody does '{deed}'"));
}
