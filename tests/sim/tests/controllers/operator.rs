//! The operator's view and actions: dashboard, power, stops, local and remote control.

use crate::common::{Bench, i32_at, ideal};
use outrigger_sim::controller::{Action, StartState};
use outrigger_sim::firmware::LocalMode;
use outrigger_sim::port::Port;

const MOVE: &str = "speedj([0.2,0,0,0,0,0],10,50)\n";

#[test]
fn the_dashboard_greets_and_answers_each_line_with_one() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Dashboard);
    assert_eq!(bench.lines(conn), ["Connected: Universal Robots Dashboard Server"]);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: RUNNING");
    bench.send(conn, "robotmode\nsafetymode\n");
    assert_eq!(bench.lines(conn), ["Robotmode: RUNNING", "Safetymode: NORMAL"]);
    assert_eq!(bench.ask(conn, "is in remote control"), "true");
    assert_eq!(bench.ask(conn, "make coffee"), "could not understand: 'make coffee'");
    assert_eq!(bench.ask(conn, "quit"), "Disconnected");
    assert!(!bench.controller.is_open(conn));
}

#[test]
fn a_request_may_arrive_in_pieces() {
    let mut bench = Bench::software(3, 15);
    let conn = bench.connect(Port::Dashboard);
    bench.lines(conn);
    for piece in ["robot", "mo", "de"] {
        bench.send(conn, piece);
        assert!(bench.lines(conn).is_empty());
    }
    bench.send(conn, "\n");
    assert_eq!(bench.lines(conn), ["Robotmode: RUNNING"]);
}

#[test]
fn the_dashboard_switches_the_arm_on_and_releases_the_brakes() {
    let mut options = ideal(5, 15);
    options.state = StartState::PowerOff;
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Dashboard);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: POWER_OFF");
    assert_eq!(bench.ask(conn, "power on"), "Powering on");
    bench.run(100);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: BOOTING");
    bench.run(3000);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: IDLE");
    assert_eq!(bench.ask(conn, "brake release"), "Brake releasing");
    bench.run(3000);
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: RUNNING");
    assert_eq!(bench.ask(conn, "power off"), "Powering off");
    assert_eq!(bench.ask(conn, "robotmode"), "Robotmode: POWER_OFF");
}

#[test]
fn a_protective_stop_is_unlocked_after_five_seconds_and_the_program_waits_for_play() {
    let mut bench = Bench::software(5, 15);
    let (dashboard, text) = (bench.connect(Port::Dashboard), bench.connect(Port::Realtime));
    bench.send(text, MOVE);
    bench.run(100);
    bench.controller.act(Action::ProtectiveStop);
    bench.run(1000);
    assert_eq!((bench.qd_target(), bench.controller.program()), ([0.0; 6], (true, true)));
    assert_eq!(bench.ask(dashboard, "safetymode"), "Safetymode: PROTECTIVE_STOP");
    assert!(bench.ask(dashboard, "unlock protective stop").starts_with("Cannot unlock protective stop until 5s"));
    assert_eq!(bench.ask(dashboard, "play"), "Failed to execute: play");
    bench.run(4000);
    assert_eq!(bench.ask(dashboard, "unlock protective stop"), "Protective stop releasing");
    bench.run(500);
    assert_eq!(bench.qd_target(), [0.0; 6], "still paused");
    assert_eq!(bench.ask(dashboard, "play"), "Starting program");
    bench.run(500);
    assert_eq!(bench.qd_target()[0], 0.2);
}

#[test]
fn an_emergency_stop_ends_the_program_and_takes_the_power() {
    let mut bench = Bench::software(3, 15);
    let text = bench.connect(Port::Realtime);
    bench.send(text, MOVE);
    bench.run(500);
    bench.controller.act(Action::EmergencyStop);
    bench.run(200);
    assert_eq!(bench.controller.program(), (false, false));
    assert!(!bench.controller.robot().powered() && bench.controller.truth().qd == [0.0; 6]);
    bench.controller.act(Action::PowerOn);
    assert!(!bench.controller.robot().powered(), "not before the button is released");
    bench.controller.act(Action::ReleaseEmergencyStop);
    bench.controller.act(Action::ReleaseBrakes);
    bench.run(5000);
    assert!(bench.controller.robot().may_move());
    assert_eq!(bench.qd_target(), [0.0; 6], "nothing resumes by itself");
}

#[test]
fn an_opened_safeguard_pauses_and_closing_it_does_not_resume() {
    let mut bench = Bench::software(5, 15);
    let text = bench.connect(Port::Realtime);
    bench.send(text, MOVE);
    bench.run(100);
    bench.controller.act(Action::OpenSafeguard);
    bench.run(500);
    bench.controller.act(Action::CloseSafeguard);
    bench.run(500);
    assert_eq!((bench.qd_target(), bench.controller.program()), ([0.0; 6], (true, true)));
}

#[test]
fn while_stopped_no_program_starts() {
    for action in [Action::ProtectiveStop, Action::OpenSafeguard, Action::EmergencyStop, Action::PowerOff] {
        let mut bench = Bench::software(5, 15);
        let text = bench.connect(Port::Realtime);
        bench.controller.act(action);
        bench.send(text, MOVE);
        bench.run(500);
        assert_eq!((bench.qd_target(), bench.controller.program().0), ([0.0; 6], false), "{action:?}");
    }
}

