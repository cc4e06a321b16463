//! Connections that are refused, closed, reset, silent, or accept no data.

use outrigger_core::engine::ur::UrEvent;
use std::time::Duration;

use outrigger_core::engine::ur::{DownCause, Next};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::time::SimTime;
use outrigger_wire::time;

use crate::Bench;
use crate::bench::{E_SERIES, Look, TextKind, slow_turn};

/// Checks that the arm moves again only after the operator has acknowledged and requested again.
fn only_a_new_request_moves_again<B: Bench>(bench: &mut B, reason: Reason) {
    bench.wait("a new session", |look| look.mode == Mode::Monitor && look.sessions() == 2);
    bench.wait("the latch alone speaks against a request", |look| {
        look.unmet.iter().all(|unmet| unmet == Reason::Latched) && look.mode == Mode::Monitor
    });
    let moves = bench.look(|look| {
        assert_eq!((look.fallbacks(), look.latch), (vec![reason], Some(reason)));
        look.said(TextKind::Move)
    });
    let spent = |look: &Look<'_>| look.events.contains(&outrigger_tests::refused(Reason::Latched));
    bench.ask(Input::Request);
    bench.wait("a request that is refused", spent);
    bench.tell(Input::Acknowledge);
    bench.ready();
    bench.look(|look| assert_eq!(look.said(TextKind::Move), moves, "nothing resumes by itself"));
    bench.resume();
}

pub(crate) fn a_refused_connection_is_tried_at_the_other_port_and_again_with_growing_pauses<B: Bench>() {
    let mut setup = slow_turn(E_SERIES);
    setup.config.peer.connect.primary_required = true;
    let away = Duration::from_secs(3);
    setup.controller.faults.push(Fault::new(FaultKind::Drop, SimTime::ZERO, Some(away)));
    let mut bench = B::start(setup);
    bench.wait("a session", |look| look.mode == Mode::Monitor);
    bench.look(|look| {
        let attempt = |event: &Event<UrEvent>| match event {
            Event::Peer(UrEvent::Down { link: LinkId::PRIMARY, endpoint, cause, next }) => {
                Some((endpoint.port, *cause, *next))
            }
            _ => None,
        };
        let attempts: Vec<_> = look.events.iter().filter_map(attempt).collect();
        assert!(attempts.iter().all(|(_, cause, _)| *cause == DownCause::Refused), "{attempts:?}");
        assert!(attempts.len() >= 4, "{attempts:?}");
        for (pair, pause) in attempts.chunks_exact(2).zip([250, 500, 1_000]) {
            let pause = time::Duration::from_millis(pause);
            assert_eq!((pair[0].0, pair[0].2), (30_001, Next::OtherPort));
            assert_eq!((pair[1].0, pair[1].2), (30_002, Next::NewSession(pause)));
        }
        assert_eq!(look.sessions(), 1);
    });
}

pub(crate) fn a_closed_connection_is_a_fallback_and_only_a_new_request_moves_the_arm_again<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.act(Action::Disconnect);
    bench.wait("a fallback", |look| look.mode != Mode::Command);
    bench.look(|look| assert_eq!(look.downs(LinkId::REALTIME).first(), Some(&DownCause::Closed), "{}", look.story()));
    only_a_new_request_moves_again(&mut bench, Reason::LinkClosed);
}

pub(crate) fn a_reset_connection_is_a_fallback_and_a_new_session_follows<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.reset();
    bench.wait("a fallback", |look| look.mode != Mode::Command);
    bench.look(|look| assert_eq!(look.downs(LinkId::REALTIME).first(), Some(&DownCause::Closed), "{}", look.story()));
    only_a_new_request_moves_again(&mut bench, Reason::LinkClosed);
}

pub(crate) fn silence_is_a_fallback_and_then_the_end_of_the_session<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    // Neither side closes, and no more data arrive: the behaviour of a controller behind a cut cable.
    bench.fault(FaultKind::Stall, Some(Duration::from_secs(4)));
    bench.wait("a fallback", |look| look.mode != Mode::Command);
    bench.wait("the end of the session", |look| look.downs(LinkId::REALTIME).first() == Some(&DownCause::Silent));
    only_a_new_request_moves_again(&mut bench, Reason::StateStale);
}

pub(crate) fn text_that_is_not_taken_is_a_fallback_and_then_the_end_of_the_connection<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.take_nothing();
    bench.wait("a fallback", |look| look.mode != Mode::Command);
    bench.wait("the end of the connection", |look| {
        look.downs(LinkId::REALTIME).first() == Some(&DownCause::Unacknowledged)
    });
    bench.look(|look| {
        assert_eq!((look.fallbacks(), look.latch), (vec![Reason::Unacknowledged], Some(Reason::Unacknowledged)));
    });
}

pub(crate) fn a_restarted_controller_is_found_again_without_power<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.act(Action::Restart(Duration::from_secs(2)));
    bench.wait("a new session", |look| look.mode == Mode::Monitor && look.sessions() == 2);
    bench.wait("what speaks against a request", |look| look.unmet.contains(Reason::RobotNotRunning));
    let moves = bench.look(|look| {
        assert_eq!((look.fallbacks(), look.latch), (vec![Reason::LinkClosed], Some(Reason::LinkClosed)));
        let refused = look.downs(LinkId::PRIMARY).contains(&DownCause::Refused);
        assert!(refused, "it is refused while the controller is away: {}", look.story());
        look.said(TextKind::Move)
    });
    bench.act(Action::ReleaseBrakes);
    bench.wait("the robot runs", |look| !look.unmet.contains(Reason::RobotNotRunning));
    bench.look(|look| assert_eq!(look.said(TextKind::Move), moves, "nothing resumes by itself"));
    bench.tell(Input::Acknowledge);
    bench.resume();
}
