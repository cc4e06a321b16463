//! `outrigger` beside a simulated KRC, as processes over loopback: lost packets, the fallback that follows, and
//! the recordings.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::port;
use outrigger_core::robot::Reason;
use outrigger_emulated::clock::Clock;
use outrigger_emulated::machine_standstills::{TELLING, Window};
use outrigger_emulated::tries::{Verdict, attempt_first, late, nobodys_fallback};
use outrigger_sim::time::SimTime;

/// The span before the end of commanding in which a standstill of the computer that runs the test may have caused it.
const LOOKED_BACK: Duration = Duration::from_millis(200);
/// The longest time that a test waits for a line of output.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest wait for an expected line, counted in lines that `run` prints once a second.
const SECONDS: usize = 30;

fn command(arguments: &[&str]) -> Command {
    let mut command = outrigger_system::command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn outrigger(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().expect("the binary under test")
}

/// A running `outrigger` process, with its output. Dropping it ends the process.
struct Running {
    child: Child,
    clock: Clock,
    lines: Receiver<(SimTime, String)>,
    seen: Vec<String>,
    /// The ends of commanding that the run reported, each with the time at which the report was read.
    ends: Vec<(SimTime, String)>,
    /// The run's reports that the arm is at rest after commanding ended, each with the time at which the report was
    /// read.
    stops: Vec<(SimTime, String)>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).spawn().expect("the binary under test");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let clock = Clock::start();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send((clock.now(), line)))
        });
        Self { child, clock, lines, seen: vec![], ends: vec![], stops: vec![] }
    }

    /// Waits for the next line that contains one of the texts `what`. Returns the index of that text.
    fn until_one(&mut self, what: &[&str]) -> Result<usize, String> {
        let mut seconds = 0;
        while let (Ok((at, line)), 0..SECONDS) = (self.lines.recv_timeout(PATIENCE), seconds) {
            let found = what.iter().position(|what| line.contains(what));
            seconds += usize::from(line.contains(" Hz  "));
            self.note(at, line);
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Err(format!("none of {what:?} in {:#?}", self.seen))
    }

    fn note(&mut self, at: SimTime, line: String) {
        if line.contains("Command → Stopping") {
            self.ends.push((at, line.clone()));
        }
        if line.contains("Stopping → Monitor") {
            self.stops.push((at, line.clone()));
        }
        self.seen.push(line);
    }

    /// Returns the end of commanding that a standstill of this machine caused, if any, with the window of that
    /// standstill.
    fn disturbed(&self) -> Option<(Window, &str)> {
        self.ends.iter().chain(&self.stops).find_map(|(at, line)| {
            let window = self.clock.window(*at, *at).and_before(LOOKED_BACK);
            let caused = nobodys_fallback(line, window, TELLING) != Verdict::Fails;
            caused.then_some((window, line.as_str()))
        })
    }

    fn until(&mut self, what: &str) -> Result<(), String> {
        self.until_one(&[what]).map(drop)
    }

    /// Waits until the run commands. After each refusal the request is repeated.
    fn until_command(&mut self) -> Result<(), String> {
        for _ in 0..100 {
            if self.until_one(&["Arming → Command", "refused:", "Arming → Monitor"])? == 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
            self.say("acknowledge\nrequest\n");
        }
        Err(format!("never in Command: {:#?}", self.seen))
    }

    fn say(&mut self, lines: &str) {
        self.child.stdin.as_mut().expect("piped").write_all(lines.as_bytes()).expect("it reads");
    }

    /// Waits until the process has ended by itself, and returns its exit code.
    fn end(&mut self) -> Option<i32> {
        while let Ok((at, line)) = self.lines.recv_timeout(PATIENCE) {
            self.note(at, line);
        }
        self.child.wait().expect("it ends").code()
    }
}

