use std::collections::BTreeSet;

use outrigger_wire::dashboard::{Reply, Support};
use outrigger_wire::primary::Text;
use outrigger_wire::robot::ProgramState;
use outrigger_wire::robot_api::FIRST;

use super::*;
use outrigger_ros2_messages::{Message, Nothing, ProgramInformation, VersionInformation};

fn offer(name: &str) -> &'static Offer {
    let found = DASHBOARD_OFFERS.iter().find(|offer| offer.name == format!("dashboard_client/{name}"));
    found.unwrap_or_else(|| panic!("no {name}"))
}

fn asked(name: &str, request: &impl Message) -> Result<DashboardOperation, String> {
    ask(offer(name), &encode(request)).map_err(|refused| refused.to_string())
}

/// Returns the dashboard operation of a sample call of this service.
fn sample(offer: &'static Offer) -> DashboardOperation {
    let bytes = match offer.service {
        Load::TYPE => encode(&LoadRequest { filename: "weld.urp".into() }),
        Popup::TYPE => encode(&PopupRequest { message: "hello".into() }),
        AddToLog::TYPE => encode(&AddToLogRequest { message: "hello".into() }),
        RawRequest::TYPE => encode(&RawRequestRequest { query: "play".into() }),
        SetUserRole::TYPE => encode(&SetUserRoleRequest { user_role: UserRoleMsg { role: "LOCKED".into() } }),
        SetOperationalMode::TYPE => {
            encode(&SetOperationalModeRequest { operational_mode: OperationalModeMsg { mode: "MANUAL".into() } })
        }
        GenerateFlightReport::TYPE => encode(&GenerateFlightReportRequest { report_type: "system".into() }),
        GenerateSupportFile::TYPE => encode(&GenerateSupportFileRequest { dir_path: ".".into() }),
        UploadProgram::TYPE => encode(&UploadProgramRequest { file_path: "/etc/passwd".into() }),
        DownloadProgram::TYPE => {
            encode(&DownloadProgramRequest { program_name: "a".into(), target_path: "/etc/passwd".into() })
        }
        _ => encode(&Nothing::default()),
    };
    ask(offer, &bytes).unwrap_or_else(|refused| panic!("{}: {refused}", offer.name))
}

/// Returns the first version of each controller family that supports a request, according to the core.
fn since(kind: RequestKind) -> String {
    let families = [("CB", (1, 0), true), ("e-Series", (5, 0), false), ("PolyScope X", (10, 0), false)];
    let known = families.into_iter().filter_map(|(family, (major, minor), always)| {
        match kind.support(SoftwareVersion::new(major, minor)) {
            Support::Yes | Support::Perhaps if always => Some(format!("{family} {major}.{minor}")),
            Support::Yes | Support::Perhaps => Some(family.to_owned()),
            Support::From(since) => Some(format!("{family} {}.{}", since.major, since.minor)),
            Support::Never => None,
        }
    });
    known.collect::<Vec<_>>().join(", ")
}

#[test]
fn what_a_service_says_of_software_is_what_the_core_knows() {
    for offer in DASHBOARD_OFFERS {
        let asked = sample(offer);
        let Some(request) = asked.request() else { continue };
        let ends = format!("; {}", since(request.kind()));
        assert!(offer.does.ends_with(&ends), "{}: {} has to end with {ends}", offer.name, offer.does);
    }
}

#[test]
fn names_are_those_of_the_surface_each_once() {
    let names: BTreeSet<_> = DASHBOARD_OFFERS.iter().map(|offer| offer.name).collect();
    assert_eq!(names.len(), DASHBOARD_OFFERS.len());
    // Fourteen triggers and `resume`, and the twenty-six others of the table.
    assert_eq!(DASHBOARD_OFFERS.iter().filter(|offer| offer.service == Trigger::TYPE).count(), 15);
    assert_eq!(names.len(), 41);
}

