//! Every way to start a program, and its dependence on remote and local control (client interfaces 5.6, dashboard 1
//! and 6, external control 3).

use outrigger_sim::controller::{Action, Controller, InterpreterOptions, Options, StartState};
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;

use crate::common::{Bench, ideal};

/// A program that runs until it is stopped, and shows it in a register.
const PROGRAM: &str = "def shown():\n write_output_integer_register(0, 1)\n sleep(100)\nend\n";

/// A way to start a program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Text that is sent to 30001, 30002 or 30003.
    Text(Port),
    /// A secondary program, sent to the same ports.
    Secondary(Port),
    /// The request `play` of the dashboard.
    Dashboard,
    /// The request `play` of the Robot API.
    RobotApi,
    /// The play button at the pendant.
    Pendant,
    /// A line of 30020 to a program in interpreter mode.
    Line,
}

const WAYS: [Way; 8] = [
    Way::Text(Port::Primary),
    Way::Text(Port::Secondary),
    Way::Text(Port::Realtime),
    Way::Secondary(Port::Primary),
    Way::Dashboard,
    Way::RobotApi,
    Way::Pendant,
    Way::Line,
];

fn options(major: u8, minor: u8, state: StartState, script: &str) -> Options {
    let mut options = Options { state, ..ideal(major, minor) };
    options.files.programs.push(ProgramFile { script: script.to_owned(), ..ProgramFile::named("shown.urp") });
    options
}

