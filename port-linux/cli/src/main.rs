//! The `outrigger` command: the entry point of the program.

use std::process::ExitCode;

fn main() -> ExitCode {
    outrigger_cli::cli::main()
}
