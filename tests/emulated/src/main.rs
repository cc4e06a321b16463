//! `outrigger-emulated`: a board in QEMU, for interactive use.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use outrigger_emulated::closed_loop::{self, Plan};
use outrigger_emulated::qemu::{Command, Exit, Firmware, Log, Machine, Process, SerialMode};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

/// A board in QEMU opposite the simulated controller.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Builds the firmware, closes the loop sensor → UART → firmware → arm → sensor, disturbs it twice, and checks the
    /// result.
    ///
    /// The board holds its tool 50 mm over a workpiece. First the wire transmits nothing for 300 ms, then the sensor is
    /// unplugged. Each time the arm must come to rest, and may only move again after an acknowledgement and a new
    /// request. Only QEMU and the compiler's target are needed, and no privileges: the network consists of Unix
    /// datagrams between QEMU and this program.
    ///
    /// No board can be on time while a processor of this machine stands still. This is measured, and the allowance that
    /// a check makes for it is printed.
    ///
    /// Exit codes: 0 all checks pass, 1 no firmware or no QEMU, 4 a check does not pass (it is named).
    Standoff {
        /// The emulated machine.
        #[arg(long, value_enum, default_value = "an386")]
        machine: Processor,
        /// The time for which the board is on [s].
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(24..=3600))]
        seconds: u64,
        /// The controller's software, for example 3.15 (125 states a second) or 5.15 (500).
        #[arg(long, default_value = "5.15", value_parser = software)]
        software: SoftwareVersion,
        /// A program to run instead of building one.
        #[arg(long, value_name = "FILE")]
        elf: Option<PathBuf>,
        /// The seed of random numbers.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Runs a program with its log on standard output: the runner of `cargo run` in boards/qemu-mps2.
    ///
    /// Uses QEMU's own network: the board finds this host at 10.0.2.2, with `outrigger sim ur` and `outrigger watch`.
    /// Ends with the board's own exit status.
    Board {
        /// The program.
        #[arg(value_name = "FILE")]
        elf: PathBuf,
        /// The emulated machine.
        #[arg(long, value_enum, default_value = "an386")]
        machine: Processor,
        /// The device at the board's serial line, in QEMU's notation: unix:PATH,server=on,wait=off
        #[arg(long, env = "OUTRIGGER_UART", value_name = "DEVICE")]
        uart: Option<String>,
        /// The device at the line for settings, in the same notation; `outrigger board` is at the other end.
        #[arg(long, env = "OUTRIGGER_BENCH", value_name = "DEVICE")]
        bench: Option<String>,
        /// The options for the program.
        #[arg(value_name = "KEY=VALUE")]
        options: Vec<String>,
        /// Further arguments for QEMU.
        #[arg(last = true, value_name = "QEMU OPTION")]
        qemu: Vec<String>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Processor {
    /// Cortex-M4F.
    An386,
    /// Cortex-M7.
    An500,
    /// Cortex-M33.
    An505,
}

impl From<Processor> for Machine {
    fn from(processor: Processor) -> Self {
        match processor {
            Processor::An386 => Self::An386,
            Processor::An500 => Self::An500,
            Processor::An505 => Self::An505,
        }
    }
}

fn software(text: &str) -> Result<SoftwareVersion, String> {
    let numbers = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let (major, minor) = numbers.ok_or("a version has two numbers, for example 5.15")?;
    let software = SoftwareVersion::new(major, minor);
    let options = outrigger_sim::controller::Options::for_software(software);
    outrigger_sim::controller::Controller::new(options).map_err(|error| error.to_string())?;
    Ok(software)
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Standoff { machine, seconds, software, elf, seed } => {
            let plan = Plan { software, span: Duration::from_secs(seconds), seed };
            standoff(machine.into(), &plan, elf)
        }
        Task::Board { elf, machine, uart, bench, options, qemu } => {
            let [serial, bench] = [uart, bench].map(|line| line.map_or(SerialMode::Nothing, SerialMode::Device));
            board(&Command { serial, bench, options, more: qemu, ..Command::new(machine.into(), &elf) })
        }
    }
}

fn standoff(machine: Machine, plan: &Plan, elf: Option<PathBuf>) -> ExitCode {
    let firmware = match &elf {
        Some(elf) => Firmware::open(machine, elf),
        None => {
            println!("building the firmware for mps2-{} ({})", machine.name(), machine.processor());
            Firmware::build(machine, Some(&closed_loop::configuration(plan.software)), true)
        }
    };
    let firmware = match firmware {
        Ok(firmware) => firmware,
        Err(error) => return fail(&error.to_string()),
    };
    let teller = Box::new(|at: SimTime, text: &str| println!("{:>9}  {text}", at.to_string()));
    let report = closed_loop::play(&firmware, plan, teller);
    let report = match report {
        Ok(report) => report,
        Err(error) => return fail(&error.to_string()),
    };
    println!();
    for (name, figure) in &report.figures {
        println!("{name:<36}{figure}");
    }
    println!();
    for check in &report.checks {
        println!("{} {:<28} {}", if check.passed { "ok    " } else { "FAILED" }, check.name, check.detail);
    }
    for check in report.failed() {
        eprintln!("error: check {} does not hold: {}", check.name, check.detail);
    }
    if report.failed().next().is_none() { ExitCode::SUCCESS } else { ExitCode::from(4) }
}

fn board(command: &Command) -> ExitCode {
    match run(command) {
        Ok(Exit::Success) => ExitCode::SUCCESS,
        Ok(Exit::Failure(status)) => ExitCode::from(u8::try_from(status).unwrap_or(1)),
        Ok(Exit::TimedOut | Exit::Killed) => ExitCode::FAILURE,
        Err(error) => fail(&error),
    }
}

/// Starts the board in QEMU, and prints its log until it ends. Returns the way in which it ended.
fn run(command: &Command) -> Result<Exit, String> {
    let firmware = Firmware::open(command.machine, &command.elf).map_err(|error| error.to_string())?;
    let mut process = Process::start(command).map_err(|error| error.to_string())?;
    let mut log = Log::new(firmware.table());
    loop {
        let exit = process.exit();
        log.receive(SimTime::ZERO, &process.output(), |line| println!("{line}"));
        if let Some(exit) = exit {
            eprint!("{}", process.complaints());
            return Ok(exit);
        }
        process.wait();
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}
