//! Limits hold for every configuration that is accepted, and the worst plant it permits: positions, speeds, the printed coast.
//!
//! Configurations are drawn at random, sensible and not. Those that the check accepts run in virtual time opposite an arm that is
//! as slow, as late and as weak as the configuration says it may be, until something is cut off, the arm is held fast or a limit is
//! near. `OUTRIGGER_CONFIGURATIONS=100000` says how many; 2 000 without.
//!
//! That each bound is needed is shown by plants that are worse in one of them than the configuration permits.

mod draw;
mod krc;
mod ur;

/// How many configurations are to run.
fn configurations() -> u64 {
    std::env::var("OUTRIGGER_CONFIGURATIONS").map_or(2_000, |count| count.parse().expect("a number of configurations"))
}

/// What was found over many configurations.
#[derive(Debug, Default)]
struct Tally {
    drawn: u64,
    accepted: u64,
    /// Runs in which the arm moved.
    moved: u64,
    /// What was broken, by seed.
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

/// What one run showed.
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
    hold(&tally(configurations(), |seed| krc::run(seed, krc::Worse::Nothing)));
}

#[test]
fn what_is_drawn_at_the_bound_of_a_cross_check_is_accepted_and_just_beyond_it_refused() {
    for seed in 0..200 {
        ur::bounds_are_exact(seed);
        krc::bounds_are_exact(seed);
    }
}

/// Each is what a configuration would permit whose cross-check were left out.
#[test]
fn a_plant_that_is_worse_than_a_ur_configuration_permits_breaks_a_limit() {
    let unnoticed: Vec<_> = ur::Worse::EACH
        .into_iter()
        .filter(|worse| {
            let tally = tally(400, |seed| ur::run(seed, *worse));
            println!("{worse:?}: {} of {} break a limit", tally.broken.len(), tally.accepted);
            tally.broken.is_empty()
        })
        .collect();
    assert!(unnoticed.is_empty(), "nothing would notice {unnoticed:?}");
}

/// The same beside a KRC.
#[test]
fn a_plant_that_is_worse_than_a_krc_configuration_permits_breaks_a_limit() {
    let unnoticed: Vec<_> = krc::Worse::EACH
        .into_iter()
        .filter(|worse| {
            let tally = tally(400, |seed| krc::run(seed, *worse));
            println!("{worse:?}: {} of {} break a limit", tally.broken.len(), tally.accepted);
            tally.broken.is_empty()
        })
        .collect();
    assert!(unnoticed.is_empty(), "nothing would notice {unnoticed:?}");
}
