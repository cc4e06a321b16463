//! Connecting, arming, moving, stopping.

use outrigger_core::engine::ur::{DownCause, LINKS, UrEvent, VersionSource};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::{Action, StartState};
use outrigger_tests::cosim::REST;
use outrigger_wire::robot::SoftwareVersion;

use crate::Bench;
use crate::bench::{E_SERIES, Look, TextKind, slow_turn};

/// Returns whether no joint of the arm moves.
fn at_rest(look: &Look<'_>) -> bool {
    look.controller.truth().qd.iter().all(|speed| speed.abs() <= REST)
}

pub(crate) fn it_connects_learns_the_version_and_says_nothing<B: Bench>() {
    for software in [SoftwareVersion::new(1, 8), SoftwareVersion::new(3, 15), E_SERIES] {
        let mut bench = B::start(slow_turn(software));
        bench.ready();
        bench.look(|look| {
            let identity = |event: &Event<UrEvent>| {
                if let Event::Peer(UrEvent::Established(it)) = event { Some(*it) } else { None }
            };
            let identity = look.events.iter().find_map(identity).expect("a session");
            assert_eq!((identity.software, identity.known_by), (software, VersionSource::Message));
            assert_eq!(u128::from(identity.period.as_micros()), look.controller.period().as_micros());
            assert_eq!(look.modes(), [Mode::Monitor]);
            assert_eq!(look.texts, []);
            for link in LINKS {
                assert_eq!(look.downs(link), []);
            }
        });
    }
}

pub(crate) fn it_arms_on_request_and_moves_after_a_hundred_good_cycles<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.look(|look| {
        assert_eq!(look.modes(), [Mode::Monitor, Mode::Arming, Mode::Command]);
        let texts = look.texts;
        let holds = texts.iter().take_while(|said| **said == TextKind::Hold).count();
        // The second is sent once the first is shown to run, which takes up to 0.1 s with states from 30003.
        assert!(holds >= 40, "{holds} zero velocities before the first motion");
        assert!(texts[holds..].iter().all(|said| *said == TextKind::Move), "{:?}", &texts[holds..]);
    });
}

pub(crate) fn each_state_is_answered_once_at_most<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.wait("300 moving commands", |look| look.said(TextKind::Move) >= 300);
    bench.look(|look| {
        let (moves, states) = (look.said(TextKind::Move) as u64, look.commanded);
        assert!(moves <= states, "{moves} moving commands for {states} states");
        assert_eq!(look.fallbacks(), []);
    });
}

pub(crate) fn a_release_ends_in_zero_velocities_and_one_stopj<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.tell(Input::Release);
    bench.wait("standstill", |look| look.mode == Mode::Monitor);
    bench.look(|look| {
        assert_eq!(look.modes()[2..], [Mode::Command, Mode::Stopping, Mode::Monitor]);
        assert_eq!((look.fallbacks(), look.latch), (vec![Reason::Released], None));
        assert!(
            look.texts.ends_with(&[TextKind::Move, TextKind::Hold, TextKind::Hold, TextKind::Hold, TextKind::Stop]),
            "{}",
            look.story()
        );
        assert_eq!(look.said(TextKind::Stop), 1);
        assert!(at_rest(look), "{:?}", look.controller.truth().qd);
    });
    // The motion continues only on request.
    bench.resume();
}

pub(crate) fn a_shutdown_stops_the_arm_first_and_closes_everything<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.tell(Input::Shutdown);
    bench.wait("the end of the port", |look| look.over);
    bench.look(|look| {
        assert_eq!(look.modes()[2..], [Mode::Command, Mode::Stopping, Mode::Monitor, Mode::Offline]);
        assert_eq!(look.texts.last(), Some(&TextKind::Stop));
        assert!(at_rest(look), "{:?}", look.controller.truth().qd);
    });
    bench.wait("no connection is left", |look| look.controller.clients() == 0);
}

pub(crate) fn local_control_is_never_commanded_and_left_by_connecting_anew<B: Bench>() {
    let mut setup = slow_turn(E_SERIES);
    setup.controller.state = StartState::Local;
    let mut bench = B::start(setup);
    // Local control is not visible before the first text.
    bench.ready();
    bench.ask(Input::Request);
    bench.wait("the end of arming", |look| look.modes().contains(&Mode::Arming) && look.mode == Mode::Monitor);
    bench.look(|look| {
        assert_eq!(look.modes(), [Mode::Monitor, Mode::Arming, Mode::Monitor]);
        assert_eq!((look.latch, look.said(TextKind::Move)), (Some(Reason::NotRemote), 0));
    });
    bench.act(Action::SwitchToRemote);
    bench.tell(Input::Acknowledge);
    bench.wait("connections that may command", |look| look.sessions() == 2);
    bench.look(|look| assert_eq!(look.downs(LinkId::REALTIME), [DownCause::LocalControl]));
    bench.command();
}

pub(crate) fn a_protective_stop_is_a_fallback_without_a_word<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    bench.act(Action::ProtectiveStop);
    bench.wait("the end of the fallback", |look| look.mode == Mode::Monitor);
    bench.look(|look| {
        assert_eq!((look.fallbacks(), look.latch), (vec![Reason::ProtectiveStop], Some(Reason::ProtectiveStop)));
        assert_eq!(look.texts.last(), Some(&TextKind::Move), "nothing is said to a robot that has stopped by itself");
    });
}
