//! Random sequences of services, goals and cancellations, from a seed. Some assertions must hold after any of them.

use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, test, version};
use crate::recorded::seconds;

const NEEDS: &[Need] = &[Need::Python];

/// The default duration of a random sequence of services, goals and cancellations \[s\].
const SECONDS: u64 = 8;
/// The limit on the duration of a random sequence of services, goals and cancellations, also in the nightly run.
const LONGEST: Duration = Duration::from_secs(30);

/// Returns the seed of the random sequence: `OUTRIGGER_ROS2_SEED`, or a default.
fn seed() -> String {
    std::env::var("OUTRIGGER_ROS2_SEED").unwrap_or_else(|_| "17".into())
}

fn random(software: SoftwareVersion, path: &str) {
    let (seconds, seed) = (seconds(SECONDS).min(LONGEST).as_secs().to_string(), seed());
    let mut cell = Cell::commanding(software, path);
    let found = cell.judge_by("judge_random.py", &[&seconds, &seed]);
    println!("{software} by {path}, seed {seed}: {found:#?}");
    assert_eq!(found["done"], "yes");
    assert!(cell.is_alive(), "seed {seed}: the node has ended");
    let said = cell.said();
    assert!(!said.contains("panicked"), "seed {seed}: {said}");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("whatever_is_asked_of_an_e_series_holds", NEEDS, || random(version(5, 15), "reverse-speedj")),
        test("whatever_is_asked_of_a_player_on_a_cb3_holds", NEEDS, || random(version(3, 15), "player")),
        test("whatever_is_asked_of_a_cb2_holds", NEEDS, || random(version(1, 8), "text")),
    ]
}
