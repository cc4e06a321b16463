//! The record of a run: the board's log and telemetry, the traffic of the controller, and the motion of the arm.

use std::time::Duration;

use outrigger_sim::controller::Controller;
use outrigger_sim::simulated_workpiece::Surface;
use outrigger_sim::time::SimTime;

use super::commands::{Command, commands};
use crate::peer::{Datagram, Passage};
use crate::qemu::Line;

/// The speed up to which a joint counts as at rest \[rad/s\]. At a distance of 1 m from the joint it is 1 mm/s.
pub const REST: f64 = 0.001;

/// The actual state of the arm after one control cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The time at which the control cycle began; at that time, the simulation moves the arm to its state after the
    /// cycle.
    pub at: SimTime,
    /// The speed of the fastest joint \[rad/s\].
    pub speed: f64,
    /// The distance from the tool to the surface along the tool's axis \[m\]; `None` if there is no surface, or the
    /// axis does not meet it.
    pub distance: Option<f64>,
}

/// The record of a run with a board. Each list is in chronological order.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The lines of the board's log.
    pub log: Vec<Line>,
    /// The datagrams that the board sent to the telemetry port.
    pub datagrams: Vec<Datagram>,
    /// The traffic of the controller's connections, event by event.
    pub passages: Vec<Passage>,
    /// The motion of the arm, one entry per control cycle.
    pub motion: Vec<Motion>,
}

impl Record {
    /// Adds an entry for a control cycle: the present state of the arm.
    pub(super) fn note_cycle(&mut self, controller: &Controller, surface: Option<&Surface>) {
        let arm = controller.truth();
        let tool = arm.tool();
        self.motion.push(Motion {
            at: controller.now(),
            speed: arm.qd.iter().fold(0.0, |most, speed| speed.abs().max(most)),
            distance: surface.and_then(|s| s.distance(tool.position, tool.z_axis(), controller.now())),
        });
    }

    /// Returns the first line of the board's log at or after `since` that begins with one of `words`.
    #[must_use]
    pub fn said(&self, since: SimTime, words: &[&str]) -> Option<&Line> {
        let first = self.log.partition_point(|line| line.at < since);
        self.log.iter().skip(first).find(|line| words.iter().any(|word| line.text.starts_with(word)))
    }

    /// Returns the board's log at and after `since` as text, one line per entry.
    #[must_use]
    pub fn story(&self, since: SimTime) -> String {
        let lines = self.log.iter().filter(|line| line.at >= since);
        lines.map(|line| format!("{:>9} {line}\n", line.at.to_string())).collect()
    }

    /// Returns the commands that reached the controller from `from` until `until`.
    #[must_use]
    pub fn commands(&self, from: SimTime, until: SimTime) -> Vec<Command> {
        let first = self.passages.partition_point(|passage| passage.at < from);
        let last = self.passages.partition_point(|passage| passage.at < until);
        commands(self.passages.get(first..last).unwrap_or_default())
    }

    /// Returns the motion of the arm from `from` until `until`.
    #[must_use]
    pub fn motion(&self, from: SimTime, until: SimTime) -> &[Motion] {
        let first = self.motion.partition_point(|motion| motion.at < from);
        let last = self.motion.partition_point(|motion| motion.at < until);
        self.motion.get(first..last).unwrap_or_default()
    }

    /// Returns the time from `since` until the arm came to rest and stayed at rest until `until`; `None` if it still
    /// moves at the end.
    #[must_use]
    pub fn rest_after(&self, since: SimTime, until: SimTime) -> Option<Duration> {
        let motion = self.motion(since, until);
        match motion.iter().rposition(|motion| motion.speed > REST) {
            None => Some(Duration::ZERO),
            Some(last) => motion.get(last + 1).map(|rest| rest.at.since(since)),
        }
    }

    /// Returns the root mean square and the largest absolute value of the difference between the tool's distance to the
    /// surface and `wanted` \[m\], from `from` until `until`; `None` without a measurement.
    #[must_use]
    pub fn distance_error(&self, wanted: f64, from: SimTime, until: SimTime) -> Option<(f64, f64)> {
        let errors: Vec<f64> =
            self.motion(from, until).iter().filter_map(|motion| Some(motion.distance? - wanted)).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let greatest = errors.iter().fold(0.0, |most: f64, error| most.max(error.abs()));
        (!errors.is_empty()).then(|| ((squares / errors.len() as f64).sqrt(), greatest))
    }
}
