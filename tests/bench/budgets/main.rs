//! Prints the costs of the budgeted operations on this machine.
//!
//! `cargo run --release -p outrigger-bench --bin budgets`

mod counting;
mod operations;

use std::time::Instant;

use outrigger_cycles::{answering, cycle};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const BATCH: u32 = 1000;
const BATCHES: usize = 301;
/// The number of engine cycles that are timed: 3 s beside a UR controller (2 ms per cycle), and 1.5 s beside a KRC
/// (1 ms per cycle), of a joint motion of 4 s.
const CYCLES: usize = 1500;

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("these are times of a debug build; add --release");
    }
    println!("{:<58} {:>8} {:>8} {:>8} {:>7}", "operation", "median", "fastest", "budget", "allocs");
    for mut operation in operations::all() {
        let nanoseconds = (0..BATCHES).map(|_| batch(&mut operation.run)).collect();
        print(operation.name, nanoseconds, operation.budget, counting::requests(&mut operation.run));
    }
    cycle::each(|name, _, cycle| {
        let answer = |_| {
            cycle.prepare();
            let elapsed = once(|| cycle.answer());
            assert!(cycle.is_commanding(), "every state is answered");
            elapsed
        };
        let nanoseconds = (0..CYCLES).map(answer).collect();
        cycle.prepare();
        print(name, nanoseconds, 1000, counting::requests(|| cycle.answer()));
    });
    answering::each(|name, _, answering| {
        let answer = |_| {
            answering.prepare();
            let elapsed = once(|| answering.answer());
            assert!(answering.is_commanding(), "every measurement is answered");
            elapsed
        };
        let nanoseconds = (0..CYCLES).map(answer).collect();
        answering.prepare();
        print(name, nanoseconds, 1000, counting::requests(|| answering.answer()));
    });
}

fn print(name: &str, mut nanoseconds: Vec<f64>, budget: u32, allocations: u64) {
    nanoseconds.sort_by(f64::total_cmp);
    let (median, fastest) = (nanoseconds[nanoseconds.len() / 2], nanoseconds[0]);
    println!("{name:<58} {median:>5.0} ns {fastest:>5.0} ns {budget:>5} ns {allocations:>7}");
}

/// Executes `run` once and returns its duration \[ns\], including about 25 ns for reading the clock.
#[expect(clippy::disallowed_methods, reason = "this program measures time")]
fn once(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_nanos() as f64
}

/// Executes `run` [`BATCH`] times and returns its mean duration \[ns\].
#[expect(clippy::disallowed_methods, reason = "this program measures time")]
fn batch(run: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}
