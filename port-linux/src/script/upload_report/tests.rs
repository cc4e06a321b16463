//! Tests the description of an upload, without a controller.

use outrigger_tests::require::committed::hold;
use outrigger_wire::robot::{MessageSource, SafetyMode, Text};

use super::*;

const WAVE: &[u8] = b"# waves\n\ndef wave():\n  textmsg(\"before\")\n  textmsh(\"after\")\nend\n";

fn words() -> Words<'static> {
    let file = ScriptFile::new(WAVE).expect("a program");
    Words::new(false, "wave.script".into(), SocketAddr::from(([127, 0, 0, 1], 30_002)), file)
}

fn failed(started: bool, position: Option<(i32, i32)>) -> UploadOutcome {
    UploadOutcome::Failed { started, position, text: Text::from_bytes(b"wrong") }
}

#[test]
fn each_outcome_has_its_exit_code() {
    for (outcome, expected) in [
        (UploadOutcome::Started(Evidence::KeyMessage), 0),
        (UploadOutcome::Ended(Evidence::RobotModeData), 0),
        (UploadOutcome::NoResultExpected, 0),
        (failed(false, None), 1),
        (failed(true, None), 4),
        (UploadOutcome::Reported { code: 1, argument: 2, text: Text::from_bytes(b"") }, 4),
        (UploadOutcome::Replaced, 4),
        (UploadOutcome::LocalControl, 3),
        (UploadOutcome::Unheard(Silence::default()), 3),
        (UploadOutcome::Refused, 3),
        (UploadOutcome::NoConnection, 3),
        (UploadOutcome::NoGreeting, 3),
        (UploadOutcome::WrongService(Found::Text), 3),
        (UploadOutcome::Closed { sent: false }, 3),
        (UploadOutcome::Closed { sent: true }, 3),
    ] {
        let code = words().judgement(outcome).map_or_else(|failure| failure.code(), |_| 0);
        assert_eq!(code, expected, "{outcome:?}");
    }
}

#[test]
fn an_error_is_told_with_the_files_own_line_and_silence_with_what_to_do() {
    let told = |outcome| words().judgement(outcome).expect_err("no good end").to_string();
    let expected = "wave.script:5:3: program 'wave' not started: wrong\n    textmsh(\"after\")\n    ^";
    assert_eq!(told(failed(false, Some((3, 3)))), expected);
    assert!(told(UploadOutcome::LocalControl).contains("choose remote control at the pendant"));
    let off = Silence { robot_mode: Some(RobotMode::PowerOff), ..Silence::default() };
    assert!(told(UploadOutcome::Unheard(off)).contains("the robot is POWER_OFF: bring it to RUNNING"));
}

#[test]
fn lines_of_an_upload_are_those_that_people_and_scripts_read() {
    let mut words = words();
    words.learn(&UploadEvent::Software(SoftwareVersion::new(5, 15)));
    let sent = words.line(&UploadEvent::Sent { replaces: false });
    assert_eq!(sent.as_deref(), Some("program 'wave' sent to 127.0.0.1:30002, software 5.15.0"));
    let runs = words.line(&UploadEvent::Started(Evidence::KeyMessage));
    assert_eq!(runs.as_deref(), Some("program 'wave' runs (the controller names it)"));
    let object = |outcome| json::text(&words.outcome_object(&outcome));
    assert_eq!(
        object(UploadOutcome::Ended(Evidence::RobotModeData)),
        r#"{"type":"outcome","outcome":"ended","program":"wave","evidence":"robot-mode-data"}"#
    );
    let local = r#"{"type":"outcome","outcome":"local-control","program":"wave"}"#;
    assert_eq!(object(UploadOutcome::LocalControl), local);
}

#[test]
fn the_objects_for_scripts_are_those_that_are_committed() {
    let message = ControllerMessage {
        kind: ReportKind::Text,
        source: MessageSource::Controller,
        code: (0, 0),
        level: None,
        title: b"",
        text: b"caf\xe9 \x1b[2J\x9b \"x\"\n",
    };
    let kinds = [
        ReportKind::Popup,
        ReportKind::Safety(Some(SafetyMode::ProtectiveStop)),
        ReportKind::Safety(None),
        ReportKind::Error,
        ReportKind::Key,
        ReportKind::RuntimeException(Some((3, 4))),
        ReportKind::RuntimeException(None),
    ];
    let mut events = vec![
        UploadEvent::Software(SoftwareVersion::new(3, 15)),
        UploadEvent::Sent { replaces: true },
        UploadEvent::Started(Evidence::KeyMessage),
        UploadEvent::Paused(false),
        UploadEvent::Message(message),
    ];
    let said = ControllerMessage { title: b"t\xfc", code: (204, -5), ..message };
    events.extend(kinds.map(|kind| UploadEvent::Message(ControllerMessage { kind, ..said })));
    let silent = Silence { robot_mode: Some(RobotMode::PowerOff), ran_before: true, ..Silence::default() };
    let outcomes = [
        UploadOutcome::Started(Evidence::KeyMessage),
        UploadOutcome::Ended(Evidence::RobotModeData),
        UploadOutcome::NoResultExpected,
        failed(false, None),
        failed(true, Some((3, 3))),
        failed(true, Some((300, 1))),
        UploadOutcome::Reported { code: 1, argument: 2, text: Text::from_bytes(b"t") },
        UploadOutcome::Replaced,
        UploadOutcome::LocalControl,
        UploadOutcome::Unheard(Silence::default()),
        UploadOutcome::Unheard(silent),
    ];
    let mut text = String::new();
    for event in &events {
        text += &format!("{}\n", json::text(&event_object(event)));
    }
    let nameless = ScriptFile::new(b"popup(\"hello\")\n").expect("a statement");
    let nameless = Words::new(true, "-".into(), SocketAddr::from(([127, 0, 0, 1], 30_002)), nameless);
    for words in [words(), nameless] {
        for outcome in &outcomes {
            text += &format!("{}\n", json::text(&words.outcome_object(outcome)));
        }
    }
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/script/golden/upload.jsonl"), &text);
}
