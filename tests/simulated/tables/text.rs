//! A committed table: compared as text, or written anew.

use std::time::Duration;

pub(crate) use outrigger_tests::in_parallel;

/// Whether tables are to be written instead of compared.
const BLESS: &str = "OUTRIGGER_BLESS";

/// Compares `made` with the table of this name.
///
/// # Panics
/// Where they differ, with the first line that does.
pub(crate) fn hold(name: &str, made: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tables").join(name);
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if committed == made {
        return;
    }
    let mut lines = (1..).zip(committed.lines().zip(made.lines())).filter(|(_, (old, new))| old != new);
    let (at, (old, new)) = lines.next().unwrap_or((0, ("(as many lines as the shorter)", "(ends elsewhere)")));
    panic!("tests/tables/{name} differs from line {at} on:\n- {old}\n+ {new}\n{BLESS}=1 writes it anew");
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
