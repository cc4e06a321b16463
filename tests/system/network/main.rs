//! `outrigger run` on a network that loses, delays, repeats and reorders packets, opposite simulated controllers.
//! Both ends use the kernel's own TCP and UDP.
//!
//! Each row of the table is a test. A failed test is not repeated: its assertions hold for any packets, and a
//! fallback that a standstill of this machine caused is excused and counted, see `judge.rs`. `OUTRIGGER_BLESS=1`
//! observes each row for longer and writes `tests/tables/network.md`.

mod judge;
mod peer;
mod program;
mod relay;
mod rows;
mod run;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use outrigger_emulated::priority::Priority;
use outrigger_emulated::require::{self, Need, test};
use outrigger_emulated::tries;

use self::peer::Beside;
use self::rows::ROWS;

/// The time for which a test observes one row of network conditions; [`LONG`] is the time if it is to fill the table.
const SPAN: Duration = Duration::from_millis(1200);
const LONG: Duration = Duration::from_secs(4);
/// The number of runs with different seeds for each row in which packets are lost at random, if they are to fill the
/// table. The lost packets decide whether commanding ends.
const SEEDS: u64 = 5;
/// The number of tests, each of one row of network conditions, that run at once. Each needs little processor time.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    let writes = std::env::var_os("OUTRIGGER_BLESS").is_some_and(|value| value == "1");
    let span = if writes { LONG } else { SPAN };
    let mut tests = vec![];
    for (number, row) in ROWS.iter().enumerate() {
        for beside in Beside::ALL {
            let name = format!("{}: {}", beside.name(), row.name);
            let told = name.clone();
            tests.push(test(&name, &[Need::Root], move || {
                tries::runs(&told);
                let seeds = if writes && row.loses() { SEEDS } else { 1 };
                (0..seeds).for_each(|seed| one(beside, number, seed, span));
            }));
        }
    }
    if writes {
        let done = require::main_at_once(AT_ONCE, tests);
        table::write();
        return done;
    }
    tests.push(test("the table's rows and columns are those of the code", &[], table::is_of_this_code));
    require::main_at_once(AT_ONCE, tests)
}

fn one(beside: Beside, number: usize, seed: u64, span: Duration) {
    let _priority = Priority::ask();
    let seed = 10_000 * seed + 100 * (number as u64 + 1) + 2 * beside as u64;
    let left = run::run(beside, &ROWS[number], seed, span);
    let figures = judge::judge(beside, &ROWS[number], &left);
    table::add(beside, number, &left, &figures);
}
