//! Log lines about persistent conditions: low grades (quality) of the link, and unmet preconditions of commanding.

use outrigger_core::link::{Grade, GradeChange};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};

use super::reason_text::{self, Observer};
use super::{Notice, Snapshot, grade};

/// The minimum interval at which frequent events of a session are displayed to people.
pub(crate) const PACE: Duration = Duration::from_secs(1);
/// The interval at which lines about unmet preconditions of commanding are repeated.
const AGAIN: Duration = Duration::from_secs(5);
/// The duration after which an episode (a time with a low link grade, i.e. quality) is reported once while it lasts.
const LONG: Duration = Duration::from_secs(5);

/// Collects the times in which the link's grade was below the one that commanding needs (episodes). Each gives a line
/// at its end, and another one after 5 s if it lasts that long, with the worst grade, the duration and the figure of
/// the link that caused the worst fall. Falls within 1 s after a recovery belong to the same episode.
#[derive(Debug, Default)]
pub struct Episodes {
    open: Option<Episode>,
}

/// A time (episode) in which the link's grade, i.e. quality, was below the one that commanding needs.
#[derive(Clone, Copy, Debug)]
struct Episode {
    since: Instant,
    /// The first fall of the link's grade to the worst grade of the episode.
    worst: GradeChange,
    /// The number of falls below the grade that commanding needs in the episode.
    falls: u32,
    end: Option<(Instant, End)>,
    told: bool,
}

/// The way in which an episode (a time with a low link grade, i.e. quality) ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Recovered,
    Disconnected,
}

impl Episodes {
    /// Records a change of the link's grade (quality). `needed` is the grade that commanding needs.
    pub fn note(&mut self, change: &GradeChange, needed: Grade) {
        if change.to >= needed {
            if let Some(episode) = &mut self.open {
                episode.end.get_or_insert((change.at, End::Recovered));
            }
        } else if change.to < change.from {
            let episode =
                self.open.get_or_insert(Episode { since: change.at, worst: *change, falls: 0, end: None, told: false });
            episode.falls += u32::from(change.from >= needed || episode.falls == 0);
            episode.end = None;
            if change.to < episode.worst.to {
                episode.worst = *change;
            }
        }
    }

    /// Records the end of the session at `at`. The grade (quality) of the link is unknown from then on.
    pub fn disconnected(&mut self, at: Instant) {
        if let Some(episode) = &mut self.open {
            episode.end.get_or_insert((at, End::Disconnected));
        }
    }

    /// Returns the line about an episode (a time with a low link grade, i.e. quality). `None` if none is due at `now`.
    /// `last` is `true` at the end of the command.
    pub fn next(&mut self, now: Instant, last: bool, here: bool, observer: Observer) -> Option<Notice> {
        let episode = self.open.as_mut()?;
        let over = match episode.end {
            Some((_, End::Disconnected)) => true,
            Some((at, End::Recovered)) => last || now.since(at) >= PACE,
            None => last,
        };
        let long = !episode.told && episode.end.is_none() && now.since(episode.since) >= LONG;
        if !over && !long {
            return None;
        }
        episode.told = true;
        let told = *episode;
        if over {
            self.open = None;
        }
        Some(told.notice(now, here, observer))
    }
}

impl Episode {
    fn notice(&self, now: Instant, here: bool, observer: Observer) -> Notice {
        let Self { since, worst, falls, end, .. } = self;
        let until = end.map_or(now, |(at, _)| at);
        let how = match end {
            Some((_, End::Recovered)) => "",
            Some((_, End::Disconnected)) => ", until the session ended",
            None => " so far",
        };
        let times = if *falls > 1 { format!(", {falls} falls") } else { String::new() };
        let (lasted, cause) = (grade::span(until.since(*since)), grade::fell_by(worst, observer));
        let remedy = grade::remedy_of(worst, here, observer);
        let text = format!("link {} for {lasted}{how}{times}: {cause}; {remedy}", worst.to.name());
        Notice { at: *since, kind: "grade", text, fields: vec![] }
    }
}

