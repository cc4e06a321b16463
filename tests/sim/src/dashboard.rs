//! The dashboard server's requests and replies (`ur-dashboard`): one line in, one line out.
//!
//! Which requests exist depends on the software; requests that change something need remote control on e-Series,
//! as it was when the connection was opened.

use outrigger_core::robot::{Generation, SoftwareVersion};

use crate::controller::Action;
use crate::firmware::Firmware;
use crate::model::ArmModel;
use crate::robot::{Robot, Stop, UNLOCK_AFTER};
use crate::time::SimTime;

/// Sent on connection.
pub(crate) const GREETING: &str = "Connected: Universal Robots Dashboard Server\n";

const NEEDS_REMOTE: &str = "Command is not allowed due to safety reasons, please switch robot to Remote Control mode and \
                            reconnect to port 29999";
const LOCKED: &str = "Cannot unlock protective stop until 5s after occurrence. Always inspect cause of protective stop \
                      before unlocking";

/// What a request may look at.
pub(crate) struct Context<'a> {
    pub(crate) now: SimTime,
    pub(crate) firmware: Firmware,
    pub(crate) model: &'a ArmModel,
    pub(crate) robot: &'a Robot,
    pub(crate) program_running: bool,
    pub(crate) program_paused: bool,
    /// Whether the connection was opened in remote control.
    pub(crate) permitted: bool,
}

/// The answer to one line.
#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    /// Without its line feed.
    pub(crate) line: String,
    pub(crate) action: Option<Action>,
    pub(crate) closes: bool,
}

impl Reply {
    fn say(line: impl Into<String>) -> Self {
        Self { line: line.into(), action: None, closes: false }
    }

    fn act(line: &str, action: Action) -> Self {
        Self { action: Some(action), ..Self::say(line) }
    }
}

