//! The thresholds of the mode machine. All are defaults; none is a constant of the code.

use super::move_types::DelegatedConfig;
use super::pendant_watch::PendantConfig;
use super::scaling::ScalingConfig;
use super::target_speed_check::FollowingTuning;
use crate::robot::{BadValue, settings};
use outrigger_wire::time::Duration;

settings! {
    /// The thresholds of one mode machine; [`ModeConfig::new`] returns the defaults.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ModeConfig in "" by new(cycle: Duration) {
        /// The period in which the controller sends states.
        pub cycle: Duration = cycle,
        /// The time after the start of the stop, or of the connection, from which measured standstill counts: not less
        /// than the window of [`Standstill`](super::Standstill). Default 200 ms.
        pub rest_window: Duration = Duration::from_millis(200),
        /// The controller must receive its own position back whenever nothing is commanded, and reports itself whether
        /// it follows (FRI). Default no.
        pub mirrors: bool = false,
        /// The thresholds for moves that the controller executes.
        pub delegated: DelegatedConfig = DelegatedConfig::new(cycle),
    }

    /// The thresholds of the mode machine that differ from their defaults, which depend on the controller's period
    /// ([`ModeConfig::new`]).
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub tuning ModeTuning {
        /// The number of consecutive good cycles in `Arming` before `Command`. Default 100.
        pub good_cycles: u32 [1 to 60000] = 100,
        /// The longest time in `Arming`. Default 10 s.
        pub arming_timeout: Duration [0.001 to 60.0 "s"] = Duration::from_secs(10),
        /// The age above which most facts of the [`Evidence`](super::Evidence) no longer count; two periods at least.
        /// Default 300 ms: three messages of the controller's slowest interface.
        pub evidence_age: Duration [0.002 to 2.0 "s"] = Duration::from_millis(300),
        /// The longest time without a timely state in `Arming` and `Command`; not above the time after which the arm
        /// stops by itself; two periods at least. Default 40 ms, at least three cycles, at most `evidence_age`.
        pub state_timeout: Duration [0.002 to 2.0 "s"] = Duration::from_millis(40).max(cycle.times(3)),
        /// The number of zero velocities that are sent before the `stopj`. Default 3.
        pub stop_cycles: u8 [1 to 10] = 3,
        /// The longest wait for standstill in `Stopping`. Default 5 s.
        pub stop_timeout: Duration [0.001 to 60.0 "s"] = Duration::from_secs(5),
        /// The longest time in `Command` without a report that shows our program. On the text path each command is a
        /// program, and a slow report may fall between two of them. Two periods at least. Default 500 ms.
        pub program_timeout: Duration [0.002 to 5.0 "s"] = Duration::from_millis(500),
        /// The longest time in `Monitor` without any state, before `Offline`. Default 2 s.
        pub offline_after: Duration [0.002 to 60.0 "s"] = Duration::from_secs(2),
        // Not in files: an engine learns of remote control only that it is off, so there is no report whose age could
        // be judged.
        /// The age above which the report that the controller is in remote control no longer counts; it is polled.
        /// Default 300 ms.
        pub remote_evidence_age nowhere: Duration [0.002 to 10.0 "s"] = Duration::from_millis(300),
        /// `true` to arm although another program runs on the controller; the command path ends that program before it
        /// sends the first command. Default no.
        pub take_over: bool => bool = false,
        /// Arm although nothing shows that the controller accepts commands. Default no.
        pub acceptance_unknown: bool => bool = false,
        /// Arm only with evidence of remote control. Default no, because some controllers do not report it.
        pub require_remote: bool => bool = false,
    }
    beside {
        /// The tolerances of comparing the controller's target with the commands.
        pub following prefix "following_": FollowingTuning,
        /// The thresholds for the robot's speed scaling; the same for every period.
        pub scaling prefix "scaling_": ScalingConfig,
        /// The thresholds for detecting a stop or a pause at the pendant.
        pub pendant prefix "pendant_": PendantConfig,
    }
}

