//! Descriptions of a link's grade (quality): the figure that lowered it, its limit, and the condition for the next
//! better grade.
//!
//! Terminal, view, page, `doctor`, `--json`, ROS 2 diagnostics and `replay` use these texts.

use std::collections::VecDeque;

use outrigger_core::link::{Figures, Grade, GradeCause, GradeChange, GradeLow, Metric, Unit, WINDOW};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};
use serde::Serialize;

use super::Notice;
use super::examination_result::Sheet;
use super::reason_advice::{self, Observer};
use crate::json;

/// The interval at which the figures of a link are sampled. Present figures, such as the age of the newest robot state,
/// can rise and fall between two samples unseen.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// The number of seconds for which the figures of a link are stored.
const SECONDS: usize = 10;

/// Formats a duration with three digits, in a suitable unit (µs, ms or s).
pub(crate) fn span(span: Duration) -> String {
    let micros = span.as_micros();
    let (value, unit) = match micros {
        0..1_000 => return format!("{micros} \u{b5}s"),
        1_000..1_000_000 => (micros as f64 / 1e3, "ms"),
        _ => (micros as f64 / 1e6, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.digits$}");
    let text = if digits == 0 { text.as_str() } else { text.trim_end_matches('0').trim_end_matches('.') };
    format!("{text} {unit}")
}

/// Formats a figure of a link or the limit on it, in its unit.
fn value(metric: Metric, value: u32) -> String {
    match metric.unit() {
        Unit::Share => format!("{:.2} %", f64::from(value) / 100.0),
        Unit::Micros => span(Duration::from_micros(value.into())),
        Unit::Count => value.to_string(),
    }
}

/// Returns the configuration key of the limit that a figure of the link violates. `None` if the limit cannot be
/// configured.
pub(crate) fn key(cause: &GradeCause) -> Option<String> {
    let field = match cause.metric {
        Metric::Samples | Metric::Epoch => return None,
        Metric::Age => return Some("session.expert.stale_after".into()),
        Metric::LocalStall => return Some("session.expert.stall".into()),
        Metric::Received | Metric::Answered => "received",
        Metric::Delay => "delay",
        Metric::Jitter => "jitter",
        Metric::Misses | Metric::Unanswered => "misses",
    };
    Some(format!("session.expert.grade.{}.{field}", cause.grade.name().to_lowercase()))
}

/// Formats a time since the start of the process as in the first column of an output line.
fn moment(at: Instant) -> String {
    format!("{:.3} s", at.since(Instant::ZERO).as_secs_f64())
}

/// Describes the figure that lowered the link's grade (quality), with the measured value and the limit that it
/// violated. A restart of the controller's clock has neither.
pub(crate) fn fell_by(fell: &GradeChange, observer: Observer) -> String {
    let GradeCause { metric, grade, measured, limit } = fell.cause;
    let (is, most, grade) = (value(metric, measured), value(metric, limit), grade.name());
    let found = match metric {
        Metric::Samples => return format!("only {is} of {most} cycles seen since the start"),
        Metric::Epoch => return "the controller's clock restarted".into(),
        Metric::LocalStall => return not_scheduled(observer, fell.cause),
        Metric::Age => format!("newest state {is} old (limit {most})"),
        Metric::Received => format!("received {is} of the last {WINDOW} cycles ({grade} needs {most})"),
        Metric::Answered => format!("{is} of the last {WINDOW} answers seen in time ({grade} needs {most})"),
        Metric::Delay => format!("states {is} late on average ({grade} allows {most})"),
        Metric::Jitter => format!("jitter {is} ({grade} allows {most})"),
        Metric::Misses => format!("missed {} in a row ({grade} allows {most})", count(measured, "cycle")),
        Metric::Unanswered => format!("{} in a row not seen ({grade} allows {most})", count(measured, "answer")),
    };
    match fell.late {
        Duration::ZERO => found,
        late => format!("{found} while {} was not scheduled for {}", observer.name(), span(late)),
    }
}

/// Describes a wake-up of the observing program that was later than permitted.
fn not_scheduled(observer: Observer, cause: GradeCause) -> String {
    let [late, limit] = [cause.measured, cause.limit].map(|micros| Duration::from_micros(micros.into()));
    local_stall(observer, late, limit)
}

/// Describes a wake-up of the observing program that was late by `late`, which exceeds `limit`.
pub(crate) fn local_stall(observer: Observer, late: Duration, limit: Duration) -> String {
    format!("{} was not scheduled for {} (limit {})", observer.name(), span(late), span(limit))
}

fn count(number: u32, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Describes the condition for the next better grade (quality) of a link, with the current figure. Returns `None` for
/// the best grade.
pub fn next_grade(low: &GradeLow) -> Option<String> {
    let GradeLow { grade, next, .. } = low;
    let GradeCause { metric, measured, limit, .. } = *next;
    let (better, is) = (grade.better(), value(metric, measured));
    if better == *grade {
        return None;
    }
    let needs = match metric {
        Metric::Samples if !next.is_within() => {
            return Some(format!("{} cycles are needed to judge the link, {is} seen", value(metric, limit)));
        }
        _ if next.is_within() => return Some(format!("recovering: {} after {WINDOW} clean cycles", better.name())),
        Metric::Samples | Metric::Epoch => return Some(format!("{} needs {WINDOW} cycles", better.name())),
        Metric::Received => "cycles received",
        Metric::Answered => "answers seen in time",
        Metric::Delay => "a mean lateness",
        Metric::Jitter => "jitter",
        Metric::Misses => "missed cycles in a row",
        Metric::Unanswered => "unseen answers in a row",
        Metric::Age => "a newest state aged",
        Metric::LocalStall => "wake-ups late by",
    };
    let side = if metric.unit() == Unit::Share { "\u{2265}" } else { "\u{2264}" };
    Some(format!("next grade ({}) needs {needs} {side} {}; now {is}", better.name(), value(metric, limit)))
}

/// Describes the link's grade (quality), and, if it is too low for commanding, the grade that commanding needs.
pub(crate) fn quality(low: &GradeLow) -> String {
    let GradeLow { grade, needed, .. } = low;
    let needs = if grade < needed { format!(", needs {}", needed.name()) } else { String::new() };
    format!("link quality {}{needs}", grade.name())
}

/// Describes the figure that lowered the link's grade (quality), and when it did so.
pub fn fell(fell: &GradeChange, observer: Observer) -> String {
    format!("{} at {}", fell_by(fell, observer), moment(fell.at))
}

/// Describes the cause of the link's grade (quality): the figure and the time of its newest fall, and the condition for
/// the next better grade. Empty for the best grade.
pub(crate) fn cause(low: &GradeLow, observer: Observer) -> String {
    let Some(next) = next_grade(low) else { return String::new() };
    match &low.fell {
        Some(fell) => format!("{}; {next}", self::fell(fell, observer)),
        None => next,
    }
}

/// Describes the link's grade (quality) and its cause, in one sentence. The best grade has no cause.
pub fn of_link(low: &GradeLow, observer: Observer) -> String {
    let cause = cause(low, observer);
    let colon = if cause.is_empty() { "" } else { ": " };
    format!("{}{colon}{cause}", quality(low))
}

/// Describes the link's low grade (quality) with its cause and advice, in one sentence.
pub(crate) fn why_low(low: &GradeLow, here: bool, observer: Observer) -> String {
    format!("{}; {}", of_link(low, observer), remedy(low, here, observer))
}

/// Returns advice about the cause of a low grade (quality) of the link.
pub fn remedy(low: &GradeLow, here: bool, observer: Observer) -> &'static str {
    match &low.fell {
        Some(fell) if low.next.is_within() || fell.cause.metric == low.next.metric => remedy_of(fell, here, observer),
        Some(_) | None => reason_advice::of_metric(low.next.metric, here, observer),
    }
}

/// Returns advice about the cause of a fall of the link's grade (quality).
pub(crate) fn remedy_of(fell: &GradeChange, here: bool, observer: Observer) -> &'static str {
    let own = fell.late > Duration::ZERO;
    reason_advice::of_metric(if own { Metric::LocalStall } else { fell.cause.metric }, here, observer)
}

