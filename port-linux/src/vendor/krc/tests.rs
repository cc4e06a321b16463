//! Tests of a KRC, without a real one.

use outrigger_core::link::{LinkConfig, LinkMonitor};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_tests::require::committed::hold;
use outrigger_wire::fri::{FriState, Quality};
use outrigger_wire::robot::{ControllerTime, JointPositions};

use super::*;
use crate::json;
use crate::vendor::SessionStatus;

#[test]
fn the_objects_of_a_session_are_those_that_are_committed() {
    let listens = SocketAddr::from(([0, 0, 0, 0], 49_938));
    let controller = KrcController::new("192.0.2.2".into(), listens);
    let state = State::<7> {
        positions: JointPositions([0.5, -1.25, 1.0, 0.0, 0.0, -3.0, 0.125]),
        target_positions: JointPositions([0.25; 7]),
        controller_time: ControllerTime::from_micros(5_000),
        ..State::default()
    };
    let figures = LinkMonitor::new(LinkConfig::datagram(Duration::from_millis(5))).figures(Instant::ZERO);
    let [of_state, quality] = event_text::rating(Some(FriState::Monitor), Some(Quality::Perfect));
    let seen = KrcSeen {
        address: Some(SocketAddr::from(([192, 0, 2, 2], 49_938))),
        period: Some(Duration::from_millis(5)),
        state: Some(state),
        words: [
            of_state,
            quality,
            ReportedState::named("krc_scheme", "scheme", "position"),
            ReportedState::named("drives", "drives", "on"),
        ],
        report: Some(KrcReport { answer_rate: 0.99, missed: 3, ..KrcReport::default() }),
        counts: KrcCounts { measurements: 1_000, commands: 998, overtaken: 1, unused: 1, ..KrcCounts::default() },
        variables: Some(Variables { bools: 3, ints: [7; 16], reals: [0.5_f32.to_bits(); 16] }),
    };
    let nothing = KrcSeen {
        address: None,
        period: None,
        state: None,
        report: None,
        counts: KrcCounts { foreign: 4, ..KrcCounts::default() },
        variables: None,
        ..seen
    };
    let sight = |seen, figures| SessionStatus {
        at: Instant::from_micros(1_500_000),
        here: true,
        mode: Mode::Offline,
        overrides_pendant: false,
        latch: Some(Reason::StateStale),
        last_fallback: None,
        unmet: ReasonSet::EMPTY.with(Reason::Latched),
        figures,
        rate: 200.0,
        seen,
    };
    let mut text = String::new();
    for sight in [sight(seen, Some(figures)), sight(nothing, None)] {
        text += &format!("{}\n", json::text(&controller.snapshot(&sight)));
    }
    for event in [KrcEvent::State(FriState::Command), KrcEvent::Found { period_micros: 5_000 }] {
        let notice = controller.notice(&Event::Peer(event), Instant::from_micros(7)).expect("it is shown");
        text += &format!("{}\n", json::text(&notice));
    }
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/vendor/golden/krc.jsonl"), &text);
}
