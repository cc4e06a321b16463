//! The sensors of one robot, and the readings that a control law may use in a cycle.

use heapless::Vec;

use super::{Reading, Samples, SourceConfig, SourceMonitor};
use crate::robot::{BadValue, Reason};
use outrigger_wire::sensor::{Sample, SourceId};
use outrigger_wire::time::{Duration, Instant};

/// The largest number of sensors of one robot.
pub const MAX_SOURCES: usize = 4;

/// The error for an invalid list of the sensors that a robot's control law uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SourcesError {
    /// More than [`MAX_SOURCES`] sensors were given for one robot.
    TooMany,
    /// Two sensors of the list have the same number.
    Duplicate(SourceId),
    /// `min` or `max` of this sensor is not finite, or `min` is not below `max`.
    Range(SourceId),
    /// A setting of this sensor is outside its range.
    Value(SourceId, BadValue),
}

impl core::fmt::Display for SourcesError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooMany => write!(f, "more than {MAX_SOURCES} sources"),
            Self::Duplicate(id) => write!(f, "two sources have the number {}", id.0),
            Self::Range(id) => write!(f, "source {}: expected finite min below max", id.0),
            Self::Value(id, error) => write!(f, "source {}: {error}", id.0),
        }
    }
}

impl core::error::Error for SourcesError {}

/// A sensor whose too old reading was still used (bridged) in this cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Bridged {
    /// The sensor whose reading was too old and still used (bridged).
    pub source: SourceId,
    /// The number of consecutive cycles, counting this one, in which the sensor's reading was too old and still used.
    pub cycle: u8,
}

/// The sensor readings that a law may use in one cycle.
#[derive(Clone, Debug)]
pub struct Gathered {
    samples: Vec<Sample, MAX_SOURCES>,
    /// The factor on the joint speeds or torques that the law requests, 0 … 1: below 1 while a reading that is too old
    /// is still used, so that the motion it causes decays.
    pub scale: f32,
    /// The sensor whose reading has been too old and still used (bridged) for the most cycles; `None` if none is.
    /// Reported as an event in each cycle.
    pub bridged: Option<Bridged>,
}

impl Gathered {
    /// Returns an empty set of sensor readings.
    pub(crate) const fn nothing() -> Self {
        Self { samples: Vec::new(), scale: 1.0, bridged: None }
    }

    /// Returns the gathered sensor readings in the form that a law receives.
    #[must_use]
    pub fn samples(&self) -> Samples<'_> {
        Samples::new(&self.samples)
    }
}

/// The monitors that check the readings of all configured sensors of one robot.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Sources {
    monitors: Vec<SourceMonitor, MAX_SOURCES>,
    unknown: u32,
}

impl Sources {
    /// Creates monitors for the sensors with these settings.
    ///
    /// # Errors
    /// Returns the first invalid sensor, and the reason.
    pub fn new(configs: &[SourceConfig]) -> Result<Self, SourcesError> {
        let mut monitors: Vec<SourceMonitor, MAX_SOURCES> = Vec::new();
        for config in configs {
            if monitors.iter().any(|m| m.config().id == config.id) {
                return Err(SourcesError::Duplicate(config.id));
            }
            if !(config.min.is_finite() && config.max.is_finite() && config.min < config.max) {
                return Err(SourcesError::Range(config.id));
            }
            config.check_ranges().map_err(|error| SourcesError::Value(config.id, error))?;
            monitors.push(SourceMonitor::new(*config)).map_err(|_| SourcesError::TooMany)?;
        }
        Ok(Self { monitors, unknown: 0 })
    }

    /// Returns the monitors of the sensors, in the order of configuration.
    #[must_use]
    pub fn monitors(&self) -> &[SourceMonitor] {
        &self.monitors
    }

    /// Returns the number of readings received from sensors that are not configured.
    #[must_use]
    pub const fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Processes a sensor's reading; one of an unknown sensor is counted and dropped.
    pub fn observe(&mut self, sample: Sample, now: Instant) {
        match self.monitors.iter_mut().find(|m| m.config().id == sample.source) {
            Some(monitor) => monitor.observe(sample, now),
            None => self.unknown = self.unknown.saturating_add(1),
        }
    }

    /// Checks that every needed sensor is good enough to begin commanding the arm: a precondition of arming.
    ///
    /// # Errors
    /// Returns the reason for which the first unsuitable sensor is not good enough; a sensor that is not configured is
    /// always stale.
    pub fn fresh(&self, needed: &[SourceId], now: Instant) -> Result<(), Reason> {
        for id in needed {
            let monitor = self.monitors.iter().find(|m| m.config().id == *id).ok_or(Reason::SourceStale)?;
            monitor.fresh(now)?;
        }
        Ok(())
    }

