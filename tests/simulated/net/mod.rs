//! Regression runs: hundreds of seeded runs with each vendor's simulated controller. They show whether an internal
//! change of the program changed its behaviour.
//!
//! A run is drawn from its number: its set-up, its faults, the operator's requests. The files `ur.txt` and `krc.txt`
//! in this directory have, for each run, its subject, every change of mode, and digests of all events and of all
//! bytes sent, each with its time. The test makes every run again and compares. The head of each file counts the runs
//! in which each mark occurred. The marks that must occur are listed in [`ur::required`] and [`krc::required`]; the
//! test fails if one of them no longer occurs.
//!
//! The digests do not show the difference between two runs. `OUTRIGGER_NET=DIR cargo test -p outrigger-tests --test
//! runs net` writes every run in full into a directory. Run it on both trees; `diff -r` then shows the first event or
//! command that differs. `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs net` writes the two files anew,
//! for an intended change. The difference of the files then shows the runs that behave differently.
//!
//! Differences that were decided when the engines of both vendors became one (0.2): a datagram longer than any
//! measurement is received into a window of 917 bytes, and that is reported as its length. After a stall of the host
//! during which more than 64 datagrams arrive, the newest of the first 64 is answered before the rest is read, as
//! hosts always did and boards now do. One since then (run 245 with a KRC): a request is rejected while no data have
//! arrived for longer than the link allows; before, it led into arming, which ended a cycle later. Since the slider
//! stretches the time of a `speedj` in the simulation (core/docs/protocol/ur-external-control.md 1.4), an arm that
//! receives no more text at three quarters of its speed moves on for 100 ms longer (run 216 with a UR).
//!
//! Events are written by [`words`] alone, not by their types' `Debug`, so that types may be renamed without a
//! difference.

mod krc;
mod ur;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use outrigger_core::command::SourceConfig;
use outrigger_core::engine::Event;
use outrigger_core::mode::{Mode, OperatorConfig, RequestAs};
use outrigger_core::robot::Reason;
use outrigger_sim::time::SimTime;
use outrigger_tests::noise::Noise;
use outrigger_tests::require::committed;
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The source of random numbers for one run.
pub(crate) struct Draw(Noise);

impl Draw {
    fn new(vendor: u64, number: usize) -> Self {
        Self(Noise::seeded((vendor << 32) + number as u64))
    }

    /// Returns a random one of these choices.
    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len())]
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.0.below(count) == 0
    }

    /// Returns a random integer between the two ends, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next() % (high - low + 1)
    }

    /// Returns a random number in 0 … 1, in thousandths.
    pub(crate) fn unit(&mut self) -> f32 {
        self.between(0, 1_000) as f32 / 1_000.0
    }
}

/// Returns the total number of runs of all kinds.
const fn count<M>(kinds: &[(usize, M)]) -> usize {
    let (mut sum, mut at) = (0, 0);
    while at < kinds.len() {
        sum += kinds[at].0;
        at += 1;
    }
    sum
}

/// Returns the kind of the run with this number, and its number within the kind.
fn of_kind<M: Copy>(kinds: &[(usize, M)], mut number: usize) -> (M, usize) {
    for (count, make) in kinds {
        match number.checked_sub(*count) {
            Some(left) => number = left,
            None => return (*make, number),
        }
    }
    panic!("a run of no kind");
}

/// Returns a fault as on the command line.
fn spec(kind: &str, place: &str, start: &str, lasting: Option<u64>, argument: &str) -> String {
    match (lasting, argument) {
        (None, "") => format!("{kind}{place}@{start}"),
        (Some(lasting), "") => format!("{kind}{place}@{start}:{lasting}ms"),
        (lasting, argument) => {
            let lasting = lasting.map_or(String::new(), |lasting| format!("{lasting}ms"));
            format!("{kind}{place}@{start}:{lasting}:{argument}")
        }
    }
}

