//! The program under test, and the simulated controller that it runs beside.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::machine_standstills::Window;
use outrigger_emulated::tries::in_time;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::time::SimTime;
use outrigger_sim::{krc, tcp, udp};

use super::Asks;
use super::relay::{self, Relay};

/// The longest time that a test waits until the arm moves.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time after which a test acknowledges and resumes again, if the arm does not move yet.
const AGAIN: Duration = Duration::from_secs(3);
/// The time after which a test assumes that no zero velocity will arrive at the controller.
const NEVER: Duration = Duration::from_secs(5);

/// The kind of controller that the program runs beside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Beside {
    Ur,
    Krc,
}

pub(super) struct Streams {
    pub(super) input: Stdio,
    pub(super) output: Stdio,
    pub(super) error: Stdio,
}

/// A simulated controller. Dropping it ends the controller.
enum Peer {
    Ur { _running: tcp::Running },
    Krc { _running: udp::Running },
}

/// The arguments of commands that only observe. `ROBOT` stands for an address, `FILE` for a path.
pub(super) const LOOKERS: [&[&str]; 6] = [
    &["monitor", "ROBOT"],
    &["monitor", "ROBOT", "--json"],
    &["monitor", "127.0.0.1", "--kind", "krc", "--listen", "127.0.0.1:0"],
    &["record", "ROBOT", "--out", "FILE"],
    &["watch", "127.0.0.1", "--listen", "127.0.0.1:0"],
    &["demo"],
];

pub(super) struct Program {
    child: Child,
    keys: Option<File>,
    relay: Option<Relay>,
    _peer: Option<Peer>,
    begun: Clock,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the time since `clock` was started.
pub(super) fn elapsed(clock: Clock) -> Duration {
    clock.now().since(SimTime::ZERO)
}

fn program() -> Command {
    Command::new(outrigger_system::program())
}

/// Returns a path that no other test uses. An old file there is removed.
fn file(suffix: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outside-{}-{number}{suffix}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn configuration(text: &str) -> String {
    let path = file(".toml");
    std::fs::write(&path, text).expect("room");
    path.to_str().expect("text").to_owned()
}

/// A configuration with a slow motion that lasts longer than any test observes it.
const MOTION: &str = r#"
[run]
request = "start"
end = "never"

[law]
kind = "joint-servo"
relative = true

[[law.waypoint]]
at = 0.0
degrees = 0

[[law.waypoint]]
at = 40.0
degrees = [150, 0, 0, 0, 0, 0, 0]
"#;

/// Starts a simulated controller and a relay in front of it. Returns both with the path of a configuration for them.
fn beside(whom: Beside, begun: Clock) -> (Peer, Relay, String) {
    match whom {
        Beside::Ur => {
            let controller = Controller::new(Options::default()).expect("the default arm");
            let server = tcp::Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 52_000).expect("free ports");
            let running = server.spawn().expect("a thread");
            let relay = relay::of_texts(running.port_base(), begun);
            let robot = format!("[robot]\naddress = \"127.0.0.1:{}\"\n", relay.port);
            let motion = MOTION
                .replace("0, 0, 0, 0, 0, 0, 0]", "0, 0, 0, 0, 0, 0]")
                .replace("degrees = 0", "degrees = [0, 0, 0, 0, 0, 0]");
            (Peer::Ur { _running: running }, relay, configuration(&format!("{robot}{motion}")))
        }
        Beside::Krc => {
            let listen = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
            let relay = relay::of_datagrams(listen, begun);
            let options = krc::Options { period: Duration::from_millis(5), ..krc::Options::default() };
            let krc = krc::Krc::new(options).expect("a KRC that can be");
            let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let remote = SocketAddr::from((Ipv4Addr::LOCALHOST, relay.port));
            let running = udp::Server::bind(krc, local, remote).and_then(udp::Server::spawn).expect("a thread");
            let robot = format!("[robot]\nkind = \"krc\"\nlisten = \"{listen}\"\nhandshake = \"ros-control\"\n");
            let motion = format!("{MOTION}\n[limits]\nvelocity = 0.5\n");
            (Peer::Krc { _running: running }, relay, configuration(&format!("{robot}{motion}")))
        }
    }
}

impl Program {
    fn start(mut command: Command, streams: Streams, begun: Clock, with: Option<(Peer, Relay)>) -> Self {
        command.stdin(streams.input).stdout(streams.output).stderr(streams.error);
        let child = command.spawn().expect("the binary under test");
        let (peer, relay) = with.unzip();
        Self { child, keys: None, relay, _peer: peer, begun }
    }

    /// Starts `run` beside a controller, with a motion that lasts throughout the test.
    pub(super) fn run(whom: Beside, streams: Streams, more: &[&str]) -> Self {
        let begun = Clock::start();
        let (peer, relay, configuration) = beside(whom, begun);
        let mut command = program();
        command.arg("run").arg(configuration).args(more);
        Self::start(command, streams, begun, Some((peer, relay)))
    }

    /// Starts `run` like [`Program::run`], with a limit on the size of a file \[bytes\].
    pub(super) fn run_with_files_of(bytes: u64, whom: Beside, more: &[&str]) -> Self {
        let blocks = bytes / 1024;
        Self::run_under(&format!("ulimit -f {blocks}; exec \"$@\" >/dev/null"), whom, more, Stdio::piped())
    }

