//! The live page over loopback, as browsers and unwanted clients use it: `view` and `run --web`.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::{RobotModel, SoftwareVersion};
use serde_json::Value;

/// The names of those values that depend only on the robot's state. They must be equal in the messages to the live page
/// and in the output of `monitor`.
const OF_THE_STATE: [&str; 6] = ["q_actual", "qd_actual", "qd_target", "tcp_pose", "robot_mode", "safety"];

fn controller(model: RobotModel, software: SoftwareVersion, base: u16) -> (Running, String) {
    let controller = Controller::new(Options::new(model, software)).expect("an arm of that age");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), base).expect("free ports");
    let server = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", server.port_base());
    (server, robot)
}

/// A running `outrigger` process that serves the live page, and its further output.
struct Paged {
    child: Child,
    said: Option<Box<dyn Iterator<Item = String>>>,
    address: SocketAddr,
}

fn paged(arguments: &[&str]) -> Paged {
    let mut child = Command::new(outrigger_system::program())
        .args(arguments)
        .args(["--json", "--web", "127.0.0.1:0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let line = said.find(|line| line.contains("\"kind\":\"page\"")).expect("it says where the page is");
    let url = json(&line)["url"].as_str().expect("an address").to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches('/').parse().expect("an address");
    Paged { child, said: Some(Box::new(said)), address }
}

impl Paged {
    /// Ends the process by SIGINT. Returns its exit code and the rest of its output.
    fn end(mut self) -> (Option<i32>, Vec<Value>) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
        let last = self.said.take().into_iter().flatten().map(|line| json(&line)).collect();
        (self.child.wait().expect("it ends").code(), last)
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Connects to the page's server, with a time limit on reading.
fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream
}

fn ask(address: SocketAddr, path: &str, further: &str) -> TcpStream {
    let mut stream = connect(address);
    // A request that is rejected before it is read ends with a reset.
    let _ = write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{further}\r\n");
    stream
}

/// Returns the whole answer of the page's server.
fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    // A server that rejects a request before it has read all of it may reset the connection.
    let _ = stream.read_to_string(&mut text);
    text
}

/// Returns the first line of an answer of the page's server. Empty if the connection was reset.
fn status(stream: TcpStream) -> String {
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    line
}

/// Returns the objects in the event stream of the page, until the stream ends.
fn told(stream: TcpStream) -> impl Iterator<Item = Value> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| line.strip_prefix("data: ").map(json))
}

fn of_type<'v>(value: &'v Value, kind: &str) -> Option<&'v Value> {
    (value["type"] == kind).then_some(value)
}

