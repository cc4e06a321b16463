//! A simulated controller, a ROS 2 node beside it, and judges: programs that talk to both from outside.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::clock::Clock;
use outrigger_emulated::machine_standstills::{self, Window};
use outrigger_emulated::require::{self, Need, python, workspace};
use outrigger_emulated::tries::{self, Verdict, late, nobodys_fallback};
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::external_control::{ExternalControl, NODE, PROGRAM};
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;
use outrigger_sim::surface::Surface;
use outrigger_sim::tcp::{Running, Server};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

/// The environment variable that keeps a node to this computer, so that tests announce nothing on a network.
pub(crate) const HERE: [(&str, &str); 1] = [("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")];

/// The values that a judge printed, by name. A judge is a script or program that checks a node from outside.
pub(crate) type Found = BTreeMap<String, String>;

/// The joint angles of the arm \[rad\]. All differ and none is zero.
pub(crate) const Q: [f64; 6] = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];

/// Thresholds that tolerate a bad link on a busy machine, because these tests are about the node.
pub(crate) const PATIENT: &str = "session.expert.entry = \"Bad\"\nsession.expert.stall = 0.3\nsession.expert.max_misses = 1000\nsession.expert.grade.bad.received = 0\nsession.expert.grade.bad.delay = 1.0\n\
    session.expert.grade.bad.jitter = 1.0\nsession.expert.grade.bad.misses = 1000";
/// Thresholds that tolerate a bad link, in addition to [`PATIENT`], which only configurations of UR controllers have.
const PATIENT_UR: &str = "session.expert.hold = 0.2\nsession.expert.stale_after = 0.19\nsession.expert.state_timeout = 0.19\n\
    session.expert.following_patience = 400\nsession.expert.following_late_patience = 400";

/// The shortest standstill of the computer that runs the test that may end commanding: half of the age that a state may
/// have.
const ENDING: Duration = Duration::from_millis(95);
/// The span before the end of commanding that is searched for a standstill of the computer that runs the test. It is
/// longer than every timeout in [`PATIENT_UR`].
const LOOKED_BACK: Duration = Duration::from_millis(1_000);
/// The exit code of a judge, a script that checks the node, that was late itself. The machine must have stood still.
const TOO_LATE: i32 = 75;

/// A simulated controller, and a ROS 2 node connected to it.
pub(crate) struct Cell {
    /// The nodes that were started, the newest last. They are dropped before the controller: once it is gone, another
    /// test may use its ports at once, and no node of this cell may be left to connect there.
    nodes: Vec<Node>,
    pub(crate) controller: Running,
    pub(crate) domain: u16,
    /// The robot's address or the path of a configuration, with which the node was started.
    of: String,
    arguments: Vec<String>,
}

/// A process with a ROS 2 node that runs or has ended.
pub(crate) struct Node {
    process: Option<Program>,
    log: PathBuf,
    clock: Clock,
}

impl Node {
    /// Returns the process id of the node.
    pub(crate) fn pid(&self) -> u32 {
        self.process.as_ref().expect("it runs").0.id()
    }

    /// Returns the output of the node so far.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).expect("it says something")
    }

    /// Returns the line about the end of commanding, or of a session, with a reason that lateness can cause, and the
    /// window around it. `None` if there is no such line.
    fn fell_back(&self) -> Option<(String, Window)> {
        let said = self.said();
        let line = said.lines().find(|line| {
            let of = |to: &str| line.split_once(to).map(|(_, why)| why);
            let why = of(" → Stopping: ").or_else(|| of("Command → Offline: ")).or_else(|| of("Arming → Monitor: "));
            let why = why.or_else(|| of("Monitor → Offline: "));
            why.is_some_and(tries::names_lateness)
        })?;
        let seconds: f64 = line.split_whitespace().next()?.parse().ok()?;
        let at = SimTime::from_micros((seconds * 1e6) as u64);
        Some((line.to_owned(), self.clock.window(at, at + LOOKED_BACK / 10).and_before(LOOKED_BACK)))
    }
}

