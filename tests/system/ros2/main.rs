//! The ROS 2 node, opposite third-party software: Cyclone DDS and the message definitions of `rosbags`. It runs
//! beside simulated controllers of every generation.
//!
//! Scripts judge the node from outside. If they need an action that only the controller or this process can do, they
//! ask for it, and it is done here. Each test has a domain of its own on the loopback interface.

mod cell;
mod control;
mod controllers;
mod doctor;
mod fast;
mod hand_back;
mod interfaces;
mod legacy;
mod lever;
mod motion;
mod native;
mod random;
mod recorded;
mod returns;
mod rust;
mod scripts;
mod sleeps;

use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::require::{self, Need, python, workspace};
use outrigger_emulated::tries::within;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

use self::cell::{Cell, PATIENT, Program, Q, controller, domain, file, judge, node, numbers, robot, test, version};

/// Checks with `judge_forward.py` that streamed speeds and positions move the arm, and that the motion ends.
fn forwarded(software: SoftwareVersion, path: &str) {
    let mut cell = Cell::commanding(software, path);
    let script = workspace().join("tests/system/ros2/judge_forward.py");
    let domain = cell.domain.to_string();
    let found = cell.hears(&script.to_string_lossy(), &[&domain]);
    assert_eq!(found["done"], "yes", "{software} by {path}: {found:#?}");
}

