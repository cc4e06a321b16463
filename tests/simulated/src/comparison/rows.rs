//! All modes in several runs each, as rows of a table.

use std::ops::Range;

use super::course::{Course, Figures};
use super::mechanism::{Mechanism, Mechanisms};
use super::mode::{Beside, Later, Mode, Reported};
use crate::in_parallel;

/// A row of the table: a mode with the results of all its runs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mode of the row.
    pub mode: Mode,
    /// The figures of each run, by seed from 1. Runs in which the controller stopped the arm are left out, unless it
    /// stopped the arm in all runs.
    pub runs: Vec<Figures>,
    /// The course of the arm in the first run.
    pub shown: Course,
    /// The number of runs in which the controller stopped the arm by itself.
    pub stopped: usize,
}

/// The headings of the table's columns.
pub const COLUMNS: [&str; 12] = [
    "way",
    "software",
    "first motion, ms",
    "reaction, ms",
    "delay, ms",
    "tracking error, °: as it is / without the delay",
    "extreme missed by, °",
    "final error, °",
    "velocity ripple, °/s",
    "end deceleration, rad/s²",
    "report of 2015",
    DISAGREEMENT,
];

/// The heading of the last column. The report's arm moved its end joint.
const DISAGREEMENT: &str =
    "where simulation and report disagree (the base joint moves here, the end joint in the report)";

/// The range of the table's columns that hold numbers.
pub const NUMBERS: Range<usize> = 2..COLUMNS.len() - 2;

/// Runs each mode `runs` times. The result does not depend on the number of processors.
#[must_use]
pub fn compare(modes: &[Mode], mechanisms: Mechanisms, runs: u64) -> Vec<Row> {
    let tasks: Vec<(&Mode, u64)> = modes.iter().flat_map(|mode| (1..=runs).map(move |seed| (mode, seed))).collect();
    let courses = in_parallel(&tasks, |(mode, seed)| {
        let course = mode.run(mechanisms, seed);
        (course.figures(), course.stopped, (seed == 1).then_some(course))
    });
    let mut courses = courses.into_iter();
    let row = |mode: &Mode| {
        let of_mode: Vec<_> = courses.by_ref().take(usize::try_from(runs).unwrap_or(0)).collect();
        let stopped = of_mode.iter().filter(|(_, stopped, _)| *stopped).count();
        let counts = of_mode.iter().filter(|(_, is_stopped, _)| stopped == of_mode.len() || !is_stopped);
        Row {
            mode: mode.clone(),
            runs: counts.map(|(figures, ..)| *figures).collect(),
            stopped,
            shown: of_mode.into_iter().find_map(|(.., course)| course).expect("at least one run"),
        }
    };
    modes.iter().map(row).collect()
}

/// Returns by how much the reaction of each mode \[ms\] changes if one mechanism is switched off, in the order of
/// [`Mechanism::NAMED`]: the mean of `runs` runs.
#[must_use]
pub fn taken_away(modes: &[Mode], mechanisms: Mechanisms, runs: u64) -> Vec<Vec<f64>> {
    let acting = [mechanisms].into_iter().chain(Mechanism::NAMED.map(|(known, _)| mechanisms.without(known)));
    let acting: Vec<Mechanisms> = acting.collect();
    let tasks: Vec<(&Mode, Mechanisms, u64)> = modes
        .iter()
        .flat_map(|mode| acting.iter().flat_map(move |acting| (1..=runs).map(move |seed| (mode, *acting, seed))))
        .collect();
    let reactions = in_parallel(&tasks, |(mode, acting, seed)| mode.run(acting, seed).figures().reaction);
    let means: Vec<f64> = reactions
        .chunks(usize::try_from(runs).unwrap_or(1))
        .map(|runs| {
            // Without its filter, a `servoj` of 80 ms may be stopped before the joint has moved by 1°.
            let on_their_way = runs.iter().filter(|reaction| reaction.is_finite());
            on_their_way.clone().sum::<f64>() / on_their_way.count() as f64
        })
        .collect();
    let of_mode = means.chunks(acting.len());
    of_mode.map(|means| means.iter().skip(1).map(|without| without - means[0]).collect()).collect()
}

