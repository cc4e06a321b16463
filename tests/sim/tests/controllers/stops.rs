//! Reports on 30001 when the arm is stopped: an error code and the safety mode, read by the parser of clients.

use outrigger_sim::controller::{Action, Conn, Options};
use outrigger_sim::port::Port;
use outrigger_sim::stop_error_codes::{StopCode, StopCodes};
use outrigger_wire::primary::{ErrorDetail, Message, MessageKind, RobotMessagePayload, SafetyDetail, SubPackage};
use outrigger_wire::robot::{SafetyMode, SoftwareVersion};

use crate::common::{Bench, ideal};

/// A message of port 30001 about a stop.
#[derive(Clone, Debug, PartialEq)]
enum Report {
    /// Code, argument and level; no level if the form has none.
    Code(i32, i32, Option<i32>),
    /// A safety mode; `None` if the form does not name it.
    Mode(Option<SafetyMode>),
}

/// A message of port 30001 whose place in the order of reports about a stop is checked.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    /// A state, with or without a protective stop.
    State(bool),
    Report(Report),
    /// The title of a key message.
    Key(String),
}

/// Returns the events that `conn` has received, as a client of this software reads them. Panics at an unknown form.
fn events(bench: &mut Bench, conn: Conn, software: SoftwareVersion) -> Vec<Event> {
    let messages = bench.messages(conn);
    let read = messages.iter().filter_map(|bytes| {
        let message = match Message::new_checked(bytes).unwrap().kind() {
            MessageKind::RobotMessage(message) => message,
            MessageKind::RobotState(mut packages) => {
                return packages.find_map(|package| match package.unwrap() {
                    SubPackage::RobotModeData(mode) => Some(Event::State(mode.protective_stop())),
                    _ => None,
                });
            }
            _ => return None,
        };
        match message.payload(Some(software)).unwrap() {
            RobotMessagePayload::SafetyMode(safety) => {
                assert!(!matches!(safety.detail, SafetyDetail::Raw(_)), "{software:?}");
                Some(Event::Report(Report::Mode(safety.detail.safety_mode())))
            }
            RobotMessagePayload::ErrorCode(error) => {
                let level = match error.detail {
                    ErrorDetail::Text(_) => None,
                    ErrorDetail::Warning { warning_level, .. } => Some(warning_level),
                    ErrorDetail::Report { report_level, .. } => Some(report_level),
                    ErrorDetail::Raw(_) => panic!("{software:?}: a form that is not known"),
                };
                Some(Event::Report(Report::Code(error.code, error.argument, level)))
            }
            RobotMessagePayload::Key(key) => Some(Event::Key(String::from_utf8_lossy(key.title.0).into_owned())),
            _ => None,
        }
    });
    read.collect()
}

/// Returns the reports about stops among the messages that `conn` has received.
fn reports(bench: &mut Bench, conn: Conn, software: SoftwareVersion) -> Vec<Report> {
    let reports = events(bench, conn, software).into_iter().filter_map(|event| match event {
        Event::Report(report) => Some(report),
        _ => None,
    });
    reports.collect()
}

fn bench(options: Options) -> (Bench, Conn) {
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Primary);
    bench.run(20);
    bench.take(conn);
    (bench, conn)
}

/// One software for each form of the messages, except 3.3 to 3.13, whose form is not known.
const SOFTWARE: [(u8, u8); 8] = [(1, 8), (3, 0), (3, 2), (3, 14), (3, 15), (5, 0), (5, 15), (10, 11)];

#[test]
fn each_stop_is_reported_by_a_code_and_the_safety_mode_in_the_form_of_its_software() {
    for (major, minor) in SOFTWARE {
        let software = SoftwareVersion::new(major, minor);
        for (action, code, argument, level, mode) in [
            (Action::ProtectiveStop, 157, 0, 2, SafetyMode::ProtectiveStop),
            (Action::EmergencyStop, 100, 3, 1, SafetyMode::RobotEmergencyStop),
            (Action::SafetyViolation, 191, 2, 3, SafetyMode::Violation),
            (Action::SafetyFault, 226, 0, 4, SafetyMode::Fault),
        ] {
            let (mut bench, conn) = bench(ideal(major, minor));
            bench.controller.act(action);
            bench.run(100);
            let expected = match major {
                1 => [Report::Code(code, argument, None), Report::Mode(None)],
                _ => [Report::Code(code, argument, Some(level)), Report::Mode(Some(mode))],
            };
            assert_eq!(reports(&mut bench, conn, software), expected, "{software:?}, {action:?}");
        }
    }
}

#[test]
fn a_program_that_stops_itself_is_reported_once_as_c209() {
    for (major, minor) in [(3, 14), (3, 15), (5, 15), (10, 11)] {
        for program in ["def a():\n  protective_stop()\nend\n", "sec a():\n  protective_stop()\nend\n"] {
            let software = SoftwareVersion::new(major, minor);
            let (mut bench, conn) = bench(ideal(major, minor));
            bench.send(conn, program);
            bench.run(300);
            let expected = [Report::Code(209, 0, Some(2)), Report::Mode(Some(SafetyMode::ProtectiveStop))];
            assert_eq!(reports(&mut bench, conn, software), expected, "{software:?}, {program}");
        }
    }
}

