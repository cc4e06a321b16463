//! The command `dashboard` on simulated controllers of every family, as operators and scripts use it.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Output, Stdio};

use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;

/// Starts a simulated controller on free ports. Returns it with its address.
fn simulated(major: u8, minor: u8, state: StartState) -> (Running, String) {
    let options = Options { state, ..Options::for_software(SoftwareVersion::new(major, minor)) };
    let controller = Controller::new(options).expect("a controller that existed");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 52_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    (running, robot)
}

fn dashboard(robot: &str, words: &[&str]) -> Output {
    let mut command = Command::new(outrigger_system::program());
    command.args(["dashboard", robot]).args(words).stdin(Stdio::null()).output().expect("the binary under test")
}

/// Runs `dashboard`, which must succeed, and returns its output.
fn said(robot: &str, words: &[&str]) -> String {
    let output = dashboard(robot, words);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{words:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Runs `dashboard` and returns its exit code and its standard error.
fn failed(robot: &str, words: &[&str]) -> (Option<i32>, String) {
    let output = dashboard(robot, words);
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn every_family_tells_what_its_software_knows() {
    for (major, minor, told, untold) in [
        (1, 8, "robot mode        RUNNING", "safety mode"),
        (3, 15, "user role", "remote control"),
        (5, 15, "remote control    yes", "user role"),
        (10, 12, "software          10.12 or later", "serial number"),
    ] {
        let (_controller, robot) = simulated(major, minor, StartState::Running);
        let overview = said(&robot, &[]);
        assert!(overview.contains(told) && !overview.contains(untold), "{major}.{minor}: {overview}");
        let json = said(&robot, &["--json"]);
        assert!(json.starts_with("{\"type\":\"status\",") && json.contains("\"robot_mode\":\"RUNNING\""), "{json}");
        assert_eq!(json.lines().count(), 1);
    }
}

#[test]
fn a_program_is_loaded_played_paused_and_stopped_over_either_interface() {
    for (major, minor, program) in [(3, 1, "idle.urp"), (5, 15, "idle.urp"), (10, 12, "idle")] {
        let (_controller, robot) = simulated(major, minor, StartState::PowerOff);
        let up = said(&robot, &["bring-up"]);
        assert!(up.contains("sent: power on\n") && up.contains("robot mode: RUNNING\n"), "{up}");
        assert!(said(&robot, &["load", program]).ends_with("loaded\n"));
        assert!(said(&robot, &["play"]).ends_with("the program runs\n"));
        assert!(said(&robot, &["pause"]).ends_with("the program is paused\n"));
        assert!(said(&robot, &["play"]).ends_with("the program runs\n"));
        assert!(said(&robot, &["stop"]).ends_with("the program is stopped\n"));
        let (code, error) = failed(&robot, &["load", "nowhere.urp"]);
        assert!(code == Some(4) && error.contains("nowhere"), "{code:?} {error}");
    }
}

#[test]
fn a_program_that_nothing_confirms_is_told_as_taken_and_not_as_loaded() {
    let (_controller, robot) = simulated(10, 11, StartState::Running);
    assert_eq!(said(&robot, &["load", "idle.urp"]), "sent: load\n'load' accepted; its effect is not reported\n");
}

#[test]
fn a_locked_pendant_is_put_back_by_the_command_that_is_told() {
    for (major, minor) in [(3, 15), (5, 15)] {
        let (_controller, robot) = simulated(major, minor, StartState::Running);
        let locked = said(&robot, &["lock-pendant"]);
        let back = locked.rsplit_once(&format!("outrigger dashboard {robot} ")).expect("a command").1;
        assert!(
            said(&robot, &back.split_whitespace().collect::<Vec<_>>()).ends_with("the pendant's setting is restored\n")
        );
    }
}

#[test]
fn what_cannot_be_done_is_said_with_what_can() {
    let (_local, robot) = simulated(5, 15, StartState::Local);
    let (code, error) = failed(&robot, &["power-off"]);
    assert!(code == Some(4) && error.contains("switch to remote control"), "{code:?} {error}");
    let (_old, robot) = simulated(1, 8, StartState::Running);
    let (code, error) = failed(&robot, &["bring-up"]);
    assert!(code == Some(2) && error.contains("do from 3.0 on"), "{code:?} {error}");
    let (code, error) = failed(&robot, &["load", "two\nlines.urp"]);
    assert!(code == Some(2) && error.contains("one line"), "{code:?} {error}");
    let (_stopped, robot) = simulated(5, 15, StartState::ProtectiveStop);
    assert_eq!(failed(&robot, &["unlock-protective-stop"]).0, Some(2), "not without an acknowledgement");
    let (code, error) = failed(&robot, &["recover"]);
    assert!(code == Some(4) && error.contains("--acknowledge"), "{code:?} {error}");
    let (code, error) = failed(&robot, &["bring-up"]);
    assert!(code == Some(4) && error.contains("PROTECTIVE_STOP"), "{code:?} {error}");
}

#[test]
fn a_robot_that_nobody_is_ends_with_both_addresses_and_what_to_check() {
    // A port that was free a moment ago, so that no process listens on it.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port().min(65_000);
    let (code, error) = failed(&format!("127.0.0.1:{free}"), &[]);
    assert_eq!(code, Some(3));
    assert!(error.contains(&format!("127.0.0.1:{free}: ")) && error.contains("is the controller started"), "{error}");
    assert!(error.contains(&format!("127.0.0.1:{}", free + 16)), "{error}");
}
