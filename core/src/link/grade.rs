//! The grade of a link, which falls at once and rises slowly (`core/docs/protocol/kuka-fri.md C3`).

use super::timing::WINDOW;
use crate::robot::{BadValue, Key, Outside, Range, Setting, Table, Tuning, settings, words};
use outrigger_wire::time::{Duration, Instant};

/// The quality of a link, in FRI's four steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Grade {
    /// The link is not good enough for commanding, or its quality is not known yet.
    #[default]
    Unacceptable,
    /// The link is good enough for commanding to continue, but by default not to begin.
    Bad,
    /// The link is good enough to begin commanding, by default.
    Ok,
    /// The link has the best grade.
    Perfect,
}

impl Grade {
    /// All grades of a link, from worst to best.
    pub const ALL: [Self; 4] = [Self::Unacceptable, Self::Bad, Self::Ok, Self::Perfect];

    /// Returns the name that reports use for the grade.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unacceptable => "Unacceptable",
            Self::Bad => "Bad",
            Self::Ok => "Ok",
            Self::Perfect => "Perfect",
        }
    }

    /// Returns the next better grade; that of `Perfect` is `Perfect`.
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

/// A measured figure of a link that can limit its grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Metric {
    /// The number of cycles seen since the start or restart, while fewer than 100.
    Samples,
    /// The share of the last 100 cycles whose state was received.
    Received,
    /// The mean lateness of the last 100 states: by how much more than a period each followed the one before.
    Delay,
    /// The jitter of the states' arrivals as defined by RFC 3550.
    Jitter,
    /// The number of consecutive cycles without a state.
    Misses,
    /// The age of the newest state that arrived on the link.
    Age,
    /// The number of restarts of the controller's clock or counter: each lowers the grade to `Unacceptable`.
    Epoch,
    /// The delay with which this device itself was woken, if it stalled.
    LocalStall,
    /// The share of our answers that the peer received in time, on a link whose peer reflects a counter.
    Answered,
    /// The number of consecutive answers of ours that the peer did not receive in time.
    Unanswered,
}

/// The unit of a [`Metric`]'s measured value and limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Parts of 10 000; the measured value must be at least the limit.
    Share,
    /// Microseconds; the measured value must be at most the limit.
    Micros,
    /// A count; the measured value must be at most the limit ([`Metric::Samples`]: at least).
    Count,
}

impl Metric {
    /// All figures that can limit the grade, in the order of their numbers.
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

    /// Returns the unit of the figure's measured value and limit.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::Received | Self::Answered => Unit::Share,
            Self::Delay | Self::Jitter | Self::Age | Self::LocalStall => Unit::Micros,
            Self::Samples | Self::Misses | Self::Epoch | Self::Unanswered => Unit::Count,
        }
    }

    /// Returns the name that reports use for the figure.
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

/// The figure that decided on a grade, with its measured value and the limit that applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeCause {
    /// The figure that decided the grade of the link.
    pub metric: Metric,
    /// The grade of the link that the limit belongs to: the one that was lost, was reached, or is not reached.
    pub grade: Grade,
    /// The measured value of the figure that decided the grade of the link, in the figure's [unit](Metric::unit).
    pub measured: u32,
    /// The limit of the figure that decided the grade of the link, in the unit of `measured`. For a grade to be
    /// reached it is stricter by the margin of a tenth that applies to rising.
    pub limit: u32,
}

impl GradeCause {
    /// Returns whether the measured value of the figure that decided the grade is within the limit.
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
    /// The grade of the link when commanding was refused or ended, or when this report was requested.
    pub grade: Grade,
    /// The grade of the link that is needed to begin commanding.
    pub needed: Grade,
    /// The most recent fall, as measured when the grade fell. `None` if it has only risen since the session began.
    pub fell: Option<GradeChange>,
    /// The figure that must improve for the next better grade, as measured now. If it is within its limit, the grade
    /// rises after [`WINDOW`] good cycles.
    pub next: GradeCause,
}

/// A change of a link's grade, with the figure that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeChange {
    /// The grade of the link before the change.
    pub from: Grade,
    /// The grade of the link after the change.
    pub to: Grade,
    /// The figure that caused the change of the grade: after a fall the one beyond its limit, after a rise the last
    /// one that came within its limit.
    pub cause: GradeCause,
    /// The time at which the grade changed.
    pub at: Instant,
    /// The delay with which this device was woken when the grade changed, if more than half a period; else zero.
    pub late: Duration,
}

settings! {
    /// The limits of one grade; by default those of [`Grade::Perfect`] for datagrams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct GradeLimits in "limits." by new(period: Duration) {}

    /// Limits of one grade that replace its defaults.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub tuning GradeLimitsTuning {
        /// The least share of cycles, and of answers, among the last 100 that must be received for this grade.
        pub received: Share [0 to 1] = Share(9_900),
        /// The highest mean lateness of states, by how much more than a period each follows the one before, with which
        /// the link has this grade.
        pub delay: Duration [0.0 to 86400.0 "s"] = period.percent(50),
        /// The highest jitter of the states' arrivals with which the link has this grade.
        pub jitter: Duration [0.0 to 86400.0 "s"] = period.percent(10),
        /// The highest number of consecutive missing states, and of consecutive answers that the peer did not receive
        /// in time, with which the link has this grade.
        pub misses: u32 [0 to 1000000] = 1,
    }
}

