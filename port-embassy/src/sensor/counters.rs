//! The counts of a sensor, which other tasks can read while it runs.

use core::sync::atomic::{AtomicU32, Ordering};

use outrigger_wire::sensor::Figures;

/// The counters of one sensor, which writes them; any task may read them. Each counter is exact, but two of them may be
/// from different moments.
#[derive(Debug, Default)]
pub struct Counters {
    readings: AtomicU32,
    refused: AtomicU32,
    garbage: AtomicU32,
    faults: AtomicU32,
}

/// The message and error counts of a sensor since the boot; all saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counted {
    /// The numbers of readings, of invalid messages, and of bytes that belong to no reading.
    pub figures: Figures,
    /// The number of failed attempts to read the sensor: the port, the bus or the converter reported an error, did not
    /// answer in time, or had lost its settings.
    pub faults: u32,
}

impl Counters {
    /// Creates a sensor's counters at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            readings: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            garbage: AtomicU32::new(0),
            faults: AtomicU32::new(0),
        }
    }

    /// Returns the sensor's counts since the boot.
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

    /// Counts an invalid sensor message of this many bytes.
    pub(super) fn refused(&self, bytes: u32) {
        one_more(&self.refused);
        self.garbage.store(self.garbage.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
    }

    pub(super) fn fault(&self) {
        one_more(&self.faults);
    }
}

/// Increments a counter with a load and a store, because only the sensor writes and the smallest cores have no more.
fn one_more(counter: &AtomicU32) {
    counter.store(counter.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
}
