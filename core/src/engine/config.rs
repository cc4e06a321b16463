//! Every threshold of an engine that is the same beside every controller, with its default.

use outrigger_urscript::Decimal;

use super::cycle::CycleConfig;
use crate::command::{Limits, LimitsError, MAX_SOURCES, SourceConfig, Sources, SourcesError};
use crate::link::{Grade, GradeLimits, GradeTable, LinkConfig};
use crate::mode::{FollowingConfig, ModeConfig, OperatorConfig, PendantConfig, ScalingConfig, StandstillConfig};
use crate::robot::BadValue;
use crate::time::Duration;

/// Everything an engine can be told. Thresholds that depend on the controller's period, which is only known once it is
/// there, are given as [tuning](LinkTuning) of their defaults.
///
/// `P` is what only this kind of controller needs: a [`UrConfig`](super::ur::UrConfig) or a
/// [`KrcConfig`](super::krc::KrcConfig).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Config<const N: usize, P> {
    /// What only this kind of controller needs.
    pub peer: P,
    /// Link monitor.
    pub link: LinkTuning,
    /// Mode machine.
    pub mode: ModeTuning,
    /// What counts as rest.
    pub standstill: StandstillConfig,
    /// What the arm may do.
    pub limits: Limits<N>,
    /// Sensors.
    pub sources: [Option<SourceConfig>; MAX_SOURCES],
    /// Where an operator speaks beside messages: digital inputs of the robot (truth values of a KRL program, bit 0
    /// `BOOL[1]`), pins, and a request at the start.
    pub operator: OperatorConfig,
}

/// What only one kind of controller needs to be told.
pub trait Options: Data {
    /// The letter that tells recordings and settings of this kind apart.
    const KIND: u8;
}

/// A value that can be recorded.
#[cfg(feature = "postcard")]
pub trait Data: Copy + core::fmt::Debug + PartialEq + serde::Serialize + serde::de::DeserializeOwned {}
#[cfg(feature = "postcard")]
impl<T: Copy + core::fmt::Debug + PartialEq + serde::Serialize + serde::de::DeserializeOwned> Data for T {}

/// A value.
#[cfg(not(feature = "postcard"))]
pub trait Data: Copy + core::fmt::Debug + PartialEq {}
#[cfg(not(feature = "postcard"))]
impl<T: Copy + core::fmt::Debug + PartialEq> Data for T {}

impl<const N: usize, P> Config<N, P> {
    /// Monitors for the configured sensors.
    pub(super) fn monitors(&self) -> Result<Sources, ConfigError> {
        let mut configs: heapless::Vec<SourceConfig, MAX_SOURCES> = heapless::Vec::new();
        for source in self.sources.iter().flatten() {
            configs.push(*source).map_err(|_| ConfigError::Sources(SourcesError::TooMany))?;
        }
        Sources::new(&configs).map_err(ConfigError::Sources)
    }

    /// Whether every common field is in its range, for a controller whose thresholds are `cycle`.
    pub(super) fn check_common(&self, cycle: &CycleConfig) -> Result<(), ConfigError> {
        let value = |section| move |error| ConfigError::Value { section, error };
        let CycleConfig { link, mode, following, scaling, pendant, .. } = cycle;
        link.check().map_err(value("link"))?;
        mode.check().map_err(value("mode"))?;
        following.check().map_err(value("mode"))?;
        scaling.check().map_err(value("mode"))?;
        pendant.check().map_err(value("mode"))?;
        self.standstill.check().map_err(value("mode"))?;
        self.limits.check().map_err(ConfigError::Limits)?;
        self.operator.check().map_err(value("operator"))?;
        self.monitors().map(|_| ())
    }

    /// The longest age at which a reading still moves the arm.
    pub(super) fn oldest_reading(&self, period: Duration) -> Duration {
        let ages = self.sources.iter().flatten().map(|source| {
            // What is bridged still moves the arm.
            source.max_age + period.times(u64::from(source.bridge_cycles))
        });
        ages.fold(Duration::ZERO, Duration::max)
    }
}

/// A limit that something else in the configuration would break.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Conflict {
    /// The limit's name in configurations.
    pub key: &'static str,
    /// The joint, from 0.
    pub joint: u8,
    /// Its value.
    pub found: f32,
    /// The most that would be kept.
    pub most: f32,
    /// The unit of both.
    pub unit: &'static str,
    /// Name of the other setting.
    pub other: &'static str,
    /// What the other setting is, as a clause.
    pub why: &'static str,
}