impl ModeTuning {
    /// Checks that the configured timeouts are at least two of the `shortest` control cycles of this kind of
    /// controller. For a longer cycle [`of`](Self::of) raises those that are too short for it.
    ///
    /// # Errors The first timeout that is too short for every cycle.
    pub(crate) fn check(&self, shortest: Duration) -> Result<(), BadValue> {
        let two = shortest.times(2);
        let enough = |given: Option<Duration>| given.is_none_or(|given| given >= two);
        BadValue::unless(enough(self.evidence_age), "evidence_age", "at least two cycles")?;
        BadValue::unless(enough(self.state_timeout), "state_timeout", "at least two cycles")?;
        BadValue::unless(enough(self.program_timeout), "program_timeout", "at least two cycles")
    }

    /// Returns the thresholds for a controller of this period. Defaults are adapted to the thresholds that are given. A
    /// given one is raised to the minimum for this period, because it was chosen before the period was known.
    #[must_use]
    pub fn of(&self, period: Duration) -> ModeConfig {
        let mut mode = ModeConfig::new(period);
        self.apply(&mut mode);
        let two = period.times(2);
        let needed = period.times(u64::from(mode.good_cycles));
        if self.arming_timeout.is_none() && mode.arming_timeout <= needed {
            mode.arming_timeout = (needed + needed.percent(10)).min(Duration::from_secs(60));
        }
        if self.evidence_age.is_none() {
            mode.evidence_age = mode.evidence_age.max(mode.state_timeout);
        } else if self.state_timeout.is_none() {
            mode.state_timeout = mode.state_timeout.min(mode.evidence_age);
        }
        mode.evidence_age = mode.evidence_age.max(two);
        mode.state_timeout = mode.state_timeout.max(two);
        mode.program_timeout = mode.program_timeout.max(two);
        let least = if self.state_timeout.is_none() { mode.state_timeout } else { two };
        mode.offline_after = mode.offline_after.max(least);
        mode
    }
}

impl ModeConfig {
    /// Checks every field of the mode machine's thresholds.
    ///
    /// # Errors
    /// The first field outside its range, or too short for another.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_streamed()?;
        self.delegated.check(self.cycle)
    }

    /// Checks every field of the mode machine's thresholds except `delegated`, which only a controller that executes
    /// moves needs: its engine checks that field by itself.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    #[inline(never)]
    pub(crate) fn check_streamed(&self) -> Result<(), BadValue> {
        let cycle = self.cycle;
        BadValue::unless(cycle > Duration::ZERO && cycle <= Duration::from_secs(1), "cycle", "above 0, at most 1 s")?;
        self.check_ranges()?;
        let two = cycle.times(2);
        let needed = cycle.times(u64::from(self.good_cycles));
        BadValue::unless(
            self.arming_timeout > needed,
            "arming_timeout",
            "longer than good_cycles take at the longest period",
        )?;
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
        BadValue::unless(self.program_timeout >= two, "program_timeout", "at least two cycles")
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
    fn what_one_threshold_bounds_follows_it_at_every_period() {
        let none = ModeTuning::default();
        let seconds = |seconds: f64| Some(crate::robot::time(seconds));
        let late = |late_patience| FollowingTuning { late_patience: Some(late_patience), ..FollowingTuning::default() };
        let patient = |patience| FollowingTuning { patience: Some(patience), ..FollowingTuning::default() };
        for millis in [1, 2, 8, 100] {
            let period = Duration::from_millis(millis);
            for given in [0.002, 0.05, 0.5, 2.0] {
                for tuning in [
                    ModeTuning { evidence_age: seconds(given), ..none },
                    ModeTuning { state_timeout: seconds(given), ..none },
                    ModeTuning { program_timeout: seconds(given), ..none },
                    ModeTuning { offline_after: seconds(given), ..none },
                    ModeTuning { good_cycles: Some((given * 250.0) as u32 + 1), ..none },
                ] {
                    assert_eq!(tuning.of(period).check_streamed(), Ok(()), "{millis} ms, {tuning:?}");
                }
            }
            for cycles in [1, 30, 1_000] {
                assert_eq!(late(cycles).of(period).check(), Ok(()), "{millis} ms, late {cycles}");
                assert_eq!(patient(cycles).of(period).check(), Ok(()), "{millis} ms, {cycles}");
            }
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
            assert_eq!(config.check().map_err(|e| e.field), Err(crate::robot::wording(field)));
        }
    }
}
