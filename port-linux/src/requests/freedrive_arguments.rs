//! Parses the parameters of freedrive and force mode: `z=-20 tool-speed=0.1`.

use outrigger_core::command::{ForceMode, ForceType, Guidance};
use outrigger_core::mode::GuideLimits;
use outrigger_wire::time::Duration;

/// The names of the axes of a force in a request for force mode.
const AXES: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];
/// The description of all limits of freedrive and force mode, for error messages.
const LIMITS: &str = "renew=S, tool-speed=M/S, joint-speed=RAD/S, deviation=M";

/// Parses the parameters of freedrive.
///
/// # Errors
/// Returns what was expected.
pub fn freedrive(how: &str) -> Result<(Guidance, GuideLimits), String> {
    let mut limits = GuideLimits::default();
    for word in how.split_whitespace() {
        let (name, value) = pair(word)?;
        if !limit(&mut limits, name, value)? {
            return Err(format!("expected {LIMITS}, found '{word}'"));
        }
    }
    checked(Guidance::Freedrive, limits)
}

/// Parses the parameters of force mode.
///
/// # Errors
/// Returns what was expected.
pub fn force(how: &str) -> Result<(Guidance, GuideLimits), String> {
    let mut limits = GuideLimits::default();
    let mut mode = ForceMode::pushing([0.0; 3]);
    for word in how.split_whitespace() {
        let (name, value) = pair(word)?;
        if let Some(axis) = AXES.iter().position(|known| *known == name) {
            mode.selection[axis] = true;
            let value = number(name, value)?;
            if axis < 3 {
                mode.wrench.force[axis] = value;
            } else {
                mode.wrench.torque[axis - 3] = value;
            }
            continue;
        }
        match name {
            "frame" => {
                let [x, y, z, rx, ry, rz] = six(name, value)?;
                (mode.task_frame.position, mode.task_frame.rotation) = ([x, y, z], [rx, ry, rz]);
            }
            "limits" => mode.limits = six(name, value)?,
            "type" => {
                let kind = value.parse().ok().and_then(ForceType::from_number);
                mode.kind = kind.ok_or_else(|| format!("type: expected 1, 2 or 3, found '{value}'"))?;
            }
            "damping" => mode.damping = number(name, value)?,
            "gain" => mode.gain_scaling = number(name, value)?,
            _ if limit(&mut limits, name, value)? => {}
            _ => {
                return Err(format!(
                    "expected x, y, z, rx, ry or rz=N or NM, frame=X,Y,Z,RX,RY,RZ, limits=SIX, type=1|2|3, damping=0..1, \
                     gain=0..2, {LIMITS}, found '{word}'"
                ));
            }
        }
    }
    // The gain scaling has no effect on a CB3, which is accepted.
    mode.check(true).map_err(|error| error.to_string())?;
    checked(Guidance::Force(mode), limits)
}

/// Parses the parameter that decides whether a contact of the tool ends motions.
///
/// # Errors
/// Returns a description of what was expected.
pub fn contact(how: &str) -> Result<bool, String> {
    match how {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("on or off".into()),
    }
}

fn checked(what: Guidance, limits: GuideLimits) -> Result<(Guidance, GuideLimits), String> {
    limits.check_ranges().map_err(|error| error.to_string())?;
    Ok((what, limits))
}

/// Sets the limit `name` of freedrive or force mode. Returns `false` if there is no such limit.
fn limit(limits: &mut GuideLimits, name: &str, value: &str) -> Result<bool, String> {
    match name {
        "renew" => limits.renew_within = Duration::from_micros((number(name, value)?.clamp(0.0, 3_600.0) * 1e6) as u64),
        "tool-speed" => limits.tool_speed = number(name, value)?,
        "joint-speed" => limits.joint_speed = number(name, value)?,
        "deviation" => limits.deviation = number(name, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn pair(word: &str) -> Result<(&str, &str), String> {
    word.split_once('=').ok_or_else(|| format!("expected NAME=VALUE, found '{word}'"))
}

fn number(name: &str, value: &str) -> Result<f32, String> {
    let number = value.parse::<f32>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{name}: expected a number, found '{value}'"))
}

fn six(name: &str, value: &str) -> Result<[f32; 6], String> {
    let numbers = value.split(',').map(|one| number(name, one)).collect::<Result<Vec<_>, _>>()?;
    <[f32; 6]>::try_from(numbers).map_err(|found| format!("{name}: expected six numbers, found {}", found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_force_is_read_with_its_frame_and_limits() {
        let (what, limits) = force("z=-20 rx=0.5 frame=0.1,0,0,0,0,1 type=2 damping=0.1 gain=1 renew=0.5").unwrap();
        let Guidance::Force(mode) = what else { panic!("{what:?}") };
        assert_eq!(mode.selection, [false, false, true, true, false, false]);
        assert_eq!((mode.wrench.force, mode.wrench.torque), ([0.0, 0.0, -20.0], [0.5, 0.0, 0.0]));
        assert_eq!((mode.task_frame.position[0], mode.task_frame.rotation[2]), (0.1, 1.0));
        assert_eq!((mode.damping, mode.gain_scaling, mode.kind), (0.1, 1.0, ForceType::Frame));
        assert_eq!(limits, GuideLimits { renew_within: Duration::from_millis(500), ..GuideLimits::default() });
        assert_eq!(freedrive(""), Ok((Guidance::Freedrive, GuideLimits::default())));
        assert_eq!((contact("on"), contact("off")), (Ok(true), Ok(false)));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_was_expected() {
        for (how, said) in [
            ("", "no axis is selected"),
            ("z", "expected NAME=VALUE, found 'z'"),
            ("z=hard", "z: expected a number, found 'hard'"),
            ("z=-501", "force, number 2, is -501, expected -500.0 to 500.0 N"),
            ("z=1 type=4", "type: expected 1, 2 or 3, found '4'"),
            ("z=1 gain=3", "gain scaling is 3, expected 0.0 to 2.0"),
            ("z=1 frame=1,2", "frame: expected six numbers, found 2"),
            ("z=1 renew=0", "guide.renew_within: expected 0.05 to 60.0 s"),
            ("z=1 hurry=1", "expected x, y, z"),
        ] {
            let error = force(how).unwrap_err();
            assert!(error.starts_with(said), "{how}: {error}");
        }
        assert!(freedrive("z=1").unwrap_err().starts_with("expected renew=S"));
        assert!(contact("maybe").is_err());
    }
}