/// A process. Dropping it ends the process.
pub(crate) struct Program(pub(crate) Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a test in real time. It is repeated if a standstill of the computer that runs it disturbed it, but never
/// because of a motion.
pub(crate) fn test(name: &'static str, needs: &'static [Need], body: fn()) -> Trial {
    require::test(name, needs, move || tries::attempt(name, body))
}

/// Returns a domain that no other test on this machine uses. The ports of domains above 101 are in the kernel's range
/// of ephemeral ports.
pub(crate) fn domain() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10 + (std::process::id() % 50) as u16;
    first + NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn controller(software: SoftwareVersion) -> Running {
    controller_of(Options { q: Q, ..Options::for_software(software) })
}

fn controller_of(options: Options) -> Running {
    let controller = Controller::new(options).expect("a controller that existed");
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_000).expect("free ports").spawn().expect("a thread")
}

/// Returns a TCP port that is free at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("bound").port()
}

/// Returns the argument `ROBOT` of a command: the address with the port base.
pub(crate) fn robot(running: &Running) -> String {
    let port = running.address(Port::Secondary).port();
    format!("127.0.0.1:{}", port - 30_002 + 29_999)
}

impl Cell {
    /// Starts a controller with a node that only observes.
    pub(crate) fn looking(software: SoftwareVersion, arguments: &[&str]) -> Self {
        let controller = controller(software);
        let robot = robot(&controller);
        Self::beside(controller, &robot, arguments)
    }

    /// Starts a controller with a node that commands on this command path.
    pub(crate) fn commanding(software: SoftwareVersion, path: &str) -> Self {
        Self::configured(software, path, "")
    }

    /// Starts a controller with a node that also takes a goal as a request to command.
    pub(crate) fn requesting(software: SoftwareVersion, path: &str) -> Self {
        Self::commands(controller(software), software, path, ("", "expert.goals_request = true"), &[])
    }

    /// Starts a controller with a node that commands, with further keys of `[ros]`.
    pub(crate) fn with_ros(software: SoftwareVersion, path: &str, ros: &str) -> Self {
        Self::with_more(software, path, "", ros)
    }

    /// Starts a controller with a node that commands, with further lines in its configuration and further keys of
    /// `[ros]`.
    pub(crate) fn with_more(software: SoftwareVersion, path: &str, more: &str, ros: &str) -> Self {
        Self::commands(controller(software), software, path, (more, ros), &[])
    }

    /// Starts a controller with a node that commands, with further lines in its configuration: keys with their
    /// sections in front.
    pub(crate) fn configured(software: SoftwareVersion, path: &str, more: &str) -> Self {
        Self::configured_as(software, path, more, &[])
    }

    /// Starts a controller with a node like [`Cell::configured`], with these arguments.
    pub(crate) fn configured_as(software: SoftwareVersion, path: &str, more: &str, arguments: &[&str]) -> Self {
        Self::commands(controller(software), software, path, (more, ""), arguments)
    }

    /// Starts a controller with a node that commands on the command path `player`, with a flat surface this far below
    /// the tool \[m\].
    pub(crate) fn above(software: SoftwareVersion, below: f64) -> Self {
        let options = Options { q: Q, ..Options::for_software(software) };
        let arm = Controller::new(options.clone()).expect("a controller that existed");
        let [x, y, z] = arm.truth().tool().position;
        let surface = Surface::new([x, y, z - below], [0.0, 0.0, 1.0], 20_000.0, 500.0);
        Self::commands(controller_of(Options { surface, ..options }), software, "player", ("", ""), &[])
    }

    /// Starts a controller whose pendant has a program that fetches the ROS 2 node's program by a URCap. After the
    /// URCap's program node, the pendant's program continues with a move of the last joint.
    pub(crate) fn with_urcap(software: SoftwareVersion, path: &str) -> Self {
        let script_port = free_port();
        let mut options = Options { q: Q, ..Options::for_software(software) };
        options.external_control = Some(ExternalControl { host: Ipv4Addr::LOCALHOST.to_string(), port: script_port });
        let [a, b, c, d, e, _] = Q;
        let script = format!("def program():\n {NODE}\n movej([{a}, {b}, {c}, {d}, {e}, 1.0], a=4.0, v=1.0)\nend\n");
        options.files.programs.push(ProgramFile { script, ..ProgramFile::named(PROGRAM) });
        let more = format!("program.expert.by = \"urcap\"\nprogram.expert.script_port = {script_port}");
        Self::commands(controller_of(options), software, path, (&more, ""), &[])
    }

