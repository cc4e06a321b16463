//! Parses assignments to outputs and variables, as on the command line: `digital-out.3=on`.

use std::str::FromStr;

use outrigger_config::VariableSettings;
use outrigger_core::command::outputs::{
    AnalogDomain, DigitalOutput, ToolVoltage, VARIABLES, VariableKind, VariableValue, Write,
};
use outrigger_wire::robot::Pose;
use outrigger_wire::time::Duration;

/// An assignment to an output or a variable, as on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting(pub Write);

/// The description of all forms of assignments, for error messages and help.
pub const FORMS: &str = "digital-out.N=on|off, configurable-out.N=on|off, tool-out.N=on|off, \
                         analog-out.N=5V|12mA|0.5, tool-voltage=0|12|24, flag.N=on|off, \
                         payload=KG[@X,Y,Z[/IXX,IYY,IZZ,IXY,IXZ,IYZ]], tcp=X,Y,Z,RX,RY,RZ, gravity=X,Y,Z, \
                         speed-slider=0.5 or zero-force-torque; krl-bool.N=on|off, krl-int.N=5 or krl-real.N=0.5 for \
                         a KRC";

/// The built-in names of outputs and variables in assignments (the part before `=` or `.`). A name without a number
/// that is not listed here can only be that of a configured variable.
const WORDS: [&str; 14] = [
    "digital-out",
    "configurable-out",
    "tool-out",
    "analog-out",
    "tool-voltage",
    "flag",
    "payload",
    "tcp",
    "gravity",
    "speed-slider",
    "zero-force-torque",
    "krl-bool",
    "krl-int",
    "krl-real",
];

impl Setting {
    /// Parses an assignment to an output or a variable. The configured `variables` of the controller's program may have
    /// names of their own.
    ///
    /// # Errors
    /// Returns what was expected.
    pub fn of(text: &str, variables: &[VariableSettings]) -> Result<Self, String> {
        let Some((name, value)) = text.split_once('=') else { return text.parse() };
        let named = variables.iter().find(|variable| variable.name.as_deref() == Some(name));
        if let Some(VariableSettings { kind, index, .. }) = named {
            return variable(name, *kind, *index, value).map(Self);
        }
        text.parse().map_err(|why: String| {
            let names: Vec<_> = variables.iter().filter_map(|variable| variable.name.as_deref()).collect();
            if !Self::may_be_named(text) {
                why
            } else if names.is_empty() {
                let variable =
                    format!("'{name}' can only be a [[variable]], and the configuration of the run has none");
                format!("expected {FORMS}, found '{text}'; {variable}")
            } else {
                format!("expected the name of a [[variable]] ({}=), {FORMS}", names.join("=, "))
            }
        })
    }

    /// Returns `true` if `text` may use a name that only a configuration can define.
    pub fn may_be_named(text: &str) -> bool {
        let name = text.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| !name.is_empty() && !name.contains('.') && !WORDS.contains(&name))
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let (name, counts) = name.split_once('.').map_or((name, None), |(name, counts)| (name, Some(counts)));
        let value =
            || value.filter(|value| !value.is_empty()).ok_or_else(|| format!("{name}: expected a value after '='"));
        let index = |most: u8| -> Result<u8, String> {
            let number = counts.and_then(|index| index.parse().ok()).filter(|index| *index <= most);
            number.ok_or_else(|| format!("expected {name}.0 to {name}.{most}"))
        };
        let counted = || counted(name, counts);
        let digital = |output: fn(u8) -> DigitalOutput, most| {
            Ok::<_, String>(Write::Digital { output: output(index(most)?), high: level(name, value()?)? })
        };
        Ok(Self(match name {
            "digital-out" => digital(DigitalOutput::Standard, 7)?,
            "configurable-out" => digital(DigitalOutput::Configurable, 7)?,
            "tool-out" => digital(DigitalOutput::Tool, 1)?,
            "analog-out" => analog(index(1)?, value()?)?,
            "tool-voltage" => Write::ToolVoltage(match value()?.trim_end_matches('V') {
                "0" => ToolVoltage::Off,
                "12" => ToolVoltage::V12,
                "24" => ToolVoltage::V24,
                other => return Err(format!("tool-voltage: expected 0, 12 or 24, found '{other}'")),
            }),
            "flag" => Write::Flag { index: index(31)?, value: level(name, value()?)? },
            "payload" => payload(value()?)?,
            "tcp" => {
                let [x, y, z, rx, ry, rz] =
                    numbers(name, "x,y,z in metres and a rotation vector in radians", value()?)?;
                Write::Tcp(Pose { position: [x, y, z], rotation: [rx, ry, rz] })
            }
            "gravity" => Write::Gravity(numbers(name, "three numbers in m/s^2", value()?)?),
            "speed-slider" => Write::SpeedSlider(number(name, value()?)?),
            "zero-force-torque" => Write::ZeroForceTorqueSensor,
            "krl-bool" => variable(name, VariableKind::Bool, counted()?, value()?)?,
            "krl-int" => variable(name, VariableKind::Int, counted()?, value()?)?,
            "krl-real" => variable(name, VariableKind::Real, counted()?, value()?)?,
            _ => return Err(format!("expected {FORMS}")),
        }))
    }
}