/// The unmet preconditions of commanding for output without a screen: printed on change and at intervals.
#[derive(Debug, Default)]
pub(crate) struct Unmet {
    said: Option<(Instant, ReasonSet)>,
}

impl Unmet {
    /// Returns the lines about unmet preconditions of commanding that are due now, causes first: after a change, and
    /// every [`AGAIN`].
    pub(crate) fn next(&mut self, snapshot: &Snapshot) -> Vec<String> {
        let Snapshot { at: now, mode, unmet, .. } = *snapshot;
        if mode != Mode::Monitor {
            self.said = None;
            return vec![];
        }
        let due = self.said.is_none_or(|(at, before)| before != unmet || (!unmet.is_empty() && now.since(at) >= AGAIN));
        if !due {
            return vec![];
        }
        self.said = Some((now, unmet));
        if unmet.is_empty() {
            return vec!["Ready to command".into()];
        }
        let line = |reason: Reason| {
            let (why, advice) = snapshot.why(reason);
            format!("Not ready: {why} ({}); {advice}", reason.name())
        };
        reason_text::causes_first(unmet).into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arm, Snapshot};
    use super::*;
    use outrigger_core::link::{GradeCause, Metric};

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    fn change(millis: u64, from: Grade, to: Grade, cause: (Metric, u32, u32)) -> GradeChange {
        let grade = if to > from { to } else { to.better() };
        let (metric, measured, limit) = cause;
        let cause = GradeCause { metric, grade, measured, limit };
        GradeChange { from, to, cause, at: at(millis), late: Duration::ZERO }
    }

    const MISSES: (Metric, u32, u32) = (Metric::Misses, 3, 2);
    const JITTER: (Metric, u32, u32) = (Metric::Jitter, 1_200, 1_000);

    fn next(episodes: &mut Episodes, millis: u64) -> Option<(Instant, String)> {
        episodes.next(at(millis), false, false, Observer::Process).map(|notice| (notice.at, notice.text))
    }

    #[test]
    fn a_low_grade_is_one_line_with_its_beginning_worst_grade_time_and_figure() {
        let mut episodes = Episodes::default();
        // A link that starts, and one that is still good enough, are not episodes.
        for (from, to) in [(Grade::Unacceptable, Grade::Bad), (Grade::Bad, Grade::Ok), (Grade::Ok, Grade::Perfect)] {
            episodes.note(&change(100, from, to, MISSES), Grade::Ok);
        }
        episodes.note(&change(400, Grade::Perfect, Grade::Ok, JITTER), Grade::Ok);
        assert_eq!(next(&mut episodes, 9_000), None);
        episodes.note(&change(10_000, Grade::Ok, Grade::Bad, MISSES), Grade::Ok);
        episodes.note(&change(10_010, Grade::Bad, Grade::Unacceptable, (Metric::Age, 41_000, 40_000)), Grade::Ok);
        episodes.note(&change(10_300, Grade::Unacceptable, Grade::Bad, JITTER), Grade::Ok);
        assert_eq!(next(&mut episodes, 10_400), None, "it goes on");
        episodes.note(&change(10_500, Grade::Bad, Grade::Ok, JITTER), Grade::Ok);
        episodes.note(&change(10_700, Grade::Ok, Grade::Perfect, JITTER), Grade::Ok);
        assert_eq!(next(&mut episodes, 11_400), None, "it may fall again");
        let told = (
            at(10_000),
            "link Unacceptable for 500 ms: newest state 41 ms old (limit 40 ms); check the network; see `outrigger \
             doctor`"
                .to_owned(),
        );
        assert_eq!(next(&mut episodes, 11_500), Some(told));
        assert_eq!(next(&mut episodes, 60_000), None);
    }

