//! Invariants under arbitrary clients, operators and faults: no panic, bounded memory, complete messages, and an arm
//! that never moves when it may not.

use std::time::Duration;

use crate::common::{Bench, i32_at, ideal};
use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::fault::Fault;
use outrigger_sim::model::POSITION_LIMIT;
use outrigger_sim::port::Port;
use outrigger_sim::service::Service;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Step {
    Connect(Port),
    Write(usize, String),
    Packages(usize, Vec<u8>),
    Disconnect(usize),
    Act(Action),
    Inject(&'static str),
    Run(u64),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        (-4.0..4.0f64, 0.0..50.0f64, 0.0..0.5f64)
            .prop_map(|(v, a, t)| format!("speedj([{v:.4},0,0,0,0,{v:.4}],{a:.3},{t:.3})\n")),
        (-7.0..7.0f64).prop_map(|q| format!("servoj([{q:.4},0,0,0,0,0],0,0,0.1,0.1,300)\n")),
        (0.1..9.0f64).prop_map(|a| format!("stopj({a:.3})\n")),
        Just("def p():\n while True:\n  sync()\n end\nend\n".to_owned()),
        Just("def q():\n speedj([1,0,0,0,0,0],5,0.1)\n sleep(0.2)\nend\n".to_owned()),
        Just("movej([1,-1,1,-1,1,-1],2,1)\n".to_owned()),
        Just("power off\npower on\nbrake release\nset speed 0.3\n".to_owned()),
        Just("robotmode\nunlock protective stop\nplay\nstop\n".to_owned()),
        Just(
            "load idle.urp\nplay\ngenerate flight report system\nsaveLog\nload installation default.installation\n"
                .to_owned()
        ),
        http(),
        ".{0,40}",
        "[a-z(){}\\[\\],.0-9\n ]{0,60}",
    ]
}

/// Returns a request of the Robot API, mostly a valid one.
fn http() -> impl Strategy<Value = String> {
    let method = prop::sample::select(vec!["GET", "PUT", "POST", "BREW"]);
    let path = prop::sample::select(vec![
        "/robotstate/v1/state",
        "/robotstate/v1/robotmode",
        "/program/v1/loaded",
        "/program/v1/load",
        "/program/v1/state",
        "/programs/v1/",
        "/openapi.json",
        "/%zz",
    ]);
    let body = prop_oneof![
        prop::sample::select(vec![
            r#"{"action":"POWER_ON"}"#,
            r#"{"action":"BRAKE_RELEASE"}"#,
            r#"{"action":"play"}"#,
            r#"{"name":"idle"}"#,
            "[1,2",
            "",
        ])
        .prop_map(str::to_owned),
        ".{0,30}",
    ];
    (method, path, body, any::<bool>()).prop_map(|(method, path, body, closes)| {
        let (length, connection) = (body.len(), if closes { "close" } else { "keep-alive" });
        let head = format!("{method} /universal-robots/robot-api{path} HTTP/1.1\r\nConnection: {connection}");
        format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}")
    })
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::EmergencyStop),
        Just(Action::ReleaseEmergencyStop),
        Just(Action::ProtectiveStop),
        Just(Action::UnlockProtectiveStop),
        Just(Action::OpenSafeguard),
        Just(Action::CloseSafeguard),
        Just(Action::OpenAutomaticSafeguard),
        Just(Action::SafetyViolation),
        Just(Action::SafetyFault),
        Just(Action::RestartSafety),
        prop::sample::select(Service::NAMED.to_vec()).prop_map(|(service, _)| Action::SwitchService(service, false)),
        prop::sample::select(Service::NAMED.to_vec()).prop_map(|(service, _)| Action::SwitchService(service, true)),
        Just(Action::Push([1.0; 6])),
        Just(Action::PowerOn),
        Just(Action::PowerOff),
        Just(Action::ReleaseBrakes),
        Just(Action::SwitchToLocal),
        Just(Action::SwitchToRemote),
        (0.0..1.0f64).prop_map(Action::Slider),
        Just(Action::PauseProgram),
        Just(Action::ResumeProgram),
        Just(Action::StopProgram),
        Just(Action::StartForeignProgram(0.2)),
        Just(Action::SecondCommander(Some(0.1))),
        Just(Action::SecondCommander(None)),
        any::<i64>().prop_map(Action::JumpClock),
        Just(Action::Restart(Duration::from_millis(300))),
        any::<u32>().prop_map(Action::DigitalInputs),
    ]
}

