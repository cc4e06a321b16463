//! Facts about the robot with the time at which they were learned.

use outrigger_wire::time::{Duration, Instant};

/// A fact, and the time at which it was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct TimedFact<T> {
    /// The value of the fact, as it was learned.
    pub value: T,
    /// The time at which the value was learned, on our clock.
    pub at: Instant,
}

impl<T> TimedFact<T> {
    /// Creates a fact with the value `value`, learned at `at`.
    #[must_use]
    pub const fn new(value: T, at: Instant) -> Self {
        Self { value, at }
    }

    /// Returns the fact's value; `None` if it is older than `max_age` at `now`.
    #[must_use]
    pub fn fresh(self, now: Instant, max_age: Duration) -> Option<T> {
        (now.since(self.at) <= max_age).then_some(self.value)
    }
}
