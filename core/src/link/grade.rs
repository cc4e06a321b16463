//! Grade of a link: fast to fall, slow to rise (`core/docs/protocol/kuka-fri.md C3`).

use super::timing::WINDOW;
use crate::robot::{BadValue, Key, Outside, Range, Setting, Table, Tuning, settings, words};
use outrigger_wire::time::{Duration, Instant};

/// How good a link is, in FRI's four steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Grade {
    /// Not to be commanded over, or not yet known.
    #[default]
    Unacceptable,
    /// Commanding may go on, not begin.
    Bad,
    /// Good enough to begin.
    Ok,
    /// As good as the definition goes.
    Perfect,
}

impl Grade {
    /// From worst to best.
    pub const ALL: [Self; 4] = [Self::Unacceptable, Self::Bad, Self::Ok, Self::Perfect];

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unacceptable => "Unacceptable",
            Self::Bad => "Bad",
            Self::Ok => "Ok",
            Self::Perfect => "Perfect",
        }
    }

    /// One better; `Perfect` stays.
    #[must_use]
    pub const fn better(self) -> Self {
        match self {
            Self::Unacceptable => Self::Bad,
            Self::Bad => Self::Ok,
            Self::Ok | Self::Perfect => Self::Perfect,
        }
    }
}

words!(Grade { "Bad" = Bad, "Ok" = Ok, "Perfect" = Perfect });

/// A figure that can hold a grade down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Metric {
    /// Fewer than 100 cycles were seen since the start or restart.
    Samples,
    /// Share of the last 100 cycles received.
    Received,
    /// Mean lateness between arrivals.
    Delay,
    /// RFC 3550 jitter.
    Jitter,
    /// Consecutive cycles missing.
    Misses,
    /// Age of the newest state.
    Age,
    /// The controller's clock or counter started anew.
    Epoch,
    /// This device itself stood still.
    LocalStall,
    /// Share of our answers that the peer has seen in time, where it reflects a counter.
    Answered,
    /// Consecutive answers that it has not seen.
    Unanswered,
}

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// In parts of 10 000, at least its limit.
    Share,
    /// In µs, at most its limit.
    Micros,
    /// As often, at most its limit.
    Count,
}

impl Metric {
    /// Every figure, in the order of its number.
    pub const ALL: [Self; 10] = [
        Self::Samples,
        Self::Received,
        Self::Delay,
        Self::Jitter,
        Self::Misses,
        Self::Age,
        Self::Epoch,
        Self::LocalStall,
        Self::Answered,
        Self::Unanswered,
    ];

    /// What its values are counted in.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Received | Self::Answered => Unit::Share,
            Self::Delay | Self::Jitter | Self::Age | Self::LocalStall => Unit::Micros,
            Self::Samples | Self::Misses | Self::Epoch | Self::Unanswered => Unit::Count,
        }
    }

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Received => "received",
            Self::Delay => "delay",
            Self::Jitter => "jitter",
            Self::Misses => "misses",
            Self::Age => "age",
            Self::Epoch => "epoch",
            Self::LocalStall => "local_stall",
            Self::Answered => "answered",
            Self::Unanswered => "unanswered",
        }
    }
}

/// The figure that decided on a grade, and the limit that decided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeCause {
    /// Which figure.
    pub metric: Metric,
    /// Whose limit: the grade that was lost, was reached, or is not reached.
    pub grade: Grade,
    /// The value measured, in the [unit](Metric::unit) of the figure.
    pub measured: u32,
    /// What is allowed, in the same unit. Where a grade is to be reached, the limit less the tenth that rising asks for.
    pub limit: u32,
}

impl GradeCause {
    /// Whether what was measured is within the limit.
    #[must_use]
    pub const fn is_within(&self) -> bool {
        match (self.metric, self.metric.unit()) {
            (Metric::Samples, _) | (_, Unit::Share) => self.measured >= self.limit,
            (_, Unit::Micros | Unit::Count) => self.measured <= self.limit,
        }
    }
}

/// The grade of a link: why it fell, and what it needs to rise.
///
/// As an event: commanding was refused, or ended, because this grade is below the one needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeLow {
    /// The grade at that moment.
    pub grade: Grade,
    /// The grade that commanding needs to begin.
    pub needed: Grade,
    /// The newest fall, as measured when the grade fell. `None`: it has only risen since the session began.
    pub fell: Option<GradeChange>,
    /// The figure that the next better grade waits for, as measured now. Within its limit: the grade rises after
    /// [`WINDOW`] good cycles.
    pub next: GradeCause,
}

/// A change of the grade, as measured when it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeChange {
    /// Before.
    pub from: Grade,
    /// After.
    pub to: Grade,
    /// Falling: the figure beyond its limit. Rising: the figure that was last to come within.
    pub cause: GradeCause,
    /// The time of the change.
    pub at: Instant,
    /// The delay with which this device was woken at that moment, if more than half a period; else zero.
    pub late: Duration,
}

