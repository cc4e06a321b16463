//! A committed table: compared as text, or written anew.

use std::time::Duration;

pub(crate) use outrigger_tests::in_parallel;
use outrigger_tests::require::committed;

/// Compares `made` with the committed table `tests/tables/NAME`, or writes it there with `OUTRIGGER_BLESS=1`.
///
/// # Panics
/// If they differ; the message has the first line that does.
pub(crate) fn hold(name: &str, made: &str) {
    committed::hold(format!("tests/tables/{name}"), made);
}

/// Returns a table in Markdown with these columns and rows.
pub(crate) fn markdown(columns: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let rule: Vec<String> = columns.iter().map(|_| "---".to_owned()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    line(&head) + &line(&rule) + &body
}

/// Returns a duration in whole milliseconds as text.
pub(crate) fn millis(span: Duration) -> String {
    format!("{:.0}", span.as_secs_f64() * 1e3)
}
