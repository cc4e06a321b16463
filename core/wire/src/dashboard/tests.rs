use super::*;
use crate::primary::Text;
use crate::robot::{RobotMode, SafetyMode, SoftwareVersion};
use crate::{WireError, WireErrorKind};
use proptest::prelude::*;

fn emitted(request: Request<'_>) -> String {
    let mut line = [0xa5; Request::MAX_LEN];
    let size = request.emit(&mut line).unwrap();
    String::from_utf8(line[..size].to_vec()).unwrap()
}

#[test]
fn a_request_is_one_line() {
    assert_eq!(emitted(Request::PowerOn), "power on\n");
    assert_eq!(emitted(Request::Load(Argument::new("cell 3/weld.urp").unwrap())), "load cell 3/weld.urp\n");
    assert_eq!(emitted(Request::SetUserRole(UserRole::Locked)), "setUserRole locked\n");
    let mut short = [0; 8];
    let error = WireError { kind: WireErrorKind::BufferTooSmall, at: 0, need: 9, have: 8 };
    assert_eq!(Request::PowerOn.emit(&mut short), Err(error));
}

#[test]
fn an_argument_that_would_end_the_line_or_not_fit_into_it_is_refused() {
    let refused = |text: &str| Argument::new(text).unwrap_err();
    assert_eq!(refused("a.urp\nplay"), BadArgument::LineBreak { at: 5 });
    assert_eq!(refused("a\r"), BadArgument::LineBreak { at: 1 });
    assert_eq!(refused("schwei\u{df}en.urp"), BadArgument::NotAscii { at: 6 });
    assert_eq!(refused("a\tb"), BadArgument::NotAscii { at: 1 });
    assert_eq!((refused(""), refused("  ")), (BadArgument::Empty, BadArgument::Empty));
    assert_eq!(refused(&"x".repeat(401)), BadArgument::TooLong { len: 401 });
    let longest = "x".repeat(Argument::MAX_LEN);
    for kind in [Request::GenerateSupportFile, Request::LoadInstallation] {
        assert!(emitted(kind(Argument::new(&longest).unwrap())).ends_with("x\n"));
    }
}

#[test]
fn the_greeting_is_known_whatever_is_added_to_it() {
    assert!(is_greeting(GREETING.as_bytes()) && is_greeting(b"Connected: UNIVERSAL ROBOTS DASHBOARD SERVER 5.26"));
    assert!(!is_greeting(b"SSH-2.0-OpenSSH_9.6") && !is_greeting(b""));
}

#[test]
fn what_software_does_not_know_is_refused_with_since_when_it_would() {
    let said =
        |kind: RequestKind, major, minor| kind.check(SoftwareVersion::new(major, minor)).map_err(|e| e.to_string());
    let refused = |kind, major, minor| said(kind, major, minor).unwrap_err();
    assert_eq!(
        refused(RequestKind::UnlockProtectiveStop, 3, 0),
        "software 3.0.0 does not know 'unlock protective stop': controllers of the CB series do from 3.1 on"
    );
    assert_eq!(
        refused(RequestKind::SetUserRole, 5, 15),
        "software 5.15.0 does not know 'setUserRole': no e-Series controllers do"
    );
    assert_eq!(
        refused(RequestKind::RobotMode, 10, 11),
        "software 10.11.0 does not know 'robotmode': PolyScope X controllers do from 10.12 on"
    );
    assert_eq!(said(RequestKind::SafetyStatus, 3, 5), Ok(()), "sources do not settle it: it is asked");
    assert!(said(RequestKind::SafetyStatus, 1, 8).is_err());
}

#[test]
fn a_robot_mode_is_a_number_on_cb2_and_a_word_later() {
    let mode = |line: &str| match Reply::parse(RequestKind::RobotMode, line.as_bytes()) {
        Reply::RobotMode(mode) => Some(mode),
        _ => None,
    };
    assert_eq!(mode("Robotmode: 0"), Some(RobotMode::Running));
    assert_eq!(mode("Robotmode: 7\r\n"), Some(RobotMode::NoPower));
    assert_eq!(mode("ROBOTMODE: Power_Off"), Some(RobotMode::PowerOff));
    assert_eq!(mode("Robotmode: DANCING"), None);
}

#[test]
fn a_request_line_is_parsed_as_it_is_emitted() {
    let argument = |text| Argument::new(text).expect("an argument");
    for (line, request) in [
        ("power on", Request::PowerOn),
        ("load a b.urp", Request::Load(argument("a b.urp"))),
        ("load installation cell", Request::LoadInstallation(argument("cell"))),
        ("setUserRole locked", Request::SetUserRole(UserRole::Locked)),
        ("set operational mode manual", Request::SetOperationalMode(OperationalMode::Manual)),
        ("generate flight report", Request::GenerateFlightReport(None)),
        ("generate flight report system", Request::GenerateFlightReport(Some(FlightReport::System))),
    ] {
        assert_eq!(Request::parse(line), Ok(request));
        assert_eq!(emitted(request), format!("{line}\n"));
        assert_eq!(Request::parse(&format!(" {line}\r\n")), Ok(request));
    }
    for (line, said) in [
        ("", "expected a request of a dashboard server, e.g. \"power on\""),
        ("powers on", "expected a request of a dashboard server, e.g. \"power on\""),
        ("power on now", "expected nothing after \"power on\""),
        ("load", "expected a name or a text, found none"),
        ("set operational mode x", "expected one of \"manual\" \"automatic\""),
    ] {
        assert_eq!(Request::parse(line).map_err(|error| error.to_string()), Err(said.to_owned()));
    }
    for kind in RequestKind::ALL {
        let plain = Request::parse(kind.words()).map(|request| request.kind());
        assert!(plain == Ok(*kind) || plain.is_err(), "{kind:?}");
    }
}

#[test]
fn a_line_that_answers_nothing_is_kept_as_it_is() {
    for kind in RequestKind::ALL {
        let line = b"\xffnothing, \x00like this";
        assert_eq!(Reply::parse(*kind, line), Reply::Other(Text(line)), "{kind:?}");
    }
    assert_eq!(Reply::parse(RequestKind::SafetyMode, b"Safetymode: NORMAL"), Reply::Safety(SafetyMode::Normal));
    assert_eq!(Reply::parse(RequestKind::SafetyMode, b""), Reply::Other(Text(b"")));
}

proptest! {
    #[test]
    fn any_argument_that_is_taken_stands_alone_in_its_line(text in "[ -~]{0,60}|\\PC{0,20}|[a-z\n\r]{0,9}") {
        let Ok(argument) = Argument::new(&text) else { return Ok(()) };
        let line = emitted(Request::Popup(argument));
        prop_assert_eq!(line, format!("popup {text}\n"));
    }
}
