//! Checks that limits hold for every accepted configuration with the worst plant that it permits: positions, speeds,
//! and the printed coasting distance.
//!
//! Configurations are drawn at random; some are not sensible. Those that the check accepts run in virtual time with
//! an arm that is as slow, as late and as weak as the configuration permits, until a connection is cut, the arm is
//! held or a limit is near. The code that reads a configuration file also draws it: the test fails if a key is never
//! drawn. `OUTRIGGER_CONFIGURATIONS=100000` sets the number of configurations; the default is 2 000. On every other
//! path, the program text that is sent runs in the interpreter, over a network that delays, loses and repeats; the
//! default is 120 configurations on each path.
//!
//! Plants that are worse in one property than the configuration permits show that each bound is needed.

mod draw;
mod drawn;
mod krc;
mod torques;
mod ur;
mod ways;

use std::collections::BTreeSet;
use std::sync::Mutex;

use outrigger_tests::cosim::Way;
use outrigger_tests::in_parallel;

use self::ways::{Keys, Worst};
use crate::tables::text;

/// Returns the number of random configurations that each test runs.
fn configurations() -> u64 {
    std::env::var("OUTRIGGER_CONFIGURATIONS").map_or(2_000, |count| count.parse().expect("a number of configurations"))
}

/// The combined results of many configurations.
#[derive(Debug, Default)]
struct Tally {
    drawn: u64,
    accepted: u64,
    /// The number of runs in which the arm moved.
    moved: u64,
    /// The violated limits, each with the seed of its configuration.
    broken: Vec<(u64, String)>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.drawn += other.drawn;
        self.accepted += other.accepted;
        self.moved += other.moved;
        self.broken.extend(other.broken);
    }
}

/// Runs `each` for seeds from 0 on, on every processor, until enough configurations were accepted.
fn tally(count: u64, each: impl Fn(u64) -> Option<Run> + Sync) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let part = |first: u64| {
        let mut tally = Tally::default();
        let mut seed = first;
        while tally.accepted < count.div_ceil(threads) {
            tally.drawn += 1;
            if let Some(run) = each(seed) {
                tally.accepted += 1;
                tally.moved += u64::from(run.moved);
                tally.broken.extend(run.broken.map(|what| (seed, what)));
            }
            seed += threads;
            assert!(tally.drawn < 100 * count + 1_000, "hardly any configuration is accepted");
        }
        tally
    };
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        running.into_iter().for_each(|thread| all.add(thread.join().expect("a thread that ends")));
    });
    all.broken.sort();
    all
}

/// The result of the run of one configuration.
#[derive(Debug)]
struct Run {
    moved: bool,
    broken: Option<String>,
}

fn hold(tally: &Tally) {
    println!("{} drawn, {} accepted, in {} of them the arm moved", tally.drawn, tally.accepted, tally.moved);
    let first: Vec<_> = tally.broken.iter().take(5).collect();
    assert!(tally.broken.is_empty(), "{} configurations break a limit, first {first:#?}", tally.broken.len());
    assert!(tally.accepted * 10 >= tally.drawn * 3, "a good share is accepted: {tally:?}");
    assert!(tally.moved * 2 >= tally.accepted, "most of them move: {tally:?}");
}

#[test]
fn limits_and_coast_hold_for_every_accepted_configuration_of_a_ur_controller() {
    hold(&tally(configurations(), |seed| ur::run(seed, ur::Worse::Nothing)));
}

#[test]
fn limits_and_coast_hold_for_every_accepted_configuration_of_a_krc() {
    let keys = Mutex::new(Keys::default());
    hold(&tally(configurations(), |seed| {
        let mut own = Keys::default();
        let run = krc::run(seed, krc::Worse::Nothing, &mut own);
        keys.lock().expect("nobody panics with it").extend(own);
        run
    }));
    none_forgotten(&keys.into_inner().expect("nobody panicked with it"));
}

#[test]
fn what_is_drawn_at_the_bound_of_a_cross_check_is_accepted_and_just_beyond_it_refused() {
    for seed in 0..200 {
        ur::bounds_are_exact(seed);
        krc::bounds_are_exact(seed);
    }
}

/// Fails if a plant that is worse in one of `each` breaks no limit in any run. Each is a plant that a configuration
/// without the respective cross-check would permit.
fn each_is_noticed<W: Copy + std::fmt::Debug + Sync>(each: &[W], run: impl Fn(u64, W) -> Option<Run> + Sync) {
    let unnoticed: Vec<_> = each
        .iter()
        .filter(|worse| {
            let tally = tally(400, |seed| run(seed, **worse));
            println!("{worse:?}: {} of {} break a limit", tally.broken.len(), tally.accepted);
            tally.broken.is_empty()
        })
        .collect();
    assert!(unnoticed.is_empty(), "nothing would notice {unnoticed:?}");
}

#[test]
fn a_plant_that_is_worse_than_a_ur_configuration_permits_breaks_a_limit() {
    each_is_noticed(&ur::Worse::EACH, ur::run);
}

#[test]
fn a_plant_that_is_worse_than_a_krc_configuration_permits_breaks_a_limit() {
    each_is_noticed(&krc::Worse::EACH, |seed, worse| krc::run(seed, worse, &mut Keys::default()));
}

/// Returns the number of configurations to run on each command path.
fn on_each_way() -> u64 {
    std::env::var("OUTRIGGER_CONFIGURATIONS")
        .map_or(ON_EACH_WAY, |count| count.parse().expect("a number of configurations"))
}

