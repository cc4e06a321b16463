//! Host turnaround: from a state's leaving the controller to the command's arrival there, against a bare C loop; and what
//! listeners cost the thread that answers.
//!
//! That is the way through the kernel twice and the waking up, with our own part between them: from the end of reading a
//! state to the end of writing its command, which `demo` and `run` tell and `port-linux/examples/turnaround-trace.sh`
//! compares with a trace of the system calls.
//!
//! ```sh
//! cargo build --release -p outrigger
//! cargo run --release -p outrigger-tests --example turnaround [ROUNDS [CYCLES]]
//! cargo run --release -p outrigger-tests --example turnaround -- --counts
//! ```
//!
//! Short blocks of the programs alternate within one run, each a process of its own beside the same load, so that
//! whatever else the machine does meets all of them; what is compared is all answers of all blocks of each. Counts need
//! `strace` and Valgrind, and are the same whatever else the machine does: there the controller sends its next state when the
//! answer has come, and the program's clock goes on with the states (`lockstep.c`). It exits with 1 where a budget is missed.
//! Needs a C compiler.

mod counts;
mod ours;
mod peer;
mod pooled;
mod subject;

use std::process::ExitCode;

use outrigger::host::set_fifo;

use self::peer::{Block, Peer};
use self::pooled::{Pooled, between_kinds, ratio_of_pairs};
use self::subject::{Programs, Subject};

/// Attempts at one block: on a busy machine the load itself is held up at times, and the arm then stopped.
const ATTEMPTS: usize = 5;
/// Of `SCHED_FIFO`, where that is allowed.
const PRIORITY: u8 = 20;
/// Of all answers, to those of the bare loop.
const RATIO_BUDGET: f64 = 1.1;
/// The median of a loop that is awake, to that of the bare one, which sleeps.
const BUSY_BUDGET: f64 = 0.6;
/// Percentage points.
const ANSWERED_BUDGET: f64 = 0.1;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--ours", port_base, awake @ ..] = words.as_slice() {
        let awake = awake.first().map(|micros| micros.parse().expect("microseconds"));
        ours::run(port_base.parse().expect("a port base"), awake);
        return ExitCode::SUCCESS;
    }
    if cfg!(debug_assertions) {
        eprintln!("these are times of a debug build; add --release");
    }
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    };
    let mut verdict = Verdict::default();
    if words == ["--counts"] {
        counts::count(&programs, &mut verdict);
    } else {
        let number = |index: usize, default: u32| {
            words.get(index).map_or(default, |text| text.parse().expect("ROUNDS and CYCLES are numbers"))
        };
        compare(&programs, number(0, 60), number(1, 500), &mut verdict);
    }
    if verdict.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What was held, and what was not.
#[derive(Default)]
struct Verdict {
    missed: bool,
}

impl Verdict {
    fn line(&mut self, held: bool, text: String) {
        self.missed |= !held;
        println!("{} {text}", if held { "ok  " } else { "OVER" });
    }
}

