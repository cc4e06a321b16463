//! The parser for faults, with its error messages.

use std::time::Duration;

use super::{Argument, Direction, Fault, FaultKind, Lasting, Row, Selectors, TABLE, Value};
use crate::port::Port;
use crate::robot::UNLOCK_AFTER;
use crate::service::Service;
use crate::time::SimTime;

/// An error: the text of a fault that is to be injected could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultError {
    /// The text of the fault that could not be parsed.
    pub spec: String,
    /// The reason for which the text could not be parsed.
    pub problem: Problem,
}

/// The reason for which the text of a fault that is to be injected could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The fault's text has no start time, `@start`.
    NoStart,
    /// No kind of fault has the name in the text.
    UnknownKind {
        /// The kind of fault that the text names.
        kind: String,
        /// The existing kind of fault whose name is most similar.
        nearest: &'static str,
    },
    /// The selector is no port and not `up` or `down`, or this kind does not accept it.
    Selector {
        /// The selector in the fault's text, such as `/port`.
        selector: String,
    },
    /// A time in the fault's text could not be parsed.
    Time {
        /// The part of the fault's text with the time: `start`, `duration` or `argument`.
        part: &'static str,
        /// The text that is not a time.
        text: String,
    },
    /// The argument of the fault could not be parsed.
    Argument {
        /// The text of the fault's argument.
        text: String,
        /// A description of the arguments that the kind of fault accepts.
        expected: &'static str,
    },
    /// The text has an argument or a duration that the kind does not accept.
    Surplus {
        /// The part that the kind of fault does not accept: `duration` or `argument`.
        part: &'static str,
        /// The text of the part that is not accepted.
        text: String,
    },
    /// A protective stop cannot be unlocked as early as the fault's duration demands: it is below 5 s.
    UnlockedTooEarly,
}

impl std::fmt::Display for FaultError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fault `{}`: ", self.spec)?;
        match &self.problem {
            Problem::NoStart => write!(f, "no start; write KIND@START, e.g. stall@5s:200ms"),
            Problem::UnknownKind { kind, nearest } => write!(f, "no kind `{kind}`; did you mean `{nearest}`?"),
            Problem::Selector { selector } => {
                write!(f, "`{selector}` does not select anything here; ports are 80, 29999, 30001…30004, 30011…30013")?;
                write!(f, ", directions up and down, and only faults of connections take them")
            }
            Problem::Time { part, text } => write!(f, "{part} `{text}` is not a time such as 200ms, 5s or 1m"),
            Problem::Argument { text, expected } => write!(f, "argument `{text}` is not {expected}"),
            Problem::Surplus { part, text } => write!(f, "this kind has no {part}, but `{text}` was given"),
            Problem::UnlockedTooEarly => {
                write!(f, "a protective stop can be unlocked 5 s after it occurred, not earlier")
            }
        }
    }
}

impl std::error::Error for FaultError {}

impl Fault {
    /// Parses the text of a fault, `kind[/selector]…@start[:duration][:argument]`.
    ///
    /// # Errors
    /// [`FaultError`] with the part that could not be parsed and the expected form.
    pub fn parse(spec: &str) -> Result<Self, FaultError> {
        parse(spec.trim()).map_err(|problem| FaultError { spec: spec.to_owned(), problem })
    }
}

impl std::str::FromStr for Fault {
    type Err = FaultError;
    fn from_str(spec: &str) -> Result<Self, FaultError> {
        Self::parse(spec)
    }
}

fn parse(spec: &str) -> Result<Fault, Problem> {
    let (what, when) = spec.split_once('@').ok_or(Problem::NoStart)?;
    let mut selectors = what.split('/');
    let kind = selectors.next().unwrap_or_default();
    let row = TABLE.iter().find(|row| row.name == kind).ok_or_else(|| Problem::UnknownKind {
        kind: kind.to_owned(),
        nearest: nearest_of(TABLE.iter().map(|row| row.name), kind),
    })?;
    let (port, direction) = select(row, selectors)?;

    let mut parts = when.splitn(3, ':');
    let start = time("start", parts.next().unwrap_or_default())?;
    let duration = match parts.next() {
        None | Some("") if row.lasting == Lasting::Span => None,
        None | Some("") => Some(Duration::ZERO),
        Some(text) if row.lasting == Lasting::Moment => {
            return Err(Problem::Surplus { part: "duration", text: text.to_owned() });
        }
        Some(text) => Some(time("duration", text)?),
    };
    let value = match parts.next() {
        Some(text) if row.argument == Argument::None => {
            return Err(Problem::Surplus { part: "argument", text: text.to_owned() });
        }
        text => value(row.argument, text.unwrap_or(row.default))?,
    };
    let kind = (row.make)(value);
    if kind == FaultKind::ProtectiveStop && duration.is_some_and(|duration| duration < UNLOCK_AFTER) {
        return Err(Problem::UnlockedTooEarly);
    }
    Ok(Fault { kind, port, direction, start: SimTime::ZERO + start, duration })
}

fn select<'s>(
    row: &Row,
    selectors: impl Iterator<Item = &'s str>,
) -> Result<(Option<Port>, Option<Direction>), Problem> {
    let (mut port, mut direction) = (None, None);
    for selector in selectors {
        let unknown = || Problem::Selector { selector: selector.to_owned() };
        let named = selector.parse().ok().and_then(Port::from_number);
        match (row.selectors, selector, named) {
            (Selectors::PortAndDirection, "up", _) => direction = Some(Direction::Up),
            (Selectors::PortAndDirection, "down", _) => direction = Some(Direction::Down),
            (Selectors::PortAndDirection | Selectors::Port, _, Some(named)) => port = Some(named),
            _ => return Err(unknown()),
        }
    }
    Ok((port, direction))
}