/// Follows UR's client library: it waits for the code of a stop, unlocks it by text at once, waits for a state
/// without the stop and sends.
#[test]
fn a_stop_is_reported_after_the_state_that_shows_it_and_a_line_unlocks_it_at_once() {
    for (major, minor) in [(3, 14), (3, 15), (5, 15), (10, 11)] {
        for started in (0..100).step_by(7) {
            let software = SoftwareVersion::new(major, minor);
            let (mut bench, conn) = bench(ideal(major, minor));
            bench.run(started);
            bench.take(conn);
            bench.send(conn, "def a():\n  protective_stop()\nend\n");
            bench.run(300);
            let mut stopped = events(&mut bench, conn, software);
            let key = |title: &str| Event::Key(title.to_owned());
            stopped.retain(|event| ![Event::State(false), key("PROGRAM_XXX_STARTED")].contains(event));
            let expected = [
                Event::State(true),
                Event::Report(Report::Code(209, 0, Some(2))),
                Event::Report(Report::Mode(Some(SafetyMode::ProtectiveStop))),
                key("PROGRAM_XXX_STOPPED"),
            ];
            assert_eq!(stopped[..4], expected, "{software:?} after {started} ms");

            bench.send(conn, "set unlock protective stop\n");
            bench.run(200);
            let mut unlocked = events(&mut bench, conn, software);
            unlocked.retain(|event| *event != Event::State(true));
            let expected = [Event::State(false), Event::Report(Report::Mode(Some(SafetyMode::Normal)))];
            assert_eq!(unlocked[..2], expected, "{software:?} after {started} ms");
        }
    }
}

#[test]
fn a_line_to_where_the_arm_cannot_be_is_a_protective_stop_until_the_program_is_stopped() {
    for (major, minor) in [(3, 14), (3, 15), (5, 15), (10, 11)] {
        for far in ["movel(p[3,0,0,0,0,0])", "movep(p[3,0,0,0,0,0])", "movec(get_actual_tcp_pose(), p[3,0,0,0,0,0])"] {
            let software = SoftwareVersion::new(major, minor);
            let (mut bench, conn) = bench(ideal(major, minor));
            let before = bench.controller.truth().q;
            bench.send(conn, &format!("def a():\n  {far}\nend\n"));
            bench.run(500);
            let stopped = [Report::Code(154, 0, Some(2)), Report::Mode(Some(SafetyMode::ProtectiveStop))];
            assert_eq!(reports(&mut bench, conn, software), stopped, "{software:?}, {far}");
            assert_eq!((bench.controller.program(), bench.controller.truth().q), ((true, true), before), "{far}");
            bench.run(6_000);
            bench.controller.act(Action::UnlockProtectiveStop);
            bench.run(100);
            bench.controller.act(Action::ResumeProgram);
            bench.take(conn);
            bench.run(500);
            assert_eq!(reports(&mut bench, conn, software), stopped, "{software:?}, {far}: again");
            bench.controller.act(Action::StopProgram);
            bench.run(6_000);
            bench.controller.act(Action::UnlockProtectiveStop);
            bench.send(conn, "movej([0.2,-1.5,-1.6,-1.5,1.5,0], 1, 1)\n");
            bench.run(3_000);
            assert!((bench.controller.truth().q[0] - 0.2).abs() < 1e-3, "{software:?}, {far}: it moves again");
        }
    }
}

#[test]
fn joints_beyond_their_range_end_the_program_with_a_code_before_the_arm_moves() {
    for (major, minor) in [(3, 14), (3, 15), (5, 15), (10, 11)] {
        let software = SoftwareVersion::new(major, minor);
        let (mut bench, conn) = bench(ideal(major, minor));
        let before = bench.controller.truth().q;
        bench.send(conn, "def a():\n  movej([-157,-1.5,-1.6,-1.5,1.5,0], 1, 1)\nend\n");
        bench.run(500);
        let received = bench.take(conn);
        let words = b"movej: [-157, -1.5, -1.6, -1.5, 1.5, 0] is beyond the range of a joint";
        assert!(received.windows(words.len()).any(|window| window == words), "{software:?}");
        assert!(!bench.controller.program().0 && bench.controller.robot().may_move(), "{software:?}");
        assert_eq!(bench.controller.truth().q, before, "{software:?}");
        bench.send(conn, "movej([-157,-1.5,-1.6,-1.5,1.5,0], 1, 1)\n");
        bench.run(500);
        assert_eq!(reports(&mut bench, conn, software), [Report::Code(150, 0, Some(2))], "{software:?}");
    }
}

#[test]
fn the_code_of_a_stop_and_the_form_of_its_reports_can_be_chosen() {
    let software = SoftwareVersion::new(3, 15);
    let stop_codes = StopCodes { other: Some(StopCode::new(153, 4)), emergency: None, ..StopCodes::default() };
    let (mut bench, conn) = bench(Options { stop_codes, ..ideal(3, 15) });
    bench.controller.act(Action::ProtectiveStop);
    bench.controller.act(Action::EmergencyStop);
    bench.run(100);
    let modes = [SafetyMode::ProtectiveStop, SafetyMode::RobotEmergencyStop].map(|mode| Report::Mode(Some(mode)));
    let [protective, emergency] = modes;
    assert_eq!(reports(&mut bench, conn, software), [Report::Code(153, 4, Some(2)), protective, emergency]);
    for (later, size) in [(false, 24 + "PROTECTIVE_STOP".len()), (true, 32)] {
        let (mut bench, conn) = self::bench(Options { later_reports: Some(later), ..ideal(3, 7) });
        bench.controller.act(Action::ProtectiveStop);
        bench.run(100);
        let sizes: Vec<usize> =
            bench.messages(conn).iter().filter(|m| m[4] == 20 && m[14] == 5).map(Vec::len).collect();
        assert_eq!(sizes, [size], "later: {later}");
    }
}
