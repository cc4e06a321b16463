//! The counts of a sensor, for other tasks to read while it runs.

use core::sync::atomic::{AtomicU32, Ordering};

use outrigger_wire::sensor::Figures;

/// Counters of one sensor: it writes them, anybody reads them. Each is exact; two of them may be from different moments.
#[derive(Debug, Default)]
pub struct Counters {
    readings: AtomicU32,
    refused: AtomicU32,
    garbage: AtomicU32,
    faults: AtomicU32,
}

/// The counts since boot; all saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counted {
    /// Readings, messages that were none, and bytes that belong to no reading.
    pub figures: Figures,
    /// Transfers that failed: the port, the bus or the converter reported an error.
    pub faults: u32,
}

impl Counters {
    /// Creates counters at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            readings: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            garbage: AtomicU32::new(0),
            faults: AtomicU32::new(0),
        }
    }

    /// Returns the counts.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let of = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        let figures = Figures { readings: of(&self.readings), refused: of(&self.refused), garbage: of(&self.garbage) };
        Counted { figures, faults: of(&self.faults) }
    }

    pub(super) fn set(&self, figures: Figures) {
        self.readings.store(figures.readings, Ordering::Relaxed);
        self.refused.store(figures.refused, Ordering::Relaxed);
        self.garbage.store(figures.garbage, Ordering::Relaxed);
    }

    pub(super) fn reading(&self) {
        one_more(&self.readings);
    }

    /// A message of this many bytes was no reading.
    pub(super) fn refused(&self, bytes: u32) {
        one_more(&self.refused);
        self.garbage.store(self.garbage.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
    }

    pub(super) fn fault(&self) {
        one_more(&self.faults);
    }
}

/// Loads and stores only: the one sensor writes, and the smallest cores cannot do more.
fn one_more(counter: &AtomicU32) {
    counter.store(counter.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
}
