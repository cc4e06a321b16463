//! The command `run` as scripts and operators use it: its output, its exit codes and its end.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

fn examples() -> PathBuf {
    PathBuf::from(outrigger_system::EXAMPLES)
}

fn start(arguments: &[&str]) -> Child {
    Command::new(outrigger_system::program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test")
}

pub(crate) fn outrigger(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = start(arguments);
    child.stdin.take().expect("piped").write_all(input).expect("the command reads its input");
    child.wait_with_output().expect("the command ends")
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Starts a simulated controller on free ports. Returns it with its address.
fn simulated(state: StartState) -> (Running, String) {
    simulated_with(Options { state, ..Options::default() })
}

fn simulated_with(options: Options) -> (Running, String) {
    let controller = Controller::new(options).expect("an arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 48_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    (running, robot)
}

#[test]
fn a_robot_that_nobody_is_ends_with_the_address_and_what_to_check() {
    // A port that was free a moment ago, so that no process listens on it.
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
    until("worst-case stopping distance: ");
    operator.write_all(b"dance\nrequest\n").expect("it reads");
    until("'dance' is not a command; expected start, resume, stop, reset or quit");
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
fn doctor_names_the_self_stop_the_evidence_and_what_to_fix() {
    let (_controller, robot) = simulated(StartState::PowerOff);
    let output = outrigger(&["doctor", &robot, "--model", "ur5e", "--duration", "2"], b"");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.lines().next().is_some_and(|verdict| verdict.contains("to fix before commanding:")), "{said}");
    assert!(!said.contains('█'), "histograms are for those who ask: {said}");
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

/// Writes a configuration with a sensor that accepts readings from any address. Returns its path.
fn open_to_anybody(name: &str, more: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text = "robot.address = \"127.0.0.1\"\nlaw = { kind = \"standoff\", source = \"d\", distance = 0.05 }\n\
                source = [{ name = \"d\", input = \"udp\", listen = \"0.0.0.0:5005\" }]\n";
    std::fs::write(&file, format!("{text}{more}")).expect("room");
    file.to_str().expect("a path").into()
}

const ENDS: &str = "a stop or pause at the pendant ends commanding";
const REFUSED: &str = "a stop pressed at the pendant cannot be seen here, and nothing is commanded";
const OVERRIDDEN: &str = "a stop pressed at the pendant is overridden by the next command";
const ANYBODY: &str = "source \"d\" accepts readings from any sender at 0.0.0.0:5005: add from = \"ADDRESS\"";

#[test]
fn doctor_judges_by_the_path_of_a_file_and_names_one_that_does_not_fit() {
    let old = Options { software: SoftwareVersion::new(3, 0), model: RobotModel::Ur5, ..Options::default() };
    let (_old, robot) = simulated_with(Options { state: StartState::PowerOff, ..old });
    for (path, fits) in [("reverse-speedj", true), ("buffered", false)] {
        let file = open_to_anybody(&format!("path-doctor-{path}.toml"), &format!("session.path = \"{path}\"\n"));
        let output = outrigger(&["doctor", &robot, "--config", &file, "--duration", "1"], b"");
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        assert!(
            said.contains(&format!("\n  * {path} ")) && said.contains("self-stop: the program on the controller"),
            "{said}"
        );
        let finding = format!("session.path \"{path}\" needs software 3.1");
        assert_eq!(said.contains(&finding), !fits, "{said}");
    }
}

#[test]
fn doctor_says_what_becomes_of_a_stop_at_the_pendant_and_warns_of_open_sources_of_a_file() {
    let (_rtde, shows) = simulated(StartState::PowerOff);
    let old = Options { software: SoftwareVersion::new(3, 1), model: RobotModel::Ur5, ..Options::default() };
    let (_realtime, shows_not) = simulated_with(Options { state: StartState::PowerOff, ..old });
    let file = open_to_anybody("pendant-doctor.toml", "limits.velocity = 0.5\n");
    let allowed = "connect.expert.states = \"realtime\"\nsession.expert.pendant_stop = \"overridden\"\n";
    let allowed = open_to_anybody("pendant-doctor-allowed.toml", allowed);
    let by_30003 = open_to_anybody("pendant-doctor-30003.toml", "connect.expert.states = \"realtime\"\n");
    let (rtde, realtime) = ("states by RTDE (30004)", "states by the real-time interface (30003)");
    for (robot, file, from, pendant) in [
        (&shows, None, rtde, ENDS),
        (&shows_not, None, realtime, REFUSED),
        (&shows, Some(&file), rtde, ENDS),
        (&shows, Some(&allowed), realtime, OVERRIDDEN),
        (&shows, Some(&by_30003), realtime, REFUSED),
        (&shows_not, Some(&file), realtime, REFUSED),
    ] {
        let config = file.map_or(vec![], |file| vec!["--config", file]);
        let output = outrigger(&[&["doctor", robot, "--duration", "1"], config.as_slice()].concat(), b"");
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        assert!(said.contains(from) && said.contains(&format!("pendant: {pendant}")), "{file:?}: {said}");
        assert!(said.contains("ways to command it") && said.contains("\n  * text "), "{file:?}: {said}");
        assert_eq!(said.contains(&format!("  - {ANYBODY}")), file.is_some(), "{file:?}: {said}");
    }
}
