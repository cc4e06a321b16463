//! Chooses the link limits, check bounds and pace of time for the demo, according to the pauses measured on this
//! machine.

use std::time::Duration as StdDuration;

use outrigger_core::command::SourceConfig;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::link::{GradeLimitsTuning, GradeTuning, LinkConfig, Share};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The software version of the demo's simulated controller. It determines the period of states, and the link limits are
/// multiples of that period.
pub(super) const SOFTWARE: SoftwareVersion = SoftwareVersion::new(5, 15);
/// The number of the demo's distance sensor in the engine.
pub(super) const SENSOR: SourceId = SourceId(0);

/// The longest measured pause of this machine with which the demo uses the default link limits (limits on late and
/// missing robot states), because they allow several such pauses in a row.
const QUIET: Duration = Duration::from_millis(6);
/// The part of the longest measured pause of this machine that the demo's link limits must cover \[%\]: more than all
/// of it, because the minute after the measurement may have longer pauses than its two seconds.
const RESERVE: u64 = 250;
/// The age limit of robot states that the demo uses on a machine with pauses. Self-checks with a wider limit would
/// prove little, so that longer pauses are compensated by slower time.
const WIDEST: Duration = Duration::from_millis(100);
/// The largest factor by which time is slowed; the demo then takes minutes.
const SLOWEST: u32 = 8;
/// The least factor by which time is slowed if the machine was measured as quiet, so that the default limits are used,
/// but pauses the demo for too long.
const BECAME_BUSY: u32 = 4;
/// The age limit of robot states that the demo uses if this machine's pauses are too long for [`WIDEST`] even at the
/// slowest time.
const HOPELESS: Duration = Duration::from_millis(150);
/// The highest speed of the simulated workpiece \[mm/s\], from its heave with an amplitude of 8 mm and a period of 9 s.
const FASTEST: f64 = 5.6;
/// The largest error of the distance from tool to workpiece once the arm has settled, on a quiet machine \[mm\].
const ERROR: f64 = 1.0;

/// The limits on late and missing robot states (link limits), the bounds of the self-checks, and the pace of time that
/// the demo uses on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// The longest pause of this machine that was measured, by the system's clock.
    worst: Duration,
    /// The age from which on a robot state is stale, by the session's clock; the default if the limits are not widened.
    stale_after: Duration,
    /// The factor by which the session's time passes slower than the system's.
    slowed: u32,
}

impl Allowance {
    /// Chooses the demo's link limits and pace of time for a machine that was measured to pause programs for up to
    /// `worst`.
    pub(super) fn for_pauses(worst: StdDuration) -> Self {
        let worst = Duration::from_micros(u64::try_from(worst.as_micros()).unwrap_or(u64::MAX));
        if worst <= QUIET {
            return Self { worst, stale_after: default_link().stale_after, slowed: 1 };
        }
        let needed = worst.percent(RESERVE);
        let stale_after = if needed > WIDEST.times(SLOWEST.into()) { HOPELESS } else { WIDEST };
        Self { worst, stale_after, slowed: times(needed, stale_after) }
    }

    /// Returns this allowance with the demo's time slowed further, because the machine halted a program for `length`,
    /// measured in the demo's slowed time. Returns `None` if time is at its slowest.
    pub(super) fn after(&self, length: Duration) -> Option<Self> {
        let real = length.times(self.slowed.into());
        // The usual limits also cover jitter of a millisecond, and a machine that has become busy needs more margin
        // for that.
        let least = if self.extra() == Duration::ZERO { BECAME_BUSY } else { 1 };
        let slowed = times(real.times(2), self.stale_after).max(self.slowed + 1).max(least).min(SLOWEST);
        (slowed > self.slowed).then_some(Self { worst: self.worst.max(real), slowed, ..*self })
    }

    /// Returns the factor by which the session's time passes slower than the system's.
    pub(super) const fn slowed(&self) -> u32 {
        self.slowed
    }

    /// Returns the age of the robot's newest state at which commanding ends.
    pub(super) const fn stale_after(&self) -> Duration {
        self.stale_after
    }

    /// Returns the time by which the limits for the age of robot states and readings exceed their defaults; zero on a
    /// quiet machine.
    pub(super) fn extra(&self) -> Duration {
        self.stale_after - default_link().stale_after
    }

    /// Returns the age up to which a reading of the distance sensor is used.
    pub(super) fn source_age(&self) -> Duration {
        Duration::from_millis(100) + self.extra()
    }

    /// Returns the length of the link stall to inject: clearly longer than the time after which commanding ends.
    pub(super) fn stall(&self) -> Duration {
        Duration::from_millis(300) + self.extra().times(4)
    }

    /// Returns the largest accepted error of the distance from tool to workpiece once the arm has settled \[mm\]: that
    /// of a quiet machine, plus twice the distance that the workpiece moves within the time by which the limits are
    /// widened.
    pub(super) fn error(&self) -> f64 {
        ERROR + 2.0 * FASTEST * self.extra().as_secs_f64()
    }

    /// Describes the measured pauses of this machine, and the limits and pace of time that follow from them.
    pub(super) fn text(&self) -> String {
        let measured = format!("this machine pauses programs for up to {:.0} ms", self.worst.as_micros() as f64 / 1e3);
        let widened = if self.extra() > Duration::ZERO { "wider link limits" } else { "default link limits" };
        let slowed = match self.slowed {
            1 => String::new(),
            times => format!("; time passes {times} times slower"),
        };
        format!("{measured}; {widened}{slowed}")
    }

