//! Tests every enumeration of every wire format with a number that has no name in this version: the number is shown,
//! to people and to scripts, and no meaning is claimed.

use outrigger_core::engine::krc::KrcEvent;
use outrigger_core::engine::ur::{ProgramEvent, UrEvent};
use outrigger_wire::dashboard::{Reply, RequestKind};
use outrigger_wire::primary::{Report, ReportKind};
use outrigger_wire::robot::{
    ControlMode, Generation, JointMode, MasterOnOffState, MasterSafetyState, MessageSource, ProgramState, RobotMode,
    Safety, SafetyMode, Text, ToolMode,
};
use outrigger_wire::time::Instant;
use outrigger_wire::{external_control, fri, program_messages, trajectory_messages};

use crate::dashboard::reply_text;
use crate::json;
use crate::show::ReportedState;
use crate::show::events::{PeerEvent, Surroundings};

/// A number that no tested enumeration has a name for, and that fits into each of them.
const NUMBER: u8 = 77;

fn words(words: impl IntoIterator<Item = ReportedState>) -> String {
    words.into_iter().map(|word| format!("{} {}, ", word.name, word.said())).collect()
}

/// Returns the text and the fields of an event.
fn event(event: &impl PeerEvent) -> String {
    let (_, text, fields) = event.words(&Surroundings::without_links(Instant::ZERO, false)).expect("words");
    let fields: String = fields.into_iter().map(|(key, value)| format!(", {key}={value}")).collect();
    text + &fields
}

fn reply(reply: &Reply<'_>) -> String {
    format!("{}, {}", reply_text::words(reply), json::text(&reply_text::value(reply)))
}

/// Returns the text that is displayed for a reply `line` of the dashboard server to `request`.
fn answered(request: RequestKind, line: &str) -> String {
    reply_text::words(&Reply::parse(request, line.as_bytes()))
}

#[test]
fn a_number_without_a_name_is_shown_as_that_number_wherever_it_comes_from() {
    let (byte, short, int) = (NUMBER, u16::from(NUMBER), i32::from(NUMBER));
    let (cb2, cb3) = (RobotMode::from_raw(Generation::Cb2, int), RobotMode::from_raw(Generation::Cb3, int));
    let (safety, state) = (SafetyMode::from_raw(int), ProgramState::from_raw(int));
    let report = |kind| {
        let (source, text) = (MessageSource::Controller, Text::from_bytes(b""));
        UrEvent::Report(Report { kind, source, code: 0, argument: 0, text })
    };
    let (fri_state, quality) = (fri::FriState::from_raw(short), fri::Quality::from_raw(short));
    let scheme = fri::ControlScheme::from_raw(short);
    let shown = [
        ("robot mode of CB2", cb2.to_string()),
        ("robot mode", cb3.to_string()),
        ("safety mode, safety status", safety.to_string()),
        ("masterboard's safety", MasterSafetyState::from_raw(int).to_string()),
        ("masterboard's power", MasterOnOffState::from_raw(int).to_string()),
        ("joint mode", JointMode::from_raw(int).to_string()),
        ("tool mode", ToolMode::from_raw(int).to_string()),
        ("control mode", ControlMode::from_raw(int).to_string()),
        ("program state, runtime state", state.to_string()),
        ("message source", MessageSource::from_raw(77).to_string()),
        ("modes on the screen", words(super::ur::modes(Some(cb3), Safety::Mode(SafetyMode::Normal)))),
        ("safety on the screen", words(super::ur::modes(Some(RobotMode::Running), Safety::Mode(safety)))),
        ("safety on a CB2's screen", words(super::ur::modes(None, Safety::FromRobotMode(cb2)))),
        ("safety message", event(&report(ReportKind::Safety(Some(safety))))),
        ("FRI state", fri_state.to_string()),
        ("FRI quality", quality.to_string()),
        ("FRI control scheme", scheme.to_string()),
        ("FRI state on the screen", words(super::krc::event_text::rating(Some(fri_state), None))),
        ("FRI quality on the screen", words(super::krc::event_text::rating(None, Some(quality)))),
        ("FRI state's event", event(&KrcEvent::State(fri_state))),
        ("FRI quality's event", event(&KrcEvent::Quality(quality))),
        ("FRI scheme's event", event(&KrcEvent::Scheme(scheme))),
        ("dashboard's robot mode", reply(&Reply::RobotMode(cb2))),
        ("dashboard's safety mode", reply(&Reply::Safety(safety))),
        ("dashboard's program state", reply(&Reply::ProgramState { state, program: None })),
        ("CB2 dashboard's answer", answered(RequestKind::RobotMode, "Robotmode: 77")),
        ("word for a safety mode", answered(RequestKind::SafetyMode, "Safetymode: STOP_77")),
        ("word for a safety status", answered(RequestKind::SafetyStatus, "Safetystatus: STOP_77")),
        ("word for a robot mode", answered(RequestKind::RobotMode, "Robotmode: MODE_77")),
        ("word for a program state", answered(RequestKind::ProgramState, "STATE_77 weld.urp")),
        ("word for a user role", answered(RequestKind::UserRole, "ROLE_77")),
        ("word for an operational mode", answered(RequestKind::OperationalMode, "MODE_77")),
        (
            "end of a program of ours",
            event(&UrEvent::Program(ProgramEvent::Ended(program_messages::Ending::from_raw(byte)))),
        ),
        ("kind of a program of ours", program_messages::Kind::from_raw(int).to_string()),
        ("order to a program of ours", program_messages::What::from_raw(int).to_string()),
        ("External Control's mode", external_control::ControlMode::from_raw(int).to_string()),
        ("External Control's instruction", trajectory_messages::Instruction::from_raw(int).to_string()),
        ("External Control's motion", trajectory_messages::MotionType::from_raw(int).to_string()),
        ("External Control's spline", trajectory_messages::SplineKind::from_raw(int).to_string()),
        (
            "External Control's result",
            event(&UrEvent::Program(ProgramEvent::Trajectory(trajectory_messages::TrajectoryResult::from_raw(int)))),
        ),
    ];
    for (of, shown) in shown {
        assert!(shown.contains("77"), "{of}: {shown}");
        for claim in ["violation", "fault", "emergency", "safeguard", "success", "its end"] {
            assert!(!shown.contains(claim), "{of}: {shown} says '{claim}'");
        }
    }
}

#[test]
fn a_mode_that_has_a_name_and_no_known_meaning_is_shown_by_its_name() {
    let shown = words(super::ur::modes(Some(RobotMode::Running), Safety::Mode(SafetyMode::from_raw(23))));
    assert_eq!(shown, "robot RUNNING, safety IO_PLANE_STOP, ");
    assert_eq!(answered(RequestKind::SafetyStatus, "Safetystatus: IO_PLANE_STOP"), "IO_PLANE_STOP");
}