/// Returns a package of 30004, mostly a valid one.
fn package() -> impl Strategy<Value = Vec<u8>> {
    let names = prop::sample::select(vec![
        "timestamp,actual_q",
        "output_int_register_24,input_int_register_24",
        "input_int_register_24",
        "speed_slider_mask,speed_slider_fraction",
        "standard_digital_output_mask,standard_digital_output",
        "external_force_torque",
        "nobody_knows_it",
        ",",
        "",
    ]);
    let frequency = prop::sample::select(vec![500.0, 125.0, 0.1, f64::NAN]);
    let named = (names, frequency, any::<bool>()).prop_map(|(names, frequency, outputs)| match outputs {
        true => (b'O', [&frequency.to_be_bytes()[..], names.as_bytes()].concat()),
        false => (b'I', names.as_bytes().to_vec()),
    });
    let data = (0..4u8, vec(any::<u8>(), 0..60)).prop_map(|(recipe, values)| (b'U', [&[recipe], &values[..]].concat()));
    let plain = prop::sample::select(vec![b'S', b'S', b'P', b'v']).prop_map(|letter| (letter, vec![]));
    let version = (0..4u8).prop_map(|version| (b'V', vec![0, version]));
    let noise = (any::<u8>(), vec(any::<u8>(), 0..40));
    prop_oneof![named, data, plain, version, noise].prop_map(|(letter, payload)| {
        let size = u16::try_from(payload.len() + 3).unwrap();
        [&size.to_be_bytes()[..], &[letter], &payload].concat()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let fault = prop::sample::select(vec![
        "split@0:200ms:3",
        "coalesce@0:300ms:3",
        "jitter@0:500ms:20ms",
        "stall@0:200ms",
        "backlog@0:200ms:100ms",
        "nagle@0:1s",
        "loss@0:1s:50%",
        "drop@0",
        "truncated@0:100ms:900",
        "oversize@0:200ms:9000",
        "unknown@0:200ms",
        "extended@0:100ms:900",
        "polluted@0:200ms:3",
        "skip@0:200ms:2",
        "repeat@0:200ms:2",
        "wrong-type@0:200ms",
        "wrong-recipe@0:200ms:2",
        "mute@0:200ms",
        "garbage@0:200ms",
        "hang-up@0:200ms",
        "violation@0:1s",
        "service-off@0:1s:realtime",
    ]);
    prop_oneof![
        prop::sample::select(Port::ALL.to_vec()).prop_map(Step::Connect),
        (0..6usize, text()).prop_map(|(client, text)| Step::Write(client, text)),
        (0..6usize, vec(package(), 1..4)).prop_map(|(client, packages)| Step::Packages(client, packages.concat())),
        (0..6usize).prop_map(Step::Disconnect),
        action().prop_map(Step::Act),
        fault.prop_map(Step::Inject),
        (10..400u64).prop_map(Step::Run),
    ]
}

/// Checks the invariants after every time step.
fn check(bench: &Bench) {
    let (arm, robot) = (bench.controller.truth(), bench.controller.robot());
    let limits = arm.speed_limits();
    // A stop at a limit needs its stopping distance.
    assert!(arm.q.iter().all(|q| q.abs() < POSITION_LIMIT + 0.6), "{:?}", arm.q);
    assert!(arm.qd.iter().all(|qd| qd.is_finite()), "{:?}", arm.qd);
    let mut targets = arm.targets.qd.iter().zip(limits);
    assert!(targets.all(|(qd, limit)| qd.abs() <= limit), "{:?}", arm.targets.qd);
    if !robot.powered() {
        assert_eq!(arm.qd, [0.0; 6]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_events_breaks_the_controller(
        software in prop::sample::select(vec![(1u8, 5u8), (1, 8), (3, 0), (3, 3), (3, 15), (5, 0), (5, 25), (10, 11), (10, 12)]),
        steps in vec(step(), 1..40),
    ) {
        let mut bench = Bench::new(ideal(software.0, software.1));
        let mut clients: Vec<Conn> = vec![];
        for step in steps {
            match step {
                Step::Connect(port) => {
                    if let Ok(conn) = bench.controller.connect(port) {
                        clients.push(conn);
                    }
                }
                Step::Packages(client, bytes) => {
                    if let Some(conn) = clients.get(client) {
                        bench.controller.write(*conn, &bytes);
                    }
                }
                Step::Write(client, text) => {
                    if let Some(conn) = clients.get(client) {
                        bench.controller.write(*conn, text.as_bytes());
                    }
                }
                Step::Disconnect(client) => {
                    if client < clients.len() {
                        bench.controller.disconnect(clients.swap_remove(client));
                    }
                }
                Step::Act(action) => bench.controller.act(action),
                Step::Inject(spec) => {
                    let mut fault = Fault::parse(spec).unwrap();
                    fault.start = bench.controller.now();
                    bench.controller.inject(fault);
                }
                Step::Run(millis) => {
                    bench.run(millis);
                    check(&bench);
                }
            }
        }
        // A stop brings the arm to rest in any situation.
        bench.controller.act(Action::SecondCommander(None));
        bench.controller.act(Action::ProtectiveStop);
        bench.controller.act(Action::EmergencyStop);
        bench.run(1500);
        check(&bench);
        prop_assert!(bench.controller.truth().at_rest() && !bench.controller.robot().powered());
    }

    #[test]
    fn every_byte_stream_is_whole_messages_as_long_as_nothing_cuts_them(
        software in prop::sample::select(vec![(1u8, 5u8), (1, 8), (3, 2), (3, 10), (5, 9), (5, 25)]),
        faults in prop::sample::subsequence(vec!["split@0::5", "jitter@0::9ms", "loss@0::10%", "extended@0::7", "unknown@0", "truncated@0::4", "repeat@0::3"], 0..=7),
        texts in vec(text(), 0..6),
    ) {
        let mut options = ideal(software.0, software.1);
        options.faults = faults.iter().map(|spec| Fault::parse(spec).unwrap()).collect();
        let mut bench = Bench::new(options);
        let clients = [Port::Primary, Port::Secondary, Port::Realtime].map(|port| bench.connect(port));
        for text in texts {
            bench.controller.write(clients[2], text.as_bytes());
            bench.run(60);
        }
        bench.run(300);
        for conn in clients {
            let bytes = bench.take(conn);
            let mut rest = bytes.as_slice();
            while rest.len() >= 4 {
                let size = i32_at(rest, 0) as usize;
                prop_assert!((5..20_000).contains(&size), "{size}");
                rest = rest.get(size..).unwrap_or_default();
            }
        }
    }

    #[test]
    fn requests_cut_anywhere_are_answered_the_same(
        packages in vec(package(), 1..12),
        pieces in vec(1..60usize, 1..20),
    ) {
        let answers = |pieces: &[usize]| {
            let mut bench = Bench::new(ideal(5, 15));
            let conn = bench.connect(Port::Rtde);
            let (stream, mut pieces) = (packages.concat(), pieces.iter().cycle());
            let mut rest = stream.as_slice();
            while !rest.is_empty() {
                let (piece, later) = rest.split_at(rest.len().min(*pieces.next().unwrap()));
                bench.controller.write(conn, piece);
                rest = later;
            }
            bench.cycles(3);
            (bench.take(conn), bench.controller.is_open(conn), bench.controller.registers().0.clone())
        };
        prop_assert_eq!(answers(&[usize::MAX]), answers(&pieces));
    }

    #[test]
    fn requests_of_the_robot_api_cut_anywhere_are_answered_the_same(
        requests in vec(http(), 1..8),
        pieces in vec(1..90usize, 1..20),
    ) {
        let answers = |pieces: &[usize]| {
            let mut bench = Bench::new(ideal(10, 12));
            let conn = bench.connect(Port::RobotApi);
            let (stream, mut pieces) = (requests.concat(), pieces.iter().cycle());
            let mut rest = stream.as_bytes();
            while !rest.is_empty() {
                let (piece, later) = rest.split_at(rest.len().min(*pieces.next().unwrap()));
                bench.controller.write(conn, piece);
                rest = later;
            }
            bench.run(2_000);
            (bench.take(conn), bench.controller.is_open(conn))
        };
        prop_assert_eq!(answers(&[usize::MAX]), answers(&pieces));
    }
}
