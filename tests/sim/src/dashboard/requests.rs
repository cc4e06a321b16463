//! Every dashboard request with the first software version that has it (`core/docs/protocol/ur-dashboard.md 3`), and
//! its answer.

use outrigger_wire::robot::{Generation, SoftwareVersion};

use super::{Context, OperationalReplies, Reply};
use crate::controller::Action;
use crate::pendant::{Operation, OperationalMode, Report, UserRole, file_name};
use crate::robot::{Control, Stop, UNLOCK_AFTER};

const LOCKED: &str = "Cannot unlock protective stop until 5s after occurrence. Always inspect cause of protective stop \
                      before unlocking";

/// The first release of a controller series that has a dashboard request; `None` if no release of the series has it.
type Since = Option<(u8, u8)>;

/// One dashboard request: its name, the first software with it and its answer.
pub(super) struct Request {
    /// The dashboard request's name, in lower case.
    name: &'static str,
    /// The first software of the CB series that has the dashboard request.
    cb: Since,
    /// The first software of e-Series that has the dashboard request.
    e: Since,
    pub(super) needs_remote: bool,
    /// `true` if an argument may follow the dashboard request's name.
    takes_argument: bool,
    pub(super) reply: fn(&mut Context<'_>, &str) -> Reply,
}

impl Request {
    /// Returns whether the simulated software has this dashboard request.
    fn exists(&self, context: &Context<'_>) -> bool {
        let software = context.firmware.0;
        let since = match (software.generation(), self.name) {
            (Generation::Cb2 | Generation::Cb3, "safetystatus") => context.options.safetystatus,
            (Generation::Cb2 | Generation::Cb3, "savelog") => context.options.save_log,
            (Generation::Cb2 | Generation::Cb3, _) => self.cb,
            _ => self.e,
        };
        since.is_some_and(|(major, minor)| software.at_least(major, minor))
    }

    /// Returns the text after the dashboard request's name in `line`; `None` if the line is another request.
    fn argument<'l>(&self, line: &'l str) -> Option<&'l str> {
        let (name, rest) = line.split_at_checked(self.name.len())?;
        let separate = rest.is_empty() || (self.takes_argument && rest.starts_with(char::is_whitespace));
        (name.eq_ignore_ascii_case(self.name) && separate).then(|| rest.trim())
    }
}

/// Returns the dashboard request that this line contains, and its argument: of several that match, the one with the
/// longest name. `None` if the simulated software has no such request.
pub(super) fn find<'l>(line: &'l str, context: &Context<'_>) -> Option<(&'static Request, &'l str)> {
    let known = REQUESTS.iter().filter(|request| request.exists(context));
    known.filter_map(|request| Some((request, request.argument(line)?))).max_by_key(|(request, _)| request.name.len())
}

const fn cb(major: u8, minor: u8) -> Since {
    Some((major, minor))
}

const fn e(minor: u8) -> Since {
    Some((5, minor))
}

