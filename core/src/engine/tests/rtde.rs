//! States by RTDE: when they are requested, the behaviour without RTDE, and that everything else is unchanged.

use super::bench::Bench;
use crate::client::rtde::SetupStep;
use crate::engine::ur::rtde::Unusable;
use crate::engine::ur::{
    ConnectConfig, DownCause, LINKS, Memory, Next, StatesFrom, UrConfig, UrEngine, UrEvent, UrOptions,
};
use crate::engine::{ConfigError, Event, Input, LinkId};
use crate::mode::{Mode, Proof};
use crate::robot::Reason;
use outrigger_wire::primary::ReportKind;
use outrigger_wire::robot::{ProgramState, Safety, SafetyMode};
use outrigger_wire::rtde::{Level, Reply, TextMessage};
use outrigger_wire::time::Duration;

const SOFTWARE: [(u8, u8); 5] = [(3, 4), (3, 9), (3, 15), (5, 0), (5, 15)];

fn config(states: StatesFrom) -> UrConfig {
    UrConfig {
        peer: UrOptions { connect: ConnectConfig { states, ..ConnectConfig::default() }, ..UrOptions::default() },
        ..UrConfig::default()
    }
}

fn auto() -> Bench {
    Bench::with_rtde(5, 15, UrConfig::default())
}

fn source(bench: &Bench) -> Option<LinkId> {
    bench.engine.peer().identity().map(|identity| identity.states)
}

/// Returns the causes for which the link of RTDE went down, and the consequences.
fn downs(bench: &Bench) -> Vec<(DownCause, Next)> {
    let down = |event: &Event<UrEvent>| match event {
        Event::Peer(UrEvent::Down { link: LinkId::RTDE, cause, next, .. }) => Some((*cause, *next)),
        _ => None,
    };
    bench.events.iter().filter_map(down).collect()
}

#[test]
fn software_that_has_rtde_is_asked_for_states_there() {
    for (major, minor) in SOFTWARE {
        let bench = Bench::with_rtde(major, minor, UrConfig::default()).started();
        assert_eq!((source(&bench), &bench.asked[..]), (Some(LinkId::RTDE), &[30_001, 30_003, 30_004][..]));
        assert!(LINKS.iter().all(|link| bench.engine.peer().is_up(*link)), "{major}.{minor}");
        assert!(bench.engine.peer().counts(LinkId::RTDE).messages > 100);
    }
    for (major, minor) in [(1, 8), (3, 0), (3, 3)] {
        let bench = Bench::with_rtde(major, minor, UrConfig::default()).started();
        assert_eq!((source(&bench), &bench.asked[..]), (Some(LinkId::REALTIME), &[30_001, 30_003][..]));
    }
}

#[test]
fn rtde_is_asked_where_it_is_wanted_and_there_is_memory_for_it() {
    let bench = Bench::with_rtde(5, 15, config(StatesFrom::Realtime)).started();
    assert_eq!((source(&bench), bench.asked.contains(&30_004)), (Some(LinkId::REALTIME), false));
    let bench = Bench::ready(5, 15);
    assert_eq!((source(&bench), bench.asked.contains(&30_004)), (Some(LinkId::REALTIME), false));
    assert!(bench.engine.peer().rtde().is_none());
    // As configured, for any version.
    let bench = Bench::with_rtde(3, 3, config(StatesFrom::Rtde)).started();
    assert_eq!(source(&bench), Some(LinkId::RTDE));
    let memory = Memory { primary: &mut [0; 4096], realtime: &mut [0; 8192], rtde: None };
    let error = UrEngine::new(config(StatesFrom::Rtde), super::bench::turning(), memory).map(|_| ());
    assert!(matches!(error, Err(ConfigError::Memory { field: "rtde", found: 0, .. })));
}

#[test]
fn every_software_with_rtde_is_armed_commanded_and_brought_to_rest() {
    for (major, minor) in SOFTWARE {
        let mut bench = Bench::with_rtde(major, minor, UrConfig::default()).started().commanding();
        bench.input(Input::Release);
        bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
        let modes: Vec<_> = bench.transitions().iter().map(|t| t.to).collect();
        assert_eq!(modes, [Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping, Mode::Monitor]);
        assert_eq!((bench.peer.qd, bench.engine.latch()), ([0.0; 6], None), "{major}.{minor}");
    }
}

#[test]
fn each_state_is_answered_once_by_either_source() {
    let texts = |bench: Bench| {
        let mut bench = bench.started().commanding();
        let (from, states) = (bench.now, bench.peer.micros);
        bench.run(1_000);
        let sent = bench.sent.iter().filter(|sent| sent.at > from).count();
        (sent as u64, (bench.peer.micros - states) / bench.peer.period())
    };
    let (sent, cycles) = texts(auto());
    assert_eq!(sent, cycles);
    assert_eq!(texts(Bench::new(5, 15, UrConfig::default())), (sent, cycles));
}

