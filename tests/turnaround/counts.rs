//! Exact counts of what the control thread does for a cycle: calls of the kernel, from a trace; instructions of its own, by
//! Valgrind, as the difference of a long and a short block.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::Verdict;
use crate::peer::Peer;
use crate::subject::{Programs, Subject};

/// Calls of the kernel in a cycle.
const CALLS: f64 = 4.0;
/// Of them, sleeps.
const SLEEPS: f64 = 1.1;
/// Instructions of the engine's thread in a cycle with a trivial application: 5 % above the 12 026 that were counted.
const INSTRUCTIONS: f64 = 12_630.0;
/// As much more may those be that listeners cost.
const BESIDE: f64 = 1.01;
/// Commands before the first cycle that counts: arming, and some.
const SKIPPED: usize = 300;
const SHORT: u32 = 400;
const LONG: u32 = 2_400;

/// Counts all of it.
pub(crate) fn count(programs: &Programs, verdict: &mut Verdict) {
    let mut calls = BTreeMap::new();
    for subject in [Subject::Ours, Subject::Run, Subject::View, Subject::Json] {
        match traced(programs, subject) {
            Ok(counted) => {
                let all: f64 = counted.iter().map(|(_, count)| count).sum();
                let sleeps = counted.iter().find(|(name, _)| name == "ppoll").map_or(0.0, |(_, count)| *count);
                let each: Vec<String> = counted.iter().map(|(name, count)| format!("{name} {count:.3}")).collect();
                println!("{:>5}: {all:.3} system calls a cycle: {}", subject.name(), each.join(", "));
                calls.insert(subject.name(), all);
                if subject == Subject::Ours {
                    verdict.line(all <= CALLS, format!("system calls a cycle: {all:.2}, budget {CALLS}"));
                    verdict.line(sleeps <= SLEEPS, format!("sleeps a cycle: {sleeps:.3}, budget {SLEEPS}"));
                }
            }
            Err(why) => verdict.line(false, format!("{}: {why}", subject.name())),
        }
    }
    for listened in ["view", "json"] {
        if let (Some(with), Some(without)) = (calls.get(listened), calls.get("run")) {
            // A lock that two threads want at once is a call now and then.
            let more = with - without;
            verdict.line(more <= 0.05, format!("further system calls a cycle with listeners ({listened}): {more:+.3}"));
        }
    }
    let mut instructions = BTreeMap::new();
    for subject in [Subject::Ours, Subject::Run, Subject::Json] {
        match instructions_of(programs, subject) {
            Ok(count) => {
                println!("{:>5}: {count:.0} instructions a cycle", subject.name());
                instructions.insert(subject.name(), count);
            }
            Err(why) => verdict.line(false, format!("{}: {why}", subject.name())),
        }
    }
    if let Some(count) = instructions.get("ours") {
        verdict.line(*count <= INSTRUCTIONS, format!("instructions a cycle: {count:.0}, budget {INSTRUCTIONS:.0}"));
    }
    if let (Some(with), Some(without)) = (instructions.get("json"), instructions.get("run")) {
        let ratio = with / without;
        verdict.line(
            ratio <= BESIDE,
            format!("instructions with listeners: {ratio:.3} of those without, budget {BESIDE}"),
        );
    }
}

/// System calls of the first thread between two commands, by name.
fn traced(programs: &Programs, subject: Subject) -> Result<Vec<(String, f64)>, String> {
    let file = programs.folder().join("trace");
    // The program is the child, and the tracer beside it: it goes when the program does.
    let tracer = ["strace", "-D", "-f", "-qq", "-s", "8", "-o", file.to_str().expect("text")].map(str::to_owned);
    let mut peer = Peer::new();
    let mut child = programs.start(subject, &peer, &tracer);
    let block = peer.measure(child.id(), LONG);
    let _ = child.kill();
    let _ = child.wait();
    block?;
    // What the tracer still has to write.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let trace = std::fs::read_to_string(&file).map_err(|error| format!("no trace (is strace there?): {error}"))?;
    let (mut first, mut names, mut commands) = (None, BTreeMap::<&str, u64>::new(), 0);
    let (mut seen, mut whole) = (BTreeMap::new(), 0);
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
        if *first.get_or_insert(thread) != thread || name.contains(' ') {
            continue;
        }
        *names.entry(name).or_default() += 1;
        if name == "sendto" && rest.contains("\"speedj(") {
            commands += 1;
            if commands == SKIPPED {
                names.clear();
            } else if commands > SKIPPED {
                (seen, whole) = (names.clone(), commands - SKIPPED);
            }
        }
    }
    if whole < SHORT as usize {
        return Err(format!("only {whole} commands in the trace"));
    }
    let mut counted: Vec<_> =
        seen.iter().map(|(name, count)| ((*name).to_owned(), *count as f64 / whole as f64)).collect();
    counted.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(counted)
}

/// User instructions of the first thread for one state more.
fn instructions_of(programs: &Programs, subject: Subject) -> Result<f64, String> {
    let [(short, few), (long, many)] = [SHORT, LONG].map(|cycles| executed(programs, subject, cycles)).map(|counted| {
        counted.unwrap_or_else(|why| {
            eprintln!("{}: {why}", subject.name());
            (0, 0)
        })
    });
    if few == 0 || many <= few {
        return Err("not counted".into());
    }
    Ok((long - short) as f64 / f64::from(many - few))
}

/// Instructions of the first thread in a whole life, and the states that it was sent.
fn executed(programs: &Programs, subject: Subject, cycles: u32) -> Result<(u64, u32), String> {
    let out: PathBuf = programs.folder().join("callgrind");
    let tracer = [
        "valgrind".to_owned(),
        "-q".to_owned(),
        "--tool=callgrind".to_owned(),
        "--separate-threads=yes".to_owned(),
        format!("--callgrind-out-file={}", out.display()),
    ];
    let mut peer = Peer::new();
    let mut child = programs.start(subject, &peer, &tracer);
    let block = peer.measure(child.id(), cycles);
    end(&mut child);
    let block = block?;
    let first = out.with_file_name("callgrind-01");
    let text = std::fs::read_to_string(&first).map_err(|error| format!("no count (is Valgrind there?): {error}"))?;
    let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    Ok((totals.ok_or("no total")?, block.sent))
}

/// Asks twice, so that what counts can say so, and nothing waits for a controller that is gone.
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
