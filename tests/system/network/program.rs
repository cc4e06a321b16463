//! The running program, observed through its output in JSON.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::namespace::Namespace;
use outrigger_sim::time::SimTime;
use serde_json::Value;

/// A line of the output of `outrigger run`, and the time at which it was read.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: SimTime,
    pub(super) value: Value,
}

impl Line {
    pub(super) fn text(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or_default()
    }

    fn is(&self, kind: &str) -> bool {
        self.text("type") == "event" && self.text("kind") == kind
    }
}

/// A transition of `outrigger run` from one mode to another, with its time on the test's clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Transition {
    pub(super) at: SimTime,
    pub(super) from: String,
    pub(super) to: String,
    /// The name of the transition's reason; empty if there is none.
    pub(super) reason: String,
}

/// The output of `outrigger run`, line by line.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript(Vec<Line>);

impl Transcript {
    pub(super) fn story(&self) -> String {
        let events = self.0.iter().filter(|line| line.text("type") != "status");
        events.map(|line| format!("{:>9} {}\n", line.at.to_string(), line.value)).collect()
    }

    /// Returns the time at which the program's clock started, on the test's clock. It is the earliest difference
    /// between the time of reading and the time stamp in a line, because no line is read before it is written.
    fn began(&self) -> SimTime {
        let began = self.0.iter().filter_map(|line| {
            let since = Duration::from_secs_f64(line.value["time"].as_f64()?);
            Some(SimTime::ZERO + line.at.since(SimTime::ZERO + since))
        });
        began.min().unwrap_or(SimTime::ZERO)
    }

    pub(super) fn transitions(&self) -> Vec<Transition> {
        let began = self.began();
        let transitions = self.0.iter().filter(|line| line.is("transition"));
        let read = transitions.map(|line| Transition {
            at: began + Duration::from_secs_f64(line.value["time"].as_f64().expect("a time")),
            from: line.text("from").to_owned(),
            to: line.text("to").to_owned(),
            reason: line.text("reason").to_owned(),
        });
        read.collect()
    }

    /// Returns the bound on the motion of the arm after a fault that the program has printed \[rad\].
    pub(super) fn coast(&self) -> Option<f64> {
        let said = self.0.iter().rev().find(|line| line.text("text").contains("worst-case stopping distance"))?;
        let (before, _) = said.text("text").split_once(" rad after a fault")?;
        before.rsplit(' ').next()?.parse().ok()
    }

    pub(super) fn summary(&self) -> Option<&Value> {
        self.0.iter().map(|line| &line.value).find(|value| value["type"] == "summary")
    }

    /// Returns the mode of the program after the newest transition in its output.
    pub(super) fn mode(&self) -> &str {
        self.0.iter().rev().find(|line| line.is("transition")).map_or("Offline", |line| line.text("to"))
    }

    /// Returns the time at which the line with the newest transition was read.
    pub(super) fn since(&self) -> SimTime {
        self.0.iter().rev().find(|line| line.is("transition")).map_or(SimTime::ZERO, |line| line.at)
    }
}

/// A running `outrigger run`. Dropping it ends the process.
pub(super) struct Program {
    child: Child,
    input: ChildStdin,
    transcript: Arc<Mutex<Transcript>>,
    reader: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<String>>,
    configuration: PathBuf,
}

impl Program {
    pub(super) fn start(namespace: &Namespace, name: &str, configuration: &str, clock: Clock) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("network-{}-{name}.toml", std::process::id()));
        std::fs::write(&path, configuration).expect("room");
        let within = namespace.within();
        let mut command = Command::new(&within[0]);
        command.args(&within[1..]).arg(outrigger_system::program()).arg("run").arg(&path).arg("--json");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary under test");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut errors = child.stderr.take().expect("piped");
        let transcript = Arc::<Mutex<Transcript>>::default();
        let into = Arc::clone(&transcript);
        let reader = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let at = clock.now();
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                lock(&into).0.push(Line { at, value });
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            // Output that is not UTF-8 is ignored.
            let _ = errors.read_to_string(&mut text);
            text
        });
        Self { child, input, transcript, reader: Some(reader), errors: Some(errors), configuration: path }
    }

    pub(super) fn say(&mut self, word: &str) {
        // If the program has ended, the caller notices it later.
        let _ = writeln!(self.input, "{word}");
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&Transcript) -> T) -> T {
        look(&lock(&self.transcript))
    }

    /// Returns the exit code if the program has ended, or -1 if a signal ended it.
    pub(super) fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().expect("a child").map(|status| status.code().unwrap_or(-1))
    }

    /// Ends the program if it still runs. Returns its output and its standard error.
    pub(super) fn left(mut self) -> (Transcript, String) {
        self.finish();
        let errors = self.errors.take().map(|errors| errors.join().expect("text")).unwrap_or_default();
        (std::mem::take(&mut lock(&self.transcript)), errors)
    }

    fn finish(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let read = reader.join();
            assert!(read.is_ok() || std::thread::panicking(), "a line that is no JSON");
        }
        let _ = std::fs::remove_file(&self.configuration);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.finish();
    }
}

fn lock(transcript: &Mutex<Transcript>) -> MutexGuard<'_, Transcript> {
    transcript.lock().unwrap_or_else(PoisonError::into_inner)
}
