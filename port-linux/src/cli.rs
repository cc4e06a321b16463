//! The command line: what can be asked for, and how the answer ends.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::exit::Outcome;

/// The command line of `outrigger`.
#[derive(Debug, Parser)]
#[command(
    name = "outrigger",
    version,
    about = "Reads a Universal Robots arm every cycle, judges the link, and steers it from local sensors",
    after_help = "Exit codes: 0 done, 1 bad input, 2 usage, 3 connection, 4 fallback, fault or failed check."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print recorded traffic as one JSON object per message
    #[command(after_help = "\
FILE holds the bytes as they crossed the wire, '-' reads standard input. Names are the
specification's, in snake_case; vectors are arrays; enumerations are their numbers.
Numbers JSON has no form for are the strings \"NaN\", \"Infinity\" and \"-Infinity\".
Malformed: a message with the byte offset on standard error, exit code 1, and everything before it
has been printed.

Examples:
  outrigger decode --port 30003 realtime.bin
  nc 192.168.56.101 30003 | outrigger decode --port 30003 - | head -n 3")]
    Decode(DecodeArgs),
}

/// `outrigger decode`.
#[derive(Args, Clone, Debug)]
pub struct DecodeArgs {
    /// The port the bytes come from: 30003 (30013 is the same)
    #[arg(long, value_name = "PORT", value_parser = parse_stream)]
    pub port: Stream,
    /// Recorded bytes, or '-' for standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
}

/// What kind of stream a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Real-time: 30003, 30013.
    Realtime,
}

fn parse_stream(text: &str) -> Result<Stream, String> {
    match text {
        "30003" | "30013" => Ok(Stream::Realtime),
        _ => Err("expected 30003 or 30013".into()),
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("outrigger: {failure}");
            failure.into()
        }
    }
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Decode(args) => crate::decode::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
