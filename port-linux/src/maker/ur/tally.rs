//! How a run beside a controller of Universal Robots went.

use outrigger_core::engine::ur::{Ur, UrEvent};
use outrigger_core::engine::{Engine, Event};
use outrigger_core::law::Law;
use outrigger_core::link::Histogram;
use outrigger_wire::time::{Duration, Instant};

use super::tracking::Tracking;
use crate::json::Json;
use crate::maker::{Summary, Tally};
use crate::show::histogram;

/// How the joints followed, and how quickly commands were written.
#[derive(Debug, Default)]
pub struct UrTally {
    tracking: Tracking,
    /// From reading a state to having written its command.
    turnaround: Histogram,
    period: Duration,
}

impl Tally<6, Ur<'_>> for UrTally {
    fn observe<L: Law<6>>(&mut self, engine: &Engine<'_, 6, Ur<'_>, L>, _: Instant) {
        let law = engine.law();
        if let Some(state) = engine.state() {
            self.tracking.observe(state, engine.mode(), law, law.progress());
        }
    }
}

impl Summary for UrTally {
    type Event = UrEvent;

    fn event(&mut self, event: &Event<UrEvent>) {
        if let Event::Peer(UrEvent::Established(identity)) = event {
            self.period = identity.period;
        }
    }

    fn answered(&mut self, turnaround: Duration) {
        self.turnaround.record(turnaround);
    }

    fn text(&self) -> String {
        let commanded = (self.turnaround.count() > 0).then(|| {
            format!(
                "turnaround, from reading a state to having written its command: {}",
                histogram::quantiles(&self.turnaround)
            )
        });
        let followed = self.tracking.summary(self.period).map(|summary| summary.text());
        followed.into_iter().chain(commanded).collect::<Vec<_>>().join("\n")
    }

    fn json(&self, json: &mut Json) {
        if let Some(summary) = self.tracking.summary(self.period) {
            summary.json(json);
        }
        histogram::json(json, "turnaround", &self.turnaround);
    }
}
