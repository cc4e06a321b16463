//! The summary of a run with a controller of Universal Robots.

use outrigger_core::engine::ur::{Ur, UrEvent};
use outrigger_core::engine::{Engine, Event};
use outrigger_core::law::Law;
use outrigger_core::link::Histogram;
use outrigger_wire::time::{Duration, Instant};
use serde::Serialize;

use super::tracking::{Summary as Followed, Tracking};
use crate::show::histogram::{self, Quantiles};
use crate::vendor::{Summary, Tally};

/// The counters of a run with a Universal Robots controller: tracking of the joints, and turnaround of commands.
#[derive(Debug, Default)]
pub struct UrTally {
    tracking: Tracking,
    /// The histogram of the times from reading a robot state to having written its command.
    turnaround: Histogram,
    period: Duration,
}

impl Tally<6, Ur<'_>> for UrTally {
    fn observe<L: Law<6>>(&mut self, engine: &Engine<'_, 6, Ur<'_>, L>, _: Instant) {
        let law = engine.law();
        if let Some(state) = engine.state() {
            self.tracking.observe(state, engine.mode(), law, engine.motion_status().progress);
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

    fn members(&self) -> impl Serialize {
        Members { followed: self.tracking.summary(self.period), turnaround: Quantiles::of(&self.turnaround) }
    }
}

#[derive(Serialize)]
struct Members {
    #[serde(flatten)]
    followed: Option<Followed>,
    turnaround: Quantiles,
}

#[cfg(test)]
mod tests {
    use outrigger_core::law::{JointServo, JointServoConfig, Reference, Start};
    use outrigger_core::mode::Mode;
    use outrigger_core::trajectory::Progress;
    use outrigger_tests::require::committed::hold;
    use outrigger_wire::robot::{ControllerTime, JointPositions, State};

    use super::*;
    use crate::json::text;

    /// The summary at the end of a run, as a JSON object.
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "summary")]
    struct Summed<M> {
        #[serde(flatten)]
        members: M,
    }

    #[test]
    fn the_objects_for_scripts_are_those_that_are_committed() {
        let mut commanded = UrTally { period: Duration::from_millis(2), ..UrTally::default() };
        (1..=100).for_each(|micros| commanded.answered(Duration::from_micros(micros)));
        let mut followed = UrTally::default();
        let mut servo = JointServo::<6>::new(Reference::Hold, JointServoConfig::default());
        let state = |cycle: u64, q| State {
            controller_time: ControllerTime::from_micros(cycle * 2_000),
            positions: JointPositions([q; 6]),
            ..State::default()
        };
        servo.arm(&Start::at(&state(1, 0.5))).expect("armed");
        followed.tracking.observe(&state(2, 0.5), Mode::Command, &servo, Progress::Running);
        let mut rested = UrTally { tracking: followed.tracking.clone(), ..UrTally::default() };
        rested.tracking.observe(&state(3, 0.25), Mode::Command, &servo, Progress::Finished);
        let tallies = [UrTally::default(), commanded, followed, rested];
        let lines = tallies.map(|tally| format!("{}\n", text(&Summed { members: tally.members() })));
        hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/vendor/golden/ur-summary.jsonl"), &lines.concat());
    }
}
