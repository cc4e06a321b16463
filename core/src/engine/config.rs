//! Every threshold of an engine that is the same beside every controller, with its default.

use outrigger_urscript::Decimal;

use super::cycle::CycleConfig;
use crate::command::{Limits, LimitsError, MAX_SOURCES, SourceConfig, Sources, SourcesError};
use crate::link::LinkTuning;
use crate::mode::{ModeTuning, OperatorConfig, StandstillConfig};
use crate::robot::{BadValue, Wording, wording};
use outrigger_wire::time::Duration;

/// Everything an engine can be told. Thresholds that depend on the controller's period, which is only known once it is
/// there, are given as [tuning](LinkTuning) of their defaults.
///
/// `P` is what only this kind of controller needs: a [`UrConfig`](super::ur::UrConfig) or a
/// [`KrcConfig`](super::krc::KrcConfig).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg(feature = "record")]
pub trait Data:
    Copy + Send + 'static + core::fmt::Debug + PartialEq + serde::Serialize + serde::de::DeserializeOwned
{
}
#[cfg(feature = "record")]
impl<T: Copy + Send + 'static + core::fmt::Debug + PartialEq + serde::Serialize + serde::de::DeserializeOwned> Data
    for T
{
}

/// A value.
#[cfg(not(feature = "record"))]
pub trait Data: Copy + Send + 'static + core::fmt::Debug + PartialEq {}
#[cfg(not(feature = "record"))]
impl<T: Copy + Send + 'static + core::fmt::Debug + PartialEq> Data for T {}

impl<const N: usize, P> Config<N, P> {
    /// Monitors for the configured sensors.
    pub(super) fn monitors(&self) -> Result<Sources, ConfigError> {
        let mut configs: heapless::Vec<SourceConfig, MAX_SOURCES> = heapless::Vec::new();
        for source in self.sources.iter().flatten() {
            configs.push(*source).map_err(|_| ConfigError::Sources(SourcesError::TooMany))?;
        }
        Sources::new(&configs).map_err(ConfigError::Sources)
    }

    /// Checks the thresholds that are given, before it is known which period the controller has.
    pub(super) fn check_given(&self, shortest: Duration) -> Result<(), ConfigError> {
        self.link.check(shortest).map_err(ConfigError::of("link"))?;
        self.mode.check(shortest).map_err(ConfigError::of("mode"))
    }

    /// Whether every common field is in its range, for a controller whose thresholds are `cycle`.
    #[inline(never)]
    pub(super) fn check_common(&self, cycle: &CycleConfig) -> Result<(), ConfigError> {
        let value = ConfigError::of;
        let CycleConfig { link, mode, following, scaling, pendant, .. } = cycle;
        link.check().map_err(value("link"))?;
        // Thresholds of moves are no part of a configuration: a peer that is given moves checks its own.
        mode.check_streamed().map_err(value("mode"))?;
        following.check().map_err(value("mode"))?;
        scaling.check().map_err(value("mode"))?;
        pendant.check_ranges().map_err(value("mode"))?;
        self.standstill.check_ranges().map_err(value("mode"))?;
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
    pub key: Wording,
    /// The joint, from 0.
    pub joint: u8,
    /// Its value.
    pub found: f32,
    /// The most that would be kept.
    pub most: f32,
    /// The unit of both.
    pub unit: Wording,
    /// Name of the other setting.
    pub other: Wording,
    /// What the other setting is, as a clause.
    pub why: Wording,
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
        section: Wording,
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

impl ConfigError {
    /// What is wrong in this part of the configuration.
    pub(super) fn of(section: &'static str) -> impl Fn(BadValue) -> Self {
        let section = wording(section);
        move |error| Self::Value { section, error }
    }
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
