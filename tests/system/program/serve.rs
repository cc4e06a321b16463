//! The readers of a run, over `[serve]`, and its recording by `--record`.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::machine_standstills::Window;
use outrigger_emulated::tries::{Verdict, attempt_first, late, nobodys_fallback};
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::krc::{Krc, Options as KrcOptions};
use outrigger_sim::tcp::Server;
use outrigger_sim::udp;

/// The configuration of a run that waits for its operator, and that serves its states to readers over TCP.
const CONFIGURATION: &str = "robot.address = \"127.0.0.1\"\nlaw.kind = \"joint-servo\"\n\
                             [serve]\nlisten = \"127.0.0.1:0\"\nexpert.readers = 21\n";

/// Returns the text that `key` has in a line of JSON.
fn text_of(line: &str, key: &str) -> Option<String> {
    Some(line.split_once(&format!("\"{key}\":\""))?.1.split_once('"')?.0.to_owned())
}

/// Returns an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A run that serves its states to readers over TCP, with its standard input, its further output, and the address that
/// readers connect to.
struct Serving {
    child: Child,
    operator: ChildStdin,
    said: Box<dyn Iterator<Item = String>>,
    address: SocketAddr,
}

/// Starts a run with `arguments`, and waits until readers can connect to it.
fn serving(configuration: &Path, arguments: &[&OsStr]) -> Serving {
    let mut child = Command::new(outrigger_system::program())
        .arg("run")
        .arg(configuration)
        .arg("--json")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    let operator = child.stdin.take().expect("piped");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let serving = said.find(|line| line.contains("\"kind\":\"serve\"")).expect("it says where it serves");
    let address = text_of(&serving, "address").expect("an address").parse().expect("an address");
    Serving { child, operator, said: Box::new(said), address }
}

#[test]
fn twenty_readers_that_stand_still_take_nothing_from_the_one_that_reads_and_the_recording_is_whole() {
    attempt_first(served);
}

fn served() {
    let folder = folder("served");
    let (configuration, recording) = (folder.join("served.toml"), folder.join("run.mcap"));
    std::fs::write(&configuration, CONFIGURATION).expect("a file");
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 52_000).expect("free ports");
    let server = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let Serving { mut child, mut operator, said, address } =
        serving(&configuration, &["--robot".as_ref(), robot.as_ref(), "--record".as_ref(), recording.as_os_str()]);

    let still: Vec<_> = (0..20).map(|_| TcpStream::connect(address).expect("a place")).collect();
    let mut reading = BufReader::new(TcpStream::connect(address).expect("a place")).lines().map_while(Result::ok);
    // Connections are accepted in order, so this is the first one without a place.
    let mut refused = String::new();
    TcpStream::connect(address).and_then(|mut more| more.read_to_string(&mut refused)).expect("an answer");
    assert_eq!(refused, "{\"type\":\"refused\",\"readers\":21}\n");

    let is_state = |line: &String| line.starts_with("{\"type\":\"state\",") && line.contains("\"q_actual\":[");
    assert_eq!(reading.by_ref().filter(is_state).take(500).count(), 500);
    operator.write_all(b"quit\n").expect("it reads");
    let last = said.last().expect("a summary");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{last}");
    let rest: Vec<String> = reading.collect();
    assert!(rest.iter().any(|line| line.contains("\"kind\":\"ending\"")), "events too, up to the end");
    drop(still);

    let bytes = std::fs::read(&recording).expect("the recording");
    let summary = mcap::Summary::read(&bytes).expect("an MCAP file").expect("a whole one");
    let states = summary.channels.values().find(|channel| channel.topic == "/realtime").expect("states");
    let counts = summary.stats.expect("statistics").channel_message_counts;
    assert!(counts.get(&states.id).is_some_and(|count| *count >= 500), "{counts:?}");

    let replayed = outrigger_system::computing().arg("replay").arg(&recording).output();
    let replayed = replayed.expect("the binary under test");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let why = String::from_utf8_lossy(&replayed.stderr);
    assert!(replayed.status.success() && text.contains("gave the same"), "{text}{why}");
}

