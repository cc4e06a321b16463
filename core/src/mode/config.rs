//! Thresholds of the mode machine. All are defaults; none is a constant of the code.

use super::delegated::DelegatedConfig;
use crate::robot::{BadValue, Range, range, seconds};
use crate::time::Duration;

/// Thresholds of one machine; [`ModeConfig::new`] gives the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct ModeConfig {
    /// Period of the states.
    pub cycle: Duration,
    /// Good cycles in a row before `Command`. Default 100.
    pub good_cycles: u32,
    /// Longest time in `Arming`. Default 10 s.
    pub arming_timeout: Duration,
    /// A fact older than this is not held. Default 300 ms: three of the slowest port's messages.
    pub evidence_age: Duration,
    /// The same for remote control, which is polled. Default 300 ms.
    pub remote_evidence_age: Duration,
    /// Longest time without a timely state in `Arming` and `Command`: design 4's S, not above the time after
    /// which the arm stops by itself. Default 40 ms, at least three cycles.
    pub state_timeout: Duration,
    /// Zero velocities before the `stopj`. Default 3.
    pub stop_cycles: u8,
    /// Longest wait for standstill in `Stopping`. Default 5 s.
    pub stop_timeout: Duration,
    /// Rest counts when it was measured this long after the stop, or the connection, began: not less than the
    /// window of [`Standstill`](super::Standstill). Default 200 ms.
    pub rest_window: Duration,
    /// Longest time in `Monitor` without any state. Default 2 s.
    pub offline_after: Duration,
    /// The accepting program may be invisible for this long in `Command`: one program replaces the other every
    /// cycle, and a slow message may fall between. Default 500 ms.
    pub program_timeout: Duration,
    /// The peer wants a mirrored position wherever nothing is commanded, and says itself whether it follows (FRI).
    /// Default no.
    pub mirrors: bool,
    /// Arm although another program runs; the path ends it before it sends the first command. Default no.
    pub take_over: bool,
    /// Arm although nothing shows that commands are accepted. Default no.
    pub acceptance_unknown: bool,
    /// Arm only with evidence of remote control. Default no, for controllers that do not know it.
    pub require_remote: bool,
    /// For moves that the controller executes.
    pub delegated: DelegatedConfig,
}

impl ModeConfig {
    /// Defaults for states of period `cycle`.
    #[must_use]
    pub fn new(cycle: Duration) -> Self {
        Self {
            cycle,
            good_cycles: 100,
            arming_timeout: Duration::from_secs(10),
            evidence_age: Duration::from_millis(300),
            remote_evidence_age: Duration::from_millis(300),
            state_timeout: Duration::from_millis(40).max(cycle.times(3)),
            stop_cycles: 3,
            stop_timeout: Duration::from_secs(5),
            rest_window: Duration::from_millis(200),
            offline_after: Duration::from_secs(2),
            program_timeout: Duration::from_millis(500),
            mirrors: false,
            take_over: false,
            acceptance_unknown: false,
            require_remote: false,
            delegated: DelegatedConfig::new(cycle),
        }
    }