settings! {
    /// What one grade asks for; by default what [`Grade::Perfect`] asks of datagrams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct GradeLimits in "limits." by new(period: Duration) {}

    /// What one grade asks for where it differs from its default.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub tuning GradeLimitsTuning {
        /// At least this many cycles (answers) in 10 000, over 100.
        pub received: Share [0 to 1] = Share(9_900),
        /// Mean delay at most this.
        pub delay: Duration [0.0 to 86400.0 "s"] = period.percent(50),
        /// Jitter at most this.
        pub jitter: Duration [0.0 to 86400.0 "s"] = period.percent(10),
        /// Consecutive misses at most this.
        pub misses: u32 [0 to 1000000] = 1,
    }
}

settings! {
    /// Limits of the three grades above [`Grade::Unacceptable`] that differ from their defaults.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct GradeTuning in "limits." {
        /// For [`Grade::Perfect`].
        pub perfect table "perfect": GradeLimitsTuning = GradeLimitsTuning::default(),
        /// For [`Grade::Ok`].
        pub ok table "ok": GradeLimitsTuning = GradeLimitsTuning::default(),
        /// For [`Grade::Bad`].
        pub bad table "bad": GradeLimitsTuning = GradeLimitsTuning::default(),
    }
}

/// A limit that is not given follows those that are: no looser than that of a worse grade, no stricter than that of a better one.
impl Tuning<GradeTable> for GradeTuning {
    fn apply(self, table: &mut GradeTable) {
        table.ok.raise_to(&self.perfect);
        table.bad.raise_to(&self.perfect);
        table.bad.raise_to(&self.ok);
        table.perfect.lower_to(&self.ok);
        table.perfect.lower_to(&self.bad);
        table.ok.lower_to(&self.bad);
        self.perfect.apply(&mut table.perfect);
        self.ok.apply(&mut table.ok);
        self.bad.apply(&mut table.bad);
    }
}

impl GradeLimits {
    /// Makes each limit at least as loose as the one given.
    #[inline(never)]
    fn raise_to(&mut self, better: &GradeLimitsTuning) {
        self.received = better.received.map_or(self.received, |given| given.min(self.received));
        self.delay = better.delay.map_or(self.delay, |given| given.max(self.delay));
        self.jitter = better.jitter.map_or(self.jitter, |given| given.max(self.jitter));
        self.misses = better.misses.map_or(self.misses, |given| given.max(self.misses));
    }

    /// Makes each limit at least as strict as the one given.
    #[inline(never)]
    fn lower_to(&mut self, worse: &GradeLimitsTuning) {
        self.received = worse.received.map_or(self.received, |given| given.max(self.received));
        self.delay = worse.delay.map_or(self.delay, |given| given.min(self.delay));
        self.jitter = worse.jitter.map_or(self.jitter, |given| given.min(self.jitter));
        self.misses = worse.misses.map_or(self.misses, |given| given.min(self.misses));
    }

    /// Each limit 10 % stricter: what a link must hold to rise.
    const fn strict(&self) -> Self {
        let short = 10_000_u16.saturating_sub(self.received.0);
        Self {
            // A tenth of the *permitted loss*: 10 % of 99 % would ask for more than all.
            received: Share(self.received.0.saturating_add(short / 10)),
            delay: self.delay.percent(90),
            jitter: self.jitter.percent(90),
            misses: self.misses.saturating_mul(9) / 10,
        }
    }

    fn broken(&self, measured: &Measured) -> Option<Metric> {
        if measured.misses > self.misses {
            Some(Metric::Misses)
        } else if measured.received.is_some_and(|v| v < self.received.0) {
            Some(Metric::Received)
        } else if measured.jitter.is_some_and(|v| v > self.jitter) {
            Some(Metric::Jitter)
        } else if measured.delay.is_some_and(|v| v > self.delay) {
            Some(Metric::Delay)
        } else {
            None
        }
    }
}

/// A share in ten-thousandths; in files from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Share(pub u16);

impl Setting for Share {
    /// Of ones.
    type Range = Range<u8>;

    fn check(&self, range: &Range<u8>) -> Result<(), Outside> {
        let [least, most] = [range.least, range.most].map(|ones| u16::from(ones).saturating_mul(10_000));
        let held = least <= self.0 && self.0 <= most;
        if held { Ok(()) } else { Err(Outside(None)) }
    }

    fn read(table: &mut impl Table, key: Key, Range { least, most, text }: Range<u8>) -> Option<Self> {
        let range = Range { least: least.into(), most: most.into(), text };
        table.number(key, range).map(|share| Self((share * 10_000.0 + 0.5) as u16))
    }
}

/// Limits of the three grades above `Unacceptable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeTable {
    /// For [`Grade::Perfect`].
    pub perfect: GradeLimits,
    /// For [`Grade::Ok`].
    pub ok: GradeLimits,
    /// For [`Grade::Bad`].
    pub bad: GradeLimits,
}

