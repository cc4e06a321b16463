//! Tests that the documentation of every public module of the libraries has an example that is compiled and run.

use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

/// The root files of the libraries whose public modules must each have a compiled example in their documentation.
const ROOTS: &[&str] = &[
    "boards/eqos/src/lib.rs",
    "boards/w5500/src/lib.rs",
    "core/src/lib.rs",
    "core/remote/src/lib.rs",
    "core/wire/src/lib.rs",
    "port-embassy/src/lib.rs",
    "urscript/src/lib.rs",
    "urscript/interpreter/src/lib.rs",
];

/// The first line of the root file of a crate whose documentation begins with its README.
const README: &str = "#![doc = include_str!(\"../README.md\")]\n";

/// The greatest number of visible lines in an example.
const LINES: usize = 24;

/// Returns the public modules declared in `text`, except those hidden from the documentation.
fn public_modules(text: &str) -> Vec<&str> {
    let (mut modules, mut hidden) = (Vec::new(), false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
            modules.extend((!hidden).then_some(name));
        }
        hidden = line == "#[doc(hidden)]" || (hidden && line.starts_with("#["));
    }
    modules
}

/// Returns the visible lines of the examples in a module's documentation that are compiled and run.
fn examples(text: &str) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut inside: Option<bool> = None;
    for line in text.lines().take_while(|line| line.starts_with("//!")) {
        let line = line.trim_start_matches("//!").trim_start();
        match (line.strip_prefix("```"), inside) {
            (Some(_), Some(runs)) => {
                if !runs {
                    all.pop();
                }
                inside = None;
            }
            (Some(language), None) => {
                inside = Some(language.is_empty());
                all.push(Vec::new());
            }
            (None, Some(_)) if line.is_empty() || line == "#" || line.starts_with("# ") => {}
            (None, Some(_)) => all.last_mut().expect("begun above").push(line),
            (None, None) => {}
        }
    }
    all
}

/// Checks that the documentation of the module in `file`, and of each public module below it, has a compiled example,
/// and none with more than [`LINES`] lines. Adds the faults to `wrong` and the number of modules to `seen`.
fn walk(file: &Path, wrong: &mut Vec<String>, seen: &mut usize) {
    let mut text = fs::read_to_string(file).expect("a readable file");
    if let Some(rest) = text.strip_prefix(README) {
        let page = fs::read_to_string(file.with_file_name("../README.md")).expect("a readable README");
        let page: Vec<String> =
            page.replace("```rust\n", "```\n").lines().map(|line| format!("//! {line}\n")).collect();
        text = page.concat() + rest;
    }
    let name = file.strip_prefix(workspace()).expect("below").display().to_string();
    *seen += 1;
    let examples = examples(&text);
    if examples.is_empty() {
        wrong
            .push(format!("{name}: no example that is compiled: add one of a few lines to the module's documentation"));
    }
    wrong.extend(
        examples.iter().filter(|lines| lines.len() > LINES).map(|l| format!("{name}: an example of {} lines", l.len())),
    );
    let stem = file.with_extension("");
    let own =
        if file.ends_with("lib.rs") || file.ends_with("mod.rs") { file.parent().expect("a folder") } else { &stem };
    for module in public_modules(&text) {
        let places: [PathBuf; 2] = [own.join(format!("{module}.rs")), own.join(module).join("mod.rs")];
        let place = places.iter().find(|place| place.exists());
        walk(place.unwrap_or_else(|| panic!("{name} declares {module}: no file")), wrong, seen);
    }
}

#[test]
fn every_public_module_has_a_compiled_example() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for root in ROOTS {
        walk(&workspace().join(root), &mut wrong, &mut seen);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "{seen} modules found");
}

#[test]
fn what_is_not_compiled_or_not_public_does_not_count() {
    let text = "//! A.\n//!\n//! ```text\n//! x\n//! ```\n//! ```no_run\n//! y\n//! ```\nmod a;\npub mod b;\n#[doc(hidden)]\npub mod c;";
    assert_eq!(examples(text), Vec::<Vec<&str>>::new());
    assert_eq!(public_modules(text), ["b"]);
    let text = "//! ```\n//! use x;\n//! # Ok(())\n//! ```\nfn f() {}\n//! ```\n//! late\n//! ```";
    assert_eq!(examples(text), [["use x;"]]);
}

/// Checks that no example program in `port-linux/cli/examples` names the folder of its package. Two packages build
/// these programs, and a reader who prints one builds it in another folder.
#[test]
fn no_example_depends_on_the_folder_of_the_package_that_builds_it() {
    let folder = workspace().join("port-linux/cli/examples");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the examples").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("UTF-8");
            assert!(!text.contains("CARGO_MANIFEST_DIR"), "{}: use include_str!", path.display());
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen} examples");
}
