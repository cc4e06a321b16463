//! Angles on the command line: in radians, or in degrees with the suffix `deg` or `°`.

use std::str::FromStr;

use outrigger::exit::Failure;

/// The suffixes that mark a number on the command line as degrees.
const DEGREES: [&str; 2] = ["deg", "°"];

/// Splits a unit of degrees off the end of `text`, and behind it the suffix `per`, as `/s` in `deg/s`. `None` if `text`
/// has no such unit.
fn without_degrees<'t>(text: &'t str, per: &str) -> Option<&'t str> {
    let text = text.strip_suffix(per)?;
    DEGREES.iter().find_map(|unit| text.strip_suffix(unit))
}

/// Parses an angle \[rad\]: a number of radians, or of degrees with a unit. `None` if `text` is no finite number.
pub(crate) fn parse_angle(text: &str) -> Option<f32> {
    let (number, in_degrees) = without_degrees(text, "").map_or((text, false), |number| (number, true));
    let number: f32 = number.trim_end().parse().ok()?;
    let radians = if in_degrees { number.to_radians() } else { number };
    radians.is_finite().then_some(radians)
}

/// A speed or an acceleration above 0: of a joint in rad or degrees, or of the tool in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// The magnitude of the speed or acceleration, for a joint \[rad/s, rad/s²\] or for the tool \[m/s, m/s²\].
    pub value: f32,
    /// `true` if the value was given in degrees, so that it cannot be one of the tool.
    pub in_degrees: bool,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let degrees = ["/s", "/s2", "/s²", ""].iter().find_map(|per| without_degrees(text, per));
        let number = degrees.unwrap_or(text).trim_end().parse().ok();
        let number = number.filter(|number: &f32| number.is_finite() && *number > 0.0);
        let number = number.ok_or_else(|| format!("found '{text}', expected a number above 0, or one with deg"))?;
        let value = if degrees.is_some() { number.to_radians() } else { number };
        Ok(Self { value, in_degrees: degrees.is_some() })
    }
}

/// Returns the speed or acceleration given by the option `name`, for a joint \[rad/s, rad/s²\] or, if `linear` is
/// `true`, for the tool \[m/s, m/s²\]. `None` if the option is not given.
///
/// # Errors
/// [`Failure::Usage`] for a value of the tool in degrees.
pub(crate) fn rate(name: &str, rate: Option<Rate>, linear: bool) -> Result<Option<f32>, Failure> {
    match rate {
        Some(Rate { in_degrees: true, .. }) if linear => {
            Err(Failure::Usage(format!("{name}: found degrees, expected metres: with --linear it is the tool's")))
        }
        rate => Ok(rate.map(|rate| rate.value)),
    }
}

/// Converts the angles of a target to radians: `q=0,-90deg,...` or `pose=X,Y,Z,RX,RY,RZ`, whose last three numbers are
/// angles. All other text stays as it is.
pub(crate) fn target_in_radians(text: &str) -> String {
    let Some((kind, numbers)) = text.split_once('=') else { return text.to_owned() };
    let convert = |(place, number): (usize, &str)| {
        let is_angle = kind == "q" || kind == "pose" && place >= 3;
        let degrees = is_angle && without_degrees(number.trim(), "").is_some();
        let radians = degrees.then(|| parse_angle(number.trim())).flatten();
        radians.map_or_else(|| number.to_owned(), |radians| radians.to_string())
    };
    let numbers: Vec<_> = numbers.split(',').enumerate().map(convert).collect();
    format!("{kind}={}", numbers.join(","))
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn an_angle_is_in_radians_or_in_degrees_with_a_unit() {
        for (text, angle) in [("-1.5", -1.5), ("90deg", FRAC_PI_2), ("-90°", -FRAC_PI_2), ("180 deg", PI), ("0", 0.0)]
        {
            assert_eq!(parse_angle(text), Some(angle), "{text}");
        }
        for wrong in ["", "deg", "90rad", "inf", "NaN", "1e39", "90degdeg", "90deg/s"] {
            assert_eq!(parse_angle(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_rate_keeps_its_unit() {
        let rate = |text: &str| text.parse::<Rate>().ok().map(|rate| (rate.value, rate.in_degrees));
        assert_eq!(rate("0.5"), Some((0.5, false)));
        for text in ["180deg/s", "180deg", "180°/s", "180deg/s2", "180 deg/s²"] {
            assert_eq!(rate(text), Some((PI, true)), "{text}");
        }
        for wrong in ["0", "-1", "0deg/s", "", "deg/s", "1/s", "1m/s", "inf"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_angles_of_a_target_may_be_in_degrees() {
        assert_eq!(target_in_radians("q=0,-90deg,1"), format!("q=0,{},1", -FRAC_PI_2));
        assert_eq!(target_in_radians("pose=0.4,0,0.3,0,180deg,0"), format!("pose=0.4,0,0.3,0,{PI},0"));
        for kept in ["pose=90deg,0,0,0,0,0", "q=0,deg", "speed", "x=90deg"] {
            assert_eq!(target_in_radians(kept), kept);
        }
    }
}
