//! The one file that reads a clock: the time a board in QEMU lives in.

use std::time::Instant;

use outrigger_sim::time::SimTime;

use crate::standstill::Window;

/// Simulated time from the system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that shows zero now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the file that reads the clock")]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> SimTime {
        SimTime::ZERO + self.start.elapsed()
    }

    /// Between these times of this clock.
    #[must_use]
    pub fn window(&self, from: SimTime, until: SimTime) -> Window {
        let at = |time: SimTime| self.start + time.since(SimTime::ZERO);
        Window { from: at(from), until: at(until) }
    }
}
