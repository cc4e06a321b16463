//! Checks that manual pages and completions contain what `--help` contains, and that the packaged unit starts
//! commands that exist.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn said(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_outrigger")).args(arguments).output().expect("the program");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the names that `help` lists as commands.
fn commands(help: &str) -> Vec<String> {
    // Below the usage: in groups, or in one list.
    let below = help.split("Usage: ").nth(1).unwrap_or_default().lines().skip(1);
    let list = below.take_while(|line| !line.starts_with("Arguments:") && !line.starts_with("Options:"));
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns the long options that `help` lists.
fn options(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '=', '[']).take(3));
    words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
}

/// Returns the command `path` and every command below it: its words and its help.
fn all(path: &[String]) -> Vec<(Vec<String>, String)> {
    let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = said(&words);
    let below = commands(&help).into_iter().flat_map(|name| all(&[path, &[name]].concat())).collect();
    [vec![(path.to_vec(), help)], below].concat()
}

#[test]
fn every_command_and_option_of_the_help_has_its_page_and_is_completed() {
    let folder = std::env::temp_dir().join(format!("outrigger-manual-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    said(&["manual", folder.to_str().expect("a name")]);
    let scripts = ["bash", "zsh", "fish"].map(|shell| said(&["completions", shell]));
    let known = all(&[]);
    assert!(known.len() > 30, "{}", known.len());
    for (path, help) in &known {
        let name: Vec<&str> = ["outrigger"].into_iter().chain(path.iter().map(String::as_str)).collect();
        let page = std::fs::read_to_string(folder.join(name.join("-") + ".1")).expect("a page");
        let about = help.lines().next().expect("what it does").replace('-', "\\-").replace('\'', "\\(aq");
        assert!(page.replace("\\*(Aq", "\\(aq").contains(&about), "{name:?}: {about}");
        for option in options(help).iter().filter(|option| *option != "--help" && *option != "--version") {
            assert!(page.contains(&option.replace('-', "\\-")), "{name:?} {option} stands in no page");
            for script in &scripts {
                assert!(script.contains(&option[2..]), "{name:?} {option} is not completed");
            }
        }
        for script in &scripts {
            assert!(path.iter().all(|word| script.contains(word)), "{name:?} is not completed");
        }
    }
    let pages = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(pages, known.len(), "pages of commands that are in no help");
    std::fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn the_packaged_unit_starts_commands_that_there_are_and_never_again_by_itself() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../package/outrigger@.service");
    let unit = std::fs::read_to_string(unit).expect("the unit");
    let known = commands(&said(&["--help"]));
    let started: Vec<_> = unit.lines().filter_map(|line| line.strip_prefix("ExecStart")).collect();
    assert_eq!(started.len(), 2, "{started:?}");
    for line in started {
        let command = line.split("/usr/bin/outrigger ").nth(1).and_then(|words| words.split(' ').next());
        assert!(command.is_some_and(|command| known.iter().any(|name| name == command)), "{line}");
    }
    assert!(unit.lines().any(|line| line == "Restart=no"));
}