/// Checks that the lines of `port-linux/docs/recording-reference.md` for PlotJuggler's UDP server, which cannot be run here,
/// send each state as a datagram with one JSON object, as its parser for JSON takes it.
#[test]
fn each_state_is_a_datagram_for_plotjuggler() {
    let page = include_str!("../../../port-linux/docs/recording-reference.md");
    let (_, rest) = page.split_once("| python3 -c '").expect("the lines for PlotJuggler");
    let (script, _) = rest.split_once("'\n").expect("their end");
    let plotjuggler = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    plotjuggler.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    let port = plotjuggler.local_addr().expect("an address").port().to_string();
    let script = script.replace("9870", &port);

    let configuration = folder("plotjuggler").join("served.toml");
    std::fs::write(&configuration, CONFIGURATION).expect("a file");
    let options = Options { q: [0.1, -1.2, -1.3, -1.4, 1.5, 0.6], ..Options::default() };
    let truth = options.q;
    let controller = Controller::new(options).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 52_000).expect("free ports");
    let server = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let Serving { mut child, mut operator, said, address } =
        serving(&configuration, &["--robot".as_ref(), robot.as_ref()]);
    let lines = std::os::fd::OwnedFd::from(TcpStream::connect(address).expect("a place"));
    let mut python = Command::new("python3").args(["-c", &script]).stdin(lines).spawn().expect("Python");

    let (mut bytes, mut times) = (vec![0; 65_536], vec![]);
    while times.len() < 500 {
        let count = plotjuggler.recv(&mut bytes).expect("a datagram");
        let state: serde_json::Value = serde_json::from_slice(&bytes[..count]).expect("one JSON object");
        // States of 30004 name them otherwise.
        let Some(q) = state.get("q_actual") else { continue };
        let q: Vec<f64> = serde_json::from_value(q.clone()).expect("numbers");
        assert!(q.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9), "{q:?}");
        times.push(state["time"].as_f64().expect("the field for the time"));
    }
    assert!(times.is_sorted() && times[499] - times[0] > 0.9, "{times:?}");
    operator.write_all(b"quit\n").expect("it reads");
    drop(said.last());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(python.wait().expect("it ends").success(), "it ends with the server");
}

/// The number of states for which the run commands.
const COMMANDED: usize = 3_000;

/// The number of states after which a run that has not finished is ended.
const PATIENCE: usize = 6 * COMMANDED;

/// The number of states after which a refused request is repeated.
const AGAIN: usize = 250;

/// The time before the end of commanding in which a standstill of the computer that runs the test may have caused it.
const LOOKED_BACK: Duration = Duration::from_millis(140);
/// The shortest standstill of the computer that runs the test that may end commanding: half of the age that a state may
/// have.
const ENDING: Duration = Duration::from_millis(20);

/// The course of a commanded run: its modes, the first fallback, its summary, and the number of lines that two of its
/// readers received.
struct Commanded {
    modes: Vec<String>,
    fallback: Option<(Window, String)>,
    summary: String,
    /// The number of lines that the active reader received, and that of a reader which never read, until the run
    /// disconnected it.
    lines: [usize; 2],
}

/// Runs a session that commands the arm, beside 20 readers that never read and an active reader. Returns its course.
fn commanded() -> Commanded {
    let folder = folder("commanded");
    let configuration = folder.join("commanded.toml");
    std::fs::write(&configuration, CONFIGURATION).expect("a file");
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_000).expect("free ports");
    let server = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let Serving { mut child, mut operator, said, address } =
        serving(&configuration, &["--robot".as_ref(), robot.as_ref()]);
    let mut still: Vec<_> = (0..20).map(|_| TcpStream::connect(address).expect("a place")).collect();
    let reading = BufReader::new(TcpStream::connect(address).expect("a place")).lines().map_while(Result::ok);

    let (mut modes, mut fallback, mut lines, clock) = (vec![], None, 0, Clock::start());
    let (mut states, mut in_command, mut good, mut request_at) = (0, 0, false, 0);
    for line in reading {
        lines += 1;
        if line.contains("\"kind\":\"transition\"") {
            modes.extend(text_of(&line, "to"));
            if line.contains("\"to\":\"Stopping\"") && states <= PATIENCE && fallback.is_none() {
                let now = clock.now();
                fallback = Some((clock.window(now, now).and_before(LOOKED_BACK), line.clone()));
            }
        }
        if line.contains("\"kind\":\"refused\"") {
            request_at = states + AGAIN;
        }
        // The link quality is good enough, and every precondition holds.
        good |= line.contains("\"to\":\"Perfect\"");
        if good && states >= request_at && states <= PATIENCE {
            operator.write_all(b"request\n").expect("it reads");
            request_at = usize::MAX;
        }
        if line.starts_with("{\"type\":\"state\",") {
            states += 1;
            in_command += usize::from(modes.last().is_some_and(|mode| mode == "Command"));
            if in_command == COMMANDED || states == PATIENCE {
                operator.write_all(b"quit\n").expect("it reads");
                (in_command, states) = (COMMANDED + 1, PATIENCE + 1);
            }
        }
    }
    let summary = said.last().expect("a summary");
    child.wait().expect("it ends");
    let mut left = vec![];
    // The run has disconnected this reader. Its buffer ends with the end of the stream or a reset.
    let _ = still[0].read_to_end(&mut left);
    let still = left.iter().filter(|byte| **byte == b'\n').count();
    Commanded { modes, fallback, summary, lines: [lines, still] }
}

