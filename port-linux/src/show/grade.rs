//! Why a link has its grade: the figure that decides, its limit, the key that sets it, and the last ten seconds.

use std::collections::VecDeque;

use outrigger_core::link::{Figures, GradeCause, GradeLow, Metric, Unit};
use outrigger_core::time::{Duration, Instant};

use super::histogram::span;
use super::{Notice, words};

/// Time between two looks at the figures: what is shortest-lived, the age, is seen as often.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Seconds that are kept.
const SECONDS: usize = 10;

/// What a figure or its limit is, in its unit.
fn value(metric: Metric, value: u32) -> String {
    match metric.unit() {
        Unit::Share => format!("{:.2} %", f64::from(value) / 100.0),
        Unit::Micros => span(Duration::from_micros(value.into())),
        Unit::Count => value.to_string(),
    }
}

/// The key of the configuration that sets the limit; `None` where none does.
pub(crate) fn key(cause: &GradeCause) -> Option<String> {
    let field = match cause.metric {
        Metric::Samples | Metric::Epoch => return None,
        Metric::Age => return Some("session.stale_after".into()),
        Metric::LocalStall => return Some("session.stall".into()),
        Metric::Received | Metric::Answered => "received",
        Metric::Delay => "delay",
        Metric::Jitter => "jitter",
        Metric::Misses | Metric::Unanswered => "misses",
    };
    Some(format!("session.grade.{}.{field}", cause.grade.name().to_lowercase()))
}

/// What was measured and what is allowed, in one sentence; `rising` where the limit is that of a grade to be reached.
pub(crate) fn of_cause(cause: &GradeCause, rising: bool) -> String {
    let GradeCause { metric, grade, measured, limit } = *cause;
    let (is, bound) = (value(metric, measured), value(metric, limit));
    let found = match metric {
        Metric::Samples if cause.is_within() => {
            return format!("every figure is within the limits of {}, over {is} cycles", grade.name());
        }
        Metric::Samples => return format!("{is} of the {bound} cycles seen that a grade is judged by"),
        Metric::Epoch => return "the controller's clock or counter began anew".into(),
        Metric::Received => format!("{is} of the last 100 cycles came"),
        Metric::Answered => format!("{is} of the last 100 answers were seen in time by the controller"),
        Metric::Delay => format!("states come {is} late on average"),
        Metric::Jitter => format!("jitter {is}"),
        Metric::Misses => format!("{is} cycles in a row did not come"),
        Metric::Unanswered => format!("{is} answers in a row were not seen by the controller"),
        Metric::Age => format!("the newest state is {is} old"),
        Metric::LocalStall => format!("this device itself was woken up to {is} late"),
    };
    let key = key(cause).unwrap_or_default();
    let side = if metric.unit() == Unit::Share { "least" } else { "most" };
    let (grade, graded) = (grade.name(), !matches!(metric, Metric::Age | Metric::LocalStall));
    match (graded, rising) {
        (false, _) => format!("{found}, at {side} {bound} is allowed ({key})"),
        (true, false) => format!("{found}, {grade} asks for at {side} {bound} ({key})"),
        (true, true) => format!("{found}, rising to {grade} asks for at {side} {bound} (a tenth inside {key})"),
    }
}

/// The same as short as a screen needs.
pub(crate) fn in_short(cause: &GradeCause) -> String {
    let GradeCause { metric, measured, limit, .. } = *cause;
    match metric {
        Metric::Epoch => metric.name().into(),
        _ => format!("{} {}, limit {}", metric.name(), value(metric, measured), value(metric, limit)),
    }
}

/// What keeps the grade from rising, in one sentence, and what to do about it.
pub(crate) fn why_low(low: &GradeLow, here: bool) -> String {
    let GradeLow { grade, cause } = low;
    let (why, what) = (of_cause(cause, true), words::of_metric(cause.metric, here));
    if cause.is_within() {
        let rises = "it rises a step in every 100 good cycles and session.rise_time";
        return format!("the link is {}: {why}: that is met by now, {rises}", grade.name());
    }
    format!("the link is {}: {why}; {what}", grade.name())
}

/// The words of a cause for scripts.
pub(crate) fn fields(cause: &GradeCause) -> Vec<(&'static str, String)> {
    let GradeCause { metric, measured, limit, .. } = *cause;
    let mut fields = vec![("cause", metric.name().into())];
    if metric != Metric::Epoch {
        fields.extend([("measured", value(metric, measured)), ("limit", value(metric, limit))]);
    }
    fields.extend(key(cause).map(|key| ("key", key)));
    fields
}

/// A second of a link: what was counted in it, and the worst that was seen.
#[derive(Clone, Copy, Debug)]
struct Second {
    begun: Instant,
    came: u64,
    lost: u64,
    late: u64,
    stalls: u64,
    jitter: Duration,
    delay: Duration,
    age: Duration,
    misses: u32,
    /// In parts of 10 000, as the next.
    received: u16,
    answered: Option<u16>,
}

