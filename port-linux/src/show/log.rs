//! What lines tell of things that go on: grades of the link, and what keeps commanding from beginning.

use outrigger_core::link::{Grade, GradeCause, GradeChange};
use outrigger_core::mode::Mode;
use outrigger_core::robot::ReasonSet;
use outrigger_core::time::{Duration, Instant};

use super::{grade, words};

/// People are told of changes of grade at most once in this time.
pub(crate) const PACE: Duration = Duration::from_secs(1);
/// What is not met is said again after this time.
const AGAIN: Duration = Duration::from_secs(5);

/// Changes of grade, which a busy machine makes many times a second: one line per [`PACE`] tells from where to where, and how
/// deep the link had fallen between.
#[derive(Debug, Default)]
pub(crate) struct Grades {
    said_at: Option<Instant>,
    /// What was said last, or was there before the first change.
    said: Option<Grade>,
    newest: Option<GradeChange>,
    worst: Option<(Grade, GradeCause)>,
}

impl Grades {
    /// The grade changed.
    pub(crate) fn note(&mut self, change: GradeChange) {
        self.said.get_or_insert(change.from);
        self.newest = Some(change);
        if self.worst.is_none_or(|(grade, _)| change.to < grade) {
            self.worst = Some((change.to, change.cause));
        }
    }

    /// What there is to say at `now`; `here` where the controller runs on this machine.
    pub(crate) fn next(&mut self, now: Instant, here: bool) -> Option<String> {
        let (Some(newest), Some(said), Some((worst, fell_by))) = (self.newest, self.said, self.worst) else {
            return None;
        };
        if self.said_at.is_some_and(|at| now.since(at) < PACE) {
            return None;
        }
        (self.newest, self.worst, self.said) = (None, None, Some(newest.to));
        let fell_between = worst < said && worst < newest.to;
        if newest.to == said && !fell_between {
            return None;
        }
        self.said_at = Some(now);
        let between = if fell_between { format!("{} → ", worst.name()) } else { String::new() };
        let cause = if fell_between { fell_by } else { newest.cause };
        let fell = fell_between || newest.to < said;
        let text = format!("link {} → {between}{}: {}", said.name(), newest.to.name(), grade::of_cause(&cause, !fell));
        Some(if fell { format!("{text}; {}", words::of_metric(cause.metric, here)) } else { text })
    }
}

/// What a request would be refused for, where nobody looks at a screen.
#[derive(Debug, Default)]
pub(crate) struct Unmet {
    said: Option<(Instant, ReasonSet)>,
}

impl Unmet {
    /// Returns the lines that are due at `now`, the cause first: where something has changed, and every [`AGAIN`].
    pub(crate) fn next(&mut self, now: Instant, mode: Mode, unmet: ReasonSet, here: bool) -> Vec<String> {
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
            return vec!["every precondition is met".into()];
        }
        words::of_unmet(unmet, here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_core::link::Metric;
    use outrigger_core::robot::Reason;

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    fn change(from: Grade, to: Grade, metric: Metric) -> GradeChange {
        let grade = if to > from { to } else { to.better() };
        GradeChange { from, to, cause: GradeCause { metric, grade, measured: 3_000, limit: 2_000 } }
    }

    const RISE: &str = "link Ok → Perfect: 3000 cycles in a row did not come, rising to Perfect asks for at most 2000 \
                        (a tenth inside session.grade.perfect.misses)";

    #[test]
    fn a_fall_right_after_a_rise_is_told() {
        let mut grades = Grades::default();
        grades.note(change(Grade::Ok, Grade::Perfect, Metric::Misses));
        assert_eq!(grades.next(at(0), false).as_deref(), Some(RISE));
        grades.note(change(Grade::Perfect, Grade::Bad, Metric::Jitter));
        assert_eq!(grades.next(at(300), false), None, "not yet");
        let told = grades.next(at(1_000), false).expect("the fall");
        assert!(
            told.starts_with(
                "link Perfect → Bad: jitter 3.00 ms, Ok asks for at most 2.00 ms (session.grade.ok.jitter); "
            ),
            "{told}"
        );
    }

    #[test]
    fn a_link_that_fell_and_rose_within_the_pace_is_told_with_how_deep_it_fell_and_why() {
        let mut grades = Grades::default();
        grades.note(change(Grade::Ok, Grade::Perfect, Metric::Misses));
        assert!(grades.next(at(0), false).is_some());
        grades.note(change(Grade::Perfect, Grade::Unacceptable, Metric::Age));
        grades.note(change(Grade::Unacceptable, Grade::Ok, Metric::Misses));
        let told = grades.next(at(1_200), false).expect("what became of it");
        assert!(
            told.starts_with("link Perfect → Unacceptable → Ok: the newest state is 3.00 ms old, at most 2.00 ms "),
            "{told}"
        );
        // Up and down again is where it was.
        grades.note(change(Grade::Ok, Grade::Perfect, Metric::Misses));
        grades.note(change(Grade::Perfect, Grade::Ok, Metric::Jitter));
        assert_eq!(grades.next(at(3_000), false), None);
    }

    #[test]
    fn what_is_not_met_is_said_when_it_changes_and_every_five_seconds_with_what_to_do() {
        let mut unmet = Unmet::default();
        let stale = ReasonSet::EMPTY.with(Reason::SourceStale);
        let mut next = |millis, mode, set| unmet.next(at(millis), mode, set, false);
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
        assert_eq!(next(7_000, Mode::Monitor, ReasonSet::EMPTY), ["every precondition is met"]);
        assert_eq!(next(60_000, Mode::Monitor, ReasonSet::EMPTY), nothing);
        assert_eq!(next(61_000, Mode::Command, stale), nothing);
        assert_eq!(next(62_000, Mode::Monitor, stale).len(), 1, "after a fallback it is news");
    }
}
