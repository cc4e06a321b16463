use super::*;
use crate::pendant::Files;
use crate::robot::PowerTiming;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

/// The controller state that dashboard requests need in these tests, with a running arm and no loaded program.
struct Desk {
    firmware: Firmware,
    robot: Robot,
    pendant: Pendant,
    options: DashboardOptions,
    playing: Playing,
    permitted: bool,
}

impl Desk {
    fn software(major: u8, minor: u8) -> Self {
        let firmware = Firmware(SoftwareVersion::new(major, minor));
        Self {
            firmware,
            robot: Robot::new(firmware.generation(), PowerTiming::default()),
            pendant: Pendant::new(Files::default()),
            options: DashboardOptions::default(),
            playing: Playing::default(),
            permitted: true,
        }
    }

    fn with<T>(&mut self, look: impl FnOnce(&mut Context<'_>) -> T) -> T {
        look(&mut Context {
            now: SimTime::ZERO,
            firmware: self.firmware,
            model: &ArmModel::of(RobotModel::Ur5e),
            serial_number: "20205500001",
            robot: &self.robot,
            pendant: &mut self.pendant,
            options: &self.options,
            playing: self.playing,
            permitted: self.permitted,
        })
    }

    fn reply(&mut self, line: &str) -> Reply {
        self.with(|context| reply(line, context))
    }

    fn over(&mut self, operation: &Operation) -> String {
        self.with(|context| over(operation, Outcome::Done, context))
    }

    fn ask(&mut self, line: &str) -> String {
        self.reply(line).line.unwrap_or_default()
    }
}

#[test]
fn names_are_taken_in_any_case_and_arguments_as_they_are() {
    let mut desk = Desk::software(5, 15);
    assert_eq!(desk.ask("ROBOTMODE"), "Robotmode: RUNNING");
    assert_eq!(desk.ask("addtolog Weld 7"), "Added log message");
    assert_eq!(desk.pendant.log, ["Weld 7"]);
    assert_eq!(desk.reply("LOAD Weld.urp").operation, Some(Operation::Load("Weld.urp".into())));
    assert_eq!(desk.ask("robotmode now"), "could not understand: 'robotmode now'");
    assert_eq!(desk.ask("popupx"), "could not understand: 'popupx'");
}

#[test]
fn the_longest_name_that_fits_is_meant() {
    let mut desk = Desk::software(5, 15);
    let installation = Some(Operation::LoadInstallation("a.installation".into()));
    assert_eq!(desk.reply("load installation a.installation").operation, installation);
    // Before this request existed, the line was the name of a program.
    assert_eq!(Desk::software(3, 1).ask("load installation a"), "File not found: installation a");
}

#[test]
fn before_3_3_operations_are_answered_at_once() {
    let mut old = Desk::software(3, 2);
    let reply = old.reply("load idle.urp");
    assert_eq!(reply.line.as_deref(), Some("Loading program: /programs/idle.urp"));
    assert_eq!(reply.operation, Some(Operation::Load("idle.urp".into())));
    assert_eq!(old.reply("load none.urp"), Reply::say("File not found: none.urp"));
    assert_eq!(old.reply("play"), Reply::say("Failed to execute: play"));
    let reply = Desk::software(3, 3).reply("load idle.urp");
    assert_eq!((reply.line, reply.operation), (None, Some(Operation::Load("idle.urp".into()))));
}

#[test]
fn a_client_keeps_the_operational_mode_from_the_pendant_until_it_lets_go() {
    for (replies, set, cleared) in [
        (OperationalReplies::IsSet, "Operational mode MANUAL is set", "No longer controlling the operational mode."),
        (OperationalReplies::Setting, "Setting operational mode: manual", "operational mode is no longer controlled"),
        (OperationalReplies::Quoted, "operational mode 'manual' is set", "No longer controlling the operational mode."),
    ] {
        let mut desk = Desk::software(5, 15);
        desk.options.operational = replies;
        assert_eq!(desk.ask("get operational mode"), "NONE");
        assert_eq!(desk.ask("set operational mode MANUAL"), set);
        desk.pendant.choose_mode(Some(crate::pendant::OperationalMode::Automatic));
        assert_eq!(desk.ask("get operational mode"), "MANUAL");
        assert!(desk.ask("clear operational mode").starts_with(cleared));
        assert_eq!(desk.ask("set operational mode fast"), "Failed setting operational mode: fast");
    }
}

#[test]
fn roles_are_the_cb_series_and_restricted_came_late() {
    let mut desk = Desk::software(3, 15);
    assert_eq!(
        (desk.ask("getUserRole"), desk.ask("setUserRole locked")),
        ("PROGRAMMER".into(), "Setting user role: locked".into())
    );
    assert_eq!(desk.ask("getUserRole"), "LOCKED");
    assert_eq!(desk.ask("setUserRole pope"), "Failed setting user role: pope");
    assert_eq!(Desk::software(3, 1).ask("setUserRole restricted"), "Failed setting user role: restricted");
    assert_eq!(desk.ask("setUserRole restricted"), "Setting user role: restricted");
}

#[test]
fn sent_programs_show_only_where_that_is_chosen() {
    let mut desk = Desk::software(5, 15);
    desk.playing = Playing { exists: true, paused: false, loaded: false };
    assert_eq!(
        (desk.ask("running"), desk.ask("programState")),
        ("Program running: true".into(), "STOPPED <unnamed>".into())
    );
    desk.options.shows_scripts = true;
    assert_eq!(desk.ask("programState"), "PLAYING <unnamed>");
    desk.pendant.loaded = Some("/programs/cell/weld.urp".into());
    desk.playing = Playing { exists: true, paused: true, loaded: true };
    assert_eq!(desk.ask("programState"), "PAUSED weld.urp");
    assert_eq!(desk.ask("get loaded program"), "Loaded program: /programs/cell/weld.urp");
}

#[test]
fn what_is_not_confirmed_can_be_chosen() {
    let mut desk = Desk::software(3, 12);
    assert_eq!(desk.ask("safetystatus"), "Safetystatus: NORMAL");
    desk.options = DashboardOptions { safetystatus: None, unknown: "what? {}".into(), ..DashboardOptions::default() };
    assert_eq!(desk.ask("safetystatus"), "what? safetystatus");
    assert_eq!(desk.ask("isProgramSaved"), "true <unnamed>");
    desk.options.capital = Some(true);
    assert_eq!(desk.ask("isProgramSaved"), "True <unnamed>");
}

#[test]
fn a_flight_report_may_be_asked_for_without_its_kind_and_is_announced_as_chosen() {
    let mut desk = Desk::software(5, 15);
    let report = Operation::Report(crate::pendant::Report::Unnamed);
    assert_eq!(desk.reply("generate flight report").operation, Some(report.clone()));
    assert_eq!(desk.ask("generate flight report dance"), "Error: no flight report of kind dance");
    for (reports, expected) in [
        (ReportReplies::Generated, "Flight Report generated with id:0"),
        (ReportReplies::Number, "0"),
        (ReportReplies::Generating, "Generating flight report: 0"),
    ] {
        desk.options.reports = reports;
        assert_eq!(desk.over(&report), expected);
    }
}

#[test]
fn a_session_gives_out_one_request_at_a_time() {
    let mut session = Session::default();
    assert_eq!(session.receive(b"play\nsto"), b"sto");
    assert_eq!(session.receive(b"sto"), b"");
    assert_eq!(session.receive(b"p\n"), b"");
    assert_eq!(session.next().as_deref(), Some("play"));
    session.waits = true;
    assert_eq!(session.next(), None);
    session.waits = false;
    assert_eq!(session.next().as_deref(), Some("stop"));
}

#[test]
fn a_request_without_end_costs_bounded_memory() {
    let mut session = Session::default();
    (0..100).for_each(|_| assert_eq!(session.receive(&[b'x'; 1000]), b""));
    assert!(session.line.len() <= REQUEST);
    (0..1000).for_each(|_| assert_eq!(session.receive(b"\n"), b""));
    assert!(session.requests.len() <= WAITING);
}
