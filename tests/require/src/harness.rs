//! Test targets that name their tests at run time.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::Need;

/// Returns a test whose name is a sentence about behaviour. It runs if every need is met, and fails by panicking.
pub fn test(name: &str, needs: &'static [Need], body: impl FnOnce() + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || {
        for need in needs {
            let Some(reason) = need.missing() else { continue };
            return if need.required() {
                Err(Failed::from(format!("{reason} (OUTRIGGER_REQUIRE asks for it)")))
            } else {
                Ok(Completion::ignored_with(reason))
            };
        }
        body();
        Ok(Completion::Completed)
    })
}

/// Runs the tests of a target with the arguments of the built-in harness.
#[must_use]
pub fn main(tests: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Runs the tests one after the other, unless `--test-threads` gives another number.
#[must_use]
pub fn main_one_by_one(tests: Vec<Trial>) -> ExitCode {
    main_at_once(1, tests)
}

/// Runs at most `threads` tests at once, unless `--test-threads` gives another number.
#[must_use]
pub fn main_at_once(threads: usize, tests: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(threads);
    libtest_mimic::run(&arguments, tests).exit_code()
}
