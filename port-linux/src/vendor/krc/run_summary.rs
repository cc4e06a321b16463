//! The summary of a run with a KRC, in the columns of `tests/tables/fri-loss.md`.

use outrigger_core::engine::Event;
use outrigger_core::engine::krc::{Krc, KrcCounts, KrcEngine, KrcEvent};
use outrigger_core::law::Law;
use outrigger_core::link::{Grade, Histogram};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_wire::fri::Quality;
use outrigger_wire::time::{Duration, Instant};
use serde::Serialize;

use crate::json;
use crate::show::histogram::{self, Quantiles};
use crate::vendor::{Summary, Tally};

/// The counters of a run with a KRC: commands, grades of the link, fallbacks, and the engine's counters at its end.
#[derive(Debug, Default)]
pub struct KrcTally {
    /// `true` if a command was sent to the KRC and is not counted yet.
    answered: bool,
    commands: u64,
    commanding: u64,
    /// The number of commands to the KRC at each grade (quality) of the link, as this process judges it, the best grade
    /// first.
    ours: [u64; 4],
    /// The number of commands to the KRC at each grade (quality) of the link, as the KRC judges it, the best grade
    /// first.
    krcs: [u64; 4],
    fallbacks: Vec<(Reason, u64)>,
    end: End,
}