#[test]
fn commanding_goes_on_beside_twenty_readers_that_stand_still() {
    attempt_first(|| {
        let Commanded { modes, fallback, summary, lines: [read, still] } = commanded();
        if let Some((window, line)) = fallback {
            let verdict = nobodys_fallback(&line, window, ENDING);
            assert_ne!(verdict, Verdict::Fails, "{line}\n{summary}");
            late(window, format!("disturbed: {line}"));
        }
        // A reader that connects late does not receive the first transition.
        let since = modes.strip_prefix(&["Monitor".to_owned()]).unwrap_or(&modes);
        assert_eq!(since, ["Arming", "Command", "Stopping", "Monitor", "Offline"], "{summary}");
        assert!(summary.contains("\"fallback\":null"), "{summary}");
        assert!(still < read, "{still} of {read} lines: it did not stand still");
    });
}

#[test]
fn measurements_of_a_krc_are_served_in_the_same_way_and_the_recording_of_the_run_is_replayed() {
    attempt_first(served_of_a_krc);
}

fn served_of_a_krc() {
    let folder = folder("served-krc");
    let (configuration, recording) = (folder.join("served.toml"), folder.join("run.mcap"));
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let text = format!(
        "[robot]\nkind = \"krc\"\nlisten = \"127.0.0.1:{port}\"\n[law]\nkind = \"joint-servo\"\n\
         [serve]\nlisten = \"127.0.0.1:0\"\nexpert.readers = 21\n"
    );
    std::fs::write(&configuration, text).expect("a file");
    let Serving { mut child, mut operator, said, address } =
        serving(&configuration, &["--record".as_ref(), recording.as_os_str()]);
    let still: Vec<_> = (0..20).map(|_| TcpStream::connect(address).expect("a place")).collect();
    let mut reading = BufReader::new(TcpStream::connect(address).expect("a place")).lines().map_while(Result::ok);
    let mut refused = String::new();
    TcpStream::connect(address).and_then(|mut more| more.read_to_string(&mut refused)).expect("an answer");
    assert_eq!(refused, "{\"type\":\"refused\",\"readers\":21}\n");

    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let krc = Krc::new(KrcOptions { period: Duration::from_millis(5), ..KrcOptions::default() }).expect("a KRC");
    let krc = udp::Server::bind(krc, any, SocketAddr::from((Ipv4Addr::LOCALHOST, port))).expect("a free port");
    let _krc = krc.spawn().expect("a thread");

    let (mut states, mut links) = (0, 0);
    for line in reading.by_ref() {
        states += usize::from(line.starts_with("{\"type\":\"state\",") && line.contains("\"msr_jnt_pos\":["));
        links += usize::from(line.starts_with("{\"type\":\"link\",") && line.contains("\"answered_per_10000\":"));
        if states == 300 {
            break;
        }
    }
    assert!(states == 300 && links > 0, "{states} measurements, {links} figures");
    operator.write_all(b"quit\n").expect("it reads");
    let last = said.last().expect("a summary");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{last}");
    let rest: Vec<String> = reading.collect();
    assert!(rest.iter().any(|line| line.contains("\"kind\":\"ending\"")), "events too, up to the end");
    drop(still);

    let replayed = outrigger_system::computing().arg("replay").arg(&recording).output();
    let replayed = replayed.expect("the binary under test");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert!(replayed.status.success() && text.contains("gave the same"), "{text}");
}
