//! The summary line of each documentation comment starts with a verb or with a noun phrase (`CONTRIBUTING.md`, "Comments").

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use outrigger_require::workspace;

/// The folders whose Rust files are searched for summaries that begin with one of [`OPENINGS`].
const FOLDERS: &[&str] = &["boards", "core", "fuzz", "port-embassy", "port-linux", "tests", "urscript"];
/// The names of the folders that are not part of the repository, so that their files are not searched.
const FOREIGN: &[&str] = &["target", "corpus", "artifacts"];

/// The words that open a relative clause, a pronoun or an aside. A summary, the first line of a documentation comment,
/// that begins so cannot be read on its own.
const OPENINGS: &[&str] = &[
    "Also",
    "And",
    "But",
    "Else",
    "Everything",
    "Here",
    "How",
    "It",
    "Likewise",
    "None of",
    "Nothing",
    "Of",
    "One of",
    "Or",
    "Otherwise",
    "So",
    "That",
    "The same",
    "There",
    "They",
    "This one",
    "What",
    "Whatever",
    "When",
    "Where",
    "Whether",
    "Which",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
    "Why",
];

/// The summaries that may begin with one of [`OPENINGS`]: the file, the beginning of the line, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// Returns whether a summary begins with one of [`OPENINGS`].
fn breaks_the_rule(summary: &str) -> bool {
    OPENINGS.iter().any(|opening| {
        let rest = summary.strip_prefix(opening);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    })
}

/// Returns each summary in the text of a file that begins with one of [`OPENINGS`], with the number of its line from 1.
fn findings(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut inside) = (vec![], false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(summary) = comment.map(str::trim).filter(|summary| !inside && breaks_the_rule(summary)) {
            found.push((number, summary));
        }
        inside = comment.is_some();
    }
    found
}

/// Calls `each` with every Rust file below `folder`.
fn visit(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && !FOREIGN.iter().any(|foreign| name == *foreign) {
            visit(&path, each);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            each(&path, &fs::read_to_string(&path).expect("UTF-8"));
        }
    }
}

#[test]
fn every_summary_starts_with_a_verb_or_a_noun_phrase() {
    let (mut found, mut files) = (BTreeMap::<String, Vec<String>>::new(), 0);
    for folder in FOLDERS {
        visit(&workspace().join(folder), &mut |path, text| {
            files += 1;
            let path = path.strip_prefix(workspace()).expect("below").display().to_string();
            for (line, summary) in findings(text) {
                let excepted = |(file, begin, _): &(&str, &str, &str)| *file == path && summary.starts_with(begin);
                if !EXCEPTIONS.iter().any(excepted) {
                    found.entry((*folder).into()).or_default().push(format!("{path}:{line}: {summary}"));
                }
            }
        });
    }
    assert!(files > 1_000, "{files} files");
    let all: Vec<_> = found.values().flatten().cloned().collect();
    assert!(all.is_empty(), "{} summaries open against the rule of CONTRIBUTING.md:\n{}", all.len(), all.join("\n"));
}

#[test]
fn every_exception_is_needed_and_has_a_reason() {
    for (file, begin, reason) in EXCEPTIONS {
        let text = fs::read_to_string(workspace().join(file)).unwrap_or_default();
        let needed = findings(&text).iter().any(|(_, summary)| summary.starts_with(begin));
        assert!(needed && !reason.is_empty(), "{file}: {begin}");
    }
}

#[test]
fn the_rule_finds_what_it_is_for() {
    let text = "//! What a module has.\n//! What comes second.\n\n/// Returns it.\n/// What is more.\nfn a() {}\n\n/// Of both.\nfn b() {}\n\
                /// Often done.\nfn c() {}\n/// The same.\nfn d() {}\n// What is no documentation.\n/// Item.\n";
    let lines: Vec<_> = findings(text).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 8, 12]);
    assert!(breaks_the_rule("It") && !breaks_the_rule("Items of a list") && !breaks_the_rule("Whichever"));
}
