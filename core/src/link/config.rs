//! The thresholds of the link monitor. The values here are defaults; all can be configured.

use super::grade::{Grade, GradeLimits, GradeTable, GradeTuning};
use super::sequence::SequenceRules;
use crate::robot::{BadValue, settings};
use outrigger_wire::time::Duration;

/// The transport of the states on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum LinkKind {
    /// A byte stream (UR's ports): nothing is reordered, loss appears as lateness followed by a burst, and the peer
    /// reflects no counters.
    Stream,
    /// Datagrams with a counter, answered by datagrams whose counter the peer reflects (FRI). The peer sets the cycle,
    /// so a round trip includes its waiting time and does not measure the delay of the network.
    Datagram,
}

settings! {
    /// Thresholds of one link. [`LinkConfig::stream`] and [`LinkConfig::datagram`] return the defaults.
    ///
    /// | field | stream, 2 ms | stream, 8 ms | datagrams of period T |
    /// |---|---|---|---|
    /// | received, of 10 000 | 9 900 / 9 500 / 9 000 | the same | the same, and of answers |
    /// | delay, mean | 1.0 / 1.6 / 2.0 ms late | 4.0 / 6.4 / 8.0 ms late | 0.5 / 0.8 / 1.0 T late |
    /// | jitter | 0.5 / 1.0 / 2.0 ms | 0.8 / 2.0 / 4.0 ms | 0.10 / 0.25 / 0.50 T |
    /// | misses | 2 / 5 / 10 | 1 / 2 / 4 | 1 / 2 / 4 |
    ///
    /// (`Perfect` / `Ok` / `Bad`.) The fractions are those of `core/docs/protocol/kuka-fri.md C3`. On a stream they
    /// have lower bounds in time, because both ends use ordinary schedulers: an idle two-core Linux machine wakes a
    /// sleeping reader 0.05 … 0.5 ms late, which is a quarter of a 2 ms period and harmless to a command that is
    /// accepted up to 3 ms after its state. A link graded `Perfect` thus answers within its cycle; the fraction alone
    /// would only grade the scheduler.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct LinkConfig in "" by datagram(period: Duration) {
        /// The transport that delivers the states.
        pub kind: LinkKind = LinkKind::Datagram,
        /// The nominal period of the states, 0.1 ms … 1 s.
        pub period: Duration = period,
    }

    /// Thresholds of one link that replace its defaults, which depend on the controller's period.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub tuning LinkTuning {
        /// The grade of the link needed to begin commanding. Default `Ok`.
        pub entry: Grade = Grade::Ok,
        /// The newest state is stale when older than this, which must not exceed the time after which the arm stops by
        /// itself. Values below two periods count as two periods. Default 40 ms on a stream, 3 periods otherwise.
        pub stale_after: Duration [0.0002 to 5.0 "s"] = period.times(3),
        /// Commanding ends if more consecutive states than this are missed. Default `stale_after` in periods.
        pub max_misses: u32 [1 to 1000000] = 3,
        /// A moving command is sent only in answer to a state younger than one period plus this margin. Default half a
        /// period, at least 2 ms on a stream.
        pub margin: Duration [0.0 to 5.0 "s"] = period.percent(50),
        /// The delay of a wake-up after the requested time above which this device counts as stalled. Values below
        /// two periods count as two periods. Default `stale_after`.
        pub stall: Duration [0.0002 to 86400.0 "s"] = period.times(3),
        /// A jump of the controller's clock ahead by more than this starts a new epoch. Values below two periods count
        /// as two periods. Default 1 s, at least `stale_after`.
        pub clock_jump: Duration [0.0002 to 86400.0 "s"] = Duration::from_secs(1),
        /// The limits of each grade of the link.
        pub limits table "grade": GradeTable => GradeTuning = GradeTable::new(period),
        /// A grade rises at most once in this time (and in 100 cycles). Default 100 ms.
        pub rise_time: Duration [0.0 to 86400.0 "s"] = Duration::from_millis(100),
        /// The rate at which the clock mapping forgets a fast packet \[ppm\]: must be above the drift between two
        /// crystals. Default 200.
        pub leak_ppm: u32 [0 to 10000] = 200,
        /// States late by an equal amount for this long mean that the controller's clock had stopped: a new epoch
        /// begins. Values below four periods count as four periods. Default 2 s, at least twice `stale_after`.
        pub shift_hold: Duration [0.0004 to 86400.0 "s"] = Duration::from_secs(2),
        /// The time between arrivals below which they form one burst; jitter counts the newest state of a burst.
        /// Always less than a period. Default a tenth of a period on a stream, none otherwise.
        pub burst: Duration [0.0 to 1.0 "s"] = Duration::ZERO,
    }
}

impl LinkTuning {
    /// Returns the thresholds for states of this period over a byte stream.
    #[must_use]
    pub fn stream(&self, period: Duration) -> LinkConfig {
        self.on(LinkConfig::stream(period))
    }

    /// Returns the thresholds for a link whose states arrive as datagrams of this period.
    #[must_use]
    pub fn datagram(&self, period: Duration) -> LinkConfig {
        self.on(LinkConfig::datagram(period))
    }