type Answer = fn(&mut Context<'_>, &str) -> Reply;

/// Returns the table row of a dashboard request that is executed in local control, too, e.g. a query, a pop-up or a
/// report.
const fn ask(name: &'static str, cb: Since, e: Since, reply: Answer) -> Request {
    Request { name, cb, e, needs_remote: false, takes_argument: false, reply }
}

/// Returns the table row of a dashboard request that needs remote control.
const fn order(name: &'static str, cb: Since, e: Since, reply: Answer) -> Request {
    Request { needs_remote: true, ..ask(name, cb, e, reply) }
}

/// Returns the table row `request`, changed to accept an argument after its name.
const fn with(request: Request) -> Request {
    Request { takes_argument: true, ..request }
}

static REQUESTS: &[Request] = &[
    with(order("load", cb(1, 4), e(0), |c, name| Reply::begin(Operation::Load(name.into()), c))),
    order("play", cb(1, 4), e(0), |c, _| Reply::begin(Operation::Play, c)),
    order("stop", cb(1, 4), e(0), |c, _| Reply::begin(Operation::Stop, c)),
    order("pause", cb(1, 4), e(0), |c, _| Reply::begin(Operation::Pause, c)),
    ask("quit", cb(1, 4), e(0), |_, _| Reply { closes: true, ..Reply::say("Disconnected") }),
    order("shutdown", cb(1, 4), e(0), |_, _| Reply::act("Shutting down", Action::ShutDown)),
    ask("running", cb(1, 6), e(0), running),
    ask("robotmode", cb(1, 6), e(0), robot_mode),
    ask("get loaded program", cb(1, 6), e(0), |c, _| match &c.pendant.loaded {
        Some(path) => Reply::say(format!("Loaded program: {path}")),
        None => Reply::say("No program loaded"),
    }),
    with(ask("popup", cb(1, 6), e(0), |c, text| {
        c.pendant.popup = Some(text.to_owned());
        Reply::say("showing popup")
    })),
    ask("close popup", cb(1, 6), e(0), |_, _| Reply::act("closing popup", Action::ClosePopup)),
    with(ask("addtolog", cb(1, 8), e(0), |c, text| {
        if text.is_empty() {
            return Reply::say("No log message to add");
        }
        c.pendant.add_to_log(text.to_owned());
        Reply::say("Added log message")
    })),
    ask("isprogramsaved", cb(1, 8), e(0), is_program_saved),
    ask("programstate", cb(1, 8), e(0), program_state),
    ask("polyscopeversion", cb(1, 8), e(0), |c, _| {
        let SoftwareVersion { major, minor, bugfix } = c.firmware.0;
        Reply::say(format!("URSoftware {major}.{minor}.{bugfix}.0 (Jan 01 2020)"))
    }),
    ask("version", None, e(0), |c, _| {
        let SoftwareVersion { major, minor, bugfix } = c.firmware.0;
        Reply::say(format!("{major}.{minor}.{bugfix}.0"))
    }),
    with(ask("setuserrole", cb(3, 1), None, set_user_role)),
    ask("getuserrole", cb(3, 1), None, |c, _| Reply::say(c.pendant.role.name().to_uppercase())),
    with(ask("set operational mode", None, e(0), set_operational_mode)),
    ask("get operational mode", None, e(6), |c, _| {
        Reply::say(c.pendant.operational_mode().map_or("NONE", OperationalMode::name))
    }),
    ask("clear operational mode", None, e(0), clear_operational_mode),
    order("power on", cb(3, 0), e(0), |_, _| Reply::act("Powering on", Action::PowerOn)),
    order("power off", cb(3, 0), e(0), |_, _| Reply::act("Powering off", Action::PowerOff)),
    order("brake release", cb(3, 0), e(0), |_, _| Reply::act("Brake releasing", Action::ReleaseBrakes)),
    ask("safetymode", cb(3, 0), e(0), |c, _| Reply::say(format!("Safetymode: {}", c.robot.safety_mode()))),
    // The options determine the first software of the CB series.
    ask("safetystatus", None, e(4), |c, _| Reply::say(format!("Safetystatus: {}", c.robot.safety_status()))),
    order("unlock protective stop", cb(3, 1), e(0), |c, _| match c.robot.stop {
        Stop::Protective { at } if c.now.since(at) < UNLOCK_AFTER => Reply::say(LOCKED),
        _ => Reply::act("Protective stop releasing", Action::UnlockProtectiveStop),
    }),
    ask("close safety popup", cb(3, 1), e(0), |c, _| {
        c.pendant.safety_popup = false;
        Reply::say("closing safety popup")
    }),
    with(order("load installation", cb(3, 2), e(0), |c, name| {
        Reply::begin(Operation::LoadInstallation(name.into()), c)
    })),
    order("restart safety", cb(3, 7), e(1), |_, _| Reply::act("Restarting safety", Action::RestartSafety)),
    ask("is in remote control", None, e(6), |c, _| Reply::say((c.robot.control == Control::Remote).to_string())),
    ask("get serial number", cb(3, 12), e(6), |c, _| Reply::say(c.serial_number)),
    ask("get robot model", cb(3, 12), e(6), |c, _| Reply::say(c.model.dashboard_name())),
    with(ask("generate flight report", cb(3, 13), e(8), |c, kind| match Report::named(kind) {
        Some(report) => Reply::begin(Operation::Report(report), c),
        None => Reply::say(format!("Error: no flight report of kind {kind}")),
    })),
    with(ask("generate support file", cb(3, 13), e(8), |c, folder| {
        Reply::begin(Operation::SupportFile(folder.into()), c)
    })),
    ask("savelog", None, e(8), |c, _| Reply::begin(Operation::SaveLog, c)),
];

fn running(c: &mut Context<'_>, _: &str) -> Reply {
    let running = c.playing.runs();
    match c.firmware.generation() {
        Generation::Cb2 => Reply::say(if running { "Robot running: True" } else { "Robot running: False" }),
        _ => Reply::say(format!("Program running: {running}")),
    }
}

fn robot_mode(c: &mut Context<'_>, _: &str) -> Reply {
    let mode = c.robot.mode(c.now);
    match c.firmware.generation() {
        Generation::Cb2 => Reply::say(format!("Robotmode: {}", mode.raw(Generation::Cb2).unwrap_or(-1))),
        _ => Reply::say(format!("Robotmode: {mode}")),
    }
}

/// Returns the name of the loaded program as dashboard replies contain it.
fn program_name<'c>(c: &'c Context<'_>) -> &'c str {
    c.pendant.loaded.as_deref().map_or(c.options.unnamed.as_str(), file_name)
}

fn is_program_saved(c: &mut Context<'_>, _: &str) -> Reply {
    let saved = c.pendant.program().is_none_or(|file| !file.unsaved);
    let capital = c.options.capital.unwrap_or(!c.firmware.0.at_least(3, 5));
    let word = match (saved, capital) {
        (true, true) => "True",
        (false, true) => "False",
        (true, false) => "true",
        (false, false) => "false",
    };
    Reply::say(format!("{word} {}", program_name(c)))
}

fn program_state(c: &mut Context<'_>, _: &str) -> Reply {
    let shown = c.playing.exists && (c.playing.loaded || c.options.shows_scripts);
    let word = match (shown, c.playing.paused) {
        (false, _) => "STOPPED",
        (true, true) => "PAUSED",
        (true, false) => "PLAYING",
    };
    Reply::say(format!("{word} {}", program_name(c)))
}

fn set_user_role(c: &mut Context<'_>, word: &str) -> Reply {
    let (major, minor) = c.options.restricted;
    let knows_restricted = c.firmware.0.at_least(major, minor);
    let role = UserRole::NAMED.into_iter().find(|(_, name)| name.eq_ignore_ascii_case(word));
    match role {
        Some((role, _)) if role != UserRole::Restricted || knows_restricted => {
            c.pendant.role = role;
            Reply::say(format!("Setting user role: {word}"))
        }
        _ => Reply::say(format!("Failed setting user role: {word}")),
    }
}

fn set_operational_mode(c: &mut Context<'_>, word: &str) -> Reply {
    let Some(mode) = OperationalMode::named(word) else {
        return Reply::say(format!("Failed setting operational mode: {word}"));
    };
    c.pendant.dashboard_mode = Some(mode);
    let lower = mode.name().to_lowercase();
    Reply::say(match c.options.operational {
        OperationalReplies::IsSet => format!("Operational mode {} is set", mode.name()),
        OperationalReplies::Setting => format!("Setting operational mode: {lower}"),
        OperationalReplies::Quoted => format!("operational mode '{lower}' is set"),
    })
}

fn clear_operational_mode(c: &mut Context<'_>, _: &str) -> Reply {
    c.pendant.dashboard_mode = None;
    let mode = c.pendant.operational_mode().map_or("NONE", OperationalMode::name);
    Reply::say(match c.options.operational {
        OperationalReplies::Setting => "operational mode is no longer controlled by Dashboard Server".to_owned(),
        _ => format!("No longer controlling the operational mode. Current operational mode: '{mode}'."),
    })
}
