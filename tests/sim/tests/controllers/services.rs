//! Services that are switched off, restarts, and PolyScope X: the ports of each, and their times.

use crate::common::{Bench, f64_at, ideal};
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::service::Service;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

/// Returns the ports on which the simulated controller accepts a client.
fn open(controller: &Controller) -> Vec<u16> {
    Port::ALL.into_iter().filter(|port| controller.listens(*port)).map(Port::number).collect()
}

#[test]
fn each_generation_has_its_ports() {
    let cases = [
        ((1, 8), &[29_999, 30_001, 30_002, 30_003][..]),
        ((3, 4), &[29_999, 30_001, 30_002, 30_003, 30_004]),
        ((3, 15), &[29_999, 30_001, 30_002, 30_003, 30_004, 30_011, 30_012, 30_013]),
        ((5, 9), &[29_999, 30_001, 30_002, 30_003, 30_004, 30_011, 30_012, 30_013]),
        ((5, 25), &[29_999, 30_001, 30_002, 30_003, 30_004, 30_011, 30_012, 30_013, 30_020]),
        ((10, 10), &[30_001, 30_002, 30_003, 30_004, 30_011, 30_012, 30_013, 30_020]),
        ((10, 11), &[30_001, 30_002, 30_003, 30_004, 30_011, 30_012, 30_013, 30_020, 80]),
    ];
    for ((major, minor), ports) in cases {
        assert_eq!(open(&Bench::software(major, minor).controller), ports, "{major}.{minor}");
    }
}

#[test]
fn what_polyscope_x_serves_of_the_old_interfaces_can_be_chosen() {
    let mut options = ideal(10, 12);
    options.polyscope_x.realtime = false;
    options.polyscope_x.read_only = false;
    assert_eq!(open(&Controller::new(options).unwrap()), [30_001, 30_002, 30_004, 30_020, 80]);
}

#[test]
fn polyscope_x_sends_what_the_last_e_series_sends_at_500_hz_and_says_who_it_is() {
    let mut bench = Bench::software(10, 12);
    let clients = [Port::Primary, Port::Realtime].map(|port| bench.connect(port));
    bench.run(1000);
    let packets = bench.messages(clients[1]);
    assert_eq!((packets.len(), packets[0].len()), (500, 1220));
    assert_eq!(f64_at(&packets[0], 756), 7.0, "RUNNING as CB3 counts");
    let messages = bench.messages(clients[0]);
    assert_eq!(messages[0][14..27], *b"\x03\x09URControl\x0a\x0c", "version 10.12");
    let first = messages.iter().find(|message| message[4] == 16).unwrap();
    assert!(first.windows(5).any(|bytes| bytes == [0, 0, 1, 193, 6]), "configuration data of 449 bytes");
    let rtde = bench.connect(Port::Rtde);
    bench.package(rtde, b'v', b"");
    assert_eq!(bench.answer(rtde, b'v')[..8], [0, 0, 0, 10, 0, 0, 0, 12]);
}

#[test]
fn a_service_that_is_off_closes_its_connections_and_refuses_until_it_is_on() {
    for (service, name) in Service::NAMED {
        let mut bench = Bench::software(10, 12);
        if service == Service::Dashboard {
            bench = Bench::software(5, 15);
        }
        let before = open(&bench.controller);
        let ports: Vec<_> = Port::ALL.into_iter().filter(|port| bench.controller.listens(*port)).collect();
        let clients: Vec<_> = ports.into_iter().map(|port| (port, bench.connect(port))).collect();
        bench.controller.inject(Fault::parse(&format!("service-off@1s:1s:{name}")).unwrap());
        bench.run(1500);
        for (port, conn) in clients {
            assert_eq!(bench.controller.is_open(conn), Service::of(port) != Some(service), "{name}: {port:?}");
            assert_eq!(bench.controller.listens(port), Service::of(port) != Some(service), "{name}: {port:?}");
        }
        bench.run(1000);
        assert_eq!(open(&bench.controller), before, "{name}");
    }
}

#[test]
fn services_can_be_off_from_the_start_where_the_software_has_the_switches() {
    let with = |major, minor| {
        let options = ideal(major, minor);
        Controller::new(Options { services_off: vec![Service::Rtde, Service::Primary], ..options })
    };
    assert_eq!(open(&with(5, 10).unwrap()), [29_999, 30_002, 30_003, 30_012, 30_013, 30_020]);
    assert_eq!(with(5, 9).unwrap_err().to_string(), "services of software 5.9 cannot be switched off: it needs 5.10");
}

#[test]
fn on_software_without_switches_nothing_is_switched() {
    let mut bench = Bench::software(3, 15);
    bench.controller.act(Action::SwitchService(Service::Rtde, false));
    assert!(bench.controller.listens(Port::Rtde));
}

#[test]
fn after_a_restart_rtde_is_restarted_once_more_with_its_clock_at_zero() {
    let mut options = ideal(5, 15);
    options.faults = vec![Fault::parse("restart@1s:2s").unwrap()];
    let mut bench = Bench::new(options);
    bench.run(4000);
    let (rtde, realtime) = (bench.subscribe(500.0, "timestamp"), bench.connect(Port::Realtime));
    bench.run(1900);
    let (_, data) = bench.packages(rtde).pop().unwrap();
    assert!((f64_at(&data, 1) - 2.9).abs() < 0.02);
    bench.run(200);
    assert!(!bench.controller.is_open(rtde) && bench.controller.is_open(realtime));
    let again = bench.subscribe(500.0, "timestamp");
    bench.run(1000);
    let (_, data) = bench.packages(again).pop().unwrap();
    assert!((f64_at(&data, 1) - 1.1).abs() < 0.02, "from zero");
    let packet = bench.messages(realtime).pop().unwrap();
    assert!((f64_at(&packet, 4) - 4.1).abs() < 0.02, "30003 goes on");
    bench.run(20_000);
    assert!(bench.controller.is_open(again), "only once");
}

#[test]
fn whether_local_control_closes_30003_can_be_chosen() {
    for closes in [false, true] {
        let mut options = ideal(5, 15);
        options.local_closes_realtime = closes;
        let mut bench = Bench::new(options);
        let [primary, realtime, rtde] = [Port::Primary, Port::Realtime, Port::Rtde].map(|port| bench.connect(port));
        bench.controller.act(Action::SwitchToLocal);
        assert_eq!([primary, realtime, rtde].map(|conn| bench.controller.is_open(conn)), [false, !closes, true]);
    }
}

#[test]
fn several_clients_on_each_port_get_the_same() {
    let mut bench = Bench::software(5, 15);
    for port in [Port::Primary, Port::Secondary, Port::Realtime] {
        let clients = [(); 5].map(|()| bench.connect(port));
        bench.run(500);
        let first = bench.take(clients[0]);
        assert!(first.len() > 1000);
        assert!(clients[1..].iter().all(|conn| bench.take(*conn) == first), "{port:?}");
    }
}

#[test]
fn every_arm_of_the_e_series_runs_polyscope_x() {
    for model in RobotModel::ALL {
        let made = Controller::new(Options::new(*model, SoftwareVersion::new(10, 11)));
        let old = matches!(model, RobotModel::Ur3 | RobotModel::Ur5 | RobotModel::Ur10);
        assert_eq!(made.is_ok(), !old, "{}", model.name());
    }
}
