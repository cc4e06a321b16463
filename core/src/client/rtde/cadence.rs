//! What is missing and what is late, by the controller's own clock and counter.

use crate::link::Sequence;
use outrigger_wire::robot::{ControllerTime, Generation, SoftwareVersion};
use outrigger_wire::rtde::{Data as _, DataType, DynamicRecipe};
use outrigger_wire::time::{Duration, Instant, quotient};

/// How the data of one connection came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Cadence {
    /// Time between two packages, by the rate that was asked for and the controller's.
    pub period: Duration,
    /// Packages the controller left out, or that were skipped on the way.
    pub missing: u64,
    /// Longest run of them.
    pub longest_gap: u32,
    /// Packages of a cycle that there was one of already.
    pub repeated: u32,
    /// Packages more than a period later after the one before than the controller sent them.
    pub late: u32,
    /// Times the controller's clock began anew, or jumped: the service of a controller that boots is started twice.
    pub restarts: u32,
}

/// Watches the data of one connection.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Watch {
    figures: Cadence,
    /// Cycles of the controller from one package to the next.
    every: u64,
    /// Where `timestamp` and `control_step` are among the values.
    timestamp: Option<usize>,
    step: Option<usize>,
    last: Option<Stamp>,
}

/// What one package says of time.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Stamp {
    time: Option<ControllerTime>,
    step: Option<u64>,
    arrival: Instant,
}

impl Watch {
    /// For packages that this software sends when asked for `frequency` \[Hz\].
    pub(super) fn new(software: SoftwareVersion, frequency: u16, outputs: &DynamicRecipe<'_, '_>) -> Self {
        let cycle = software.generation().period_micros();
        // As the controller rounds: at least as often as was asked for.
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

    /// The highest frequency that this software has \[Hz\].
    pub(super) fn rate(software: SoftwareVersion) -> u16 {
        if software.generation() < Generation::ESeries { 125 } else { 500 }
    }

    pub(super) const fn figures(&self) -> &Cadence {
        &self.figures
    }

    /// Data flows again after a pause: what was left out is not missing.
    pub(super) const fn resume(&mut self) {
        self.last = None;
    }

    /// Where this package stands among those before it, and whether it is late.
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

/// What going on by `by` means where packages are `unit` apart: to the nearest, as clocks are rounded on the wire.
fn steps(by: u64, unit: u64) -> Sequence {
    match quotient(by.saturating_add(unit / 2), unit).unwrap_or(1) {
        0 => Sequence::Duplicate,
        1 => Sequence::InOrder,
        more => Sequence::Lost(u32::try_from(more.saturating_sub(1)).unwrap_or(u32::MAX)),
    }
}
