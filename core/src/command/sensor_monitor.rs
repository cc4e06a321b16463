//! The monitor of one sensor: age, sequence number, range and rate of change of its readings, and readings that repeat
//! for too long.
//!
//! Age is measured in time, not in packets: a sensor slower than the robot's cycle counts as fresh between its
//! readings. Beyond the permitted age the last reading is *bridged* for a few cycles, each counted and reported.
//! Meanwhile the motion it caused is held and then decays to zero; after that it is a fault. Only a cycle in which a
//! reading is within its age resets the count: readings that are too old on arrival do not.

use crate::robot::{Range, Reason, range_of, settings};
use outrigger_wire::sensor::{Sample, SourceId};
use outrigger_wire::time::{Duration, Instant};

settings! {
    /// The settings of one sensor: the expected range, rate of change and age of its readings.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct SourceConfig in "" by new(id: SourceId, channels: u8, min: f32, max: f32) {
        /// The number by which the sensor is identified.
        pub id nowhere: SourceId = id,
        /// The number of values in each reading of the sensor.
        pub channels nowhere: u8 [Self::CHANNELS] = channels,
        /// The lowest valid value of a reading, in the sensor's unit.
        pub min nowhere: f32 = min,
        /// The highest valid value of a reading, in the sensor's unit.
        pub max nowhere: f32 = max,
        /// The fastest plausible change of any value of a reading \[unit/s\]. Default infinite: not checked.
        pub max_rate: f32 [0.000001 to 1000000000.0 "SI units/s"] or f32::INFINITY = f32::INFINITY,
        /// Sensor readings older than this are not used. Default 100 ms.
        pub max_age: Duration [0.001 to 10.0 "s"] = Duration::from_millis(100),
        /// Bit-identical readings for this long mean a frozen sensor. Default 1 s; `None`: not checked (for a source
        /// that may legitimately repeat itself, such as a joystick at rest).
        pub stuck_after: Option<Duration> [0.01 to 3600.0 "s"] = Some(Duration::from_secs(1)),
        /// The number of cycles for which a reading is used after it has become too old: with full motion in the
        /// first cycle, and none in the last. Default 2.
        pub bridge_cycles nowhere: u8 = 2,
    }
}

impl SourceConfig {
    /// The range of the number of values in a reading, [`channels`](Self::channels).
    pub const CHANNELS: Range<u8> = range_of!(1 to 6);
}

/// The counts of a sensor's readings since its monitor was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct SourceFigures {
    /// The number of readings accepted from the sensor, including faulty ones.
    pub accepted: u32,
    /// The number of readings missing in the sensor's own sequence.
    pub lost: u32,
    /// The number of readings that repeated a sequence number, or were older than an accepted one by their number or
    /// time stamp. They were rejected.
    pub out_of_order: u32,
    /// The number of restarts of the sensor's sequence after silence.
    pub restarts: u32,
    /// The number of readings with a value out of range, a change that is too fast, or the wrong number of values.
    pub faulty: u32,
    /// The number of cycles in which a reading of the sensor was still used although it was too old (bridged).
    pub bridged: u32,
}

/// A sensor reading that may be used in this cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// The sensor's newest reading, which is within its permitted age.
    Fresh(Sample),
    /// The sensor's newest reading is too old; the motion that it causes is to be reduced by a factor.
    Bridged {
        /// The sensor's newest reading, which is too old.
        sample: Sample,
        /// The number of consecutive cycles, counting this one, in which the reading was too old but still used, from
        /// 1.
        cycle: u8,
        /// The factor on the motion that the reading causes: 1 in the first cycle, falling to 0 in the last.
        scale: f32,
    },
}

/// A monitor that checks the readings of one sensor.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct SourceMonitor {
    config: SourceConfig,
    newest: Option<Sample>,
    /// The reason for which the sensor's newest reading must not be used, apart from its age; `None` if it is valid.
    fault: Option<Reason>,
    /// The time at which the present run of identical readings began.
    unchanged_since: Instant,
    bridging: u8,
    figures: SourceFigures,
}

impl SourceMonitor {
    /// Creates a sensor's monitor that has received no reading.
    #[must_use]
    pub fn new(config: SourceConfig) -> Self {
        Self {
            config,
            newest: None,
            fault: None,
            unchanged_since: Instant::ZERO,
            bridging: 0,
            figures: SourceFigures::default(),
        }
    }

    /// Returns the settings of the sensor: the expected range, rate of change and age of its readings.
    #[must_use]
    pub const fn config(&self) -> &SourceConfig {
        &self.config
    }

    /// Returns the counts of the sensor's readings.
    #[must_use]
    pub const fn figures(&self) -> SourceFigures {
        self.figures
    }

