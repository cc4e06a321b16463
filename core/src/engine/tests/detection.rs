//! The detection of the controller and its software.

use super::bench::Bench;
use crate::engine::ur::{
    ConnectConfig, DownCause, Identity, LINKS, Ports, UrConfig, UrEvent, UrOptions, VersionSource,
};
use crate::engine::{Event, Input, LinkId};
use crate::mode::Mode;
use outrigger_wire::frame::Found;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

const DASHBOARD: &[u8] = b"Connected: Universal Robots Dashboard Server\n";

fn started(major: u8, minor: u8, prepare: impl FnOnce(&mut Bench)) -> Bench {
    let mut bench = Bench::new(major, minor, UrConfig::default());
    prepare(&mut bench);
    bench.input(Input::Start);
    bench
}

fn downs(bench: &Bench) -> Vec<(u16, DownCause)> {
    let down = |event: &Event<UrEvent>| match event {
        Event::Peer(UrEvent::Down { endpoint, cause, .. }) => Some((endpoint.port, *cause)),
        _ => None,
    };
    bench.events.iter().filter_map(down).collect()
}

#[test]
fn every_generation_is_known_by_its_version_message() {
    for (major, minor, size, millis) in
        [(1, 8, 812, 8), (3, 1, 1044, 8), (3, 5, 1108, 8), (3, 15, 1140, 8), (5, 9, 1140, 2), (5, 15, 1220, 2)]
    {
        let mut bench = started(major, minor, |_| {});
        bench.run(300);
        let identity = Identity {
            software: SoftwareVersion::new(major, minor),
            known_by: VersionSource::Message,
            packet_size: size,
            period: Duration::from_millis(millis),
            states: LinkId::REALTIME,
        };
        assert_eq!(bench.engine.peer().identity(), Some(&identity));
        assert_eq!((bench.engine.mode(), &bench.asked[..]), (Mode::Monitor, &[30_001, 30_003][..]));
    }
}

#[test]
fn without_30001_and_30002_the_packet_tells_the_oldest_software_that_fits() {
    for (major, minor, oldest) in [(3, 4, (3, 2)), (3, 9, (3, 5)), (5, 3, (5, 0)), (5, 9, (5, 9)), (5, 25, (5, 10))] {
        let mut bench = started(major, minor, |b| b.refused = vec![30_001, 30_002]);
        bench.run(200);
        let identity = bench.engine.peer().identity().unwrap();
        assert_eq!(identity.software, SoftwareVersion::new(oldest.0, oldest.1), "{major}.{minor}");
        assert_eq!(identity.known_by, VersionSource::Packet);
        assert_eq!(bench.asked[..3], [30_001, 30_002, 30_003]);
    }
}

#[test]
fn a_silent_30001_is_given_up_for_30002_after_its_deadline() {
    let mut bench = started(5, 15, |b| b.silent = vec![30_001]);
    bench.run(2_500);
    assert_eq!(downs(&bench), [(30_001, DownCause::NoGreeting)]);
    assert_eq!(bench.engine.peer().identity().map(|i| i.known_by), Some(VersionSource::Message));
    assert_eq!(bench.asked, [30_001, 30_002, 30_003]);
}

#[test]
fn a_wrong_service_is_named_at_once() {
    let mut bench = started(5, 15, |b| b.instead = Some((30_001, DASHBOARD.to_vec())));
    bench.run(50);
    assert_eq!(downs(&bench), [(30_001, DownCause::WrongService(Found::Text))]);

    let mut bench = started(5, 15, |b| b.instead = Some((30_003, DASHBOARD.to_vec())));
    bench.run(50);
    assert_eq!(downs(&bench)[0], (30_003, DownCause::WrongService(Found::Text)));
    assert!(bench.engine.peer().identity().is_none());

    let version = [0, 0, 0, 20, 20, 255, 255, 255, 255, 255, 255, 255, 255, 254, 3, 0, 5, 15, 0, 0];
    let mut bench = started(5, 15, |b| b.instead = Some((30_003, version.to_vec())));
    bench.run(50);
    assert_eq!(downs(&bench)[0], (30_003, DownCause::WrongService(Found::Primary)));
}

#[test]
fn a_robot_that_refuses_everything_is_asked_again_ever_more_rarely() {
    let mut bench = started(5, 15, |b| b.refused = vec![30_001, 30_002, 30_003]);
    bench.run(60_000);
    let rounds = bench.asked.iter().filter(|port| **port == 30_003).count();
    // 0, 0.25, 0.75, 1.75, 3.75, 7.75 s, then every 8 s.
    assert_eq!(rounds, 12);
    assert_eq!(bench.engine.mode(), Mode::Offline);
}

#[test]
fn a_configured_software_wins_over_the_message() {
    let config = UrConfig {
        peer: UrOptions { software: Some(SoftwareVersion::new(3, 1)), ..UrOptions::default() },
        ..UrConfig::default()
    };
    let mut bench = Bench::new(5, 15, config);
    bench.input(Input::Start);
    bench.run(300);
    let identity = bench.engine.peer().identity().unwrap();
    assert_eq!((identity.software.major, identity.known_by), (3, VersionSource::Configuration));
    assert_eq!(identity.period, Duration::from_millis(2), "the period is measured all the same");
}

#[test]
fn a_session_can_do_without_the_primary_link_altogether() {
    let ports = Ports { primary: None, secondary: None, realtime: 30_013, rtde: 30_004 };
    let config = UrConfig {
        peer: UrOptions { connect: ConnectConfig { ports, ..ConnectConfig::default() }, ..UrOptions::default() },
        ..UrConfig::default()
    };
    let mut bench = Bench::new(5, 15, config);
    bench.input(Input::Start);
    bench.run(5_000);
    assert_eq!((bench.engine.mode(), &bench.asked[..]), (Mode::Monitor, &[30_013][..]));
}

#[test]
fn a_primary_link_that_comes_back_with_another_version_begins_a_new_session() {
    let mut bench = started(3, 4, |b| b.refused = vec![30_001, 30_002]);
    bench.run(100);
    assert_eq!(bench.engine.peer().identity().map(|i| i.software), Some(SoftwareVersion::new(3, 2)));
    bench.refused.clear();
    bench.run(3_000);
    assert_eq!(bench.engine.peer().identity().map(|i| i.software), Some(SoftwareVersion::new(3, 4)));
    assert!(downs(&bench).contains(&(30_003, DownCause::OtherController)));
}

#[test]
fn a_lost_session_begins_anew_with_everything_detected_again() {
    let mut bench = Bench::ready(5, 15);
    let epoch = bench.engine.mode_machine().epoch();
    bench.close(LinkId::REALTIME);
    assert_eq!((bench.engine.mode(), bench.engine.peer().identity()), (Mode::Offline, None));
    bench.peer = crate::peer::Peer::new(SoftwareVersion::new(3, 15));
    bench.run(1_000);
    assert_eq!(bench.engine.peer().identity().map(|i| i.software), Some(SoftwareVersion::new(3, 15)));
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    assert!(bench.engine.mode_machine().epoch() > epoch);
}

#[test]
fn nothing_is_ever_opened_before_the_start_nor_after_the_shutdown() {
    let mut bench = Bench::new(5, 15, UrConfig::default());
    bench.run(5_000);
    assert!(bench.asked.is_empty());
    bench.input(Input::Start);
    bench.run(500);
    bench.input(Input::Shutdown);
    assert!(bench.engine.is_finished());
    let asked = bench.asked.len();
    bench.run(20_000);
    assert_eq!((bench.asked.len(), bench.open), (asked, [false; LINKS.len()]));
}
