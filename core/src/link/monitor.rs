//! The monitor of one link, which combines sequence, clock, timing and grade.

use super::answer_statistics::AnswerFigures;
use super::clock::{ClockMap, Reading};
use super::config::{LinkConfig, LinkKind, in_periods};
use super::grade::{Grade, GradeCause, GradeChange, GradeLow, Grader, Measured, Metric};
use super::link_statistics::{Figures, Histograms};
use super::plausibility::{Content, Verdict};
use super::process_stall::StallDetector;
use super::sequence::{Counter, Sequence, SequenceJudge};
use super::timing::{Intervals, Jitter, SlidingMean, SlidingShare, WINDOW};
use crate::robot::Reason;
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

/// The result of observing one state that arrived on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Observation {
    /// The state's position in the sequence. Use the state only if [`Sequence::is_newest`].
    pub sequence: Sequence,
    /// The age of the state on arrival; for a state that is not used, the age of the newest one before it.
    pub age: Duration,
    /// The time since the previous state arrived; `None` for the first of an epoch, and for states that are not used.
    pub interval: Option<Duration>,
    /// The time since the previous state arrived (`interval`) minus the time that passed on the controller's clock, in
    /// whole periods \[µs\]; `None` if `interval` is.
    pub deviation: Option<i64>,
    /// The change of the link's grade; `None` if it did not change.
    pub change: Option<GradeChange>,
    /// A reason for which commanding must end, whatever the grade is: the clock jumped, or too many cycles are missing.
    /// Otherwise `None`.
    pub fault: Option<Reason>,
}

/// The kind of command that may be sent in answer to the newest state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use]
pub enum Answer {
    /// No command: the state has been answered, or there is none.
    Nothing,
    /// Zero velocity or a stop; the state is too old to compute motion from.
    Still,
    /// A command that moves the arm.
    Moving,
}

/// A monitor of one link: the age of its newest state, the number of missing states, and a grade by their share, delay
/// and jitter.
///
/// Call order on every wake-up: [`local_stall`](Self::local_stall), then [`tick`](Self::tick), then the states read,
/// each by [`observe`](Self::observe). A stall is thereby handled before any bytes queued during it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkMonitor {
    config: LinkConfig,
    judge: SequenceJudge<u64>,
    clock: ClockMap,
    stall: StallDetector,
    grader: Grader,
    epoch: Epoch,
    epochs: u32,
    answers: Option<AnswerFigures>,
    unacceptable_since: Option<Instant>,
    /// The most recent fall of the link's grade; `None` if it has only risen.
    fell: Option<GradeChange>,
    unanswered: bool,
    /// `true` if the newest state is consistent with one before it.
    agreed: bool,
    /// `true` if the state read last cannot be one of this arm.
    absurd: bool,
    impossible: u32,
    /// The histograms of the times of states. Not part of the recorder's checkpoints (saved states of the engine),
    /// because no decision depends on them.
    #[cfg_attr(feature = "record", serde(skip))]
    histograms: Histograms,
    /// The newest state, until it is [counted](Self::account). The recorder saves the monitor's state only after that.
    #[cfg_attr(feature = "record", serde(skip))]
    uncounted: Option<Uncounted>,
}

/// The interval and the age of one state on arrival, for statistics only; no decision depends on them.
#[derive(Clone, Copy, Debug)]
struct Uncounted {
    interval: Duration,
    age: Duration,
}

/// The statistics of a link that become invalid when the peer restarts.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Epoch {
    jitter: Jitter,
    intervals: Intervals,
    lateness: SlidingMean,
    age_variation: SlidingMean,
    received: SlidingShare,
    last_age: Option<Duration>,
    late: u64,
}

impl Epoch {
    fn new(config: &LinkConfig) -> Self {
        let mut received = SlidingShare::default();
        received.push(0, true);
        Self {
            jitter: Jitter::new(config.burst),
            intervals: Intervals::default(),
            lateness: SlidingMean::new(),
            age_variation: SlidingMean::new(),
            received,
            last_age: None,
            late: 0,
        }
    }
}

impl LinkMonitor {
    /// Creates a monitor of a link on which no state has arrived, with the grade `Unacceptable`. The configuration must
    /// have passed its [check](LinkConfig::check).
    #[must_use]
    pub fn new(config: LinkConfig) -> Self {
        Self {
            judge: SequenceJudge::new(config.sequence_rules()),
            clock: ClockMap::new(config.leak_ppm, config.shift_hold),
            stall: StallDetector::new(config.stall, config.period),
            grader: Grader::new(config.limits, config.rise_time),
            epoch: Epoch::new(&config),
            epochs: 0,
            answers: None,
            unacceptable_since: None,
            fell: None,
            unanswered: false,
            agreed: false,
            absurd: false,
            impossible: 0,
            histograms: Histograms::default(),
            uncounted: None,
            config,
        }
    }