/// Returns whether a program that is sent in this way runs.
fn runs(way: Way, options: Options) -> bool {
    let mut bench = Bench::new(options);
    match way {
        Way::Text(port) | Way::Secondary(port) => {
            let conn = bench.connect(port);
            let secondary = "sec shown():\n write_output_integer_register(0, 1)\nend\n";
            bench.send(conn, if matches!(way, Way::Text(_)) { PROGRAM } else { secondary });
        }
        Way::Dashboard => {
            let conn = bench.connect(Port::Dashboard);
            bench.run(10);
            bench.lines(conn);
            bench.ask(conn, "load shown.urp");
            bench.ask(conn, "play");
        }
        Way::RobotApi => {
            let conn = bench.connect(Port::RobotApi);
            let load = r#"{"name": "shown"}"#;
            for (path, body) in [("program/v1/loaded", load), ("program/v1/state", r#"{"action":"play"}"#)] {
                let head = "Host: robot\r\nContent-Type: application/json\r\n";
                let size = body.len();
                let request = format!(
                    "PUT /universal-robots/robot-api/{path} HTTP/1.1\r\n{head}Content-Length: {size}\r\n\r\n{body}"
                );
                bench.send(conn, &request);
                bench.run(1000);
            }
        }
        Way::Pendant => {
            // The pendant loads in any mode; the dashboard only in remote control.
            let local = bench.controller.robot().control;
            bench.controller.act(Action::SwitchToRemote);
            let conn = bench.connect(Port::Dashboard);
            bench.run(10);
            bench.lines(conn);
            bench.ask(conn, "load shown.urp");
            if !local.obeys_clients() {
                bench.controller.act(Action::SwitchToLocal);
            }
            bench.controller.act(Action::PlayProgram);
        }
        Way::Line => {
            bench.controller.act(Action::SwitchToRemote);
            let conn = bench.connect(Port::Primary);
            bench.send(conn, "def main():\n interpreter_mode()\nend\n");
            bench.run(100);
            bench.controller.act(Action::SwitchToLocal);
            let lines = bench.connect(Port::Interpreter);
            bench.send(lines, "write_output_integer_register(0, 1)\n");
        }
    }
    bench.run(500);
    bench.controller.registers().1.ints[0] == 1
}

#[test]
fn before_e_series_every_way_is_open() {
    for way in WAYS.into_iter().filter(|way| !matches!(way, Way::RobotApi | Way::Line)) {
        assert!(runs(way, options(3, 15, StartState::Running, PROGRAM)), "{way:?}");
    }
}

#[test]
fn in_local_control_only_the_pendant_and_interpreter_mode_are() {
    for (major, minor) in [(5, 4), (5, 15), (10, 12)] {
        for way in WAYS {
            let exists = match way {
                Way::RobotApi => major == 10,
                Way::Dashboard | Way::Pendant => major == 5,
                Way::Line => (major, minor) >= (5, 10),
                Way::Text(_) | Way::Secondary(_) => true,
            };
            if !exists {
                continue;
            }
            let open = |state| runs(way, options(major, minor, state, PROGRAM));
            assert!(open(StartState::Running), "{major}.{minor} {way:?}");
            assert_eq!(open(StartState::Local), matches!(way, Way::Pendant | Way::Line), "{major}.{minor} {way:?}");
            if major == 5 {
                assert!(open(StartState::RemoteNotEnabled), "{major}.{minor} {way:?}");
            }
        }
    }
    let interpreter = InterpreterOptions { needs_remote: true, ..InterpreterOptions::default() };
    assert!(!runs(Way::Line, Options { interpreter, ..options(5, 15, StartState::Running, PROGRAM) }));
}

#[test]
fn no_way_starts_a_program_where_the_arm_may_not_move() {
    for state in [StartState::PowerOff, StartState::Idle, StartState::ProtectiveStop] {
        for way in [Way::Text(Port::Primary), Way::Dashboard, Way::Pendant] {
            assert!(!runs(way, options(5, 15, state, PROGRAM)), "{way:?} in {state:?}");
        }
    }
}

#[test]
fn switching_to_local_control_leaves_the_running_program_alone_and_takes_no_new_text() {
    let mut bench = Bench::new(ideal(5, 15));
    let realtime = bench.connect(Port::Realtime);
    bench.send(realtime, PROGRAM);
    bench.run(100);
    bench.controller.act(Action::SwitchToLocal);
    bench.send(realtime, "set_flag(1, True)\n");
    bench.run(500);
    assert_eq!((bench.controller.program(), bench.controller.registers().1.ints[0]), ((true, false), 1));
}

#[test]
fn a_program_that_is_sent_replaces_the_played_one_and_a_played_one_waits_for_none() {
    let mut bench = Bench::new(options(5, 15, StartState::Running, PROGRAM));
    let (desk, realtime) = (bench.connect(Port::Dashboard), bench.connect(Port::Realtime));
    bench.run(10);
    bench.lines(desk);
    bench.ask(desk, "load shown.urp");
    assert_eq!(bench.ask(desk, "play"), "Starting program");
    assert_eq!(bench.ask(desk, "programState"), "PLAYING shown.urp");
    bench.send(realtime, "def other():\n sleep(100)\nend\n");
    bench.run(100);
    assert!(bench.ask(desk, "programState").starts_with("STOPPED"), "what is sent is not the loaded program");
    assert_eq!(bench.ask(desk, "running"), "Program running: true");
    assert_eq!(bench.ask(desk, "play"), "Failed to execute: play", "another program runs");
    assert_eq!(bench.ask(desk, "stop"), "Stopped");
    assert_eq!(bench.ask(desk, "play"), "Starting program");
}

#[test]
fn a_loaded_program_with_an_error_tells_where_and_does_not_start() {
    for script in ["def bad():\n nothing()\nend\n", "sec bad():\nend\n", "\u{0}", ""] {
        let mut bench = Bench::new(options(5, 15, StartState::Running, script));
        let desk = bench.connect(Port::Dashboard);
        bench.run(10);
        bench.lines(desk);
        bench.ask(desk, "load shown.urp");
        let reply = bench.ask(desk, "play");
        let started = bench.controller.program().0;
        assert!(!started, "{script:?}: {reply}");
    }
    assert!(Controller::new(options(5, 15, StartState::Running, "x")).is_ok(), "only playing looks at it");
}