#[test]
fn local_mode_ignores_text_silently_on_old_e_series_software() {
    let mut options = ideal(5, 4);
    options.state = StartState::Local;
    let mut bench = Bench::new(options);
    let clients = [Port::Primary, Port::Secondary, Port::Realtime].map(|port| bench.connect(port));
    for conn in clients {
        bench.send(conn, MOVE);
    }
    bench.run(500);
    assert_eq!(bench.qd_target(), [0.0; 6]);
    assert!(clients.iter().all(|conn| bench.controller.is_open(*conn)));
    assert!(bench.messages(clients[0]).iter().all(|message| message[4] != 20 || message[14] != 6));
    bench.controller.act(Action::SwitchToRemote);
    bench.send(clients[0], MOVE);
    bench.run(100);
    assert_eq!(bench.qd_target()[0], 0.2);
}

#[test]
fn local_mode_can_drop_the_secondary_client_that_sends() {
    let mut options = ideal(5, 4);
    options.state = StartState::Local;
    options.local_mode = Some(LocalMode::DropsSecondary);
    let mut bench = Bench::new(options);
    let clients = [Port::Primary, Port::Secondary].map(|port| bench.connect(port));
    clients.iter().for_each(|conn| bench.send(*conn, MOVE));
    bench.run(100);
    assert_eq!(clients.map(|conn| bench.controller.is_open(conn)), [true, false]);
}

#[test]
fn newer_software_answers_with_c210_and_gives_rights_only_to_new_connections() {
    let mut bench = Bench::software(5, 15);
    let clients = [Port::Primary, Port::Secondary, Port::Realtime].map(|port| bench.connect(port));
    bench.controller.act(Action::SwitchToLocal);
    bench.run(20);
    assert_eq!(clients.map(|conn| bench.controller.is_open(conn)), [false, false, true]);
    let conn = bench.connect(Port::Primary);
    bench.run(100);
    bench.send(conn, MOVE);
    bench.run(100);
    let codes = |bench: &mut Bench, conn| {
        let errors: Vec<i32> = bench
            .messages(conn)
            .iter()
            .filter(|message| message[4] == 20 && message[14] == 6)
            .map(|message| i32_at(message, 15))
            .collect();
        errors
    };
    assert_eq!((codes(&mut bench, conn), bench.qd_target()), (vec![210], [0.0; 6]));
    bench.controller.act(Action::SwitchToRemote);
    bench.send(conn, MOVE);
    bench.run(100);
    assert_eq!((codes(&mut bench, conn), bench.qd_target()), (vec![210], [0.0; 6]), "opened in local control");
    let conn = bench.connect(Port::Primary);
    bench.send(conn, MOVE);
    bench.run(100);
    assert_eq!(bench.qd_target()[0], 0.2);
}

#[test]
fn the_dashboard_asks_for_remote_control_by_connection() {
    let mut bench = Bench::software(5, 15);
    bench.controller.act(Action::SwitchToLocal);
    let conn = bench.connect(Port::Dashboard);
    assert!(bench.ask(conn, "power off").contains("Remote Control mode and reconnect to port 29999"));
    assert_eq!(bench.ask(conn, "is in remote control"), "false");
    bench.controller.act(Action::SwitchToRemote);
    assert!(bench.ask(conn, "power off").contains("reconnect"));
    let conn = bench.connect(Port::Dashboard);
    assert_eq!(bench.ask(conn, "power off"), "Powering off");
}

#[test]
fn read_only_ports_stream_and_do_not_run_text() {
    let mut bench = Bench::software(5, 15);
    let clients =
        [Port::PrimaryReadOnly, Port::SecondaryReadOnly, Port::RealtimeReadOnly].map(|port| bench.connect(port));
    clients.iter().for_each(|conn| bench.send(*conn, MOVE));
    bench.run(300);
    assert_eq!(bench.qd_target(), [0.0; 6]);
    let messages = bench.messages(clients[0]);
    assert!(messages.iter().any(|message| message[4] == 20 && message[14] == 6 && i32_at(message, 15) == 210));
    assert_eq!(bench.messages(clients[2]).len(), 150);
}

#[test]
fn before_e_series_there_is_no_local_mode() {
    let mut bench = Bench::software(3, 15);
    bench.controller.act(Action::SwitchToLocal);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, MOVE);
    bench.run(100);
    assert_eq!(bench.qd_target()[0], 0.2);
}

#[test]
fn service_lines_work_on_the_text_ports() {
    let mut bench = Bench::software(1, 8);
    let conn = bench.connect(Port::Secondary);
    bench.send(conn, "power off\n");
    assert!(!bench.controller.robot().powered());
    bench.send(conn, "power on\nbrake release\n");
    bench.run(6000);
    assert!(bench.controller.robot().may_move());
    bench.send(conn, "set speed 0.25\n");
    assert_eq!(bench.controller.robot().slider, 0.25);
}

#[test]
fn scripted_actions_happen_at_their_time() {
    let mut bench = Bench::software(5, 15);
    bench.controller.schedule(outrigger_sim::time::SimTime::from_millis(250), Action::Slider(0.5));
    bench.run(249);
    assert_eq!(bench.controller.robot().slider, 1.0);
    bench.run(1);
    assert_eq!(bench.controller.robot().slider, 0.5);
}

#[test]
fn local_control_cannot_be_asked_of_software_that_has_none() {
    let mut options = ideal(3, 15);
    options.state = StartState::Local;
    let message = outrigger_sim::controller::Controller::new(options).unwrap_err().to_string();
    assert_eq!(message, "software 3.15 has no local control: it needs e-Series, software 5.0");
}
