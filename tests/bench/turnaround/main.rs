//! Measures the host turnaround, from the time a state leaves the controller to the time the command arrives there, and
//! compares it with a bare C loop. Also measures the cost of listeners for the answering thread.
//!
//! The time includes two ways through the kernel, the wake-up, and our own part: from the end of reading a state to the
//! end of writing its command. `demo` and `run` report this part, and `port-linux/cli/examples/turnaround-trace.sh`
//! compares it with a trace of the system calls.
//!
//! ```sh
//! cargo build --release -p outrigger-cli
//! cargo run --release -p outrigger-bench --bin turnaround [ROUNDS [CYCLES]]
//! cargo run --release -p outrigger-bench --bin turnaround -- --counts
//! ```
//!
//! With `--ros2` before the other arguments, and the program built with the feature `ros2`: measures the cost of a ROS
//! 2 node and twenty readers, for either kind of measurement.
//!
//! Short blocks of the programs alternate within one run, each as a separate process with the same load, so that other
//! work of the machine affects all of them. All answers of all blocks of each are compared. Counts need `strace` and
//! Valgrind, and do not depend on other work of the machine: the controller sends its next state after the answer has
//! arrived, and the program's clock advances with the states (`lockstep.c`). The exit code is 1 if a budget is
//! exceeded. Needs a C compiler.

mod counts;
mod ours;
mod peer;
mod pooled;
mod subject;

use std::process::ExitCode;

use outrigger::config::BusyPoll;
use outrigger::host::set_fifo;

use self::peer::{Block, Peer};
use self::pooled::{Pooled, between_kinds, ratio_of_pairs};
use self::subject::{Programs, Subject};

/// The highest number of attempts to measure one block of cycles. On a busy machine the simulated controller itself is
/// delayed at times, and the arm stops.
const ATTEMPTS: usize = 5;
/// The `SCHED_FIFO` priority of this program and of the measured programs, if it is permitted.
const PRIORITY: u8 = 20;
/// The budget of the ratio of the engine's answer times to those of the bare C loop, for the median and the 99 %
/// quantile.
const RATIO_BUDGET: f64 = 1.1;
/// The budgets of the ratio of the engine's answer times with `busy_poll = "auto"` to those of the bare C loop, which
/// sleeps, for the median and the 99 % quantile.
const BUSY_BUDGETS: [(f64, f64); 2] = [(0.5, 0.5), (0.99, 0.8)];
/// The budget by which the engine's share of answered cycles may be below that of the bare C loop, in percentage
/// points.
const ANSWERED_BUDGET: f64 = 0.1;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--ours", port_base, polls @ ..] = words.as_slice() {
        let polls = match polls {
            [] => BusyPoll::Off,
            ["always"] => BusyPoll::Always,
            _ => BusyPoll::Automatic,
        };
        ours::run(port_base.parse().expect("a port base"), polls);
        return ExitCode::SUCCESS;
    }
    if cfg!(debug_assertions) {
        eprintln!("these are times of a debug build; add --release");
    }
    let by_ros = words.iter().position(|word| *word == "--ros2").map(|at| words.remove(at)).is_some();
    let programs = Programs::find().and_then(|mut programs| {
        if by_ros {
            programs.listen_by_ros()?;
        }
        Ok(programs)
    });
    let programs = match programs {
        Ok(programs) => programs,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    };
    let mut verdict = Verdict::default();
    let number = |index: usize, default: u32| {
        words.get(index).map_or(default, |text| text.parse().expect("ROUNDS and CYCLES are numbers"))
    };
    match (words == ["--counts"], by_ros) {
        (true, false) => counts::count(&programs, &mut verdict),
        (true, true) => counts::count_ros(&programs, &mut verdict),
        (false, false) => compare(&programs, number(0, 60), number(1, 500), &mut verdict),
        (false, true) => beside(&programs, [Subject::Ros], number(0, 60), number(1, 500), &mut verdict),
    }
    if verdict.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The result of all budget checks: `missed` is `true` if a budget was exceeded or a measurement is missing.
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
    // All programs inherit it. Without it, other work of the machine interrupts load and programs.
    let scheduling = match set_fifo(PRIORITY) {
        Ok(()) => "SCHED_FIFO for load and programs".into(),
        Err(error) => format!("time-sharing scheduler (SCHED_FIFO refused: {error})"),
    };
    println!("{rounds} rounds, blocks of {cycles} cycles of 2 ms; {scheduling}; load of the machine {}", busy());
    let against_bare =
        measured(programs, &[Subject::Bare, Subject::Poll, Subject::Ours, Subject::Busy], rounds, cycles);
    if let Some([bare, poll, ours, awake]) = against_bare.as_deref() {
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
        for (share, budget) in BUSY_BUDGETS {
            let ([awake, bare], percent) = ([awake, bare].map(|of| of.quantile(share)), share * 100.0);
            let ratio = awake / bare;
            let text = format!("p{percent:.0} with busy_poll: {awake:.1} to {bare:.1} µs, {ratio:.2}, budget {budget}");
            verdict.line(ratio <= budget, text);
        }
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
    verdict.line(against_bare.is_some(), format!("all blocks measured; load of the machine {}", busy()));
    beside(programs, [Subject::View, Subject::Json], rounds, cycles, verdict);
}

