//! Outputs of the controller, and what became of them, in words.

use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, ToolVoltage, Write, WriteNews, WriteRefusal};

/// What was to be set, as the command line names it.
#[must_use]
pub fn of_write(write: &Write) -> String {
    let level = |high| if high { "on" } else { "off" };
    match *write {
        Write::Digital { output: DigitalOutput::Standard(index), high } => {
            format!("digital-out {index} {}", level(high))
        }
        Write::Digital { output: DigitalOutput::Configurable(index), high } => {
            format!("configurable-out {index} {}", level(high))
        }
        Write::Digital { output: DigitalOutput::Tool(index), high } => format!("tool-out {index} {}", level(high)),
        Write::Analog { index, domain, level } => {
            let domain = match domain {
                Some(AnalogDomain::Voltage) => " voltage",
                Some(AnalogDomain::Current) => " current",
                None => "",
            };
            format!("analog-out {index} {level}{domain}")
        }
        Write::ToolVoltage(voltage) => format!(
            "tool-voltage {}",
            match voltage {
                ToolVoltage::Off => 0,
                ToolVoltage::V12 => 12,
                ToolVoltage::V24 => 24,
            }
        ),
        Write::Flag { index, value } => format!("flag {index} {}", level(value)),
        Write::Payload { mass, center_of_gravity: None } => format!("payload {mass}"),
        Write::Payload { mass, center_of_gravity: Some([x, y, z]) } => format!("payload {mass} at {x},{y},{z}"),
        Write::SpeedSlider(position) => format!("speed-slider {position}"),
        Write::ZeroForceTorqueSensor => "zero-force-torque".into(),
    }
}

/// What became of it, for people.
#[must_use]
pub fn of_news(news: &WriteNews) -> String {
    match news {
        WriteNews::Sent => "sent".into(),
        WriteNews::Confirmed(after) => format!("confirmed after {:.0} ms", after.as_micros() as f64 / 1e3),
        WriteNews::NeverShown => "sent; this controller shows nothing of it".into(),
        WriteNews::NotConfirmed => "not confirmed: the controller shows something else".into(),
        WriteNews::Superseded => "a later one took its place".into(),
        WriteNews::Overwritten => "somebody else has changed it".into(),
        WriteNews::Refused(refusal) => format!("refused: {refusal}"),
    }
}

/// The same for scripts.
#[must_use]
pub const fn name_of_news(news: &WriteNews) -> &'static str {
    match news {
        WriteNews::Sent => "sent",
        WriteNews::Confirmed(_) => "confirmed",
        WriteNews::NeverShown => "never-shown",
        WriteNews::NotConfirmed => "not-confirmed",
        WriteNews::Superseded => "superseded",
        WriteNews::Overwritten => "overwritten",
        WriteNews::Refused(refusal) => match refusal {
            WriteRefusal::NotConnected => "refused-not-connected",
            WriteRefusal::Full => "refused-full",
            WriteRefusal::Impossible(_) => "refused-impossible",
            WriteRefusal::LocalControl => "refused-local-control",
            WriteRefusal::LinkStale => "refused-link-stale",
            _ => "refused",
        },
    }
}
