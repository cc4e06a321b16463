//! The command `outrigger run` with programs on the controller, over the kernel's sockets: Outrigger's own, one that
//! a URCap fetches, and UR's own.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use outrigger_emulated::clock::Clock;
use outrigger_emulated::tries::{attempt, attempt_first, late, names_lateness};
use outrigger_sim::controller::{Action, Options};
use outrigger_sim::external_control::ExternalControl;
use outrigger_sim::tcp::{Running, Server};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

use crate::moves::PATIENT;

/// A configuration of `outrigger run` with a motion of the base joint by 15° and back, in 1.6 s.
const MOTION: &str = r#"
[robot]
address = "127.0.0.1:PORT_BASE"

[run]
request = "start"
end = "done"
expert.settle = 0.3
record = "RECORDING"

[limits]
velocity = 2.0
acceleration = 6.0

[law]
kind = "joint-servo"
relative = true
path_tolerance = 0.5

[[law.waypoint]]
at = 0.0
degrees = [0, 0, 0, 0, 0, 0]

[[law.waypoint]]
at = 0.8
degrees = [15, 0, 0, 0, 0, 0]

[[law.waypoint]]
at = 1.6
degrees = [0, 0, 0, 0, 0, 0]
"#;

/// Returns free ports of this host. No two tests get the same.
fn ports() -> [u16; 4] {
    let listeners = [(); 4].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

fn serve(options: Options, play: bool) -> Running {
    let controller = outrigger_sim::controller::Controller::new(options).expect("a controller that existed");
    let mut controller = controller;
    if play {
        // By then the run listens.
        controller.schedule(SimTime::from_millis(4_000), Action::PlayProgram);
    }
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 51_000).expect("free ports").spawn().expect("a thread")
}

fn run(server: &Running, name: &str, session: &str, program: &str) -> Child {
    let _ = std::fs::remove_file(recording(name));
    let text = MOTION.replace("PORT_BASE", &server.port_base().to_string());
    let text = text.replace("RECORDING", recording(name).to_str().expect("text"));
    let file = std::env::temp_dir().join(format!("outrigger-reverse-{}-{name}.toml", std::process::id()));
    let session = PATIENT.replace("[session]\n", &format!("[session]\n{session}\n"));
    std::fs::write(&file, format!("{text}{session}\n[program.expert]\n{program}\n")).expect("room for a file");
    Command::new(outrigger_system::program())
        .arg("run")
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test")
}

/// Returns the path of the recording of the run with this name.
fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reverse-{name}.mcap"))
}

/// Checks that the recording of the run with this name replays to the same transitions and the same commands, byte by
/// byte.
fn is_replayed(name: &str) {
    let replay = outrigger_system::computing()
        .args(["replay".as_ref(), recording(name).as_os_str()])
        .output()
        .expect("the binary under test");
    let said = [replay.stdout, replay.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(replay.status.success() && said.contains("inputs gave the same 6 transitions"), "{name}: {said}");
    let _ = std::fs::remove_file(recording(name));
}

/// Checks that the arm has followed [`MOTION`] and is at rest, and that the run has ended with exit code 0. Returns the
/// output of the run. If a standstill of this machine disturbed the run, the test is repeated.
fn ends_well(server: &Running, child: Child) -> String {
    let clock = Clock::start();
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let last = said.lines().last().unwrap_or_default();
    if !output.status.success() && (names_lateness(last) || last.contains("was not granted")) {
        late(clock.window(SimTime::ZERO, clock.now()), said);
    }
    assert!(output.status.success(), "{last}\n{said}");
    let largest = said.lines().find_map(|line| line.trim().strip_prefix("largest error")).expect("a table");
    let largest: f64 = largest.split_whitespace().next().expect("a joint").parse().expect("degrees");
    assert!(largest < 2.0, "{said}");
    let far = said.lines().filter_map(|line| line.split(" q ").nth(1)?.split(' ').next()?.parse::<f64>().ok());
    assert!(far.fold(0.0, f64::max) > 2.0, "the arm has moved:\n{said}");
    assert!(server.controller().truth().at_rest() || server.controller().truth().qd[0].abs() < 1e-3, "{said}");
    said
}

#[test]
fn one_line_chooses_the_path() {
    let ours = ["reverse-speedj", "reverse-servoj", "buffered"];
    let by_socket = ["text", "external-control", "player"].into_iter().chain(ours).map(|path| (path, "socket"));
    let ways: Vec<_> = by_socket.chain(ours.map(|path| (path, "registers"))).collect();
    for software in [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)] {
        std::thread::scope(|scope| {
            // The attempts wait for each other, so that few run at once. Each has a controller of its own.
            for (path, orders) in &ways {
                let name = format!("{path}-{orders}-{software}");
                scope.spawn(move || attempt(&name, || goes(software, &name, path, orders)));
            }
        });
    }
}

/// Checks a run of [`MOTION`] on this command path, and the replay of its recording. The program on the controller
/// receives its orders over a socket or in registers (`orders`).
fn goes(software: SoftwareVersion, name: &str, path: &str, orders: &str) {
    let server = serve(Options::for_software(software), false);
    let [port, _, trajectory, command] = ports();
    let ports = format!("port = {port}\ntrajectory_port = {trajectory}\ncommand_port = {command}");
    let program = format!("orders = \"{orders}\"\n{ports}");
    let said = ends_well(&server, run(&server, name, &format!("path = \"{path}\""), &program));
    assert_eq!(said.contains("has connected"), path != "text", "{name}:\n{said}");
    is_replayed(name);
    println!("{name}: {}", said.lines().rev().find(|line| line.starts_with("reaction")).unwrap_or(""));
}

