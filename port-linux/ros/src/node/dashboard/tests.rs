use std::net::{Ipv4Addr, TcpListener};

use outrigger_ros2_messages::{LoadRequest, PopupRequest, RawRequestRequest};
use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::port::Port;
use outrigger_sim::robot::PowerTiming;
use outrigger_sim::tcp::{Running, Server};

use super::*;
use crate::dashboard::{DASHBOARD_OFFERS, ask};

fn controller(major: u8, minor: u8, state: StartState) -> (Running, ServiceAddresses) {
    let step = StdDuration::from_millis(100);
    let power = PowerTiming { boot: step, initialise: step, release: step };
    let options = Options { power, state, ..Options::for_software(SoftwareVersion::new(major, minor)) };
    let controller = Controller::new(options).expect("a controller");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 57_000).expect("free ports");
    let server = server.spawn().expect("a thread");
    let place = ServiceAddresses {
        dashboard: server.address(Port::Dashboard),
        robot_api: server.address(Port::RobotApi),
        clock: Clock::start(),
    };
    (server, place)
}

/// Returns a listener that accepts connections and sends nothing, and its addresses as those of the controller's
/// services.
fn silence() -> (TcpListener, ServiceAddresses) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let at = listener.local_addr().expect("an address");
    (listener, ServiceAddresses { dashboard: at, robot_api: at, clock: Clock::start() })
}

fn asked(name: &str, bytes: &[u8]) -> DashboardOperation {
    let offer = DASHBOARD_OFFERS.iter().find(|offer| offer.name == format!("dashboard_client/{name}"));
    ask(offer.unwrap_or_else(|| panic!("no {name}")), bytes).unwrap_or_else(|refused| panic!("{name}: {refused}"))
}

/// Returns the next result of the dashboard's client, and fails if none arrives in time.
fn next(dashboard: &mut Dashboard) -> DashboardResult {
    let until = dashboard.clock.now() + Duration::from_secs(30);
    while dashboard.clock.now() < until {
        if let Some(news) = dashboard.news() {
            return news;
        }
        std::thread::sleep(StdDuration::from_millis(1));
    }
    panic!("nothing comes");
}

