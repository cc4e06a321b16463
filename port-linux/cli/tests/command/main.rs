//! Tests of the `outrigger` command that need no controller and no clock: help, refusals, `decode`, `check-config`,
//! and the pages that must agree with the program. Suites with simulated controllers are in `tests/system`.

mod command_line;
mod configuration;
mod documentation;
mod library;
mod manual;
mod paths;
mod refusals;
