//! Tests of the functions of the manual: the interpreter knows every function that `manual.tsv` lists for a software.

use std::collections::BTreeMap;

use outrigger_interpreter::{Builtins, Machine, Program, Step};
use outrigger_urscript::Version;

use crate::support::{BUDGET, Recorder};

const MANUAL: &str = include_str!("../../manual.tsv");

/// The first and the last software of each generation after CB2.
const GENERATIONS: [(Version, Version); 3] = [
    (Version::new(3, 0), Version::new(3, 15)),
    (Version::new(5, 0), Version::new(5, 25)),
    (Version::new(10, 0), Version::new(10, 12)),
];

/// The first software of one generation that has a function, by the list of the manual (`manual.tsv`).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Since {
    Never,
    /// The generation has the function, but its first software is not published.
    Unconfirmed,
    Software(Version),
}

fn version(text: &str) -> Version {
    let (major, minor) = text.split_once('.').unwrap();
    Version::new(major.parse().unwrap(), minor.parse().unwrap())
}

fn since(text: &str) -> Since {
    match text {
        "-" => Since::Never,
        "?" => Since::Unconfirmed,
        text if text.starts_with("<=") || text.ends_with(".?") => Since::Unconfirmed,
        // Absent in the first of two versions and present in the last: assumed from the first on.
        text => Since::Software(version(text.split("..").next().unwrap())),
    }
}

fn manual() -> BTreeMap<&'static str, [Since; 3]> {
    let lines = MANUAL.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let [name, cb, e_series, polyscope_x, source] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert!(!source.is_empty(), "{line}");
        (name, [cb, e_series, polyscope_x].map(since))
    });
    let manual: BTreeMap<_, _> = rows.collect();
    assert_eq!(manual.len(), MANUAL.lines().filter(|line| !line.starts_with('#')).count(), "a name stands there twice");
    manual
}

#[test]
fn the_list_of_the_manual_and_the_functions_that_are_known_agree() {
    let manual = manual();
    for (name, generations) in &manual {
        for (since, (first, last)) in generations.iter().zip(GENERATIONS) {
            for minor in first.minor..=last.minor {
                let software = Version::new(first.major, minor);
                let has = match since {
                    Since::Never => false,
                    Since::Unconfirmed => true,
                    Since::Software(since) => software >= *since,
                };
                let known = Builtins::of(software).contains(name);
                assert_eq!(known, has, "{name} in {}.{minor}", first.major);
            }
        }
    }
    let cb2 = Builtins::of(Version::new(1, 8));
    for line in MANUAL.lines().filter(|line| line.split('\t').nth(1) == Some("3.?")) {
        let name = line.split('\t').next().unwrap();
        assert!(!cb2.contains(name), "{name}");
    }
    for (_, last) in GENERATIONS {
        let missing: Vec<_> = Builtins::of(last).names().filter(|name| !manual.contains_key(name)).collect();
        assert!(missing.is_empty(), "not in manual.tsv: {missing:?}");
    }
}

#[test]
fn each_is_executed_or_ends_the_program_with_its_name_and_place() {
    for (_, last) in GENERATIONS {
        let builtins = Builtins::of(last);
        for name in builtins.names().filter(|name| !builtins.is_simulated(name)) {
            // Functions whose parameters are known are tested in `values.rs`.
            let text = format!("def main():\n\n  x = {name}(1, \"a\", [2], last=p[1,2,3,4,5,6])\nend\n");
            let Ok(program) = Program::compile(&text, &builtins) else { continue };
            let Step::Error(fault) = Machine::new(program).step(&mut Recorder::default(), BUDGET) else {
                panic!("{text}")
            };
            assert_eq!(fault.to_string(), format!("3:7: not_simulated:{name}:"));
        }
    }
    let named = |name: &str| !Builtins::of(Version::new(5, 25)).is_simulated(name);
    assert!(named("encoder_get_tick_count") && named("eip_writer_factory") && named("add_frame") && !named("movej"));
}