impl core::fmt::Display for Conflict {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { key, joint, found, most, unit, other, why } = self;
        let joint = joint.saturating_add(1);
        let (found, most) = (Decimal(*found), Decimal(*most));
        write!(f, "{key} of joint {joint}: found {found} {unit}, expected at most {most}, {other}: {why}")
    }
}

/// A configuration that cannot be run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConfigError {
    /// A value outside its range.
    Value {
        /// Part of the configuration.
        section: &'static str,
        /// The field and what it must be.
        error: BadValue,
    },
    /// Limits that cannot be held.
    Limits(LimitsError),
    /// A limit that would not be kept.
    Conflict(Conflict),
    /// Sensors that cannot be watched.
    Sources(SourcesError),
    /// A memory handed in is too small.
    Memory {
        /// Its field.
        field: &'static str,
        /// Bytes it has.
        found: usize,
        /// Bytes it needs.
        expected: usize,
    },
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Value { section, error } => write!(f, "{section}.{error}"),
            Self::Limits(error) => write!(f, "limits.{error}"),
            Self::Conflict(conflict) => write!(f, "{conflict}"),
            Self::Sources(error) => write!(f, "sources: {error}"),
            Self::Memory { field, found, expected } => {
                write!(f, "memory.{field}: {found} bytes, expected at least {expected}")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

/// Thresholds of the link monitor that differ from its defaults, which depend on the controller's period
/// ([`LinkConfig::stream`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkTuning {
    /// Grade needed to begin commanding.
    pub entry: Option<Grade>,
    /// The newest state is stale when older than this.
    pub stale_after: Option<Duration>,
    /// Consecutive misses that end commanding when exceeded.
    pub max_misses: Option<u32>,
    /// A moving command answers only a state younger than one period and this.
    pub margin: Option<Duration>,
    /// Woken this much later than was asked for, this device itself has stalled.
    pub stall: Option<Duration>,
    /// A controller clock that jumps ahead by more than this has started a new epoch.
    pub clock_jump: Option<Duration>,
    /// Limits of the grades.
    pub limits: GradeTuning,
    /// A grade rises at most once in this time.
    pub rise_time: Option<Duration>,
    /// How fast the mapped clock forgets a fast packet \[ppm\].
    pub leak_ppm: Option<u32>,
    /// States late by an equal amount for this long mean that the controller's clock stood still.
    pub shift_hold: Option<Duration>,
    /// Arrivals closer together are one burst.
    pub burst: Option<Duration>,
}

impl LinkTuning {
    /// The thresholds for a controller of this period, over a byte stream.
    #[must_use]
    pub fn of(&self, period: Duration) -> LinkConfig {
        self.over(LinkConfig::stream(period))
    }

    /// The thresholds where these are the defaults.
    #[must_use]
    pub fn over(&self, base: LinkConfig) -> LinkConfig {
        let stale_after = self.stale_after.unwrap_or(base.stale_after);
        LinkConfig {
            entry: self.entry.unwrap_or(base.entry),
            stale_after,
            max_misses: self.max_misses.unwrap_or(base.max_misses),
            margin: self.margin.unwrap_or(base.margin),
            stall: self.stall.unwrap_or(stale_after),
            clock_jump: self.clock_jump.unwrap_or(base.clock_jump),
            limits: self.limits.of(base.limits),
            rise_time: self.rise_time.unwrap_or(base.rise_time),
            leak_ppm: self.leak_ppm.unwrap_or(base.leak_ppm),
            shift_hold: self.shift_hold.unwrap_or(base.shift_hold),
            burst: self.burst.unwrap_or(base.burst),
            kind: base.kind,
            period: base.period,
        }
    }
}

/// Limits of the three grades above `Unacceptable` that differ from their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeTuning {
    /// For [`Grade::Perfect`].
    pub perfect: GradeLimitsTuning,
    /// For [`Grade::Ok`].
    pub ok: GradeLimitsTuning,
    /// For [`Grade::Bad`].
    pub bad: GradeLimitsTuning,
}

impl GradeTuning {
    fn of(&self, base: GradeTable) -> GradeTable {
        let Self { perfect, ok, bad } = self;
        GradeTable { perfect: perfect.of(base.perfect), ok: ok.of(base.ok), bad: bad.of(base.bad) }
    }
}

/// What one grade asks for where it differs from its default ([`GradeLimits`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeLimitsTuning {
    /// At least this many cycles in 10 000, over 100.
    pub received: Option<u16>,
    /// Mean delay at most this.
    pub delay: Option<Duration>,
    /// Jitter at most this.
    pub jitter: Option<Duration>,
    /// Consecutive misses at most this.
    pub misses: Option<u32>,
}

