//! The one file that reads a clock: the time a board in QEMU lives in.

use std::time::Instant;

use outrigger_sim::time::SimTime;

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
}