/// Writes the example `krc-swing.toml` with this port, with `end = "never"`, and with recordings of fallbacks in
/// `folder`. Returns the path of the configuration.
fn configuration(name: &str, port: u16, folder: &Path) -> PathBuf {
    let example = Path::new(outrigger_system::EXAMPLES).join("krc-swing.toml");
    let text = std::fs::read_to_string(example).expect("the example");
    let run = format!("end = \"never\"\nrecordings = {:?}", shown(folder));
    let text = text.replace("49938", &port.to_string()).replace("end = \"done\"", &run);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("room");
    path
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Runs `outrigger run` beside a KRC through a loss of packets. Returns the recording of the whole run and the one of
/// the fallback.
fn through_a_loss() -> [PathBuf; 2] {
    let port = port::free();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("krc-loss-{port}"));
    let _ = std::fs::remove_dir_all(&folder);
    let configuration = configuration("krc-loss.toml", port, &folder);
    let recording = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("krc-loss-{port}.mcap"));
    let _ = std::fs::remove_file(&recording);
    let mut run = Running::start(&["run", shown(&configuration), "--record", shown(&recording)]);
    let played = plays(&mut run, port);
    if let Err(story) = played {
        let Some((window, line)) = run.disturbed() else { panic!("{story}") };
        late(window, format!("disturbed: {line}\n{story}"));
    }
    // Either side may notice the loss first.
    let told = [Reason::StateStale, Reason::StatesMissed, Reason::LeftCommand];
    let told = told.iter().any(|reason| run.ends[0].1.contains(&format!("({})", reason.name())));
    let story = run.seen.join("\n");
    let complete =
        ["| our grade [%] | the KRC's [%] |", "round trip  p50", "0 entries lost"].iter().all(|s| story.contains(s));
    assert!(told && complete, "something is missing in\n{story}");
    let files = std::fs::read_dir(&folder).expect("the folder was made").map(|entry| entry.expect("a file").path());
    // Arming may have ended before and been recorded too. The loss came last.
    let fallback = files.max_by_key(|path| path.metadata().and_then(|file| file.modified()).expect("a time"));
    [recording, fallback.unwrap_or_else(|| panic!("no recording of the fallback in\n{story}"))]
}

/// Executes the steps of [`through_a_loss`]: a loss of packets, the fallback, a refused and a granted request, and
/// `quit`. Returns a description of the run as an error if an expected event is missing.
fn plays(run: &mut Running, port: u16) -> Result<(), String> {
    run.until("listening on")?;
    let remote = format!("127.0.0.1:{port}");
    let lost = ["--period-ms", "5", "--fault", "drop@5s:60ms:100%"];
    let _krc = Running::start(&[&["sim", "krc", "--remote", &remote], lost.as_slice()].concat());
    run.until("a KRC sends a measurement every 5 ms")?;
    run.until_command()?;
    run.until("Command → Stopping")?;
    run.until("Stopping → Monitor")?;
    run.say("request\n");
    run.until("refused: an earlier fault is not reset")?;
    run.say("acknowledge\nrequest\n");
    run.until_command()?;
    run.say("quit\n");
    let code = run.end();
    // One end by the loss, and one by `quit`.
    if code != Some(0) || run.ends.len() != 2 {
        return Err(format!("exit code {code:?}, {:?}:\n{}", run.ends, run.seen.join("\n")));
    }
    Ok(())
}

#[test]
fn a_loss_ends_commanding_an_operator_begins_again_and_both_recordings_are_replayed_to_the_byte() {
    attempt_first(|| {
        let [recording, fallback] = through_a_loss();
        is_replayed(&fallback);
        std::fs::remove_dir_all(fallback.parent().expect("a folder of its own")).expect("it is there");
        is_replayed(&recording);
        is_read(&recording);
    });
}

/// Checks that `outrigger replay` computes the recorded commands again, through the end of commanding.
fn is_replayed(recording: &Path) {
    let replayed = outrigger(&["replay", shown(recording)]);
    let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert_eq!(replayed.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&replayed.stderr));
    let commands =
        said.split_once("transitions and the same ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    assert!(said.contains("Command → Stopping") && commands.is_some_and(|commands: u32| commands > 100), "{said}");
}

