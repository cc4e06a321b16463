//! Lists every suite in real time as ignored, with the reason and the command that runs it; and holds that list against the
//! manifest.

use std::process::ExitCode;

use libtest_mimic::{Completion, Trial};
use outrigger_system::SUITES;
use outrigger_tests::require;

fn main() -> ExitCode {
    let mut tests = vec![require::test("each_suite_of_the_manifest_is_listed", &[], each_suite_is_listed)];
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

/// Names and features of the targets in the manifest, without this one.
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