/// Returns a fault as it is named in the data files.
fn fault(kind: &str, place: &str, lasting: Option<u64>, argument: &str) -> String {
    let lasting = lasting.map_or(String::new(), |lasting| format!(" {lasting}ms"));
    let argument = if argument.is_empty() { String::new() } else { format!(" {argument}") };
    format!("{kind}{place}{lasting}{argument}")
}

/// Returns the marks (named occurrences in a run) of one class as `class name`, one for each name.
fn marks(class: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{class} {name}")).collect()
}

/// Returns a source whose readings are checked with drawn thresholds.
fn watched(draw: &mut Draw, id: SourceId, channels: u8, low: f32, high: f32) -> SourceConfig {
    SourceConfig {
        stuck_after: Some(Duration::from_millis(150)),
        max_rate: 40.0,
        max_age: Duration::from_millis(draw.of(&[10, 30, 100])),
        bridge_cycles: draw.of(&[0, 2, 8]),
        ..SourceConfig::new(id, channels, low, high)
    }
}

/// Returns the wiring of the operator's lines: pins of the device, inputs of the robot, an automatic start within
/// `soon` \[ms\] or a minute (with or without a pin), or an input and a pin.
fn wired(draw: &mut Draw, number: usize, soon: u64) -> OperatorConfig {
    let meaning = draw.of(&[RequestAs::Held, RequestAs::Edge]);
    let mut config = OperatorConfig { input_as: meaning, pin_as: meaning, ..OperatorConfig::default() };
    match number % 4 {
        0 => (config.request_pin, config.acknowledge_pin, config.stop_pin) = (true, true, number.is_multiple_of(8)),
        1 => {
            (config.request_input, config.acknowledge_input) = (Some(0), Some(1));
            config.stop_input = (number % 8 == 1).then_some(2);
        }
        2 => {
            starts_within(&mut config, Some(Duration::from_millis(draw.of(&[soon, 60_000]))));
            config.request_pin = number % 8 == 2;
        }
        _ => (config.request_input, config.request_pin) = (Some(0), true),
    }
    config
}

/// Sets the time of an automatic start. With one, lines request by an edge only.
fn starts_within(config: &mut OperatorConfig, within: Option<Duration>) {
    config.start_within = within;
    if within.is_some() {
        (config.pin_as, config.input_as) = (RequestAs::Edge, RequestAs::Edge);
    }
}

/// The record of a regression run.
#[derive(Default)]
pub(crate) struct Log {
    /// The subject of the run, as the data file names it.
    pub(crate) about: String,
    /// The marks of the run, as `class name`: the kinds of events, modes, reasons, faults and the like that occurred in
    /// it.
    pub(crate) marks: BTreeSet<String>,
    pub(crate) transitions: Vec<String>,
    pub(crate) events: Vec<(SimTime, String)>,
    /// `true` if the previous event was [`Event::GradeLow`], which explains a following fallback or rejected request.
    grade_low: bool,
    /// The bytes sent, each with its time and the name of the link, by which they are formatted for a person.
    pub(crate) written: Vec<(SimTime, &'static str, Vec<u8>)>,
}

impl Log {
    pub(crate) fn mark(&mut self, class: &str, name: impl std::fmt::Display) {
        self.marks.insert(format!("{class} {name}"));
    }