#[test]
fn a_robot_with_the_urcap_needs_nothing_of_ours() {
    attempt_first(|| {
        let [port, script_port, ..] = ports();
        let computer = ExternalControl { host: "127.0.0.1".into(), port: script_port };
        let options =
            Options { external_control: Some(computer), ..Options::for_software(SoftwareVersion::new(5, 15)) };
        let server = serve(options, true);
        let program = format!("by = \"urcap\"\nport = {port}\nscript_port = {script_port}");
        let said = ends_well(&server, run(&server, "urcap", "path = \"reverse-speedj\"", &program));
        assert!(said.contains("ProgramAway"), "what is missing was said:\n{said}");
        is_replayed("urcap");
    });
}

/// Checks that UR's own External Control program, from its client library, executes the motion that `outrigger run`
/// commands on the path `external-control`.
#[test]
#[ignore = "a built copy of UR's client library: OUTRIGGER_CLIENT_LIBRARY=path, and ports 50001 to 50004"]
fn urs_own_program_of_external_control_takes_our_commands() {
    let library =
        std::env::var_os("OUTRIGGER_CLIENT_LIBRARY").map(PathBuf::from).expect("OUTRIGGER_CLIENT_LIBRARY=path");
    for (major, minor) in [(3, 15), (5, 15), (10, 11)] {
        let software = SoftwareVersion::new(major, minor);
        let [_, script_port, ..] = ports();
        let computer = ExternalControl { host: "127.0.0.1".into(), port: script_port };
        let options = Options { external_control: Some(computer), ..Options::for_software(software) };
        let script = expanded(&library.join("resources/external_control.urscript"), software);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, script_port)).expect("a free port");
        let sender = std::thread::spawn(move || {
            let (mut urcap, _) = listener.accept().expect("a URCap");
            let mut asked = [0; 64];
            let count = urcap.read(&mut asked).expect("a question");
            assert_eq!(&asked[..count], b"request_program\n");
            urcap.write_all(script.as_bytes()).expect("room");
            let _ = urcap.read(&mut asked);
        });
        let server = serve(options, true);
        let child = run(&server, &format!("urs-{software}"), "path = \"external-control\"", "by = \"nobody\"");
        let said = ends_well(&server, child);
        sender.join().expect("no panic");
        assert!(said.contains("ExternalControl: External control active"), "{said}");
    }
}

/// Expands the template of UR's External Control program for this software, as UR's driver does.
fn expanded(template: &Path, software: SoftwareVersion) -> String {
    let since = |version: &str| {
        let numbers: Vec<u8> = version.trim_start_matches('v').split('.').filter_map(|n| n.parse().ok()).collect();
        (software.major, software.minor) >= (numbers[0], numbers[1])
    };
    let holds = |condition: &str| {
        condition.split(" or ").any(|all| {
            all.split(" and ").all(|one| {
                let words: Vec<&str> = one.split_whitespace().collect();
                match words[..] {
                    ["ROBOT_SOFTWARE_VERSION", ">=", version] => since(version),
                    ["ROBOT_SOFTWARE_VERSION", "<", version] => !since(version),
                    _ => panic!("an unknown condition: {one}"),
                }
            })
        })
    };
    // For each open block: whether its current branch is written, and whether any of its branches was.
    let mut blocks: Vec<(bool, bool)> = vec![];
    let mut text = String::new();
    for line in std::fs::read_to_string(template).expect("UR's template").lines() {
        let tag = line.trim().strip_prefix("{%").and_then(|tag| tag.strip_suffix("%}")).map(str::trim);
        match tag.and_then(|tag| tag.split_once(' ').or(Some((tag, "")))) {
            Some(("if", condition)) => {
                let written = holds(condition);
                blocks.push((written, written));
            }
            Some(("elif", condition)) => {
                let (_, before) = blocks.pop().expect("an open block");
                let written = !before && holds(condition);
                blocks.push((written, before || written));
            }
            Some(("else", _)) => {
                let (_, before) = blocks.pop().expect("an open block");
                blocks.push((!before, true));
            }
            Some(("endif", _)) => drop(blocks.pop()),
            _ if blocks.iter().all(|(written, _)| *written) => text.extend([line, "\n"]),
            _ => {}
        }
    }
    for (place, value) in [
        ("BEGIN_REPLACE", ""),
        ("JOINT_STATE_REPLACE", "1000000"),
        ("TIME_REPLACE", "1000000"),
        ("SERVO_J_REPLACE", "lookahead_time=0.03, gain=2000"),
        ("TRAJECTORY_SERVER_PORT_REPLACE", "50003"),
        ("SCRIPT_COMMAND_SERVER_PORT_REPLACE", "50004"),
        ("SERVER_PORT_REPLACE", "50001"),
        ("SERVER_IP_REPLACE", "127.0.0.1"),
    ] {
        text = text.replace(&format!("{{{{{place}}}}}"), value);
    }
    assert!(!text.contains("{{") && !text.contains("{%"));
    text
}
