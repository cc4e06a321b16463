//! The recordings that `run` makes of fallbacks, and their replay.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::tcp::{Running, Server};

/// The longest time that a test waits for a line of output.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest wait for an expected line, counted in lines that `run` prints once a second.
const SECONDS: usize = 60;

fn outrigger(arguments: &[&str]) -> Output {
    outrigger_system::command(arguments).output().expect("the binary under test")
}

fn controller(first: u16) -> Running {
    let controller = Controller::new(Options::default()).expect("the default arm");
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), first).expect("free ports").spawn().expect("a thread")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()).collect()
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Writes the example `half-turn.toml` with `request = "operator"` and `end = "never"`, and with recordings of
/// fallbacks in `folder`. Returns the path of the configuration.
fn configuration(folder: &Path) -> PathBuf {
    let example = Path::new(outrigger_system::EXAMPLES).join("half-turn.toml");
    let text = std::fs::read_to_string(example).expect("the example");
    let ours = format!("request = \"operator\"\nrecordings = \"{}\"", shown(folder));
    let text = text.replace("request = \"start\"", &ours).replace("end = \"done\"", "end = \"never\"");
    let path = folder.with_extension("toml");
    std::fs::write(&path, text).expect("room");
    path
}

/// A running `outrigger run`. Dropping it ends the process.
struct Run {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Run {
    fn start(configuration: &Path, robot: u16) -> Self {
        Self::start_with(configuration, robot, &[])
    }

    fn start_with(configuration: &Path, robot: u16, more: &[&str]) -> Self {
        let robot = format!("127.0.0.1:{robot}");
        let mut child = Command::new(outrigger_system::program())
            .args(["run", shown(configuration), "--robot", &robot])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary under test");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, seen: vec![] }
    }

    /// Waits for the next line that contains one of `what`.
    fn until(&mut self, what: &[&str]) -> String {
        let mut seconds = 0;
        while let (Ok(line), 0..SECONDS) = (self.lines.recv_timeout(PATIENCE), seconds) {
            seconds += usize::from(line.contains(" Hz  "));
            self.seen.push(line.clone());
            if what.iter().any(|what| line.contains(what)) {
                return line;
            }
        }
        panic!("none of {what:?} in {:#?}", self.seen)
    }

    fn say(&mut self, lines: &str) {
        self.child.stdin.as_mut().expect("piped").write_all(lines.as_bytes()).expect("it reads");
    }

    /// Repeats the request to command until the run commands the arm. A busy machine may need several requests.
    fn command(&mut self) {
        self.say("request\n");
        for _ in 0..100 {
            if self.until(&["Arming → Command", "refused", "Arming → Monitor"]).contains("Arming → Command") {
                return;
            }
            std::thread::sleep(Duration::from_millis(500));
            self.say("acknowledge\nrequest\n");
        }
        panic!("never in Command: {:#?}", self.seen);
    }

    fn quit(mut self) -> Vec<String> {
        self.say("quit\n");
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.seen.push(line);
        }
        std::mem::take(&mut self.seen)
    }
}

#[test]
fn a_link_that_comes_and_goes_while_nothing_is_commanded_leaves_no_recording() {
    let folder = folder("recordings-flapping");
    let controller = controller(53_000);
    let mut run = Run::start(&configuration(&folder), controller.port_base());
    for _ in 0..5 {
        run.until(&["Offline → Monitor"]);
        {
            let mut controller = controller.controller();
            let now = controller.now();
            controller.inject(Fault::new(FaultKind::Drop, now, Some(Duration::from_millis(50))));
        }
        run.until(&["Monitor → Offline"]);
    }
    let seen = run.quit();
    assert_eq!(files(&folder), [] as [PathBuf; 0], "{seen:#?}");
}