/// Checks that goals of ROS 2 move the seven joints of a simulated KUKA LWR.
fn goals_move_an_lwr() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let here = socket.local_addr().expect("bound").to_string();
    drop(socket);
    let simulated = Command::new(outrigger_system::program())
        .args(["sim", "krc", "--remote", &here, "--period-ms", "5"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let _krc = Program(simulated.expect("it was built"));
    let path = file(".toml");
    let text = format!(
        "robot.kind = \"krc\"\nrobot.listen = \"{here}\"\n{PATIENT}\n\
         session.expert.stale_after = 0.25\nsession.expert.state_timeout = 0.25\n[law]\n\
         kind = \"joint-servo\"\n[ros]\nexpert.command = true\n"
    );
    std::fs::write(&path, text).expect("room");
    let domain = domain();
    let nodes = [node(domain, path.to_str().expect("text"))];
    judge(domain, "krc", &nodes);
}

/// Checks the example scripts of the page `port-linux/docs/ros2.md`: a short one that prints joint states, and one that
/// sends a goal.
fn examples_do_what_the_page_says() {
    let mut cell = Cell::commanding(version(5, 15), "reverse-speedj");
    let folder = workspace().join("port-linux/cli/examples/ros2");
    let script = folder.join("goal.py").to_string_lossy().into_owned();
    let domain = cell.domain.to_string();
    cell.hears(&script, &[&domain]);
    drop(cell);
    // This script has no arguments and uses the domain 0.
    let controller = controller(version(5, 15));
    let _node = node(0, &robot(&controller));
    let output = Command::new("timeout")
        .arg("90")
        .args(["sh", "-c", "\"$0\" \"$1\" | head -n 3"])
        .arg(python())
        .arg(folder.join("joint_states.py"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 3, "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("[0.31, -1.42, -1.23, -1.14, 1.55, 0.26]"), "{said}");
}

/// Checks every topic of the node that this controller can fill: its rate, and its values against the simulation.
fn tells(software: SoftwareVersion, absent: &str) {
    let mut cell = Cell::looking(software, &[]);
    let clock = Clock::start();
    let found = cell.judge("listen", &[absent]);
    let window = clock.window(SimTime::ZERO, clock.now());
    assert_eq!(numbers(&found, "q"), Q, "{software}");
    let [span] = numbers(&found, "span")[..] else { panic!("{found:#?}") };
    let [count] = numbers(&found, "joint_states")[..] else { panic!("{found:#?}") };
    let period = cell.controller.controller().period().as_secs_f64();
    // Nothing is lost or repeated on this machine. The first and the last state may have been read late.
    let off = Duration::from_secs_f64((count * period - span).abs());
    let bound = Duration::from_secs_f64(3.0 * period + 0.02 * span);
    within(&format!("{software}: {count} states in {span} s: off"), off, bound, window, String::new);
    assert_eq!(found["io_and_status_controller/robot_mode"], "7", "{software}");
    assert_eq!(found["io_and_status_controller/safety_mode"], "1", "{software}");
    assert_eq!(found["io_and_status_controller/robot_program_running"], "False", "{software}");
    if let Some(pose) = found.get("pose") {
        let truth = cell.controller.controller().truth().tool().to_pose();
        let pose: Vec<f64> = pose.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        assert!(pose.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9), "{software}: {pose:?} {truth:?}");
    }
}

fn main() -> ExitCode {
    const PYTHON: &[Need] = &[Need::Python];
    let mut tests = vec![
        test("an_e_series_tells_every_topic", PYTHON, || tells(version(5, 15), "")),
        test("a_cb3_tells_every_topic", PYTHON, || tells(version(3, 15), "")),
        test("a_cb2_tells_what_it_knows", PYTHON, || tells(version(1, 8), "robot_description")),
        test("a_polyscope_x_tells_every_topic", PYTHON, || tells(version(10, 12), "")),
        test("a_node_without_leave_refuses_what_acts", PYTHON, || {
            Cell::looking(version(5, 15), &[]).judge("only-looks", &[]);
        }),
        test("each_service_is_answered", PYTHON, || {
            let found = Cell::commanding(version(5, 15), "text").judge("calls", &[]);
            assert_eq!(found["software"], "5 15");
        }),
        test("the_dashboard_of_a_cb3_is_asked_and_switched", PYTHON, || {
            Cell::commanding(version(3, 15), "text").judge("dashboard", &[]);
        }),
        test("the_dashboard_of_an_e_series_is_asked_and_switched", PYTHON, || {
            Cell::commanding(version(5, 15), "text").judge("dashboard", &[]);
        }),
        test("nonsense_is_refused_and_what_is_right_is_done_after", PYTHON, || {
            Cell::commanding(version(5, 15), "text").judge("nonsense", &[]);
        }),
        test("contacts_of_the_tool_are_waited_for_and_end_motions", PYTHON, || {
            Cell::above(version(5, 15), 0.03).judge("contact", &[]);
        }),
        test("doctor_judges_a_domain", PYTHON, doctor::judges_a_domain),
        test("a_serial_number_makes_names", PYTHON, doctor::a_serial_number_makes_names),
        test("goals_move_an_lwr", PYTHON, goals_move_an_lwr),
        test("speeds_and_positions_move_an_e_series_and_end", PYTHON, || forwarded(version(5, 15), "reverse-speedj")),
        test("examples_do_what_the_page_says", PYTHON, examples_do_what_the_page_says),
        test("goals_move_a_cb2", PYTHON, || drop(Cell::commanding(version(1, 8), "text").judge("follow", &[]))),
        test("goals_move_a_cb3", PYTHON, || {
            Cell::commanding(version(3, 15), "reverse-speedj").judge("follow", &[]);
        }),
        test("goals_move_an_e_series", PYTHON, || {
            Cell::commanding(version(5, 15), "player").judge("follow", &[]);
        }),
        test("goals_move_a_polyscope_x", PYTHON, || {
            Cell::commanding(version(10, 12), "reverse-speedj").judge("follow", &[]);
        }),
    ];
    tests.extend(control::tests());
    tests.extend(controllers::tests());
    tests.extend(hand_back::tests());
    tests.extend(legacy::tests());
    tests.extend(lever::tests());
    tests.extend(motion::tests());
    tests.extend(native::tests());
    tests.extend(recorded::tests());
    tests.extend(returns::tests());
    tests.extend(scripts::tests());
    tests.extend(sleeps::tests());
    tests.extend(fast::tests());
    tests.extend(rust::tests());
    tests.extend(interfaces::tests());
    tests.extend(random::tests());
    require::main_one_by_one(tests)
}
