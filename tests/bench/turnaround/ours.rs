//! The co-controller as in `outrigger run`, with its engine and its sockets, following a joint motion.

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::{Ur, UrEvent};
use std::future::pending;
use std::net::{IpAddr, Ipv4Addr};

use outrigger::config::{BusyPoll, RobotAddress};
use outrigger::host::{Clock, block_on};
use outrigger::net::Net;
use outrigger::vendor::ur::run as beside_ur;
use outrigger_core::drive::Application;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_core::trajectory::{MAX_WAYPOINTS, Setpoint, Trajectory, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::time::{Duration, Instant};

/// The time between two turning points of the motion \[ms\]; slow enough for any block to end in motion.
const STROKE_MILLIS: u64 = 4_000;

type Law = JointServo<6>;

/// Runs the engine with a trivial application, which commands the controller at `port_base` until this process is
/// killed.
pub(crate) fn run(port_base: u16, busy_poll: BusyPoll) {
    let clock = Clock::start();
    let address = RobotAddress::new("127.0.0.1", port_base).expect("a port base");
    let mut net = Net::connecting(&address, IpAddr::V4(Ipv4Addr::LOCALHOST), clock).with_polling(busy_poll);
    let law = JointServo::new(Reference::Relative(to_and_fro()), JointServoConfig::default());
    let mut operator = Operator { inputs: None, commanded: false };
    let mut config = UrConfig::default();
    // Some of these controllers send states only by 30003.
    config.mode.pendant.stop = PendantStop::Overridden;
    let session = beside_ur(config, law, &mut net, &mut operator, 0);
    block_on(session).expect("a reactor").expect("a configuration");
}

fn to_and_fro() -> Trajectory<6> {
    let waypoints: [Waypoint<6>; MAX_WAYPOINTS] = std::array::from_fn(|number| {
        let q = if number % 2 == 0 { 0.0 } else { 0.4 };
        let positions = JointPositions([q, -0.2 * q, 0.3 * q, -0.1 * q, 0.2 * q, q]);
        let setpoint = Setpoint { positions, velocities: JointVelocities([0.0; 6]) };
        Waypoint { setpoint, accelerations: None, at: Duration::from_millis(STROKE_MILLIS * number as u64) }
    });
    Trajectory::through(&waypoints).expect("a motion")
}

/// The operator of the measured engine: requests once that it command, as soon as no precondition is unmet, and never
/// shuts it down.
struct Operator {
    inputs: Option<Input>,
    commanded: bool,
}

impl<'m> Application<6, Ur<'m>, Law> for Operator {
    async fn next(&mut self) -> Input {
        match self.inputs.take() {
            Some(input) => input,
            None => pending().await,
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        if let Event::Transition(transition) = event
            && let Some(reason) = transition.reason
        {
            eprintln!("ours: to {:?} because of {reason:?}", transition.to);
        }
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, Law>, now: Instant) {
        if !self.commanded && engine.mode() == Mode::Monitor && engine.unmet(now).is_empty() {
            self.commanded = true;
            self.inputs = Some(Input::Request(engine.mode_machine().epoch()));
        }
    }
}