/// One request: what it is called, since when, and what it does.
struct Request {
    name: &'static str,
    /// First software of the CB series.
    cb: Option<(u8, u8)>,
    /// First software of e-Series.
    e: Option<(u8, u8)>,
    needs_remote: bool,
    reply: fn(&Context<'_>) -> Reply,
}

const fn request(
    name: &'static str,
    cb: Option<(u8, u8)>,
    e: Option<(u8, u8)>,
    needs_remote: bool,
    reply: fn(&Context<'_>) -> Reply,
) -> Request {
    Request { name, cb, e, needs_remote, reply }
}

const E: Option<(u8, u8)> = Some((5, 0));

static REQUESTS: &[Request] = &[
    request("quit", Some((1, 4)), E, false, |_| Reply { closes: true, ..Reply::say("Disconnected") }),
    request("stop", Some((1, 4)), E, true, |_| Reply::act("Stopped", Action::StopProgram)),
    request("play", Some((1, 4)), E, true, |c| {
        // Nothing can be loaded here: only a paused program goes on.
        if c.program_paused && c.robot.may_move() {
            Reply::act("Starting program", Action::ResumeProgram)
        } else {
            Reply::say("Failed to execute: play")
        }
    }),
    request("pause", Some((1, 4)), E, true, |c| {
        if c.program_running && !c.program_paused {
            Reply::act("Pausing program", Action::PauseProgram)
        } else {
            Reply::say("Failed to execute: pause")
        }
    }),
    request("running", Some((1, 6)), E, false, |c| {
        let running = c.program_running && !c.program_paused;
        match c.firmware.generation() {
            Generation::Cb2 => Reply::say(if running { "Robot running: True" } else { "Robot running: False" }),
            _ => Reply::say(format!("Program running: {running}")),
        }
    }),
    request("robotmode", Some((1, 6)), E, false, |c| {
        let mode = c.robot.mode(c.now);
        match c.firmware.generation() {
            Generation::Cb2 => Reply::say(format!("Robotmode: {}", mode.raw(Generation::Cb2).unwrap_or(-1))),
            _ => Reply::say(format!("Robotmode: {}", mode.name())),
        }
    }),
    request("programstate", Some((1, 8)), E, false, |_| {
        // Scripts sent to the client interfaces do not show here.
        Reply::say("STOPPED <unnamed>")
    }),
    request("polyscopeversion", Some((1, 8)), E, false, |c| {
        let SoftwareVersion { major, minor, bugfix } = c.firmware.0;
        Reply::say(format!("URSoftware {major}.{minor}.{bugfix}.0 (Jan 01 2020)"))
    }),
    request("version", None, E, false, |c| {
        let SoftwareVersion { major, minor, bugfix } = c.firmware.0;
        Reply::say(format!("{major}.{minor}.{bugfix}.0"))
    }),
    request("power on", Some((3, 0)), E, true, |_| Reply::act("Powering on", Action::PowerOn)),
    request("power off", Some((3, 0)), E, true, |_| Reply::act("Powering off", Action::PowerOff)),
    request("brake release", Some((3, 0)), E, true, |_| Reply::act("Brake releasing", Action::ReleaseBrakes)),
    request("safetymode", Some((3, 0)), E, false, |c| {
        Reply::say(format!("Safetymode: {}", c.robot.safety_mode().name()))
    }),
    request("safetystatus", Some((3, 11)), Some((5, 4)), false, |c| {
        Reply::say(format!("Safetystatus: {}", c.robot.safety_mode().name()))
    }),
    request("unlock protective stop", Some((3, 1)), E, true, |c| match c.robot.stop {
        Stop::Protective { at } if c.now.since(at) < UNLOCK_AFTER => Reply::say(LOCKED),
        _ => Reply::act("Protective stop releasing", Action::UnlockProtectiveStop),
    }),
    request("close safety popup", Some((3, 1)), E, false, |_| Reply::say("closing safety popup")),
    request("restart safety", Some((3, 7)), Some((5, 1)), true, |_| {
        Reply::act("Restarting safety", Action::RestartSafety)
    }),
    request("is in remote control", None, Some((5, 6)), false, |c| Reply::say(c.robot.remote.to_string())),
    request("get robot model", Some((3, 12)), Some((5, 6)), false, |c| Reply::say(c.model.dashboard_name())),
];

/// The reply to `line`, given without its line feed. Requests are case-insensitive.
pub(crate) fn reply(line: &str, context: &Context<'_>) -> Reply {
    let asked = line.trim().to_ascii_lowercase();
    let software = (context.firmware.0.major, context.firmware.0.minor);
    let known = REQUESTS.iter().find(|request| {
        let since = if software >= (5, 0) { request.e } else { request.cb };
        request.name == asked && since.is_some_and(|since| since <= software)
    });
    match known {
        None => Reply::say(format!("could not understand: '{}'", line.trim())),
        Some(request) if request.needs_remote && !context.permitted => Reply::say(NEEDS_REMOTE),
        Some(request) => (request.reply)(context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robot::PowerTiming;
    use outrigger_core::robot::RobotModel;

    fn ask(software: SoftwareVersion, permitted: bool, line: &str) -> String {
        let firmware = Firmware(software);
        let robot = Robot::new(firmware.generation(), PowerTiming::default());
        let model = ArmModel::of(RobotModel::Ur5e);
        let context = Context {
            now: SimTime::ZERO,
            firmware,
            model: &model,
            robot: &robot,
            program_running: false,
            program_paused: false,
            permitted,
        };
        reply(line, &context).line
    }

    const V1_8: SoftwareVersion = SoftwareVersion::new(1, 8);
    const V3_0: SoftwareVersion = SoftwareVersion::new(3, 0);
    const V5_15: SoftwareVersion = SoftwareVersion::new(5, 15);

    #[test]
    fn requests_are_known_from_the_software_that_brought_them() {
        assert_eq!(ask(V5_15, true, "is in remote control"), "true");
        assert_eq!(
            ask(SoftwareVersion::new(5, 5), true, "is in remote control"),
            "could not understand: 'is in remote control'"
        );
        assert_eq!(ask(V3_0, true, "power on"), "Powering on");
        assert_eq!(ask(V3_0, true, "unlock protective stop"), "could not understand: 'unlock protective stop'");
        assert_eq!(ask(V1_8, true, "power on"), "could not understand: 'power on'");
    }

    #[test]
    fn the_robot_mode_is_a_number_on_cb2_and_a_word_later() {
        assert_eq!(ask(V1_8, true, "robotmode"), "Robotmode: 0");
        assert_eq!(ask(V3_0, true, "RobotMode"), "Robotmode: RUNNING");
    }

    #[test]
    fn what_changes_something_needs_remote_control_and_questions_do_not() {
        assert_eq!(ask(V5_15, false, "power off"), NEEDS_REMOTE);
        assert_eq!(ask(V5_15, false, "safetymode"), "Safetymode: NORMAL");
        assert!(ask(V5_15, false, "PolyscopeVersion").starts_with("URSoftware 5.15.0"));
    }
}
