//! The heartbeat of the control loop: the watchdog is fed only while the loop runs.
//!
//! ```
//! use outrigger_embassy::heartbeat::Heartbeat;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! // From an observer: `engine.poll_timeout()` is when the loop comes back at the latest.
//! let heartbeat = Heartbeat::asleep(Instant::ZERO, Some(Instant::from_micros(8_000)));
//! assert!(heartbeat.beats(Instant::from_micros(8_000)));
//! assert!(!heartbeat.beats(Instant::from_micros(500_000)));
//! ```

use outrigger_wire::time::{Duration, Instant};

/// The delay by which the control loop may be overdue before the watchdog is no longer fed. It is far longer than a
/// cycle, and far shorter than a watchdog's period.
const GRACE: Duration = Duration::from_millis(200);

/// The time at which the control loop must run again.
///
/// The engine states the latest time at which it must be called. A loop that is overdue by 200 ms hangs, even if all
/// other tasks of this device continue; the watchdog must then reset the device. The reset ends commanding, and nothing
/// moves after a boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    due: Option<Instant>,
}

impl Heartbeat {
    /// The heartbeat of a control loop that has not begun.
    pub const NONE: Self = Self { due: None };

    /// Returns the heartbeat of a loop that went to sleep at `now` and is woken at `timeout` at the latest. With `None`
    /// it is woken only by an input.
    #[must_use]
    pub fn asleep(now: Instant, timeout: Option<Instant>) -> Self {
        // A timeout in the past requests a turn at once.
        Self { due: timeout.map(|at| at.max(now)) }
    }

    /// Returns `true` if the control loop is not overdue at `now`.
    #[must_use]
    pub fn beats(self, now: Instant) -> bool {
        self.due.is_none_or(|due| now.since(due) <= GRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    #[test]
    fn a_loop_that_waits_for_its_timeout_beats_until_long_after_it() {
        let heartbeat = Heartbeat::asleep(at(1_000), Some(at(9_000)));
        assert!(heartbeat.beats(at(8_999)) && heartbeat.beats(at(9_200)));
        assert!(!heartbeat.beats(at(9_201)));
    }

    #[test]
    fn a_loop_that_is_to_come_back_at_once_may_not_stay_away() {
        let heartbeat = Heartbeat::asleep(at(1_000), Some(Instant::ZERO));
        assert!(heartbeat.beats(at(1_200)) && !heartbeat.beats(at(1_201)));
    }

    #[test]
    fn a_loop_that_waits_for_nothing_beats() {
        assert!(Heartbeat::asleep(at(1), None).beats(at(1_000_000)));
        assert!(Heartbeat::default().beats(at(1_000_000)));
    }
}
