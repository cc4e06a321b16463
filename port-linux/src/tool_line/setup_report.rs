//! Describes the result of setting the parameters of the tool's serial line.

use std::net::SocketAddr;

use outrigger_core::client::tool_line::{Parity, SetupOutcome, Shown, ToolCommunication, ToolVoltage};

use crate::exit::Failure;

/// Returns a message that the parameters of the tool's serial line were set, or were set already. `trouble` is the
/// error of the operating system or the message of the controller, if there is one.
///
/// # Errors
/// Returns [`Failure::Connection`] with advice if the line does not have the requested parameters, [`Failure::Usage`]
/// if they are not valid.
pub(super) fn outcome(
    outcome: &SetupOutcome,
    line: &ToolCommunication,
    at: SocketAddr,
    trouble: Option<String>,
) -> Result<String, Failure> {
    let failed = |text: String| Err(Failure::Connection(text));
    let asked = asked(line);
    match *outcome {
        SetupOutcome::Set => Ok(format!("Tool line set: {asked}")),
        SetupOutcome::AlreadySet => Ok(format!("Tool line already set, nothing was sent: {asked}")),
        SetupOutcome::NoSuchLine(Some(software)) if software.major < 5 => failed(format!(
            "the robot at {at} has software {software}: such an arm has no serial line at its tool, which came with e-Series, software 5.0"
        )),
        SetupOutcome::NoSuchLine(_) => failed(format!(
            "the robot at {at} shows no serial line at its tool in its states: an arm of e-Series or PolyScope X is needed"
        )),
        SetupOutcome::Invalid(error) => Err(Failure::Usage(error.to_string())),
        SetupOutcome::LocalControl(now) => failed(format!(
            "the robot at {at} is in local control and accepts no settings (C210): choose remote control at the \
             pendant, or set the tool line there, under Installation, Tool I/O. Expected {asked}; the robot shows \
             {}",
            shown(&now)
        )),
        SetupOutcome::NotTaken(now) => {
            let said = trouble.map_or_else(String::new, |text| format!("; its message: {text}"));
            failed(format!(
                "the robot at {at} did not apply the settings of the tool line{said}. Expected {asked}; the robot \
                 shows {}. Is the robot in remote control, and does the installation leave the tool to the user \
                 (Installation, Tool I/O, controlled by)?",
                shown(&now)
            ))
        }
        SetupOutcome::NoState => failed(format!("{at} sends no robot state: is the controller still starting?")),
        SetupOutcome::Refused => failed(trouble.unwrap_or_else(|| format!("{at} refuses the connection"))),
        SetupOutcome::NoConnection => {
            failed(format!("no answer from {at}: check the address, that the controller is on, and the firewall"))
        }
        SetupOutcome::NoGreeting => {
            failed(format!("{at} accepts the connection and sends nothing: is it a controller, and started?"))
        }
        SetupOutcome::WrongService(_) => {
            failed(format!("{at} does not send a controller's primary messages: check the port base"))
        }
        SetupOutcome::Closed { sent: false } => {
            failed(format!("{at} closed the connection before the tool line was set up"))
        }
        SetupOutcome::Closed { sent: true } => {
            failed(format!("{at} closed the connection when the tool line was set up: is the robot in local control?"))
        }
    }
}

/// Formats the requested parameters of the tool's serial line for people.
fn asked(line: &ToolCommunication) -> String {
    let parity = i32::from(line.parity.number());
    let voltage = line.voltage.map(ToolVoltage::volts);
    settings(&Shown {
        enabled: true,
        baud_rate: i32::try_from(line.baud_rate).unwrap_or(i32::MAX),
        parity,
        stop_bits: line.stop_bits.into(),
        rx_idle_chars: line.rx_idle_chars,
        tx_idle_chars: line.tx_idle_chars,
        voltage,
    })
}

/// Formats the parameters of the tool's serial line that the controller reports, for people.
fn shown(now: &Shown) -> String {
    format!("{}{}", if now.enabled { "" } else { "the line off, " }, settings(now))
}

fn settings(line: &Shown) -> String {
    let parity = [(Parity::None, "no parity"), (Parity::Odd, "odd parity"), (Parity::Even, "even parity")];
    let parity = parity.into_iter().find(|(parity, _)| i32::from(parity.number()) == line.parity);
    let parity = parity.map_or_else(|| format!("parity {}", line.parity), |(_, words)| words.to_owned());
    let plural = if line.stop_bits == 1 { "" } else { "s" };
    let voltage = line.voltage.map_or_else(String::new, |volts| format!(", tool voltage {volts} V"));
    format!(
        "{} baud, {parity}, {} stop bit{plural}, idle characters {} (rx) and {} (tx){voltage}",
        line.baud_rate, line.stop_bits, line.rx_idle_chars, line.tx_idle_chars
    )
}