    /// Returns the engine's configuration for the demo with these limits.
    pub(super) fn config(&self) -> UrConfig {
        let mut config = UrConfig::default();
        let [first, ..] = &mut config.sources;
        *first = Some(self.source());
        if self.extra() == Duration::ZERO {
            return config;
        }
        let (stale, cycles) = (self.stale_after, whole(self.stale_after, period()));
        let grade = GradeLimitsTuning {
            received: Some(Share(500)),
            delay: Some(stale),
            jitter: Some(stale),
            misses: Some(cycles),
        };
        config.link.stale_after = Some(stale);
        config.link.stall = Some(stale);
        config.link.max_misses = Some(cycles);
        config.link.margin = Some(stale.percent(50));
        config.link.limits = GradeTuning { perfect: grade, ok: grade, bad: grade };
        config.mode.state_timeout = Some(stale);
        config.mode.good_cycles = Some(25);
        config.mode.evidence_age = Some(Duration::from_millis(500) + stale);
        config.mode.remote_evidence_age = Some(Duration::from_millis(500) + stale);
        config.mode.program_timeout = Some(Duration::from_millis(500) + stale);
        // A command is confirmed late if either side was paused.
        let patience = u16::try_from(cycles.saturating_mul(2)).unwrap_or(u16::MAX);
        config.mode.following.delay = Some(31);
        config.mode.following.patience = Some(patience);
        config.mode.following.late_patience = Some(patience.max(100));
        // The text outlasts a pause that is not a fault, and its program is seen to run once the pause is over.
        config.peer.text.hold = stale + Duration::from_millis(20);
        config
    }

    /// Returns a configuration of the engine under which the link stall that the demo injects does not end commanding.
    pub(super) fn without_fallback() -> UrConfig {
        let stale_after = Duration::from_millis(900);
        Self { worst: Duration::ZERO, stale_after, slowed: 1 }.config()
    }

    /// Returns the checks of the distance sensor's readings: their range and their largest age.
    pub(super) fn source(&self) -> SourceConfig {
        SourceConfig { max_age: self.source_age(), ..SourceConfig::new(SENSOR, 1, 0.0, 0.5) }
    }
}

/// Returns the period in which the simulated controller sends its states.
pub(super) fn period() -> Duration {
    Duration::from_micros(SOFTWARE.generation().period_micros())
}

fn default_link() -> LinkConfig {
    LinkConfig::stream(period())
}

fn whole(span: Duration, of: Duration) -> u32 {
    span.whole(of).and_then(|count| u32::try_from(count).ok()).unwrap_or(u32::MAX)
}

/// Returns the factor by which time must be slowed so that a pause of `span` is within `limit`, from 1 to [`SLOWEST`].
fn times(span: Duration, limit: Duration) -> u32 {
    let count = span.as_micros().div_ceil(limit.as_micros().max(1));
    u32::try_from(count).unwrap_or(SLOWEST).clamp(1, SLOWEST)
}

#[cfg(test)]
mod tests {
    use outrigger_core::engine::ur::UrEngine;

    use super::*;
    use outrigger::boxed_law::BoxedLaw;
    use outrigger::vendor::ur::Windows;

    fn of(millis: u64) -> Allowance {
        Allowance::for_pauses(StdDuration::from_millis(millis))
    }

    #[test]
    fn a_quiet_machine_keeps_the_defaults_and_a_busy_one_is_told_by_how_much_they_are_widened() {
        let quiet = of(4);
        let mut config = UrConfig::default();
        config.sources[0] = Some(SourceConfig::new(SENSOR, 1, 0.0, 0.5));
        assert_eq!((quiet.config(), quiet.stall(), quiet.slowed()), (config, Duration::from_millis(300), 1));
        assert_eq!(quiet.error().to_string(), "1");
        assert_eq!(quiet.text(), "this machine pauses programs for up to 4 ms; default link limits");
        assert_eq!(of(30).text(), "this machine pauses programs for up to 30 ms; wider link limits");
        let slowed = "this machine pauses programs for up to 46 ms; wider link limits; time passes 2 times slower";
        assert_eq!(of(46).text(), slowed);
    }

    #[test]
    fn whatever_was_measured_gives_a_configuration_that_the_core_accepts() {
        for millis in [0, 6, 7, 20, 46, 100, 300, 1_000, 100_000] {
            let mut windows = Windows::new();
            let engine = UrEngine::new(of(millis).config(), BoxedLaw::idle(), windows.lend());
            assert!(engine.is_ok(), "{millis} ms: {:?}", engine.err());
        }
    }

    #[test]
    fn a_pause_that_was_too_long_slows_time_until_it_cannot_be_slowed_further() {
        let mut allowance = of(30);
        let mut paces = vec![];
        while let Some(slower) = allowance.after(Duration::from_millis(120)) {
            paces.push(slower.slowed());
            allowance = slower;
        }
        assert_eq!(paces, [3, 8]);
        let became_busy = of(4).after(Duration::from_millis(50));
        assert_eq!(became_busy.map(|slower| slower.slowed()), Some(4));
        assert_eq!(of(100_000).slowed(), SLOWEST);
    }

    #[test]
    fn no_bound_reaches_what_a_fault_does() {
        let widest = of(100_000);
        // A tool that does not follow has an error of the whole heave of 8 mm; one at a wrong distance has 5 mm.
        assert!(widest.error() < 2.5, "{}", widest.error());
        assert!(widest.stall() > (widest.stale_after() + Duration::from_millis(20)).times(4));
    }
}