fn is_read(recording: &Path) {
    let decoded = outrigger(&["decode", "--port", "fri", shown(recording)]);
    assert_eq!(decoded.status.code(), Some(0), "{}", String::from_utf8_lossy(&decoded.stderr));
    let decoded = String::from_utf8_lossy(&decoded.stdout).into_owned();
    let of = |field: &str| decoded.lines().filter(|line| line.contains(field)).count();
    assert!(of("\"msr_jnt_pos\":[") > 800 && of("\"cmd_flags\":1,") > 800, "both directions");

    let table = outrigger(&["export", shown(recording), "--csv", "-"]);
    assert_eq!(table.status.code(), Some(0), "{}", String::from_utf8_lossy(&table.stderr));
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(
        table.starts_with("t,arrival_time_s,send_seq_count,") && table.contains(",msr_jnt_pos_6_rad,"),
        "{table:.200}"
    );
    assert_eq!(table.lines().count(), of("\"msr_jnt_pos\":[") + 1);
    std::fs::remove_file(recording).expect("it is there");
}

#[test]
fn monitor_record_and_doctor_listen_to_a_krc_and_its_quality_becomes_perfect() {
    attempt_first(listened_to);
}

fn listened_to() {
    let port = port::free();
    let (remote, listen) = (format!("127.0.0.1:{port}"), format!("127.0.0.1:{port}"));
    let _krc = Running::start(&["sim", "krc", "--remote", &remote, "--period-ms", "5"]);
    let at = ["127.0.0.1", "--kind", "krc", "--listen", &listen];
    let monitored = outrigger(&[&["monitor"], at.as_slice(), &["--json", "--duration", "4"]].concat());
    assert_eq!(monitored.status.code(), Some(0), "{}", String::from_utf8_lossy(&monitored.stderr));
    let lines = String::from_utf8_lossy(&monitored.stdout).into_owned();
    assert!(lines.lines().all(|line| line.starts_with("{\"type\":\"") && line.ends_with('}')), "{lines}");
    let status = lines.lines().rfind(|line| line.contains("\"type\":\"status\"")).unwrap_or_default();
    for expected in
        ["\"krc_state\":\"MON\"", "\"krc_scheme\":\"POSITION\"", "\"drives\":\"on\"", "\"answered_per_10000\":"]
    {
        assert!(status.contains(expected), "{expected} in {status}");
    }
    let joints = status.split_once("\"q_actual\":[").and_then(|(_, rest)| rest.split_once(']')).expect("joints").0;
    assert_eq!(joints.split(',').count(), 7, "{status}");

    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("krc-listen-{port}.mcap"));
    let _ = std::fs::remove_file(&file);
    let recorded = outrigger(&[&["record"], at.as_slice(), &["--duration", "1", "--out", shown(&file)]].concat());
    assert_eq!(recorded.status.code(), Some(0), "{}", String::from_utf8_lossy(&recorded.stderr));
    let decoded = outrigger(&["decode", "--port", "fri", shown(&file)]);
    let first = b"{\"offset\":0,\"message\":\"measurement\",\"send_seq_count\":";
    assert!(decoded.status.success() && decoded.stdout.starts_with(first));
    let replayed = outrigger(&["replay", shown(&file)]);
    let said = String::from_utf8_lossy(&replayed.stderr).into_owned();
    assert!(replayed.status.code() == Some(1) && said.contains("run --record FILE"), "nobody ran: {said}");
    std::fs::remove_file(file).expect("it is there");

    let open = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("krc-doctor-{port}.toml"));
    let settings = "robot.kind = \"krc\"\nlaw = { kind = \"joint-servo\" }\n\
                    source = [{ name = \"d\", input = \"udp\", listen = \"0.0.0.0:5005\" }]\n";
    std::fs::write(&open, settings).expect("room");
    let examined = outrigger(&[&["doctor"], at.as_slice(), &["--duration", "1", "--config", shown(&open)]].concat());
    std::fs::remove_file(open).expect("it is there");
    let said = String::from_utf8_lossy(&examined.stdout).into_owned();
    assert!(matches!(examined.status.code(), Some(0 | 4)), "{said}");
    for expected in
        ["timer wake-ups late by", "a measurement every 5 ms", "round trip: p50", "  KRC: ", "source \"d\" accepts"]
    {
        assert!(said.contains(expected), "{expected} in {said}");
    }
}

