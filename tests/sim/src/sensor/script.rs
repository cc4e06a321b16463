//! The parts of a simulated sensor's script, which add to its measurements or disturb them, and their notation.

use std::str::FromStr;
use std::time::Duration;

use super::VALUES_MAX;
use crate::fault::{nearest_of, span};
use crate::time::SimTime;

/// One part of a sensor's script: its effect, the values it affects, and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The effect of this part of the sensor's script on the readings.
    pub kind: Kind,
    /// The index of the affected value of a reading, from 0; `None` for all of them.
    pub value: Option<usize>,
    /// The time at which this part of the sensor's script begins.
    pub start: SimTime,
    /// The duration of this part of the script; `None` for a permanent one.
    pub lasts: Option<Duration>,
}

/// The effect of a part of a sensor's script. Values are in SI units; those of several parts are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A constant is added to the sensor's values.
    Constant(f64),
    /// A sine is added to the sensor's values: `offset + amplitude · sin(2π · frequency · t)`, with t from the start of
    /// the part.
    Sine {
        /// Amplitude of the sine: the greatest distance from its offset.
        amplitude: f64,
        /// Frequency of the sine \[Hz\].
        frequency: f64,
        /// The mean value of the sine that is added.
        offset: f64,
    },
    /// A ramp with this slope per second, from the start of the part on; after its end the value stays constant.
    Ramp(f64),
    /// Normally distributed noise of the sensor's values with this standard deviation.
    Noise(f64),
    /// The values of the sensor's readings are NaN.
    Nan,
    /// The sensor's last value is repeated while sequence numbers continue.
    Freeze,
    /// The last reading is repeated with its sequence number, in this share of readings.
    Repeat(f64),
    /// This share of readings is not sent; their sequence numbers are skipped.
    Dropout(f64),
    /// Random bytes replace this share of the sensor's readings.
    Garbage(f64),
    /// One bit is inverted in this share of the sensor's messages.
    Flip(f64),
}

/// The form of the numbers that follow the kind in the text of a part of a sensor's script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Number,
    Positive,
    Sine,
    Share,
}

struct Row {
    name: &'static str,
    takes: Takes,
    /// `true` if a part of this kind may be limited to one value of a reading.
    of_one: bool,
    what: &'static str,
    make: fn([f64; 3]) -> Kind,
}

const TABLE: &[Row] = &[
    Row {
        name: "constant",
        takes: Takes::Number,
        of_one: true,
        what: "this value",
        make: |[value, ..]| Kind::Constant(value),
    },
    Row {
        name: "sine",
        takes: Takes::Sine,
        of_one: true,
        what: "a sine of this amplitude and frequency (Hz) about OFFSET [0]",
        make: |[amplitude, frequency, offset]| Kind::Sine { amplitude, frequency, offset },
    },
    Row {
        name: "step",
        takes: Takes::Number,
        of_one: true,
        what: "adds this much from START on, for DURATION",
        make: |[value, ..]| Kind::Constant(value),
    },
    Row {
        name: "ramp",
        takes: Takes::Number,
        of_one: true,
        what: "adds this much every second, for DURATION; then constant",
        make: |[slope, ..]| Kind::Ramp(slope),
    },
    Row {
        name: "noise",
        takes: Takes::Positive,
        of_one: true,
        what: "normally distributed, with this standard deviation",
        make: |[deviation, ..]| Kind::Noise(deviation),
    },
    Row { name: "nan", takes: Takes::Nothing, of_one: true, what: "not a number", make: |_| Kind::Nan },
    Row {
        name: "freeze",
        takes: Takes::Nothing,
        of_one: true,
        what: "repeats the value; sequence numbers continue",
        make: |_| Kind::Freeze,
    },
    Row {
        name: "repeat",
        takes: Takes::Share,
        of_one: false,
        what: "repeats the whole reading with its sequence number",
        make: |[share, ..]| Kind::Repeat(share),
    },
    Row {
        name: "dropout",
        takes: Takes::Share,
        of_one: false,
        what: "no reading is sent; sequence numbers continue",
        make: |[share, ..]| Kind::Dropout(share),
    },
    Row {
        name: "garbage",
        takes: Takes::Share,
        of_one: false,
        what: "random bytes in place of the reading",
        make: |[share, ..]| Kind::Garbage(share),
    },
    Row {
        name: "flip",
        takes: Takes::Share,
        of_one: false,
        what: "one bit of the message is inverted",
        make: |[share, ..]| Kind::Flip(share),
    },
];

