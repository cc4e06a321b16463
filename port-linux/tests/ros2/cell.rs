//! A simulated controller, the node beside it, and a judge that speaks with both from outside.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use outrigger_core::robot::SoftwareVersion;
use outrigger_emulated::require::{python, workspace};
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Running, Server};

/// What a judge found, by name.
pub(crate) type Found = BTreeMap<String, String>;

/// Not zero, and nothing twice.
pub(crate) const Q: [f64; 6] = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];

/// What is judged here is the node: of a link that a busy machine makes worse, other tests say what it does.
const PATIENT: &str = "session.entry = \"Bad\"\nsession.hold = 0.2\nsession.stale_after = 0.19\nsession.state_timeout = 0.19\n\
                       session.stall = 0.3\nsession.following_patience = 400\nsession.following_late_patience = 400\nsession.max_misses = 1000";

/// A simulated controller, and the node beside it.
pub(crate) struct Cell {
    pub(crate) controller: Running,
    node: Option<Program>,
    pub(crate) domain: u16,
    /// What the node says.
    pub(crate) log: PathBuf,
    /// Robot or configuration.
    of: String,
    arguments: Vec<String>,
}

/// A process that ends with this.
pub(crate) struct Program(pub(crate) Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A domain that no other test of this machine has.
pub(crate) fn domain() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10 + (std::process::id() % 150) as u16;
    first + NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn controller(software: SoftwareVersion) -> Running {
    let options = Options { q: Q, ..Options::for_software(software) };
    let controller = Controller::new(options).expect("a controller that existed");
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_000).expect("free ports").spawn().expect("a thread")
}

/// `ROBOT` of a command.
pub(crate) fn robot(running: &Running) -> String {
    let port = running.address(Port::Secondary).port();
    format!("127.0.0.1:{}", port - 30_002 + 29_999)
}

impl Cell {
    /// A node that only looks.
    pub(crate) fn looking(software: SoftwareVersion, arguments: &[&str]) -> Self {
        let controller = controller(software);
        let robot = robot(&controller);
        Self::beside(controller, &robot, arguments)
    }

    /// A node that commands, by this path.
    pub(crate) fn commanding(software: SoftwareVersion, path: &str) -> Self {
        Self::configured(software, path, "")
    }

    /// The same, with more in its configuration: keys with their sections before them.
    pub(crate) fn configured(software: SoftwareVersion, path: &str, more: &str) -> Self {
        Self::configured_as(software, path, more, &[])
    }

    /// The same, with these arguments.
    pub(crate) fn configured_as(software: SoftwareVersion, path: &str, more: &str, arguments: &[&str]) -> Self {
        let controller = controller(software);
        let robot = robot(&controller);
        let (major, minor) = (software.major, software.minor);
        let text = format!(
            "robot.address = \"{robot}\"\nsession.path = \"{path}\"\nsession.software = \"{major}.{minor}\"\n{PATIENT}\n\
             limits.velocity = 1.0\nlimits.acceleration = 3.0\n{more}\n[law]\nkind = \"joint-servo\"\n[ros]\ncommand = true\n"
        );
        let file = file(".toml");
        std::fs::write(&file, text).expect("room");
        let file = file.to_str().expect("text").to_owned();
        Self::beside(controller, &file, arguments)
    }

    fn beside(controller: Running, of: &str, arguments: &[&str]) -> Self {
        let (domain, log) = (domain(), file(".log"));
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let node = Some(node_of(domain, of, &arguments, &log));
        Self { controller, node, domain, log, of: of.to_owned(), arguments }
    }

    /// What `judge.py` finds; it asks for deeds of the controller.
    pub(crate) fn judge(&self, what: &str, arguments: &[&str]) -> Found {
        judge(self.domain, what, arguments, |deed| self.act(deed))
    }

