//! The observations that show the effect of each setting of the process. Each one runs the program itself, or only
//! its sensors, over loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Duration;

use outrigger::config::{Configuration, parse_software};
use outrigger::host::Clock;
use outrigger::sensor::{Arrival, Sources};
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::sensor::{Reading, SampleValue};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::process::Shown;
use outrigger_tests::settings::File;

/// Makes the observation `shown` of the program with this configuration, and describes it in text. The text must differ
/// with and without a setting.
pub(crate) fn seen(shown: Shown, file: &File) -> String {
    let seen = match shown {
        Shown::Identity => identity,
        Shown::Listens => listens,
        Shown::ByItself => by_itself,
        Shown::Ending => ending,
        Shown::Held => held,
        Shown::Asked => asked,
        Shown::Locked => locked,
        Shown::Recordings => recordings,
        Shown::Kept => kept,
        Shown::Recorded => recorded,
        Shown::Variables => variables,
        Shown::Served => served,
        Shown::Readers => readers,
        Shown::Node => node,
        Shown::InForce => in_force,
        Shown::Sleeps => sleeps,
        Shown::Opened => opened,
        Shown::Listening => listening,
        Shown::First => first,
        Shown::Speed => speed,
        Shown::Sine => sine,
    };
    seen(file)
}

