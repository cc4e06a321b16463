//! The faults of a simulated KRC and of its network, with their times.

use std::time::Duration;

use crate::fault::{Direction, nearest_of, span as time};
use crate::time::SimTime;

/// The effect of a fault of the simulated KRC or its network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// The share of the datagrams that the network loses.
    Drop(f64),
    /// This share of the datagrams is lost, in bursts of five on average (Gilbert and Elliott's model).
    Burst(f64),
    /// The share of the datagrams that the network delivers twice.
    Duplicate(f64),
    /// Datagrams on the network arrive this much later.
    Delay(Duration),
    /// Datagrams arrive later by a random time up to this, and may overtake each other.
    Jitter(Duration),
    /// This share of the datagrams arrives one and a half periods later, behind its successors.
    Reorder(f64),
    /// No datagram arrives on the network.
    Silence,
    /// With this share of the datagrams, an additional malformed one arrives: random bytes, or a copy with an error.
    Garbage(f64),
    /// The KRC's measurements reflect the initial counter, as before the first command, instead of the newest
    /// command's.
    Stale,
    /// The KRC restarts: its counter begins at 1 again, the Fast Research Interface is open, no motion is commanded.
    Restart,
    /// The Fast Research Interface is reopened with this period of measurements.
    Period(Duration),
    /// The Fast Research Interface is closed, and opened again at the fault's end.
    Close,
    /// Another sender than the KRC sends measurements to the remote computer.
    SecondSender,
    /// The KRL program calls `friStop`, which ends the command state.
    Stop,
    /// The drives are switched off, and on again at the fault's end.
    PowerOff,
    /// The drives are off, as with a released enabling switch in operation mode T1, until the fault's end.
    Release,
    /// A person pushes the flange down with this force \[N\].
    Hand(f64),
    /// The measured joint positions that the KRC sends are NaN.
    NotANumber,
}

/// A fault of the simulated KRC or its network, with its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// The kind of the fault, with its argument.
    pub kind: FaultKind,
    /// The direction that a network fault affects: up for commands, down for measurements; `None` for both.
    pub direction: Option<Direction>,
    /// The virtual time at which the fault begins.
    pub start: SimTime,
    /// The duration of the fault; `None` for a permanent one.
    pub duration: Option<Duration>,
}

enum Argument {
    None,
    Share,
    Time,
    Force,
}

struct Row {
    name: &'static str,
    argument: Argument,
    default: &'static str,
    /// `true` if the kind of fault accepts the selectors `/up` and `/down`.
    directed: bool,
    what: &'static str,
    make: fn(f64) -> FaultKind,
}

macro_rules! rows {
    ($($name:literal $argument:ident $default:literal $directed:literal $what:literal => $make:expr;)+) => {
        &[$(Row {
            name: $name,
            argument: Argument::$argument,
            default: $default,
            directed: $directed,
            what: $what,
            make: $make,
        }),+]
    };
}

const TABLE: &[Row] = rows! {
    "drop" Share "1%" true "this share of datagrams is lost" => FaultKind::Drop;
    "burst" Share "1%" true "this share is lost, in bursts of five on average" => FaultKind::Burst;
    "duplicate" Share "1%" true "this share arrives twice" => FaultKind::Duplicate;
    "delay" Time "500us" true "everything arrives TIME later" => |s| FaultKind::Delay(span(s));
    "jitter" Time "500us" true "everything arrives up to TIME later" => |s| FaultKind::Jitter(span(s));
    "reorder" Share "1%" true "this share arrives behind its successors" => FaultKind::Reorder;
    "silence" None "" true "nothing arrives" => |_| FaultKind::Silence;
    "garbage" Share "10%" true "random bytes beside this share of datagrams" => FaultKind::Garbage;
    "stale" None "" false "measurements reflect an old counter" => |_| FaultKind::Stale;
    "restart" None "" false "KRC restarts, counter from 1" => |_| FaultKind::Restart;
    "period" Time "2ms" false "interface reopened with this period" => |s| FaultKind::Period(span(s));
    "close" None "" false "friClose, opened at the end" => |_| FaultKind::Close;
    "second-sender" None "" false "another sender sends measurements too" => |_| FaultKind::SecondSender;
    "stop" None "" false "the KRL program calls friStop" => |_| FaultKind::Stop;
    "power-off" None "" false "drives off, on at the end" => |_| FaultKind::PowerOff;
    "release" None "" false "T1 and the enabling switch released" => |_| FaultKind::Release;
    "hand" Force "20" false "the flange is pushed down with N newtons" => FaultKind::Hand;
    "nan" None "" false "measured positions are not numbers" => |_| FaultKind::NotANumber;
};