impl Row {
    /// Returns the assumptions behind the comparison with the report; empty if the report has no figures for the
    /// mode.
    #[must_use]
    pub fn assumed(&self) -> &'static str {
        self.mode.reported.map_or("", |reported| reported.assumed)
    }

    /// Returns the mean of a figure over all runs.
    #[must_use]
    pub fn mean(&self, figure: impl Fn(&Figures) -> f64) -> f64 {
        self.runs.iter().map(figure).sum::<f64>() / self.runs.len() as f64
    }

    /// Returns the value of a figure with the largest magnitude over all runs.
    #[must_use]
    pub fn worst(&self, figure: impl Fn(&Figures) -> f64) -> f64 {
        self.runs
            .iter()
            .map(figure)
            .fold(0.0, |worst: f64, value| if value.abs() > worst.abs() { value } else { worst })
    }

    /// Returns the mean and the largest deviation of one run from it, as text.
    fn spread(&self, figure: impl Fn(&Figures) -> f64) -> String {
        let mean = self.mean(&figure);
        let off = self.runs.iter().map(|run| (figure(run) - mean).abs()).fold(0.0, f64::max);
        if off < 0.05 { format!("{}", Number(mean, 1)) } else { format!("{} ± {off:.1}", Number(mean, 1)) }
    }

    /// Returns the cells of the row, in the order of [`COLUMNS`]. `rows` has the row of the mode with which the report
    /// compares this one.
    #[must_use]
    pub fn cells(&self, rows: &[Self]) -> Vec<String> {
        let last = Number(self.worst(|run| run.last), 2).to_string();
        let all = self.stopped == self.runs.len();
        let last = match self.stopped {
            0 => last,
            _ if all => "protective stop".to_owned(),
            stopped => format!("{last}; protective stop in {stopped} runs"),
        };
        let software = self.mode.software();
        vec![
            self.mode.about.clone(),
            format!("{}.{}", software.major, software.minor),
            self.spread(|run| run.first),
            self.spread(|run| run.reaction),
            self.spread(|run| run.delay),
            format!("{} / {}", Number(self.worst(|run| run.distance), 2), Number(self.worst(|run| run.tracking), 2)),
            Number(self.worst(|run| run.missed), 2).to_string(),
            last,
            Number(self.worst(|run| run.ripple), 2).to_string(),
            Number(self.worst(|run| run.deceleration), 1).to_string(),
            self.mode.reported.map_or_else(|| "–".to_owned(), |reported| reported.words.to_owned()),
            match self.mode.reported {
                None => "–".to_owned(),
                Some(_) => Some(self.differences(rows))
                    .filter(|all| !all.is_empty())
                    .map_or("no figure".into(), |all| all.join("; ")),
            },
        ]
    }

    /// Returns the differences between simulation and report, as texts.
    #[must_use]
    pub fn differences(&self, rows: &[Self]) -> Vec<String> {
        let Some(Reported { late, first, last, worst, beside, otherwise, .. }) = self.mode.reported else {
            return vec![];
        };
        let difference = |what: &str, unit: &str, ours: f64, theirs: f64| {
            let decimals = if unit == " ms" { 0 } else { 2 };
            let by = Number(ours - theirs, decimals);
            format!(
                "{what}: {}{unit} here, {}{unit} reported: {by}{unit}",
                Number(ours, decimals),
                Number(theirs, decimals)
            )
        };
        let mut all = vec![];
        if let Some(late) = late {
            all.push(difference("delay", " ms", self.mean(|run| run.delay), late));
        }
        if let Some([least, most]) = first {
            let period = self.mode.software().generation().period_micros() as f64 * 1e-3;
            let cycles = self.mean(|run| run.first) / period;
            all.push(format!("first motion: after {cycles:.1} control cycles here, {least:.0} to {most:.0} reported"));
        }
        if let Some(last) = last {
            let ours = self.worst(|run| run.last);
            let sign = if last * ours < 0.0 { ", and of the other sign" } else { "" };
            all.push(difference("final error", "°", ours, last) + sign);
        }
        if let Some(worst) = worst {
            all.push(difference("tracking error", "°", self.worst(|run| run.distance), worst));
        }
        if let Some(Beside { other, about, figure, reported }) = beside
            && let Some(other) = rows.iter().find(|row| row.mode.name == other)
        {
            let (what, later) = match figure {
                Later::First => ("first motion", self.mean(|run| run.first) - other.mean(|run| run.first)),
                Later::Reaction => ("reaction", self.mean(|run| run.reaction) - other.mean(|run| run.reaction)),
            };
            all.push(format!("{what}: {} ms later than {about} here, {reported}", Number(later, 0)));
        }
        if !otherwise.is_empty() {
            all.push(otherwise.to_owned());
        }
        all
    }
}

/// A number with this number of decimals and a typographic minus sign. A value that rounds to zero has no sign.
struct Number(f64, usize);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(value, decimals) = *self;
        let text = format!("{:.decimals$}", value.abs());
        let zero = text.chars().all(|c| c == '0' || c == '.');
        let sign = if value < 0.0 && !zero { "−" } else { "" };
        write!(f, "{sign}{text}")
    }
}