    /// Returns the thresholds in force for the link.
    #[must_use]
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Checks a state for plausibility, before it is used for anything else; `before` is the time stamp and the angles
    /// of the newest state so far. A state that fails counts as lost and must not be [observed](Self::observe).
    pub fn is_possible<const N: usize>(
        &mut self,
        content: &Content<'_, N>,
        before: Option<(ControllerTime, &[f32; N])>,
    ) -> bool {
        let verdict = content.judge(before, self.agreed, self.config.period, self.config.stale_after);
        self.absurd = verdict == Verdict::Impossible;
        if self.absurd {
            self.impossible = self.impossible.saturating_add(1);
        } else {
            self.agreed = verdict == Verdict::Agrees;
        }
        !self.absurd
    }

    /// Returns `true` if the newest state agrees with one before it, so that it may be used.
    #[must_use]
    pub const fn agrees(&self) -> bool {
        self.agreed
    }

    /// Returns the number of states that could not be ones of this arm.
    #[must_use]
    pub const fn impossible(&self) -> u32 {
        self.impossible
    }

    /// Processes a state of the arm with the controller's time stamp, and updates the link's grade; the state's cycle
    /// number is the time stamp in periods.
    pub fn observe(&mut self, stamp: ControllerTime, arrival: Instant, now: Instant) -> Observation {
        self.take(self.cycle_of(stamp), stamp, arrival, now)
    }

    /// Processes a packet of the peer with a counter of its own, and updates the link's grade; the packet's time stamp
    /// is [`Self::stamp_of`] the counter.
    pub fn observe_counter<C: Counter>(&mut self, counter: C, arrival: Instant, now: Instant) -> Observation {
        self.take(self.cycle_of_counter(counter), self.stamp_of(counter), arrival, now)
    }

    /// Returns the controller's time that corresponds to a counter of the peer: the counter, with its wraps, in
    /// periods.
    #[must_use]
    pub fn stamp_of<C: Counter>(&self, counter: C) -> ControllerTime {
        ControllerTime::from_micros(self.config.period.times(self.cycle_of_counter(counter)).as_micros())
    }

    fn cycle_of_counter<C: Counter>(&self, counter: C) -> u64 {
        // Far from zero, so that a packet from before the first one has a number too.
        const ORIGIN: u64 = 1 << 32;
        let newest = self.judge.highest().unwrap_or(ORIGIN);
        let first = self.judge.highest().is_none();
        let ahead = counter.ahead_of(if first { C::low_bits_of(0) } else { C::low_bits_of(newest) });
        newest.saturating_add_signed(ahead)
    }

    /// Records a wake-up at `now` that was requested for `due`. Returns the delay if it is above [`LinkConfig::stall`].
    /// Call this first on every wake-up.
    pub fn local_stall(&mut self, now: Instant, due: Option<Instant>) -> Option<Duration> {
        self.stall.woken(now, due)
    }

    /// Re-evaluates the link's grade without a new state: age, missing states, stall. Returns the change of the grade;
    /// `None` if it did not change, and before the first state.
    pub fn tick(&mut self, now: Instant) -> Option<GradeChange> {
        self.judge.highest()?;
        self.update_grade(self.broken(now), 0, now)
    }

    /// Records that the newest state has been answered, with motion or without. Returns the state's arrival if this is
    /// its first answer.
    pub fn answered(&mut self) -> Option<Instant> {
        let first = core::mem::take(&mut self.unanswered);
        self.clock.newest().filter(|_| first).map(|(_, arrival)| arrival)
    }

    /// Records in the link's histogram the time from the arrival of a state until the answer to it was written.
    pub fn written(&mut self, turnaround: Duration) {
        self.histograms.turnaround.record(turnaround);
    }

    /// Stores how many of our packets the peer has reflected in time, and their round trip (see [`AnswerFigures`]). On
    /// a link of datagrams the link's grade, a measure of its quality, includes them until the peer restarts.
    pub const fn set_answers(&mut self, answers: AnswerFigures) {
        self.answers = Some(answers);
    }

