//! Checks that the terminal sessions in `docs/recovery.md` match the output of the program.
//!
//! Each block of the page runs its command. `sim` and `run` stay in the background, and lines are typed into them.
//! Any other command runs on its own terminal to its end. The test never waits for a time, only for lines.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The port base in the tested page (`docs/recovery.md`), which the test replaces by a free one.
const SHOWN: &str = "40000";
/// The longest time that the test waits for more output.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings for a busy machine, whose link is worse than an arm requires by default.
const BUSY_MACHINE: &str = "
[session]
expert.entry = \"Bad\"
expert.margin = 0.1
expert.stall = 1.0
expert.hold = 0.5
expert.stale_after = 0.5
expert.state_timeout = 0.5
expert.max_misses = 250
expert.evidence_age = 2.0
expert.following_patience = 250
expert.following_late_patience = 250

[session.expert.grade.bad]
received = 0.1
delay = 0.2
jitter = 0.2
misses = 100

[standstill]
expert.max_gap = 0.5
";

/// The highest number of output lines that a `...` in the tested page (`docs/recovery.md`) may stand for.
const MOST_SKIPPED: usize = 100;

/// A running command of the tested page (`docs/recovery.md`), and its output.
struct Session {
    name: String,
    child: Child,
    typed: File,
    heard: Receiver<Vec<u8>>,
    /// The output that has not been compared yet.
    text: String,
    prompts: bool,
}

impl Session {
    /// Starts a command on pipes instead of a terminal, as with `| cat`.
    fn behind_pipes(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let typed = File::from(OwnedFd::from(child.stdin.take().expect("piped")));
        let heard = File::from(OwnedFd::from(child.stdout.take().expect("piped")));
        Self::new(command, child, typed, heard, false)
    }

    /// Starts a command on a pseudo terminal.
    fn on_terminal(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
        let path = ptsname(&controller, Vec::new()).expect("its name").into_string().expect("ASCII");
        let side = || File::options().read(true).write(true).open(&path).expect("its other side");
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().expect("it starts");
        // The command must not keep the other side of the terminal open after its process has ended.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let heard = File::from(controller);
        let typed = heard.try_clone().expect("a copy");
        Self::new(command, child, typed, heard, true)
    }

    fn new(command: Command, child: Child, typed: File, mut from: File, prompts: bool) -> Self {
        let (said, heard) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Once the other side of a terminal is closed, reading fails instead of returning 0.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if said.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { name: format!("{command:?}"), child, typed, heard, text: String::new(), prompts }
    }

    /// Waits for more output of the command. Returns `false` at its end.
    fn listen(&mut self) -> bool {
        match self.heard.recv_timeout(PATIENCE) {
            Ok(bytes) => self.text.push_str(&String::from_utf8_lossy(&bytes).replace('\r', "")),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => panic!("{}: says nothing more after\n{}", self.name, self.text),
        }
        true
    }

