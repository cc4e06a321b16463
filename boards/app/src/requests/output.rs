//! What `set` can set from afar, as `outrigger io` writes it.

use outrigger_core::command::outputs::{DigitalOutput, ToolVoltage, Write, WriteNews, WriteRefusal};
use outrigger_core::request::keyed::News;

/// `None` for what is none, and for what a host's `set` has besides: analogue outputs and the payload.
pub(super) fn parsed(text: &str) -> Option<Write> {
    let Some((name, value)) = text.split_once('=') else {
        return (text == "zero-force-torque").then_some(Write::ZeroForceTorqueSensor);
    };
    let high = match value {
        "on" | "true" | "1" => Some(true),
        "off" | "false" | "0" => Some(false),
        _ => None,
    };
    let (name, index) = name.split_once('.').map_or((name, None), |(name, index)| (name, Some(index)));
    let index = |most: u8| index.and_then(|index| index.parse::<u8>().ok()).filter(|index| *index <= most);
    Some(match name {
        "digital-out" => Write::Digital { output: DigitalOutput::Standard(index(7)?), high: high? },
        "configurable-out" => Write::Digital { output: DigitalOutput::Configurable(index(7)?), high: high? },
        "tool-out" => Write::Digital { output: DigitalOutput::Tool(index(1)?), high: high? },
        "flag" => Write::Flag { index: index(31)?, value: high? },
        "tool-voltage" => Write::ToolVoltage(match value.trim_end_matches('V') {
            "0" => ToolVoltage::Off,
            "12" => ToolVoltage::V12,
            "24" => ToolVoltage::V24,
            _ => return None,
        }),
        _ => return None,
    })
}

/// What became of it; `None` while that is open.
pub(super) const fn news(of: WriteNews) -> Option<News> {
    Some(match of {
        WriteNews::Sent | WriteNews::Overwritten => return None,
        WriteNews::Confirmed(after) => News::Confirmed(after),
        WriteNews::NeverShown => News::NeverShown,
        WriteNews::NotConfirmed => News::NotConfirmed,
        WriteNews::Superseded => News::Superseded,
        WriteNews::Refused(WriteRefusal::NotConnected) => News::NotConnected,
        WriteNews::Refused(WriteRefusal::LocalControl) => News::LocalControl,
        WriteNews::Refused(WriteRefusal::NoInput) => News::NoInput,
        WriteNews::Refused(WriteRefusal::Off) => News::Off,
        WriteNews::Refused(WriteRefusal::LinkStale | WriteRefusal::Full) => News::LinkStale,
        WriteNews::Refused(_) => News::Impossible,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_as_a_host_reads_them() {
        let digital = |output| Write::Digital { output, high: true };
        for (text, write) in [
            ("digital-out.3=on", Some(digital(DigitalOutput::Standard(3)))),
            ("configurable-out.7=1", Some(digital(DigitalOutput::Configurable(7)))),
            ("tool-out.1=true", Some(digital(DigitalOutput::Tool(1)))),
            ("flag.31=off", Some(Write::Flag { index: 31, value: false })),
            ("tool-voltage=24V", Some(Write::ToolVoltage(ToolVoltage::V24))),
            ("zero-force-torque", Some(Write::ZeroForceTorqueSensor)),
            ("digital-out.8=on", None),
            ("digital-out=on", None),
            ("digital-out.3=maybe", None),
            ("flag.32=on", None),
            ("tool-voltage=13", None),
            ("payload=1", None),
            ("", None),
        ] {
            assert_eq!(parsed(text), write, "{text}");
        }
    }
}
