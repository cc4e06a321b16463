//! Checks the names of keys in messages and on pages: a file must accept each of them today.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::EXPERT;
use crate::reader::without_indices;

/// The folders whose sources and pages are searched for names of configuration keys. Tests are exempt, because they set
/// keys in places where they are rejected.
const FOLDERS: [&str; 6] = ["boards", "core", "port-embassy", "port-linux", "urscript", "."];
/// The files that may contain former names of keys: the one that looks them up, and the history of changes.
const EXEMPT: [&str; 2] = ["port-linux/config/src/expert.rs", "CHANGELOG.md"];

fn files(folder: &Path, is_deep: bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of this repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if is_deep && !["target", "tests", "node_modules"].contains(&name) && !name.starts_with('.') {
                files(&path, true, found);
            }
        } else if (name.ends_with(".rs") || name.ends_with(".md")) && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Returns the string literals and the comments of a source, without the comments' examples.
fn said_by_source(text: &str) -> Vec<String> {
    let text = text.find("#[cfg(test)]\nmod tests {").map_or(text, |end| &text[..end]);
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let comments: Vec<_> = text.lines().filter(is_comment).map(|line| line.trim_start().trim_matches('/')).collect();
    let code: Vec<_> = text.lines().filter(|line| !is_comment(line)).collect();
    let code = code.join("\n").replace("'\"'", "").replace("\\\\", "").replace("\\\"", "");
    let literals: Vec<_> = code.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    [literals, said_by_page(&comments.join(" "))].concat()
}

/// Returns a page without its code blocks, which other tests read as files.
fn said_by_page(text: &str) -> Vec<String> {
    text.split("```").step_by(2).map(str::to_owned).collect()
}

/// Returns the words with dots in `text`, possible names of configuration keys, without indices. Names of functions,
/// paths and shell variables are left out.
fn dotted(text: &str) -> impl Iterator<Item = String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    let mut ends = 0;
    std::iter::from_fn(move || {
        let begins = ends + text[ends..].find(is_part)?;
        let length = text[begins..].find(|c| !is_part(c)).unwrap_or(text.len() - begins);
        let before = text[..begins].chars().next_back();
        ends = begins + length;
        let after = &text[ends..];
        let is_other =
            before.is_some_and(|c| "/$".contains(c)) || ["(", "/", "::"].iter().any(|end| after.starts_with(end));
        let name = without_indices(text[begins..ends].trim_matches(['.', '[', ']'])).replace("[]", "");
        Some(Some(name).filter(|name| name.contains('.') && !is_other))
    })
    .flatten()
}

#[test]
fn each_name_of_a_key_in_messages_and_pages_is_one_that_files_accept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![];
    for folder in FOLDERS {
        files(&root.join(folder), folder != ".", &mut found);
    }
    let plain = |name: &str| name.replace("[]", "");
    let old: BTreeMap<_, _> = EXPERT.iter().map(|key| (plain(key.name), key.place())).collect();
    let new: Vec<_> = old.values().map(|place| plain(place)).collect();
    let (mut wrong, mut named) = (vec![], 0);
    for path in found {
        let shown = path.strip_prefix(&root).expect("in this repository").to_string_lossy().replace("./", "");
        if EXEMPT.contains(&shown.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let said = if shown.ends_with(".md") { said_by_page(&text) } else { said_by_source(&text) };
        for said in said {
            for name in dotted(&said) {
                // These files use bare names to look up `placed` and the reader.
                let is_looked_up = shown.starts_with("port-linux/config/src") && name == plain(&said);
                if let Some(place) = old.get(&name).filter(|_| !is_looked_up) {
                    wrong.push(format!("{shown}: {name} has moved to {place}"));
                }
                if name.contains(".expert.") {
                    named += 1;
                    let table = format!("{name}.");
                    if !new.iter().any(|place| *place == name || place.starts_with(&table)) {
                        wrong.push(format!("{shown}: {name} is no key"));
                    }
                }
            }
            let has_table = ["] ", "]` "].iter().any(|end| said.contains(end));
            for key in EXPERT.iter().filter(|_| has_table) {
                let (table, rest) = key.name.split_once('.').unwrap_or_default();
                let of_table = ["] ", "]` ", "]` `"].map(|end| format!("[{table}{end}{rest}"));
                if of_table.iter().any(|old| said.contains(old)) {
                    wrong.push(format!("{shown}: [{table}] {rest} has moved to {}", key.place()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named > 50, "{named} names of expert keys");
}
