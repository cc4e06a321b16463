//! Predicts when the next robot state is due, for a control loop that must be awake by then.

use outrigger_config::BusyPoll;
use outrigger_wire::time::{Duration, Instant};

use super::polling_window::{Arrival, PollingWindow};
use crate::host::clock::Clock;
use crate::host::reactor;

/// The time within which arrivals of data count as one state of the robot.
const TOGETHER: Duration = Duration::from_micros(200);

/// Keeps the control loop awake around the time at which each robot state is due.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    clock: Clock,
    polling: Polling,
    newest: Option<Instant>,
    /// The last interval between two robot states. The expected period is the smoothed minimum of two successive
    /// intervals.
    interval: Duration,
    period: Option<Duration>,
}

#[derive(Clone, Debug)]
enum Polling {
    Off,
    Always,
    Automatic(Box<PollingWindow>),
}

impl Pace {
    pub(super) fn new(clock: Clock, busy_poll: BusyPoll) -> Self {
        let polling = match busy_poll {
            BusyPoll::Off => Polling::Off,
            BusyPoll::Always => Polling::Always,
            BusyPoll::Automatic => Polling::Automatic(Box::new(PollingWindow::new())),
        };
        Self { clock, polling, newest: None, interval: Duration::ZERO, period: None }
    }

    pub(super) const fn is_asked_for(&self) -> bool {
        !matches!(self.polling, Polling::Off)
    }

    /// Records the arrival of a robot state that was read at `now`.
    pub(super) fn arrived(&mut self, now: Instant) {
        if !self.is_asked_for() {
            return;
        }
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
        let awake = match &mut self.polling {
            Polling::Off => None,
            Polling::Always => Some((now, now + period.times(10))),
            Polling::Automatic(window) => {
                let polled = reactor::take_polled();
                let span = |span: std::time::Duration| self.clock.span(span);
                window.next(Arrival {
                    at: now,
                    period,
                    polled: span(polled.time),
                    overslept: span(polled.overslept),
                    caught: polled.caught,
                })
            }
        };
        match awake {
            Some((from, until)) => reactor::stay_awake(self.clock, from, until),
            None => reactor::sleep_in_time(),
        }
    }
}
