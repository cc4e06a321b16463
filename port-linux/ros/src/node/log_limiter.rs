//! Limits the log of the node. Each rejection is a line, even if it equals the one before, but a flood of them is
//! reduced to a few lines with counts.

use std::collections::VecDeque;

use outrigger_wire::time::{Duration, Instant};

use super::settings::Line;
use outrigger::host::rate_limit::Pace;

/// The time after which the log reports the number of lines that were left out.
const SECOND: Duration = Duration::from_secs(1);
/// The largest number of kinds of lines that have a limit of their own.
const KINDS: usize = 64;
/// The limit on lines of one kind: the rate per second, and the burst.
const OF_ONE: (f32, f32) = (1.0, 10.0);
/// The limit on lines whose kind is new during a flood of other kinds: the rate per second, and the burst.
const OF_FIRST: (f32, f32) = (2.0, 64.0);
/// The limit on all lines together: the rate per second, and the burst. It is below the limit of a session on messages
/// from one component that runs beside it, such as this node.
const OF_ALL: (f32, f32) = (10.0, 40.0);

/// The limit on the rate of the log lines of one kind.
#[derive(Debug)]
struct Kind {
    key: String,
    is_new: bool,
    pace: Pace,
    left_out: LeftOut,
}

/// The lines that were left out of the log: their number and the newest of them.
#[derive(Debug, Default)]
struct LeftOut {
    count: u64,
    newest: String,
    /// The time at which the first of the lines was left out.
    since: Instant,
}

impl LeftOut {
    fn add(&mut self, count: u64, newest: String, now: Instant) {
        if self.count == 0 {
            self.since = now;
        }
        self.count = self.count.saturating_add(count);
        self.newest = newest;
    }

    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now.since(self.since) >= SECOND
    }
}

/// The limits on the rate of lines in the node's log.
#[derive(Debug)]
pub(super) struct LogLimiter {
    kinds: VecDeque<Kind>,
    pace: Pace,
    /// The limit on lines whose kind is new, used when the limit on all lines is exceeded.
    first: Pace,
    /// The lines that were left out and whose kind no longer has a limit of its own.
    others: LeftOut,
}

impl LogLimiter {
    pub(super) fn new(now: Instant) -> Self {
        let (per_second, at_once) = OF_ALL;
        let others = LeftOut { since: now, ..LeftOut::default() };
        let pace = Pace::new(per_second, at_once, now);
        let first = Pace::new(OF_FIRST.0, OF_FIRST.1, now);
        Self { kinds: VecDeque::with_capacity(KINDS), pace, first, others }
    }

    /// Returns the text to log for `line`; `None` if the line is left out because of a limit. The number of such lines
    /// is reported by [`due`](Self::due).
    pub(super) fn line(&mut self, line: Line, now: Instant) -> Option<String> {
        let Line { key, text, count } = line;
        let mut kind = self.take(key, now);
        // The first line of a kind is shown even during a flood of others.
        let is_first = std::mem::replace(&mut kind.is_new, false);
        let is_shown = kind.left_out.count == 0
            && kind.pace.take_now(now)
            && (self.pace.take_now(now) || (is_first && self.first.take_now(now)));
        let left_out = count.saturating_sub(u64::from(is_shown));
        if left_out > 0 {
            kind.left_out.add(left_out, text.clone(), now);
        }
        self.kinds.push_back(kind);
        is_shown.then_some(text)
    }

    /// Removes and returns the rate limit of log lines of the kind `key`. For a new kind it returns a new limit; if the
    /// list of limits is full, it first removes that of the kind that was silent for the longest time.
    fn take(&mut self, key: String, now: Instant) -> Kind {
        let known = self.kinds.iter().position(|kind| kind.key == key);
        if let Some(kind) = known.and_then(|at| self.kinds.remove(at)) {
            return kind;
        }
        if self.kinds.len() == KINDS {
            // Replaces the kind that has been silent for the longest time.
            let silent = self.kinds.iter().position(|kind| kind.left_out.count == 0).unwrap_or_default();
            if let Some(Kind { left_out, .. }) = self.kinds.remove(silent).filter(|kind| kind.left_out.count > 0) {
                self.others.add(left_out.count, left_out.newest, now);
            }
        }
        let (per_second, at_once) = OF_ONE;
        Kind { key, is_new: true, pace: Pace::new(per_second, at_once, now), left_out: LeftOut::default() }
    }

