//! Prints what the budgeted operations cost on this machine.
//!
//! `cargo run --release -p outrigger-tests --example budgets`

mod counting;
mod operations;

use std::time::Instant;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const BATCH: u32 = 1000;
const BATCHES: usize = 301;

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("these are times of a debug build; add --release");
    }
    println!("{:<58} {:>8} {:>8} {:>8} {:>7}", "operation", "median", "fastest", "budget", "allocs");
    for mut operation in operations::all() {
        let mut nanoseconds: Vec<f64> = (0..BATCHES).map(|_| batch(&mut operation.run)).collect();
        nanoseconds.sort_by(f64::total_cmp);
        let allocations = counting::requests(&mut operation.run);
        println!(
            "{:<58} {:>5.0} ns {:>5.0} ns {:>5} ns {:>7}",
            operation.name,
            nanoseconds[BATCHES / 2],
            nanoseconds[0],
            operation.budget,
            allocations
        );
    }
}

/// Nanoseconds of one run, over a batch.
#[expect(clippy::disallowed_methods, reason = "this program measures time")]
fn batch(run: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}