fn folder() -> PathBuf {
    let name = std::thread::current().name().unwrap_or("settings").replace("::", "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The time after which a program that still runs is killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program with a configuration, and two simulated robots.
struct Run {
    child: Child,
    operator: ChildStdin,
    said: Box<dyn Iterator<Item = String>>,
    folder: PathBuf,
    /// The sender that ends the thread which kills the program after [`PATIENCE`].
    over: Sender<()>,
    _robots: [Running; 2],
}

impl Run {
    /// Starts the program opposite a simulated robot with software 5.15. A second robot with 3.15 replaces `OTHER` in
    /// the configuration.
    fn new(file: &File) -> Self {
        let folder = folder();
        let robots = ["5.15", "3.15"].map(|software| {
            let options = Options::for_software(parse_software(software).expect("a version"));
            let controller = Controller::new(options).expect("a controller");
            let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 56_000).expect("free ports");
            server.spawn().expect("a thread")
        });
        let [robot, other] = [&robots[0], &robots[1]].map(|robot| format!("127.0.0.1:{}", robot.port_base()));
        let text = file.text().replace("\"127.0.0.1\"", &format!("\"{robot}\"")).replace("OTHER", &other);
        let text = text.replace("FOLDER", folder.to_str().expect("text"));
        let path = folder.join("run.toml");
        std::fs::write(&path, text).expect("a file");
        let mut child = Command::new(outrigger_system::program())
            .args(["run".as_ref(), path.as_os_str(), "--json".as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test");
        let operator = child.stdin.take().expect("piped");
        let said = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let pid = rustix::process::Pid::from_child(&child);
        let (over, ended) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // The reader of the output then sees its end.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        });
        Self { child, operator, said: Box::new(said), folder, over, _robots: robots }
    }

    /// Waits for the next line that contains one of these words. If the program ends before, returns its standard
    /// error.
    fn until(&mut self, words: &[&str]) -> String {
        let line = self.said.find(|line| words.iter().any(|word| line.contains(word)));
        line.unwrap_or_else(|| {
            let mut complaint = String::new();
            let _ = self.child.stderr.take().expect("piped").read_to_string(&mut complaint);
            complaint
        })
    }

    /// Returns the states that the program serves over TCP.
    fn states(&mut self) -> impl Iterator<Item = String> + use<> {
        let line = self.until(&["\"kind\":\"serve\""]);
        let address: std::net::SocketAddr = text_of(&line, "address").parse().expect("an address");
        let lines = BufReader::new(TcpStream::connect(address).expect("a place")).lines().map_while(Result::ok);
        lines.filter(|line| line.starts_with("{\"type\":\"state\""))
    }

    /// Sends `quit`. Returns the remaining lines of the output and the folder of the run.
    fn quit(mut self) -> (Vec<String>, PathBuf) {
        // It may have ended by itself.
        let _ = self.operator.write_all(b"quit\n");
        let rest = self.said.by_ref().collect();
        let _ = self.child.wait();
        (rest, self.folder.clone())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.over.send(());
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text that `key` has in a line of JSON. Empty if the line has no such key.
fn text_of<'l>(line: &'l str, key: &str) -> &'l str {
    line.split_once(&format!("\"{key}\":\"")).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(text, _)| text)
}

/// Returns the time in a line, by the program's own clock \[s\]. The time of reading may be later.
fn seconds_of(line: &str) -> f64 {
    let time = line.split_once("\"time\":").and_then(|(_, rest)| rest.split(',').next());
    time.and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("no time in {line}"))
}

/// Returns the scheduling that the program reports as in force. The number of kilobytes that happen to be locked is
/// left out.
fn in_force(file: &File) -> String {
    let line = Run::new(file).until(&["\"in-force\""]);
    let text = text_of(&line, "text");
    let text = text.split("; configured").next().unwrap_or(text);
    let text = if text.is_empty() { line.trim() } else { text };
    text.split(", ")
        .map(|part| if part.ends_with("KiB locked") { "memory locked" } else { part })
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the lines that `check-config` prints about a ROS 2 node.
fn node(file: &File) -> String {
    let path = folder().join("run.toml");
    std::fs::write(&path, file.text()).expect("a file");
    let said = Command::new(outrigger_system::program()).arg("check-config").arg(&path).output().expect("it was built");
    let said = String::from_utf8_lossy(&said.stdout);
    said.lines().filter(|line| line.trim_start().starts_with("ros ")).collect()
}

fn identity(file: &File) -> String {
    let line = Run::new(file).until(&["software"]);
    let at = line.find("software").unwrap_or_default();
    line.chars().skip(at).take(24).collect()
}

/// Reports whether the program has bound the configured port.
fn listens(file: &File) -> String {
    let mut run = Run::new(file);
    run.until(&["\"kind\":\"listening\""]);
    format!("listens: {}", UdpSocket::bind("127.0.0.1:47118").is_err())
}

/// Reports whether the program begins to command without a request.
fn by_itself(file: &File) -> String {
    let mut run = Run::new(&file.with("serve.listen", "\"127.0.0.1:0\""));
    let states = run.states();
    states.take(2_500).for_each(drop);
    let (rest, _) = run.quit();
    format!("asks: {}", rest.iter().any(|line| line.contains("Monitor → Arming")))
}

/// Returns the cause of the program's end, if `quit` is sent 3000 states after commanding began, long after the end
/// of the motion.
fn ending(file: &File) -> String {
    let mut run = Run::new(&file.with("serve.listen", "\"127.0.0.1:0\""));
    let mut states = run.states();
    run.until(&["Arming → Command"]);
    states.by_ref().take(3_000).for_each(drop);
    let (rest, _) = run.quit();
    let line = rest.into_iter().find(|line| line.contains("\"ending\""));
    text_of(&line.unwrap_or_default(), "by").to_owned()
}

/// Reports whether commanding lasted `long` (at least 2.4 s) or `short`.
fn held(file: &File) -> String {
    let mut run = Run::new(file);
    let [from, until] = ["Arming → Command", "\"ending\""].map(|word| seconds_of(&run.until(&[word])));
    // The motion lasts 0.5 s, longer on a busy machine. The default of `run.expert.settle` is 1 s.
    if until - from >= 2.4 { "long".into() } else { "short".into() }
}

/// Reports whether the program prints an event about the pendant. The robot is an e-Series, whose pendant cannot be
/// locked because it has no roles.
fn locked(file: &File) -> String {
    let mut run = Run::new(file);
    run.until(&["Bad → Ok"]);
    run.operator.write_all(b"request\n").expect("it reads");
    let tells = |line: &String| line.contains("\"kind\":\"pendant\"");
    let before: Vec<_> = run.said.by_ref().take_while(|line| !line.contains("Arming → Command")).collect();
    let (rest, _) = run.quit();
    format!("tells: {}", before.iter().chain(&rest).any(tells))
}

/// Reports whether a fallback is recorded.
fn recordings(file: &File) -> String {
    recorded_after(Run::new(file))
}

/// Returns the number of recordings after a fallback, with three older files of 10 MB each.
fn kept(file: &File) -> String {
    let run = Run::new(file);
    let dumps = run.folder.join("dumps");
    std::fs::create_dir_all(&dumps).expect("a folder");
    for second in 0..3 {
        let name = format!("2026-01-31-12-00-0{second}-UTC-StateStale-0.outrigger");
        let older = std::fs::File::create_new(dumps.join(name)).expect("a file");
        older.set_len(10_000_000).expect("room");
    }
    recorded_after(run)
}

/// Causes a fallback by closing the connections, and returns the number of recordings.
fn recorded_after(mut run: Run) -> String {
    run.until(&["Bad → Ok"]);
    run.operator.write_all(b"request\n").expect("it reads");
    run.until(&["Arming → Command"]);
    let robots = std::mem::replace(&mut run._robots, dummy());
    drop(robots);
    run.until(&["\"fallback\"", "LinkClosed"]);
    let (_, folder) = run.quit();
    std::fs::read_dir(folder.join("dumps")).map_or("none".into(), |files| format!("{} recordings", files.count()))
}

fn dummy() -> [Running; 2] {
    [56_000; 2].map(|from| {
        let controller = Controller::new(Options::default()).expect("a controller");
        Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), from).expect("free ports").spawn().expect("a thread")
    })
}

