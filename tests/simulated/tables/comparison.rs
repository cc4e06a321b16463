//! The comparison with the report of 2015: the effect of each mechanism, and a short form of its table.

use outrigger_tests::comparison::{COLUMNS, Figures, Mechanism, Mechanisms, Mode, compare};

use super::text::{hold, in_parallel, markdown};

/// The number of runs of each mode, as in the command that makes the full table.
const RUNS: u64 = 10;
/// The time for which the shoulder moves to and fro here \[s\]; 750 s in the report.
const LONG: f64 = 60.0;

/// A function that selects one figure of a run.
type Figure = fn(&Figures) -> f64;

/// Returns the mean of a figure over `runs` runs of the mode with this name.
fn mean(name: &str, mechanisms: Mechanisms, runs: u64, figure: Figure) -> f64 {
    let mode = Mode::named(name).unwrap_or_else(|| panic!("no mode {name}"));
    let seeds: Vec<u64> = (1..=runs).collect();
    let figures = in_parallel(&seeds, |seed| mode.run(mechanisms, seed).figures());
    figures.iter().map(figure).sum::<f64>() / runs as f64
}

#[test]
fn a_mechanism_that_is_taken_away_takes_its_share_of_the_delay_along() {
    let share = |name: &str, mechanism: Mechanism, figure: Figure, runs: u64| {
        let without = mean(name, Mechanisms::ALL.without(mechanism), runs, figure);
        mean(name, Mechanisms::ALL, runs, figure) - without
    };
    let (first, reaction, delay): (Figure, Figure, Figure) = (|run| run.first, |run| run.reaction, |run| run.delay);
    // 1002 lines, of which ten are free: 99.2 ms, rounded to the next cycle.
    let compiling = share("precomputed", Mechanism::Compiling, first, 4);
    assert!((compiling - 99.2).abs() < 8.0, "{compiling} ms");
    // A program that stays is not uploaded.
    let upload = |name: &str| share(name, Mechanism::Upload, first, 8);
    let (uploaded, stays) = (upload("threaded-1.8-0.08-uploaded"), upload("threaded-1.8-0.08-resident"));
    assert!((uploaded - 54.0).abs() < 8.0 && stays == 0.0, "{uploaded} and {stays} ms");
    // Text arrives at any time of a cycle and waits 5 ms longer on average: a whole cycle in five of eight runs.
    let latch = share("precomputed", Mechanism::Latch, first, 24);
    assert!((3.0..7.0).contains(&latch), "{latch} ms");
    // The filter follows a ramp late by the look-ahead time.
    let filter = share("threaded-0.008-0.1-resident", Mechanism::Filter, delay, 2);
    assert!((85.0..110.0).contains(&filter), "{filter} ms");
    // One cycle, and a lag of 10 ms in steps of 8 ms.
    let lag = 8.0 / ((8.0_f64 / 10.0).exp() - 1.0);
    let drive = share("speedj", Mechanism::Drive, delay, 2);
    assert!((drive - 8.0 - lag).abs() < 1.0, "{drive} ms");
    let halting = share("lines", Mechanism::Halting, reaction, 4);
    assert!(halting > 30.0, "{halting} ms");
    // A mechanism that a mode does not use makes no difference to it.
    for (name, mechanism) in
        [("speedj", Mechanism::Filter), ("speedj", Mechanism::Compiling), ("closed-loop", Mechanism::Halting)]
    {
        assert_eq!(share(name, mechanism, delay, 1), 0.0, "{name}: {mechanism:?}");
    }
}

#[test]
fn a_short_look_ahead_reacts_sooner_and_feedback_ends_nearer() {
    let reaction = |name| mean(name, Mechanisms::ALL, 2, |run| run.reaction);
    let [short, long] = ["threaded-0.008-0.03-resident", "threaded-0.008-0.1-resident"].map(reaction);
    assert!(short < long - 30.0, "{short} and {long} ms");
    let resident = reaction("threaded-1.8-0.008-resident");
    assert!(resident < reaction("threaded-1.8-0.008-uploaded"), "an upload takes time");
    let last = |name| mean(name, Mechanisms::ALL, 1, |run| run.last.abs());
    let [open, closed] = ["speedj-there", "closed-loop-there"].map(last);
    assert!(closed < 0.05 && open > 0.5, "{open}° and {closed}°");
    let missed = mean("lines", Mechanisms::ALL, 2, |run| run.missed);
    assert!(missed > 1.0, "streamed lines miss the extreme: {missed}°");
}