impl Part {
    /// Returns a description of every kind of part of a sensor's script, for authors of scripts.
    #[must_use]
    pub fn help() -> String {
        let mut text = String::from(
            "[N=]KIND[:NUMBERS][@START[:DURATION]], e.g. sine:0.01,0.5,0.05, 2=constant:5, dropout@10s:200ms, flip:1%\n\
             N: one value of each reading, from 0; without it all. Values are in SI units, and several parts add up.\n\
             times: 200ms, 5s, 1m; no START: from the beginning; no DURATION: permanent. SHARE, of readings: 0.05 or 5% [100%]\n",
        );
        for row in TABLE {
            let takes = match row.takes {
                Takes::Nothing => "",
                Takes::Number | Takes::Positive => ":X",
                Takes::Sine => ":X,HZ[,OFFSET]",
                Takes::Share => "[:SHARE]",
            };
            text += &format!("  {:<23}{}\n", format!("{}{takes}", row.name), row.what);
        }
        text
    }

    /// Returns whether this part of the sensor's script is active at `now`.
    pub(super) fn lasts_at(&self, now: SimTime) -> bool {
        now >= self.start && self.lasts.is_none_or(|lasts| now < self.start + lasts)
    }

    /// Returns the amount that this part of a sensor's script adds to the values at `now`. `noise` is a number of the
    /// standard normal distribution.
    pub(super) fn adds(&self, now: SimTime, noise: f64) -> f64 {
        let since = now.since(self.start);
        match self.kind {
            Kind::Ramp(slope) => slope * self.lasts.map_or(since, |lasts| since.min(lasts)).as_secs_f64(),
            _ if !self.lasts_at(now) => 0.0,
            Kind::Constant(value) => value,
            Kind::Sine { amplitude, frequency, offset } => {
                offset + amplitude * (std::f64::consts::TAU * frequency * since.as_secs_f64()).sin()
            }
            Kind::Noise(deviation) => deviation * noise,
            _ => 0.0,
        }
    }

