//! Host turnaround: from a state's leaving the controller to the command's arrival there, against a bare C loop.
//!
//! That is the way through the kernel twice and the waking up, with our own part between them: from the end of reading a
//! state to the end of writing its command, which `demo` and `run` tell and `port-linux/examples/turnaround-trace.sh`
//! compares with a trace of the system calls.
//!
//! `cargo run --release -p outrigger-tests --example turnaround [BLOCKS [CYCLES]]`
//!
//! Blocks of the two programs alternate within one run, each a process of its own beside the same load, so that
//! whatever else the machine does meets both. It exits with 1 where a budget is missed. Needs a C compiler. On a
//! virtual machine, waking a halted processor costs as much as the rest: expect two kinds of blocks, and take many.

mod ours;
mod peer;

use std::env::current_exe;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use outrigger::host::set_fifo;
use peer::{Block, Peer};

/// Attempts at one block: on a busy machine the load itself is held up at times, and the arm then stopped.
const ATTEMPTS: usize = 5;
/// Of `SCHED_FIFO`, where that is allowed.
const PRIORITY: u8 = 20;
const RATIO_BUDGET: f64 = 1.2;
/// Percentage points.
const ANSWERED_BUDGET: f64 = 0.1;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, port_base] = arguments.as_slice()
        && role == "--ours"
    {
        ours::run(port_base.parse().expect("a port base"));
        return ExitCode::SUCCESS;
    }
    let number = |index: usize, default: u32| {
        arguments.get(index).map_or(default, |text| text.parse().expect("BLOCKS and CYCLES are numbers"))
    };
    if cfg!(debug_assertions) {
        eprintln!("these are times of a debug build; add --release");
    }
    match compile() {
        Ok(bare) => compare(&bare, number(0, 20), number(1, 1000)),
        Err(reason) => {
            eprintln!("the bare loop needs a C compiler as `cc`: {reason}");
            ExitCode::from(2)
        }
    }
}

fn compile() -> Result<PathBuf, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/turnaround/bare.c");
    let program = current_exe().map_err(|e| e.to_string())?.with_file_name("turnaround_bare");
    let status = Command::new("cc").args(["-O2", "-Wall", "-Wextra", "-o"]).arg(&program).arg(source).status();
    match status {
        Ok(status) if status.success() => Ok(program),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn compare(bare: &Path, blocks: u32, cycles: u32) -> ExitCode {
    let busy = || std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    // Both programs inherit it. Where it is not allowed, other work on the machine pushes load and programs aside.
    let scheduling = match set_fifo(PRIORITY) {
        Ok(()) => "SCHED_FIFO for load and programs".into(),
        Err(error) => format!("time-sharing scheduler (SCHED_FIFO refused: {error})"),
    };
    println!("{blocks} blocks of {cycles} cycles of 2 ms each; {scheduling}; load of the machine {}", busy().trim());
    println!("block    bare p50   p99 µs    ours p50   p99 µs   ratio p50   p99");
    let processors = sched_getaffinity(None).expect("an affinity");
    let (mut p50, mut p99, mut repeated) = (vec![], vec![], 0);
    let (mut bares, mut ours) = (vec![], vec![]);
    for number in 1..=blocks {
        let mut pair = [None, None];
        // Who goes first alternates as well.
        for subject in [number % 2, (number + 1) % 2] {
            pair[subject as usize] = measured(subject == 1, bare, cycles, &processors, &mut repeated);
        }
        let [Some(b), Some(o)] = pair else { return ExitCode::FAILURE };
        p50.push(o.quantile(0.5) / b.quantile(0.5));
        p99.push(o.quantile(0.99) / b.quantile(0.99));
        println!(
            "{number:>5} {:>11.1} {:>8.1} {:>11.1} {:>8.1} {:>11.2} {:>5.2}",
            b.quantile(0.5),
            b.quantile(0.99),
            o.quantile(0.5),
            o.quantile(0.99),
            p50[p50.len() - 1],
            p99[p99.len() - 1],
        );
        bares.push(b);
        ours.push(o);
    }
    println!("load of the machine {}; {repeated} blocks repeated, because commanding ended in them", busy().trim());
    verdict(&p50, &p99, &bares, &ours)
}

fn verdict(p50: &[f64], p99: &[f64], bares: &[Block], ours: &[Block]) -> ExitCode {
    let mean = |of: &dyn Fn(&Block) -> f64, blocks: &[Block]| blocks.iter().map(of).sum::<f64>() / blocks.len() as f64;
    let (bare_answered, our_answered) = (mean(&Block::answered_percent, bares), mean(&Block::answered_percent, ours));
    let (bare_wakes, our_wakes) = (mean(&|b| b.wakes_per_cycle, bares), mean(&|b| b.wakes_per_cycle, ours));
    let threads = ours.iter().map(|block| block.threads).max().unwrap_or_default();
    let mut met = true;
    let mut line = |held: bool, text: String| {
        met &= held;
        println!("{} {text}", if held { "ok  " } else { "OVER" });
    };
    for (name, ratios) in [("p50", p50), ("p99", p99)] {
        let ratio = median(ratios);
        line(ratio <= RATIO_BUDGET, format!("{name}: median ratio {ratio:.2}, budget {RATIO_BUDGET}"));
    }
    line(
        our_answered >= bare_answered - ANSWERED_BUDGET,
        format!("answered within their cycle: {our_answered:.2} %, the bare loop {bare_answered:.2} %"),
    );
    // The primary interface's ten states per second wake it too.
    line(our_wakes < 1.1, format!("wake-ups per cycle: {our_wakes:.3}, the bare loop {bare_wakes:.3}, budget 1.1"));
    line(threads == 1, format!("threads: {threads}"));
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[sorted.len() / 2] + sorted[(sorted.len() - 1) / 2]) / 2.0
}

/// One block, repeated where it could not be measured; `None`, and why, where that goes on.
fn measured(ours: bool, bare: &Path, cycles: u32, processors: &CpuSet, repeated: &mut u32) -> Option<Block> {
    for _ in 0..ATTEMPTS {
        let mut peer = Peer::new();
        let mut child = start(ours, bare, &peer, processors);
        let block = peer.measure(child.id(), cycles);
        // Killed by its handle: it would otherwise try to connect again.
        let _ = child.kill();
        let _ = child.wait();
        match block {
            Ok(block) => return Some(block),
            Err(reason) => eprintln!("{}: {reason}; again", if ours { "ours" } else { "bare" }),
        }
        *repeated += 1;
    }
    None
}

/// The program on the last processor, the load on the others: neither is to push the other aside.
fn start(ours: bool, bare: &Path, peer: &Peer, processors: &CpuSet) -> Child {
    let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| processors.is_set(*cpu)).expect("a processor");
    let (mut alone, mut others) = (CpuSet::new(), *processors);
    alone.set(last);
    if processors.count() > 1 {
        others.unset(last);
    }
    let run_on = |set: &CpuSet| sched_setaffinity(None, set).expect("processors of this process");
    run_on(&alone);
    let child = if ours {
        Command::new(current_exe().expect("this program")).arg("--ours").arg(peer.port_base().to_string()).spawn()
    } else {
        Command::new(bare).arg(peer.realtime_port().to_string()).spawn()
    };
    run_on(&others);
    child.expect("the program starts")
}
