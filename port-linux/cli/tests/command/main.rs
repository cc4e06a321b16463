//! The `outrigger` command where it needs no controller and no clock: help, refusals, `decode`, `check-config`, and the pages
//! that must agree with the program. Suites beside simulated controllers are in `tests/system`.

mod command_line;
mod configuration;
mod documentation;
mod library;
mod manual;
mod paths;
mod refusals;