#[test]
fn what_keeps_rtde_from_giving_states_is_told_and_30003_takes_its_place() {
    type Change = fn(&mut Bench);
    type Expected = fn(DownCause) -> bool;
    let cases: [(&str, Change, Expected); 8] = [
        ("refused", |b| b.refused = vec![30_004], |cause| cause == DownCause::Refused),
        ("silent", |b| b.silent = vec![30_004], |cause| cause == DownCause::NoGreeting),
        (
            "lacks a variable",
            |b| b.peer.rtde.missing = vec!["target_qd"],
            |cause| matches!(cause, DownCause::Rtde(Unusable::Missing(v)) if v.name() == "target_qd"),
        ),
        (
            "another type",
            |b| b.peer.rtde.words = vec![("timestamp", "UINT64")],
            |cause| matches!(cause, DownCause::Rtde(Unusable::OtherType(v)) if v.name() == "timestamp"),
        ),
        (
            "a type nobody knows",
            |b| b.peer.rtde.words = vec![("robot_mode", "ENUM")],
            |cause| matches!(cause, DownCause::Rtde(Unusable::OtherType(v)) if v.name() == "robot_mode"),
        ),
        (
            "no answer to the set-up",
            |b| b.peer.rtde.silent_on = vec![b'O'],
            |cause| cause == DownCause::Rtde(Unusable::NoReply(SetupStep::Outputs)),
        ),
        ("no answer to the start", |b| b.peer.rtde.silent_on = vec![b'S'], |cause| cause == DownCause::NoGreeting),
        (
            "no packages",
            |b| b.instead = Some((30_004, vec![0; 64])),
            |cause| cause == DownCause::Rtde(Unusable::NoPackages),
        ),
    ];
    for (name, change, expected) in cases {
        let mut bench = auto();
        change(&mut bench);
        let bench = bench.started().commanding();
        let (cause, next) = downs(&bench)[0];
        assert!(expected(cause) && next == Next::Without, "{name}: {cause:?}, {next:?}");
        assert_eq!((source(&bench), downs(&bench).len()), (Some(LinkId::REALTIME), 1), "{name}");
        assert!(!bench.open[LinkId::RTDE.index()] && !bench.engine.peer().is_up(LinkId::RTDE), "{name}");

        let mut bench = Bench::with_rtde(5, 15, config(StatesFrom::Rtde));
        change(&mut bench);
        bench.input(Input::Start);
        bench.run(12_000);
        assert!(matches!(downs(&bench)[..], [(_, Next::NewSession(_)), (_, Next::NewSession(_)), ..]), "{name}");
        assert_eq!((source(&bench), bench.engine.mode()), (None, Mode::Offline), "{name}");
    }
}

#[test]
fn a_service_closed_while_it_is_asked_is_done_without() {
    let mut bench = auto();
    bench.silent = vec![30_004];
    bench.input(Input::Start);
    bench.run(200);
    assert!(bench.open[LinkId::RTDE.index()] && source(&bench).is_none());
    bench.close(LinkId::RTDE);
    assert_eq!(downs(&bench), [(DownCause::Closed, Next::Without)]);
    assert_eq!(source(&bench), Some(LinkId::REALTIME));
}

#[test]
fn variables_that_old_software_lacks_are_absent_from_the_state() {
    let missing = vec!["safety_status", "runtime_state", "target_speed_fraction", "actual_TCP_force"];
    let mut bench = auto();
    bench.peer.rtde.missing = missing;
    let bench = bench.started().commanding();
    let state = bench.engine.state().unwrap();
    assert_eq!((state.safety, state.tcp_force), (Safety::Mode(SafetyMode::Normal), None));
    assert_eq!(
        (state.program_state, state.speed_scaling),
        (Some(ProgramState::Playing), Some(1.0)),
        "by the other words"
    );
    assert!(state.tcp_pose.is_some());
}

#[test]
fn the_state_by_rtde_is_the_one_of_30003() {
    let mut states = [auto(), Bench::new(5, 15, UrConfig::default())].map(|bench| {
        let mut bench = bench.started();
        bench.peer.digital_inputs = 0b101;
        bench.run(100);
        *bench.engine.state().unwrap()
    });
    states[1].controller_time = states[0].controller_time;
    assert_eq!(states[0], states[1]);
}

#[test]
fn the_program_state_of_rtde_is_evidence_where_the_packets_number_is_none() {
    let proof = |bench: Bench| bench.started().commanding().engine.mode_machine().accepted_by();
    assert_eq!(proof(auto()), Some(Proof::ProgramState));
    assert_eq!(proof(Bench::new(5, 15, UrConfig::default())), Some(Proof::ProgramRunning));
}

