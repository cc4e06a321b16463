//! Predicts when the next robot state is due, for a control loop that must be awake by then.

use outrigger_wire::time::{Duration, Instant};

use crate::host::clock::Clock;
use crate::host::reactor;

/// The time within which arrivals of data count as one state of the robot.
const TOGETHER: Duration = Duration::from_micros(200);

/// Keeps the control loop awake around the time at which each robot state is due: from `margin` before it to `margin`
/// after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    clock: Clock,
    margin: Option<Duration>,
    newest: Option<Instant>,
    /// The last interval between two robot states. The expected period is the smoothed minimum of two successive
    /// intervals.
    interval: Duration,
    period: Option<Duration>,
}

impl Pace {
    pub(super) const fn new(clock: Clock, margin: Option<Duration>) -> Self {
        Self { clock, margin, newest: None, interval: Duration::ZERO, period: None }
    }

    pub(super) const fn is_asked_for(&self) -> bool {
        self.margin.is_some()
    }

    /// Records the arrival of a robot state that was read at `now`.
    pub(super) fn arrived(&mut self, now: Instant) {
        let Some(margin) = self.margin else { return };
        let Some(newest) = self.newest else { return self.newest = Some(now) };
        let interval = now.since(newest);
        if interval < TOGETHER {
            return;
        }
        self.newest = Some(now);
        let shorter = interval.min(std::mem::replace(&mut self.interval, interval)).as_micros();
        if shorter == 0 {
            return;
        }
        let period = self.period.map_or(shorter, |period| (7 * period.as_micros() + shorter) / 8);
        let period = Duration::from_micros(period);
        self.period = Some(period);
        let due = now + period;
        reactor::stay_awake(self.clock, due - margin, due + margin);
    }
}