impl Second {
    const fn new(begun: Instant) -> Self {
        let zero = Duration::ZERO;
        let (came, lost, late, stalls, misses) = (0, 0, 0, 0, 0);
        let (received, answered) = (10_000, None);
        Self { begun, came, lost, late, stalls, jitter: zero, delay: zero, age: zero, misses, received, answered }
    }

    fn look(&mut self, figures: &Figures, before: [u64; 4]) {
        let [came, lost, late, stalls] = totals(figures);
        let [came_before, lost_before, late_before, stalls_before] = before;
        self.came += came.saturating_sub(came_before);
        self.lost += lost.saturating_sub(lost_before);
        self.late += late.saturating_sub(late_before);
        self.stalls += stalls.saturating_sub(stalls_before);
        self.jitter = self.jitter.max(figures.jitter);
        self.delay = self.delay.max(figures.lateness.unwrap_or_default());
        self.age = self.age.max(figures.age.unwrap_or_default());
        self.misses = self.misses.max(figures.consecutive_misses);
        self.received = self.received.min(figures.received.unwrap_or(10_000));
        let rate = figures.answers.map(|answers| answers.rate);
        self.answered = rate.map(|rate| self.answered.map_or(rate, |least| least.min(rate)));
    }

    /// The figure that `metric` stands for.
    fn of(&self, metric: Metric) -> String {
        let millis = |span: Duration| format!("{:.2}", span.as_secs_f64() * 1e3);
        let percent = |share: u16| format!("{:.2}", f64::from(share) / 100.0);
        match metric {
            Metric::Samples | Metric::Epoch => self.came.to_string(),
            Metric::Received => percent(self.received),
            Metric::Answered => self.answered.map_or_else(|| "-".into(), percent),
            Metric::Delay => millis(self.delay),
            Metric::Jitter => millis(self.jitter),
            Metric::Misses | Metric::Unanswered => self.misses.to_string(),
            Metric::Age => millis(self.age),
            Metric::LocalStall => self.stalls.to_string(),
        }
    }
}

/// What is counted: states that came, were lost, were late; times this device stood still.
fn totals(figures: &Figures) -> [u64; 4] {
    [figures.sequence.accepted, figures.sequence.lost, figures.late, figures.local_stalls.into()]
}

/// What a row of [`LastSeconds`] shows of `metric`.
const fn of_seconds(metric: Metric) -> &'static str {
    match metric {
        Metric::Samples | Metric::Epoch => "states",
        Metric::Received => "least received [%]",
        Metric::Answered => "least answered [%]",
        Metric::Delay => "most mean lateness [ms]",
        Metric::Jitter => "most jitter [ms]",
        Metric::Misses | Metric::Unanswered => "most misses in a row",
        Metric::Age => "greatest age [ms]",
        Metric::LocalStall => "own stalls",
    }
}

/// The last ten seconds of a link, from figures looked at every [`LOOK`].
///
/// A board keeps none of it: who shows its telemetry has the figures, and its memory is short.
#[derive(Debug, Default)]
pub(crate) struct LastSeconds {
    seconds: VecDeque<Second>,
    next: Option<Instant>,
    /// Epoch and totals of the last look.
    before: Option<(u32, [u64; 4])>,
}

impl LastSeconds {
    /// Whether it is time to look.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Looks at the link.
    pub(crate) fn look(&mut self, now: Instant, figures: &Figures) {
        self.next = Some(now + LOOK);
        // A clock that began anew counts from zero.
        let before = self.before.replace((figures.epoch, totals(figures)));
        let before = before.filter(|(epoch, _)| *epoch == figures.epoch).map_or([0; 4], |(_, totals)| totals);
        if self.seconds.back().is_none_or(|newest| now.since(newest.begun) >= Duration::from_secs(1)) {
            if self.seconds.len() == SECONDS {
                self.seconds.pop_front();
            }
            self.seconds.push_back(Second::new(now));
        }
        if let Some(second) = self.seconds.back_mut() {
            second.look(figures, before);
        }
    }

    /// The figure of `metric` in each second, oldest first.
    pub(crate) fn of(&self, metric: Metric) -> String {
        let each: Vec<_> = self.seconds.iter().map(|second| second.of(metric)).collect();
        format!("last {} s, oldest first: {} {}", each.len(), of_seconds(metric), each.join(" "))
    }

    /// All figures as a table, a line per second.
    pub(crate) fn table(&self) -> String {
        let head = [
            "s ago",
            "states",
            "lost",
            "late",
            "misses",
            "received %",
            "answered %",
            "late by ms",
            "jitter ms",
            "age ms",
            "own stalls",
        ];
        let line = |cells: [String; 11]| {
            cells
                .iter()
                .zip(head)
                .map(|(cell, head)| format!("  {cell:>width$}", width = head.len()))
                .collect::<String>()
        };
        let now = self.seconds.back().map(|newest| newest.begun);
        let rows = self.seconds.iter().map(|second| {
            let ago = now.map_or(0, |now| (now.since(second.begun).as_micros() + 500_000) / 1_000_000);
            let [lost, late] = [second.lost, second.late].map(|count| count.to_string());
            let of = |metric| second.of(metric);
            line([
                ago.to_string(),
                of(Metric::Samples),
                lost,
                late,
                of(Metric::Misses),
                of(Metric::Received),
                of(Metric::Answered),
                of(Metric::Delay),
                of(Metric::Jitter),
                of(Metric::Age),
                of(Metric::LocalStall),
            ])
        });
        std::iter::once(line(head.map(str::to_owned))).chain(rows).collect::<Vec<_>>().join("\n")
    }

