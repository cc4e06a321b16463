//! Lists every suite in real time as ignored, with the reason and the command that runs it. Compares that list with
//! the manifest, and the tables of `README.md` with the sources.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Completion, Trial};
use outrigger_system::SUITES;
use outrigger_tests::require;

fn main() -> ExitCode {
    let mut tests = vec![
        require::test("each_suite_of_the_manifest_is_listed", &[], each_suite_is_listed),
        require::test("each_file_is_in_the_readme_and_each_twin_there_is_a_plain_test", &[], the_readme_is_whole),
        require::test("each_example_that_a_suite_reads_is_there", &[], each_example_is_there),
        require::test("a_test_that_is_missing_or_ignored_is_no_twin", &[], only_plain_tests_are_twins),
    ];
    tests.extend(SUITES.iter().map(|suite| {
        Trial::ignorable_test(suite.name, move || {
            Ok(Completion::ignored_with(format!(
                "in real time: {}. Run it by `.ci/realtime {}`",
                suite.about, suite.name
            )))
        })
    }));
    require::main(tests)
}

/// Checks that each example file that the suite `program` names exists. The suite itself is not run for every change,
/// so a file that has moved would go unnoticed.
fn each_example_is_there() {
    const READ: &str = "EXAMPLES).join(\"";
    let mut named = BTreeSet::new();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/program")).expect("the suite").flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        named.extend(text.split(READ).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    }
    assert!(named.len() >= 2, "{named:?}");
    for name in named {
        assert!(Path::new(outrigger_system::EXAMPLES).join(&name).is_file(), "no example {name}");
    }
}

/// Checks that [`SUITES`] has the names and features of the test targets in the manifest, in the same order. The
/// target of this file is not included.
fn each_suite_is_listed() {
    const MANIFEST: &str = include_str!("Cargo.toml");
    let value = |table: &str, key: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.unwrap_or_default().trim_matches(['[', ']', '"']).to_owned()
    };
    let targets: Vec<_> = MANIFEST
        .split("[[test]]\n")
        .skip(1)
        .map(|table| (value(table, "name"), value(table, "required-features")))
        .filter(|(name, _)| name != "suites")
        .collect();
    let listed: Vec<_> = SUITES.iter().map(|suite| (suite.name.to_owned(), suite.feature.to_owned())).collect();
    assert_eq!(targets, listed);
}

/// Returns the files that the tables of `README.md` must name: the sources of the suites, and the sources with unit
/// tests that are ignored as being in real time.
fn files_in_real_time() -> BTreeSet<String> {
    let (root, suites) = (require::workspace(), require::workspace().join("tests/system"));
    let mut files = BTreeSet::new();
    for folder in std::fs::read_dir(&suites).expect("the suites").map(|entry| entry.expect("an entry").path()) {
        if folder.is_dir() && !folder.ends_with("src") {
            collect(&folder, &suites, &mut files, &|_: &str| true);
        }
    }
    let ignored = |text: &str| text.contains("#[ignore = \"in real time");
    for folder in ["port-linux/cli/src", "port-linux/ros/src", "port-linux/src", "tests/sim"] {
        collect(&root.join(folder), root, &mut files, &ignored);
    }
    files
}

/// Adds the sources below `folder` whose text satisfies `wanted`, as paths relative to `root`.
fn collect(folder: &Path, root: &Path, files: &mut BTreeSet<String>, wanted: &impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, root, files, wanted);
        } else if path.extension().is_some_and(|kind| ["rs", "py", "cpp", "hpp"].iter().any(|source| kind == *source))
            && wanted(&std::fs::read_to_string(&path).expect("UTF-8"))
        {
            files.insert(path.strip_prefix(root).expect("below it").display().to_string());
        }
    }
}

/// Returns the text inside each pair of backticks in a table cell.
fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Returns the three cells of a row about files in the tables of `README.md`. `None` for any other line. The first cell
/// is empty if the row continues the one above.
fn row(line: &str) -> Option<[&str; 3]> {
    let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    let cells: [&str; 3] = cells.try_into().ok()?;
    (cells[0].is_empty() || spans(cells[0]).any(|span| span.contains('/'))).then_some(cells)
}

/// Returns `true` if `text` has a function of this name that is not marked `#[ignore]`.
fn has_plain_test(text: &str, name: &str) -> bool {
    let at = ["(", "<"].iter().find_map(|next| text.find(&format!("fn {name}{next}")));
    at.is_some_and(|at| text[..at].rsplit("\n\n").next().is_some_and(|before| !before.contains("#[ignore")))
}

/// Returns the faults of the third cell of a row in the tables of `README.md`. The cell must name a plain test that
/// covers the same as the file (a twin), or a reason why there is none.
fn wrong_twins(cell: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let is_name =
        |span: &str| span.contains('_') && span.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let (mut wrong, mut source, mut twins) = (vec![], None, 0);
    for span in spans(cell) {
        if span.ends_with(".rs") {
            source = read(span);
        } else if is_name(span) {
            twins += 1;
            if !source.as_deref().is_some_and(|text| has_plain_test(text, span)) {
                wrong.push(format!("{span} is no plain test of the file before it"));
            }
        }
    }
    if twins == 0 && !cell.starts_with("None: ") {
        wrong.push(format!("neither a twin nor a reason: {cell}"));
    }
    wrong
}

fn the_readme_is_whole() {
    let (files, mut named, mut wrong) = (files_in_real_time(), BTreeSet::new(), vec![]);
    let read = |path: &str| std::fs::read_to_string(require::workspace().join(path)).ok();
    for [about, _, twins] in include_str!("README.md").lines().filter_map(row) {
        named.extend(spans(about).map(str::to_owned));
        wrong.extend(wrong_twins(twins, read));
    }
    wrong.extend(files.difference(&named).map(|file| format!("{file} is in no table")));
    wrong.extend(named.difference(&files).map(|file| format!("{file} is no file in real time")));
    assert!(wrong.is_empty(), "tests/system/README.md:\n{}", wrong.join("\n"));
}

fn only_plain_tests_are_twins() {
    let text =
        "#[test]\nfn quick() {}\n\n#[test]\n#[ignore = \"in real time\"]\nfn slow_one() {}\n\nfn of_any<B>() {}\n";
    let wrong = |cell| wrong_twins(cell, |path| (path == "a.rs").then(|| text.to_owned())).len();
    assert_eq!(wrong("`a.rs`: `of_any`"), 0);
    assert_eq!(wrong("`a.rs`: `of_any`, `slow_one`, `not_there`"), 2);
    assert_eq!((wrong("`b.rs`: `of_any`"), wrong("`of_any`"), wrong("speed"), wrong("None: speed")), (1, 1, 1, 0));
}