    /// Returns the kind of command that may be sent in answer to the newest state: at most one command per state, and a
    /// moving one only if the state is no older than a period plus the margin.
    pub fn answer(&self, now: Instant) -> Answer {
        match self.clock.age(now) {
            Some(age) if self.unanswered && age <= self.moving_age() => Answer::Moving,
            Some(_) if self.unanswered => Answer::Still,
            Some(_) | None => Answer::Nothing,
        }
    }

    /// Returns whether the link's grade permits commanding to begin.
    #[must_use]
    pub fn entry(&self) -> bool {
        self.grader.grade() >= self.config.entry
    }

    /// Checks that the link is good enough for commanding to continue.
    ///
    /// # Errors
    /// `LocalStall`, `StateStale`, `StatesMissed`, `ImpossibleState` if impossible states arrived in their place, or
    /// `GradeLow` after [`WINDOW`] periods, and [`LinkConfig::rise_time`], of `Unacceptable`.
    pub fn staying(&self, now: Instant) -> Result<(), Reason> {
        let span = self.config.stale_after;
        if self.stall.stalled_within(span, now) {
            return Err(Reason::LocalStall);
        }
        match self.clock.age(now) {
            Some(age) if age <= span => {}
            Some(_) if self.stall.noted_within(span, now) => return Err(Reason::LocalStall),
            Some(_) | None if self.absurd => return Err(Reason::ImpossibleState),
            Some(_) | None => return Err(Reason::StateStale),
        }
        if self.consecutive_misses(now) > self.config.max_misses {
            return Err(if self.absurd { Reason::ImpossibleState } else { Reason::StatesMissed });
        }
        let window = self.config.period.times(u64::from(WINDOW)).max(self.config.rise_time);
        match self.unacceptable_since {
            Some(since) if now.since(since) >= window => Err(Reason::GradeLow),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the link's grade at `now`, why it fell, and what it needs to rise: the details when commanding is
    /// refused or ended by `GradeLow`.
    #[must_use]
    pub fn grade_low(&self, now: Instant) -> GradeLow {
        GradeLow { grade: self.grader.grade(), needed: self.config.entry, fell: self.fell, next: self.next_grade(now) }
    }

    fn next_grade(&self, now: Instant) -> GradeCause {
        let measured = self.measured(self.broken(now), 0, now);
        self.cause(self.grader.grade().better(), true, &measured, now)
    }

    /// Returns the time at which the next cycle counts as missing, or the newest state as stale; `None` before the
    /// first state and once it is stale.
    #[must_use]
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let age = self.clock.age(now)?;
        if age > self.config.stale_after {
            return None;
        }
        let period = self.config.period;
        let next_miss = period.times(u64::from(self.consecutive_misses(now)).saturating_add(1)) + self.grace();
        let stale = self.config.stale_after + Duration::from_micros(1);
        self.clock.when_aged(next_miss.min(stale))
    }

    /// Returns the present grade of the link.
    #[must_use]
    pub const fn grade(&self) -> Grade {
        self.grader.grade()
    }

    /// Returns the age of the newest state; `None` before the first.
    #[must_use]
    pub fn age(&self, now: Instant) -> Option<Duration> {
        self.clock.age(now)
    }

    /// Returns the number of cycles that should have arrived since the newest state: one from an age of 1.5 periods on.
    #[must_use]
    pub fn consecutive_misses(&self, now: Instant) -> u32 {
        self.clock.age(now).map_or(0, |age| in_periods(age - self.grace(), self.config.period))
    }

    /// Returns the number of restarts of the controller's clock or counter.
    #[must_use]
    pub const fn epoch(&self) -> u32 {
        self.epochs
    }

    /// Returns the histograms of the times of the states that were [counted](Self::account).
    #[must_use]
    pub const fn histograms(&self) -> &Histograms {
        &self.histograms
    }

    /// Returns the figures of the link at `now`, of the states that were [counted](Self::account).
    #[must_use]
    pub fn figures(&self, now: Instant) -> Figures {
        Figures {
            grade: self.grader.grade(),
            needed: self.config.entry,
            fell: self.fell,
            next: self.next_grade(now),
            epoch: self.epochs,
            sequence: self.judge.totals(),
            impossible: self.impossible,
            late: self.epoch.late,
            interval: self.epoch.intervals.figures(),
            lateness: self.epoch.lateness.mean(),
            jitter: self.epoch.jitter.jitter(),
            age_variation: self.epoch.age_variation.mean(),
            received: self.epoch.received.per_10_000(),
            age: self.clock.age(now),
            consecutive_misses: self.consecutive_misses(now),
            answers: self.answers,
            local_stalls: self.stall.count(),
            longest_late_wake: self.stall.longest(),
        }
    }

    /// Counts the newest state in the statistics on which no decision depends. If not called, the state is counted when
    /// the next one arrives.
    pub fn account(&mut self) {
        let Some(Uncounted { interval, age }) = self.uncounted.take() else { return };
        let (epoch, period) = (&mut self.epoch, self.config.period);
        epoch.intervals.record(interval, period);
        epoch.late = epoch.late.saturating_add(u64::from(age > period + self.config.margin));
        if let Some(last) = epoch.last_age.replace(age) {
            epoch.age_variation.push(Duration::from_micros(age.as_micros().abs_diff(last.as_micros())));
        }
        self.histograms.interval.record(interval);
        self.histograms.age.record(age);
    }

    fn take(&mut self, cycle: u64, stamp: ControllerTime, arrival: Instant, now: Instant) -> Observation {
        if self.uncounted.is_some() {
            self.account();
        }
        let sequence = self.judge.observe(cycle);
        match sequence {
            Sequence::Duplicate | Sequence::Reordered | Sequence::Suspect => Observation {
                sequence,
                age: self.clock.age(now).unwrap_or_default(),
                interval: None,
                deviation: None,
                change: None,
                fault: None,
            },
            Sequence::First => {
                self.unanswered = true;
                let _ = self.clock.observe(stamp, arrival, self.moving_age());
                let _ = self.epoch.jitter.observe(arrival, Duration::ZERO);
                let change = self.update_grade(self.broken(now), 0, now);
                Observation { sequence, age: Duration::ZERO, interval: None, deviation: None, change, fault: None }
            }
            Sequence::InOrder => self.next(0, stamp, arrival, now),
            Sequence::Lost(missing) => self.next(missing, stamp, arrival, now),
            Sequence::NewEpoch => self.new_epoch(cycle, stamp, arrival, now),
        }
    }

    fn next(&mut self, missing: u32, stamp: ControllerTime, arrival: Instant, now: Instant) -> Observation {
        let Some((_, before)) = self.clock.newest() else {
            return self.new_epoch(0, stamp, arrival, now);
        };
        let gap = self.consecutive_misses(arrival).max(missing);
        let age = match self.clock.observe(stamp, arrival, self.moving_age()) {
            Reading::Age(age) => age,
            Reading::Shifted => return self.new_epoch(self.cycle_of(stamp), stamp, arrival, now),
        };
        self.unanswered = true;
        let period = self.config.period;
        let sent_later = period.times(u64::from(missing).saturating_add(1));
        let interval = arrival.since(before);
        let epoch = &mut self.epoch;
        let _ = epoch.jitter.observe(arrival, sent_later);
        epoch.lateness.push(interval - period);
        epoch.received.push(missing, true);
        self.uncounted = Some(Uncounted { interval, age });
        let change = self.update_grade(self.broken(now), gap, now);
        Observation {
            sequence: if missing == 0 { Sequence::InOrder } else { Sequence::Lost(missing) },
            age,
            interval: Some(interval),
            deviation: i64::try_from(interval.as_micros())
                .ok()
                .map(|micros| micros.saturating_sub_unsigned(sent_later.as_micros())),
            change,
            fault: (missing > self.config.max_misses).then_some(Reason::StatesMissed),
        }
    }

    fn new_epoch(&mut self, cycle: u64, stamp: ControllerTime, arrival: Instant, now: Instant) -> Observation {
        self.judge.restart_at(cycle);
        self.clock.restart(stamp, arrival);
        self.epoch = Epoch::new(&self.config);
        let _ = self.epoch.jitter.observe(arrival, Duration::ZERO);
        self.epochs = self.epochs.saturating_add(1);
        self.answers = None;
        self.unanswered = true;
        self.agreed = false;
        let change = self.update_grade(Some(Metric::Epoch), 0, now);
        Observation {
            sequence: Sequence::NewEpoch,
            age: Duration::ZERO,
            interval: None,
            deviation: None,
            change,
            fault: Some(Reason::ClockJump),
        }
    }

    fn update_grade(&mut self, broken: Option<Metric>, gap: u32, now: Instant) -> Option<GradeChange> {
        let measured = self.measured(broken, gap, now);
        let change = self.grader.update(&measured, self.judge.totals().accepted, now);
        self.unacceptable_since = match self.grader.grade() {
            Grade::Unacceptable => self.unacceptable_since.or(Some(now)),
            Grade::Bad | Grade::Ok | Grade::Perfect => None,
        };
        let [from, to] = change?;
        let rises = to > from;
        let whose = if rises { to } else { to.better() };
        let cause = self.cause(whose, rises, &measured, now);
        let late = self.stall.late_within(self.config.period, now);
        let change = GradeChange { from, to, cause, at: now, late };
        if !rises {
            self.fell = Some(change);
        }
        Some(change)
    }

    fn measured(&self, broken: Option<Metric>, gap: u32, now: Instant) -> Measured {
        let misses = self.consecutive_misses(now).max(gap);
        let received = self.epoch.received.per_10_000();
        // Both directions of a datagram link: cycles received from the peer, and answers of ours that it received.
        let (received, misses) = match self.config.kind {
            LinkKind::Stream => (received, misses),
            LinkKind::Datagram => (
                received.min(self.answers.map(|a| a.rate)),
                misses.max(self.answers.map_or(0, |a| a.consecutive_misses)),
            ),
        };
        let (delay, jitter) = (self.epoch.lateness.mean(), Some(self.epoch.jitter.jitter()));
        Measured { broken, received, delay, jitter, misses }
    }

    /// Returns the figure that limits the grade, from `measured`, with its limit for `grade`; `reached` if the grade is
    /// yet to be reached. Called only when a grade changes or is shown, not in every cycle.
    fn cause(&self, grade: Grade, reached: bool, measured: &Measured, now: Instant) -> GradeCause {
        let (limits, answers) = (self.config.limits.of(grade, reached), self.answers);
        let micros = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        let (delay, jitter) = (measured.delay.unwrap_or_default(), measured.jitter.unwrap_or_default());
        let received = measured.received.unwrap_or(0);
        let mut metric = self.grader.held_by();
        let (value, limit) = match metric {
            Metric::Samples => {
                let seen = self.epoch.received.len();
                let answered = answers.filter(|_| self.config.kind == LinkKind::Datagram && seen >= WINDOW);
                (answered.map_or(seen, |a| a.judged), WINDOW)
            }
            Metric::Received | Metric::Answered => {
                let ours = self.config.kind == LinkKind::Datagram && Some(received) != self.epoch.received.per_10_000();
                metric = if ours { Metric::Answered } else { Metric::Received };
                (received.into(), limits.received.0.into())
            }
            Metric::Misses | Metric::Unanswered => {
                let ours = self.config.kind == LinkKind::Datagram
                    && answers.is_some_and(|a| a.consecutive_misses == measured.misses && a.consecutive_misses > 0);
                metric = if ours { Metric::Unanswered } else { Metric::Misses };
                (measured.misses, limits.misses)
            }
            Metric::Delay => (micros(delay), micros(limits.delay)),
            Metric::Jitter => (micros(jitter), micros(limits.jitter)),
            Metric::Age => (self.clock.age(now).map_or(u32::MAX, micros), micros(self.config.stale_after)),
            Metric::Epoch => (self.epochs, 0),
            Metric::LocalStall => {
                (micros(self.stall.late_within(self.config.stale_after, now)), micros(self.config.stall))
            }
        };
        GradeCause { metric, grade, measured: value, limit }
    }

    /// Returns a condition that alone makes the link unacceptable, if there is one.
    fn broken(&self, now: Instant) -> Option<Metric> {
        let answers_known = match self.config.kind {
            LinkKind::Stream => true,
            LinkKind::Datagram => self.answers.is_some_and(|a| a.judged >= WINDOW),
        };
        if self.stall.stalled_within(Duration::ZERO, now) {
            Some(Metric::LocalStall)
        } else if self.clock.age(now).is_none_or(|age| age > self.config.stale_after) {
            Some(Metric::Age)
        } else if self.epoch.received.len() < WINDOW || !answers_known {
            Some(Metric::Samples)
        } else {
            None
        }
    }

    fn cycle_of(&self, stamp: ControllerTime) -> u64 {
        let (Some((newest, _)), Some(cycle)) = (self.clock.newest(), self.judge.highest()) else {
            return 0;
        };
        let half = self.grace();
        let periods = |span: Duration| (span + half).whole(self.config.period).unwrap_or(0);
        // Wrapping, because a counter is judged by distance: a time stamp from before the first is behind, not ahead.
        if stamp >= newest {
            cycle.wrapping_add(periods(stamp.since(newest)))
        } else {
            cycle.wrapping_sub(periods(newest.since(stamp)))
        }
    }

    const fn grace(&self) -> Duration {
        self.config.period.percent(50)
    }

    fn moving_age(&self) -> Duration {
        self.config.period + self.config.margin
    }
}
