//! Counts the work of the control thread per cycle: system calls, from a trace, and its own instructions, by Valgrind.
//! Time advances only with the states (`lockstep.c`), so that the counts do not depend on the machine's load.

use std::collections::BTreeMap;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::Verdict;
use crate::peer::Peer;
use crate::subject::{Programs, Subject};

/// The budget of system calls per cycle in the control thread of the measured program.
const CALLS: f64 = 4.0;
/// The budget of sleeps among the system calls of a cycle.
const SLEEPS: f64 = 1.1;
/// The budget of the system calls per cycle that listeners add in the control thread. It is not zero, because a
/// contended lock causes a call now and then.
const FURTHER_CALLS: f64 = 0.05;
/// The committed numbers of instructions per cycle in the control thread: of the engine with a trivial application, and
/// of `outrigger run` without and with listeners. A check fails if a number exceeds its entry times [`GROWTH`].
const COUNTED: [(Subject, f64); 4] =
    [(Subject::Ours, 11_230.0), (Subject::Run, 13_990.0), (Subject::View, 16_230.0), (Subject::Json, 15_870.0)];
const GROWTH: f64 = 1.05;
/// The goal for the ratio of the control thread's instructions with listeners to those without; the actual ratio is
/// printed.
const BESIDE: f64 = 1.01;
/// The number of cycles that are counted, as in `lockstep.c`.
const CYCLES: u32 = 500;
/// The number of cycles before the counted ones, as in `lockstep.c`.
const BEFORE: u32 = 250;

/// Counts the system calls and instructions of the engine alone and of `outrigger run` with and without listeners,
/// without a ROS 2 node.
pub(crate) fn count(programs: &Programs, verdict: &mut Verdict) {
    let mut calls = BTreeMap::new();
    for subject in [Subject::Ours, Subject::Run, Subject::View, Subject::Json, Subject::Page] {
        match traced(programs, subject) {
            Ok(Calls { each, before }) => {
                let all: f64 = each.values().sum();
                let sleeps = each.get("ppoll").copied().unwrap_or_default();
                println!("{:>5}: {all:.3} system calls a cycle: {}", subject.name(), listed(&each));
                println!("       {:.3} of them before the text: {}", before.values().sum::<f64>(), listed(&before));
                calls.insert(subject.name(), all);
                if matches!(subject, Subject::Ours | Subject::Run) {
                    let name = subject.name();
                    verdict.line(all <= CALLS, format!("system calls a cycle, {name}: {all:.2}, budget {CALLS}"));
                    verdict.line(sleeps <= SLEEPS, format!("sleeps a cycle, {name}: {sleeps:.3}, budget {SLEEPS}"));
                }
            }
            Err(why) => verdict.line(false, format!("{}: {why}", subject.name())),
        }
    }
    for listened in ["view", "json", "page"] {
        if let (Some(with), Some(without)) = (calls.get(listened), calls.get("run")) {
            let more = with - without;
            verdict.line(
                more <= FURTHER_CALLS,
                format!("further system calls a cycle with listeners ({listened}): {more:+.3}"),
            );
        }
    }
    let mut instructions = BTreeMap::new();
    for subject in [Subject::Ours, Subject::Run, Subject::View, Subject::Json, Subject::Page] {
        match instructions_of(programs, subject) {
            Ok(count) => {
                println!("{:>5}: {count:.0} instructions a cycle", subject.name());
                instructions.insert(subject.name(), count);
            }
            Err(why) => verdict.line(false, format!("{}: {why}", subject.name())),
        }
    }
    for (subject, counted) in COUNTED {
        if let Some(count) = instructions.get(subject.name()) {
            let limit = counted * GROWTH;
            let name = subject.name();
            verdict.line(*count <= limit, format!("instructions a cycle, {name}: {count:.0}, budget {limit:.0}"));
        }
    }
    for subject in [Subject::Ours, Subject::Run] {
        match before_the_text(programs, subject) {
            Ok(count) => println!("{:>5}: {count:.0} instructions from waking up to the text", subject.name()),
            Err(why) => verdict.line(false, format!("{}: {why}", subject.name())),
        }
    }
    for listened in ["view", "json", "page"] {
        if let (Some(with), Some(without)) = (instructions.get(listened), instructions.get("run")) {
            let ratio = with / without;
            println!("instructions with listeners ({listened}): {ratio:.3} of those without; {BESIDE} was asked for");
        }
    }
}

/// Counts the system calls and instructions that a ROS 2 node and its readers add in the control thread.
pub(crate) fn count_ros(programs: &Programs, verdict: &mut Verdict) {
    let [run, ros] = [Subject::Run, Subject::Ros].map(|subject| {
        let calls = traced(programs, subject).map(|calls| calls.each.values().sum::<f64>());
        (calls, instructions_of(programs, subject))
    });
    match (run, ros) {
        ((Ok(calls), Ok(instructions)), (Ok(calls_beside), Ok(instructions_beside))) => {
            let more = calls_beside - calls;
            verdict.line(more <= FURTHER_CALLS, format!("further system calls a cycle with ROS 2: {more:+.3}"));
            let ratio = instructions_beside / instructions;
            println!(
                "instructions with ROS 2: {instructions_beside:.0}, {ratio:.3} of those without; {BESIDE} was asked for"
            );
        }
        (run, ros) => verdict.line(false, format!("not counted: without {run:?}, with {ros:?}")),
    }
}