    #[test]
    fn a_link_that_flaps_is_one_episode_and_a_long_one_is_told_of_while_it_lasts() {
        let (mut episodes, mut told) = (Episodes::default(), vec![]);
        for fall in 0..10 {
            let millis = fall * 900;
            episodes.note(&change(millis, Grade::Perfect, Grade::Bad, MISSES), Grade::Ok);
            told.extend(next(&mut episodes, millis));
            episodes.note(&change(millis + 400, Grade::Bad, Grade::Ok, MISSES), Grade::Ok);
            told.extend(next(&mut episodes, millis + 400));
        }
        told.extend(next(&mut episodes, 9_600));
        let [(first, so_far), (second, whole)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((*first, *second), (at(0), at(0)));
        assert!(so_far.starts_with("link Bad for 5.4 s so far, 7 falls: missed 3 cycles in a row (Ok"), "{so_far}");
        assert!(whole.starts_with("link Bad for 8.5 s, 10 falls: missed 3 cycles"), "{whole}");
    }

    #[test]
    fn an_episode_ends_with_its_session() {
        let mut episodes = Episodes::default();
        episodes.note(&change(1_000, Grade::Perfect, Grade::Unacceptable, (Metric::Age, 41_000, 40_000)), Grade::Ok);
        episodes.disconnected(at(3_000));
        let (since, text) = next(&mut episodes, 3_000).expect("at once");
        assert_eq!(since, at(1_000));
        assert!(text.starts_with("link Unacceptable for 2 s, until the session ended: newest state 41 ms"), "{text}");
        // The link of the next session has only risen.
        episodes.note(&change(9_000, Grade::Unacceptable, Grade::Bad, MISSES), Grade::Ok);
        assert_eq!(episodes.next(at(9_900), true, false, Observer::Process).map(|notice| notice.text), None);
        episodes.note(&change(10_000, Grade::Ok, Grade::Bad, JITTER), Grade::Ok);
        let last = episodes.next(at(10_200), true, true, Observer::Process).expect("with the log").text;
        let share = "controller and client share this machine: check its load";
        assert_eq!(last, format!("link Bad for 200 ms so far: jitter 1.2 ms (Ok allows 1 ms); {share}"));
    }

    #[test]
    fn a_process_that_was_not_scheduled_is_named_and_not_the_network() {
        let mut episodes = Episodes::default();
        let late = Duration::from_millis(24);
        let fall = change(1_000, Grade::Perfect, Grade::Unacceptable, (Metric::Misses, 12, 10));
        episodes.note(&GradeChange { late, ..fall }, Grade::Ok);
        let text = episodes.next(at(1_000), true, true, Observer::Process).expect("the last line").text;
        let expected = "missed 12 cycles in a row (Bad allows 10) while this process was not scheduled for 24 ms; give \
                        the process a core";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn what_is_not_met_is_said_when_it_changes_and_every_five_seconds_with_what_to_do() {
        let mut unmet = Unmet::default();
        let stale = ReasonSet::EMPTY.with(Reason::SourceStale);
        let mut next = |millis, mode, set| {
            unmet.next(&Snapshot { at: at(millis), mode, unmet: set, ..Snapshot::of(Arm::default()) })
        };
        let nothing = Vec::<String>::new();
        assert_eq!(next(0, Mode::Offline, stale), nothing);
        let first = next(1_000, Mode::Monitor, stale);
        let [only] = first.as_slice() else { panic!("{first:?}") };
        assert!(only.contains("(SourceStale)") && only.contains(Reason::SourceStale.advice()), "{only}");
        assert_eq!(next(5_900, Mode::Monitor, stale), nothing);
        assert_eq!(next(6_000, Mode::Monitor, stale), first, "again");
        let more = next(6_100, Mode::Monitor, stale.with(Reason::ForeignProgram));
        let [foreign, stale_source] = more.as_slice() else { panic!("one line each: {more:?}") };
        assert!(stale_source.contains("(SourceStale)") && foreign.contains("take_over"), "{more:?}");
        assert_eq!(next(7_000, Mode::Monitor, ReasonSet::EMPTY), ["Ready to command"]);
        assert_eq!(next(60_000, Mode::Monitor, ReasonSet::EMPTY), nothing);
        assert_eq!(next(61_000, Mode::Command, stale), nothing);
        assert_eq!(next(62_000, Mode::Monitor, stale).len(), 1, "after a fallback it is news");
    }
}
