//! The command `outrigger tool` with simulated controllers that have a gripper at the tool: a session over TCP and by
//! a pseudo-terminal, and the conditions under which no session begins.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outrigger::host::os::serial;
use outrigger_sim::controller::{Action, Controller, Options, StartState};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Running, Server};
use outrigger_sim::tool_line::{OPENING, POSITION, Serial, TARGET, TOP_SPEED, ToolGripper};
use outrigger_wire::robot::SoftwareVersion;

/// The time limit of every wait, far above what anything here needs. It ends a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// The highest number of times that a test polls a condition, far above what anything here needs. It ends a test that
/// would hang.
const MOST: u32 = 100_000;

/// Returns a simulated gripper that waits for the rest of a message long enough for any busy machine.
fn gripper() -> ToolGripper {
    ToolGripper { patience: Duration::from_secs(3_600), ..ToolGripper::default() }
}

fn options(major: u8, minor: u8) -> Options {
    Options { tool_line: Some(gripper()), ..Options::for_software(SoftwareVersion::new(major, minor)) }
}

fn serve(options: Options) -> Running {
    let controller = Controller::new(options).expect("a controller that existed");
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    Server::bind_from(controller, local, 52_000).expect("free ports").spawn().expect("a thread")
}

/// A running `outrigger tool`.
struct Tool {
    child: Child,
    lines: BufReader<ChildStdout>,
    said: Vec<String>,
    /// `true` once the program need not be killed when the time limit is over.
    over: Arc<AtomicBool>,
}

impl Tool {
    fn start(server: &Running, arguments: &[&str]) -> Self {
        let mut child = Command::new(outrigger_system::program())
            .args(["tool", &format!("127.0.0.1:{}", server.port_base())])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        let over = Arc::new(AtomicBool::new(false));
        kill_after_patience(child.id(), Arc::clone(&over));
        Self { child, lines, said: vec![], over }
    }

    /// Waits for a line of output that begins with `head`. Returns the rest of the line.
    fn says(&mut self, head: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).expect("text") > 0, "no '{head}' in {:?}", self.said);
            self.said.push(line.trim_end().to_owned());
            if let Some(rest) = line.trim_end().strip_prefix(head) {
                return rest.to_owned();
            }
        }
    }

    /// Waits for the line with the local port. Returns the address of that port.
    fn port(&mut self) -> SocketAddr {
        let rest = self.says("Listening on ");
        rest.split(',').next().expect("an address").parse().expect("an address")
    }

    /// Ends the program as Ctrl-C does. Returns its exit code.
    fn interrupt(mut self) -> i32 {
        let killed = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("kill");
        assert!(killed.success());
        self.says("SIGINT: ");
        self.child.wait().expect("it ends").code().expect("an exit code")
    }

    /// Waits until the program has ended. Returns its exit code and its standard error.
    fn ends(mut self) -> (i32, String) {
        let mut complaint = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut complaint).expect("text");
        (self.child.wait().expect("it ends").code().expect("an exit code"), complaint)
    }
}

/// Kills the process after [`PATIENCE`] unless `over` is set, so that no read of its output waits for ever.
fn kill_after_patience(process: u32, over: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        for _ in 0..PATIENCE.as_secs() * 10 {
            std::thread::sleep(Duration::from_millis(100));
            if over.load(Ordering::Relaxed) {
                return;
            }
        }
        let _ = Command::new("kill").args(["-KILL", &process.to_string()]).status();
    });
}

impl Drop for Tool {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a Modbus message with its checksum, computed bit by bit as in the standard.
fn sealed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0xFFFF_u16, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xA001 } else { sum >> 1 })
    });
    [body, &sum.to_le_bytes()].concat()
}

fn read(line: &mut (impl Read + Write), register: u16) -> u16 {
    let request = sealed(&[&[1, 3][..], &register.to_be_bytes(), &[0, 1]].concat());
    line.write_all(&request).expect("open");
    let mut answer = [0; 7];
    line.read_exact(&mut answer).expect("an answer");
    assert_eq!(answer, *sealed(&answer[..5]));
    u16::from_be_bytes([answer[3], answer[4]])
}