    /// Returns the sensor readings for the present command, of an arm with this control `cycle`; a reading that is too
    /// old is still used for a few cycles ([bridged](Reading::Bridged)). Must be called once per command.
    ///
    /// # Errors
    /// Returns the reason for which the first needed sensor without a usable reading has none.
    pub fn gather(&mut self, needed: &[SourceId], now: Instant, cycle: Duration) -> Result<Gathered, Reason> {
        let mut gathered = Gathered::nothing();
        self.gather_into(&mut gathered, needed, now, cycle)?;
        Ok(gathered)
    }

    /// Stores in `gathered`, which must be empty, the sensor readings that [`gather`](Self::gather) returns: on a
    /// microcontroller, moving 200 bytes costs more than gathering them.
    pub(crate) fn gather_into(
        &mut self,
        gathered: &mut Gathered,
        needed: &[SourceId],
        now: Instant,
        cycle: Duration,
    ) -> Result<(), Reason> {
        for id in needed {
            let monitor = self.monitors.iter_mut().find(|m| m.config().id == *id).ok_or(Reason::SourceStale)?;
            let sample = match monitor.read(now, cycle)? {
                Reading::Fresh(sample) => sample,
                Reading::Bridged { sample, cycle, scale: factor } => {
                    gathered.scale = gathered.scale.min(factor);
                    if gathered.bridged.is_none_or(|b: Bridged| b.cycle < cycle) {
                        gathered.bridged = Some(Bridged { source: *id, cycle });
                    }
                    sample
                }
            };
            gathered.samples.push(sample).map_err(|_| Reason::Internal)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::sensor::SampleValue;

    fn config(id: u8) -> SourceConfig {
        SourceConfig::new(SourceId(id), 1, 0.0, 1.0)
    }

    fn reading(id: u8, seq: u32, at: u64) -> (Sample, Instant) {
        let taken_at = Instant::ZERO + Duration::from_millis(at);
        (Sample { source: SourceId(id), value: SampleValue::scalar(0.5), seq, taken_at }, taken_at)
    }

    #[cfg(feature = "texts")]
    #[test]
    fn lists_that_cannot_be_watched_are_refused() {
        let error = |configs: &[SourceConfig]| Sources::new(configs).err();
        assert_eq!(error(&[config(1), config(1)]), Some(SourcesError::Duplicate(SourceId(1))));
        assert_eq!(error(&[0, 1, 2, 3, 4].map(config)), Some(SourcesError::TooMany));
        assert_eq!(error(&[SourceConfig { max: f32::NAN, ..config(1) }]), Some(SourcesError::Range(SourceId(1))));
        let told = |config| error(&[config]).map(|error| error.to_string());
        let rate = told(SourceConfig { max_rate: 0.0, ..config(1) });
        assert_eq!(rate, Some("source 1: max_rate: expected 0.000001 to 1000000000.0 SI units/s".into()));
        assert_eq!(told(SourceConfig { channels: 0, ..config(1) }), Some("source 1: channels: expected 1 to 6".into()));
        assert_eq!(error(&[0, 1, 2, 3].map(config)), None);
    }

    #[test]
    fn only_the_needed_sources_count() {
        let mut sources = Sources::new(&[config(1), config(2)]).unwrap();
        let (sample, now) = reading(2, 0, 5);
        sources.observe(sample, now);
        assert_eq!(sources.fresh(&[SourceId(2)], now), Ok(()));
        assert_eq!(sources.fresh(&[SourceId(2), SourceId(1)], now), Err(Reason::SourceStale));
        let gathered = sources.gather(&[SourceId(2)], now, Duration::from_millis(8)).unwrap();
        assert_eq!(gathered.samples().of(SourceId(2)), Some(&sample));
        assert_eq!(gathered.samples().of(SourceId(1)), None);
        assert_eq!((gathered.scale, gathered.bridged), (1.0, None));
    }

    #[test]
    fn a_source_nobody_configured_is_counted_and_never_fresh() {
        let mut sources = Sources::new(&[config(1)]).unwrap();
        let (sample, now) = reading(9, 0, 5);
        sources.observe(sample, now);
        assert_eq!(sources.unknown(), 1);
        assert_eq!(sources.fresh(&[SourceId(9)], now), Err(Reason::SourceStale));
        assert!(sources.gather(&[SourceId(9)], now, Duration::from_millis(8)).is_err());
    }

    #[test]
    fn the_source_bridged_longest_sets_the_scale() {
        let mut sources = Sources::new(&[config(1), config(2)]).unwrap();
        for (id, at) in [(1, 0), (2, 50)] {
            let (sample, now) = reading(id, 0, at);
            sources.observe(sample, now);
        }
        let both = [SourceId(1), SourceId(2)];
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let first = sources.gather(&both, at(101), Duration::from_millis(8)).unwrap();
        assert_eq!((first.scale, first.bridged), (1.0, Some(Bridged { source: SourceId(1), cycle: 1 })));
        let second = sources.gather(&both, at(109), Duration::from_millis(8)).unwrap();
        assert_eq!((second.scale, second.bridged), (0.0, Some(Bridged { source: SourceId(1), cycle: 2 })));
        assert_eq!(sources.gather(&both, at(117), Duration::from_millis(8)).err(), Some(Reason::SourceStale));
    }
}
