//! The `outrigger` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    outrigger::cli::main()
}