/// Returns the outcome of one call of a dashboard operation.
fn call(dashboard: &mut Dashboard, ask: DashboardOperation) -> Outcome {
    assert!(dashboard.ask(7, ask));
    match next(dashboard) {
        DashboardResult::Answer(7, outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn plain(dashboard: &mut Dashboard, name: &str) -> Outcome {
    call(dashboard, asked(name, &[]))
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn calls_are_answered_by_a_dashboard_server() {
    use outrigger_ros2_messages::cdr::encode;

    let (_server, place) = controller(5, 15, StartState::Idle);
    let mut dashboard = Dashboard::at(place).expect("a thread");
    let connected = plain(&mut dashboard, "connect");
    assert!(connected.success && connected.text.contains("software 5.15"), "{connected:?}");
    let mode = plain(&mut dashboard, "get_robot_mode");
    assert_eq!(mode, Outcome { value: Value::RobotMode(5), ..Outcome::done("Robotmode: IDLE") });
    let serial = plain(&mut dashboard, "get_serial_number");
    assert!(matches!(serial.value, Value::Serial(20_205_500_001)), "{serial:?}");
    let version = plain(&mut dashboard, "get_polyscope_version");
    assert!(
        matches!(&version.value, Value::Version(version) if (version.major, version.minor) == (5, 15)),
        "{version:?}"
    );
    let popup = call(&mut dashboard, asked("popup", &encode(&PopupRequest { message: "hello".into() })));
    assert_eq!((popup.success, popup.text.as_str()), (true, "showing popup"));
    let raw = call(&mut dashboard, asked("raw_request", &encode(&RawRequestRequest { query: "running".into() })));
    assert_eq!(raw.text, "Program running: false");
    let play = plain(&mut dashboard, "play");
    assert_eq!((play.success, play.text.as_str()), (false, "Failed to execute: play"));
    let load = call(&mut dashboard, asked("load_program", &encode(&LoadRequest { filename: "none.urp".into() })));
    assert!(!load.success && load.text.contains("none.urp"), "{load:?}");
    for (name, said) in [
        ("get_user_role", "software 5.15.0 does not know 'getUserRole': no e-Series controllers do"),
        ("resume", "software 5.15.0 does not know 'resume': 'play' resumes a paused program here"),
        ("get_programs", "software 5.15.0 does not know 'programs': PolyScope X controllers do from 10.12 on"),
    ] {
        assert_eq!(plain(&mut dashboard, name), Outcome::failed(said));
    }
    assert!(plain(&mut dashboard, "quit").success && plain(&mut dashboard, "power_off").success);
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn polyscope_x_is_asked_by_its_own_api() {
    use outrigger_ros2_messages::cdr::encode;

    let (_server, place) = controller(10, 12, StartState::Running);
    let mut dashboard = Dashboard::at(place).expect("a thread");
    let connected = plain(&mut dashboard, "connect");
    assert_eq!(connected, Outcome::done("connected: Robot API of software 10.12 or later"));
    assert_eq!(plain(&mut dashboard, "get_robot_mode").value, Value::RobotMode(7));
    assert_eq!(plain(&mut dashboard, "get_safety_mode").value, Value::Safety(1));
    let remote = plain(&mut dashboard, "is_in_remote_control");
    assert_eq!((remote.success, remote.value), (true, Value::Flag(true)));
    let model = plain(&mut dashboard, "get_robot_model");
    assert_eq!(model.text, "software 10.12.0 does not know 'get robot model': no PolyScope X controllers do");
    let load = call(&mut dashboard, asked("load_program", &encode(&LoadRequest { filename: "a.urp".into() })));
    assert!(load.text.starts_with("filename: expected the name of a program without suffix"), "{load:?}");
    assert_eq!(plain(&mut dashboard, "resume"), Outcome::failed("no program is paused"));
    let listed = plain(&mut dashboard, "get_programs");
    let Value::Programs(programs) = listed.value else { panic!("{listed:?}") };
    let Some(first) = programs.first() else { panic!("the simulated disk has programs") };
    assert!(!first.name.contains('.') && first.created_date > 0);
    assert!(call(&mut dashboard, DashboardOperation::Load(first.name.clone())).success);
    assert_eq!(plain(&mut dashboard, "get_loaded_program").value, Value::Name(first.name.clone()));
    assert!(plain(&mut dashboard, "play").success && plain(&mut dashboard, "pause").success);
    assert!(matches!(plain(&mut dashboard, "program_state").value, Value::Program { state: ProgramState::Paused, .. }));
    assert_eq!(plain(&mut dashboard, "resume"), Outcome::done("resumed"));
    assert!(matches!(
        plain(&mut dashboard, "program_state").value,
        Value::Program { state: ProgramState::Playing, .. }
    ));
    assert!(plain(&mut dashboard, "stop").success);
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_mode_is_reached_with_feedback_and_one_goal_at_a_time() {
    let (_server, place) = controller(5, 15, StartState::PowerOff);
    let mut dashboard = Dashboard::at(place).expect("a thread");
    let goal = |target_robot_mode| SetModeGoal { target_robot_mode, ..SetModeGoal::default() };
    assert!(dashboard.set_mode(1, goal(7)) && !dashboard.set_mode(2, goal(3)));
    // Calls are answered while the goal is in progress.
    assert!(dashboard.ask(3, DashboardOperation::Plain(Request::SafetyMode)));
    let (mut modes, mut answers) = (vec![], 0);
    loop {
        match next(&mut dashboard) {
            DashboardResult::Answer(3, _) => answers += 1,
            DashboardResult::Feedback(1, feedback) => modes.push(feedback.current_robot_mode),
            DashboardResult::Ended(1, status, result) => {
                assert_eq!((status, result.message.as_str()), (Status::Succeeded, "RUNNING is reached"));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((modes.first(), modes.last(), answers), (Some(&3), Some(&7), 1), "{modes:?}");
    assert!(dashboard.set_mode(4, goal(4)));
    let refused = next(&mut dashboard);
    assert!(
        matches!(&refused, DashboardResult::Ended(4, Status::Aborted, result) if result.message.starts_with("target_robot_mode"))
    );
    assert!(dashboard.set_mode(5, goal(5)));
    dashboard.cancel(4);
    dashboard.cancel(5);
    let status = loop {
        match next(&mut dashboard) {
            DashboardResult::Ended(5, status, _) => break status,
            DashboardResult::Feedback(5, _) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(status, Status::Canceled);
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_stop_is_not_cleared_by_a_goal() {
    let (_server, place) = controller(5, 15, StartState::ProtectiveStop);
    let mut dashboard = Dashboard::at(place).expect("a thread");
    assert!(dashboard.set_mode(1, SetModeGoal { target_robot_mode: 7, ..SetModeGoal::default() }));
    match next(&mut dashboard) {
        DashboardResult::Ended(1, Status::Aborted, result) => {
            assert!(result.message.starts_with("the safety mode is PROTECTIVE_STOP; "), "{result:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn where_nobody_answers_calls_are_refused_in_time_and_too_many_at_once() {
    let (listener, place) = silence();
    let mut dashboard = Dashboard::at(place).expect("a thread");
    for token in 0..WAITING as u64 {
        assert!(dashboard.ask(token, DashboardOperation::Plain(Request::Play)));
    }
    assert!(!dashboard.ask(99, DashboardOperation::Plain(Request::Play)));
    // The service refuses connections from here on.
    drop(listener);
    for expected in 0..WAITING as u64 {
        match next(&mut dashboard) {
            DashboardResult::Answer(token, outcome) => assert!(token == expected && !outcome.success, "{outcome:?}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(dashboard.ask(99, DashboardOperation::Plain(Request::Play)));
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_call_whose_turn_comes_too_late_is_not_put() {
    let (_server, place) = controller(5, 15, StartState::Running);
    let (ask, calls) = unbounded_channel();
    let (tell, mut news) = unbounded_channel();
    let until = place.clock.now() + Duration::from_secs(1);
    ask.send(PendingCall { token: 1, ask: DashboardOperation::Plain(Request::PowerOff), until }).expect("it is taken");
    drop(ask);
    outrigger::host::runtime::one_threaded().expect("a runtime").block_on(attend(place, calls, &tell));
    assert!(matches!(news.try_recv(), Ok(DashboardResult::Answer(1, outcome)) if outcome.text.starts_with("not sent")));
    let mut dashboard = Dashboard::at(place).expect("a thread");
    assert_eq!(plain(&mut dashboard, "get_robot_mode").value, Value::RobotMode(7));
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_request_that_is_never_answered_is_given_up_when_its_time_is_over() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let (listener, place) = silence();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut stream = BufReader::new(stream);
        writeln!(stream.get_mut(), "Connected: Universal Robots Dashboard Server").expect("it is read");
        let mut line = String::new();
        while stream.read_line(&mut line).is_ok_and(|count| count > 0) {
            if line.trim_end() == "PolyscopeVersion" {
                writeln!(stream.get_mut(), "URSoftware 5.12.0.1101319 (Mar 22 2022)").expect("it is read");
            }
            line.clear();
        }
    });
    let (ask, calls) = unbounded_channel();
    let (tell, mut news) = unbounded_channel();
    let until = place.clock.now() + ROOM + Duration::from_millis(100);
    ask.send(PendingCall { token: 1, ask: DashboardOperation::Load("a.urp".into()), until }).expect("it is taken");
    drop(ask);
    outrigger::host::runtime::one_threaded().expect("a runtime").block_on(attend(place, calls, &tell));
    let late = place.clock.now().since(until);
    assert!(place.clock.now() >= until && late < Duration::from_secs(2), "{late:?}");
    assert!(
        matches!(news.try_recv(), Ok(DashboardResult::Answer(1, outcome)) if outcome.text.starts_with("timeout: it may still"))
    );
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn its_end_does_not_wait_for_a_controller() {
    let (_listener, place) = silence();
    let mut dashboard = Dashboard::at(place).expect("a thread");
    assert!(dashboard.ask(1, DashboardOperation::Plain(Request::Play)));
    assert!(dashboard.set_mode(2, SetModeGoal { target_robot_mode: 7, ..SetModeGoal::default() }));
    std::thread::sleep(StdDuration::from_millis(100));
    let before = place.clock.now();
    drop(dashboard);
    assert!(place.clock.now().since(before) < Duration::from_secs(1));
}
