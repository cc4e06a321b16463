//! The detection of missing and late RTDE packages, by the controller's own clock and counter.

use crate::link::Sequence;
use outrigger_wire::robot::{ControllerTime, Generation, SoftwareVersion};
use outrigger_wire::rtde::{Data as _, DataType, DynamicRecipe};
use outrigger_wire::time::{Duration, Instant, quotient};

/// The statistics of missing, repeated and late data packages of one RTDE connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Cadence {
    /// The expected time between two data packages, from the requested rate and the controller's own.
    pub period: Duration,
    /// The number of data packages that the controller omitted, or that were skipped on the way.
    pub missing: u64,
    /// The largest number of consecutive data packages that were missing.
    pub longest_gap: u32,
    /// The number of data packages for a controller cycle that already had one.
    pub repeated: u32,
    /// The number of data packages that followed the previous one more than a period later than the controller sent
    /// them.
    pub late: u32,
    /// The number of times the controller's clock restarted or jumped: on a booting controller the service is started
    /// twice.
    pub restarts: u32,
}

/// A monitor that detects missing and late data packages of one connection.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Watch {
    figures: Cadence,
    /// The expected number of controller cycles from one data package to the next.
    every: u64,
    /// The offsets of `timestamp` and `control_step` in the values of a data package; `None` if the package does not
    /// contain them.
    timestamp: Option<usize>,
    step: Option<usize>,
    last: Option<Stamp>,
}

/// The controller's time, its step counter and the arrival time of one data package.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Stamp {
    time: Option<ControllerTime>,
    step: Option<u64>,
    arrival: Instant,
}

impl Watch {
    /// Creates a monitor for the data packages that a controller with this software sends if `frequency` \[Hz\] is
    /// requested.
    pub(super) fn new(software: SoftwareVersion, frequency: u16, outputs: &DynamicRecipe<'_, '_>) -> Self {
        let cycle = software.generation().period_micros();
        // Rounded as the controller does: at least as often as requested.
        let every = Self::rate(software).checked_div(frequency).unwrap_or(1).max(1).into();
        let place = |name, expected| {
            outputs.place(name).filter(|(_, data_type)| *data_type == expected).map(|(place, _)| place)
        };
        Self {
            figures: Cadence { period: Duration::from_micros(cycle).times(every), ..Cadence::default() },
            every,
            timestamp: place("timestamp", DataType::Double),
            step: place("control_step", DataType::Uint64),
            last: None,
        }
    }

    /// Returns the highest RTDE data rate of a controller with this software \[Hz\].
    pub(super) fn rate(software: SoftwareVersion) -> u16 {
        if software.generation() < Generation::ESeries { 125 } else { 500 }
    }

    pub(super) const fn figures(&self) -> &Cadence {
        &self.figures
    }

    /// Resumes the monitor after a pause of the data: packages omitted meanwhile do not count as missing.
    pub(super) const fn resume(&mut self) {
        self.last = None;
    }

    /// Processes a data package that arrived at `arrival`. Returns its position in the sequence (`None` if unknown),
    /// and whether it is late; a jump of the controller's clock by more than `jump` counts as a restart.
    pub(super) fn observe(&mut self, values: &[u8], arrival: Instant, jump: Duration) -> (Option<Sequence>, bool) {
        let at = |place: Option<usize>| place.and_then(|place| values.get(place..));
        let stamp = Stamp {
            time: at(self.timestamp).and_then(f64::read).and_then(ControllerTime::from_secs),
            step: at(self.step).and_then(u64::read),
            arrival,
        };
        let known = stamp.step.is_some() || stamp.time.is_some();
        let Some(last) = self.last.replace(stamp).filter(|_| known) else {
            return (known.then_some(Sequence::First), false);
        };
        let period = self.figures.period;
        let went_on = stamp.time.zip(last.time).map(|(now, before)| (now >= before, now.since(before)));
        let sequence = match (stamp.step.zip(last.step), went_on) {
            (_, Some((true, by))) if by > jump => Some(Sequence::NewEpoch),
            (_, Some((false, _))) => Some(Sequence::NewEpoch),
            (Some((now, before)), _) if now < before => Some(Sequence::NewEpoch),
            (Some((now, before)), _) => Some(steps(now.saturating_sub(before), self.every)),
            (None, Some((true, by))) => Some(steps(by.as_micros(), period.as_micros())),
            (None, None) => None,
        };
        let took = stamp.arrival.since(last.arrival);
        let late = went_on.is_some_and(|(forward, by)| {
            forward && took > Duration::from_micros(by.as_micros().saturating_add(period.as_micros()))
        });
        self.count(sequence, late);
        (sequence, late)
    }

    fn count(&mut self, sequence: Option<Sequence>, late: bool) {
        let figures = &mut self.figures;
        match sequence {
            Some(Sequence::Lost(missing)) => {
                figures.missing = figures.missing.saturating_add(missing.into());
                figures.longest_gap = figures.longest_gap.max(missing);
            }
            Some(Sequence::Duplicate) => figures.repeated = figures.repeated.saturating_add(1),
            Some(Sequence::NewEpoch) => figures.restarts = figures.restarts.saturating_add(1),
            Some(Sequence::First | Sequence::InOrder | Sequence::Reordered | Sequence::Suspect) | None => {}
        }
        figures.late = figures.late.saturating_add(late.into());
    }
}

/// Returns the place in the sequence of a data package whose time or counter is `by` after that of the last one, if
/// packages are `unit` apart. Rounded to the nearest because clocks are rounded on the wire.
fn steps(by: u64, unit: u64) -> Sequence {
    match quotient(by.saturating_add(unit / 2), unit).unwrap_or(1) {
        0 => Sequence::Duplicate,
        1 => Sequence::InOrder,
        more => Sequence::Lost(u32::try_from(more.saturating_sub(1)).unwrap_or(u32::MAX)),
    }
}
