//! What a run left behind.

use std::time::Duration;

use outrigger_sim::controller::Controller;
use outrigger_sim::time::SimTime;
use outrigger_sim::world::Surface;

use super::commands::{Command, commands};
use crate::peer::{Datagram, Passage};
use crate::qemu::Line;

/// Joints slower than this are at rest \[rad/s\]: a tenth of a millimetre per second at the tool.
pub const REST: f64 = 0.001;

/// The arm after one control cycle, as it really was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// When.
    pub at: SimTime,
    /// Speed of the fastest joint \[rad/s\].
    pub speed: f64,
    /// Distance from the tool to the surface along the tool's axis \[m\].
    pub distance: Option<f64>,
}

/// Everything that happened, each list in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The board's log.
    pub log: Vec<Line>,
    /// What the board sent to the telemetry port.
    pub datagrams: Vec<Datagram>,
    /// What passed the controller's connections.
    pub passages: Vec<Passage>,
    /// The arm, one entry per control cycle.
    pub motion: Vec<Motion>,
}

impl Record {
    /// A control cycle has passed.
    pub(super) fn note_cycle(&mut self, controller: &Controller, surface: Option<&Surface>) {
        let arm = controller.truth();
        let tool = arm.tool();
        self.motion.push(Motion {
            at: controller.now(),
            speed: arm.qd.iter().fold(0.0, |most, speed| speed.abs().max(most)),
            distance: surface.and_then(|s| s.distance(tool.position, tool.z_axis(), controller.now())),
        });
    }

    /// The first line of the log from `since` on that begins with one of `words`.
    #[must_use]
    pub fn said(&self, since: SimTime, words: &[&str]) -> Option<&Line> {
        let first = self.log.partition_point(|line| line.at < since);
        self.log.iter().skip(first).find(|line| words.iter().any(|word| line.text.starts_with(word)))
    }

    /// Everything the log says from `since` on.
    #[must_use]
    pub fn story(&self, since: SimTime) -> String {
        let lines = self.log.iter().filter(|line| line.at >= since);
        lines.map(|line| format!("{:>9} {line}\n", line.at.to_string())).collect()
    }

    /// The commands that reached the controller from `from` until `until`.
    #[must_use]
    pub fn commands(&self, from: SimTime, until: SimTime) -> Vec<Command> {
        let first = self.passages.partition_point(|passage| passage.at < from);
        let last = self.passages.partition_point(|passage| passage.at < until);
        commands(self.passages.get(first..last).unwrap_or_default())
    }

    /// The arm from `from` until `until`.
    #[must_use]
    pub fn motion(&self, from: SimTime, until: SimTime) -> &[Motion] {
        let first = self.motion.partition_point(|motion| motion.at < from);
        let last = self.motion.partition_point(|motion| motion.at < until);
        self.motion.get(first..last).unwrap_or_default()
    }

    /// How long after `since` the arm was at rest for good, up to `until`; `None` where it was not.
    #[must_use]
    pub fn rest_after(&self, since: SimTime, until: SimTime) -> Option<Duration> {
        let motion = self.motion(since, until);
        match motion.iter().rposition(|motion| motion.speed > REST) {
            None => Some(Duration::ZERO),
            Some(last) => motion.get(last + 1).map(|rest| rest.at.since(since)),
        }
    }

    /// Root mean square and greatest of the distance's error \[m\], from `from` until `until`.
    #[must_use]
    pub fn distance_error(&self, wanted: f64, from: SimTime, until: SimTime) -> Option<(f64, f64)> {
        let errors: Vec<f64> =
            self.motion(from, until).iter().filter_map(|motion| Some(motion.distance? - wanted)).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let greatest = errors.iter().fold(0.0, |most: f64, error| most.max(error.abs()));
        (!errors.is_empty()).then(|| ((squares / errors.len() as f64).sqrt(), greatest))
    }
}