/// Adds a low grade (quality) of the link to the problems in the examination's result `sheet`, with the configuration
/// key of the limit and the additional advice `more`. A grade that has only risen, and is still rising, needs only
/// time.
pub(crate) fn judge_link(figures: &Figures, unmet: ReasonSet, more: &str, sheet: &mut Sheet) {
    let low = figures.grade_low();
    if low.grade >= low.needed && !unmet.contains(Reason::GradeLow) {
        return;
    }
    let text = of_link(&low, Observer::Process);
    let rises = low.next.is_within() || low.next.metric == Metric::Samples;
    if low.fell.is_none() && rises {
        sheet.fix(format!("{text}; link quality rises one level per 100 states: use more --duration"));
        return;
    }
    let key = key(deciding(&low)).map_or_else(String::new, |key| format!("; the limit is {key}"));
    sheet.fix(format!("{text}{key}; {}{more}", remedy(&low, false, Observer::Process)));
}

/// Returns the decisive figure of a low link grade: the one that the next grade needs, or, if its condition is met, the
/// one that lowered the grade.
fn deciding(low: &GradeLow) -> &GradeCause {
    match &low.fell {
        Some(fell) if low.next.is_within() => &fell.cause,
        Some(_) | None => &low.next,
    }
}

/// Describes a change of the link's grade (quality) as one line of text.
pub(crate) fn of_change(change: &GradeChange, observer: Observer) -> String {
    let GradeChange { from, to, .. } = change;
    let text = format!("link {} \u{2192} {}", from.name(), to.name());
    if to > from { text } else { format!("{text}: {}", fell_by(change, observer)) }
}