fn write(line: &mut (impl Read + Write), register: u16, value: u16) {
    let request = sealed(&[&[1, 6][..], &register.to_be_bytes(), &value.to_be_bytes()].concat());
    // Piece by piece: messages are told apart by their length.
    request.chunks(3).for_each(|piece| line.write_all(piece).expect("open"));
    let mut answer = [0; 8];
    line.read_exact(&mut answer).expect("an answer");
    assert_eq!(answer, *request);
}

/// Closes and opens the simulated gripper over the serial line `line`, and waits each time until the jaws have arrived.
fn session(line: &mut (impl Read + Write), server: &Running) {
    write(line, 2, TOP_SPEED);
    for target in [0, OPENING] {
        write(line, TARGET, target);
        assert!((0..MOST).any(|_| read(line, POSITION) == target), "it never arrives");
        assert_eq!(server.controller().gripper_opening().map(f64::round), Some(f64::from(target)));
    }
}

fn wait_until(server: &Running, is_so: impl Fn(&Controller) -> bool) {
    let looks = (0..MOST).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        is_so(&server.controller())
    });
    assert!(looks, "it never comes to that");
}

fn connect(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("an option");
    stream
}

const SET_UP: [&str; 4] = ["--baud", "115200", "--voltage", "24"];

fn listening<'a>(settings: &[&'a str]) -> Vec<&'a str> {
    [settings, &["--listen", "127.0.0.1:0"]].concat()
}

#[test]
fn a_gripper_opens_and_closes_over_a_local_port_on_every_generation_that_has_the_line() {
    for (major, minor) in [(5, 0), (5, 25), (10, 12)] {
        let server = serve(options(major, minor));
        let mut tool = Tool::start(&server, &listening(&SET_UP));
        let mut line = connect(tool.port());
        let set = "Tool line set: 115200 baud, no parity, 1 stop bit, idle characters 1.5 (rx) and 3.5 (tx), tool voltage 24 V";
        assert_eq!(tool.said[0], set);
        session(&mut line, &server);
        let mut second = connect(line.peer_addr().expect("an address"));
        assert_eq!(second.read(&mut [0; 8]).unwrap_or(0), 0, "one client at a time");
        tool.says("Refused 127.0.0.1:");
        session(&mut line, &server);
        assert_eq!(tool.interrupt(), 0);
    }
}

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

#[test]
fn a_gripper_opens_and_closes_by_a_pseudo_terminal_whose_name_goes_with_the_command() {
    let server = serve(options(5, 15));
    let name = place("gripper");
    let mut tool = Tool::start(&server, &[&SET_UP[..], &["--pty", name.to_str().expect("text")]].concat());
    tool.says("Pseudo-terminal ");
    let mut line: File = serial::open(&name, 9_600).expect("a device, whatever its rate");
    session(&mut line, &server);
    drop(line);
    let mut line: File = serial::open(&name, 115_200).expect("it can be opened again");
    session(&mut line, &server);
    let taken = Tool::start(&server, &[&SET_UP[..], &["--pty", name.to_str().expect("text")]].concat());
    let (code, complaint) = taken.ends();
    assert_eq!(code, 1);
    assert!(complaint.contains("choose another name"), "{complaint}");
    assert_eq!(tool.interrupt(), 0);
    assert!(!name.is_symlink());
}