/// The mean numbers of system calls of the control thread per cycle, by name.
struct Calls {
    each: BTreeMap<String, f64>,
    /// The mean numbers per cycle of those system calls from waking up to sending the text of the command, including
    /// the calls that wait and write.
    before: BTreeMap<String, f64>,
}

fn listed(calls: &BTreeMap<String, f64>) -> String {
    let mut calls: Vec<_> = calls.iter().filter(|(_, count)| **count >= 0.0005).collect();
    calls.sort_by(|a, b| b.1.total_cmp(a.1));
    calls.into_iter().map(|(name, count)| format!("{name} {count:.3}")).collect::<Vec<_>>().join(", ")
}

/// Runs `subject` under `strace` and returns the mean numbers of system calls of its first thread per cycle, from one
/// command to the next.
fn traced(programs: &Programs, subject: Subject) -> Result<Calls, String> {
    let file = programs.folder().join("trace");
    // The program is the child, and the tracer runs in parallel; it ends with the program.
    let tracer = ["strace", "-D", "-f", "-qq", "-s", "8", "-o", file.to_str().expect("text")].map(str::to_owned);
    let mut peer = Peer::new();
    let mut child = programs.start(subject, &peer, &tracer);
    let sent = peer.lockstep(child.id(), BEFORE + CYCLES + 2);
    let _ = child.kill();
    let _ = child.wait();
    sent?;
    // Time for the tracer to write the rest.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let trace = std::fs::read_to_string(&file).map_err(|error| format!("no trace (is strace there?): {error}"))?;
    let thread = trace.split_once(' ').map(|(thread, _)| thread).ok_or("an empty trace")?;
    let calls = trace.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix(thread)?.trim_start().split_once('(')?;
        (!name.contains(' ')).then_some((name, name == "sendto" && rest.contains("\"speedj(")))
    });
    let calls: Vec<_> = calls.collect();
    let texts: Vec<_> = calls.iter().enumerate().filter(|(_, call)| call.1).map(|(index, _)| index).collect();
    let last = texts.len().checked_sub(2).ok_or("no text in the trace")?;
    let first = last.checked_sub(CYCLES as usize).ok_or(format!("only {last} texts in the trace"))?;
    let (mut each, mut before) = (BTreeMap::new(), BTreeMap::new());
    for cycle in texts[first..=last].windows(2) {
        let cycle = &calls[cycle[0] + 1..=cycle[1]];
        let woken = cycle.iter().rposition(|(name, _)| *name == "ppoll").unwrap_or_default();
        for (index, (name, _)) in cycle.iter().enumerate() {
            *each.entry((*name).to_owned()).or_default() += 1.0 / f64::from(CYCLES);
            if index >= woken {
                *before.entry((*name).to_owned()).or_default() += 1.0 / f64::from(CYCLES);
            }
        }
    }
    Ok(Calls { each, before })
}

/// Runs `subject` under Valgrind and returns the mean number of user instructions of its first thread per cycle.
fn instructions_of(programs: &Programs, subject: Subject) -> Result<f64, String> {
    let counted = executed(programs, subject, &["lockstep_begins", "lockstep_ends"])?;
    let all = counted.iter().find(|(at, _)| at == "lockstep_ends").ok_or("not counted")?.1;
    Ok(all as f64 / f64::from(CYCLES))
}

/// Runs `subject` under Valgrind and returns the median number of instructions of its first thread from the last sleep
/// of a cycle until the text of the command is written.
fn before_the_text(programs: &Programs, subject: Subject) -> Result<f64, String> {
    let counted = executed(programs, subject, &["lockstep_sleeps", "lockstep_writes"])?;
    let mut counts: Vec<_> =
        counted.into_iter().filter(|(at, _)| at == "lockstep_writes").map(|(_, count)| count).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).map(|count| *count as f64).ok_or_else(|| "not counted".into())
}

/// Runs `subject` under Valgrind and returns the numbers of instructions that its first thread executed between two of
/// the `marks`, functions of `lockstep.c`. Each number has the name of the mark at which it ends.
fn executed(programs: &Programs, subject: Subject, marks: &[&str]) -> Result<Vec<(String, u64)>, String> {
    let folder = programs.folder().join("callgrind");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).map_err(failed)?;
    let mut tracer = ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes"].map(str::to_owned).to_vec();
    tracer.push(format!("--callgrind-out-file={}", folder.join("out").display()));
    tracer.extend(marks.iter().map(|mark| format!("--dump-before={mark}")));
    let mut peer = Peer::new();
    let mut child = programs.start(subject, &peer, &tracer);
    let answered = peer.lockstep(child.id(), BEFORE + CYCLES + 2);
    end(&mut child);
    answered?;
    let mut counts = vec![];
    for path in std::fs::read_dir(&folder).map_err(failed)?.flatten().map(|file| file.path()) {
        if path.to_str().is_some_and(|path| path.ends_with("-01")) {
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            let line = |start| text.lines().find_map(|line| line.strip_prefix(start)).map(str::trim);
            let at = line("desc: Trigger: --dump-before=").unwrap_or_default().to_owned();
            let total = line("totals: ").and_then(|total| total.parse().ok());
            counts.push((at, total.ok_or("no total")?));
        }
    }
    if counts.is_empty() { Err("no count (is Valgrind there?)".into()) } else { Ok(counts) }
}

/// Ends the measured program so that Valgrind can write its counts: sends SIGTERM every 300 ms until the program has
/// ended, and kills it after 15 s. A second signal ends a program that still waits for its controller.
fn end(child: &mut Child) {
    for _ in 0..50 {
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
        std::thread::sleep(std::time::Duration::from_millis(300));
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