impl GradeTable {
    /// The defaults for datagrams of this period.
    #[must_use]
    pub fn new(period: Duration) -> Self {
        let limits = |received, delay, jitter, misses| GradeLimits {
            received: Share(received),
            delay: period.percent(delay),
            jitter: period.percent(jitter),
            misses,
        };
        Self { perfect: GradeLimits::new(period), ok: limits(9_500, 80, 25, 2), bad: limits(9_000, 100, 50, 4) }
    }

    /// Whether every limit is in its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check_ranges(&self) -> Result<(), BadValue> {
        let Self { perfect, ok, bad } = self;
        [perfect, ok, bad].into_iter().try_for_each(GradeLimits::check_ranges)
    }

    /// What `grade` asks for; where it is to be `reached`, with the margin that rising asks for.
    pub(super) const fn of(&self, grade: Grade, reached: bool) -> GradeLimits {
        let limits = match grade {
            Grade::Unacceptable | Grade::Bad => &self.bad,
            Grade::Ok => &self.ok,
            Grade::Perfect => &self.perfect,
        };
        if reached { limits.strict() } else { *limits }
    }

    fn judge(&self, measured: &Measured, strict: bool) -> (Grade, Option<Metric>) {
        if let Some(metric) = measured.broken {
            return (Grade::Unacceptable, Some(metric));
        }
        let mut reached = (Grade::Unacceptable, None);
        for (grade, limits) in [(Grade::Bad, &self.bad), (Grade::Ok, &self.ok), (Grade::Perfect, &self.perfect)] {
            let broken = if strict { limits.strict().broken(measured) } else { limits.broken(measured) };
            match broken {
                None => reached = (grade, None),
                Some(metric) => return (reached.0, Some(metric)),
            }
        }
        reached
    }
}

/// What is known now; `None` where the link cannot know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    /// A figure that alone makes the link unacceptable.
    pub(super) broken: Option<Metric>,
    pub(super) received: Option<u16>,
    pub(super) delay: Option<Duration>,
    pub(super) jitter: Option<Duration>,
    pub(super) misses: u32,
}

/// Holds the grade.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Grader {
    table: GradeTable,
    rise_time: Duration,
    grade: Grade,
    /// Cycle and time since which the next better grade has been deserved, with the margin.
    deserved: Option<(u64, Instant)>,
    held_by: Metric,
    /// The last judgement: between two states the figures mostly stay what they were.
    #[cfg_attr(feature = "record", serde(skip))]
    judged: Option<Judged>,
}

/// What the table says of these figures.
#[derive(Clone, Copy, Debug)]
struct Judged {
    measured: Measured,
    /// Reached, and what is beyond its limit.
    earned: (Grade, Option<Metric>),
    /// The same with the margin that rising asks for.
    deserved: (Grade, Option<Metric>),
}

impl Grader {
    pub(super) const fn new(table: GradeTable, rise_time: Duration) -> Self {
        Self { table, rise_time, grade: Grade::Unacceptable, deserved: None, held_by: Metric::Samples, judged: None }
    }

    pub(super) const fn grade(&self) -> Grade {
        self.grade
    }

    /// The figure that keeps the grade from rising; the last one that did, where nothing does now.
    pub(super) const fn held_by(&self) -> Metric {
        self.held_by
    }

    /// The grades before and after, where it changes: by [`Self::held_by`]. `cycle` counts accepted states; a call between
    /// states repeats it.
    pub(super) fn update(&mut self, measured: &Measured, cycle: u64, now: Instant) -> Option<[Grade; 2]> {
        let Judged { earned: (earned, broken), deserved, .. } = self.judged(measured);
        if earned < self.grade {
            self.deserved = None;
            self.held_by = broken.unwrap_or(self.held_by);
            return Some(self.change_to(earned));
        }
        let target = self.grade.better();
        let (deserved, broken) = deserved;
        if deserved < target {
            self.deserved = None;
            self.held_by = broken.unwrap_or(self.held_by);
            return None;
        }
        let (since_cycle, since) = *self.deserved.get_or_insert((cycle, now));
        let long_enough = cycle.saturating_sub(since_cycle) >= u64::from(WINDOW) && now.since(since) >= self.rise_time;
        if target == self.grade || !long_enough {
            return None;
        }
        self.deserved = Some((cycle, now));
        Some(self.change_to(target))
    }

    fn judged(&mut self, measured: &Measured) -> Judged {
        match self.judged {
            Some(judged) if judged.measured == *measured => judged,
            Some(_) | None => {
                let (earned, deserved) = (self.table.judge(measured, false), self.table.judge(measured, true));
                *self.judged.insert(Judged { measured: *measured, earned, deserved })
            }
        }
    }

    const fn change_to(&mut self, to: Grade) -> [Grade; 2] {
        [core::mem::replace(&mut self.grade, to), to]
    }
}

#[cfg(test)]
mod tests;
