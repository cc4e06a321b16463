//! The node of ROS 2, opposite Cyclone DDS and the definitions of `rosbags`, which nobody here wrote, beside simulated controllers
//! of every generation.
//!
//! `judge.py` judges from outside, and asks for what only the controller can do; here it is done. A domain of its own for each, on
//! this machine's loopback interface.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use outrigger_core::robot::SoftwareVersion;
use outrigger_emulated::require::{self, Need, python, test, workspace};
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::tcp::{Running, Server};

/// What a judge found, by name.
type Found = BTreeMap<String, String>;

/// Not zero, and nothing twice.
const Q: [f64; 6] = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];

/// What is judged here is the node: of a link that a busy machine makes worse, other tests say what it does.
const PATIENT: &str = "session.entry = \"Bad\"\nsession.hold = 0.2\nsession.stale_after = 0.19\nsession.state_timeout = 0.19\n\
                       session.stall = 0.3\nsession.following_patience = 400\nsession.following_late_patience = 400\nsession.max_misses = 1000";

/// A simulated controller, and the node beside it.
struct Cell {
    controller: Running,
    _node: Program,
    domain: u16,
}

/// A process that ends with this.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A domain that no other test of this machine has.
fn domain() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10 + (std::process::id() % 150) as u16;
    first + NEXT.fetch_add(1, Ordering::Relaxed)
}

fn controller(software: SoftwareVersion) -> Running {
    let options = Options { q: Q, ..Options::for_software(software) };
    let controller = Controller::new(options).expect("a controller that existed");
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_000).expect("free ports").spawn().expect("a thread")
}

/// `ROBOT` of a command.
fn robot(running: &Running) -> String {
    let port = running.address(outrigger_sim::port::Port::Secondary).port();
    format!("127.0.0.1:{}", port - 30_002 + 29_999)
}

impl Cell {
    /// A node that only looks.
    fn looking(software: SoftwareVersion, arguments: &[&str]) -> Self {
        let controller = controller(software);
        let robot = robot(&controller);
        Self::beside(controller, &robot, arguments)
    }

    /// A node that commands, by this path.
    fn commanding(software: SoftwareVersion, path: &str) -> Self {
        let controller = controller(software);
        let robot = robot(&controller);
        let (major, minor) = (software.major, software.minor);
        let text = format!(
            "robot.address = \"{robot}\"\nsession.path = \"{path}\"\nsession.software = \"{major}.{minor}\"\n{PATIENT}\n\
             limits.velocity = 1.0\nlimits.acceleration = 3.0\n[law]\nkind = \"joint-servo\"\n[ros]\ncommand = true\n"
        );
        let file = file(".toml");
        std::fs::write(&file, text).expect("room");
        let file = file.to_str().expect("text").to_owned();
        Self::beside(controller, &file, &[])
    }

    fn beside(controller: Running, of: &str, arguments: &[&str]) -> Self {
        let domain = domain();
        Self { controller, _node: node(domain, of, arguments), domain }
    }

    /// What the judge finds; it asks for deeds of the controller.
    fn judge(&self, what: &str, arguments: &[&str]) -> Found {
        judge(self.domain, what, arguments, |deed| self.act(deed))
    }