fn span(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// An error: the text of a fault for the simulated KRC could not be parsed. It is displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultError(String);

impl std::fmt::Display for FaultError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FaultError {}

impl std::str::FromStr for Fault {
    type Err = FaultError;
    fn from_str(spec: &str) -> Result<Self, FaultError> {
        parse(spec.trim()).map_err(|problem| FaultError(format!("fault `{spec}`: {problem}")))
    }
}

impl Fault {
    /// Returns a fault that affects both directions of the network.
    #[must_use]
    pub const fn new(kind: FaultKind, start: SimTime, duration: Option<Duration>) -> Self {
        Self { kind, direction: None, start, duration }
    }

    /// Returns the time at which the fault ends; [`SimTime::MAX`] without a duration.
    #[must_use]
    pub fn end(&self) -> SimTime {
        self.duration.map_or(SimTime::MAX, |duration| self.start + duration)
    }

    /// Returns whether the fault is active at `now`.
    #[must_use]
    pub fn active(&self, now: SimTime) -> bool {
        self.start <= now && now < self.end()
    }

    fn in_direction(&self, direction: Direction) -> bool {
        self.direction.is_none_or(|only| only == direction)
    }

    /// Returns the kinds of the faults in `all` that are active at `now` in this direction.
    pub(super) fn in_force(all: &[Self], now: SimTime, direction: Direction) -> impl Iterator<Item = FaultKind> {
        all.iter().filter(move |fault| fault.active(now) && fault.in_direction(direction)).map(|fault| fault.kind)
    }

    /// Returns the fault's kind and direction in the notation that users write: `drop/up`.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = std::mem::discriminant(&self.kind);
        let row = TABLE.iter().find(|row| std::mem::discriminant(&(row.make)(0.0)) == kind);
        let direction = self.direction.map(Direction::selector);
        [row.map(|row| row.name), direction].into_iter().flatten().collect()
    }

    /// Returns the names of all kinds of faults.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }

    /// Returns a description of all kinds of faults and of their notation, for a terminal.
    #[must_use]
    pub fn help() -> String {
        let mut text = String::from(
            "KIND[/up|/down]@START[:DURATION][:ARGUMENT], e.g. drop@5s:2s:5%, delay/up@0::400us\n\
             up: commands, down: measurements; times: 200us, 200ms, 5s, 1m; no DURATION: permanent; an empty\n\
             DURATION keeps the ARGUMENT's place\n",
        );
        for row in TABLE {
            let argument = match row.argument {
                Argument::None => "",
                Argument::Share => "X",
                Argument::Time => "TIME",
                Argument::Force => "N",
            };
            let default = if row.default.is_empty() { String::new() } else { format!(" [{}]", row.default) };
            text += &format!("  {:<14}{argument:<6}{}{default}\n", row.name, row.what);
        }
        text
    }
}

fn parse(spec: &str) -> Result<Fault, String> {
    let (what, when) = spec.split_once('@').ok_or("no start; write KIND@START, e.g. drop@5s:2s:5%")?;
    let (kind, selector) = what.split_once('/').map_or((what, None), |(kind, selector)| (kind, Some(selector)));
    let row = TABLE.iter().find(|row| row.name == kind).ok_or_else(|| {
        let nearest = nearest_of(TABLE.iter().map(|row| row.name), kind);
        format!("no kind `{kind}`; did you mean `{nearest}`?")
    })?;
    let direction = match selector {
        None => None,
        Some("up") if row.directed => Some(Direction::Up),
        Some("down") if row.directed => Some(Direction::Down),
        Some(_) if row.directed => return Err("a direction is up or down".into()),
        Some(_) => return Err(format!("`{kind}` has no direction")),
    };
    let mut parts = when.splitn(3, ':');
    let span = |part: &'static str, text: &str| {
        time(text).ok_or_else(|| format!("{part} `{text}` is not a time such as 200ms, 5s or 1m"))
    };
    let start = SimTime::ZERO + span("start", parts.next().unwrap_or_default())?;
    let duration = parts.next().filter(|text| !text.is_empty()).map(|text| span("duration", text)).transpose()?;
    let argument = parts.next();
    if let (Argument::None, Some(text)) = (&row.argument, argument) {
        return Err(format!("this kind has no argument, but `{text}` was given"));
    }
    let text = argument.unwrap_or(row.default);
    let value = match row.argument {
        Argument::None => 0.0,
        Argument::Share => share(text).ok_or_else(|| format!("argument `{text}` is not a share such as 0.3 or 30%"))?,
        Argument::Time => span("argument", text)?.as_secs_f64(),
        Argument::Force => {
            let force = text.parse().ok().filter(|force: &f64| force.abs() <= 1_000.0);
            force.ok_or_else(|| format!("argument `{text}` is not a force in N of at most 1000"))?
        }
    };
    let kind = (row.make)(value);
    if let FaultKind::Period(period) = kind
        && !super::options::is_period(period)
    {
        return Err(format!("argument `{text}` is not a period of 1 to 100 whole milliseconds"));
    }
    Ok(Fault { kind, direction, start, duration })
}

fn share(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (0.0..=1.0).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_direction_start_duration_and_argument() {
        let fault: Fault = "drop/up@5s:200ms:5%".parse().unwrap();
        assert_eq!((fault.kind, fault.direction), (FaultKind::Drop(0.05), Some(Direction::Up)));
        assert_eq!((fault.start, fault.duration), (SimTime::from_secs(5), Some(Duration::from_millis(200))));
        assert_eq!("delay@0::400us".parse::<Fault>().unwrap().kind, FaultKind::Delay(Duration::from_micros(400)));
        assert_eq!("period@1s::5ms".parse::<Fault>().unwrap().kind, FaultKind::Period(Duration::from_millis(5)));
    }

    #[test]
    fn every_row_of_the_table_can_be_read_with_its_defaults_and_is_in_the_help() {
        for row in TABLE {
            let fault = format!("{}@1s", row.name).parse::<Fault>();
            assert_eq!(fault.map(|fault| fault.name()).as_deref(), Ok(row.name));
            assert!(Fault::help().contains(row.name), "{}", row.name);
        }
    }

    #[test]
    fn says_what_is_wrong_and_what_was_expected() {
        let message = |spec: &str| spec.parse::<Fault>().unwrap_err().to_string();
        assert_eq!(message("dorp@5s"), "fault `dorp@5s`: no kind `dorp`; did you mean `drop`?");
        assert!(message("drop").contains("KIND@START"));
        assert!(message("drop@5").contains("start `5`"));
        assert!(message("drop/left@0").contains("up or down"));
        assert!(message("restart/up@0").contains("no direction"));
        assert!(message("drop@0::130%").contains("a share"));
        assert!(message("silence@0::3").contains("no argument"));
        assert!(message("period@0::2500us").contains("whole milliseconds"));
    }
}
