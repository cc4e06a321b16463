//! The list of the suites that run in real time, and the path of the program under test.
#![forbid(unsafe_code)]

use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The folder of the package `outrigger`, with its documents.
pub const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../port-linux");

/// The folder of the example files that the program embeds and prints.
pub const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../port-linux/cli/examples");

/// A suite of tests in real time.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The name of the suite's test target.
    pub name: &'static str,
    /// The feature of this package that builds the suite.
    pub feature: &'static str,
    /// A description of the suite, with its requirements apart from an idle machine.
    pub about: &'static str,
}

const fn suite(name: &'static str, feature: &'static str, about: &'static str) -> Suite {
    Suite { name, feature, about }
}

/// All suites, in the order in which `.ci/realtime` runs them.
pub const SUITES: &[Suite] = &[
    suite("program", "real-time", "commands of the program beside simulated controllers"),
    suite("settings_of_the_process", "real-time", "each setting of the process and its sensors, with and without"),
    suite("outside", "real-time", "stops while an output, a terminal or a disk accepts nothing"),
    suite("network", "real-time", "lost, late and repeated packets; needs root"),
    suite("kernel_sockets", "real-time", "the conformance scenarios over the kernel's TCP and UDP"),
    suite("browser", "real-time", "the live page; needs chromium and chromedriver"),
    suite(
        "clients",
        "real-time",
        "foreign clients of the simulated controllers; needs Python with urx, ur_rtde and mcap",
    ),
    suite("ros2", "ros2", "the ROS 2 node and foreign readers; needs Python with cyclonedds, and Fast DDS"),
    suite("emulated", "qemu", "firmware on emulated boards; needs qemu-system-arm"),
];

/// Returns a command that runs the program with these arguments.
///
/// The subcommands that only compute (`replay`, `export`, `decode`) run at ordinary priority, even if the test that
/// starts them has a higher one. Otherwise they would take the processor from the sessions under test.
///
/// # Panics
/// If no program under test exists.
#[must_use]
pub fn command(arguments: &[&str]) -> Command {
    let computes = matches!(arguments, ["replay" | "export" | "decode", ..]);
    let mut command = if computes { computing() } else { Command::new(program()) };
    command.args(arguments);
    command
}

/// Returns a command that runs the program at ordinary priority. The caller adds the arguments, which need not be
/// UTF-8.
///
/// # Panics
/// If no program under test exists.
#[must_use]
pub fn computing() -> Command {
    static LOWERS: LazyLock<bool> = LazyLock::new(|| {
        let mut chrt = Command::new("chrt");
        chrt.args(["--other", "0", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
        chrt.status().is_ok_and(|status| status.success())
    });
    if !*LOWERS {
        return Command::new(program());
    }
    let mut command = Command::new("chrt");
    command.args(["--other", "0", program()]);
    command
}

/// Returns the path of the program under test: `OUTRIGGER_PROGRAM` if set, else the one that Cargo built beside the
/// test.
///
/// # Panics
/// If neither exists.
#[must_use]
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        std::env::var("OUTRIGGER_PROGRAM").unwrap_or_else(|_| {
            let test = std::env::current_exe().expect("a test knows its own file");
            let folder = test.parent().and_then(|deps| deps.parent()).expect("a test lies in target/PROFILE/deps");
            let program = folder.join("outrigger").with_extension(std::env::consts::EXE_EXTENSION);
            assert!(
                program.is_file(),
                "{} is not built: run the suite by `.ci/realtime NAME`, or set OUTRIGGER_PROGRAM",
                program.display()
            );
            program.into_os_string().into_string().expect("a path in UTF-8")
        })
    });
    &PROGRAM
}
