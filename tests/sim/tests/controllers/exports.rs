//! Programs in the form in which pendants export them: labels, set-up at the head, folders as comments.
//!
//! Each file begins with the software that has its functions and with the text that the program reports at its end.

use std::path::Path;
use std::{env, fs};

use outrigger_sim::controller::Action;
use outrigger_sim::port::Port;

use crate::common::Bench;

/// The longest duration of a program \[ms\].
const LONGEST: u64 = 60_000;
/// The time between two actions of the simulated operator, who closes popups, and between two changes of the digital
/// input that signals a part \[ms\].
const TURN: u64 = 100;

/// Returns the rest of the first line of an exported program that begins with `word`, such as `# says:`.
fn said_first<'t>(text: &'t str, word: &str) -> &'t str {
    text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_else(|| panic!("no {word} in {text}")).trim()
}

#[test]
fn programs_as_pendants_write_them_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/controllers/programs_of_users/exported");
    let mut generations = [0; 4];
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|kind| kind == "script")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("  $ 1 \""), "{}: no labels", path.display());
        for software in said_first(&text, "# software:").split(' ') {
            let (major, minor) = software.split_once('.').unwrap();
            let (major, minor) = (major.parse().unwrap(), minor.parse().unwrap());
            generations[[1, 3, 5, 10].iter().position(|first| *first == major).unwrap()] += 1;
            let mut bench = Bench::software(major, minor);
            let primary = bench.connect(Port::Primary);
            bench.run(100);
            bench.told(primary);
            bench.send(primary, &text);
            let mut told = vec![];
            for turn in 0..LONGEST / TURN {
                bench.controller.act(Action::DigitalInputs(u32::from(turn % 2 == 0)));
                bench.run(TURN);
                bench.controller.act(Action::ClosePopup);
                told.extend(bench.told(primary));
                if !bench.controller.program().0 {
                    break;
                }
            }
            assert!(!bench.controller.program().0, "{} on {software} does not end: {told:?}", path.display());
            let says = said_first(&text, "# says:");
            assert_eq!(told.last().map(String::as_str), Some(says), "{} on {software}: {told:?}", path.display());
        }
    }
    assert_eq!(generations, [6, 17, 20, 18], "runs on each generation");
}