    fn commands(
        controller: Running,
        software: SoftwareVersion,
        path: &str,
        (more, ros): (&str, &str),
        arguments: &[&str],
    ) -> Self {
        let robot = robot(&controller);
        // The programs of two controllers on one machine need different ports.
        let port = free_port();
        let (major, minor) = (software.major, software.minor);
        // Some controllers send states by port 30003 only.
        let pendant = if path == "text" { "session.expert.pendant_stop = \"overridden\"" } else { "" };
        let text = format!(
            "{pendant}\nrobot.address = \"{robot}\"\nprogram.expert.port = {port}\nsession.path = \"{path}\"\nsession.software = \"{major}.{minor}\"\n{PATIENT}\n{PATIENT_UR}\n\
             limits.velocity = 1.0\nlimits.acceleration = 3.0\n{more}\n[law]\nkind = \"joint-servo\"\n[ros]\nexpert.command = true\nexpert.legacy_names = true\n{ros}\n"
        );
        let file = file(".toml");
        std::fs::write(&file, text).expect("room");
        let file = file.to_str().expect("text").to_owned();
        Self::beside(controller, &file, arguments)
    }

    fn beside(controller: Running, of: &str, arguments: &[&str]) -> Self {
        let domain = domain();
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let nodes = vec![node_of(domain, of, &arguments)];
        Self { nodes, controller, domain, of: of.to_owned(), arguments }
    }

    /// Returns the process id of the newest node.
    pub(crate) fn pid(&self) -> u32 {
        self.nodes.last().expect("there was one").pid()
    }

    /// Returns the output of all nodes, the earlier ones first.
    pub(crate) fn said(&self) -> String {
        self.nodes.iter().map(Node::said).collect()
    }

    /// Returns `true` if the node still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.process().as_mut().is_some_and(|node| matches!(node.0.try_wait(), Ok(None)))
    }

    /// Runs the script `judge.py`, which checks the node from outside, and returns the values that it printed.
    /// Carries out the actions that the script requests.
    pub(crate) fn judge(&mut self, what: &str, arguments: &[&str]) -> Found {
        let domain = self.domain.to_string();
        self.hears(&script_beside("judge.py"), &[&[what, &*domain], arguments].concat())
    }

    /// Runs `script` instead of `judge.py` to check the node, with the domain and the number of port 30003, which shows
    /// the position of the arm. Returns the values that it printed.
    pub(crate) fn judge_by(&mut self, script: &str, arguments: &[&str]) -> Found {
        let (domain, realtime) = (self.domain.to_string(), self.controller.address(Port::Realtime).port().to_string());
        self.hears(&script_beside(script), &[&[&*domain, &*realtime], arguments].concat())
    }

    /// Runs a Python script against the node, carries out the actions that the script requests, and returns the values
    /// that it printed.
    pub(crate) fn hears(&mut self, script: &str, arguments: &[&str]) -> Found {
        self.hears_of(&mut script_of(script, arguments))
    }

    /// Runs a program that checks the node, carries out the actions that it requests, and returns the values that it
    /// printed.
    pub(crate) fn hears_of(&mut self, program: &mut Command) -> Found {
        let clock = Clock::start();
        let heard = heard(program, |deed| match deed {
            "kill" => self.kill(),
            "quit" => self.quit(),
            "start" => self.nodes.push(node_of(self.domain, &self.of, &self.arguments)),
            deed => match deed.strip_prefix("sleep ").and_then(|words| words.split_once(' ')) {
                Some((who, seconds)) => self.sleep(who, seconds.parse().expect("a number")),
                None => self.act(deed),
            },
        });
        judged(heard, clock, &self.nodes)
    }

    /// Kills the node, so that it cannot announce its end.
    fn kill(&mut self) {
        self.process().take();
    }

    /// Ends the node by SIGINT, and waits for its end.
    fn quit(&mut self) {
        if let Some(mut node) = self.process().take() {
            let pid = node.0.id().to_string();
            assert!(Command::new("kill").args(["-INT", &pid]).status().is_ok_and(|status| status.success()));
            node.0.wait().expect("it ends");
        }
    }

    /// Stops a process (`SIGSTOP`) for this many seconds: the node, or the process with this id.
    fn sleep(&self, who: &str, seconds: u64) {
        let pid = match who {
            "node" => self.pid().to_string(),
            pid => pid.to_owned(),
        };
        let send = |signal: &str| {
            assert!(Command::new("kill").args([signal, &*pid]).status().is_ok_and(|status| status.success()));
        };
        send("-STOP");
        std::thread::sleep(Duration::from_secs(seconds));
        send("-CONT");
    }

    fn process(&mut self) -> &mut Option<Program> {
        &mut self.nodes.last_mut().expect("there was one").process
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

/// Starts a node in this ROS domain, with its output in a file.
pub(crate) fn node(domain: u16, of: &str) -> Node {
    node_of(domain, of, &[])
}

fn node_of(domain: u16, of: &str, arguments: &[String]) -> Node {
    let (path, clock) = (file(".log"), Clock::start());
    let log = std::fs::File::create(&path).expect("room");
    let mut command = Command::new(outrigger_system::program());
    command.args(["ros2", of, "--domain", &domain.to_string()]).envs(HERE);
    if !arguments.iter().any(|word| word == "--distro") {
        command.args(["--distro", "jazzy"]);
    }
    let errors = log.try_clone().expect("a handle");
    let node =
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::from(log)).stderr(Stdio::from(errors)).spawn();
    Node { process: Some(Program(node.expect("it was built"))), log: path, clock }
}

