//! Checks that the command lines of the book and of the help texts are accepted by the program.

use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser as _};

use super::Cli;

/// A command line in the documentation, with the place where it is shown.
struct Shown {
    place: String,
    words: Vec<String>,
}

/// Returns the words of a shell command, without its comment and its redirections. `None` if a quote is not closed, as
/// in some lines of output.
fn words(command: &str) -> Option<Vec<String>> {
    Some(shlex::split(command)?.into_iter().take_while(|word| !word.starts_with(['>', '<'])).collect())
}

/// Returns the commands in a line of documentation that call `outrigger`, by its name or by the path of the program.
fn commands<'a>(line: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    let line = line.trim().trim_start_matches("$ ");
    line.split([';', '|', '&']).filter_map(|command| {
        let mut words = words(command)?;
        let calls = |word: &String| word == "outrigger" || word.ends_with("/outrigger");
        let at =
            words.iter().position(calls).filter(|at| words[..*at].iter().all(|word| word == "sudo" || word == "do"))?;
        Some(words.split_off(at))
    })
}

/// Returns the commands that call `outrigger` in the shell code blocks of a page of the documentation. A line that ends
/// with `\` continues.
fn of_page(path: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(path).expect("a page").replace("\\\n", " ");
    let (mut shell, mut shown) = (None, vec![]);
    for line in text.lines() {
        if let Some(kind) = line.trim().strip_prefix("```") {
            shell = shell.is_none().then(|| kind.starts_with("sh") || kind.starts_with("console"));
        } else if shell == Some(true) {
            let place = format!("{}: {line}", path.display());
            shown.extend(commands(line).map(|words| Shown { place: place.clone(), words }));
        }
    }
    shown
}

/// Adds to `shown` the command lines in the help texts of a command and its subcommands.
fn of_help(command: &clap::Command, shown: &mut Vec<Shown>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in help.lines().filter(|line| line.starts_with("  ")) {
        let place = format!("{} --help: {line}", command.get_name());
        // In help texts spaces precede what a command does.
        let line = line.trim().split("   ").next().unwrap_or_default();
        shown.extend(commands(line).map(|words| Shown { place: place.clone(), words }));
    }
    command.get_subcommands().for_each(|part| of_help(part, shown));
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|e| e == "md"))
    };
    [".", "port-linux/docs", "port-linux", "port-embassy/docs", "boards"].into_iter().flat_map(of).collect()
}

#[test]
fn every_command_that_the_book_and_the_help_show_is_accepted() {
    let mut shown: Vec<Shown> = pages().iter().flat_map(|page| of_page(page)).collect();
    let of_pages = shown.len();
    of_help(&Cli::command(), &mut shown);
    assert!(of_pages >= 100 && shown.len() - of_pages >= 60, "{of_pages} in pages, {} in all", shown.len());
    let refused: Vec<String> = shown
        .iter()
        .filter(|shown| !shown.words.iter().any(|word| word.contains('$')))
        .filter(|shown| cfg!(feature = "ros2") || !shown.words.iter().any(|word| word.contains("ros")))
        .filter_map(|Shown { place, words }| {
            let error = Cli::try_parse_from(words).err().filter(clap::Error::use_stderr)?;
            Some(format!("{place}\n  {}", error.to_string().lines().next().unwrap_or_default()))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn words_end_before_a_comment_and_a_redirection() {
    assert_eq!(words(r#"outrigger io "a b" x=1   # it's set"#).expect("closed"), ["outrigger", "io", "a b", "x=1"]);
    let example = words("outrigger example half-turn > half-turn.toml").expect("closed");
    assert_eq!(example, ["outrigger", "example", "half-turn"]);
    assert_eq!(words("outrigger io \"a"), None);
    let found: Vec<_> = commands("for f in a; do sudo outrigger example $f > $f; done").collect();
    assert_eq!(found, [["outrigger", "example", "$f"]]);
}