#[test]
fn states_that_stop_coming_end_commanding_though_30003_goes_on() {
    let mut bench = auto().started().commanding();
    bench.rtde_stalled = true;
    bench.run(60);
    assert_eq!(bench.engine.latch(), Some(Reason::StateStale));
    assert_ne!(bench.engine.mode(), Mode::Command);
    bench.run(2_500);
    assert_eq!(downs(&bench).first(), Some(&(DownCause::Silent, Next::NewSession(Duration::from_millis(250)))));
    assert_eq!(bench.peer.qd, [0.0; 6]);
    bench.rtde_stalled = false;
    bench.run(5_000);
    assert_eq!((source(&bench), bench.engine.mode()), (Some(LinkId::RTDE), Mode::Monitor));
}

#[test]
fn the_loss_of_either_link_ends_commanding_and_the_session() {
    for link in [LinkId::REALTIME, LinkId::RTDE] {
        let mut bench = auto().started().commanding();
        bench.close(link);
        assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Offline, Some(Reason::LinkClosed)));
        assert_eq!(bench.open, [false; LINKS.len()], "the other links are given up with it");
        bench.run(2_000);
        assert_eq!((source(&bench), bench.engine.mode()), (Some(LinkId::RTDE), Mode::Monitor));
        assert_eq!(bench.peer.qd, [0.0; 6], "the arm stops by itself");
    }
}

#[test]
fn text_that_is_not_acknowledged_ends_commanding_as_before() {
    let mut bench = auto().started().commanding();
    for age in [10, 30, 50] {
        let age = Duration::from_millis(age);
        bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 90, age });
    }
    assert_eq!(bench.engine.latch(), Some(Reason::Unacknowledged));
}

#[test]
fn a_service_whose_clock_begins_anew_ends_commanding() {
    let mut bench = auto().started().commanding();
    bench.peer.micros = 0;
    bench.run(20);
    assert!(bench.events.iter().any(|event| matches!(event, Event::ClockJump(_))));
    assert_eq!(bench.engine.latch(), Some(Reason::ClockJump));
}

#[test]
fn what_the_service_says_is_reported() {
    let mut bench = auto().started();
    let text = TextMessage { level: Level::Error, message: b"unknown package", source: Some(b"RTDE") };
    bench.peer.rtde.send(&Reply::Text(text));
    bench.run(10);
    let said = |event: &Event<UrEvent>| matches!(event, Event::Peer(UrEvent::Report(r)) if r.kind == ReportKind::Text && r.text.as_str() == "unknown package");
    assert!(bench.events.iter().any(said));
}

#[test]
fn a_session_that_comes_back_with_older_software_uses_what_that_has() {
    let mut bench = auto().started();
    bench.close(LinkId::RTDE);
    bench.peer = crate::peer::Peer::new(outrigger_wire::robot::SoftwareVersion::new(3, 3));
    bench.run(2_000);
    assert_eq!((source(&bench), bench.engine.mode()), (Some(LinkId::REALTIME), Mode::Monitor));
}

#[test]
fn rtde_tells_the_software_where_the_primary_link_does_not() {
    let mut bench = auto();
    bench.refused = vec![30_001, 30_002];
    bench.input(Input::Start);
    bench.run(500);
    let identity = *bench.engine.peer().identity().unwrap();
    assert_eq!((identity.software.major, identity.software.minor, identity.states), (5, 15, LinkId::RTDE));
}

#[cfg(feature = "record")]
#[test]
fn recordings_of_all_three_links_are_replayed() {
    let mut bench = auto().started().commanding();
    bench.run(1_000);
    bench.rtde_stalled = true;
    bench.run(120);
    bench.rtde_stalled = false;
    bench.run(50);
    let replayed = bench.replay().unwrap();
    assert!(replayed.transitions > 0, "{replayed:?}");
    assert!(replayed.inputs > 100 && replayed.texts > 10, "{replayed:?}");
    // The whole session, from before the links were opened.
    let mut bench = auto().started().commanding();
    bench.close(LinkId::RTDE);
    bench.run(2_000);
    assert!(bench.replay().is_ok(), "{:?}", bench.replay());
    let memory = Memory { primary: &mut [0; 4096], realtime: &mut [0; 8192], rtde: None };
    let error =
        crate::engine::replay::<6, crate::engine::ur::Ur<'_>, _>(&bench.dump(), super::bench::turning(), memory);
    assert_eq!(error, Err(crate::engine::ReplayError::Memory { expected: [4096, 8192, 1024, 0] }));
}
