//! The `outrigger` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    outrigger_cli::cli::main()
}