    fn line(&mut self) -> Option<String> {
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let line = line.trim_end().to_owned();
                self.text = rest.to_owned();
                return Some(line);
            }
            if !self.listen() {
                let rest = std::mem::take(&mut self.text);
                return (!rest.is_empty()).then_some(rest);
            }
        }
    }

    /// Checks that the output of the command is that in the lines `shown` of the page, and types those lines of it that
    /// are input.
    fn follow(&mut self, shown: &[String]) {
        let mut skipping = false;
        for expected in shown {
            if expected == "..." {
                skipping = true;
                continue;
            }
            if let Some(typed) = expected.strip_prefix("> ") {
                self.answer(typed);
                skipping = !self.prompts;
                continue;
            }
            let mut seen = Vec::new();
            loop {
                let Some(line) = self.line() else {
                    panic!("{}: ends before `{expected}`, after {seen:#?}", self.name)
                };
                if fits(expected, &line) {
                    break;
                }
                assert!(skipping, "{}: the page shows\n  {expected}\nand the program says\n  {line}", self.name);
                seen.push(line);
                assert!(seen.len() < MOST_SKIPPED, "{}: no `{expected}` in {seen:#?}", self.name);
            }
            skipping = false;
        }
        let open_end = shown.last().is_some_and(|last| last == "...");
        if self.prompts {
            while let Some(line) = self.line() {
                assert!(open_end, "{}: the page does not show\n  {line}", self.name);
            }
        }
    }

    /// Types a line of input into the command. On a terminal, waits for the prompt first.
    fn answer(&mut self, typed: &str) {
        if !self.prompts {
            // Output from before the line is not an answer to it.
            while let Ok(bytes) = self.heard.try_recv() {
                self.text.push_str(&String::from_utf8_lossy(&bytes).replace('\r', ""));
            }
            self.text = self.text.rsplit_once('\n').map_or(self.text.as_str(), |(_, open)| open).to_owned();
        } else {
            while self.text != "> " {
                assert!(!self.text.contains('\n'), "{}: the page does not show\n{}", self.name, self.text);
                assert!(self.listen(), "{}: no prompt", self.name);
            }
        }
        self.typed.write_all(format!("{typed}\n").as_bytes()).expect("it reads");
        if self.prompts {
            // The terminal echoes the typed line.
            let echo = self.line();
            assert_eq!(echo.as_deref(), Some(format!("> {typed}").as_str()));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns `true` if an output line matches the one in the page, in which `…` stands for any text.
fn fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// A console block of the tested page (`docs/recovery.md`): the name of its terminal, its command if it has one, and
/// the lines that it shows.
struct Block {
    terminal: String,
    command: Option<String>,
    shown: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let fenced = page.split("```console").skip(1).map(|rest| rest.split("```").next().expect("an end"));
    let block = |text: &str| {
        let mut lines = text.lines().map(str::to_owned).peekable();
        let terminal = lines.next().unwrap_or_default().trim().to_owned();
        let command = lines.next_if(|line| line.starts_with("$ ")).map(|line| line[2..].to_owned());
        Block { terminal, command, shown: lines.collect() }
    };
    fenced.map(block).collect()
}

/// Returns a port base with free ports for a controller.
fn free_base() -> String {
    let free = (41_000..60_000)
        .step_by(20)
        .find(|base| (*base..base + 17).all(|port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()));
    free.expect("free ports").to_string()
}

fn directory_with(configuration: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recovery");
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("hold.toml"), format!("{configuration}{BUSY_MACHINE}")).expect("a file");
    directory
}

#[test]
fn the_terminal_sessions_of_the_page_are_what_the_program_says() {
    let page = Path::new(outrigger_system::PACKAGE).join("docs/recovery.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (mut simulator, mut service): (Option<Session>, Option<Session>) = (None, None);
    let mut base = free_base();
    for Block { terminal, command, shown } in blocks(&page) {
        if terminal == "sim" {
            service = None;
            simulator = None;
            base = free_base();
        }
        let here = |text: &str| text.replace(SHOWN, &base);
        let shown: Vec<_> = shown.iter().map(|line| here(line)).collect();
        let started = command.map(|line| {
            let toml = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("hold.toml");
            let mut command = Command::new(outrigger_system::program());
            command.current_dir(directory_with(&here(toml)));
            let line = here(&line);
            let words = line.strip_prefix("outrigger ").expect("a command of ours").trim_end_matches(" | cat");
            command.args(words.split(' '));
            command
        });
        match (terminal.as_str(), started) {
            ("sim", Some(command)) => simulator.insert(Session::behind_pipes(command)).follow(&shown),
            ("run", Some(command)) => service.insert(Session::behind_pipes(command)).follow(&shown),
            ("run", None) => service.as_mut().expect("a session to go on with").follow(&shown),
            ("", Some(command)) => Session::on_terminal(command).follow(&shown),
            (terminal, command) => panic!("what is a block of `{terminal}` with {command:?}?"),
        }
    }
    drop((service, simulator));
}

#[test]
fn a_line_of_the_page_fits_where_only_the_gaps_differ() {
    assert!(fits("… Arming → Command", "    0.812 s  Arming → Command"));
    assert!(fits("ports 40000 to …", "ports 40000 to 40016") && fits("a … c … e", "a b c d e"));
    assert!(!fits("ports 40000 to …", "ports 41000 to 41016") && !fits("robot mode: IDLE", "robot mode: IDLE "));
    assert!(!fits("a…a", "a"));
}