    /// Records an event, and the marks (named occurrences) for it.
    pub(crate) fn note<E: words::PeerEvent>(&mut self, at: SimTime, event: &Event<E>) {
        // A grade that is too low is preceded by an event with the figure, which is not recorded.
        let is_for_grade = match event {
            Event::GradeLow(low) => {
                assert!(!std::mem::replace(&mut self.grade_low, true), "{low:?} twice");
                return;
            }
            Event::Refused(refusal) => refusal.reason == Reason::GradeLow,
            Event::Transition(change) => change.from != Mode::Stopping && change.reason == Some(Reason::GradeLow),
            _ => false,
        };
        assert_eq!(std::mem::take(&mut self.grade_low), is_for_grade, "{}", words::of(event));
        let text = words::of(event);
        self.mark("event", words::kind(&text));
        if let Event::Transition(change) = event {
            self.mark("mode", change.to.name());
            let reason = change.reason.map_or(String::new(), |reason| format!(" {}", reason.name()));
            let millis = at.as_micros() as f64 / 1e3;
            self.transitions.push(format!("{}>{}{reason} {millis:.3}", change.from.name(), change.to.name()));
            if let Some(reason) = change.reason {
                let class = if change.from == Mode::Command { "ended-by" } else { "fell-by" };
                self.mark(class, reason.name());
                self.mark("reason", reason.name());
            }
        }
        if let Event::Refused(refusal) = event {
            self.mark("refused-for", refusal.reason.name());
            self.mark("reason", refusal.reason.name());
            self.mark("channel", refusal.by.name());
        }
        self.events.push((at, text));
    }

    /// Returns the subject, the changes of mode and the digests of the run as three lines for the data file.
    fn text(&self, number: usize) -> String {
        let mut events = Fnv::new();
        for (at, text) in &self.events {
            events.number(at.as_micros());
            events.bytes(text.as_bytes());
        }
        let mut written = Fnv::new();
        for (at, to, bytes) in &self.written {
            written.number(at.as_micros());
            written.bytes(to.as_bytes());
            written.bytes(bytes);
        }
        let changes =
            if self.transitions.is_empty() { "no change of mode".into() } else { self.transitions.join(", ") };
        format!(
            "{number:03} {}\n    {changes}\n    {} events {:016x}, {} writes {:016x}\n",
            self.about,
            self.events.len(),
            events.0,
            self.written.len(),
            written.0
        )
    }

    /// Returns the whole run in order of time: a line for each event and each write.
    fn whole(&self, read: fn(&'static str, &[u8]) -> String) -> String {
        let events = self.events.iter().map(|(at, text)| (*at, text.clone()));
        let written = self.written.iter().map(|(at, to, bytes)| (*at, format!("> {to}: {}", read(to, bytes))));
        let mut lines: Vec<_> = events.chain(written).collect();
        lines.sort_by_key(|(at, _)| *at);
        lines.iter().fold(format!("{}\n", self.about), |mut text, (at, line)| {
            let _ = writeln!(text, "{} {line}", at.as_micros());
            text
        })
    }
}

/// The state of an FNV-1a hash with 64 bits.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds these bytes, and their number, to the hash.
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        bytes.iter().for_each(|byte| self.byte(*byte));
    }

    fn number(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    const fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }
}

/// All runs with the simulated controller of one vendor.
struct Net {
    /// The name of the data file, and of the directory of full runs.
    name: &'static str,
    runs: usize,
    run: fn(&mut Draw, usize) -> Log,
    /// Returns the marks (named occurrences) that must occur in the runs.
    required: fn() -> Vec<String>,
    read: fn(&'static str, &[u8]) -> String,
}

impl Net {
    /// Executes every run, on as many threads as there are processors.
    fn cast(&self) -> Vec<Result<Log, String>> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let next = AtomicUsize::new(0);
        let mut logs: Vec<_> = std::thread::scope(|scope| {
            let work = || {
                let mut made = vec![];
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= self.runs {
                        return made;
                    }
                    made.push((number, self.one(number)));
                }
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a worker lives")).collect()
        });
        logs.sort_by_key(|(number, _)| *number);
        logs.into_iter().map(|(_, log)| log).collect()
    }

