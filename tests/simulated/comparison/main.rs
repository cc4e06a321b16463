//! Compares all methods by which arms of Universal Robots have been commanded since 2015: half a turn of a joint and
//! back in 4 s, ten runs of each in virtual time, with the figures of Andersen's report of 2015; and 750 s of
//! open-loop `speedj`.
//!
//! ```sh
//! cargo run --release -p outrigger-tests --example comparison
//! cargo run --release -p outrigger-tests --example comparison -- --report out.html --runs 3 --without filter,latch
//! ```

mod page;
#[expect(dead_code, unused_imports, reason = "the report pages of `outrigger` use the rest")]
#[path = "../../../port-linux/cli/src/report/plot/mod.rs"]
mod plot;

use std::path::PathBuf;
use std::process::ExitCode;

use outrigger_tests::comparison::{COLUMNS, Mechanism, Mechanisms, Mode, compare, taken_away};

use page::Page;

const USAGE: &str = "usage: comparison [--report FILE.html] [--runs N] [--duration N] [--without MECHANISM,...]";

struct Arguments {
    report: Option<PathBuf>,
    runs: u64,
    seconds: f64,
    mechanisms: Mechanisms,
}

fn arguments() -> Result<Arguments, String> {
    let mut read = Arguments { report: None, runs: 10, seconds: 750.0, mechanisms: Mechanisms::ALL };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let value = given.next().ok_or_else(|| format!("{argument} without a value\n{USAGE}"))?;
        let bad = |expected: &str| format!("{argument}: {value} is not {expected}\n{USAGE}");
        match argument.as_str() {
            "--report" => read.report = Some(PathBuf::from(value)),
            "--runs" => {
                read.runs =
                    value.parse().ok().filter(|runs| (1..=1000).contains(runs)).ok_or_else(|| bad("1 to 1000"))?;
            }
            "--duration" => {
                let seconds: Option<u32> = value.parse().ok().filter(|seconds| (6..=36_000).contains(seconds));
                read.seconds = seconds.ok_or_else(|| bad("a whole number of seconds, 6 to 36000"))?.into();
            }
            "--without" => {
                for name in value.split(',') {
                    let known = Mechanism::NAMED.map(|(_, name)| name).join(", ");
                    let mechanism =
                        Mechanism::from_name(name).ok_or_else(|| format!("{name}: one of {known}\n{USAGE}"))?;
                    read.mechanisms = read.mechanisms.without(mechanism);
                }
            }
            _ => return Err(format!("{argument} is unknown\n{USAGE}")),
        }
    }
    Ok(read)
}

fn main() -> ExitCode {
    let Arguments { report, runs, seconds, mechanisms } = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut rows = compare(&Mode::all(), mechanisms, runs);
    rows.extend(compare(&[Mode::long(seconds)], mechanisms, runs));
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(&rows)).collect();
    print(&COLUMNS.map(str::to_owned), &cells);
    let Some(report) = report else { return ExitCode::SUCCESS };
    let steady: Vec<Mode> =
        rows.iter().map(|row| row.mode.clone()).filter(|mode| !mode.slides() && mode.name != "long").collect();
    let without = steady.iter().cloned().zip(taken_away(&steady, mechanisms, runs)).collect();
    let page = Page { rows: &rows, without, mechanisms, runs };
    if let Err(error) = std::fs::write(&report, page.html()) {
        eprintln!("{}: {error}", report.display());
        return ExitCode::FAILURE;
    }
    println!("{}", report.display());
    ExitCode::SUCCESS
}

/// Prints a table whose columns are numbered, with the list of their names in front.
fn print(columns: &[String], rows: &[Vec<String>]) {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(3);
    for (at, column) in columns.iter().enumerate() {
        println!("({}) {column}", at + 1);
    }
    let numbers: Vec<String> = (1..=columns.len()).map(|number| format!("({number})")).collect();
    for row in std::iter::once(&numbers).chain(rows) {
        let cells = row.iter().enumerate().map(|(at, cell)| format!("{cell:<width$}", width = width(at)));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
