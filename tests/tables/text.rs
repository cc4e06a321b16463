//! A committed table: compared as text, or written anew.

use std::time::Duration;

use outrigger_tests::golden;
pub(crate) use outrigger_tests::in_parallel;

/// Compares `made` with the table of this name.
///
/// # Panics
/// Where they differ, with the first line that does.
pub(crate) fn hold(name: &str, made: &str) {
    golden::hold(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tables").join(name), made);
}

/// A table in Markdown: its columns, then its rows.
pub(crate) fn markdown(columns: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let rule: Vec<String> = columns.iter().map(|_| "---".to_owned()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    line(&head) + &line(&rule) + &body
}

/// Whole milliseconds.
pub(crate) fn millis(span: Duration) -> String {
    format!("{:.0}", span.as_secs_f64() * 1e3)
}