/// The engine's counters and histograms at the end of a run.
#[derive(Debug, Default)]
struct End {
    counts: KrcCounts,
    reflected: u64,
    histograms: [(&'static str, Histogram); 5],
}

impl Tally<7, Krc> for KrcTally {
    fn observe<L: Law<7>>(&mut self, engine: &KrcEngine<'_, L>, now: Instant) {
        if std::mem::take(&mut self.answered) {
            self.count(engine, now);
        }
        if engine.is_finished() {
            let (link, krc) = (engine.histograms(), engine.peer());
            let histograms = [
                ("interval", &link.interval),
                ("age", &link.age),
                ("turnaround", &link.turnaround),
                ("round trip", krc.round_trips()),
                ("jitter", krc.jitters()),
            ];
            let histograms = histograms.map(|(name, histogram)| (name, histogram.clone()));
            self.end = End { counts: krc.counts(), reflected: krc.round_trips().count(), histograms };
        }
    }
}

impl KrcTally {
    fn count<L: Law<7>>(&mut self, engine: &KrcEngine<'_, L>, now: Instant) {
        self.commands += 1;
        self.commanding += u64::from(engine.mode() == Mode::Command);
        let [perfect, ok, bad, unacceptable] = &mut self.ours;
        *match engine.figures(now).grade {
            Grade::Perfect => perfect,
            Grade::Ok => ok,
            Grade::Bad => bad,
            Grade::Unacceptable => unacceptable,
        } += 1;
        let [perfect, ok, bad, unacceptable] = &mut self.krcs;
        *match engine.peer().quality() {
            Some(Quality::Perfect) => perfect,
            Some(Quality::Ok) => ok,
            Some(Quality::Bad) => bad,
            Some(Quality::Unacceptable | Quality::Unknown(_)) | None => unacceptable,
        } += 1;
    }
}

impl Summary for KrcTally {
    type Event = KrcEvent;

    fn answered(&mut self, _: Duration) {
        self.answered = true;
    }

    fn event(&mut self, event: &Event<KrcEvent>) {
        let Event::Transition(transition) = event else { return };
        if transition.from != Mode::Command {
            return;
        }
        let Some(reason) = transition.reason.filter(|reason| !reason.is_release()) else { return };
        match self.fallbacks.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.fallbacks.push((reason, 1)),
        }
    }

    /// Formats the summary of a run for people: counters, a table of the link's grades and the fallbacks, and
    /// histograms of the link.
    fn text(&self) -> String {
        let End { counts, reflected, histograms } = &self.end;
        let percent = |part: u64| 100.0 * part as f64 / self.commands.max(1) as f64;
        let shares = |parts: [u64; 4]| parts.map(|part| format!("{:.0}", percent(part))).join(" / ");
        let fallbacks: Vec<_> =
            self.fallbacks.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
        let mut text = format!(
            "{} measurements, {} commands, {} overtaken by a newer one, {} not used\n\
             shares of commands while the link was perfect / ok / bad / unacceptable, commands that the KRC reflected, \
             fallbacks by reason, and share of commands in mode Command:\n\
             | our grade [%] | the KRC's [%] | reflected | fallbacks | commanding |\n\
             | --- | --- | --- | --- | --- |\n\
             | {} | {} | {:.1} % | {} | {:.0} % |\n",
            counts.measurements,
            counts.commands,
            counts.overtaken,
            counts.unused,
            shares(self.ours),
            shares(self.krcs),
            percent(*reflected),
            if fallbacks.is_empty() { "–".into() } else { fallbacks.join(", ") },
            percent(self.commanding)
        );
        for (name, histogram) in histograms {
            text.push_str(&format!("{name:<11} {}\n", histogram::quantiles(histogram)));
            if matches!(*name, "round trip" | "jitter") {
                text.push_str(&histogram::bars(histogram));
            }
        }
        text.trim_end().to_owned()
    }

    fn members(&self) -> impl Serialize {
        let End { counts, reflected, histograms } = &self.end;
        let KrcCounts { measurements, commands, overtaken, unused, malformed, foreign } = *counts;
        let histograms = histograms.iter().map(|(name, histogram)| (name.replace(' ', "_"), Quantiles::of(histogram)));
        Members {
            measurements,
            commands,
            overtaken,
            unused,
            malformed,
            foreign,
            reflected: *reflected,
            commanding: self.commanding,
            our_grade: ByGrade::of(self.ours),
            krc_quality: ByGrade::of(self.krcs),
            fallbacks: self.fallbacks.iter().map(|(reason, count)| (reason.name(), *count)).collect(),
            histograms: histograms.collect(),
        }
    }
}

#[derive(Serialize)]
struct Members {
    measurements: u64,
    commands: u64,
    overtaken: u64,
    unused: u64,
    malformed: u64,
    foreign: u64,
    reflected: u64,
    commanding: u64,
    our_grade: ByGrade,
    krc_quality: ByGrade,
    #[serde(serialize_with = "json::members")]
    fallbacks: Vec<(&'static str, u64)>,
    #[serde(flatten, serialize_with = "json::members")]
    histograms: Vec<(String, Quantiles)>,
}

/// The numbers of commands at the four grades (quality) of the link, as JSON members.
#[derive(Serialize)]
struct ByGrade {
    perfect: u64,
    ok: u64,
    bad: u64,
    unacceptable: u64,
}

impl ByGrade {
    const fn of([perfect, ok, bad, unacceptable]: [u64; 4]) -> Self {
        Self { perfect, ok, bad, unacceptable }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_tests::require::committed::hold;

    use super::*;

    /// The summary at the end of a run, as a JSON object.
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "summary")]
    struct Summed<M> {
        #[serde(flatten)]
        members: M,
    }

    #[test]
    fn the_objects_for_scripts_are_those_that_are_committed() {
        let mut counted = KrcTally { commands: 10, commanding: 9, ours: [4, 3, 2, 1], ..KrcTally::default() };
        counted.krcs = [1, 2, 3, 4];
        counted.fallbacks = vec![(Reason::StateStale, 2), (Reason::GradeLow, 1)];
        let names = ["interval", "age", "turnaround", "round trip", "jitter"];
        counted.end.histograms = names.map(|name| (name, Histogram::default()));
        let [interval, ..] = &mut counted.end.histograms;
        (1..=200).for_each(|millis| interval.1.record(Duration::from_millis(millis)));
        counted.end.counts =
            KrcCounts { measurements: 1, commands: 2, overtaken: 3, unused: 4, malformed: 5, foreign: 6 };
        counted.end.reflected = 7;
        let text = format!("{}\n", json::text(&Summed { members: counted.members() }));
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/vendor/golden/krc-summary.jsonl"), &text);
    }
}