/// Returns the fields for scripts that describe a fall of the link's grade (quality). Empty for a rise.
pub(crate) fn fields(change: &GradeChange) -> Vec<(&'static str, String)> {
    let GradeChange { from, to, cause, late, .. } = change;
    if to > from {
        return vec![];
    }
    let GradeCause { metric, grade, measured, limit } = *cause;
    let mut fields = vec![("cause", metric.name().into())];
    if metric != Metric::Epoch {
        fields.extend([("measured", value(metric, measured)), ("limit", value(metric, limit))]);
    }
    if !matches!(metric, Metric::Samples | Metric::Epoch | Metric::Age | Metric::LocalStall) {
        fields.push(("limit_of", grade.name().into()));
    }
    fields.extend(key(cause).map(|key| ("key", key)));
    if *late > Duration::ZERO {
        fields.push(("late", span(*late)));
    }
    fields
}

/// Returns the fields for scripts that describe a low grade (quality) of the link.
pub fn low_fields(low: &GradeLow) -> Vec<(&'static str, String)> {
    let mut words = vec![("grade", low.grade.name().into()), ("needed", low.needed.name().into())];
    words.extend(low.fell.iter().flat_map(fields));
    let GradeCause { metric, measured, limit, .. } = low.next;
    if low.grade != Grade::Perfect && metric != Metric::Epoch {
        let figure = [("next_cause", metric.name().into()), ("next_measured", value(metric, measured))];
        words.push(("next_grade", low.grade.better().name().into()));
        words.extend(figure);
        words.push(("next_limit", value(metric, limit)));
        words.extend(key(&low.next).map(|key| ("next_key", key)));
    }
    words
}

/// The JSON members that describe the grade (quality) of a link, in addition to `grade`.
#[derive(Serialize)]
pub(crate) struct Members {
    grade_text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    grade_fell_at: Option<f64>,
    #[serde(flatten, serialize_with = "json::members")]
    fields: Vec<(String, String)>,
}

impl Members {
    /// Returns the JSON members that describe the grade (quality) of a link and its cause.
    pub(crate) fn of(low: &GradeLow, observer: Observer) -> Self {
        let fields = low_fields(low).into_iter().skip(1).map(|(name, text)| {
            let of = if name.starts_with("next_") { "" } else { "grade_" };
            (format!("{of}{name}"), text)
        });
        Self {
            grade_text: of_link(low, observer),
            grade_fell_at: low.fell.map(|fell| json::seconds(fell.at)),
            fields: fields.collect(),
        }
    }
}

/// The figures of a link in one second: counts, and worst values.
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
    /// The lowest share of the last 100 cycles that were received, of all samples in this second, in parts of 10 000.
    received: u16,
    /// The lowest share of the last 100 answers that were seen in time, of all samples in this second, in parts of
    /// 10 000. `None` if answers are not reported.
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

    /// Formats the link's figure for `metric` in this second.
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