    /// Returns one log line for each kind of line that was left out, with the number of those left out, once a second
    /// has passed since the first of them.
    pub(super) fn due(&mut self, now: Instant) -> Vec<String> {
        let Self { kinds, pace, others, .. } = self;
        let all = kinds.iter_mut().map(|kind| (&mut kind.left_out, "")).chain([(others, " and others")]);
        let due = all.filter(|(left_out, _)| left_out.is_due(now) && pace.take_now(now));
        due.map(|(left_out, others)| {
            let LeftOut { count, newest, since } = std::mem::take(left_out);
            let seconds = now.since(since).as_secs_f32();
            format!("{newest}{others} ({count} times within {seconds:.1} s)")
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn line(text: &str) -> Line {
        Line { key: text.to_owned(), text: text.to_owned(), count: 1 }
    }

    /// Returns the sum of the counts in lines with this beginning; a line without a count counts as one.
    fn counted(shown: &[String], beginning: &str) -> u64 {
        let count = |line: &String| match line.rsplit_once(" (").map(|(_, count)| count) {
            Some(count) if count.contains(" times within ") => {
                count.split(' ').next().and_then(|count| count.parse().ok()).expect("a count")
            }
            _ => 1,
        };
        shown.iter().filter(|line| line.starts_with(beginning)).map(count).sum()
    }

    #[test]
    fn a_rejection_that_is_repeated_is_shown_each_time() {
        let mut remarked = LogLimiter::new(at(0));
        // A client that repeats quickly, and then a program that tries every second for an hour.
        let times = (0..10).map(|quick| quick * 100).chain((1..3_600).map(|second| 1_000 + second * 1_000));
        for millis in times {
            assert_eq!(remarked.line(line("a goal"), at(millis)).as_deref(), Some("a goal"), "at {millis} ms");
            assert_eq!(remarked.due(at(millis)), [""; 0]);
        }
    }

    #[test]
    fn a_stream_of_rejections_is_a_few_lines_with_counts_and_a_goal_beside_it_is_seen() {
        let mut remarked = LogLimiter::new(at(0));
        let (mut shown, mut goals) = (vec![], 0);
        for millis in (0..60_000).step_by(2) {
            let text = format!("joint 1 would reach {millis} rad/s");
            let stream = Line { key: "Beyond".into(), text, count: 1 };
            shown.extend(remarked.line(stream, at(millis)));
            shown.extend(remarked.line(line("freedrive: nothing is commanded"), at(millis)));
            if millis % 1_000 == 500 {
                goals += u32::from(remarked.line(line("a goal"), at(millis)).is_some());
            }
            shown.extend(remarked.due(at(millis)));
        }
        shown.extend(remarked.due(at(62_000)));
        assert_eq!(goals, 60, "a goal that is rejected is seen beside a flood");
        assert!(remarked.line(line("set_io"), at(59_999)).is_some(), "the first of another kind is seen beside it");
        // Ten lines of each kind at once, and two of each per second after that: one line itself, and one with the
        // count.
        assert!((100..=2 * (10 + 2 * 61)).contains(&shown.len()), "{}", shown.len());
        assert_eq!(counted(&shown, "joint 1"), 30_000);
        assert_eq!(counted(&shown, "freedrive"), 30_000);
    }

    #[test]
    fn any_number_of_different_lines_is_bounded_in_time_and_memory_and_counted() {
        let mut remarked = LogLimiter::new(at(0));
        let mut shown = vec![];
        for number in 0..100_000 {
            shown.extend(remarked.line(line(&format!("{number}")), at(number)));
            shown.extend(remarked.due(at(number)));
        }
        for second in 100..120 {
            shown.extend(remarked.due(at(second * 1_000)));
        }
        assert!((900..=40 + 1_200 + 64 + 240).contains(&shown.len()), "{}", shown.len());
        assert_eq!(counted(&shown, ""), 100_000);
        assert_eq!(remarked.kinds.len(), KINDS);
    }
}
