//! The dashboard server from its clients' point of view: every request on every software, operations that take time,
//! and the states of the arm and of programs behind them.

use std::time::Duration;

use crate::common::{Bench, f64_at, ideal};
use outrigger_sim::controller::{Action, Options, StartState};
use outrigger_sim::fault::Fault;
use outrigger_sim::pendant::{InstallationFile, ProgramFile};
use outrigger_sim::port::Port;

const SOFTWARE: [(u8, u8); 18] = [
    (1, 5),
    (1, 6),
    (1, 8),
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 3),
    (3, 4),
    (3, 7),
    (3, 11),
    (3, 12),
    (3, 15),
    (5, 0),
    (5, 1),
    (5, 4),
    (5, 6),
    (5, 8),
    (5, 25),
];

/// Returns options of a simulated controller that has a broken program file and an installation file that must be
/// confirmed, besides files that load.
fn options((major, minor): (u8, u8)) -> Options {
    let mut options = ideal(major, minor);
    options.files.programs.push(ProgramFile { broken: true, ..ProgramFile::named("bad.urp") });
    let new = InstallationFile { needs_confirmation: true, ..InstallationFile::named("new.installation") };
    options.files.installations.push(new);
    options.operations.report = Duration::from_secs(3);
    options.operations.support_file = Duration::from_secs(3);
    options
}

struct Row {
    request: String,
    reply: String,
    cb: Option<(u8, u8)>,
    e: Option<(u8, u8)>,
    remote: bool,
}

fn table() -> Vec<Row> {
    let version = |text: &str| {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().unwrap(), minor.parse().unwrap()))
    };
    let rows = include_str!("dashboard_replies.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let [request, reply, cb, e, remote] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(matches!(remote, "yes" | "no"), "{line}");
        let (request, reply) = (request.to_owned(), reply.to_owned());
        Row { request, reply, cb: version(cb), e: version(e), remote: remote == "yes" }
    })
    .collect()
}

#[test]
fn every_request_is_answered_as_specified_from_the_software_that_brought_it() {
    for software in SOFTWARE {
        let mut bench = Bench::new(options(software));
        let conn = bench.connect(Port::Dashboard);
        assert_eq!(bench.lines(conn), ["Connected: Universal Robots Dashboard Server"]);
        assert_eq!(bench.ask(conn, "load idle.urp"), "Loading program: /programs/idle.urp");
        bench.run(1000);
        for row in table() {
            let since = if software >= (5, 0) { row.e } else { row.cb };
            let reply = bench.ask(conn, &row.request);
            if since.is_some_and(|since| since <= software) {
                assert_eq!(reply, row.reply, "{software:?}: {}", row.request);
                // An operation that old software answered at once is still to be executed.
                bench.run(1000);
            } else if !row.request.starts_with("load") {
                assert_eq!(reply, format!("could not understand: '{}'", row.request), "{software:?}");
            }
        }
        bench.run(10);
        assert!(!bench.controller.is_open(conn), "{software:?}: it was shut down");
        assert!(bench.controller.connect(Port::Primary).is_err());
    }
}

#[test]
fn in_local_control_questions_are_answered_and_orders_are_not() {
    let mut options = options((5, 15));
    options.state = StartState::Local;
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Dashboard);
    for row in table() {
        let reply = bench.ask(conn, &row.request);
        let refused = reply.starts_with("Command is not allowed due to safety reasons");
        let known = row.e.is_some();
        assert_eq!(refused, row.remote && known, "{}: {reply}", row.request);
    }
}