#[test]
fn the_same_seed_is_the_same_run() {
    for name in ["lines", "threaded-1.8-0.008-uploaded", "buffered-slider"] {
        let mode = Mode::named(name).unwrap();
        let runs = [3, 3, 4].map(|seed| mode.run(Mechanisms::ALL, seed).samples);
        assert_eq!(runs[0], runs[1], "{name}");
        assert_ne!(runs[0], runs[2], "{name}");
    }
}

#[test]
fn every_way_of_2015_stands_beside_those_of_today() {
    let mut rows = compare(&Mode::all(), Mechanisms::ALL, RUNS);
    rows.extend(compare(&[Mode::long(LONG)], Mechanisms::ALL, 1));
    let cells: Vec<_> = rows.iter().map(|row| row.cells(&rows)).collect();
    hold("comparison.md", &(HEAD.to_owned() + &markdown(&COLUMNS, &cells)));
}

#[test]
fn a_thread_of_speedj_is_later_than_streamed_text_at_125_hz() {
    let [threaded, streamed] =
        ["reverse-speedj", "speedj"].map(|name| mean(name, Mechanisms::ALL, 2, |run| run.reaction));
    assert!((2.0..9.0).contains(&(threaded - streamed)), "{threaded} and {streamed} ms");
    assert!(HEAD.contains("is later than `speedj` streamed as text at 125 Hz"));
}

#[test]
fn the_table_itself_says_where_simulation_and_report_disagree() {
    let page = include_str!("../../tables/comparison.md");
    let table: String = page.lines().filter(|line| line.starts_with('|')).collect::<Vec<_>>().join("\n");
    for disagreement in [
        "the base joint moves here, the end joint in the report",
        "delay: 206 ms here, 160 ms reported: 46 ms",
        "later than streamed at 125 Hz here, not later in the report",
        "no oscillation here",
        "final error: −0.33° here, −1.50° reported",
        "final error: −0.10° here, 0.30° reported: −0.40°, and of the other sign",
        "the one tuned parameter",
    ] {
        assert!(table.contains(disagreement), "{disagreement}");
    }
}

const HEAD: &str = "# The comparison of 2015, in simulation

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::comparison`, in virtual time: ten runs of each way,
and one of the shoulder, of 60 s. The last column has where simulation and report disagree. With
750 s, ten runs of that too, plots and what each mechanism contributes, the same is made by

```sh
cargo run --release -p outrigger-tests --example comparison -- --report comparison.html
```

The base joint goes to −180° in 2 s and back in 2 s, cubic in between. Time begins when the client is asked to move the arm; for
Outrigger's paths with the state that the first command of the motion answers, when its program has long been there.

* *first motion*: until the joint moves at all;
* *reaction*: how much later than its reference the joint is one degree on its way;
* *delay*: the shift in time of the whole motion that fits it best; negative where the joint is ahead;
* *tracking error*: largest distance from the reference, as it is and shifted by that delay;
* *extreme missed by*: what is missing to −180°; negative where the joint went beyond;
* *final error*: one second after the end;
* *velocity ripple*: root mean square of how far the joint's speed is from its own mean over 80 ms;
* *end deceleration*: largest from a tenth of a second before the reference's end on; the reference's own is 4.7 rad/s².

Times are the mean of the runs and how far one was from it at most; the rest is the worst run. `servoj` by Outrigger's program and
closed-loop `speedj` have the feedback of the law (P = 20 /s, D = 0.1), which makes up for the delay and a little more; the others have none. Under
changing speed scaling the slider goes to 50 % after 0.7 s, to 20 % after 1.9 s and to 100 % after 3.2 s, and Outrigger's reference
slows down with it. Where the scaling rises (the controller's by 4 /s), a motion of the law gathers speed by 2.5 /s, and is later by as much. The reference of the player's `movej` is that move itself: even acceleration, speed and deceleration, 2 s. What the
player makes is the second of two motions, since before the first the arm must have stood for 0.2 s. What is assumed stands beside each mechanism in the command's page.

**`speedj` in a thread is later than `speedj` streamed as text at 125 Hz**: a program of ours takes an order in one control cycle and moves by it in the
next, where a line of text moves the arm in the cycle that takes it up. The report of 2015 found no difference; row \"`speedj` by Outrigger's program\"
has both.

";