    /// Executes the run with this number. Returns the panic message as an error if a check in it failed.
    fn one(&self, number: usize) -> Result<Log, String> {
        let vendor = self.name.bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte));
        let run = || (self.run)(&mut Draw::new(vendor, number), number);
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
            let said = said.unwrap_or_default();
            format!("{} {number:03}: {}", self.name, said.lines().next().unwrap_or_default())
        })
    }

    /// Returns the head of the data file: for each mark (named occurrence), the number of runs that have it.
    fn head(&self, counts: &BTreeMap<&str, usize>) -> String {
        let mut text =
            format!("# {} runs; made by OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs net\n", self.runs);
        let mut class = "";
        for (mark, count) in counts {
            let (of, name) = mark.split_once(' ').unwrap_or((mark, ""));
            if of != class {
                let _ = writeln!(text, "# {of}");
                class = of;
            }
            let _ = writeln!(text, "#   {count:3} {name}");
        }
        text
    }

    fn hold(&self) {
        let (logs, broken): (Vec<_>, Vec<_>) = self.cast().into_iter().partition(Result::is_ok);
        let broken: Vec<_> = broken.into_iter().filter_map(Result::err).collect();
        assert!(broken.is_empty(), "{broken:#?}");
        let logs: Vec<Log> = logs.into_iter().flatten().collect();
        if let Some(directory) = std::env::var_os("OUTRIGGER_NET") {
            let directory = std::path::Path::new(&directory).join(self.name);
            std::fs::create_dir_all(&directory).expect("a directory");
            for (number, log) in logs.iter().enumerate() {
                std::fs::write(directory.join(format!("{number:03}.txt")), log.whole(self.read)).expect("a file");
            }
        }
        let mut counts = BTreeMap::new();
        for mark in logs.iter().flat_map(|log| &log.marks) {
            *counts.entry(mark.as_str()).or_insert(0_usize) += 1;
        }
        let missing: Vec<_> =
            (self.required)().into_iter().filter(|mark| !counts.contains_key(mark.as_str())).collect();
        let mut made = self.head(&counts);
        logs.iter().enumerate().for_each(|(number, log)| made += &log.text(number));
        self.compare(&made);
        assert!(missing.is_empty(), "{}: never occurred: {missing:#?}", self.name);
    }

    /// Compares the result with the recorded file: the runs first, then the counts in the head.
    fn compare(&self, made: &str) {
        let path = format!("tests/simulated/net/{}.txt", self.name);
        let Some(recorded) = committed::read(path.as_ref(), made) else { return };
        if let Some(difference) = differing(&recorded, made) {
            panic!(
                "{path}: {difference}OUTRIGGER_NET=DIR writes every run whole, on this tree and on the one before: diff those; \
                 OUTRIGGER_BLESS=1 records what is meant"
            );
        }
    }
}

/// Returns the numbers of the runs that differ from those recorded, and the first lines that differ.
fn differing(recorded: &str, made: &str) -> Option<String> {
    // Runs begin with a number; the lines that belong to them are indented.
    let head = |text: &str| text.find("\n000 ").map_or(text.len(), |at| at + 1);
    let runs = |text: &str| -> BTreeMap<String, String> {
        let mut runs = BTreeMap::<String, String>::new();
        let mut number = String::new();
        for line in text[head(text)..].lines() {
            if !line.starts_with(' ') {
                number = line.chars().take(3).collect();
            }
            *runs.entry(number.clone()).or_default() += line;
        }
        runs
    };
    let (old, new) = (runs(recorded), runs(made));
    let all: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let other: Vec<_> = all.into_iter().filter(|number| old.get(*number) != new.get(*number)).collect();
    if other.is_empty() {
        return committed::difference(recorded, made)
            .map(|lines| format!("other counts than recorded, first in {lines}"));
    }
    let named: Vec<_> = other.iter().take(NAMED).map(|number| number.as_str()).collect();
    let more = if other.len() > NAMED { ", …" } else { "" };
    // With the head of the present result, the lines of both texts have the same numbers.
    let recorded = [&made[..head(made)], &recorded[head(recorded)..]].concat();
    let lines = committed::difference(&recorded, made)?;
    Some(format!("{} runs differ from those recorded ({}{more}), first in {lines}", other.len(), named.join(", ")))
}

/// The largest number of differing runs that are named.
const NAMED: usize = 12;

