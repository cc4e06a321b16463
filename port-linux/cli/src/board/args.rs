//! The arguments of `outrigger board`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::serial_line::PortName;

/// The subcommands of `outrigger board`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum BoardCommand {
    /// Show the board's name, the configuration that it runs, and faults of the copies in its flash
    #[command(after_help = "With BOARD.toml it also shows whether the board runs that file.

Examples:
  outrigger \
                            board show --port /dev/ttyACM0
  outrigger board show --port /dev/ttyACM0 board.toml")]
    Show {
        #[command(flatten)]
        line: LineArgs,
        /// Configuration of the board, to compare with
        #[arg(value_name = "BOARD.toml")]
        file: Option<PathBuf>,
    },
    /// Make the board run this configuration from now on. The board stops its control loop and restarts
    #[command(after_help = "The file is checked as by `outrigger check-config`, and once more by the board before it \
                            writes anything: what its firmware cannot run is refused, and the error names the key; the \
                            board keeps its settings. A board that commands the arm refuses. The flash has two \
                            copies; if the power fails at any time, the board runs its previous settings, or all of \
                            the new file.
The key of device.expert.key_file is sent too: whoever has this line can \
                            control the board.
A firmware is for one kind of controller, and accepts requests \
                            (device.expert.requests) only if it was built from a file with them.
Exit codes: 0 the \
                            board runs it, 1 the file, 3 no answer, 4 the board refuses or was \
                            interrupted.

Examples:
  outrigger check-config board.toml
  outrigger board set \
                            board.toml --port /dev/ttyACM0
  outrigger board set board.toml --port unix:bench.sock   \
                            an emulated board: boards/qemu-mps2")]
    Set {
        #[command(flatten)]
        line: LineArgs,
        /// Configuration of the board
        #[arg(value_name = "BOARD.toml")]
        file: PathBuf,
    },
    /// Make the board erase its stored configuration, and run the one that was compiled in
    #[command(after_help = "\
Example:
  outrigger board default --port /dev/ttyACM0")]
    Default {
        #[command(flatten)]
        line: LineArgs,
    },
}

/// The options for the connection to the board over its serial line.
#[derive(Args, Clone, Debug)]
pub(crate) struct LineArgs {
    /// The board's serial line: a device, unix:PATH or tcp:HOST:PORT
    #[arg(long, value_name = "PORT")]
    pub port: PortName,
    /// Baud rate of the line [Bd]; boards use 115200
    #[arg(long, value_name = "BD", default_value_t = 115_200, value_parser = clap::value_parser!(u32).range(1_200..=4_000_000))]
    pub baud: u32,
}
