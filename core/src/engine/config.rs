//! The thresholds of an engine that are the same for every controller, with their defaults.

use outrigger_urscript::Decimal;

use super::cycle::CycleConfig;
use crate::command::{Limits, LimitsError, MAX_SOURCES, SourceConfig, Sources, SourcesError};
use crate::link::LinkTuning;
use crate::mode::{ModeTuning, OperatorConfig, StandstillConfig};
use crate::robot::{BadValue, Wording, wording};
use outrigger_wire::time::Duration;

/// The configuration of an engine. The defaults of some thresholds depend on the controller's period, which is known
/// only once it is connected: [`LinkTuning`] and [`ModeTuning`] contain only the values that replace defaults.
///
/// `P` is the configuration of this kind of controller: a [`UrConfig`](super::ur::UrConfig) or a
/// [`KrcConfig`](super::krc::KrcConfig).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Config<const N: usize, P> {
    /// The settings that only this kind of controller has, such as its ports and the timeouts of its connections.
    pub peer: P,
    /// The thresholds that replace the defaults of the [link monitor](crate::link::LinkMonitor), which grades the
    /// stream of states.
    pub link: LinkTuning,
    /// The thresholds that replace the defaults of the [mode machine](crate::mode::ModeMachine), which decides when the
    /// arm may be commanded.
    pub mode: ModeTuning,
    /// The thresholds that decide whether the arm is at standstill.
    pub standstill: StandstillConfig,
    /// The limits of the arm's motion that every command has to respect.
    pub limits: Limits<N>,
    /// The expectations on each configured sensor; `None` in places without a sensor.
    pub sources: [Option<SourceConfig>; MAX_SOURCES],
    /// The operator's channels in addition to messages: digital inputs of the robot (truth values of a KRL program, bit
    /// 0 `BOOL[1]`), pins, and an automatic request at the start.
    pub operator: OperatorConfig,
}

/// The bound on the type of the settings that only one kind of controller has, such as
/// [`UrOptions`](super::ur::UrOptions).
pub trait Options: Data {
    /// The letter that identifies recordings and settings of this kind of controller.
    const KIND: u8;
}

/// The bound on types whose values can be stored in recordings and settings.
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

/// The bound on types whose values can be stored in settings; this build records nothing.
#[cfg(not(feature = "record"))]
pub trait Data: Copy + Send + 'static + core::fmt::Debug + PartialEq {}
#[cfg(not(feature = "record"))]
impl<T: Copy + Send + 'static + core::fmt::Debug + PartialEq> Data for T {}

impl<const N: usize, P> Config<N, P> {
    /// Creates the monitors that check the readings of the configured sensors.
    pub(super) fn monitors(&self) -> Result<Sources, ConfigError> {
        let mut configs: heapless::Vec<SourceConfig, MAX_SOURCES> = heapless::Vec::new();
        for source in self.sources.iter().flatten() {
            configs.push(*source).map_err(|_| ConfigError::Sources(SourcesError::TooMany))?;
        }
        Sources::new(&configs).map_err(ConfigError::Sources)
    }

    /// Checks the configured thresholds of the link monitor and of the mode machine, before the controller's period is
    /// known; `shortest` is the shortest period that this kind of controller can have.
    pub(super) fn check_given(&self, shortest: Duration) -> Result<(), ConfigError> {
        self.link.check(shortest).map_err(ConfigError::of("link"))?;
        self.mode.check(shortest).map_err(ConfigError::of("mode"))
    }

    /// Checks every field of the engine's configuration that all kinds of controllers share, for a controller with the
    /// thresholds `cycle` of the control cycle.
    #[inline(never)]
    pub(super) fn check_common(&self, cycle: &CycleConfig) -> Result<(), ConfigError> {
        let value = ConfigError::of;
        let CycleConfig { link, mode, following, scaling, pendant, .. } = cycle;
        link.check().map_err(value("link"))?;
        // The thresholds of moves are not part of a configuration: a controller that executes moves checks its own.
        mode.check_streamed().map_err(value("mode"))?;
        following.check().map_err(value("mode"))?;
        scaling.check().map_err(value("mode"))?;
        pendant.check_ranges().map_err(value("mode"))?;
        self.standstill.check_ranges().map_err(value("mode"))?;
        self.limits.check().map_err(ConfigError::Limits)?;
        self.operator.check().map_err(value("operator"))?;
        self.monitors().map(|_| ())
    }

    /// Returns the longest age at which a sensor's reading still moves the arm, including the cycles for which an old
    /// reading is bridged.
    pub(super) fn oldest_reading(&self, period: Duration) -> Duration {
        let ages = self.sources.iter().flatten().map(|source| {
            // A bridged reading still moves the arm.
            source.max_age + period.times(u64::from(source.bridge_cycles))
        });
        ages.fold(Duration::ZERO, Duration::max)
    }
}

/// An error: a configured limit of the arm's motion that is higher than another setting permits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Conflict {
    /// The name in configurations of the limit that is too high.
    pub key: Wording,
    /// The joint that the limit applies to, counted from 0.
    pub joint: u8,
    /// The configured value of the limit that is too high, in `unit`.
    pub found: f32,
    /// The highest value of the limit that the other setting permits, in `unit`.
    pub most: f32,
    /// The unit of the configured limit `found` and of the highest permitted limit `most`.
    pub unit: Wording,
    /// The name in configurations of the other setting, which bounds the limit.
    pub other: Wording,
    /// The reason why the other setting bounds the limit, as a clause.
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

/// The reason for which a configuration of an engine cannot be used.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConfigError {
    /// A value of the configuration is outside its range.
    Value {
        /// The section of the configuration that contains the value.
        section: Wording,
        /// The configuration field with the invalid value, and its accepted values.
        error: BadValue,
    },
    /// Limits of the arm that contradict each other or are out of range.
    Limits(LimitsError),
    /// A configured limit of the arm's motion that is higher than another setting permits.
    Conflict(Conflict),
    /// A list of sensors that cannot be monitored.
    Sources(SourcesError),
    /// A memory that was passed in when the engine was made is too small.
    Memory {
        /// The name of the field that contains the memory that is too small.
        field: &'static str,
        /// The size of the memory that was passed in \[B\].
        found: usize,
        /// The size of the memory that the engine needs \[B\].
        expected: usize,
    },
}

impl ConfigError {
    /// Returns a function that turns a [`BadValue`] in this section of the configuration into an error.
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
