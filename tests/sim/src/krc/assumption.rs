//! The undocumented properties of a KRC by name: each assumption of [`Options`] as text, for a terminal.

use std::time::Duration;

use outrigger_wire::fri::{ControlScheme, Quality};

use super::options::{Bridging, FrameOffset, Limits, MirroredFrame, OffsetAfterStop, Options, QualityLimits};
use crate::fault::nearest_of;

/// An assumption about a property of the KRC that is not known: its name, and the value that the simulation is to use.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    row: usize,
    value: String,
}

/// A function that parses the value of an assumption into the options. The error is a description of the expected
/// form.
type Set = fn(&str, &mut Options) -> Result<(), &'static str>;

struct Row {
    name: &'static str,
    default: &'static str,
    what: &'static str,
    set: Set,
}

macro_rules! rows {
    ($($name:literal $default:literal $what:literal => |$text:ident, $options:ident| $set:expr;)+) => {
        &[$(Row { name: $name, default: $default, what: $what, set: |$text, $options| { $set; Ok(()) } }),+]
    };
}

const TABLE: &[Row] = rows! {
    "start-quality" "ok" "least quality at which friStart succeeds: bad, ok, perfect"
        => |text, options| options.start_quality = named(text, &QUALITIES)?;
    "waits-for" "perfect" "quality that the KRL program waits for: bad, ok, perfect"
        => |text, options| options.program.waits_for = named(text, &QUALITIES)?;
    "scheme" "position" "scheme if the convention names none: position, joint-impedance, tool-impedance"
        => |text, options| options.program.scheme = named(text, &SCHEMES)?;
    "first-reflected" "0" "counter that is reflected before the first command"
        => |text, options| options.first_reflected = text.parse().map_err(|_| "a counter, 0 to 65535")?;
    "late-answers" "dropped" "an answer that misses its cycle is dropped or used in the next"
        => |text, options| options.uses_late_answers = named(text, &[("dropped", false), ("used", true)])?;
    "max-bridge" "3" "missing answers in a row that are bridged"
        => |text, options| options.max_bridge = text.parse().map_err(|_| "a number of cycles")?;
    "bridging" "extrapolate" "what bridges a missing answer: extrapolate (the last two setpoints), hold (the last)"
        => |text, options| options.bridging = named(text, &BRIDGING)?;
    "mirror-tolerance" "0.002" "rad between the first command and the setpoint"
        => |text, options| options.mirror_tolerance = number(text, 0.0, 1.0)?;
    "frame-tolerance" "0.005" "m between the first commanded frame and the mirrored one; in rad ten times as much"
        => |text, options| options.frame_tolerance = number(text, 0.0, 1.0)?;
    "mirrored-frame" "setpoint" "where a commanded frame begins: setpoint (with FRI's offset), commanded (without), measured"
        => |text, options| options.mirrored_frame = named(text, &MIRRORED_FRAMES)?;
    "frame-offset" "added" "a frame's FRI offset: added (positions subtracted), product (a frame of the KRC's own)"
        => |text, options| options.frame_offset = named(text, &FRAME_OFFSETS)?;
    "offset-after-stop" "kept" "what FRI has added when commanding ends: kept, taken-over by the KRC's own position"
        => |text, options| options.offset_after_stop = named(text, &OFFSETS)?;
    "perfect" "0.99/0.5/0.1" "answers in time / latency / jitter (periods) that PERFECT needs"
        => |text, options| options.rating.limits[2] = rating(text)?;
    "ok" "0.95/0.8/0.25" "the same for OK"
        => |text, options| options.rating.limits[1] = rating(text)?;
    "bad" "0.9/1/0.5" "the same for BAD"
        => |text, options| options.rating.limits[0] = rating(text)?;
    "rise-after" "100" "good cycles until quality rises by one step"
        => |text, options| options.rating.rise_after = text.parse().map_err(|_| "a number of cycles")?;
    "speeds" "krc" "joint speed limits: krc (of a KRC's configuration), description (lower, of published descriptions)"
        => |text, options| options.limits.velocity = named(text, &[("krc", Limits::default().velocity), ("description", Limits::DESCRIPTION)])?;
    "accelerations" "unchecked" "commanded accelerations: unchecked, checked (against those of a KRC's configuration)"
        => |text, options| options.limits.acceleration = named(text, &[("unchecked", None), ("checked", Some(Limits::ACCELERATION))])?;
    "tool-speed" "2" "m/s of a commanded frame"
        => |text, options| options.limits.tool_speed = number(text, 0.001, 100.0)?;
    "tool-turning" "6.3" "rad/s of a commanded frame"
        => |text, options| options.limits.tool_turning = number(text, 0.001, 100.0)?;
    "t1-factor" "0.1" "factor on the speed limits in T1"
        => |text, options| options.t1_factor = number(text, 0.001, 1.0)?;
    "stop-deceleration" "8" "rad/s² of a stop"
        => |text, options| options.arm.stop_deceleration = number(text, 0.1, 1_000.0)?;
    "lag" "0.004" "s by which the arm is behind its setpoint in joint position control"
        => |text, options| options.arm.lag = Duration::from_secs_f64(number(text, 0.0, 1.0)?);
};