    /// Starts `run` like [`Program::run`], with these redirections of the shell.
    pub(super) fn run_in_a_shell(redirections: &str, whom: Beside) -> Self {
        Self::run_under(&format!("exec \"$@\" {redirections}"), whom, &[], Stdio::null())
    }

    fn run_under(script: &str, whom: Beside, more: &[&str], error: Stdio) -> Self {
        let begun = Clock::start();
        let (peer, relay, configuration) = beside(whom, begun);
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash", outrigger_system::program(), "run", &configuration]).args(more);
        let streams = Streams { input: Stdio::piped(), output: Stdio::null(), error };
        Self::start(command, streams, begun, Some((peer, relay)))
    }

    /// Starts a command of the program that only observes.
    pub(super) fn look(arguments: &[&str], streams: Streams) -> Self {
        let begun = Clock::start();
        let (peer, relay, _) = beside(Beside::Ur, begun);
        let mut command = program();
        for argument in arguments {
            match *argument {
                "ROBOT" => command.arg(format!("127.0.0.1:{}", relay.port)),
                "FILE" => command.arg(file(".mcap")),
                other => command.arg(other),
            };
        }
        Self::start(command, streams, begun, Some((peer, relay)))
    }

    pub(super) fn with_keys(mut self, keys: File) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Returns the time since the test of this program began.
    pub(super) fn now(&self) -> Duration {
        elapsed(self.begun)
    }

    /// Returns the window of a measurement that began at `asked` and took `took`, for queries about standstills of
    /// this machine in it.
    pub(super) fn window(&self, asked: Duration, took: Duration) -> Window {
        let from = SimTime::ZERO + asked;
        self.begun.window(from, from + took)
    }

    /// Reads standard error in a thread, which returns all of it.
    pub(super) fn errors(&mut self) -> JoinHandle<String> {
        let mut errors = self.child.stderr.take().expect("piped");
        std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).map(|_| text).expect("text")
        })
    }

    pub(super) fn ask(&mut self, by: Asks) {
        match by {
            Asks::Signal(signal) => {
                let pid = rustix::process::Pid::from_child(&self.child);
                rustix::process::kill_process(pid, signal).expect("it has not ended");
            }
            Asks::Key(key) => self.keys.as_mut().expect("a terminal").write_all(&[key]).expect("room for a key"),
            Asks::Line(line) => {
                let input = self.child.stdin.as_mut().expect("piped");
                input.write_all(line.as_bytes()).expect("room for a line");
            }
        }
    }

    /// Waits until the arm has been commanded to move for a while. Every [`AGAIN`] it acknowledges and resumes, as an
    /// operator would, because a standstill of the machine may have ended commanding. The suspended motion then
    /// continues.
    pub(super) fn until_it_moves(&mut self) {
        let begun = elapsed(self.begun);
        let mut asked = begun;
        while !self.relay.as_ref().expect("a run").moves() {
            let now = elapsed(self.begun);
            let ended = self.child.try_wait().expect("a child");
            assert!(ended.is_none(), "it ended before it moved: {ended:?}");
            in_time(self.window(begun, now - begun), now - begun < PATIENCE, || "it never moved".into());
            if now - asked > AGAIN {
                asked = now;
                if let Some(keys) = &mut self.keys {
                    keys.write_all(b"ac").expect("room for keys");
                } else if let Some(input) = &mut self.child.stdin {
                    // The input may be closed.
                    let _ = input.write_all(b"acknowledge\nresume\n");
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the time from `asked` to the first zero velocity at the controller. `None` if none arrives in time.
    pub(super) fn stops_after(&self, asked: Duration) -> Option<Duration> {
        let relay = self.relay.as_ref().expect("a run");
        let end = elapsed(self.begun) + NEVER;
        while elapsed(self.begun) < end {
            if let Some(at) = relay.stopped_after(asked) {
                return Some(at - asked);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// Returns the exit code, or -1 after a signal. `None` if the process does not end within `patience`.
    pub(super) fn end(&mut self, patience: Duration) -> Option<i32> {
        let end = elapsed(self.begun) + patience;
        while elapsed(self.begun) < end {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return Some(status.code().unwrap_or(-1));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

/// Starts `run` with a limit on open files and sends `quit`. Returns its exit code and its standard error.
pub(super) fn run_with_descriptors(most: u32) -> (Option<i32>, String) {
    // No process listens on this port.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let robot = format!("[robot]\naddress = \"127.0.0.1:{}\"\n", free.port().min(65_000));
    let motion = MOTION
        .replace("degrees = 0", "degrees = [0, 0, 0, 0, 0, 0]")
        .replace("0, 0, 0, 0, 0, 0, 0]", "0, 0, 0, 0, 0, 0]");
    let configuration = configuration(&format!("{robot}{motion}"));
    let script = format!("ulimit -n {most}; exec \"$@\" >/dev/null");
    let mut command = Command::new("bash");
    command.args(["-c", &script, "bash", outrigger_system::program(), "run", &configuration]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash");
    // The program may have ended by then.
    let _ = child.stdin.take().expect("piped").write_all(b"quit\n");
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}
