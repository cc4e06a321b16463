//! What a run left behind.

use outrigger_sim::controller::Controller;
use outrigger_sim::time::SimTime;
use outrigger_sim::world::Surface;

use crate::peer::{Datagram, Passage};
use crate::qemu::Line;

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
}