settings! {
    /// Limits of the three grades above [`Grade::Unacceptable`] that replace their defaults.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct GradeTuning in "limits." {
        /// The limits for [`Grade::Perfect`] that differ from its defaults.
        pub perfect table "perfect": GradeLimitsTuning = GradeLimitsTuning::default(),
        /// The limits for [`Grade::Ok`] that differ from its defaults.
        pub ok table "ok": GradeLimitsTuning = GradeLimitsTuning::default(),
        /// The limits for [`Grade::Bad`] that differ from its defaults.
        pub bad table "bad": GradeLimitsTuning = GradeLimitsTuning::default(),
    }
}

/// Replaces default limits of the grades by the given ones. The other defaults are adjusted to these: no looser than
/// the given limit of a worse grade, no stricter than that of a better one.
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
    /// Loosens each limit of a link's grade that is stricter than the given limit of a better grade.
    #[inline(never)]
    fn raise_to(&mut self, better: &GradeLimitsTuning) {
        self.received = better.received.map_or(self.received, |given| given.min(self.received));
        self.delay = better.delay.map_or(self.delay, |given| given.max(self.delay));
        self.jitter = better.jitter.map_or(self.jitter, |given| given.max(self.jitter));
        self.misses = better.misses.map_or(self.misses, |given| given.max(self.misses));
    }

    /// Tightens each limit of a link's grade that is looser than the given limit of a worse grade.
    #[inline(never)]
    fn lower_to(&mut self, worse: &GradeLimitsTuning) {
        self.received = worse.received.map_or(self.received, |given| given.max(self.received));
        self.delay = worse.delay.map_or(self.delay, |given| given.min(self.delay));
        self.jitter = worse.jitter.map_or(self.jitter, |given| given.min(self.jitter));
        self.misses = worse.misses.map_or(self.misses, |given| given.min(self.misses));
    }

    /// Returns the limits of a link's grade tightened by 10 %: the link must hold these to rise.
    const fn strict(&self) -> Self {
        let short = 10_000_u16.saturating_sub(self.received.0);
        Self {
            // A tenth of the *permitted loss*: 10 % more than 99 % would be more than all.
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

/// A share in parts of 10 000; in files a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Share(pub u16);

impl Setting for Share {
    /// The bounds of a setting that is a share, as whole numbers: 0 or 1.
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

/// The limits of the three grades of a link above `Unacceptable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeTable {
    /// The limits that the figures must keep for [`Grade::Perfect`].
    pub perfect: GradeLimits,
    /// The limits that the figures must keep for [`Grade::Ok`].
    pub ok: GradeLimits,
    /// The limits that the figures must keep for [`Grade::Bad`].
    pub bad: GradeLimits,
}

impl GradeTable {
    /// Returns the default limits for states of this period, sent as datagrams.
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

    /// Checks that every limit of the three grades is in its range.
    ///
    /// # Errors
    /// Returns the first limit that is not in its range.
    pub fn check_ranges(&self) -> Result<(), BadValue> {
        let Self { perfect, ok, bad } = self;
        [perfect, ok, bad].into_iter().try_for_each(GradeLimits::check_ranges)
    }

    /// Returns the limits of the link's `grade`; if it is to be `reached`, with the margin that applies to rising.
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

/// The figures of a link measured at present; `None` for those that the link has not measured or cannot
/// measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    /// The condition that alone makes the link unacceptable; `None` if there is none.
    pub(super) broken: Option<Metric>,
    pub(super) received: Option<u16>,
    pub(super) delay: Option<Duration>,
    pub(super) jitter: Option<Duration>,
    pub(super) misses: u32,
}

/// The state machine of a link's grade. It falls at once, and rises by one step once the next better grade has been
/// reached with the margin for `rise_time` and for `WINDOW` accepted states.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Grader {
    table: GradeTable,
    rise_time: Duration,
    grade: Grade,
    /// The cycle and time since which the link's next better grade has been earned, including the margin.
    deserved: Option<(u64, Instant)>,
    held_by: Metric,
    /// The latest judgement of the link's figures, kept because these mostly do not change between two states.
    #[cfg_attr(feature = "record", serde(skip))]
    judged: Option<Judged>,
}

/// The grades of a link that its measured figures reach.
#[derive(Clone, Copy, Debug)]
struct Judged {
    measured: Measured,
    /// The link's grade that the figures reach, and the figure beyond its limit for the next better one.
    earned: (Grade, Option<Metric>),
    /// The link's grade reached with the margin that applies to rising, and the figure beyond its limit for the next
    /// better one.
    deserved: (Grade, Option<Metric>),
}

impl Grader {
    pub(super) const fn new(table: GradeTable, rise_time: Duration) -> Self {
        Self { table, rise_time, grade: Grade::Unacceptable, deserved: None, held_by: Metric::Samples, judged: None }
    }

    pub(super) const fn grade(&self) -> Grade {
        self.grade
    }

    /// Returns the figure that keeps the link's grade from rising; if none does now, the last one that did.
    pub(super) const fn held_by(&self) -> Metric {
        self.held_by
    }

    /// Updates the link's grade. Returns the grades before and after a change, which is caused by [`Self::held_by`].
    /// `cycle` is the number of accepted states; calls between states repeat it.
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