#[test]
fn a_page_is_told_what_monitor_prints_at_the_same_stamps() {
    let (_server, robot) = controller(RobotModel::Ur5, SoftwareVersion::new(3, 15), 53_000);
    let page = paged(&["view", &robot]);
    let mut monitor = Command::new(outrigger_system::program())
        .args(["monitor", &robot, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    let mut printed =
        BufReader::new(monitor.stdout.take().expect("piped")).lines().map(|line| json(&line.expect("text")));
    let (mut states, mut common, mut previous) = (HashMap::new(), 0, f64::MIN);
    let mut told = told(ask(page.address, "/stream", ""));
    let about = told.next().expect("it is told first what this is");
    assert_eq!((&about["type"], &about["joints"][0]), (&"about".into(), &"base".into()));
    // The page shows every second or third state, `monitor` one each second. Waits until some states are shown by
    // both.
    while common < 2 {
        let line = printed.by_ref().find(|line| of_type(line, "status").is_some() && line["controller_time"].is_f64());
        let line = line.expect("monitor goes on");
        let stamp = line["controller_time"].as_f64().expect("a time");
        while previous < stamp {
            let state = told.by_ref().find(|value| of_type(value, "status").is_some()).expect("the page goes on");
            previous = state["controller_time"].as_f64().unwrap_or(previous);
            states.insert(previous.to_bits(), state);
        }
        let Some(state) = states.get(&stamp.to_bits()) else { continue };
        for key in OF_THE_STATE {
            assert!(!line[key].is_null() && line[key] == state[key], "{key} at {stamp} s: {line}\n{state}");
        }
        common += 1;
    }
    monitor.kill().expect("it runs");
    monitor.wait().expect("it ends");
    let (code, last) = page.end();
    assert_eq!(code, Some(0));
    let counts = last.last().and_then(|last| of_type(last, "page")).expect("counts at the end");
    assert!(
        counts["opened"] == 1 && counts["sent"].as_u64().is_some_and(|sent| sent >= states.len() as u64),
        "{counts}"
    );
    assert!(told.any(|value| value["type"] == "end"), "a page is told of the end");
}

/// Returns the size of the resident memory of a process \[memory pages\].
fn memory(of: &Child) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", of.id())).expect("Linux");
    text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number")
}

#[test]
fn two_hundred_sleepers_floods_and_strangers_take_nothing_from_the_page_that_reads() {
    let (_server, robot) = controller(RobotModel::Ur5e, SoftwareVersion::new(5, 15), 53_100);
    let page = paged(&["view", &robot]);
    let at = page.address;
    let mut reads = told(ask(at, "/stream", ""));
    let mut next_state = move || {
        // A state, the live data for drawing, and the counts arrive together.
        let state = reads.by_ref().find(|value| of_type(value, "status").is_some()).expect("it goes on");
        let counts = reads.by_ref().find(|value| of_type(value, "page").is_some()).expect("it goes on");
        (state, counts)
    };
    let (mut newest, _) = next_state();
    let before = memory(&page.child);

    // These readers request states and never read them.
    let sleepers: Vec<_> = (0..200).map(|_| ask(at, "/stream", "")).collect();
    let mut watching = 0;
    while watching < 64 {
        let (state, counts) = next_state();
        assert!(state["time"].as_f64() > newest["time"].as_f64(), "it goes on");
        (newest, watching) = (state, counts["watching"].as_u64().expect("a number"));
    }
    // The rejected connections may still occupy the last places for a moment.
    let refused =
        std::iter::repeat_with(|| (next_state(), status(ask(at, "/stream", ""))).1).find(|line| !line.is_empty());
    assert!(refused.is_some_and(|line| line.starts_with("HTTP/1.1 503 ")), "there is no place left");
    // Sends nonsense, oversized and incomplete requests, and requests for other sites and other host names.
    let mut giant = connect(at);
    let flood = vec![b'x'; 1 << 20];
    let _ = giant.write_all(b"GET / HTTP/1.1\r\nX: ").and_then(|()| giant.write_all(&flood));
    let refused = status(giant);
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 431"), "{refused}");
    let half = connect(at);
    for (path, further, status) in [
        ("/../../etc/passwd", "", "404"),
        ("/%2e%2e/etc/passwd", "", "404"),
        ("/stream", "Origin: http://evil.example\r\n", "403"),
        ("/stream", "Sec-Fetch-Site: cross-site\r\n", "403"),
        ("/", "Host: evil.example\r\n", "400"),
    ] {
        let refused = self::status(ask(at, path, further));
        assert!(refused.starts_with(&format!("HTTP/1.1 {status} ")), "{path} {further}: {refused}");
    }
    let stranger = |request: &str| {
        let mut stream = connect(at);
        stream.write_all(request.as_bytes()).expect("it reads");
        status(stream)
    };
    let rebound = stranger(&format!("GET / HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", at.port()));
    assert!(rebound.starts_with("HTTP/1.1 421 "), "{rebound}");
    assert!(
        stranger(&format!("POST / HTTP/1.1\r\nHost: {at}\r\nContent-Length: 9\r\n\r\nrequest\r\n"))
            .starts_with("HTTP/1.1 405 ")
    );
    assert!(stranger("\u{16}\u{3}\u{1}\r\n\r\n").starts_with("HTTP/1.1 400 "));

    // A reader that does not read loses messages, which are counted, and is finally disconnected. The active page
    // receives every state meanwhile.
    loop {
        let (state, counts) = next_state();
        assert!(state["time"].as_f64() > newest["time"].as_f64(), "it goes on");
        newest = state;
        assert!(counts["refused"].as_u64().is_some_and(|refused| refused >= 140), "{counts}");
        if counts["watching"] == 1 {
            assert!(counts["dropped_of_all"].as_u64() > Some(1_000), "{counts}");
            break;
        }
    }
    let grown = memory(&page.child).saturating_sub(before) * 4096;
    assert!(grown < 32 << 20, "{grown} bytes more for two hundred");
    // The places are free again.
    let again = told(ask(at, "/stream", "")).any(|value| of_type(&value, "status").is_some());
    assert!(again, "whoever comes later is told states");
    drop((sleepers, half));
    let (code, last) = page.end();
    let counts = last.last().and_then(|last| of_type(last, "page")).expect("counts at the end");
    assert!(code == Some(0) && counts["asleep"].as_u64() >= Some(60), "{counts}");
}

#[test]
fn a_run_with_a_page_shows_its_law_and_its_sensors() {
    let (_server, robot) = controller(RobotModel::Ur5e, SoftwareVersion::new(5, 15), 53_200);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page.toml");
    let configuration = "robot.address = \"127.0.0.1\"\nlaw.kind = \"standoff\"\nlaw.source = \"gap\"\nlaw.distance = 0.05\n\
                         run.expert.requests = false\n[[source]]\nname = \"gap\"\ninput = \"udp\"\nlisten = \"127.0.0.1:0\"\n\
                         from = \"127.0.0.1\"\nrange = [0.0, 0.5]\n";
    std::fs::write(&file, configuration).expect("a file");
    let page = paged(&["run", file.to_str().expect("a path"), "--robot", &robot]);
    let mut told = told(ask(page.address, "/stream", ""));
    let live = told.by_ref().find(|value| of_type(value, "live").is_some_and(|live| live["arm"].is_array()));
    let live = live.expect("a picture");
    assert_eq!((&live["sources"][0]["name"], &live["commands"]), (&"gap".into(), &false.into()), "{live}");
    assert_eq!(live["arm"].as_array().map(Vec::len), Some(8), "base, six joints, tool: {live}");
    assert!(live["not_met"][0]["remedy"].is_string(), "{live}");
    // Earlier events are sent as well, and the end.
    let answer = answer(ask(page.address, "/", ""));
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("default-src 'none'"), "{answer}");
    let (_, last) = page.end();
    assert!(last.iter().any(|last| of_type(last, "page").is_some()), "{last:?}");
    assert_eq!(last.last().map(|last| &last["type"]), Some(&"summary".into()), "the summary stays the last line");
}

#[test]
fn an_address_that_is_taken_is_said_before_anything_else() {
    let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let at = taken.local_addr().expect("an address").to_string();
    let output = Command::new(outrigger_system::program())
        .args(["view", "127.0.0.1:53300", "--web", &at])
        .output()
        .expect("the binary under test");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--web") && said.contains(&at), "{said}");
}

/// Checks that the server waits for the rest of a request for a limited time only.
#[test]
fn a_request_that_never_ends_is_answered_after_some_seconds() {
    let (_server, robot) = controller(RobotModel::Ur5e, SoftwareVersion::new(5, 15), 53_400);
    let page = paged(&["view", &robot]);
    let mut half = connect(page.address);
    half.write_all(b"GET / HTTP/1.1\r\nHo").expect("it reads");
    assert!(answer(half).starts_with("HTTP/1.1 408 "));
    assert_eq!(page.end().0, Some(0));
}