fn value(argument: Argument, text: &str) -> Result<Value, Problem> {
    let wrong = |expected| Problem::Argument { text: text.to_owned(), expected };
    let mut value = Value::default();
    match argument {
        Argument::None => {}
        Argument::Count | Argument::Bytes => {
            value.count = text.parse().ok().filter(|n| *n > 0).ok_or(wrong("a whole number of at least 1"))?;
        }
        Argument::Input => {
            value.count = text.parse().ok().filter(|n| *n < 8).ok_or(wrong("a digital input, 0 to 7"))?;
        }
        Argument::Time => value.micros = signed(time("argument", text)?, false),
        Argument::SignedTime => {
            let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
            value.micros = signed(time("argument", digits)?, negative);
        }
        Argument::Share => {
            let number = match text.strip_suffix('%') {
                Some(percent) => percent.parse().ok().map(|percent: f64| percent / 100.0),
                None => text.parse().ok(),
            };
            let in_range = number.filter(|share| (0.0..=1.0).contains(share));
            value.number = in_range.ok_or(wrong("a share such as 0.3 or 30%"))?;
        }
        Argument::Service => {
            let service = Service::from_name(text);
            value.service = Some(service.ok_or(wrong("dashboard, primary, secondary, realtime, rtde or robot-api"))?);
        }
        Argument::Force => {
            let number = text.parse().ok().filter(|force: &f64| force.abs() <= 1_000.0);
            value.number = number.ok_or(wrong("a force in N of at most 1000, such as 20"))?;
        }
        Argument::Speed => {
            let number = text.parse().ok().filter(|speed: &f64| speed.abs() <= 10.0);
            value.number = number.ok_or(wrong("a joint speed in rad/s such as 0.1"))?;
        }
    }
    Ok(value)
}

fn signed(span: Duration, negative: bool) -> i64 {
    let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    if negative { -micros } else { micros }
}

fn time(part: &'static str, text: &str) -> Result<Duration, Problem> {
    span(text).ok_or_else(|| Problem::Time { part, text: text.to_owned() })
}

/// Parses a time such as `200ms`, `5s`, `1.5s`, `1m`, `250us`, or `0`. Returns `None` for any other text.
pub(crate) fn span(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()
}

/// Returns the one of `names` that differs least from `name`.
pub(crate) fn nearest_of(names: impl Iterator<Item = &'static str>, name: &str) -> &'static str {
    names.min_by_key(|known| edits(name, known)).unwrap_or_default()
}

/// Returns Levenshtein's distance between two words. Only the first 40 characters of `a` are compared.
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(40).collect();
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, b) in b.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, a) in a.iter().enumerate() {
            let substituted = diagonal + usize::from(*a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[a.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_start_duration_and_argument() {
        let fault = Fault::parse("stall@5s:200ms").unwrap();
        assert_eq!(fault, Fault::new(FaultKind::Stall, SimTime::from_secs(5), Some(Duration::from_millis(200))));
        assert_eq!(Fault::parse("split@0").unwrap().kind, FaultKind::Split(7));
        assert_eq!(Fault::parse("slider@1s:2s:30%").unwrap().kind, FaultKind::Slider(0.3));
        assert_eq!(Fault::parse("clock-jump@1s::-500ms").unwrap().kind, FaultKind::ClockJump(-500_000));
        let late = Fault::parse("delay/30003/up@1.5s::4ms").unwrap();
        assert_eq!(late.kind, FaultKind::Delay(Duration::from_millis(4)));
        assert_eq!((late.port, late.direction), (Some(Port::Realtime), Some(Direction::Up)));
        assert_eq!((late.start, late.duration), (SimTime::from_millis(1500), None));
    }

    #[test]
    fn every_row_of_the_table_can_be_read_with_its_defaults_and_is_in_the_help() {
        let help = Fault::help();
        for row in TABLE {
            let fault = Fault::parse(&format!("{}@1s", row.name));
            assert_eq!(fault.map(|fault| fault.name()).as_deref(), Ok(row.name));
            assert!(help.contains(row.name), "{}", row.name);
        }
    }

    #[test]
    fn says_what_is_wrong_and_what_was_expected() {
        let message = |spec: &str| Fault::parse(spec).unwrap_err().to_string();
        assert_eq!(message("stal@5s"), "fault `stal@5s`: no kind `stal`; did you mean `stall`?");
        assert!(message("stall").contains("KIND@START"));
        assert!(message("stall@5").contains("start `5` is not a time"));
        assert!(message("stall@5s:x").contains("duration `x`"));
        assert!(message("stall@5s:1s:3").contains("no argument"));
        assert!(message("clock-jump@5s:1s:3s").contains("no duration"));
        assert!(message("loss@0::130%").contains("a share"));
        assert!(message("split@0::0").contains("at least 1"));
        assert!(message("estop/30003@0").contains("30003"));
        assert!(message("service-off@1s::telnet").contains("dashboard, primary"));
        assert!(message("skip/up@0").contains("`up`"));
        assert!(message("protective-stop@1s:2s").contains("5 s"));
    }
}