/// The default number of configurations on each path.
const ON_EACH_WAY: u64 = 120;

/// The configuration keys that need not occur in any accepted configuration of these tests, each with the reason.
const NOT_SWEPT: &[(&str, &str)] = &[
    ("operator.request_input", "no input of the robot is wired in the sweep"),
    ("operator.acknowledge_input", "no input of the robot is wired in the sweep"),
    ("operator.stop_input", "no input of the robot is wired in the sweep"),
    ("robot.handshake", "the KRL program of the plant speaks the one of the default"),
    ("robot.superpose", "the KRL program of the plant moves nothing by itself"),
];

/// Fails if a key was present in no accepted configuration and is no exception, or if an exception outside `[robot]` is
/// not a key.
fn none_forgotten(Keys { asked, stood }: &Keys) {
    let except: BTreeSet<_> = NOT_SWEPT.iter().map(|(key, _)| (*key).to_owned()).collect();
    let forgotten: Vec<_> = asked.difference(stood).filter(|key| !except.contains(*key)).collect();
    assert!(forgotten.is_empty(), "in no accepted configuration: {forgotten:?}");
    let unknown: Vec<_> = except.iter().filter(|key| !asked.contains(*key) && !key.starts_with("robot.")).collect();
    assert!(unknown.is_empty(), "no keys: {unknown:?}");
}

/// Runs `count` accepted configurations on one command path. Returns the number drawn, the number in which the arm
/// moved, the worst values, and the violations.
fn sweep(way: Way, count: u64, keys: &Mutex<Keys>) -> (u64, u64, Worst, Vec<(u64, String)>) {
    let (mut seed, mut accepted, mut moved, mut worst, mut broken) = (0, 0, 0, Worst::NOTHING, vec![]);
    let mut own = Keys::default();
    while accepted < count {
        assert!(seed < 100 * count, "{}: hardly any configuration is accepted", way.name());
        if let Some(run) = ways::run(way, seed, &mut own) {
            accepted += 1;
            moved += u64::from(run.moved);
            worst = worst.worse_of(run.worst);
            broken.extend(run.broken.map(|what| (seed, what)));
        }
        seed += 1;
    }
    keys.lock().expect("nobody panics with it").extend(own);
    (seed, moved, worst, broken)
}

#[test]
fn limits_and_coast_hold_on_every_way_to_a_ur_controller() {
    let count = on_each_way();
    let all: Vec<_> = Way::ALL.into_iter().chain([Way::PLAYER]).collect();
    let keys = Mutex::default();
    let swept = in_parallel(&all, |way| (way, sweep(way, count, &keys)));
    let mut wrong = vec![];
    let rows: Vec<_> = swept
        .iter()
        .map(|(way, (drawn, moved, worst, broken))| {
            let first: Vec<_> = broken.iter().take(3).collect();
            if !broken.is_empty() {
                wrong.push(format!("{}: {} of {count} break a limit, first {first:#?}", way.name(), broken.len()));
            }
            if moved * 2 < count {
                wrong.push(format!("{}: most of them move, not {moved} of {count}", way.name()));
            }
            let [speed, acceleration, stopping] =
                [worst.speed, worst.acceleration, worst.stopping].map(|share| format!("{:.1} %", share * 1e2));
            vec![
                way.name(),
                drawn.to_string(),
                moved.to_string(),
                speed,
                acceleration,
                format!("{:.2}", worst.beyond * 1e3),
                stopping,
            ]
        })
        .collect();
    rows.iter().for_each(|row| println!("{}", row.join(" | ")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    none_forgotten(&keys.into_inner().expect("nobody panicked with it"));
    if count == ON_EACH_WAY {
        let columns =
            ["path", "drawn", "moved", "speed", "acceleration", "beyond a position \\[mrad\\]", "way to rest"];
        text::hold(
            "ways.md",
            &format!(
                "# Limits on every path\n\nOf each path {count} accepted configurations, drawn over every key of a file, beside the worst \
             network, plant and law that they permit: the highest speed and acceleration of a joint and the longest way to rest, as \
             shares of what is permitted, and how far a joint went beyond a limit of its position (below 0: it stayed within). The \
             arm did not move where the drawn configuration never lets it. Made by `tests/simulated/limits`.\n\n{}",
                text::markdown(&columns, &rows)
            ),
        );
    }
}

#[test]
fn torque_speed_and_travel_hold_on_every_way_that_takes_torques() {
    let count = on_each_way();
    let keys = Mutex::default();
    let swept = in_parallel(&Way::TORQUES, |way| (way, sweep(way, count, &keys)));
    let mut wrong = vec![];
    for (way, (drawn, moved, worst, broken)) in swept {
        let name = way.name();
        println!("{name}: {drawn} drawn, {moved} of {count} moved, {worst:?}");
        let first: Vec<_> = broken.iter().take(3).collect();
        if !broken.is_empty() {
            wrong.push(format!("{name}: {} of {count} break a bound, first {first:#?}", broken.len()));
        }
        if moved * 2 < count {
            wrong.push(format!("{name}: most of them move, not {moved} of {count}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Keys { stood, .. } = keys.into_inner().expect("nobody panicked with it");
    for key in ["limits.torque", "limits.torque_rise", "limits.travel", "servo.torque_gain"] {
        assert!(stood.contains(key), "{key} stood in no accepted configuration: {stood:?}");
    }
}