#[test]
fn of_runs_that_differ_the_first_is_shown_and_a_few_are_named() {
    let net = |count: usize, other: &[usize]| -> String {
        let run = |number: usize| {
            let word = if other.contains(&number) { "Stopping" } else { "Command" };
            format!("{number:03} about\n    Arming>{word} 1.000\n    1 events 00, 2 writes 00\n")
        };
        format!("# head\n#   {count} Command\n") + &(0..40).map(run).collect::<String>()
    };
    assert_eq!(differing(&net(40, &[]), &net(40, &[])), None);
    let one = differing(&net(40, &[]), &net(39, &[7])).expect("a difference");
    let expected = "1 runs differ from those recorded (007), first in line 25:\n      1 events 00, 2 writes 00\n  007 about\n\
                    -     Arming>Command 1.000\n-     1 events 00, 2 writes 00\n- 008 about\n\
                    +     Arming>Stopping 1.000\n+     1 events 00, 2 writes 00\n+ 008 about\n";
    assert_eq!(one, expected);
    let many = differing(&net(40, &[]), &net(10, &Vec::from_iter(5..35))).expect("a difference");
    assert!(many.starts_with("30 runs differ from those recorded (005, 006, "), "{many}");
    assert!(many.contains("016, …), first in line 19:\n") && many.len() < 500, "{many}");
    let head = differing(&net(40, &[]), &net(39, &[])).expect("a difference");
    assert!(head.starts_with("other counts than recorded, first in line 2:\n  # head\n-"), "{head}");
}

const UR: Net = Net { name: "ur", runs: ur::RUNS, run: ur::run, required: ur::required, read: ur::read };
const KRC: Net = Net { name: "krc", runs: krc::RUNS, run: krc::run, required: krc::required, read: krc::read };

#[test]
fn every_run_beside_a_ur_controller_is_as_recorded() {
    UR.hold();
}

#[test]
fn every_run_beside_a_krc_is_as_recorded() {
    KRC.hold();
}

/// The reasons of the engine that do not occur in any regression run, each with its explanation.
const NEVER: [(Reason, &str); 19] = [
    (
        Reason::NotFinite,
        "what is measured is checked before a law has it, and no law here makes such a number: core/src/law",
    ),
    (Reason::Internal, "a check of our own that never fails"),
    (Reason::AcceptanceUnknown, "rare: of the runs that are drawn now none; core/src/engine/tests/command.rs has it"),
    (Reason::AccelerationLimit, "speeds are held to it, and nobody asks for a move yet"),
    (Reason::NotCommanding, "nobody asks for a move that the controller executes yet"),
    (Reason::MoveNotStarted, "the same"),
    (Reason::MoveUnseen, "the same"),
    (Reason::OtherMove, "the same"),
    (
        Reason::PathUnfit,
        "these runs command by text; a program of ours is in tests/simulated/scenarios/reverse.rs and tests/simulated/tables/paths",
    ),
    (Reason::ProgramAway, "the same"),
    (Reason::Commanded, "the same"),
    (Reason::NoSuchProgram, "the same"),
    (Reason::ProgramRuns, "the same"),
    (Reason::NotRenewed, "of a program of ours that lets a hand move the arm: tests/simulated/scenarios/guided.rs"),
    (Reason::NotYours, "the same"),
    (Reason::GuideLimit, "the same"),
    (Reason::TorqueLimit, "of torques alone: core/src/command/torque/tests.rs"),
    (Reason::ClockInexact, "of boards alone: core/src/engine/tests/command.rs"),
    (Reason::SafetyNotNormal, "no simulated controller has such a safety mode: core/src/mode/tests/arming.rs has each"),
];

#[test]
fn every_reason_occurs_beside_one_of_the_makers() {
    let data = [include_str!("ur.txt"), include_str!("krc.txt")].concat();
    let in_head: BTreeSet<&str> =
        data.lines().filter(|line| line.starts_with('#')).filter_map(|line| line.split_whitespace().nth(2)).collect();
    for reason in Reason::ALL {
        let never = NEVER.iter().any(|(known, _)| known == reason);
        assert_eq!(in_head.contains(reason.name()), !never, "{}", reason.name());
    }
}