fn recorded(file: &File) -> String {
    let mut run = Run::new(file);
    run.until(&["Offline → Monitor"]);
    let (_, folder) = run.quit();
    format!("recorded: {}", folder.join("all.mcap").exists())
}

/// Reports whether the recording has RTDE variables that the recorder reads over its own connection.
fn variables(file: &File) -> String {
    let mut run = Run::new(file);
    // Without the setting no such line is printed, so another line is accepted as well.
    run.until(&["recorded: target_moment", "Bad → Ok"]);
    let (_, folder) = run.quit();
    let bytes = std::fs::read(folder.join("all.mcap")).expect("the recording");
    let summary = mcap::Summary::read(&bytes).expect("an MCAP file").expect("a whole one");
    format!("variables: {}", summary.channels.values().any(|channel| channel.topic == "/rtde/variables"))
}

/// Reports whether other processes can send requests to the program: `requests` if so, else `transition`.
fn asked(file: &File) -> String {
    let mut run = Run::new(file);
    let line = run.until(&["\"kind\":\"requests\"", "\"kind\":\"transition\""]);
    run.quit();
    text_of(&line, "kind").to_owned()
}

fn served(file: &File) -> String {
    let line = Run::new(file).until(&["\"kind\":\"serve\"", "Offline → Monitor"]);
    format!("served: {}", line.contains("\"kind\":\"serve\""))
}

/// Reports whether the program rejects a third reader of its states.
fn readers(file: &File) -> String {
    let mut run = Run::new(file);
    let line = run.until(&["\"kind\":\"serve\""]);
    let address: std::net::SocketAddr = text_of(&line, "address").parse().expect("an address");
    let _two = [0; 2].map(|_| TcpStream::connect(address).expect("a place"));
    let mut third = BufReader::new(TcpStream::connect(address).expect("an answer"));
    let mut line = String::new();
    third.read_line(&mut line).expect("a line");
    format!("refused: {}", line.contains("\"refused\""))
}

/// Reports whether the thread of the control loop sleeps, that is, yields its processor more than 100 times during
/// 500 states.
fn sleeps(file: &File) -> String {
    let file = file.with("serve.listen", "\"127.0.0.1:0\"");
    let mut run = Run::new(&file);
    let mut states = run.states();
    let status = format!("/proc/{0}/task/{0}/status", run.child.id());
    let switches = || {
        let status = std::fs::read_to_string(&status).expect("a process");
        let line =
            status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).expect("a figure").to_owned();
        line.split_whitespace().last().and_then(|count| count.parse::<u64>().ok()).expect("a number")
    };
    states.by_ref().take(50).for_each(drop);
    let before = switches();
    states.take(500).for_each(drop);
    format!("sleeps: {}", switches() - before > 100)
}