    /// Range of [`good_cycles`](Self::good_cycles).
    pub const GOOD_CYCLES: Range<u32> = range!(1, 60000, "");
    /// Range of [`arming_timeout`](Self::arming_timeout).
    pub const ARMING_TIMEOUT: Range<Duration> = seconds!(0.001, 60.0);
    /// Range of [`evidence_age`](Self::evidence_age).
    pub const EVIDENCE_AGE: Range<Duration> = seconds!(0.002, 2.0);
    /// Range of [`remote_evidence_age`](Self::remote_evidence_age).
    pub const REMOTE_EVIDENCE_AGE: Range<Duration> = seconds!(0.002, 10.0);
    /// Range of [`state_timeout`](Self::state_timeout).
    pub const STATE_TIMEOUT: Range<Duration> = seconds!(0.002, 2.0);
    /// Range of [`stop_cycles`](Self::stop_cycles).
    pub const STOP_CYCLES: Range<u8> = range!(1, 10, "");
    /// Range of [`stop_timeout`](Self::stop_timeout).
    pub const STOP_TIMEOUT: Range<Duration> = seconds!(0.001, 60.0);
    /// Range of [`offline_after`](Self::offline_after).
    pub const OFFLINE_AFTER: Range<Duration> = seconds!(0.002, 60.0);
    /// Range of [`program_timeout`](Self::program_timeout).
    pub const PROGRAM_TIMEOUT: Range<Duration> = seconds!(0.002, 5.0);

    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its range, or too short for another.
    pub fn check(&self) -> Result<(), BadValue> {
        let cycle = self.cycle;
        BadValue::unless(cycle > Duration::ZERO && cycle <= Duration::from_secs(1), "cycle", "above 0, at most 1 s")?;
        Self::GOOD_CYCLES.check(self.good_cycles, "good_cycles")?;
        Self::ARMING_TIMEOUT.check(self.arming_timeout, "arming_timeout")?;
        Self::EVIDENCE_AGE.check(self.evidence_age, "evidence_age")?;
        Self::REMOTE_EVIDENCE_AGE.check(self.remote_evidence_age, "remote_evidence_age")?;
        Self::STATE_TIMEOUT.check(self.state_timeout, "state_timeout")?;
        Self::STOP_CYCLES.check(self.stop_cycles, "stop_cycles")?;
        Self::STOP_TIMEOUT.check(self.stop_timeout, "stop_timeout")?;
        Self::OFFLINE_AFTER.check(self.offline_after, "offline_after")?;
        Self::PROGRAM_TIMEOUT.check(self.program_timeout, "program_timeout")?;
        let two = cycle.times(2);
        let needed = cycle.times(u64::from(self.good_cycles));
        BadValue::unless(self.arming_timeout > needed, "arming_timeout", "longer than good_cycles take")?;
        BadValue::unless(self.evidence_age >= two, "evidence_age", "at least two cycles")?;
        BadValue::unless(self.remote_evidence_age >= two, "remote_evidence_age", "at least two cycles")?;
        BadValue::unless(
            self.state_timeout >= two && self.state_timeout <= self.evidence_age,
            "state_timeout",
            "two cycles to evidence_age",
        )?;
        let stopped = cycle.times(u64::from(self.stop_cycles).saturating_add(2)) + self.rest_window;
        BadValue::unless(self.stop_timeout > stopped, "stop_timeout", "longer than stop_cycles and rest_window take")?;
        BadValue::unless(self.offline_after >= self.state_timeout, "offline_after", "at least state_timeout")?;
        BadValue::unless(self.program_timeout >= two, "program_timeout", "at least two cycles")?;
        self.delegated.check(cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold_their_own_check() {
        for millis in [1, 2, 4, 8, 10, 50] {
            assert_eq!(ModeConfig::new(Duration::from_millis(millis)).check(), Ok(()), "{millis} ms");
        }
    }

    #[test]
    fn each_nonsense_names_its_field() {
        type Case = (&'static str, fn(&mut ModeConfig));
        let cases: [Case; 15] = [
            ("cycle", |c| c.cycle = Duration::ZERO),
            ("good_cycles", |c| c.good_cycles = 0),
            ("arming_timeout", |c| c.arming_timeout = Duration::from_millis(800)),
            ("evidence_age", |c| c.evidence_age = Duration::from_secs(3)),
            ("remote_evidence_age", |c| c.remote_evidence_age = Duration::ZERO),
            ("state_timeout", |c| c.state_timeout = Duration::from_millis(301)),
            ("stop_cycles", |c| c.stop_cycles = 0),
            ("stop_timeout", |c| c.stop_timeout = Duration::from_millis(40)),
            ("offline_after", |c| c.offline_after = Duration::ZERO),
            ("program_timeout", |c| c.program_timeout = Duration::ZERO),
            ("delegated.mirror_age", |c| c.delegated.mirror_age = Duration::from_millis(15)),
            ("delegated.state_timeout", |c| c.delegated.state_timeout = Duration::from_secs(3)),
            ("delegated.cancel_timeout", |c| c.delegated.cancel_timeout = Duration::ZERO),
            ("delegated.start_timeout", |c| c.delegated.start_timeout = Duration::ZERO),
            ("delegated.pause_timeout", |c| c.delegated.pause_timeout = Duration::from_secs(3601)),
        ];
        for (field, spoil) in cases {
            let mut config = ModeConfig::new(Duration::from_millis(8));
            spoil(&mut config);
            assert_eq!(config.check().map_err(|e| e.field), Err(field));
        }
    }
}