#[test]
fn where_remote_control_was_never_enabled_orders_and_texts_are_obeyed_and_it_is_not_in_remote_control() {
    let options = Options { state: StartState::RemoteNotEnabled, ..options((5, 15)) };
    let mut bench = Bench::new(options);
    let (conn, text) = (bench.connect(Port::Dashboard), bench.connect(Port::Primary));
    bench.lines(conn);
    assert_eq!(bench.ask(conn, "is in remote control"), "false");
    bench.send(text, "speedj([0.1,0,0,0,0,0],1,5)\n");
    bench.run(200);
    assert_eq!(bench.qd_target()[0], 0.1);
    for row in table().iter().filter(|row| row.remote && row.e.is_some()) {
        let reply = bench.ask(conn, &row.request);
        assert!(!reply.starts_with("Command is not allowed"), "{}: {reply}", row.request);
        bench.run(1000);
    }
    // There is no switch that an operator could move.
    let options = Options { state: StartState::RemoteNotEnabled, ..self::options((5, 15)) };
    let mut bench = Bench::new(options);
    for action in [Action::SwitchToLocal, Action::SwitchToRemote] {
        bench.controller.act(action);
        let (conn, text) = (bench.connect(Port::Dashboard), bench.connect(Port::Primary));
        bench.lines(conn);
        assert_eq!(bench.ask(conn, "is in remote control"), "false", "{action:?}");
        bench.send(text, "speedj([0.1,0,0,0,0,0],1,1)\n");
        bench.run(500);
        assert_eq!(bench.qd_target()[0], 0.1, "{action:?}");
    }
}

#[test]
fn only_5_x_has_a_remote_control_that_may_be_left_disabled() {
    for (software, exists) in [((3, 15), false), ((5, 0), true), ((5, 25), true), ((10, 12), false)] {
        let options = Options { state: StartState::RemoteNotEnabled, ..options(software) };
        let made = outrigger_sim::controller::Controller::new(options);
        assert_eq!(made.is_ok(), exists, "{software:?}");
        let told = made.err().is_none_or(|error| error.to_string().contains("needs 5.x"));
        assert!(told, "{software:?}");
    }
}

#[test]
fn the_folder_of_programs_is_also_found_where_the_vendors_simulators_have_it() {
    let mut bench = Bench::new(options((5, 15)));
    let conn = bench.connect(Port::Dashboard);
    bench.lines(conn);
    for path in ["idle.urp", "/programs/idle.urp", "/ursim/programs/idle.urp"] {
        let reply = bench.ask(conn, &format!("load {path}"));
        assert!(reply.starts_with("Loading program: ") && reply.ends_with(path), "{path}: {reply}");
        assert_eq!(bench.ask(conn, "get loaded program"), "Loaded program: /programs/idle.urp");
    }
    assert_eq!(bench.ask(conn, "load /other/idle.urp"), "File not found: /other/idle.urp");
    assert_eq!(bench.ask(conn, "load /ursim/programsidle.urp"), "File not found: /ursim/programsidle.urp");
}

#[test]
fn on_cb2_modes_are_numbers_and_truth_is_capital() {
    let mut bench = Bench::software(1, 8);
    let conn = bench.connect(Port::Dashboard);
    assert_eq!(bench.ask(conn, "running"), "Robot running: False");
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: 0");
    assert_eq!(bench.ask(conn, "isProgramSaved"), "True <unnamed>");
    bench.controller.act(Action::ProtectiveStop);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: 4");
}

#[test]
fn operations_are_answered_when_they_are_over_and_before_3_3_at_once() {
    for (software, waits) in [((3, 2), false), ((3, 3), true), ((5, 15), true)] {
        let mut bench = Bench::new(options(software));
        let conn = bench.connect(Port::Dashboard);
        bench.lines(conn);
        bench.send(conn, "load idle.urp\nget loaded program\n");
        let first = bench.lines(conn);
        if waits {
            assert!(first.is_empty(), "{software:?}");
            bench.run(499);
            assert!(bench.lines(conn).is_empty());
            bench.run(1);
            let lines = bench.lines(conn);
            assert_eq!(lines, ["Loading program: /programs/idle.urp", "Loaded program: /programs/idle.urp"]);
        } else {
            assert_eq!(first, ["Loading program: /programs/idle.urp", "No program loaded"], "{software:?}");
        }
    }
}

#[test]
fn a_failed_play_is_told_from_3_4_on() {
    for (software, reply) in [((3, 3), "Starting program"), ((3, 4), "Failed to execute: play")] {
        let mut options = options(software);
        options.state = StartState::PowerOff;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Dashboard);
        bench.ask(conn, "load idle.urp");
        assert_eq!(bench.ask(conn, "play"), reply, "{software:?}");
        assert_eq!(bench.controller.program(), (false, false));
    }
}

