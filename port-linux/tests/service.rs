//! `run` as scripts and operators meet it: exit codes, what is said, and how it ends.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use outrigger_linux::config::AnyConfiguration;
use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::tcp::{Running, Server};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test")
}

fn outrigger(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = start(arguments);
    child.stdin.take().expect("piped").write_all(input).expect("the command reads its input");
    child.wait_with_output().expect("the command ends")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// A simulated controller on free ports, and where it is.
fn simulated(state: StartState) -> (Running, String) {
    let controller = Controller::new(Options { state, ..Options::default() }).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 48_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    (running, robot)
}

#[test]
fn every_example_is_a_valid_configuration() {
    let files = std::fs::read_dir(examples()).expect("the examples");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    let configurations: Vec<_> = files.iter().filter(|file| file.extension().is_some_and(|e| e == "toml")).collect();
    assert!(!configurations.is_empty());
    for file in configurations {
        if let Err(failure) = AnyConfiguration::load(file) {
            panic!("{failure}");
        }
    }
}

#[test]
fn a_configuration_that_is_not_there_is_bad_input() {
    let output = outrigger(&["run", "no-such.toml"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot read no-such.toml"), "{}", text(&output.stderr));
}

#[test]
fn a_robot_that_nobody_is_ends_with_the_address_and_what_to_check() {
    // A port that was free a moment ago: nothing listens there.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port().min(65_000);
    let half_turn = examples().join("half-turn.toml");
    let robot = format!("127.0.0.1:{}", free - 4);
    let mut child = start(&["run", half_turn.to_str().expect("a path"), "--robot", &robot]);
    let mut operator = child.stdin.take().expect("piped");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    let address = format!("127.0.0.1:{free}");
    let mut lines = lines.map(|line| line.expect("text"));
    assert!(lines.any(|line| line.contains(&address) && line.contains("is the controller started")));
    operator.write_all(b"quit\n").expect("it reads");
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
}

#[test]
fn it_says_what_is_in_force_obeys_lines_and_prints_nothing_but_json_when_asked_to() {
    let (_controller, robot) = simulated(StartState::Local);
    let half_turn = examples().join("half-turn.toml");
    let mut child = start(&["run", half_turn.to_str().expect("a path"), "--robot", &robot, "--json"]);
    let mut operator = child.stdin.take().expect("piped");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    let mut seen = Vec::new();
    let mut until = |what: &str| {
        while !seen.last().is_some_and(|line: &String| line.contains(what)) {
            seen.push(lines.next().unwrap_or_else(|| panic!("no {what} in {seen:#?}")).expect("text"));
        }
    };
    until("\"kind\":\"in-force\"");
    until("worst-case coast: after a fault");
    operator.write_all(b"dance\nrequest\n").expect("it reads");
    until("'dance' is none of request, resume, release, acknowledge, quit");
    until("\"kind\":\"refused\"");
    operator.write_all(b"quit\n").expect("it reads");
    until("\"type\":\"summary\",\"ended_by\":\"quit\",\"fallback\":null");
    assert!(seen.iter().all(|line| line.starts_with("{\"type\":\"") && line.ends_with('}')), "{seen:#?}");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_second_process_for_one_robot_is_refused_and_told_of_the_first() {
    let (_controller, robot) = simulated(StartState::Local);
    let half_turn = examples().join("half-turn.toml");
    let arguments = ["run", half_turn.to_str().expect("a path"), "--robot", &robot];
    let mut first = start(&arguments);
    let mut operator = first.stdin.take().expect("piped");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(first.stdout.take().expect("piped")));
    assert!(lines.any(|line| line.expect("text").contains("Offline → Monitor")));
    let second = outrigger(&arguments, b"");
    assert_eq!(second.status.code(), Some(3));
    let error = text(&second.stderr);
    assert!(error.contains(&format!("process {}", first.id())) && error.contains("outrigger run"), "{error}");
    operator.write_all(b"quit\n").expect("it reads");
    lines.for_each(drop);
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
}

#[test]
fn check_config_says_what_would_be_in_force_and_the_worst_case() {
    let half_turn = examples().join("half-turn.toml");
    let output = outrigger(&["check-config", half_turn.to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for expected in ["is valid", "127.0.0.1", "joint-servo", "asks for nothing", "software 3.1.0: worst-case coast"] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
}

#[test]
fn check_config_names_every_problem_with_file_line_and_nearest_name() {
    let faulty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faulty.toml");
    std::fs::write(&faulty, "[robot]\naddress = \"a\"\n[law]\nkind = \"joint-serv\"\n[limits]\nvelocty = 1\n")
        .expect("room");
    let output = outrigger(&["check-config", faulty.to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<_> = text(&output.stderr).lines().collect();
    assert!(
        matches!(lines.as_slice(), [kind, key]
        if kind.contains("faulty.toml: line 4: law.kind: found \"joint-serv\"") && kind.contains("`joint-servo`")
        && key.contains("faulty.toml: line 6: limits.velocty") && key.contains("`velocity`")),
        "{lines:#?}"
    );
}

#[test]
fn doctor_names_the_self_stop_the_evidence_and_what_to_fix() {
    let (_controller, robot) = simulated(StartState::PowerOff);
    let output = outrigger(&["doctor", &robot, "--model", "ur5e", "--seconds", "2"], b"");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for expected in [
        "timer wake-ups late by",
        "self-stop: a bare speedj, for",
        "acceptance evidence: isProgramRunning",
        "mm at the TCP",
        "(RobotNotRunning)",
    ] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
}

#[test]
fn replay_refuses_what_is_no_recording() {
    let output = outrigger(&["replay", examples().join("half-turn.toml").to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no dump"), "{}", text(&output.stderr));
}