/// Opens the sensors of a configuration.
fn sources(file: &File) -> Result<Sources, String> {
    let text = file.text().replace("\"OTHER\"", "\"127.0.0.1\"");
    let read = Configuration::parse(&text).expect("a configuration");
    Sources::open(&read.control.sources, Clock::start(), false).map_err(|failure| failure.to_string())
}

fn in_a_runtime<T>(body: impl AsyncFnOnce() -> T) -> T {
    outrigger::host::block_on(body()).expect("a reactor")
}

fn opened(file: &File) -> String {
    in_a_runtime(async || sources(file).map_or_else(|why| why, |_| "opened".into()))
}

/// Returns the baud rate of the sensor's serial line, read at the sensor's end.
fn speed(file: &File) -> String {
    let sensor = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&sensor).and_then(|()| unlockpt(&sensor)).expect("it is ours");
    let device = ptsname(&sensor, Vec::new()).expect("a name").into_string().expect("of ASCII");
    in_a_runtime(async || {
        let _open = sources(&file.with("source[].device", &format!("{device:?}"))).expect("it opens");
        format!("{} Bd", rustix::termios::tcgetattr(&sensor).expect("a terminal").output_speed())
    })
}

fn listening(file: &File) -> String {
    in_a_runtime(async || {
        let sources = sources(file).expect("it opens");
        let fixed = sources.listening().iter().filter(|at| at.port() == 47_117).count();
        format!("{} sockets, {fixed} of them at the port that is asked for", sources.listening().len())
    })
}

/// Returns the first reading that a configured sensor accepts. Several senders send in several formats.
fn first(file: &File) -> String {
    in_a_runtime(async || {
        let mut sources = sources(file).expect("it opens");
        let &[to] = sources.listening() else { panic!("one socket") };
        let value = SampleValue::new(&[0.25]).expect("one value");
        let mut frame = [0; outrigger_wire::sensor::DATAGRAM_MAX];
        let binary = Reading { seq: 1, value }.to_datagram(&mut frame).to_vec();
        let send = |from: &str, bytes: &[u8]| {
            let socket = UdpSocket::bind((from, 0)).expect("loopback");
            socket.send_to(bytes, to).expect("loopback takes it");
        };
        send("127.0.0.2", b"0.5");
        send("127.0.0.3", b"0.75 0.125");
        send("127.0.0.2", &binary);
        match sources.next().await.expect("it is open") {
            Arrival::Reading { reading, .. } => format!("{:?}", reading.value),
            Arrival::NotAReading { why, .. } => why,
            other => format!("{other:?}"),
        }
    })
}

/// Compares four readings of a simulated sensor with sine waves. Reports the matching wave and the rate, by the time
/// stamps of the readings.
fn sine(file: &File) -> String {
    in_a_runtime(async || {
        let mut sources = sources(file).expect("it opens");
        let mut readings = vec![];
        while readings.len() < 4 {
            if let Arrival::Reading { reading, at, .. } = sources.next().await.expect("it is open") {
                readings
                    .push((reading.value.as_slice()[0], at.since(outrigger_wire::time::Instant::ZERO).as_secs_f64()));
            }
        }
        let sine = |mean: f64, amplitude: f64, period: f64| {
            let off = readings.iter().map(|(value, at)| {
                (f64::from(*value) - mean - amplitude * (at / period * std::f64::consts::TAU).sin()).abs()
            });
            off.fold(0.0, f64::max) < 1e-3
        };
        let span = readings[3].1 - readings[0].1;
        let shapes = [(0.1, 0.1, 5.0), (0.7, 0.1, 5.0), (0.1, 0.7, 5.0), (0.1, 0.1, 0.5)];
        let shape = shapes.iter().position(|(mean, amplitude, period)| sine(*mean, *amplitude, *period));
        // Four readings at 4 Hz span 750 ms, less the rounding of the timer.
        format!("shape {shape:?}, {}", if span > 0.6 { "slow" } else { "fast" })
    })
}