#[test]
fn every_service_asks_for_something_and_answers_its_own_type() {
    for offer in DASHBOARD_OFFERS {
        sample(offer);
        let refused = answer(offer, &Outcome::failed("no"));
        let done = answer(offer, &Outcome::done("no"));
        // The response is the same except for one byte, the success; a raw request has none.
        let differ = refused.iter().zip(&done).filter(|(a, b)| a != b).count();
        assert_eq!(differ, usize::from(offer.service != RawRequest::TYPE), "{}", offer.name);
    }
    for bytes in [&[][..], &[0, 1, 0, 0], &[0, 1, 0, 0, 9, 0, 0, 0, b'a']] {
        assert!(matches!(ask(offer("load_program"), bytes), Err(Refused::Bytes(_))));
        assert_eq!(ask(offer("play"), bytes), Ok(DashboardOperation::Plain(Request::Play)));
    }
    assert!(
        ask(crate::driver_services::OFFERS[0], &[]).unwrap_err().to_string().starts_with("service: expected one of")
    );
}

#[test]
fn a_text_that_a_line_cannot_carry_is_refused_by_the_name_of_its_field() {
    let load = |name: &str| asked("load_program", &LoadRequest { filename: name.into() });
    assert_eq!(load("cell 3/weld.urp"), Ok(DashboardOperation::Load("cell 3/weld.urp".into())));
    assert_eq!(load("a.urp\nplay").unwrap_err(), "filename: expected one line, found its end at byte 5");
    assert_eq!(load("").unwrap_err(), "filename: expected a name or a text, found none");
    let long = Argument::MAX_LEN + 1;
    assert_eq!(
        load(&"x".repeat(long)).unwrap_err(),
        format!("filename: expected at most {} bytes, found 401", long - 1)
    );
    let popup = asked("popup", &PopupRequest { message: "schwei\u{df}en".into() });
    assert_eq!(popup.unwrap_err(), "message: expected printable ASCII, found another character at byte 6");
    let log = asked("add_to_log", &AddToLogRequest { message: "a\r".into() });
    assert_eq!(log.unwrap_err(), "message: expected one line, found its end at byte 1");
    let folder = asked("generate_support_file", &GenerateSupportFileRequest { dir_path: " ".into() });
    assert_eq!(folder.unwrap_err(), "dir_path: expected a name or a text, found none");
    let role =
        |role: &str| asked("set_user_role", &SetUserRoleRequest { user_role: UserRoleMsg { role: role.into() } });
    assert_eq!(role("operator"), Ok(DashboardOperation::Plain(Request::SetUserRole(UserRole::Operator))));
    assert_eq!(
        role("admin").unwrap_err(),
        "user_role.role: expected PROGRAMMER, OPERATOR, NONE, LOCKED or RESTRICTED, found 'admin'"
    );
    let mode = |mode: &str| {
        let operational_mode = OperationalModeMsg { mode: mode.into() };
        asked("set_operational_mode", &SetOperationalModeRequest { operational_mode })
    };
    assert_eq!(
        mode("AUTOMATIC"),
        Ok(DashboardOperation::Plain(Request::SetOperationalMode(OperationalMode::Automatic)))
    );
    assert_eq!(mode("").unwrap_err(), "operational_mode.mode: expected MANUAL or AUTOMATIC, found ''");
    let report =
        |kind: &str| asked("generate_flight_report", &GenerateFlightReportRequest { report_type: kind.into() });
    assert_eq!(report(""), Ok(DashboardOperation::Plain(Request::GenerateFlightReport(None))));
    assert_eq!(report("all").unwrap_err(), "report_type: expected controller, software or system, found 'all'");
    assert!(report("system").expect("it is one").is_long() && !load("a").expect("it is one").is_long());
}