    /// Returns the sensor's newest accepted reading, valid or not; `None` before the first.
    #[must_use]
    pub const fn newest(&self) -> Option<&Sample> {
        self.newest.as_ref()
    }

    /// Processes a reading of the sensor: rejects it if it is not newer than the last one, otherwise accepts and checks
    /// it. A time stamp in the future is set to `now`.
    pub fn observe(&mut self, sample: Sample, now: Instant) {
        let sample = Sample { taken_at: sample.taken_at.min(now), ..sample };
        let Some(last) = self.newest else {
            self.unchanged_since = sample.taken_at;
            return self.take(sample, None);
        };
        let ahead = sample.seq.wrapping_sub(last.seq);
        if ahead == 0 || ahead > u32::MAX / 2 || sample.taken_at < last.taken_at {
            // The sequence of a restarted sensor begins anew: accepted only after silence.
            if now.since(last.taken_at) <= self.config.max_age || sample.taken_at <= last.taken_at {
                count(&mut self.figures.out_of_order, 1);
                return;
            }
            count(&mut self.figures.restarts, 1);
            self.unchanged_since = sample.taken_at;
            return self.take(sample, None);
        }
        count(&mut self.figures.lost, ahead.saturating_sub(1));
        if !sample.value.same_bits(&last.value) {
            self.unchanged_since = sample.taken_at;
        }
        self.take(sample, Some(last));
    }

    fn take(&mut self, sample: Sample, last: Option<Sample>) {
        self.fault = self.judge(&sample, last.as_ref());
        if matches!(self.fault, Some(Reason::SourceOutOfRange | Reason::SourceRate)) {
            count(&mut self.figures.faulty, 1);
        }
        self.newest = Some(sample);
        count(&mut self.figures.accepted, 1);
    }

    fn judge(&self, sample: &Sample, last: Option<&Sample>) -> Option<Reason> {
        let values = sample.value.as_slice();
        let range = self.config.min..=self.config.max;
        if values.len() != usize::from(self.config.channels) || !values.iter().all(|v| range.contains(v)) {
            return Some(Reason::SourceOutOfRange);
        }
        if let Some(last) = last {
            let seconds = sample.taken_at.since(last.taken_at).as_secs_f32();
            let farthest = self.config.max_rate * seconds;
            let mut steps = values.iter().zip(last.value.as_slice()).map(|(v, l)| (v - l).abs());
            if self.config.max_rate.is_finite() && steps.any(|step| step > farthest) {
                return Some(Reason::SourceRate);
            }
        }
        let unchanged = sample.taken_at.since(self.unchanged_since);
        self.config.stuck_after.is_some_and(|limit| unchanged >= limit).then_some(Reason::SourceStuck)
    }

    /// Checks that the sensor is good enough to begin commanding: its newest reading is valid and within its age.
    ///
    /// # Errors
    /// Returns the reason for which the sensor is not good enough: no reading, a faulty or a too old one.
    pub fn fresh(&self, now: Instant) -> Result<Sample, Reason> {
        let newest = self.newest.ok_or(Reason::SourceStale)?;
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if now.since(newest.taken_at) > self.config.max_age { Err(Reason::SourceStale) } else { Ok(newest) }
    }

    /// Returns the reading for the present command, of an arm with this control `cycle`: as [`fresh`](Self::fresh), but
    /// a reading that is merely too old is [bridged](Reading::Bridged), that is, still used for a few cycles. If
    /// commands are more than a cycle apart, bridged cycles are counted by the reading's age. Must be called once per
    /// command.
    ///
    /// # Errors
    /// The sensor's fault, or [`Reason::SourceStale`] once bridging is used up or if there was no reading yet.
    pub fn read(&mut self, now: Instant, cycle: Duration) -> Result<Reading, Reason> {
        match (self.fresh(now), self.newest) {
            (Ok(sample), _) => {
                self.bridging = 0;
                Ok(Reading::Fresh(sample))
            }
            (Err(Reason::SourceStale), Some(sample)) => {
                let over = now.since(sample.taken_at) - self.config.max_age;
                let by_age = (over - Duration::from_micros(1)).whole(cycle).unwrap_or(u64::MAX);
                let done = self.bridging.max(u8::try_from(by_age).unwrap_or(u8::MAX));
                if done >= self.config.bridge_cycles {
                    return Err(Reason::SourceStale);
                }
                let cycle = done.saturating_add(1);
                self.bridging = cycle;
                count(&mut self.figures.bridged, 1);
                let last = self.config.bridge_cycles.saturating_sub(1).max(1);
                let scale = 1.0 - f32::from(done) / f32::from(last);
                Ok(Reading::Bridged { sample, cycle, scale })
            }
            (Err(reason), _) => Err(reason),
        }
    }
}

fn count(counter: &mut u32, more: u32) {
    *counter = counter.saturating_add(more);
}

#[cfg(test)]
mod tests;