/// Returns the totals of a link: robot states received, lost and late, and how often this device was not scheduled.
fn totals(figures: &Figures) -> [u64; 4] {
    [figures.sequence.accepted, figures.sequence.lost, figures.late, figures.local_stalls.into()]
}

/// Returns the words that precede the values of the figure `metric` in the line of [`LastSeconds::of`].
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

/// The figures of a link in its last ten seconds, sampled every 100 ms.
///
/// A board stores none of this. The receivers of its telemetry have the figures, and its memory is small.
#[derive(Debug, Default)]
pub struct LastSeconds {
    seconds: VecDeque<Second>,
    next: Option<Instant>,
    /// The epoch of the controller's clock, and the totals of the last sample. `None` before the first.
    before: Option<(u32, [u64; 4])>,
}

impl LastSeconds {
    /// Returns `true` if the next sample of the link's figures is due at `now`.
    pub fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Samples the figures of the link for the table of the last seconds.
    pub fn look(&mut self, now: Instant, figures: &Figures) {
        self.next = Some(now + LOOK);
        // A clock that restarts counts from zero.
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

    /// Formats the link's figure for `metric` in each stored second, oldest first.
    pub(crate) fn of(&self, metric: Metric) -> String {
        let each: Vec<_> = self.seconds.iter().map(|second| second.of(metric)).collect();
        format!("last {} s, oldest first: {} {}", each.len(), of_seconds(metric), each.join(" "))
    }

    /// Formats all figures of the last ten seconds as a table with a line per second.
    pub fn table(&self) -> String {
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

    /// Adds the figures of the link in the last seconds to `notice`, which reports a low grade (quality) of the link.
    pub fn explain(&self, low: &GradeLow, notice: &mut Notice) {
        notice.fields.push(("last_seconds", self.of_low(low)));
    }

    /// Formats the figure that causes a low grade (quality) of the link, in each stored second.
    pub(crate) fn of_low(&self, low: &GradeLow) -> String {
        self.of(deciding(low).metric)
    }
}

#[cfg(test)]
mod tests {
    use outrigger_config::Configuration;
    use outrigger_core::link::{Grade, LinkConfig, LinkMonitor};
    use outrigger_wire::robot::ControllerTime;

    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    /// Creates a link with states every 2 ms, of which from the first second on every other one is late by `late` µs.
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
    fn a_low_grade_names_the_figure_that_it_fell_by_when_and_what_the_next_grade_needs() {
        let (link, last, now) = watched(13, 1_500);
        let low = link.grade_low(now);
        let fell = low.fell.expect("it fell");
        assert_eq!((low.grade, fell.to, fell.cause.metric), (Grade::Bad, Grade::Bad, Metric::Jitter));
        // The limit is that of the lost grade, with the figure at that time. The next grade has another limit.
        let told = why_low(&low, false, Observer::Process);
        let measured = span(Duration::from_micros(fell.cause.measured.into()));
        let expected = format!(
            "link quality Bad, needs Ok: jitter {measured} (Ok allows 1 ms) at {}; next grade (Ok) needs jitter \u{2264} 900 \
             \u{b5}s; now 1.5 ms; check the network; see `outrigger doctor`",
            moment(fell.at)
        );
        assert_eq!(told, expected);
        assert!(fell.cause.measured > 1_000 && fell.cause.measured < 1_100, "as it fell: {fell:?}");
        assert_eq!(last.of_low(&low), format!("last 10 s, oldest first: most jitter [ms]{}", " 1.50".repeat(10)));
        let table = last.table();
        assert_eq!(table.lines().count(), 11, "{table}");
        assert!(table.lines().skip(2).all(|row| row.contains(" 500 ")), "{table}");
    }

    #[test]
    fn a_figure_that_is_met_by_now_is_no_cause_and_a_link_that_only_rises_needs_time() {
        let mut link = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2)));
        let mut state = |cycle: u64| {
            let now = at(1_000_000 + cycle * 2_000);
            let _ = link.observe(ControllerTime::from_micros(cycle * 2_000), now, now);
            link.figures(now)
        };
        let fixes = |figures: &Figures| {
            let mut sheet = Sheet::default();
            judge_link(figures, ReasonSet::EMPTY.with(Reason::GradeLow), "", &mut sheet);
            sheet.text()
        };
        let rising = (0..250).map(&mut state).last().expect("figures");
        let text = fixes(&rising);
        assert!(
            text.starts_with(
                "1 thing to fix before commanding:\n  - link quality Bad, needs Ok: recovering: Ok after 100"
            ) && text.ends_with(": use more --duration"),
            "{text}"
        );
        let figures = (250..600).map(&mut state).last().expect("figures");
        assert_eq!(of_link(&figures.grade_low(), Observer::Process), "link quality Perfect");
        // Twelve cycles are missing, and all later ones arrive.
        let fallen = (612..650).map(&mut state).last().expect("figures");
        let low = fallen.grade_low();
        let told = why_low(&low, true, Observer::Process);
        assert!(!told.contains(" 0 ") && !told.contains("met by now"), "{told}");
        let expected = "link quality Unacceptable, needs Ok: missed 12 cycles in a row (Bad allows 10) at 2.224 s; ";
        assert!(told.starts_with(expected), "{told}");
        let text = fixes(&fallen);
        assert!(text.starts_with(&format!("1 thing to fix before commanding:\n  - {expected}")), "{text}");
        assert!(text.contains("; the limit is session.expert.grade.bad."), "{text}");
    }

    #[test]
    fn a_clock_that_began_anew_counts_no_second_twice() {
        let mut link = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2)));
        let mut last = LastSeconds::default();
        for cycle in 0..1_000_u64 {
            // The controller is restarted in the middle.
            let (stamp, now) = (if cycle < 500 { 1_000_000 + cycle } else { cycle }, at(1_000_000 + cycle * 2_000));
            let _ = link.observe(ControllerTime::from_micros(stamp * 2_000), now, now);
            if last.is_due(now) {
                last.look(now, &link.figures(now));
            }
        }
        let came: u64 = last.seconds.iter().map(|second| second.came).sum();
        // States after the last sample before the restart, and after the very last sample, are not counted.
        assert!((900..=1_000).contains(&came), "{came}");
    }

    #[test]
    fn every_figure_has_its_sentences_and_each_key_is_one_of_the_configuration() {
        for metric in Metric::ALL {
            for grade in [Grade::Bad, Grade::Ok, Grade::Perfect] {
                // A share above its limit meets the condition.
                let (measured, limit) = if metric.unit() == Unit::Share { (5, 7) } else { (7, 5) };
                let cause = GradeCause { metric, grade, measured, limit };
                let late = Duration::from_millis(24);
                let fell = GradeChange { from: Grade::Perfect, to: Grade::Bad, cause, at: at(12_340_000), late };
                let told = fell_by(&fell, Observer::Board);
                let own = matches!(metric, Metric::Samples | Metric::Epoch);
                assert_eq!(told.contains("the board was not scheduled for "), !own, "{told}");
                let told = fell_by(&GradeChange { late: Duration::ZERO, ..fell }, Observer::Board);
                assert_eq!(told.contains("not scheduled"), metric == Metric::LocalStall, "{told}");
                let graded = !matches!(metric, Metric::Samples | Metric::Epoch | Metric::Age | Metric::LocalStall);
                assert_eq!(told.contains(&format!("({}", grade.name())), graded, "{told}");
                let worse = Grade::ALL[grade as usize - 1];
                let low = GradeLow { grade: worse, needed: Grade::Ok, fell: None, next: cause };
                let needs = next_grade(&low).expect("there is a better one");
                assert!(needs.contains(grade.name()) || metric == Metric::Samples, "{needs}");
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

    #[test]
    fn spans_are_as_short_as_their_digits() {
        let texts =
            [0, 999, 1_000, 1_250, 24_000, 79_310, 412_345, 3_204_000].map(|us| span(Duration::from_micros(us)));
        let expected = ["0 \u{b5}s", "999 \u{b5}s", "1 ms", "1.25 ms", "24 ms", "79.3 ms", "412 ms", "3.2 s"];
        assert_eq!(texts, expected);
    }
}