#[test]
fn a_played_program_runs_its_script_and_shows_on_every_port() {
    let mut options = options((5, 15));
    options.files.programs.push(ProgramFile {
        script: "def turn():\n while True:\n  speedj([0.2,0,0,0,0,0],10,0.1)\n end\nend\n".into(),
        ..ProgramFile::named("cell/turn.urp")
    });
    let mut bench = Bench::new(options);
    let (conn, realtime) = (bench.connect(Port::Dashboard), bench.connect(Port::Realtime));
    let rtde = bench.subscribe(500.0, "runtime_state");
    let shown = |bench: &mut Bench| {
        bench.run(300);
        let packet = bench.messages(realtime).pop().unwrap();
        let (_, data) = bench.packages(rtde).pop().unwrap();
        (f64_at(&packet, 1052), data[4])
    };
    assert_eq!(shown(&mut bench), (1.0, 1));
    bench.ask(conn, "load cell/turn.urp");
    bench.ask(conn, "play");
    assert_eq!(shown(&mut bench), (2.0, 2));
    assert_eq!(bench.qd_target()[0], 0.2);
    assert_eq!(bench.ask(conn, "programState"), "PLAYING turn.urp");
    bench.ask(conn, "pause");
    assert_eq!(shown(&mut bench), (4.0, 4));
    assert_eq!(bench.qd_target()[0], 0.0);
    bench.ask(conn, "stop");
    assert_eq!(shown(&mut bench), (1.0, 1));
    assert_eq!(bench.ask(conn, "programState"), "STOPPED turn.urp");
}

#[test]
fn a_program_that_does_not_compile_is_not_started() {
    let mut options = options((5, 15));
    options.files.programs.push(ProgramFile { script: "def bad():\n x(\nend\n".into(), ..ProgramFile::named("x.urp") });
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Dashboard);
    bench.ask(conn, "load x.urp");
    assert_eq!(bench.ask(conn, "play"), "Failed to execute: play");
}

#[test]
fn a_text_of_a_client_takes_the_place_of_the_played_program() {
    let mut bench = Bench::new(options((5, 15)));
    let (conn, text) = (bench.connect(Port::Dashboard), bench.connect(Port::Realtime));
    bench.ask(conn, "load idle.urp");
    bench.ask(conn, "play");
    bench.send(text, "speedj([0.1,0,0,0,0,0],1,5)\n");
    bench.run(100);
    assert_eq!(bench.ask(conn, "programState"), "STOPPED idle.urp");
    assert_eq!(bench.ask(conn, "running"), "Program running: true");
    assert_eq!(bench.ask(conn, "stop"), "Stopped");
    assert_eq!(bench.ask(conn, "running"), "Program running: false");
}

#[test]
fn a_new_installation_takes_the_power() {
    let mut bench = Bench::new(options((5, 15)));
    let conn = bench.connect(Port::Dashboard);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: RUNNING");
    bench.ask(conn, "load installation default.installation");
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: POWER_OFF");
}

#[test]
fn violations_and_faults_need_the_safety_system_restarted() {
    for (action, word) in [(Action::SafetyViolation, "VIOLATION"), (Action::SafetyFault, "FAULT")] {
        let mut bench = Bench::new(options((5, 15)));
        let conn = bench.connect(Port::Dashboard);
        bench.controller.act(action);
        bench.run(500);
        assert_eq!(bench.ask(conn, "safetymode"), format!("Safetymode: {word}"));
        assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: POWER_OFF");
        bench.ask(conn, "power on");
        bench.run(5000);
        assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: POWER_OFF", "not before the restart");
        bench.ask(conn, "restart safety");
        assert_eq!(bench.ask(conn, "safetymode"), "Safetymode: NORMAL");
        bench.ask(conn, "brake release");
        bench.run(5000);
        assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: RUNNING");
    }
}

#[test]
fn a_pressed_emergency_stop_outlasts_a_restart_of_the_safety_system() {
    let mut bench = Bench::new(options((5, 15)));
    let conn = bench.connect(Port::Dashboard);
    bench.controller.act(Action::EmergencyStop);
    bench.ask(conn, "restart safety");
    assert_eq!(bench.ask(conn, "safetymode"), "Safetymode: ROBOT_EMERGENCY_STOP");
}

