//! The command `outrigger tool`: provides the serial line at the tool of an arm as a local TCP port or
//! pseudo-terminal.
//!
//! The library sets the line's parameters and moves the bytes ([`outrigger::tool_line`]).

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use outrigger_config::RobotAddress;
use outrigger_core::client::tool_line::{self, ToolCommunication, ToolVoltage};
use outrigger_wire::time::Duration;

use crate::args::parse_loopback;
use outrigger::exit::Outcome;
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::host::target::Target;
use outrigger::show::say;
use outrigger::tool_line::{Forwarding, LocalEnd, forward};

/// The time between two attempts to reach a robot whose connection was lost.
const RETRY: Duration = Duration::from_secs(1);

/// The arguments of `outrigger tool`.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("place").required(true).args(["pty", "listen"])))]
pub(crate) struct ToolArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999
    pub robot: RobotAddress,
    /// Baud rate: 9600, 19200, 38400, 57600, 115200, 1000000, 2000000 or 5000000
    #[arg(long, value_name = "N")]
    pub baud: u32,
    /// Parity bit of the tool's serial line
    #[arg(long, value_name = "PARITY", default_value = "none")]
    pub parity: Parity,
    /// Stop bits of the tool's serial line: 1 or 2
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub stop_bits: u8,
    /// Silence after which received characters are passed on, 1 to 40 characters
    #[arg(long, value_name = "CHARS", default_value_t = 1.5)]
    pub rx_idle: f32,
    /// Silence between two transmissions, 0 to 40 characters
    #[arg(long, value_name = "CHARS", default_value_t = 3.5)]
    pub tx_idle: f32,
    /// Supply voltage of the tool in V: 0, 12 or 24; without it, the voltage is not changed
    #[arg(long, value_name = "V")]
    pub voltage: Option<Voltage>,
    /// Make a pseudo-terminal with this name, which must be free
    #[arg(long, value_name = "PATH")]
    pub pty: Option<PathBuf>,
    /// Listen for TCP at this address, for one client at a time
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_loopback)]
    pub listen: Option<SocketAddr>,
}

/// The parity of the serial line, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Parity {
    None,
    Odd,
    Even,
}

/// The supply voltage of the tool, by its number on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Voltage {
    #[value(name = "0")]
    Off,
    #[value(name = "12")]
    V12,
    #[value(name = "24")]
    V24,
}

impl ToolArgs {
    /// Returns the parameters of the tool's serial line that the arguments request.
    fn line(&self) -> ToolCommunication {
        ToolCommunication {
            baud_rate: self.baud,
            parity: match self.parity {
                Parity::None => tool_line::Parity::None,
                Parity::Odd => tool_line::Parity::Odd,
                Parity::Even => tool_line::Parity::Even,
            },
            stop_bits: self.stop_bits,
            rx_idle_chars: self.rx_idle,
            tx_idle_chars: self.tx_idle,
            voltage: self.voltage.map(|voltage| match voltage {
                Voltage::Off => ToolVoltage::Off,
                Voltage::V12 => ToolVoltage::V12,
                Voltage::V24 => ToolVoltage::V24,
            }),
        }
    }

    /// Returns the end of the tool's serial line on this machine that the arguments request: a pseudo-terminal or a TCP
    /// port. `None` if neither `--pty` nor `--listen` is given.
    fn place(&self) -> Option<LocalEnd> {
        self.pty.clone().map(LocalEnd::Pty).or(self.listen.map(LocalEnd::Tcp))
    }
}

/// Runs `outrigger tool`: forwards the serial line of the robot's tool to this machine.
///
/// # Errors
/// Returns the errors of [`forward`].
pub(crate) fn run(args: &ToolArgs) -> Outcome {
    let Some(place) = args.place() else { return Ok(()) };
    let robot = Target::resolve(&args.robot)?;
    let forwarding = Forwarding { robot, line: args.line(), place, retry: RETRY };
    outrigger::host::runtime::one_threaded()?.block_on(async {
        let mut signals = Signals::listen(OnSignal::Nothing)?;
        forward(&forwarding, &mut |text: &str| say!("{text}"), async || signals.next().await).await
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ToolArgs,
    }

    fn parse(words: &str) -> Result<ToolArgs, String> {
        let words = std::iter::once("tool").chain(words.split(' '));
        Line::try_parse_from(words).map(|line| line.args).map_err(|error| error.to_string())
    }

    #[test]
    fn every_setting_reaches_the_line_and_there_is_one_local_end() {
        let args =
            parse("10.0.0.2 --baud 9600 --parity odd --stop-bits 2 --rx-idle 2 --tx-idle 0 --voltage 12 --pty grip");
        let args = args.expect("a command");
        assert_eq!(
            args.line(),
            ToolCommunication {
                baud_rate: 9_600,
                parity: tool_line::Parity::Odd,
                stop_bits: 2,
                rx_idle_chars: 2.0,
                tx_idle_chars: 0.0,
                voltage: Some(ToolVoltage::V12),
            }
        );
        assert_eq!(args.place(), Some(LocalEnd::Pty("grip".into())));
        let args = parse("10.0.0.2 --baud 115200 --listen 127.0.0.1:5020").expect("a command");
        assert_eq!(args.line().voltage, None);
        assert_eq!(args.place(), Some(LocalEnd::Tcp(SocketAddr::from(([127, 0, 0, 1], 5_020)))));
        for (words, expected) in [
            ("10.0.0.2 --baud 115200", "<--pty <PATH>|--listen <[ADDR:]PORT>>"),
            ("10.0.0.2 --baud 115200 --pty a --listen 127.0.0.1:5020", "cannot be used with"),
            ("10.0.0.2 --pty a", "--baud <N>"),
            ("10.0.0.2 --baud 115200 --voltage 48 --pty a", "possible values: 0, 12, 24"),
        ] {
            let error = parse(words).expect_err(words);
            assert!(error.contains(expected), "{words}: {error}");
        }
    }

    #[test]
    fn settings_that_do_not_exist_are_usage_before_anything_is_connected() {
        for (words, expected) in [
            ("192.0.2.1 --baud 115201 --listen 127.0.0.1:0", "baud rate is 115201, allowed are 9600, 19200"),
            ("192.0.2.1 --baud 9600 --stop-bits 3 --listen 127.0.0.1:0", "number of stop bits is 3, allowed 1 to 2"),
            ("192.0.2.1 --baud 9600 --rx-idle 0.5 --listen 127.0.0.1:0", "rx idle characters is 0.5, allowed 1 to 40"),
        ] {
            let failure = run(&parse(words).expect("a command")).expect_err(words);
            assert_eq!(failure.code(), 2, "{words}");
            assert!(failure.to_string().contains(expected), "{failure}");
        }
    }
}