    /// Returns whether this part of the script affects the value with the index `number`.
    pub(super) fn is_of(&self, number: usize) -> bool {
        self.value.is_none_or(|value| value == number)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(spec: &str) -> Result<Self, String> {
        parse(spec.trim()).map_err(|problem| format!("script `{spec}`: {problem}"))
    }
}

fn parse(spec: &str) -> Result<Part, String> {
    let (what, when) = spec.split_once('@').map_or((spec, None), |(what, when)| (what, Some(when)));
    let (value, what) = match what.split_once('=') {
        Some((number, what)) => {
            let value = number.parse().ok().filter(|value| *value < VALUES_MAX);
            let value =
                value.ok_or_else(|| format!("value `{number}` is not a number from 0 to {}", VALUES_MAX - 1))?;
            (Some(value), what)
        }
        None => (None, what),
    };
    let (name, numbers) = what.split_once(':').map_or((what, None), |(name, numbers)| (name, Some(numbers)));
    let row = TABLE.iter().find(|row| row.name == name).ok_or_else(|| {
        format!("no kind `{name}`; did you mean `{}`?", nearest_of(TABLE.iter().map(|row| row.name), name))
    })?;
    if value.is_some() && !row.of_one {
        return Err(format!("`{name}` applies to whole readings; omit `{}=`", value.unwrap_or_default()));
    }
    let numbers = row.takes.read(numbers)?;
    let (mut start, mut lasts) = (SimTime::ZERO, None);
    if let Some(when) = when {
        let time = |text: &str| span(text).ok_or_else(|| format!("`{text}` is not a time such as 200ms, 5s or 1m"));
        let (begins, duration) = when.split_once(':').map_or((when, None), |(start, lasts)| (start, Some(lasts)));
        start = SimTime::ZERO + time(begins)?;
        lasts = duration.map(time).transpose()?;
    } else if name == "step" {
        return Err("no start; write step:X@START, e.g. step:0.02@5s".into());
    }
    Ok(Part { kind: (row.make)(numbers), value, start, lasts })
}

impl Takes {
    fn read(self, text: Option<&str>) -> Result<[f64; 3], String> {
        let number = |word: &str| word.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let wrong = |expected: &str| match text {
            Some(text) => format!("`{text}` is not {expected}"),
            None => format!("no number; write {expected} after a colon"),
        };
        match (self, text) {
            (Self::Nothing, None) => Ok([0.0; 3]),
            (Self::Nothing, Some(text)) => Err(format!("this kind takes no number, but `{text}` was given")),
            (Self::Number, text) => {
                let value = text.and_then(number).ok_or_else(|| wrong("a number, such as 0.05"))?;
                Ok([value, 0.0, 0.0])
            }
            (Self::Positive, text) => {
                let value = text.and_then(number).filter(|value| *value >= 0.0);
                Ok([value.ok_or_else(|| wrong("a number of at least 0, such as 0.0002"))?, 0.0, 0.0])
            }
            (Self::Sine, text) => {
                let numbers: Option<Vec<f64>> = text.and_then(|text| text.split(',').map(number).collect());
                match numbers.as_deref() {
                    Some([amplitude, hertz]) if *hertz >= 0.0 => Ok([*amplitude, *hertz, 0.0]),
                    Some([amplitude, hertz, offset]) if *hertz >= 0.0 => Ok([*amplitude, *hertz, *offset]),
                    _ => Err(wrong("AMPLITUDE,HZ or AMPLITUDE,HZ,OFFSET, such as 0.01,0.5,0.05")),
                }
            }
            (Self::Share, None) => Ok([1.0, 0.0, 0.0]),
            (Self::Share, Some(text)) => {
                let share = match text.strip_suffix('%') {
                    Some(percent) => number(percent).map(|percent| percent / 100.0),
                    None => number(text),
                };
                let share = share.filter(|share| (0.0..=1.0).contains(share));
                Ok([share.ok_or_else(|| wrong("a share such as 0.05 or 5%"))?, 0.0, 0.0])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(spec: &str) -> Part {
        spec.parse().expect(spec)
    }

    fn at(part: &Part, millis: u64) -> f64 {
        part.adds(SimTime::from_millis(millis), 1.0)
    }

    #[test]
    fn parts_add_what_they_say_while_they_last() {
        let sine = part("sine:2,0.25,10@1s");
        assert_eq!((at(&sine, 0), at(&sine, 1_000), at(&sine, 2_000)), (0.0, 10.0, 12.0));
        let pulse = part("step:0.02@5s:1s");
        assert_eq!([4_999, 5_000, 5_999, 6_000].map(|ms| at(&pulse, ms)), [0.0, 0.02, 0.02, 0.0]);
        let ramp = part("ramp:-4@1s:500ms");
        assert_eq!([0, 1_000, 1_250, 1_500, 9_000].map(|ms| at(&ramp, ms)), [0.0, 0.0, -1.0, -2.0, -2.0]);
        assert_eq!(at(&part("noise:0.5"), 7), 0.5);
        assert_eq!(at(&part("dropout"), 7), 0.0);
    }

    #[test]
    fn a_part_is_of_one_value_or_of_all() {
        assert_eq!(part("5=constant:-1e3").value, Some(5));
        assert_eq!(part("constant:1").value, None);
        let share = part("dropout:5%@2s:300ms");
        let expected = (Kind::Dropout(0.05), SimTime::from_secs(2), Some(Duration::from_millis(300)));
        assert_eq!((share.kind, share.start, share.lasts), expected);
    }

    #[test]
    fn what_is_no_part_is_refused_with_what_is() {
        for (spec, expected) in [
            ("sin:1,2", "did you mean `sine`?"),
            ("sine:1", "AMPLITUDE,HZ"),
            ("sine:1,-2", "AMPLITUDE,HZ"),
            ("constant", "no number"),
            ("constant:nan", "`nan` is not a number, such as 0.05"),
            ("noise:-1", "at least 0"),
            ("step:1", "no start"),
            ("6=constant:1", "from 0 to 5"),
            ("2=dropout", "omit `2=`"),
            ("freeze:3", "takes no number"),
            ("flip:130%", "a share such as"),
            ("nan@5", "is not a time"),
            ("nan@5s:x", "`x` is not a time"),
            ("", "did you mean"),
        ] {
            let error = spec.parse::<Part>().expect_err(spec);
            assert!(error.starts_with(&format!("script `{spec}`")) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn every_kind_is_in_the_help() {
        let help = Part::help();
        for row in TABLE {
            assert!(help.contains(&format!("\n  {}", row.name)), "{}", row.name);
        }
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(spec in "[a-z0-9=:,@%.e-]{0,24}") {
            let _ = spec.parse::<Part>();
        }

        #[test]
        fn what_a_part_adds_is_finite(
            kind in prop::sample::select(vec!["constant:1e300", "sine:1e9,1e9,1", "ramp:1e9", "noise:3"]),
            millis in 0_u64..1_000_000_000,
        ) {
            prop_assert!(at(&part(kind), millis).is_finite());
        }
    }
}
