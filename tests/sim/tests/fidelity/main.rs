//! The behaviours of the simulated controllers, their sources, and the tests that show them:
//! `tests/sim/docs/fidelity.md`.
//!
//! The page is written from the tables here (`OUTRIGGER_BLESS=1 cargo test -p outrigger-sim --test fidelity`). These
//! tests check the tables against the code: every function of URScript that a controller has is in them once, every
//! test in them exists and mentions its subject, every option in them exists.

mod behaviour;
mod functions;
mod manual;
mod not_simulated;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use outrigger_interpreter::Builtins;
use outrigger_urscript::Version;
use page::{Line, Mark};

/// The newest software version of each controller generation.
const NEWEST: [Version; 4] = [Version::new(1, 8), Version::new(3, 15), Version::new(5, 25), Version::new(10, 12)];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns every source file below these folders of the workspace.
fn sources(folders: &[&str]) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| workspace().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "py" || kind == "script") {
                found.insert(path.clone(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Returns the name of every test with the text of the files that contain it. A test of a client is an entry of a
/// table, and its actions are in other files of its folder.
fn tests() -> BTreeMap<String, String> {
    let mut tests = BTreeMap::new();
    let files = sources(&["tests/sim", "urscript", "tests/system", "port-linux/cli/tests", "port-linux/tests"]);
    for (path, text) in files.iter().filter(|(path, _)| path.extension().is_some_and(|kind| kind == "rs")) {
        let beside = |(other, text): (&PathBuf, &String)| {
            let same = other.parent() == path.parent() || other.parent().and_then(Path::parent) == path.parent();
            (same && other.extension().is_some_and(|kind| kind != "rs")).then(|| text.clone())
        };
        let reads = text.contains("include_str!") || path.ends_with("clients/main.rs");
        let context = if reads { files.iter().filter_map(beside).collect() } else { String::new() };
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let named = if line.trim() == "#[test]" {
                while lines.next_if(|next| next.trim().starts_with("#[")).is_some() {}
                lines.peek().and_then(|next| next.trim().strip_prefix("fn ")).and_then(|rest| rest.split('(').next())
            } else {
                // For `require::test("name", …)`, which may be broken over lines.
                let word = line.trim().trim_start_matches("test(").trim_start_matches('"');
                word.split_once("\",")
                    .map(|(name, _)| name)
                    .filter(|name| path.starts_with(workspace()) && is_name(name))
            };
            if let Some(name) = named {
                tests.insert(name.to_owned(), format!("{text}{context}"));
            }
        }
    }
    tests
}

fn is_name(word: &str) -> bool {
    word.len() > 10 && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn lines() -> impl Iterator<Item = &'static Line> {
    behaviour::SECTIONS.iter().flat_map(|section| section.lines)
}

#[test]
fn every_function_of_urscript_stands_in_one_group() {
    let known: BTreeSet<&str> =
        NEWEST.iter().flat_map(|version| Builtins::of(*version).names().collect::<Vec<_>>()).collect();
    let mut listed = BTreeSet::new();
    for name in functions::GROUPS.iter().flat_map(|group| group.names) {
        assert!(known.contains(name), "{name} is in the ledger, and no software has it");
        assert!(listed.insert(*name), "{name} stands in two groups");
    }
    let missing: Vec<_> = known.difference(&listed).collect();
    assert!(missing.is_empty(), "not in the ledger (tests/sim/tests/fidelity/functions.rs): {missing:?}");
}

#[test]
fn what_is_not_simulated_is_what_the_compiler_says_is_not() {
    for group in functions::GROUPS {
        for name in group.names {
            let simulated = NEWEST.iter().any(|version| Builtins::of(*version).is_simulated(name));
            assert_eq!(simulated, group.mark != Mark::NotSimulated, "{name}");
        }
    }
}

#[test]
fn every_test_named_exists_and_mentions_what_it_is_named_for() {
    let tests = tests();
    let mut wrong = vec![];
    for line in lines() {
        assert!(
            !line.tests.is_empty() || line.marks.iter().all(|mark| matches!(mark, Mark::NotSimulated | Mark::Absent)),
            "{}: simulated, and no test",
            line.what
        );
        wrong
            .extend(line.tests.iter().filter(|test| !tests.contains_key(**test)).map(|test| format!("no test {test}")));
    }
    for group in functions::GROUPS {
        let texts: Vec<&String> = group.tests.iter().filter_map(|test| tests.get(*test)).collect();
        if texts.len() < group.tests.len() || texts.is_empty() {
            wrong.push(format!("{}: one of {:?} does not exist", group.what, group.tests));
        }
        let mentions = |name: &str| texts.iter().any(|text| text.contains(name));
        if group.mark != Mark::NotSimulated {
            let silent = group.names.iter().filter(|name| !mentions(name));
            wrong.extend(silent.map(|name| format!("no test named mentions {name}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_option_named_is_one() {
    let fields: String = sources(&["tests/sim/src", "urscript/interpreter/src"]).into_values().collect();
    let options = lines().map(|line| line.option).chain(functions::GROUPS.iter().map(|group| group.option));
    for option in options.filter(|option| !option.is_empty()) {
        let field = option.rsplit("::").next().unwrap();
        let known = [format!("pub {field}:"), format!("pub fn {field}("), format!("    {field}(")];
        assert!(known.iter().any(|text| fields.contains(text)), "{option} is no option");
    }
}

#[test]
fn the_page_says_what_the_tables_say() {
    compare("fidelity.md", &page::page(&NEWEST));
}

#[test]
fn the_page_of_functions_says_which_are_executed_and_which_are_named() {
    let manual = fs::read_to_string(workspace().join("urscript/interpreter/manual.tsv")).unwrap();
    compare("urscript-functions.md", &manual::page(&manual));
}

/// Compares a page in `tests/sim/docs` with its stored contents, or writes it if `OUTRIGGER_BLESS` is set.
fn compare(name: &str, page: &str) {
    let path = workspace().join("tests/sim/docs").join(name);
    if env::var_os("OUTRIGGER_BLESS").is_some() {
        fs::write(&path, page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "OUTRIGGER_BLESS=1 cargo test -p outrigger-sim --test fidelity writes {} anew",
        path.display()
    );
}
