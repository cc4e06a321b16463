//! The clock of a board in QEMU; the only file that reads a clock.

use std::time::Instant;

use outrigger_sim::time::SimTime;

use crate::machine_standstills::Window;

/// Simulated time, taken from the system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts a clock that reads zero now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the file that reads the clock")]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Returns the present time of this clock.
    #[must_use]
    pub fn now(&self) -> SimTime {
        SimTime::ZERO + self.start.elapsed()
    }

    /// Returns the window of real time between two times of this clock.
    #[must_use]
    pub fn window(&self, from: SimTime, until: SimTime) -> Window {
        let at = |time: SimTime| self.start + time.since(SimTime::ZERO);
        Window { from: at(from), until: at(until) }
    }
}
