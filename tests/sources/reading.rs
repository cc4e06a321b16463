//! Reads source files as text: their code, and the names in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns all Rust files below `folder`: the path of each from there, and its text.
pub(crate) fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                files.push((path.strip_prefix(folder).expect("below").to_path_buf(), text));
            }
        }
    }
    assert!(!files.is_empty(), "no sources in {}", folder.display());
    files
}

/// Returns the code of a file without comments, and without the test module at its end.
pub(crate) fn code(text: &str) -> String {
    let tests = ["#[cfg(test)]\nmod tests {", "#[cfg(all(test"].iter().filter_map(|begin| text.find(begin));
    let end = tests.min().unwrap_or(text.len());
    let lines = text[..end].lines().map(|l| l.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first names after each `root` in `code`: `b` of `a::b::c`, and each of `a::{b, c::d}`.
pub(crate) fn names_below(code: &str, root: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(root) {
        let part_of_a_longer_name = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if part_of_a_longer_name && !code[..at].ends_with("super::") {
            continue;
        }
        let rest = &code[at + root.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.extend(first_name(rest));
            continue;
        };
        let mut depth = 0;
        let mut item = 0;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    names.extend(first_name(group[item..i].trim_start()));
                    item = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    names
}

fn first_name(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    // A macro is at the root wherever it is written.
    (end > 0 && !text[end..].starts_with('!')).then(|| text[..end].to_owned())
}

/// The lower-case names at a crate's root that do not count as modules: macros, and `peer`, the controller of the
/// core's tests.
const NO_MODULES: &[&str] = &["eprint_lossy", "eprintln_lossy", "peer", "rtde_recipe", "say"];

/// Returns whether a name in a path from a crate's root is a module. Types that are re-exported there start with a
/// capital.
pub(crate) fn is_module(name: &str) -> bool {
    !NO_MODULES.contains(&name)
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name != "super"
        && name != "self"
}