fn compare(programs: &Programs, rounds: u32, cycles: u32, verdict: &mut Verdict) {
    let busy = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned();
    // All programs inherit it. Where it is not allowed, other work on the machine pushes load and programs aside.
    let scheduling = match set_fifo(PRIORITY) {
        Ok(()) => "SCHED_FIFO for load and programs".into(),
        Err(error) => format!("time-sharing scheduler (SCHED_FIFO refused: {error})"),
    };
    println!("{rounds} rounds, blocks of {cycles} cycles of 2 ms; {scheduling}; load of the machine {}", busy());
    let against_bare = measured(programs, [Subject::Bare, Subject::Poll, Subject::Ours, Subject::Busy], rounds, cycles);
    if let Some([bare, poll, ours, awake]) = &against_bare {
        let limit = between_kinds(&[bare, ours]);
        println!(
            "blocks whose median is above {limit:.0} µs: bare {} of {rounds}, ours {} of {rounds}",
            bare.slow_blocks(limit),
            ours.slow_blocks(limit)
        );
        for share in [0.5, 0.99] {
            let [ours, poll, bare] = [ours, poll, bare].map(|of| of.quantile(share));
            let (ratio, percent) = (ours / bare, share * 100.0);
            let held = ratio <= RATIO_BUDGET;
            verdict.line(held, format!("p{percent:.0}: {ours:.1} to {bare:.1} µs, {ratio:.3}, budget {RATIO_BUDGET}"));
            println!(
                "p{percent:.0} of a bare loop that waits as ours does: {poll:.1} µs, {:.3}; ours to it {:.3}",
                poll / bare,
                ours / poll
            );
        }
        let ratio = awake.quantile(0.5) / bare.quantile(0.5);
        verdict.line(ratio <= BUSY_BUDGET, format!("p50 with busy_poll: {ratio:.2}, budget {BUSY_BUDGET}"));
        let (ours_percent, bare_percent) = (ours.answered_percent(), bare.answered_percent());
        verdict.line(
            ours_percent >= bare_percent - ANSWERED_BUDGET,
            format!("answered within their cycle: {ours_percent:.2} %, the bare loop {bare_percent:.2} %"),
        );
        let wakes = ours.wakes_per_cycle();
        verdict.line(wakes < 1.1, format!("wake-ups a cycle: {wakes:.3}, the bare loop {:.3}", bare.wakes_per_cycle()));
        let threads = ours.blocks.iter().map(|block| block.threads).max().unwrap_or_default();
        verdict.line(threads == 1, format!("threads: {threads}"));
    }
    let beside = measured(programs, [Subject::Run, Subject::RunAgain, Subject::View, Subject::Json], rounds, cycles);
    if let Some([run, again, view, json]) = &beside {
        // Half a spread on each side, whatever the order of the two.
        let spread = |share| ratio_of_pairs(again, run, 0.99, share);
        let (low, high) = (spread(0.05), spread(0.95));
        println!("p99 of equal blocks, pair by pair: {low:.2} to {high:.2} (5 to 95 %)");
        for (name, listened) in [("view", view), ("json", json)] {
            let ratio = ratio_of_pairs(listened, run, 0.99, 0.5);
            verdict
                .line(ratio <= high, format!("p99 with {name}, recording and two readers: {ratio:.2} of that without"));
        }
    }
    verdict.line(
        against_bare.is_some() && beside.is_some(),
        format!("all blocks measured; load of the machine {}", busy()),
    );
}

/// All blocks of some subjects, which take turns.
fn measured<const N: usize>(
    programs: &Programs,
    subjects: [Subject; N],
    rounds: u32,
    cycles: u32,
) -> Option<[Pooled; N]> {
    let mut pooled: [Pooled; N] = std::array::from_fn(|_| Pooled::default());
    let mut repeated = 0;
    println!("p50/p99 µs {}", subjects.map(|subject| format!("{:>12}", subject.name())).concat());
    for round in 0..rounds as usize {
        // Who goes first alternates as well.
        for turn in 0..N {
            let index = (round + turn) % N;
            pooled[index].blocks.push(one(programs, subjects[index], cycles, &mut repeated)?);
        }
        let shown = pooled.each_ref().map(|pooled| {
            let last = &pooled.blocks[round];
            format!("{:>12}", format!("{:.0}/{:.0}", last.quantile(0.5), last.quantile(0.99)))
        });
        println!("{round:>10} {}", shown.concat());
    }
    println!("{repeated} blocks repeated, because commanding ended in them");
    Some(pooled)
}

/// One block, repeated where it could not be measured; `None`, and why, where that goes on.
fn one(programs: &Programs, subject: Subject, cycles: u32, repeated: &mut u32) -> Option<Block> {
    for _ in 0..ATTEMPTS {
        let mut peer = Peer::new();
        let mut child = programs.start(subject, &peer, &[]);
        let block = peer.measure(child.id(), cycles);
        // Killed by its handle: it would otherwise try to connect again.
        let _ = child.kill();
        let _ = child.wait();
        match block {
            Ok(block) => return Some(block),
            Err(reason) => eprintln!("{}: {reason}; again", subject.name()),
        }
        *repeated += 1;
    }
    None
}