#[test]
fn safety_status_tells_the_kinds_of_safeguard_stop_apart() {
    for (action, status) in [
        (Action::OpenSafeguard, "SAFEGUARD_STOP"),
        (Action::OpenAutomaticSafeguard, "AUTOMATIC_MODE_SAFEGUARD_STOP"),
        (Action::ReleaseEnablingDevice, "SYSTEM_THREE_POSITION_ENABLING_STOP"),
    ] {
        let mut bench = Bench::new(options((5, 15)));
        let conn = bench.connect(Port::Dashboard);
        bench.controller.act(action);
        assert_eq!(bench.ask(conn, "safetystatus"), format!("Safetystatus: {status}"));
        assert_eq!(bench.ask(conn, "safetymode"), "Safetymode: SAFEGUARD_STOP");
        bench.controller.act(Action::CloseSafeguard);
        assert_eq!(bench.ask(conn, "safetystatus"), "Safetystatus: NORMAL");
    }
}

#[test]
fn replies_go_to_the_asker_and_one_that_waits_does_not_hold_up_another() {
    let mut bench = Bench::new(options((5, 15)));
    let (busy, other) = (bench.connect(Port::Dashboard), bench.connect(Port::Dashboard));
    bench.lines(busy);
    bench.send(busy, "generate flight report system\n");
    assert_eq!(bench.ask(other, "robotmode"), "Robotmode: RUNNING");
    assert!(bench.lines(busy).is_empty());
    bench.run(3000);
    assert_eq!(bench.lines(busy), ["Flight Report generated with id:1"]);
    assert!(bench.lines(other).is_empty());
}

#[test]
fn many_requests_in_one_segment_are_all_answered() {
    let mut bench = Bench::new(options((5, 15)));
    let conn = bench.connect(Port::Dashboard);
    bench.lines(conn);
    bench.send(conn, &"robotmode\n".repeat(200));
    bench.run(10);
    assert_eq!(bench.lines(conn), ["Robotmode: RUNNING"; 200]);
}

#[test]
fn an_operation_ends_even_where_its_asker_has_gone() {
    let mut bench = Bench::new(options((5, 15)));
    let conn = bench.connect(Port::Dashboard);
    bench.send(conn, "load idle.urp\n");
    bench.controller.disconnect(conn);
    bench.run(1000);
    assert_eq!(bench.controller.pendant().loaded.as_deref(), Some("/programs/idle.urp"));
}

#[test]
fn the_number_of_clients_can_be_limited() {
    let mut options = options((5, 15));
    options.dashboard.clients = Some(2);
    let mut bench = Bench::new(options);
    let first = bench.connect(Port::Dashboard);
    bench.connect(Port::Dashboard);
    assert!(bench.controller.connect(Port::Dashboard).is_err());
    bench.controller.disconnect(first);
    assert!(bench.controller.connect(Port::Dashboard).is_ok());
}

#[test]
fn faults_make_the_answers_missing_senseless_endless_or_a_closed_connection() {
    let with = |spec: &str| {
        let mut options = options((5, 15));
        options.faults = vec![Fault::parse(spec).unwrap()];
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Dashboard);
        bench.run(10);
        bench.take(conn);
        for _ in 0..20 {
            if bench.controller.is_open(conn) {
                bench.send(conn, "robotmode\n");
                bench.run(1);
            }
        }
        let bytes = bench.take(conn);
        (bench, conn, bytes)
    };
    assert!(with("mute/29999@0").2.is_empty());
    let (bench, conn, said) = with("hang-up/29999@0");
    assert!(said.is_empty() && !bench.controller.is_open(conn));
    let (_, _, said) = with("oversize/29999@0::5000");
    assert!(said.len() == 20 * 5001 && said.ends_with(b"x\n"));
    let (_, _, said) = with("garbage/29999@0");
    let lines: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 21);
    assert!(lines.iter().all(|line| *line != b"Robotmode: RUNNING"));
    assert!(lines.iter().any(|line| line.iter().any(|byte| !byte.is_ascii())));
    assert_eq!(said, with("garbage/29999@0").2, "seeded");
    let (_, _, said) = with("polluted/29999@0::4");
    assert_eq!(said.iter().filter(|byte| **byte == b'\n').count(), 25);
}