    /// Checks the configured thresholds against the shortest possible period of states. For a longer period, values
    /// that are too short are raised.
    ///
    /// # Errors
    /// Returns the first value that is invalid for every period.
    pub(crate) fn check(&self, shortest: Duration) -> Result<(), BadValue> {
        let two = shortest.times(2);
        let enough = |given: Option<Duration>| given.is_none_or(|given| given >= two);
        BadValue::unless(enough(self.stale_after), "stale_after", "at least two periods")?;
        BadValue::unless(enough(self.stall), "stall", "at least two periods")
    }

    /// Applies the configured thresholds over the defaults in `config`. Defaults are adjusted to the configured
    /// values. A configured value shorter than this period permits is raised, because it was chosen before the period
    /// was known.
    fn on(&self, mut config: LinkConfig) -> LinkConfig {
        self.apply(&mut config);
        let (period, two) = (config.period, config.period.times(2));
        let clock_jump = self.clock_jump.map(|jump| jump.max(two));
        let shift_hold = self.shift_hold.map(|hold| hold.max(two.times(2)));
        if self.stale_after.is_none() {
            let most =
                clock_jump.unwrap_or(Duration::MAX).min(shift_hold.map_or(Duration::MAX, |hold| hold.percent(50)));
            config.stale_after = config.stale_after.max(period + config.margin).min(most);
        }
        let stale_after = config.stale_after.max(two);
        config.stale_after = stale_after;
        if self.margin.is_none() {
            config.margin = config.margin.min(stale_after - period);
        }
        if self.max_misses.is_none() {
            config.max_misses = in_periods(stale_after, period).max(1);
        }
        config.stall = self.stall.unwrap_or(stale_after).max(two);
        config.clock_jump = clock_jump.unwrap_or_else(|| config.clock_jump.max(stale_after));
        config.shift_hold = shift_hold.unwrap_or_else(|| config.shift_hold.max(stale_after.times(2)));
        config.burst = config.burst.min(period - Duration::from_micros(1));
        config
    }
}

impl LinkConfig {
    /// Returns the defaults for a link whose states arrive in a byte stream.
    #[must_use]
    pub fn stream(period: Duration) -> Self {
        let stale_after = Duration::from_millis(40).max(period.times(2));
        let jitter = |percent, floor_micros| period.percent(percent).max(Duration::from_micros(floor_micros));
        // Limits of consecutive misses are times as well: 4, 10 and 20 ms, if that is more cycles than the fixed
        // number.
        let misses = |cycles: u32, floor_millis| in_periods(Duration::from_millis(floor_millis), period).max(cycles);
        let base = Self::datagram(period);
        let limits = base.limits;
        Self {
            kind: LinkKind::Stream,
            limits: GradeTable {
                perfect: GradeLimits { jitter: jitter(10, 500), misses: misses(1, 4), ..limits.perfect },
                ok: GradeLimits { jitter: jitter(25, 1_000), misses: misses(2, 10), ..limits.ok },
                bad: GradeLimits { jitter: jitter(50, 2_000), misses: misses(4, 20), ..limits.bad },
            },
            stale_after,
            max_misses: in_periods(stale_after, period),
            margin: period.percent(50).max(Duration::from_millis(2)),
            stall: stale_after,
            burst: period.percent(10),
            ..base
        }
    }

    /// Checks every threshold of the link monitor.
    ///
    /// # Errors
    /// Returns the first field outside its range, or in conflict with another.
    #[inline(never)]
    pub fn check(&self) -> Result<(), BadValue> {
        let period = self.period;
        BadValue::unless(
            period >= Duration::from_micros(100) && period <= Duration::from_secs(1),
            "period",
            "0.1 ms to 1 s",
        )?;
        self.check_ranges()?;
        self.limits.check_ranges()?;
        let GradeTable { perfect, ok, bad } = &self.limits;
        let ordered =
            |p: bool, o: bool, field| BadValue::unless(p && o, field, "perfect no looser than ok, ok than bad");
        ordered(perfect.received >= ok.received, ok.received >= bad.received, "limits.received")?;
        ordered(perfect.delay <= ok.delay, ok.delay <= bad.delay, "limits.delay")?;
        ordered(perfect.jitter <= ok.jitter, ok.jitter <= bad.jitter, "limits.jitter")?;
        ordered(perfect.misses <= ok.misses, ok.misses <= bad.misses, "limits.misses")?;
        BadValue::unless(self.entry > Grade::Unacceptable, "entry", "Bad, Ok or Perfect")?;
        BadValue::unless(self.stale_after >= period.times(2), "stale_after", "at least two periods")?;
        BadValue::unless(period + self.margin <= self.stale_after, "margin", "period + margin at most stale_after")?;
        BadValue::unless(self.stall >= period.times(2), "stall", "at least two periods")?;
        BadValue::unless(self.clock_jump >= self.stale_after, "clock_jump", "at least stale_after")?;
        BadValue::unless(self.shift_hold >= self.stale_after.times(2), "shift_hold", "at least twice stale_after")?;
        BadValue::unless(self.burst < period, "burst", "less than a period")
    }

