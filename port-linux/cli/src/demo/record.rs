//! Records a run of the demo, and makes the report from the record.

use outrigger_core::link::GradeChange;
use outrigger_core::mode::Mode;
use outrigger_wire::time::{Duration, Instant};

use super::pause_allowance::Allowance;
use super::scenario_steps::{Fault, SETTLING, Script};
use super::simulated_cell::{Truth, World};
use crate::report::animated_svg::{FRAMES_PER_SECOND, Frame, Picture};
use crate::report::{Check, Figure, Report, plot::grouped, quantile};

/// The values recorded during a run of the demo, for the checks and the report.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) modes: Vec<(Instant, Mode)>,
    pub(super) grades: Vec<GradeChange>,
    pub(super) events: Vec<(Instant, String)>,
    /// The age of the robot's newest state at each call of the engine.
    pub(super) ages: Vec<(Instant, Duration)>,
    /// The times at which the robot's states arrived.
    pub(super) arrivals: Vec<Instant>,
    /// The times from the end of the read that completed a robot state to the end of writing the command text that it
    /// caused.
    pub(super) turnarounds: Vec<Duration>,
    pub(super) truths: Vec<Truth>,
    pub(super) wanted_distance: f64,
    pub(super) bridged: u32,
    /// The times at which the simulated operator requested to command the arm.
    pub(super) requests: Vec<Instant>,
    /// The times at which a fault was caused or repaired, each with a short description.
    pub(super) faults: Vec<(Instant, &'static str)>,
}

impl Record {
    /// Returns the instants to be drawn in the report: during work, at standstill after the first fault, and during
    /// work again.
    fn moments(&self, script: &Script) -> Vec<(Instant, &'static str)> {
        let Some(first) = script.rounds.first() else { return vec![] };
        [
            (first.injected, "holds its distance"),
            (first.at_rest, "network stalled: at standstill, not commanded"),
            (first.re_armed.map(|at| at + SETTLING), "started again: holds its distance"),
        ]
        .into_iter()
        .filter_map(|(at, what)| at.map(|at| (at, what)))
        .collect()
    }

    /// Returns the last fall of the link's grade until `at`; `None` if it has not fallen.
    pub(super) fn fall_before(&self, at: Instant) -> Option<GradeChange> {
        self.grades.iter().rev().find(|change| change.at <= at && change.to < change.from).copied()
    }

    fn truth_at(&self, at: Instant) -> Option<&Truth> {
        self.truths.get(self.truths.partition_point(|truth| truth.at < at)).or(self.truths.last())
    }

    /// Returns the demo's moving picture, which shows the run at its original speed from just before commanding begins
    /// until the arm has settled again after the first fault.
    pub(super) fn picture(&self, script: &Script, world: &World) -> Picture {
        let begins =
            script.armed.map_or(Instant::ZERO, |at| Instant::from_micros(at.as_micros().saturating_sub(1_500_000)));
        let ends = script.rounds.first().and_then(|round| round.re_armed).map_or(begins, |at| at + SETTLING);
        let step = Duration::from_micros((1e6 / FRAMES_PER_SECOND) as u64);
        let frames = std::iter::successors(Some(begins), |at| Some(*at + step)).take_while(|at| *at < ends);
        let last = |at: Instant| self.events.iter().rev().find(|(when, _)| *when <= at);
        Picture {
            frames: frames
                .filter_map(|at| {
                    let truth = self.truth_at(at)?;
                    Some(Frame {
                        at: at.since(Instant::ZERO).as_secs_f64(),
                        scene: world.scene(truth),
                        mode: self
                            .modes
                            .iter()
                            .rev()
                            .find(|(when, _)| *when <= at)
                            .map_or(Mode::Offline, |(_, mode)| *mode),
                        event: last(at).map_or(String::new(), |(_, text)| text.clone()),
                    })
                })
                .collect(),
            wanted: self.wanted_distance,
        }
    }

    /// Returns the contents of the demo's report page.
    pub(super) fn report(
        &self,
        script: &Script,
        world: &World,
        allowance: &Allowance,
        checks: Vec<Check>,
        facts: Vec<(&'static str, String)>,
    ) -> Report {
        let seconds = |at: Instant| at.since(Instant::ZERO).as_secs_f64();
        let end = self.truths.last().map_or(0.0, |truth| seconds(truth.at));
        let turnarounds: Vec<_> = self.turnarounds.iter().map(|span| ms(*span)).collect();
        let errors = self.settled_errors(script);
        let stall = script.rounds.iter().find(|round| round.fault == Fault::LinkStall);
        let seen = stall.and_then(|round| Some(ms(round.fell_back?.0.since(round.injected?))));
        let figure = |value: String, unit, name: &str| Figure { value, unit, name: name.into() };
        let number = |value: Option<f64>, decimals: usize| value.map_or("–".into(), |v| format!("{v:.decimals$}"));
        Report {
            lead: format!(
                "A simulated {} with software {} holds its tool {:.0} mm above a wavy workpiece that moves up and down. The \
                 distance comes from a sensor over UDP; joint speeds are sent as script text in every cycle, all over this \
                 machine's loopback network.",
                super::simulated_cell::MODEL.name().replace("ur", "UR"),
                super::pause_allowance::SOFTWARE,
                self.wanted_distance * 1e3
            ),
            figures: vec![
                figure(number(rms(&errors), 2), "mm", "standoff error, RMS, settled"),
                figure(
                    number(quantile(&turnarounds, 0.5).map(|v| v * 1e3), 0),
                    "µs",
                    "median from reading a state to writing its command",
                ),
                figure(number(seen, 1), "ms", "from the network stall to the end of commanding"),
                figure(grouped(turnarounds.len() as u64), "", "states answered"),
            ],
            checks,
            modes: self.modes.iter().map(|(at, mode)| (seconds(*at), *mode)).collect(),
            grades: self.grades.iter().map(|change| (seconds(change.at), change.to)).collect(),
            faults: self.faults.iter().map(|(at, name)| (seconds(*at), *name)).collect(),
            moments: self
                .moments(script)
                .into_iter()
                .filter_map(|(at, what)| Some((seconds(at), what, world.scene(self.truth_at(at)?))))
                .collect(),
            events: self.events.iter().map(|(at, text)| (seconds(*at), text.clone())).collect(),
            error: self.truths.iter().map(|truth| (seconds(truth.at), self.error(truth))).collect(),
            error_bound: allowance.error(),
            speeds: std::array::from_fn(|joint| {
                let speed = |truth: &Truth| truth.speeds.get(joint).map_or(f64::NAN, |speed| f64::from(*speed));
                self.truths.iter().map(|truth| (seconds(truth.at), speed(truth))).collect()
            }),
            ages: self.ages.iter().map(|(at, age)| (seconds(*at), ms(*age))).collect(),
            age_limit: ms(allowance.stale_after()),
            speed_limit: f64::from(allowance.config().limits.velocity.max_abs()),
            intervals: self.arrivals.iter().zip(self.arrivals.iter().skip(1)).map(|(a, b)| ms(b.since(*a))).collect(),
            turnarounds,
            facts,
            seconds: end,
        }
    }
}

pub(super) fn ms(span: Duration) -> f64 {
    span.as_micros() as f64 / 1e3
}

/// Returns the root mean square of the values; `None` if there are no values.
pub(super) fn rms(values: &[f64]) -> Option<f64> {
    let squares = values.iter().fold(0.0, |sum, value| sum + value * value);
    (!values.is_empty()).then(|| (squares / values.len() as f64).sqrt())
}