impl GradeLimitsTuning {
    fn of(&self, base: GradeLimits) -> GradeLimits {
        GradeLimits {
            received: self.received.unwrap_or(base.received),
            delay: self.delay.unwrap_or(base.delay),
            jitter: self.jitter.unwrap_or(base.jitter),
            misses: self.misses.unwrap_or(base.misses),
        }
    }
}

/// Thresholds of the mode machine that differ from its defaults, which depend on the controller's period
/// ([`ModeConfig::new`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct ModeTuning {
    /// Good cycles in a row before `Command`.
    pub good_cycles: Option<u32>,
    /// Longest time in `Arming`.
    pub arming_timeout: Option<Duration>,
    /// A fact older than this is not held.
    pub evidence_age: Option<Duration>,
    /// Longest time without a timely state in `Arming` and `Command`.
    pub state_timeout: Option<Duration>,
    /// Zero velocities before the `stopj`.
    pub stop_cycles: Option<u8>,
    /// Longest wait for standstill in `Stopping`.
    pub stop_timeout: Option<Duration>,
    /// How long the accepting program may be invisible in `Command`.
    pub program_timeout: Option<Duration>,
    /// Longest time in `Monitor` without any state.
    pub offline_after: Option<Duration>,
    /// Evidence of remote control older than this is not held.
    pub remote_evidence_age: Option<Duration>,
    /// Arm although another program runs; it is ended first.
    pub take_over: bool,
    /// Arm although nothing shows that commands are accepted.
    pub acceptance_unknown: bool,
    /// Arm only with evidence of remote control.
    pub require_remote: bool,
    /// Comparison of the controller's target with what was sent.
    pub following: FollowingTuning,
    /// What the robot's speed scaling lets go out; the same for every period.
    pub scaling: ScalingConfig,
    /// Stop and pause at the pendant.
    pub pendant: PendantConfig,
}

impl ModeTuning {
    /// The thresholds for a controller of this period.
    #[must_use]
    pub fn of(&self, period: Duration) -> ModeConfig {
        let base = ModeConfig::new(period);
        ModeConfig {
            good_cycles: self.good_cycles.unwrap_or(base.good_cycles),
            arming_timeout: self.arming_timeout.unwrap_or(base.arming_timeout),
            evidence_age: self.evidence_age.unwrap_or(base.evidence_age),
            state_timeout: self.state_timeout.unwrap_or(base.state_timeout),
            stop_cycles: self.stop_cycles.unwrap_or(base.stop_cycles),
            stop_timeout: self.stop_timeout.unwrap_or(base.stop_timeout),
            program_timeout: self.program_timeout.unwrap_or(base.program_timeout),
            offline_after: self.offline_after.unwrap_or(base.offline_after),
            remote_evidence_age: self.remote_evidence_age.unwrap_or(base.remote_evidence_age),
            take_over: self.take_over,
            acceptance_unknown: self.acceptance_unknown,
            require_remote: self.require_remote,
            ..base
        }
    }
}

/// Tolerances of the comparison that differ from its defaults ([`FollowingConfig::new`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct FollowingTuning {
    /// A command shows in the target after 0 … this many cycles.
    pub delay: Option<u8>,
    /// Consecutive cycles outside before it is lost.
    pub patience: Option<u16>,
    /// The same while the scaling is only reported now and then; see [`FollowingConfig::late_patience`].
    pub late_patience: Option<u16>,
    /// Absolute tolerance \[rad/s\].
    pub tolerance: Option<f32>,
    /// Tolerance relative to the command.
    pub relative: Option<f32>,
    /// A target that comes closer at least this fast is on its ramp, not lost \[rad/s²\].
    pub ramp: Option<f32>,
    /// How fast the controller's speed scaling may rise \[1/s\].
    pub scaling_rate: Option<f32>,
}

impl FollowingTuning {
    /// The tolerances for a controller of this period.
    #[must_use]
    pub fn of(&self, period: Duration) -> FollowingConfig {
        let base = FollowingConfig::new(period);
        FollowingConfig {
            delay: self.delay.unwrap_or(base.delay),
            patience: self.patience.unwrap_or(base.patience),
            tolerance: self.tolerance.unwrap_or(base.tolerance),
            relative: self.relative.unwrap_or(base.relative),
            ramp: self.ramp.unwrap_or(base.ramp),
            scaling_rate: self.scaling_rate.unwrap_or(base.scaling_rate),
            late_patience: self.late_patience.unwrap_or(base.late_patience),
        }
    }
}