    /// Returns the rules by which the link's sequence judge distinguishes lost, late and restarted cycle numbers.
    #[must_use]
    pub fn sequence_rules(&self) -> SequenceRules {
        let max_dropout = in_periods(self.clock_jump, self.period).saturating_sub(1);
        match self.kind {
            LinkKind::Stream => SequenceRules { max_dropout, reorder: 0, restart_after: 1 },
            LinkKind::Datagram => SequenceRules { max_dropout, reorder: 63, restart_after: 2 },
        }
    }
}

/// Returns the number of whole periods in the time `span`.
pub(super) fn in_periods(span: Duration, period: Duration) -> u32 {
    let count = span.whole(period).unwrap_or(u64::MAX);
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::grade::Share;
    use super::*;

    #[test]
    fn the_defaults_hold_their_own_check() {
        for micros in [1_000, 2_000, 4_000, 5_000, 8_000, 10_000, 100_000] {
            let period = Duration::from_micros(micros);
            assert_eq!(LinkConfig::stream(period).check(), Ok(()), "stream of {micros} µs");
            assert_eq!(LinkConfig::datagram(period).check(), Ok(()), "datagrams of {micros} µs");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let row = |l: GradeLimits| (l.received.0, l.delay.as_micros(), l.jitter.as_micros(), l.misses);
        let e_series = LinkConfig::stream(Duration::from_millis(2));
        assert_eq!(row(e_series.limits.perfect), (9_900, 1_000, 500, 2));
        assert_eq!(row(e_series.limits.ok), (9_500, 1_600, 1_000, 5));
        assert_eq!(row(e_series.limits.bad), (9_000, 2_000, 2_000, 10));
        assert_eq!((e_series.max_misses, e_series.margin.as_micros()), (20, 2_000));
        let cb3 = LinkConfig::stream(Duration::from_millis(8));
        assert_eq!(row(cb3.limits.perfect), (9_900, 4_000, 800, 1));
        assert_eq!(row(cb3.limits.ok), (9_500, 6_400, 2_000, 2));
        assert_eq!(row(cb3.limits.bad), (9_000, 8_000, 4_000, 4));
        assert_eq!((cb3.max_misses, cb3.margin.as_micros()), (5, 4_000));
    }

    #[test]
    fn what_one_threshold_bounds_follows_it_at_every_period() {
        let seconds = |seconds: f32| Some(crate::robot::time(seconds.into()));
        let none = LinkTuning::default();
        let mut tunings = vec![];
        for least in [0.0002, 0.003, 0.05, 0.9, 5.0] {
            tunings.extend([
                LinkTuning { stale_after: seconds(least), ..none },
                LinkTuning { margin: seconds(least.min(4.0)), ..none },
                LinkTuning { stall: seconds(least), ..none },
                LinkTuning { clock_jump: seconds(least), ..none },
                LinkTuning { shift_hold: seconds(least.max(0.0004)), ..none },
                LinkTuning { burst: seconds(least.min(1.0)), ..none },
            ]);
        }
        for micros in [1_000, 2_000, 8_000, 100_000] {
            let period = Duration::from_micros(micros);
            for tuning in &tunings {
                for config in [tuning.stream(period), tuning.datagram(period)] {
                    assert_eq!(config.check(), Ok(()), "{micros} µs, {tuning:?}");
                }
            }
        }
        // A value that the period permits is used as it is given.
        let twenty = LinkTuning { stale_after: seconds(0.02), ..none };
        let stale_after = |micros| twenty.datagram(Duration::from_micros(micros)).stale_after.as_micros();
        assert_eq!([1_000, 5_000, 100_000].map(stale_after), [20_000, 20_000, 200_000]);
        let misses = |micros| twenty.datagram(Duration::from_micros(micros)).max_misses;
        assert_eq!([1_000, 5_000, 100_000].map(misses), [20, 4, 2]);
    }

    #[test]
    fn each_nonsense_names_its_field() {
        let good = LinkConfig::stream(Duration::from_millis(8));
        type Case = (&'static str, fn(&mut LinkConfig));
        let cases: [Case; 10] = [
            ("period", |c| c.period = Duration::ZERO),
            ("limits.received", |c| c.limits.perfect.received = Share(10_001)),
            ("limits.jitter", |c| c.limits.ok.jitter = Duration::ZERO),
            ("limits.misses", |c| c.limits.bad.misses = 0),
            ("entry", |c| c.entry = Grade::Unacceptable),
            ("stale_after", |c| c.stale_after = Duration::from_secs(6)),
            ("max_misses", |c| c.max_misses = 0),
            ("margin", |c| c.margin = Duration::from_millis(33)),
            ("leak_ppm", |c| c.leak_ppm = 10_001),
            ("burst", |c| c.burst = Duration::from_millis(8)),
        ];
        for (field, spoil) in cases {
            let mut config = good;
            spoil(&mut config);
            assert_eq!(config.check().map_err(|e| e.field), Err(crate::robot::wording(field)));
        }
    }
}
