//! The outputs that the request `set` can set, in the notation of `outrigger io`.

use outrigger_core::command::outputs::{
    DigitalOutput, ToolVoltage, VARIABLES, VariableValue, Write, WriteOutcome, WriteRefusal,
};
use outrigger_remote::request::keyed::OutputOutcome;
use outrigger_remote::request::number;
use outrigger_wire::robot::Pose;

/// Parses an output of the controller and its value from the text of a client's request; `None` for invalid text and
/// for values that only the host program can set, such as analog outputs and the speed slider.
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
        "payload" => {
            let (mass, center) = value.split_once('@').map_or((value, None), |(mass, center)| (mass, Some(center)));
            let center_of_gravity = match center {
                Some(center) => Some(numbers(center)?),
                None => None,
            };
            Write::Payload { mass: number(mass.trim_end_matches("kg"))?, center_of_gravity }
        }
        "tcp" => {
            let [x, y, z, rx, ry, rz] = numbers(value)?;
            Write::Tcp(Pose { position: [x, y, z], rotation: [rx, ry, rz] })
        }
        "gravity" => Write::Gravity(numbers(value)?),
        "krl-bool" => variable(index(VARIABLES)?, VariableValue::Bool(high?))?,
        "krl-int" => variable(index(VARIABLES)?, VariableValue::Int(value.parse().ok()?))?,
        "krl-real" => variable(index(VARIABLES)?, VariableValue::Real(number(value)?))?,
        _ => return None,
    })
}

/// Returns a request to write a variable of the controller; `index` counts from 1, and `None` is returned for 0.
fn variable(index: u8, value: VariableValue) -> Option<Write> {
    (index > 0).then_some(Write::Variable { index, value })
}

/// Parses exactly `N` numbers with commas between them from a request's text; `None` if it contains anything else.
fn numbers<const N: usize>(text: &str) -> Option<[f32; N]> {
    let (mut numbers, mut parts) = ([0.0; N], text.split(','));
    for one in &mut numbers {
        *one = number(parts.next()?)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Returns the result of setting an output of the controller, in the form that a client receives; `None` while it is
/// undecided.
pub(super) const fn news(of: WriteOutcome) -> Option<OutputOutcome> {
    Some(match of {
        WriteOutcome::Sent | WriteOutcome::Overwritten => return None,
        WriteOutcome::Confirmed(after) => OutputOutcome::Confirmed(after),
        WriteOutcome::NeverShown => OutputOutcome::NeverShown,
        WriteOutcome::NotConfirmed => OutputOutcome::NotConfirmed,
        WriteOutcome::Superseded => OutputOutcome::Superseded,
        WriteOutcome::Refused(WriteRefusal::NotConnected) => OutputOutcome::NotConnected,
        WriteOutcome::Refused(WriteRefusal::LocalControl) => OutputOutcome::LocalControl,
        WriteOutcome::Refused(WriteRefusal::NoInput) => OutputOutcome::NoInput,
        WriteOutcome::Refused(WriteRefusal::Off) => OutputOutcome::Off,
        WriteOutcome::Refused(WriteRefusal::LinkStale) => OutputOutcome::LinkStale,
        WriteOutcome::Refused(WriteRefusal::Full) => OutputOutcome::Full,
        WriteOutcome::Refused(WriteRefusal::Commanding) => OutputOutcome::Commanding,
        WriteOutcome::Refused(WriteRefusal::NoSuchOutput) => OutputOutcome::NoSuchOutput,
        WriteOutcome::Refused(WriteRefusal::Reserved) => OutputOutcome::Reserved,
        WriteOutcome::Refused(_) => OutputOutcome::Impossible,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_as_a_host_reads_them() {
        let digital = |output| Write::Digital { output, high: true };
        let payload = |mass, center_of_gravity| Some(Write::Payload { mass, center_of_gravity });
        let variable = |index, value| Some(Write::Variable { index, value });
        let tcp = Pose { position: [0.0, 0.0, 0.1], rotation: [0.0, 0.0, -1.5] };
        for (text, write) in [
            ("digital-out.3=on", Some(digital(DigitalOutput::Standard(3)))),
            ("configurable-out.7=1", Some(digital(DigitalOutput::Configurable(7)))),
            ("tool-out.1=true", Some(digital(DigitalOutput::Tool(1)))),
            ("flag.31=off", Some(Write::Flag { index: 31, value: false })),
            ("tool-voltage=24V", Some(Write::ToolVoltage(ToolVoltage::V24))),
            ("zero-force-torque", Some(Write::ZeroForceTorqueSensor)),
            ("payload=1.2", payload(1.2, None)),
            ("payload=1.2kg@0,-0.01,0.05", payload(1.2, Some([0.0, -0.01, 0.05]))),
            ("tcp=0,0,0.1,0,0,-1.5", Some(Write::Tcp(tcp))),
            ("gravity=0,0,9.82", Some(Write::Gravity([0.0, 0.0, 9.82]))),
            ("krl-bool.16=on", variable(16, VariableValue::Bool(true))),
            ("krl-int.3=-7", variable(3, VariableValue::Int(-7))),
            ("krl-real.1=0.25", variable(1, VariableValue::Real(0.25))),
            ("digital-out.8=on", None),
            ("digital-out=on", None),
            ("digital-out.3=maybe", None),
            ("flag.32=on", None),
            ("tool-voltage=13", None),
            ("payload=heavy", None),
            ("payload=1@0,0", None),
            ("payload=1@0,0,0/1,2,3,4,5,6", None),
            ("tcp=0,0,0.1", None),
            ("gravity=0,0,9.82,0", None),
            ("krl-bool.0=on", None),
            ("krl-int.17=1", None),
            ("krl-int.1=0.5", None),
            ("krl-real.1=inf", None),
            ("speed-slider=0.5", None),
            ("", None),
        ] {
            assert_eq!(parsed(text), write, "{text}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_own_reason() {
        for (refusal, told) in [
            (WriteRefusal::Commanding, OutputOutcome::Commanding),
            (WriteRefusal::NoSuchOutput, OutputOutcome::NoSuchOutput),
            (WriteRefusal::Reserved, OutputOutcome::Reserved),
            (WriteRefusal::Full, OutputOutcome::Full),
            (WriteRefusal::NotFinite, OutputOutcome::Impossible),
        ] {
            assert_eq!(news(WriteOutcome::Refused(refusal)), Some(told));
        }
    }
}