#[test]
fn variables_are_set_by_name_in_a_run_and_what_the_program_sends_is_told() {
    let port = port::free();
    let (remote, file) = (format!("127.0.0.1:{port}"), format!("krc-variables-{port}.toml"));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let settings = format!(
        "robot = {{ kind = \"krc\", listen = \"{remote}\" }}\nlaw = {{ kind = \"joint-servo\" }}\n\
         variable = [{{ expert = {{ name = \"pace\", at = \"real.3\", start = 0.5, echoed = true }} }}, \
         {{ expert = {{ at = \"int.4\", start = -8 }} }}]\n"
    );
    std::fs::write(&file, settings).expect("room");
    let mut run = Running::start(&["run", shown(&file), "--json"]);
    run.until("listening on").expect("it listens");
    let krc = Running::start(&["sim", "krc", "--remote", &remote, "--period-ms", "5", "--echo"]);
    run.until("krc-found").expect("it is heard");
    let asked = |words: &[&str], code: i32, expected: &[&str]| {
        let output = outrigger(&[&["ask", shown(&file)], words].concat());
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(
            output.status.code() == Some(code) && expected.iter().all(|part| said.contains(part)),
            "{words:?}: {said}"
        );
    };
    asked(
        &["set", "pace=0.25", "krl-bool.12=on", "--json"],
        0,
        &["krl-real.3=0.25", "krl-bool.12=on", "\"news\":\"confirmed\""],
    );
    // Two lines, printed a second apart, so that the variables have been read for the status in between.
    for _ in 0..2 {
        run.until("\"real\":[0.0,0.0,0.25,0.0,").expect("the run shows it, too");
    }
    asked(
        &["status", "--json"],
        0,
        &["\"variables\":{\"bool\":[", "\"int\":[0,10,0,-8,0,", "\"real\":[0.0,0.0,0.25,0.0,"],
    );
    asked(&["set", "krl-int.2=1", "--json"], 4, &["refused-reserved"]);
    asked(&["set", "flag.3=on", "--json"], 4, &["refused-no-such-output"]);
    asked(&["set", "pase=1"], 1, &["pace="]);
    drop(krc);
    run.say("quit\n");
    run.end();
    std::fs::remove_file(file).expect("it is there");
}

#[test]
fn what_a_krc_does_not_have_is_refused_with_what_to_do() {
    let refused = |arguments: &[&str], code: i32, expected: &str| {
        let output = outrigger(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && error.contains(expected), "{arguments:?}: {error}");
    };
    refused(&["monitor", "127.0.0.1", "--listen", "127.0.0.1:1", "--duration", "1"], 2, "add --kind krc");
    refused(&["monitor", "127.0.0.1:40000", "--kind", "krc"], 2, "--listen");
    refused(&["monitor", "127.0.0.1", "--kind", "krc", "--states", "rtde"], 2, "--states is for the ports of a UR");
    refused(&["monitor", "127.0.0.1", "--kind", "krc", "--listen", "nowhere"], 2, "such as 0.0.0.0:49938");
    refused(&["doctor", "127.0.0.1", "--kind", "krc", "--model", "ur5"], 2, "--model is for a UR arm");
    refused(&["sim", "krc", "--remote", "127.0.0.1:1", "--surface", "500"], 2, "a height of -1.5 to 1.5 m");
    let swing = concat!(env!("CARGO_MANIFEST_DIR"), "/../../port-linux/cli/examples/krc-swing.toml");
    refused(&["run", swing, "--states", "rtde"], 2, "--states is for the ports of a UR");
    refused(&["replay", swing], 1, "the .mcap of `run --record`");
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let taken_at = taken.local_addr().expect("its address").to_string();
    refused(
        &["monitor", "127.0.0.1", "--kind", "krc", "--listen", &taken_at],
        3,
        "is another remote computer running?",
    );
    let silent = format!("127.0.0.1:{}", port::free());
    let seconds = ["--listen", &silent, "--duration", "1"];
    refused(&[&["monitor", "127.0.0.1", "--kind", "krc"], seconds.as_slice()].concat(), 3, "has called friOpen");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("krc-nothing-heard.mcap");
    let out = ["--out", shown(&file)];
    refused(&[&["record", "127.0.0.1", "--kind", "krc"], seconds.as_slice(), &out].concat(), 3, "has called friOpen");
    assert!(!file.exists(), "nothing was heard, and the name is taken");
}