/// Measures programs with the listeners `listened`, and checks their 99 % quantiles of the answer times. The ratio to a
/// program without listeners must not exceed the ratio that occurs between two equal programs.
fn beside<const N: usize>(
    programs: &Programs,
    listened: [Subject; N],
    rounds: u32,
    cycles: u32,
    verdict: &mut Verdict,
) {
    let subjects = [&[Subject::Run, Subject::RunAgain], &listened[..]].concat();
    let Some(measured) = measured(programs, &subjects, rounds, cycles) else {
        return verdict.line(false, "not all blocks were measured".into());
    };
    let [run, again, listened_to @ ..] = &measured[..] else { return };
    // Half a spread on each side, whatever the order of the two.
    let spread = |share| ratio_of_pairs(again, run, 0.99, share);
    let (low, high) = (spread(0.05), spread(0.95));
    println!("p99 of equal blocks, pair by pair: {low:.2} to {high:.2} (5 to 95 %)");
    for (subject, pooled) in listened.iter().zip(listened_to) {
        let ratio = ratio_of_pairs(pooled, run, 0.99, 0.5);
        verdict.line(ratio <= high, format!("p99 with {}: {ratio:.2} of that without", subject.listens()));
    }
}

/// Measures `rounds` blocks of cycles of each of these programs, which take turns. Returns `None` if a block fails
/// repeatedly.
fn measured(programs: &Programs, subjects: &[Subject], rounds: u32, cycles: u32) -> Option<Vec<Pooled>> {
    let mut pooled: Vec<Pooled> = subjects.iter().map(|_| Pooled::default()).collect();
    let mut repeated = 0;
    println!("p50/p99 µs {}", subjects.iter().map(|subject| format!("{:>12}", subject.name())).collect::<String>());
    for round in 0..rounds as usize {
        // The order alternates as well.
        for turn in 0..subjects.len() {
            let index = (round + turn) % subjects.len();
            pooled[index].blocks.push(one(programs, subjects[index], cycles, &mut repeated)?);
        }
        let shown = pooled.iter().map(|pooled| {
            let last = &pooled.blocks[round];
            format!("{:>12}", format!("{:.0}/{:.0}", last.quantile(0.5), last.quantile(0.99)))
        });
        println!("{round:>10} {}", shown.collect::<String>());
    }
    println!("{repeated} blocks repeated, because commanding ended in them");
    Some(pooled)
}

/// Measures one block of cycles of a program, and repeats it if it failed. Returns `None` if all attempts fail, and
/// prints the reason of each.
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