#[test]
fn a_raw_request_is_one_of_those_that_are_known() {
    let raw = |query: &str| asked("raw_request", &RawRequestRequest { query: query.into() });
    for kind in RequestKind::ALL {
        let argument = match kind {
            RequestKind::Load | RequestKind::LoadInstallation | RequestKind::Popup => " a b",
            RequestKind::AddToLog | RequestKind::GenerateSupportFile => " a",
            RequestKind::SetUserRole => " locked",
            RequestKind::SetOperationalMode => " manual",
            _ => "",
        };
        let line = format!(" {}{argument}\n", kind.words().to_ascii_uppercase());
        let found = raw(&line).unwrap_or_else(|refused| panic!("{line}: {refused}"));
        assert_eq!(found.request().map(|request| request.kind()), Some(*kind), "{line}");
        assert_eq!(
            found.request().and_then(|request| request.argument()).unwrap_or_default(),
            argument.trim(),
            "{line}"
        );
    }
    for (query, said) in [
        ("", "query: expected a request of the dashboard that this node knows, found ''"),
        ("playa", "query: expected a request of the dashboard that this node knows, found 'playa'"),
        ("play now", "query: expected the request without further text, found 'play now'"),
        ("load", "query: expected a name or a text, found none"),
        ("popup a\nplay", "query: expected one line, found its end at byte 1"),
        ("setUserRole root", "query: expected PROGRAMMER, OPERATOR, NONE, LOCKED or RESTRICTED, found 'root'"),
    ] {
        assert_eq!(raw(query).unwrap_err(), said);
    }
}

#[test]
fn software_that_lacks_a_service_is_told_with_since_when_it_would_have_it() {
    let lacks = |name: &str, major, minor| sample(offer(name)).check(SoftwareVersion::new(major, minor)).err();
    let said = |name: &str, major, minor| lacks(name, major, minor).expect("it does not");
    assert_eq!(said("popup", 10, 12), "software 10.12.0 does not know 'popup': no PolyScope X controllers do");
    assert_eq!(said("set_user_role", 5, 20), "software 5.20.0 does not know 'setUserRole': no e-Series controllers do");
    assert_eq!(
        said("get_robot_mode", 10, 11),
        "software 10.11.0 does not know 'robotmode': PolyScope X controllers do from 10.12 on"
    );
    assert_eq!(said("resume", 5, 20), "software 5.20.0 does not know 'resume': 'play' resumes a paused program here");
    assert_eq!(
        said("get_programs", 10, 11),
        "software 10.11.0 does not know 'programs': PolyScope X controllers do from 10.12 on"
    );
    for name in ["power_on", "brake_release", "play", "pause", "stop", "restart_safety", "program_state"] {
        assert_eq!(lacks(name, 10, 11), None, "{name}");
    }
    for name in
        ["resume", "get_programs", "get_loaded_program", "get_operational_mode", "is_in_remote_control", "connect"]
    {
        assert_eq!(lacks(name, 10, 12), None, "{name}");
    }
    for name in ["upload_program", "update_program", "download_program"] {
        assert!(said(name, 10, 12).starts_with("not offered: "), "{name}");
        assert!(said(name, 5, 20).contains("from 10.12 on"), "{name}");
    }
}

#[test]
fn polyscope_x_loads_by_name_and_others_by_file() {
    let load = |name: &str, software| DashboardOperation::Load(name.into()).check(software);
    let (e, x) = (SoftwareVersion::new(5, 20), FIRST);
    assert_eq!((load("weld.urp", e), load("weld", e), load("weld", x)), (Ok(()), Ok(()), Ok(())));
    for name in ["weld.urp", "weld.URPX"] {
        let said = load(name, x).unwrap_err();
        assert_eq!(
            said,
            format!("filename: expected the name of a program without suffix on PolyScope X, found {name}")
        );
    }
}

/// Returns the response to a call of `name` when the dashboard replies with `line`.
fn response<M: Message>(name: &str, line: &str) -> M {
    let asked = sample(offer(name));
    let kind = asked.request().expect("a request").kind();
    let outcome = Outcome::of(&Reply::parse(kind, line.as_bytes()), Text(line.as_bytes()));
    decode(&answer(offer(name), &outcome)).expect("its own type")
}