    /// What another script finds, which is told the domain and where the controller says on 30003 how the arm stands.
    pub(crate) fn judge_by(&mut self, script: &str, arguments: &[&str]) -> Found {
        let (domain, realtime) = (self.domain.to_string(), self.controller.address(Port::Realtime).port().to_string());
        let script = script_beside(script);
        script_of(&script, &[&[&*domain, &*realtime], arguments].concat(), |deed| match deed {
            "kill" => self.kill(),
            "quit" => self.quit(),
            "start" => self.start(),
            deed => self.act(deed),
        })
    }

    /// The node dies at once, and tells nobody.
    fn kill(&mut self) {
        self.node = None;
    }

    /// The node is asked to end, and does.
    fn quit(&mut self) {
        if let Some(mut node) = self.node.take() {
            let pid = node.0.id().to_string();
            assert!(Command::new("kill").args(["-INT", &pid]).status().is_ok_and(|status| status.success()));
            node.0.wait().expect("it ends");
        }
    }

    /// A node like the one that is gone.
    fn start(&mut self) {
        self.node = Some(node_of(self.domain, &self.of, &self.arguments, &self.log));
    }

    fn act(&self, deed: &str) {
        let mut words = deed.split_whitespace();
        let action = match (words.next(), words.next()) {
            (Some("slider"), Some(share)) => Action::Slider(share.parse().expect("a number")),
            (Some("pause"), None) => Action::PauseProgram,
            (Some("play"), None) => Action::PlayProgram,
            (Some("stop"), None) => Action::StopProgram,
            (Some("inputs"), Some(bits)) => Action::DigitalInputs(bits.parse().expect("a number")),
            (Some("push"), Some(first)) => {
                let mut wrench = std::iter::once(first).chain(words);
                Action::Push([(); 6].map(|()| wrench.next().and_then(|word| word.parse().ok()).expect("six numbers")))
            }
            _ => panic!("the judge asks for '{deed}'"),
        };
        self.controller.controller().act(action);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A node in this domain, by what is not said to the judge.
pub(crate) fn node(domain: u16, of: &str, arguments: &[&str]) -> Program {
    let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
    node_of(domain, of, &arguments, &file(".log"))
}

fn node_of(domain: u16, of: &str, arguments: &[String], log: &Path) -> Program {
    let log = std::fs::File::options().create(true).append(true).open(log).expect("room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_outrigger"));
    command.args(["ros2", of, "--domain", &domain.to_string()]);
    if !arguments.iter().any(|word| word == "--distro") {
        command.args(["--distro", "jazzy"]);
    }
    let node = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::from(log)).spawn();
    Program(node.expect("it was built"))
}

pub(crate) fn judge(domain: u16, what: &str, arguments: &[&str], act: impl FnMut(&str)) -> Found {
    script_of(&script_beside("judge.py"), &[&[what, &domain.to_string()], arguments].concat(), act)
}

fn script_beside(name: &str) -> String {
    workspace().join("port-linux/tests/ros2").join(name).to_string_lossy().into_owned()
}

/// What a script prints; it asks for deeds.
pub(crate) fn script_of(script: &str, arguments: &[&str], act: impl FnMut(&str)) -> Found {
    program_of(Command::new("timeout").arg("400").arg(python()).arg(script).args(arguments), act)
}

/// What a program prints; it asks for deeds by lines `do ...`, and waits for a line after each.
pub(crate) fn program_of(program: &mut Command, mut act: impl FnMut(&str)) -> Found {
    let mut script =
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
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
    assert!(output.status.success(), "{program:?}: {said}; found {found:#?}");
    found
}

/// A name for a file that no other test has.
pub(crate) fn file(suffix: &str) -> PathBuf {
    static NUMBER: AtomicU16 = AtomicU16::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ros2-{}-{number}{suffix}", std::process::id()))
}

pub(crate) fn numbers(found: &Found, name: &str) -> Vec<f64> {
    let text = found.get(name).unwrap_or_else(|| panic!("nothing was found of {name}: {found:#?}"));
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

pub(crate) const fn version(major: u8, minor: u8) -> SoftwareVersion {
    SoftwareVersion::new(major, minor)
}