    /// Completes the notice of a [`GradeLow`] by them.
    pub(crate) fn explain(&self, low: &GradeLow, notice: &mut Notice) {
        let seconds = self.of(low.cause.metric);
        notice.text = format!("{}; {seconds}", notice.text);
        notice.fields.push(("last_seconds", seconds));
    }
}

#[cfg(test)]
mod tests {
    use outrigger_config::Configuration;
    use outrigger_core::link::{Grade, LinkConfig, LinkMonitor};
    use outrigger_core::robot::ControllerTime;

    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    /// States of 2 ms, from the first second on each late by turns by `late` µs.
    fn watched(seconds: u64, late: u64) -> (LinkMonitor, LastSeconds, Instant) {
        let (mut link, mut last, mut now) =
            (LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2))), LastSeconds::default(), at(0));
        for cycle in 0..seconds * 500 {
            let delay = if cycle >= 500 && cycle % 2 == 0 { late } else { 0 };
            now = at(1_000_000 + cycle * 2_000 + delay);
            let _ = link.observe(ControllerTime::from_micros(cycle * 2_000), now, now);
            if last.is_due(now) {
                last.look(now, &link.figures(now));
            }
        }
        (link, last, now)
    }

    #[test]
    fn a_low_grade_is_told_with_figure_limit_key_and_the_last_ten_seconds() {
        let (link, last, now) = watched(13, 1_500);
        let low = link.grade_low(now);
        assert_eq!((low.grade, low.cause.metric, low.cause.grade), (Grade::Bad, Metric::Jitter, Grade::Ok));
        let told = why_low(&low, false);
        assert!(told.starts_with("the link is Bad: jitter 1.50 ms, rising to Ok asks for at most 900 µs"), "{told}");
        assert!(told.contains("(a tenth inside session.grade.ok.jitter); states come unevenly"), "{told}");
        assert_eq!(last.of(Metric::Jitter), format!("last 10 s, oldest first: most jitter [ms]{}", " 1.50".repeat(10)));
        let table = last.table();
        assert_eq!(table.lines().count(), 11, "{table}");
        assert!(table.lines().skip(2).all(|row| row.contains(" 500 ")), "{table}");
    }

    #[test]
    fn what_is_met_by_now_is_said_to_be_met() {
        let (link, _, now) = watched(1, 0);
        let mut low = link.grade_low(now);
        assert!(why_low(&low, false).contains("rises"), "{}", why_low(&low, false));
        low.cause.limit = u32::MAX;
        assert!(low.cause.is_within() || low.cause.metric.unit() == Unit::Share || low.cause.metric == Metric::Samples);
    }

    #[test]
    fn a_clock_that_began_anew_counts_no_second_twice() {
        let mut link = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2)));
        let mut last = LastSeconds::default();
        for cycle in 0..1_000_u64 {
            // The controller is started anew in the middle.
            let (stamp, now) = (if cycle < 500 { 1_000_000 + cycle } else { cycle }, at(1_000_000 + cycle * 2_000));
            let _ = link.observe(ControllerTime::from_micros(stamp * 2_000), now, now);
            if last.is_due(now) {
                last.look(now, &link.figures(now));
            }
        }
        let came: u64 = last.seconds.iter().map(|second| second.came).sum();
        // What came between the last look and the restart, and after the last of all, is not known.
        assert!((900..=1_000).contains(&came), "{came}");
    }

    #[test]
    fn every_figure_has_its_sentence_and_each_key_is_one_of_the_configuration() {
        for metric in Metric::ALL {
            for grade in [Grade::Bad, Grade::Ok, Grade::Perfect] {
                let cause = GradeCause { metric, grade, measured: 7, limit: 5 };
                for rising in [false, true] {
                    let told = of_cause(&cause, rising);
                    assert_eq!(key(&cause).is_some(), told.contains("session."), "{told}");
                }
                let Some(key) = key(&cause) else { continue };
                let (table, name) = key.rsplit_once('.').expect("a table");
                let value = match metric.unit() {
                    Unit::Share => "0.99",
                    Unit::Micros => "0.5",
                    Unit::Count => "9",
                };
                let text = format!("[{table}]\n{name} = {value}\n");
                let problems = Configuration::parse(&text)
                    .expect_err("no robot")
                    .iter()
                    .map(ToString::to_string)
                    .collect::<String>();
                assert!(!problems.contains("unknown key"), "{key}: {problems}");
            }
        }
    }
}
