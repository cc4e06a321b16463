//! Tests of a controller of Universal Robots, without a real one.

use outrigger_config::Configuration;
use outrigger_core::client::rtde::Claims;
use outrigger_core::link::{LinkConfig, LinkMonitor};
use outrigger_core::mode::{Mode, OperatorConfig, PendantStop};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_tests::require::committed::hold;
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::primary::{Report, ReportKind};
use outrigger_wire::robot::{ControllerTime, JointPositions, MessageSource, Pose, SafetyMode, Text};
use outrigger_wire::time::Duration;

use super::*;
use crate::json;
use crate::vendor::SessionStatus;

#[test]
fn of_a_file_is_taken_what_judges_and_nothing_that_asks_or_claims() {
    let file = Configuration::parse(
        "robot.address = \"a\"\nlaw.kind = \"joint-servo\"\nlimits.velocity = 0.5\nsession.expert.pendant_stop = \"overridden\"\n\
         operator.expert.request_input = 0\noutputs.expert.claim = \"digital-out\"\noutputs.expert.force = \"f\"\n\
         [[source]]\nname = \"f\"\ninput = \"stdin\"\nvalues = 6\n",
    );
    let config = judging_as(file.expect("a configuration").control.engine());
    assert!(config.limits.velocity.0 == [0.5; 6] && config.mode.pendant.stop == PendantStop::Overridden);
    assert_eq!((config.operator, config.peer.connect.claims), (OperatorConfig::default(), Claims::NONE));
    assert!(config.peer.force.is_none() && config.sources.iter().all(Option::is_none));
}

#[test]
fn the_objects_of_a_session_are_those_that_are_committed() {
    let target = Target { address: "192.0.2.1".parse().expect("an address"), ip: [192, 0, 2, 1].into() };
    let mut controller = UrController::new(target);
    controller.model = Some("ur5e, software 5.15.0".into());
    let state = State::<6> {
        positions: JointPositions([0.5, -1.25, 1.0, 0.0, 0.0, -3.0]),
        controller_time: ControllerTime::from_micros(12_345_678),
        robot_mode: Some(RobotMode::Running),
        safety: Safety::Mode(SafetyMode::Normal),
        tcp_pose: Some(Pose { position: [0.4, -0.1, 0.3], rotation: [0.0, 3.1, 0.0] }),
        ..State::default()
    };
    let figures = LinkMonitor::new(LinkConfig::stream(Duration::from_millis(2))).figures(Instant::ZERO);
    let states = SeenStates {
        by: LinkId::REALTIME,
        wanted: StatesFrom::Realtime,
        software: SoftwareVersion::new(5, 15),
        stream: StreamCounts { messages: 1_000, ..StreamCounts::NONE },
        dropped_bytes: 1,
        rtde: None,
    };
    let seen = UrSeen { state: Some(state), speed_slider: Some(0.5), program: None, states: Some(states) };
    let nothing = UrSeen { state: None, speed_slider: None, program: None, states: None };
    let sight = |seen, figures| SessionStatus {
        at: Instant::from_micros(1_500_000),
        here: false,
        mode: Mode::Monitor,
        overrides_pendant: false,
        latch: None,
        last_fallback: Some(Reason::StateStale),
        unmet: ReasonSet::EMPTY.with(Reason::StateStale),
        figures,
        rate: 500.0,
        seen,
    };
    let mut text = String::new();
    for sight in [sight(seen, Some(figures)), sight(nothing, None)] {
        text += &format!("{}\n", json::text(&controller.snapshot(&sight)));
    }
    let (source, said) = (MessageSource::Controller, Text::from_bytes(b"pop \"up\""));
    let event =
        Event::Peer(UrEvent::Report(Report { kind: ReportKind::Error, source, code: 204, argument: 1, text: said }));
    let notice = controller.notice(&event, Instant::from_micros(7)).expect("it is shown");
    text += &format!("{}\n", json::text(&notice));
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/vendor/golden/ur.jsonl"), &text);
}