    fn act(&self, deed: &str) {
        let mut words = deed.split_whitespace();
        let action = match (words.next(), words.next()) {
            (Some("slider"), Some(share)) => Action::Slider(share.parse().expect("a number")),
            (Some("pause"), None) => Action::PauseProgram,
            (Some("play"), None) => Action::PlayProgram,
            _ => panic!("the judge asks for '{deed}'"),
        };
        self.controller.controller().act(action);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A node in this domain, by what is not said to the judge.
fn node(domain: u16, of: &str, arguments: &[&str]) -> Program {
    let node = Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(["ros2", of, "--domain", &domain.to_string(), "--distro", "jazzy"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::from(std::fs::File::create(file(".log")).expect("room")))
        .spawn();
    Program(node.expect("it was built"))
}

fn judge(domain: u16, what: &str, arguments: &[&str], act: impl Fn(&str)) -> Found {
    let script = workspace().join("port-linux/tests/ros2/judge.py");
    script_of(&script.to_string_lossy(), &[&[what, &domain.to_string()], arguments].concat(), act)
}

/// What a script prints; it asks for deeds.
fn script_of(script: &str, arguments: &[&str], act: impl Fn(&str)) -> Found {
    let mut script = Command::new("timeout")
        .arg("150")
        .arg(python())
        .arg(script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python runs");
    let mut answers = script.stdin.take().expect("piped");
    let mut found = Found::new();
    for line in BufReader::new(script.stdout.take().expect("piped")).lines() {
        let line = line.expect("text");
        if let Some(deed) = line.strip_prefix("do ") {
            act(deed);
            writeln!(answers, "done").expect("it waits for that");
        } else if let Some((name, value)) = line.split_once(": ") {
            found.insert(name.into(), value.into());
        }
    }
    let output = script.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}; found {found:#?}");
    found
}

/// Speeds and positions by topics move the arm, and end: what `forward.py` does and finds.
fn forwarded(software: SoftwareVersion, path: &str) {
    let cell = Cell::commanding(software, path);
    let script = workspace().join("port-linux/tests/ros2/forward.py").to_string_lossy().into_owned();
    let found = script_of(&script, &[&cell.domain.to_string()], |deed| cell.act(deed));
    assert_eq!(found["done"], "yes", "{software} by {path}: {found:#?}");
}

/// A KUKA LWR, simulated by the program, and a goal for its seven joints.
fn goals_move_an_lwr() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let here = socket.local_addr().expect("bound").to_string();
    drop(socket);
    let simulated = Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(["sim", "krc", "--remote", &here, "--period-ms", "5"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let _krc = Program(simulated.expect("it was built"));
    let path = file(".toml");
    let text = format!(
        "robot.kind = \"krc\"\nrobot.listen = \"{here}\"\nsession.entry = \"Bad\"\nsession.stall = 0.3\n[law]\n\
         kind = \"joint-servo\"\n[ros]\ncommand = true\n"
    );
    std::fs::write(&path, text).expect("room");
    let domain = domain();
    let _node = node(domain, path.to_str().expect("text"), &[]);
    judge(domain, "krc", &[], |deed| panic!("nobody does '{deed}'"));
}

/// What the page shows: ten lines that print joint states, and a script with a goal.
fn examples_do_what_the_page_says() {
    let cell = Cell::commanding(version(5, 15), "reverse-speedj");
    let folder = workspace().join("port-linux/examples/ros2");
    let script = folder.join("goal.py").to_string_lossy().into_owned();
    script_of(&script, &[&cell.domain.to_string()], |_| {});
    drop(cell);
    // It has no arguments: the domain is 0.
    let controller = controller(version(5, 15));
    let _node = node(0, &robot(&controller), &[]);
    let output = Command::new("timeout")
        .arg("20")
        .args(["sh", "-c", "\"$0\" \"$1\" | head -n 3"])
        .arg(python())
        .arg(folder.join("joint_states.py"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 3, "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("[0.31, -1.42, -1.23, -1.14, 1.55, 0.26]"), "{said}");
}

/// A name for a file that no other test has.
fn file(suffix: &str) -> PathBuf {
    static NUMBER: AtomicU16 = AtomicU16::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ros2-{}-{number}{suffix}", std::process::id()))
}

fn numbers(found: &Found, name: &str) -> Vec<f64> {
    let text = found.get(name).unwrap_or_else(|| panic!("nothing was found of {name}: {found:#?}"));
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

/// Every topic that such a controller can fill, at its rate, with what the simulation has.
fn tells(software: SoftwareVersion, absent: &str) {
    let cell = Cell::looking(software, &[]);
    let found = cell.judge("listen", &[absent]);
    assert_eq!(numbers(&found, "q"), Q, "{software}");
    let [span] = numbers(&found, "span")[..] else { panic!("{found:#?}") };
    let [count] = numbers(&found, "joint_states")[..] else { panic!("{found:#?}") };
    let period = cell.controller.controller().period().as_secs_f64();
    // Nothing is lost on this machine, and nothing comes twice.
    assert!((count * period - span).abs() < 3.0 * period + 0.02 * span, "{software}: {count} states in {span} s");
    assert_eq!(found["io_and_status_controller/robot_mode"], "7", "{software}");
    assert_eq!(found["io_and_status_controller/safety_mode"], "1", "{software}");
    assert_eq!(found["io_and_status_controller/robot_program_running"], "False", "{software}");
    if let Some(pose) = found.get("pose") {
        let truth = cell.controller.controller().truth().tool().to_pose();
        let pose: Vec<f64> = pose.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        assert!(pose.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9), "{software}: {pose:?} {truth:?}");
    }
}

const fn version(major: u8, minor: u8) -> SoftwareVersion {
    SoftwareVersion::new(major, minor)
}

fn main() -> ExitCode {
    const PYTHON: &[Need] = &[Need::Python];
    require::main_one_by_one(vec![
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
        test("goals_move_an_lwr", PYTHON, goals_move_an_lwr),
        test("speeds_and_positions_move_an_e_series_and_end", PYTHON, || forwarded(version(5, 15), "reverse-speedj")),
        test("examples_do_what_the_page_says", PYTHON, examples_do_what_the_page_says),
        test("goals_move_a_cb2", PYTHON, || drop(Cell::commanding(version(1, 8), "text").judge("follow", &[]))),
        test("goals_move_a_cb3_with_its_slider_and_a_pause", PYTHON, || {
            Cell::commanding(version(3, 15), "reverse-speedj").judge("follow", &["slider"]);
        }),
        test("goals_move_an_e_series_with_its_slider_and_a_pause", PYTHON, || {
            Cell::commanding(version(5, 15), "player").judge("follow", &["slider", "pause"]);
        }),
        test("goals_move_a_polyscope_x_with_its_slider_and_a_pause", PYTHON, || {
            Cell::commanding(version(10, 12), "reverse-speedj").judge("follow", &["slider"]);
        }),
    ])
}
