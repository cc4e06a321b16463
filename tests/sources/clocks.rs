//! Tests that the result of a plain `cargo test` does not depend on the load of the machine: a test that sleeps, reads
//! the wall clock or runs a controller behind the kernel's sockets is ignored with a reason, or is in a suite of
//! `tests/system`.

use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

/// The folders with the tests that a plain `cargo test` executes. None of these tests may depend on the wall clock.
const PLAIN: &[&str] = &[
    "boards/app",
    "boards/eqos",
    "boards/w5500",
    "core/remote",
    "core/src",
    "core/tests",
    "core/wire",
    "port-embassy",
    "port-linux/cli/src",
    "port-linux/cli/tests",
    "port-linux/config",
    "port-linux/ros",
    "port-linux/src",
    "port-linux/tests",
    "tests/cycles",
    "tests/emulated/src",
    "tests/oracle",
    "tests/require",
    "tests/sim",
    "tests/simulated",
    "urscript",
];

/// The words by which a test is recognised whose result may depend on real time; all words of one entry must occur in
/// it.
const REAL_TIME: &[&[&str]] = &[
    &["thread::sleep("],
    &["tokio::time::"],
    &["Instant::now()", "elapsed()"],
    &["SystemTime::now()"],
    &["Server::bind", ".spawn()"],
];

/// Collects the Rust files below `folder`.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names of the tests in `text` that run in real time and are not ignored. A test ends with the first brace
/// in its own column.
fn in_real_time(text: &str) -> Vec<&str> {
    let bodies = text.split("#[test]\n").skip(1).map(|rest| {
        let column = rest.find(|c: char| c != ' ').unwrap_or_default();
        let end = format!("\n{}}}\n", &rest[..column]);
        rest.find(&end).map_or(rest, |at| &rest[..at])
    });
    let plain = bodies.filter(|body| !body.trim_start().starts_with("#[ignore"));
    let timed = plain.filter(|body| REAL_TIME.iter().any(|words| words.iter().all(|word| body.contains(word))));
    timed.map(|body| body.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default()).collect()
}

#[test]
fn no_plain_test_depends_on_the_wall_clock() {
    let mut found = vec![];
    for folder in PLAIN {
        files(&workspace().join(folder), &mut found);
    }
    let mut timed = vec![];
    for path in &found {
        let text = fs::read_to_string(path).expect("UTF-8");
        timed.extend(in_real_time(&text).into_iter().map(|name| format!("{}: {name}", path.display())));
    }
    assert!(timed.is_empty(), "ignore these with a reason, or move them to tests/system:\n{}", timed.join("\n"));
}

#[test]
fn no_two_runs_of_the_tests_share_a_file() {
    let mut found = vec![];
    for folder in PLAIN {
        files(&workspace().join(folder), &mut found);
    }
    let mut shared = vec![];
    for path in found.iter().filter(|path| !path.ends_with(file!())) {
        let text = fs::read_to_string(path).expect("UTF-8");
        shared.extend(shared_files(&text).into_iter().map(|line| format!("{}: {line}", path.display())));
    }
    assert!(
        shared.is_empty(),
        "add std::process::id() to the name, or cargo test fails where two run at once:\n{}",
        shared.join("\n")
    );
}

/// Returns the lines of `text` that form a path below a temporary directory without the number of this process. Two
/// runs of the tests at once would share the file.
fn shared_files(text: &str) -> Vec<&str> {
    let makes = |line: &&str| {
        (line.contains("CARGO_TARGET_TMPDIR") || line.contains("temp_dir()")) && !line.contains("process::id()")
    };
    text.lines().filter(makes).map(str::trim).collect()
}

#[test]
fn a_file_that_two_runs_share_is_found() {
    let own = "let path = std::env::temp_dir().join(format!(\"a-{}\", std::process::id()));";
    let shared = "let path = Path::new(env!(\"CARGO_TARGET_TMPDIR\")).join(\"faulty.toml\");";
    assert_eq!(shared_files(&format!("{own}\n{shared}\n")), [shared]);
}

#[test]
fn a_test_that_sleeps_is_found_unless_it_is_ignored() {
    let text = "#[test]\nfn quick() {\n}\nfn helper() { std::thread::sleep(SECOND); }\n#[test]\nfn slow() { std::thread::sleep(SECOND); }\n\
                #[test]\n#[ignore = \"in real time\"]\nfn known() { std::thread::sleep(SECOND); }\n";
    assert_eq!(in_real_time(text), ["slow"]);
}
