//! Test targets that name their tests at run time.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::Need;

/// Returns a test with a sentence about behaviour as its name. If every need is met it runs `body`, which panics to
/// fail. If not, it is ignored, or fails if `OUTRIGGER_REQUIRE` has the need.
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

/// Runs the tests of a test target, with the command-line arguments that Rust's own test harness takes.
#[must_use]
pub fn main(tests: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Runs the tests of a test target one after the other, unless `--test-threads` gives another number.
#[must_use]
pub fn main_one_by_one(tests: Vec<Trial>) -> ExitCode {
    main_at_once(1, tests)
}

/// Runs at most `threads` tests of a test target at once, unless `--test-threads` gives another number.
#[must_use]
pub fn main_at_once(threads: usize, tests: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(threads);
    libtest_mimic::run(&arguments, tests).exit_code()
}