/// Parses the number of a variable of the controller's program, counted from 1.
fn counted(name: &str, index: Option<&str>) -> Result<u8, String> {
    let number = index.and_then(|index| index.parse().ok()).filter(|index| (1..=VARIABLES).contains(index));
    number.ok_or_else(|| format!("expected {name}.1 to {name}.{VARIABLES}"))
}

fn variable(name: &str, kind: VariableKind, index: u8, value: &str) -> Result<Write, String> {
    let value = match kind {
        VariableKind::Bool => VariableValue::Bool(level(name, value)?),
        VariableKind::Int => VariableValue::Int(
            value.parse().map_err(|_| format!("{name}: expected a 32-bit whole number, found '{value}'"))?,
        ),
        VariableKind::Real => VariableValue::Real(number(name, value)?),
    };
    Ok(Write::Variable { index, value })
}

fn level(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(format!("{name}: expected on or off, found '{value}'")),
    }
}

fn number(name: &str, value: &str) -> Result<f32, String> {
    let number = value.parse::<f32>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{name}: expected a number, found '{value}'"))
}

fn numbers<const N: usize>(name: &str, expected: &str, value: &str) -> Result<[f32; N], String> {
    let numbers = value.split(',').map(|number| self::number(name, number)).collect::<Result<Vec<_>, _>>()?;
    <[f32; N]>::try_from(numbers).map_err(|found| format!("{name}: expected {expected}, found {} numbers", found.len()))
}

/// Parses the level of an analog output. Volts and milliamperes also select the mode of the output; a plain fraction
/// keeps its mode.
fn analog(index: u8, value: &str) -> Result<Write, String> {
    const NAME: &str = "analog-out";
    let (domain, level) = if let Some(volts) = value.strip_suffix('V') {
        (Some(AnalogDomain::Voltage), number(NAME, volts)? / 10.0)
    } else if let Some(milliamperes) = value.strip_suffix("mA") {
        (Some(AnalogDomain::Current), (number(NAME, milliamperes)? - 4.0) / 16.0)
    } else {
        (None, number(NAME, value)?)
    };
    if !(0.0..=1.0).contains(&level) {
        return Err(format!("{NAME}: expected 0V to 10V, 4mA to 20mA, or 0 to 1, found '{value}'"));
    }
    Ok(Write::Analog { index, domain, level })
}