/// Runs `judge.py` to check these nodes, and returns the values that it printed. It must not request an action.
pub(crate) fn judge(domain: u16, what: &str, nodes: &[Node]) -> Found {
    let clock = Clock::start();
    let mut program = script_of(&script_beside("judge.py"), &[what, &domain.to_string()]);
    judged(heard(&mut program, |deed| panic!("nobody does '{deed}'")), clock, nodes)
}

/// Runs this script without a node, carries out the actions that it requests by `act`, and returns the values that it
/// printed.
pub(crate) fn judge_by(script: &str, arguments: &[&str], act: impl FnMut(&str)) -> Found {
    found_by(&mut script_of(&script_beside(script), arguments), act)
}

/// Runs this program without a node, carries out the actions that it requests by `act`, and returns the values that it
/// printed.
pub(crate) fn found_by(program: &mut Command, act: impl FnMut(&str)) -> Found {
    let clock = Clock::start();
    judged(heard(program, act), clock, &[])
}

pub(crate) fn script_beside(name: &str) -> String {
    workspace().join("tests/system/ros2").join(name).to_string_lossy().into_owned()
}

fn script_of(script: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command.arg("600").arg(python()).arg(script).args(arguments);
    command
}

/// The failure of a script that checks a node.
struct Discontent {
    too_late: bool,
    found: Found,
    said: String,
}

/// Runs a script or program that checks a node, and returns the values that it printed. A line `do ...` requests an
/// action, after which the program waits for an answer.
fn heard(program: &mut Command, mut act: impl FnMut(&str)) -> Result<Found, Discontent> {
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
    if output.status.success() {
        return Ok(found);
    }
    let said = format!("{program:?}: {}", String::from_utf8_lossy(&output.stderr));
    Err(Discontent { too_late: output.status.code() == Some(TOO_LATE), found, said })
}

/// Returns the values that a script printed. If it failed because it was late, or because commanding ended for
/// lateness, and this machine stood still for long enough, the test is repeated. Any other failure fails the test.
fn judged(heard: Result<Found, Discontent>, clock: Clock, nodes: &[Node]) -> Found {
    let Discontent { too_late, found, said } = match heard {
        Ok(found) => return found,
        Err(discontent) => discontent,
    };
    let whole = clock.window(SimTime::ZERO, clock.now());
    if too_late {
        let [least] = numbers(&found, "stood")[..] else { panic!("{found:#?}") };
        let stood = machine_standstills::seen().longest(whole);
        assert!(
            stood >= Duration::from_secs_f64(least),
            "{said}; the machine stood still for {stood:?}; found {found:#?}"
        );
        late(whole, said);
    }
    for node in nodes {
        if let Some((line, window)) = node.fell_back()
            && nobodys_fallback(&line, window, ENDING) != Verdict::Fails
        {
            late(window, format!("{line}: {said}"));
        }
    }
    // Leaves out the lines that the node prints every second.
    let log: Vec<String> = nodes.iter().map(Node::said).collect();
    let log: Vec<&str> = log.iter().flat_map(|log| log.lines()).filter(|line| !line.contains(" Hz  age ")).collect();
    panic!("{said}; found {found:#?}; the node said\n{}", log[log.len().saturating_sub(80)..].join("\n"));
}

/// Returns the path of a file that no other test uses.
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