#[test]
fn a_fallback_is_told_once_its_file_is_whole_and_a_file_that_is_cut_off_is_refused() {
    let folder = folder("recordings-cut");
    let controller = controller(54_000);
    let mut run = Run::start(&configuration(&folder), controller.port_base());
    run.until(&["Offline → Monitor"]);
    run.command();
    {
        let mut controller = controller.controller();
        let now = controller.now();
        controller.inject(Fault::new(FaultKind::Drop, now, Some(Duration::from_millis(50))));
    }
    run.until(&["Command → "]);
    let told = run.until(&["recording of "]);
    let file = PathBuf::from(told.split_once(": ").expect("a file").1);
    // The content of the file at the time at which it was reported.
    let whole = std::fs::read(&file).expect("a file");
    let seen = run.quit();
    assert!(files(&folder).iter().all(|file| shown(file).ends_with(".outrigger")), "{seen:#?}");

    let replayed = outrigger(&["replay", shown(&file)]);
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
    let cut = folder.join("cut");
    let cuts: Vec<_> = (4_096..whole.len()).step_by(4_096).collect();
    // Only some lengths, because each starts a process. The tests of core cut at every byte.
    let some = cuts.iter().step_by(cuts.len().div_ceil(40)).chain(cuts.last());
    for length in some.copied().chain([whole.len() - 1]) {
        std::fs::write(&cut, &whole[..length]).expect("room");
        let refused = outrigger(&["replay", shown(&cut)]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(
            (refused.status.code(), said.contains("it is incomplete")),
            (Some(1), true),
            "{length} bytes: {said}"
        );
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn a_grade_that_is_too_low_is_told_in_the_same_words_by_run_doctor_and_replay() {
    let folder = folder("recordings-grade");
    std::fs::create_dir_all(&folder).expect("room");
    let (controller, file) = (controller(55_000), folder.join("run.mcap"));
    let configuration = configuration(&folder);
    let text = std::fs::read_to_string(&configuration).expect("written");
    // A jitter of 0 can never be met.
    let never = "session.expert.entry = \"Perfect\"\nsession.expert.grade.perfect.jitter = 0.0\n";
    std::fs::write(&configuration, format!("{never}{text}")).expect("room");
    let mut run = Run::start_with(&configuration, controller.port_base(), &["--verbose", "--record", shown(&file)]);
    run.until(&["Offline → Monitor"]);
    std::thread::sleep(Duration::from_secs(3));
    run.say("request\n");
    // On a busy machine the grade may be even lower.
    let needs = ", needs Perfect: ";
    let told = run.until(&[needs]);
    let refused = run.until(&["start refused: link quality "]);
    assert!(refused.contains(needs) && refused.contains("(GradeLow)"), "{refused}");
    let seen = run.quit();

    let replayed = outrigger(&["replay", shown(&file)]);
    let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert_eq!(replayed.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&replayed.stderr));
    assert!(said.contains("link Unacceptable → Bad\n"), "{said}");
    let again = said.lines().find(|line| line.contains(needs));
    let again = again.unwrap_or_else(|| panic!("not told again: {said} {seen:#?}"));
    // The figure is the same, because it is computed from the same inputs.
    let figure = |line: &str| line.split("; now ").nth(1).and_then(|rest| rest.split(';').next()).map(str::to_owned);
    assert_eq!(figure(again), figure(&told), "{again}");
    assert!(again.contains("oldest first: "), "{again}");

    let robot = format!("127.0.0.1:{}", controller.port_base());
    let examined = outrigger(&["doctor", &robot, "--config", shown(&configuration), "--duration", "2"]);
    let said = String::from_utf8_lossy(&examined.stdout).into_owned();
    assert_eq!(examined.status.code(), Some(4), "{said}");
    for expected in [needs, "; the limit is session."] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
    assert!(!said.contains("s ago  states  lost  late"), "only for those who ask: {said}");
    let examined = outrigger(&["doctor", &robot, "--duration", "1", "-v"]);
    let said = String::from_utf8_lossy(&examined.stdout).into_owned();
    assert!(said.contains("s ago  states  lost  late") && said.contains('█'), "{said}");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_told_at_the_start() {
    let folder = folder("recordings-file");
    let configuration = configuration(&folder);
    std::fs::write(&folder, b"")
        .or_else(|_| std::fs::remove_dir_all(&folder).and_then(|()| std::fs::write(&folder, b"")))
        .expect("room");
    let refused = outrigger(&["run", shown(&configuration), "--robot", "127.0.0.1:40000"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write recordings into") && said.contains("may write to"), "{said}");
    std::fs::remove_file(&folder).expect("ours");
}