const QUALITIES: [(&str, Quality); 3] = [("bad", Quality::Bad), ("ok", Quality::Ok), ("perfect", Quality::Perfect)];
const SCHEMES: [(&str, ControlScheme); 3] = [
    ("position", ControlScheme::Position),
    ("joint-impedance", ControlScheme::JointImpedance),
    ("tool-impedance", ControlScheme::CartesianImpedance),
];
const BRIDGING: [(&str, Bridging); 2] = [("extrapolate", Bridging::Extrapolate), ("hold", Bridging::Hold)];
const FRAME_OFFSETS: [(&str, FrameOffset); 2] = [("added", FrameOffset::Added), ("product", FrameOffset::Product)];
const MIRRORED_FRAMES: [(&str, MirroredFrame); 3] = [
    ("setpoint", MirroredFrame::Setpoint),
    ("commanded", MirroredFrame::Commanded),
    ("measured", MirroredFrame::Measured),
];
const OFFSETS: [(&str, OffsetAfterStop); 2] =
    [("kept", OffsetAfterStop::Kept), ("taken-over", OffsetAfterStop::TakenOver)];

fn named<T: Copy>(text: &str, values: &[(&str, T)]) -> Result<T, &'static str> {
    values.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or("one of the words above")
}

fn number(text: &str, least: f64, most: f64) -> Result<f64, &'static str> {
    text.parse().ok().filter(|value| (least..=most).contains(value)).ok_or("a number in range")
}

fn rating(text: &str) -> Result<QualityLimits, &'static str> {
    const FORM: &str = "RATE/LATENCY/JITTER such as 0.95/0.8/0.25";
    let mut parts = text.split('/').map(|part| number(part, 0.0, 100.0).map_err(|_| FORM));
    let mut next = || parts.next().unwrap_or(Err(FORM));
    let limits = QualityLimits { answer_rate: next()?, latency: next()?, jitter: next()? };
    if limits.answer_rate > 1.0 || parts.next().is_some() { Err(FORM) } else { Ok(limits) }
}

/// An error: an assumption that could not be parsed, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumptionError(String);

impl std::fmt::Display for AssumptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AssumptionError {}

impl std::str::FromStr for Assumption {
    type Err = AssumptionError;
    fn from_str(text: &str) -> Result<Self, AssumptionError> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| AssumptionError(format!("`{text}`: write NAME=VALUE, e.g. max-bridge=5")))?;
        let row = TABLE.iter().position(|row| row.name == name).ok_or_else(|| {
            let nearest = nearest_of(TABLE.iter().map(|row| row.name), name);
            AssumptionError(format!("no assumption `{name}`; did you mean `{nearest}`? --help lists them"))
        })?;
        let assumption = Self { row, value: value.to_owned() };
        assumption.apply(&mut Options::default())?;
        Ok(assumption)
    }
}

impl Assumption {
    /// Sets the option that the assumption names to its value in `options`.
    ///
    /// # Errors
    /// Returns an error with the expected form of the value.
    pub fn apply(&self, options: &mut Options) -> Result<(), AssumptionError> {
        let Row { name, what, set, .. } = &TABLE[self.row];
        set(&self.value, options)
            .map_err(|expected| AssumptionError(format!("`{name}={}`: expected {expected}; {what}", self.value)))
    }

    /// Returns the names of all assumptions with their defaults, for a terminal.
    #[must_use]
    pub fn help() -> String {
        TABLE.iter().map(|Row { name, default, what, .. }| format!("  {name:<18}{what} [{default}]\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_that_is_shown_is_the_one_in_force() {
        for Row { name, default, .. } in TABLE {
            let mut options = Options::default();
            format!("{name}={default}").parse::<Assumption>().unwrap().apply(&mut options).unwrap();
            assert_eq!(options, Options::default(), "{name}");
        }
    }

    #[test]
    fn a_value_is_put_where_it_belongs() {
        let mut options = Options::default();
        for text in ["max-bridge=7", "bridging=hold", "ok=0.8/0.9/0.6", "speeds=description", "lag=0.02"] {
            text.parse::<Assumption>().unwrap().apply(&mut options).unwrap();
        }
        assert_eq!((options.max_bridge, options.bridging), (7, Bridging::Hold));
        assert_eq!(options.rating.limits[1], QualityLimits { answer_rate: 0.8, latency: 0.9, jitter: 0.6 });
        assert_eq!((options.limits.velocity, options.arm.lag), (Limits::DESCRIPTION, Duration::from_millis(20)));
    }

    #[test]
    fn says_what_is_wrong_and_what_was_expected() {
        let message = |text: &str| text.parse::<Assumption>().unwrap_err().to_string();
        assert!(message("max-brige=3").contains("did you mean `max-bridge`"), "{}", message("max-brige=3"));
        assert!(message("max-bridge").contains("NAME=VALUE"));
        assert!(message("start-quality=good").contains("bad, ok, perfect"));
        assert!(message("bad=0.9/1").contains("RATE/LATENCY/JITTER"));
        assert!(message("t1-factor=3").contains("a number in range"));
    }
}