fn payload(value: &str) -> Result<Write, String> {
    let (mass, center) = value.split_once('@').map_or((value, None), |(mass, center)| (mass, Some(center)));
    let mass = number("payload", mass.trim_end_matches("kg"))?;
    let (center, inertia) = match center {
        Some(center) => center.split_once('/').map_or((Some(center), None), |(center, of)| (Some(center), Some(of))),
        None => (None, None),
    };
    let center_of_gravity = center
        .map(|center| {
            let axes = center.split(',').map(|axis| number("payload", axis)).collect::<Result<Vec<_>, _>>()?;
            <[f32; 3]>::try_from(axes).map_err(|_| "payload: expected three coordinates in metres after '@'".to_owned())
        })
        .transpose()?;
    Ok(match (center_of_gravity, inertia) {
        (Some(center_of_gravity), Some(inertia)) => Write::TargetPayload {
            mass,
            center_of_gravity,
            inertia: numbers("payload", "six numbers of inertia in kg·m² after '/': xx, yy, zz, xy, xz, yz", inertia)?,
            transition_time: Duration::ZERO,
        },
        _ => Write::Payload { mass, center_of_gravity },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::reason_text;

    fn parsed(text: &str) -> Result<Write, String> {
        text.parse::<Setting>().map(|setting| setting.0)
    }

    #[test]
    fn every_form_is_understood_and_said_back() {
        for (text, said) in [
            ("digital-out.7=on", "digital-out.7=on"),
            ("configurable-out.0=off", "configurable-out.0=off"),
            ("tool-out.1=1", "tool-out.1=on"),
            ("analog-out.0=5V", "analog-out.0=5V"),
            ("analog-out.1=12mA", "analog-out.1=12mA"),
            ("analog-out.1=0.25", "analog-out.1=0.25"),
            ("tool-voltage=24", "tool-voltage=24"),
            ("tool-voltage=0V", "tool-voltage=0"),
            ("flag.31=off", "flag.31=off"),
            ("payload=1.2", "payload=1.2"),
            ("payload=1.2kg@0,-0.01,0.05", "payload=1.2@0,-0.01,0.05"),
            (
                "payload=1.2@0,-0.01,0.05/0.01,0.02,0.03,-0.001,0,0.002",
                "payload=1.2@0,-0.01,0.05/0.01,0.02,0.03,-0.001,0,0.002",
            ),
            ("speed-slider=0.5", "speed-slider=0.5"),
            ("zero-force-torque", "zero-force-torque"),
            ("tcp=0,0,0.1,0,0,-1.5708", "tcp=0,0,0.1,0,0,-1.5708"),
            ("gravity=0,0,9.82", "gravity=0,0,9.82"),
            ("krl-bool.16=1", "krl-bool.16=on"),
            ("krl-int.3=-7", "krl-int.3=-7"),
            ("krl-real.1=0.25", "krl-real.1=0.25"),
        ] {
            assert_eq!(parsed(text).map(|write| reason_text::of_write(&write)).as_deref(), Ok(said));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_was_expected() {
        for (text, expected) in [
            ("digital-out.8=on", "expected digital-out.0 to digital-out.7"),
            ("digital-out=on", "expected digital-out.0 to digital-out.7"),
            ("digital-out.3", "digital-out: expected a value after '='"),
            ("digital-out.3=high", "digital-out: expected on or off, found 'high'"),
            ("analog-out.0=11V", "analog-out: expected 0V to 10V, 4mA to 20mA, or 0 to 1, found '11V'"),
            ("analog-out.0=3mA", "analog-out: expected 0V to 10V, 4mA to 20mA, or 0 to 1, found '3mA'"),
            ("tool-voltage=5", "tool-voltage: expected 0, 12 or 24, found '5'"),
            ("payload=heavy", "payload: expected a number, found 'heavy'"),
            ("payload=1@0,0", "payload: expected three coordinates in metres after '@'"),
            (
                "payload=1@0,0,0/1,2,3",
                "payload: expected six numbers of inertia in kg·m² after '/': xx, yy, zz, xy, xz, yz, found 3 numbers",
            ),
            ("payload=1@0,0,0/1,2,3,4,5,nan", "payload: expected a number, found 'nan'"),
            ("payload=1/1,2,3,4,5,6", "payload: expected a number, found '1/1,2,3,4,5,6'"),
            ("tcp=0,0,0.1", "tcp: expected x,y,z in metres and a rotation vector in radians, found 3 numbers"),
            ("tcp=0,0,0.1,0,0,", "tcp: expected a number, found ''"),
            ("gravity=9.82", "gravity: expected three numbers in m/s^2, found 1 numbers"),
            ("krl-bool.0=on", "expected krl-bool.1 to krl-bool.16"),
            ("krl-int.17=1", "expected krl-int.1 to krl-int.16"),
            ("krl-int.1=0.5", "krl-int: expected a 32-bit whole number, found '0.5'"),
            ("krl-real.1=inf", "krl-real: expected a number, found 'inf'"),
            ("speed-slider=NaN", "speed-slider: expected a number, found 'NaN'"),
        ] {
            assert_eq!(parsed(text), Err(expected.to_owned()));
        }
        assert!(parsed("gripper=open").is_err_and(|error| error.contains("digital-out.N=on|off")));
    }

    #[test]
    fn variables_are_set_by_names_of_the_configuration() {
        let variable = |name: &str, kind, index| VariableSettings { name: Some(name.into()), kind, index };
        let known = [variable("gripper", VariableKind::Bool, 16), variable("speed", VariableKind::Real, 3)];
        let of = |text| Setting::of(text, &known).map(|Setting(write)| reason_text::of_write(&write));
        assert_eq!(of("gripper=on").as_deref(), Ok("krl-bool.16=on"));
        assert_eq!(of("speed=0.5").as_deref(), Ok("krl-real.3=0.5"));
        assert_eq!(of("krl-int.3=1").as_deref(), Ok("krl-int.3=1"));
        assert_eq!(of("gripper=open").unwrap_err(), "gripper: expected on or off, found 'open'");
        let expected = "expected the name of a [[variable]] (gripper=, speed=), digital-out.N=on|off";
        assert!(of("griper=on").unwrap_err().starts_with(expected));
        let none = Setting::of("gripper=on", &[]).unwrap_err();
        let why = "found 'gripper=on'; 'gripper' can only be a [[variable]], and the configuration of the run has none";
        assert!(none.starts_with("expected digital-out.N=on|off") && none.ends_with(why), "{none}");
        assert!(Setting::may_be_named("gripper=on"));
        for built_in in ["digital-out.3=on", "payload=1", "digital-oot.3=on", "=on", "gripper"] {
            assert!(!Setting::may_be_named(built_in), "{built_in}");
        }
    }
}