#[test]
fn what_the_dashboard_says_stands_in_the_response() {
    let ok = |answer: &str| (answer.to_owned(), true);
    let running: IsProgramRunningResponse = response("program_running", "Program running: true");
    assert_eq!(
        (running.answer, running.success, running.program_running),
        ("Program running: true".into(), true, true)
    );
    let state: GetProgramStateResponse = response("program_state", "PLAYING weld.urp");
    assert_eq!((state.state.state.as_str(), state.program_name.as_str()), ("PLAYING", "weld.urp"));
    // PolyScope X.
    let state: GetProgramStateResponse = response("program_state", "STOPPED");
    assert_eq!((state.state.state.as_str(), state.program_name.as_str(), state.success), ("STOPPED", "", true));
    let saved: IsProgramSavedResponse = response("program_saved", "True weld.urp");
    assert_eq!((saved.program_name.as_str(), saved.program_saved, saved.success), ("weld.urp", true, true));
    let loaded: GetLoadedProgramResponse = response("get_loaded_program", "Loaded program: /programs/weld.urp");
    assert_eq!((loaded.program_name.as_str(), loaded.success), ("/programs/weld.urp", true));
    let serial: GetSerialNumberResponse = response("get_serial_number", "20175599999");
    assert_eq!((serial.serial_number, (serial.answer, serial.success)), (20_175_599_999, ok("20175599999")));
    let mode: GetRobotModeResponse = response("get_robot_mode", "Robotmode: IDLE");
    assert_eq!((mode.robot_mode.mode, mode.success), (5, true));
    let mode: GetSafetyModeResponse = response("get_safety_mode", "Safetymode: FAULT");
    assert_eq!((mode.safety_mode.mode, mode.success), (9, true));
    let status: GetSafetyStatusResponse = response("get_safety_status", "Safetystatus: AUTOMATIC_MODE_SAFEGUARD_STOP");
    assert_eq!((status.safety_status.status, status.success), (12, true));
    let version: GetPolyScopeVersionResponse =
        response("get_polyscope_version", "URSoftware 5.12.0.1101319 (Mar 22 2022)");
    assert_eq!(version.version, VersionInformation { major: 5, minor: 12, bugfix: 0, build: 1_101_319 });
    let model: GetRobotModelResponse = response("get_robot_model", "UR10");
    assert_eq!((model.robot_model.as_str(), model.success), ("UR10", true));
    let remote: IsInRemoteControlResponse = response("is_in_remote_control", "true");
    assert!(remote.remote_control && remote.success);
    let role: GetUserRoleResponse = response("get_user_role", "LOCKED");
    assert_eq!((role.user_role.role.as_str(), role.success), ("LOCKED", true));
    let mode: GetOperationalModeResponse = response("get_operational_mode", "NONE");
    assert_eq!((mode.operational_mode.mode.as_str(), mode.success), ("NONE", true));
    let report: GenerateFlightReportResponse =
        response("generate_flight_report", "Flight Report generated with id: 42");
    assert_eq!((report.report_id.as_str(), report.success), ("42", true));
    let file: GenerateSupportFileResponse =
        response("generate_support_file", "Completed successfully: /programs/a.zip");
    assert_eq!((file.generated_file_name.as_str(), file.success), ("/programs/a.zip", true));
    let raw: RawRequestResponse = response("raw_request", "Starting program");
    assert_eq!(raw.answer, "Starting program");
    let load: LoadResponse = response("load_program", "File not found: weld.urp");
    assert_eq!((load.answer.as_str(), load.success), ("File not found: weld.urp", false));
    let play: TriggerResponse = response("play", "Failed to execute: play");
    assert_eq!((play.message.as_str(), play.success), ("Failed to execute: play", false));
    let mode: GetRobotModeResponse = response("get_robot_mode", "could not understand: 'robotmode'");
    assert_eq!((mode.robot_mode.mode, mode.success), (0, false));
    let program = ProgramInformation { name: "weld".into(), created_date: 7, ..ProgramInformation::default() };
    let outcome = Outcome { value: Value::Programs(vec![program.clone()]), ..Outcome::done("1 program") };
    let programs: GetProgramsResponse = decode(&answer(offer("get_programs"), &outcome)).expect("its type");
    assert_eq!((programs.programs, programs.answer.as_str(), programs.success), (vec![program], "1 program", true));
}

#[test]
fn a_value_that_does_not_belong_to_a_service_is_left_out() {
    let program = Value::Program { state: ProgramState::Playing, name: "a".into() };
    for offer in DASHBOARD_OFFERS {
        for value in [program.clone(), Value::Flag(true), Value::RobotMode(7), Value::Serial(1), Value::Mode(None)] {
            assert!(answer(offer, &Outcome { value, ..Outcome::done("x") }).len() > 4, "{}", offer.name);
        }
    }
}
