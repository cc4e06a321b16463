//! The committed table of figures.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::SEEDS;
use super::judge::Figures;
use super::peer::Beside;
use super::rows::ROWS;
use super::run::Left;

const COLUMNS: [&str; 10] = [
    "what happens to the packets",
    "packets",
    "lost / doubled / held back",
    "commanded",
    "fallbacks",
    "arming ended",
    "commands per state",
    "latest rest [ms]",
    "farthest coast / printed [rad]",
    "turnaround [µs]",
];

/// The index of the column `commanded` in the table of network conditions.
const COMMANDED: usize = 3;

const HEAD: &str = "\
# The program on a network that loses, delays, repeats and reorders packets

Made by `OUTRIGGER_BLESS=1 .ci/realtime network`, as root, in real time: figures of one
run, other runs differ. The machine: virtual, two processors, Linux, real-time priority for everything that takes part; four
rows at a time.

`outrigger run` is beside a simulated controller in a network namespace of their own. Both use the kernel's TCP or UDP,
and the only way between them is a tun interface. A relay reads each packet from it, swaps source and destination, and
writes it back: at once, later, twice, or never. What is lost, TCP repeats; what a KRC sends is gone. A seeded generator
decides for each packet by itself, in both directions alike. Delay and jitter hold from the start, the rest from the first
command on. The base joint goes back and forth, as fast as limits permit. Where commanding ends, an operator waits,
acknowledges, requests, and repeats a request that led nowhere.

* *packets*, *lost / doubled / held back*: counted by the relay, both directions, from the start to the end.
* *commanded*: share of the time from the first command on in which the program was in Command. Where packets are lost at
  random, the row is the run with the middle share of five, each with another seed, and the least and the most of them stand
  behind it. One seed says little there: the generator decides for one packet after the other, so that a program which sends
  one packet more or less has others lost. With one seed, which happened to be the table's, a loop that reads port 30003 every
  50 ms was commanded 97 % of the time at 3 % loss by RTDE, and one that reads it at once 12 to 88 %; over ten seeds of 1.2 s it
  was 14 to 100 %, the middle 38 %, and 6 to 100 %, the middle 55 %, by the same reasons.
* *fallbacks*: why it left Command, as the program names it.
* *arming ended*: why a request led to no command; where nothing is commanded and this is empty, the controller's or our own
  grade of the link, or our age limit, stood against it.
* *commands per state*: motion commands that the controller took, beside UR; measurements that were answered in their own
  cycle, beside a KRC. Both per state that the controller sent in that time.
* *latest rest*: from the end of Command to the rest of the simulated arm (below 0.001 rad/s), at worst; the release at the
  end of the run is among them.
* *farthest coast / printed*: how far a joint moved after that, or after a cut began, at worst; and what the program had
  printed as the worst case.
* *turnaround*: median from reading a state to having written its command, as the summary says.

In every row, checked each time, by the arm of the simulator: nothing moved before the first request; after each end of
Command the arm came to rest within what was printed, and nothing moved until somebody had acknowledged and requested. Each
fallback is named as one of the network, the process ends with a summary and the documented exit code, and doubled or
overtaken packets alone end nothing.
";

/// The finished tests of each row of the table: for each, the share of time that was commanded (0 to 1), and the cells.
type Rows = BTreeMap<(Beside, usize), Vec<(f64, Vec<String>)>>;

static MADE: Mutex<Rows> = Mutex::new(Rows::new());

/// Adds the result of a test that has passed to the rows of the table.
pub(super) fn add(beside: Beside, number: usize, left: &Left, figures: &Figures) {
    let counts = left.counts;
    let fallbacks = figures.fallbacks.iter().map(|(reason, count)| format!("{count} {reason}"));
    let refusals = figures.refusals.iter().map(|(reason, count)| format!("{count} {reason}"));
    let (coast, printed) = figures.coast;
    let row = vec![
        ROWS[number].name.to_owned(),
        counts.sent.to_string(),
        format!("{} / {} / {}", counts.lost, counts.duplicated, counts.reordered),
        format!("{:.1} %", figures.commanded * 100.0),
        listed(fallbacks),
        listed(refusals),
        format!("{:.3}", figures.commands),
        format!("{:.0}", figures.latest_rest.as_secs_f64() * 1e3),
        format!("{coast:.3} / {printed:.3}"),
        figures.turnaround_micros.to_string(),
    ];
    println!("{}: {}", beside.name(), row.join(" | "));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry((beside, number)).or_default().push((figures.commanded, row));
}

fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

fn path() -> std::path::PathBuf {
    std::path::Path::new(outrigger_system::PACKAGE).join("../tests/tables/network.md")
}

/// Writes the table of network conditions (`tests/tables/network.md`) if every row has all of its tests.
pub(super) fn write() {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let lost = made.iter().any(|((_, number), runs)| ROWS[*number].loses() && runs.len() < SEEDS as usize);
    if made.len() < Beside::ALL.len() * ROWS.len() || lost {
        println!("{} rows: too few for a table", made.len());
        return;
    }
    std::fs::write(path(), text(&made)).expect("the table");
}

fn text(rows: &Rows) -> String {
    let mut text = HEAD.to_owned();
    for beside in Beside::ALL {
        text +=
            &format!("\n## {}\n\n| {} |\n|{}\n", beside.name(), COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len()));
        for (number, row) in ROWS.iter().enumerate() {
            let cells = rows.get(&(beside, number)).map(|runs| middle(runs).join(" | "));
            text += &format!("| {} |\n", cells.unwrap_or_else(|| row.name.to_owned()));
        }
    }
    text
}

/// Returns the cells of that test of a row which has the median share of commanding. If the row has several tests, the
/// smallest and the largest share are appended.
fn middle(runs: &[(f64, Vec<String>)]) -> Vec<String> {
    let mut runs: Vec<_> = runs.iter().collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut cells = runs[runs.len() / 2].1.clone();
    if let [least, .., most] = runs.as_slice() {
        cells[COMMANDED] += &format!(" ({:.1} to {:.1} %)", least.0 * 100.0, most.0 * 100.0);
    }
    cells
}

/// Checks that the committed table of network conditions, apart from its figures, is the one that this code would
/// write.
pub(super) fn is_of_this_code() {
    let committed = std::fs::read_to_string(path()).expect("tests/tables/network.md");
    let first_cells = |text: &str| -> Vec<String> {
        let rows = text.lines().map(|line| match line.strip_prefix("| ") {
            Some(cells) if !cells.starts_with(COLUMNS[0]) => cells.split(" | ").next().unwrap_or_default(),
            _ => line,
        });
        rows.map(|row| row.trim_end_matches(" |").to_owned()).collect()
    };
    let anew = "OUTRIGGER_BLESS=1 .ci/realtime network";
    assert_eq!(first_cells(&committed), first_cells(&text(&Rows::new())), "{anew} writes it anew");
}
