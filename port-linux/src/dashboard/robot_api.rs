//! The Robot API of PolyScope X (`ur-dashboard` 6): what a request is there, and what an answer means.
//!
//! There are two generations of it, told apart by the version in its description: 3.1.4 came with software 10.12 and
//! brought most questions. The words of modes and states are unconfirmed but for REMOTE; the dashboard's are expected.

use outrigger_core::robot::SoftwareVersion;
use outrigger_core::wire::dashboard::{Refusal, Reply, Request, RequestKind};
use outrigger_core::wire::primary::Text;
use serde_json::{Value, json};

/// Below `http://<robot>`.
pub(super) const BASE: &str = "/universal-robots/robot-api";
/// Its description; `info.version` in it is the version of the API.
pub(super) const DESCRIPTION: &str = "/openapi.json";

/// The software with the first API, and that with the API of more questions.
const FIRST: SoftwareVersion = SoftwareVersion::new(10, 11);
const WITH_QUESTIONS: SoftwareVersion = SoftwareVersion::new(10, 12);

/// The oldest software that has the API of this description.
pub(super) fn software(description: &str) -> Option<SoftwareVersion> {
    let description: Value = serde_json::from_str(description).ok()?;
    let version = description.get("info")?.get("version")?.as_str()?;
    let mut numbers = version.split(['.', '-', '+']).map_while(|number| number.parse::<u32>().ok());
    let api = (numbers.next()?, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    Some(if api >= (3, 1, 4) { WITH_QUESTIONS } else { FIRST })
}

/// One HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Asks for a resource.
    Get(&'static str),
    /// Sets one to this JSON text.
    Put(&'static str, String),
}

pub(super) const ROBOT_MODE: &str = "/robotstate/v1/robotmode";
pub(super) const PROGRAM_STATE: &str = "/program/v1/state";
pub(super) const PROGRAM: &str = "/program/v1/loaded";
pub(super) const CONTROL_MODE: &str = "/system/v1/controlmode";

/// What a request is here; `None` where the API offers nothing for it.
pub(super) fn call(request: &Request<'_>, software: SoftwareVersion) -> Option<Call> {
    let put = |path, body: Value| Some(Call::Put(path, body.to_string()));
    let state = |action: &str| put("/robotstate/v1/state", json!({ "action": action }));
    match request {
        Request::PowerOn => state("POWER_ON"),
        Request::PowerOff => state("POWER_OFF"),
        Request::BrakeRelease => state("BRAKE_RELEASE"),
        Request::UnlockProtectiveStop => state("UNLOCK_PROTECTIVE_STOP"),
        Request::RestartSafety => state("RESTART_SAFETY"),
        Request::RobotMode => Some(Call::Get(ROBOT_MODE)),
        Request::SafetyMode => Some(Call::Get("/robotstate/v1/safetymode")),
        Request::Load(name) if software >= WITH_QUESTIONS => put(PROGRAM, json!({ "name": name.as_str() })),
        Request::Load(name) => put("/program/v1/load", json!({ "programName": name.as_str() })),
        Request::Play => program("play"),
        Request::Pause => program("pause"),
        Request::Stop => program("stop"),
        Request::ProgramState => Some(Call::Get(PROGRAM_STATE)),
        Request::LoadedProgram => Some(Call::Get(PROGRAM)),
        Request::IsInRemoteControl => Some(Call::Get(CONTROL_MODE)),
        Request::OperationalMode => Some(Call::Get("/system/v1/operationalmode")),
        _ => None,
    }
}

/// What becomes of the loaded program: `play`, `pause`, `stop`, and `resume`, which the dashboard calls `play` too.
pub(super) fn program(action: &str) -> Option<Call> {
    Some(Call::Put(PROGRAM_STATE, json!({ "action": action }).to_string()))
}

/// The value that an answer carries: of `mode`, `state` or `name`. In the words of a dashboard, for
/// [`Reply::parse`] to read.
pub(super) fn line(request: RequestKind, body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    Some(match request {
        RequestKind::RobotMode | RequestKind::SafetyMode | RequestKind::OperationalMode => text("mode")?.to_owned(),
        RequestKind::IsInRemoteControl => text("mode")?.eq_ignore_ascii_case("REMOTE").to_string(),
        RequestKind::ProgramState => text("state")?.to_owned(),
        RequestKind::LoadedProgram => match body.get("name")? {
            Value::Null => "No program loaded".to_owned(),
            name => match name.as_str()? {
                "" => "No program loaded".to_owned(),
                name => format!("Loaded program: {name}"),
            },
        },
        _ => return None,
    })
}

/// The answer of a call that succeeded; `line` outlives it.
pub(super) fn reply<'s>(request: RequestKind, body: &'s str, line: &'s str) -> Reply<'s> {
    match request {
        RequestKind::PowerOn
        | RequestKind::PowerOff
        | RequestKind::BrakeRelease
        | RequestKind::UnlockProtectiveStop
        | RequestKind::RestartSafety
        | RequestKind::Load
        | RequestKind::Play
        | RequestKind::Pause
        | RequestKind::Stop => Reply::Done(Text(b"")),
        _ if line.is_empty() => Reply::Other(Text(body.as_bytes())),
        _ => Reply::parse(request, line.as_bytes()),
    }
}

/// What a controller says that will not; its form is not documented, so any member that holds words will do.
pub(super) fn refusal(status: u16, body: &str) -> String {
    let message = serde_json::from_str::<Value>(body).ok().and_then(|body| {
        ["message", "detail", "error", "title"].iter().find_map(|key| body.get(key)?.as_str().map(str::to_owned))
    });
    let words = message.unwrap_or_else(|| body.trim().chars().take(200).collect());
    if words.is_empty() { format!("status {status}") } else { format!("{words} (status {status})") }
}

/// A refusal in the words of a dashboard.
pub(super) fn refused(text: &str) -> Reply<'_> {
    Reply::Refused(Refusal::Failed(Text(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use outrigger_core::robot::{ProgramState, RobotMode, SafetyMode};
    use outrigger_core::wire::dashboard::{Argument, OperationalMode};

    use super::*;

    fn read<'s>(kind: RequestKind, body: &'s str, line_of: &'s mut String) -> Reply<'s> {
        *line_of = line(kind, body).unwrap_or_default();
        reply(kind, body, line_of)
    }

    #[test]
    fn the_generation_is_told_by_the_version_of_the_description() {
        let of = |version: &str| software(&json!({ "info": { "version": version } }).to_string());
        assert_eq!(
            (of("3.1.4"), of("4.0"), of("3.2.0-beta")),
            (Some(WITH_QUESTIONS), Some(WITH_QUESTIONS), Some(WITH_QUESTIONS))
        );
        assert_eq!((of("3.1.3"), of("2.9.9"), of("1")), (Some(FIRST), Some(FIRST), Some(FIRST)));
        for body in ["", "{}", "<html>", r#"{"info":{"version":3}}"#, r#"{"info":{"version":"x"}}"#] {
            assert_eq!(software(body), None, "{body}");
        }
    }

    #[test]
    fn a_program_is_loaded_by_the_generations_own_path_and_quotes_stay_within_the_name() {
        let load = Request::Load(Argument::new("a \"b\".urpx").expect("a name"));
        let put = |path, body: &str| Some(Call::Put(path, body.to_owned()));
        assert_eq!(call(&load, WITH_QUESTIONS), put("/program/v1/loaded", r#"{"name":"a \"b\".urpx"}"#));
        assert_eq!(call(&load, FIRST), put("/program/v1/load", r#"{"programName":"a \"b\".urpx"}"#));
    }

    /// What the core says this software can be asked is what there is a call for, and the other way round.
    #[test]
    fn there_is_a_call_for_every_request_that_the_core_knows_of() {
        let argument = Argument::new("x").expect("an argument");
        let mode = OperationalMode::Manual;
        let all = [
            Request::Load(argument),
            Request::Play,
            Request::Stop,
            Request::Pause,
            Request::Quit,
            Request::Shutdown,
            Request::Running,
            Request::RobotMode,
            Request::LoadedProgram,
            Request::Popup(argument),
            Request::ClosePopup,
            Request::ProgramState,
            Request::PolyscopeVersion,
            Request::Version,
            Request::UserRole,
            Request::SetOperationalMode(mode),
            Request::OperationalMode,
            Request::ClearOperationalMode,
            Request::PowerOn,
            Request::PowerOff,
            Request::BrakeRelease,
            Request::SafetyMode,
            Request::SafetyStatus,
            Request::UnlockProtectiveStop,
            Request::CloseSafetyPopup,
            Request::LoadInstallation(argument),
            Request::RestartSafety,
            Request::IsInRemoteControl,
            Request::SerialNumber,
            Request::RobotModel,
        ];
        for request in all {
            let known = request.kind().check(WITH_QUESTIONS).is_ok();
            assert_eq!(call(&request, WITH_QUESTIONS).is_some(), known, "{request:?}");
        }
    }

    #[test]
    fn answers_are_read_in_the_dashboards_words() {
        let mut line = String::new();
        let reply = read(RequestKind::RobotMode, r#"{"mode":"POWER_OFF"}"#, &mut line);
        assert_eq!(reply, Reply::RobotMode(RobotMode::PowerOff));
        let reply = read(RequestKind::SafetyMode, r#"{"mode":"PROTECTIVE_STOP"}"#, &mut line);
        assert_eq!(reply, Reply::Safety(SafetyMode::ProtectiveStop));
        assert_eq!(read(RequestKind::IsInRemoteControl, r#"{"mode":"REMOTE"}"#, &mut line), Reply::RemoteControl(true));
        assert_eq!(read(RequestKind::IsInRemoteControl, r#"{"mode":"LOCAL"}"#, &mut line), Reply::RemoteControl(false));
        let reply = read(RequestKind::ProgramState, r#"{"state":"PAUSED"}"#, &mut line);
        assert_eq!(reply, Reply::ProgramState { state: ProgramState::Paused, program: None });
        let reply = read(RequestKind::LoadedProgram, r#"{"name":"weld"}"#, &mut line);
        assert_eq!(reply, Reply::LoadedProgram(Some(Text(b"weld"))));
        assert_eq!(read(RequestKind::LoadedProgram, r#"{"name":null}"#, &mut line), Reply::LoadedProgram(None));
        for body in ["", "null", "[1]", r#"{"mode":7}"#, r#"{"other":"RUNNING"}"#] {
            assert_eq!(read(RequestKind::RobotMode, body, &mut line), Reply::Other(Text(body.as_bytes())), "{body}");
        }
    }

    #[test]
    fn a_refusal_is_shown_in_the_controllers_words_whatever_form_they_have() {
        assert_eq!(refusal(409, r#"{"message":"not in remote"}"#), "not in remote (status 409)");
        assert_eq!(refusal(500, "  broken\n"), "broken (status 500)");
        assert_eq!(refusal(404, ""), "status 404");
        assert_eq!(refusal(400, r#"{"message":{"nested":1}}"#), "{\"message\":{\"nested\":1}} (status 400)");
    }
}