#[test]
fn at_a_wrong_baud_rate_the_gripper_is_silent_and_at_its_own_it_answers_the_next_session() {
    let serial = Serial { baud_rate: 1_000_000, parity: 2, stop_bits: 1 };
    let gripper = ToolGripper { serial, ..gripper() };
    let server = serve(Options { tool_line: Some(gripper), ..options(5, 15) });
    let mut tool = Tool::start(&server, &listening(&SET_UP));
    let mut line = connect(tool.port());
    let request = sealed(&[1, 3, 0, 1, 0, 1]);
    line.write_all(&request).expect("open");
    // The controller's own time: long after the line has carried it.
    let then = server.controller().now() + Duration::from_millis(500);
    wait_until(&server, |controller| controller.now() >= then);
    line.set_nonblocking(true).expect("an option");
    let silent = line.read(&mut [0; 8]).expect_err("silence");
    assert_eq!(silent.kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(tool.interrupt(), 0);
    let right = ["--baud", "1000000", "--parity", "even", "--voltage", "24"];
    let mut tool = Tool::start(&server, &listening(&right));
    session(&mut connect(tool.port()), &server);
    assert_eq!(tool.interrupt(), 0);
    // Where the robot shows the settings already, nothing is sent, and local control does not matter.
    server.controller().act(Action::SwitchToLocal);
    let mut tool = Tool::start(&server, &listening(&right));
    session(&mut connect(tool.port()), &server);
    assert!(tool.said[0].starts_with("Tool line already set, nothing was sent: 1000000 baud"), "{:?}", tool.said);
}

#[test]
fn a_robot_without_urcap_line_or_remote_control_and_a_port_in_use_are_told_with_what_to_do() {
    let told = |options: Options, arguments: &[&str]| Tool::start(&serve(options), arguments).ends();
    let server = serve(Options { tool_line: None, ..options(5, 15) });
    server.controller().keep_texts();
    let (code, complaint) = Tool::start(&server, &listening(&SET_UP)).ends();
    assert!(code == 3 && complaint.contains("expected UR's URCap \"Tool Communication Forwarder\""), "{complaint}");
    assert_eq!(server.controller().texts().len(), 0, "neither settings nor 24 V are sent to a robot without the URCap");
    drop(server);
    let (code, complaint) = told(Options::for_software(SoftwareVersion::new(3, 15)), &listening(&SET_UP));
    assert!(code == 3 && complaint.contains("software 3.15.0: such an arm has no serial line"), "{complaint}");
    let (code, complaint) = told(Options { state: StartState::Local, ..options(5, 15) }, &listening(&SET_UP));
    assert!(code == 3 && complaint.contains("choose remote control at the pendant"), "{complaint}");
    assert!(complaint.contains("the robot shows the line off, 115200 baud"), "{complaint}");
    let (code, complaint) = told(options(5, 15), &listening(&["--baud", "115201"]));
    assert!(code == 2 && complaint.contains("baud rate is 115201, allowed are 9600"), "{complaint}");
    let server = serve(options(5, 15));
    let taken = server.address(Port::Primary).to_string();
    let (code, complaint) = Tool::start(&server, &[&SET_UP[..], &["--listen", &taken]].concat()).ends();
    assert!(code == 1 && complaint.contains("another program has this port"), "{complaint}");
}

#[test]
fn a_controller_that_restarts_is_found_again_and_set_up_again() {
    let server = serve(options(5, 15));
    let mut tool = Tool::start(&server, &listening(&SET_UP));
    let at = tool.port();
    let mut line = connect(at);
    session(&mut line, &server);
    server.controller().act(Action::Restart(Duration::from_secs(2)));
    tool.says("Client 127.0.0.1:");
    tool.says("Lost the tool line at ");
    assert_eq!(line.read(&mut [0; 8]).unwrap_or(0), 0, "the client is told by the end of its connection");
    tool.says("Not yet: ");
    tool.says("Tool line set: ");
    tool.says("Connected to the tool line at ");
    // The arm is without power after a restart, and so is its tool.
    server.controller().act(Action::ReleaseBrakes);
    wait_until(&server, |controller| controller.robot().may_move());
    session(&mut connect(at), &server);
    assert_eq!(tool.interrupt(), 0);
}

#[test]
fn a_program_that_runs_goes_on_while_the_line_is_set_up() {
    let server = serve(options(5, 15));
    let mut primary = connect(server.address(Port::Primary));
    primary.write_all(b"def main():\n while True:\n  sleep(0.1)\n end\nend\n").expect("open");
    wait_until(&server, |controller| controller.program().0);
    server.controller().keep_texts();
    let mut tool = Tool::start(&server, &listening(&SET_UP));
    session(&mut connect(tool.port()), &server);
    let controller = server.controller();
    assert_eq!(controller.program(), (true, false));
    let sent: Vec<&str> = controller.texts().iter().map(|text| text.text.as_str()).collect();
    assert!(matches!(sent[..], [text] if text.starts_with("sec ")), "{sent:?}");
}
