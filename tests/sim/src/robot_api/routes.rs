//! Every path of the Robot API with its methods, its first software and its answer.

use serde_json::{Value, json};

use super::{Answer, Content, Context, Request, http};
use crate::controller::Action;
use crate::firmware::Firmware;
use crate::pendant::{Operation, OperationalMode, ProgramFile, program_name};
use crate::robot::{Control, Stop, UNLOCK_AFTER};

/// The creation time that the Robot API reports for every program \[s since 1970\]: the simulator has no calendar.
const CREATED: u64 = 1_700_000_000;

/// The first software version with the second generation of the Robot API, which has queries and transfer of programs.
const SECOND: (u8, u8) = (10, 12);
const FIRST: (u8, u8) = (10, 11);

/// One path and method of the Robot API, with its handler.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// The path below the API's prefix; `*` at its end matches a name.
    path: &'static str,
    since: (u8, u8),
    /// The first software version that does not have this route any more; `None` if every later one has it.
    until: Option<(u8, u8)>,
    pub(super) needs_remote: bool,
    pub(super) answer: fn(&mut Context<'_>, &Request, &str) -> Answer,
}

type Respond = fn(&mut Context<'_>, &Request, &str) -> Answer;

const fn get(path: &'static str, since: (u8, u8), answer: Respond) -> Route {
    Route { method: "GET", path, since, until: None, needs_remote: false, answer }
}

const fn put(path: &'static str, since: (u8, u8), answer: Respond) -> Route {
    Route { method: "PUT", needs_remote: true, ..get(path, since, answer) }
}

static ROUTES: &[Route] = &[
    get("/openapi.json", FIRST, |c, _, _| Answer::json(description(c))),
    put("/robotstate/v1/state", FIRST, robot_state),
    get("/robotstate/v1/robotmode", SECOND, |c, _, _| Answer::json(json!({"mode": c.robot.mode(c.now).to_string()}))),
    get("/robotstate/v1/safetymode", SECOND, |c, _, _| {
        Answer::json(json!({"mode": c.robot.safety_mode().to_string()}))
    }),
    Route { until: Some(SECOND), ..put("/program/v1/load", FIRST, |_, r, _| load(r, "programName")) },
    put("/program/v1/loaded", SECOND, |_, r, _| load(r, "name")),
    get("/program/v1/loaded", SECOND, |c, _, _| match &c.pendant.loaded {
        Some(path) => Answer::json(json!({"name": program_name(path)})),
        None => Answer::say(404, "no program is loaded"),
    }),
    put("/program/v1/state", FIRST, program_action),
    get("/program/v1/state", FIRST, |c, _, _| Answer::json(json!({"state": program_state(c)}))),
    get("/system/v1/controlmode", SECOND, |c, _, _| {
        Answer::json(json!({"mode": if c.robot.control == Control::Remote { "REMOTE" } else { "LOCAL" }}))
    }),
    get("/system/v1/operationalmode", SECOND, |c, _, _| {
        Answer::json(json!({"mode": c.pendant.operational_mode().map_or("NONE", OperationalMode::name)}))
    }),
    get("/programs/v1", SECOND, |c, _, _| Answer::json(programs(c))),
    Route { method: "POST", ..put("/programs/v1", SECOND, |c, r, _| upload(c, r, false)) },
    put("/programs/v1", SECOND, |c, r, _| upload(c, r, true)),
    get("/programs/v1/*", SECOND, |c, _, name| match c.pendant.files.named(name) {
        Some(file) => {
            let text = file.text.clone().unwrap_or_else(|| file.script.clone());
            Answer { content: Content::Text(text), ..Answer::say(200, "") }
        }
        None => Answer::say(404, format!("there is no program {name}")),
    }),
];

/// Returns the routes of the Robot API that match a path, each with the program's name at the end of the path, or with
/// an empty text if the route has no name. A slash at the end is ignored.
pub(super) fn at(path: &str, firmware: Firmware) -> impl Iterator<Item = (&'static Route, &str)> {
    let path = path.strip_suffix('/').unwrap_or(path);
    ROUTES.iter().filter(move |route| exists(route, firmware)).filter_map(move |route| {
        match route.path.strip_suffix('*') {
            None => (route.path == path).then_some((route, "")),
            Some(folder) => path.strip_prefix(folder).filter(|name| !name.is_empty()).map(|name| (route, name)),
        }
    })
}

fn exists(route: &Route, firmware: Firmware) -> bool {
    let reached = |(major, minor)| firmware.0.at_least(major, minor);
    reached(route.since) && !route.until.is_some_and(reached)
}

/// Returns a short description of the API in the format of OpenAPI.
fn description(c: &Context<'_>) -> Value {
    let (major, minor) = SECOND;
    let by_software = if c.firmware.0.at_least(major, minor) { "3.1.4" } else { "3.0.0" };
    let version = c.options.version.as_deref().unwrap_or(by_software);
    let mut paths = serde_json::Map::new();
    for route in ROUTES.iter().filter(|route| exists(route, c.firmware)) {
        let entry = paths.entry(route.path.replace('*', "{name}")).or_insert_with(|| json!({}));
        if let Some(methods) = entry.as_object_mut() {
            methods.insert(route.method.to_lowercase(), json!({"responses": {"200": {"description": "done"}}}));
        }
    }
    json!({"openapi": "3.0.3", "info": {"title": "Robot API", "version": version}, "paths": paths})
}

/// Returns the string of the member `key` in the JSON body of a request, or a message about the error.
fn text(request: &Request, key: &str) -> Result<String, String> {
    let body: Value = serde_json::from_slice(&request.body).map_err(|_| "the body is no JSON".to_owned())?;
    let text = body.get(key).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("the body has no text `{key}`"))
}

fn robot_state(c: &mut Context<'_>, request: &Request, _: &str) -> Answer {
    let action = match text(request, "action") {
        Ok(action) => action,
        Err(wrong) => return Answer::say(400, wrong),
    };
    let reach = |message, action, operation| {
        let waits = c.options.waits.then_some(operation);
        Answer { operation: waits, ..Answer::act(message, action) }
    };
    match action.as_str() {
        "POWER_ON" => reach("powering on", Action::PowerOn, Operation::ReachIdle),
        "BRAKE_RELEASE" => reach("releasing the brakes", Action::ReleaseBrakes, Operation::ReachRunning),
        "POWER_OFF" => Answer::act("powering off", Action::PowerOff),
        "RESTART_SAFETY" => Answer::act("restarting the safety system", Action::RestartSafety),
        "UNLOCK_PROTECTIVE_STOP" => match c.robot.stop {
            Stop::Protective { at } if c.now.since(at) < UNLOCK_AFTER => {
                Answer::say(409, "a protective stop cannot be unlocked until 5 s after it occurred")
            }
            _ => Answer::act("the protective stop is unlocked", Action::UnlockProtectiveStop),
        },
        _ => Answer::say(400, format!("there is no action {action}")),
    }
}

fn load(request: &Request, key: &str) -> Answer {
    text(request, key).map_or_else(|wrong| Answer::say(400, wrong), |name| Answer::begin(Operation::Load(name)))
}

fn program_action(c: &mut Context<'_>, request: &Request, _: &str) -> Answer {
    match text(request, "action").as_deref() {
        Err(wrong) => Answer::say(400, wrong),
        // A paused program continues by `resume`; `play` starts one from its beginning only while none exists.
        Ok("play") if c.playing.exists => Answer::say(409, "a program runs, or is paused"),
        Ok("resume") if !c.playing.paused => Answer::say(409, "no program is paused"),
        Ok("play" | "resume") => Answer::begin(Operation::Play),
        Ok("pause") => Answer::begin(Operation::Pause),
        Ok("stop") => Answer::begin(Operation::Stop),
        Ok(action) => Answer::say(400, format!("there is no action {action}")),
    }
}

fn program_state(c: &Context<'_>) -> &'static str {
    match (c.playing.exists && c.playing.loaded, c.playing.paused) {
        (false, _) => "STOPPED",
        (true, true) => "PAUSED",
        (true, false) => "PLAYING",
    }
}

fn programs(c: &Context<'_>) -> Value {
    let state = |file: &ProgramFile| {
        let loaded = c.pendant.program().is_some_and(|program| program.name == file.name);
        if loaded { program_state(c) } else { "STOPPED" }
    };
    let list = c.pendant.files.programs.iter().map(|file| {
        json!({
            "name": program_name(&file.name),
            "description": "",
            "createdDate": CREATED,
            "lastModifiedDate": null,
            "lastSavedDate": if file.unsaved { Value::Null } else { json!(CREATED) },
            "programState": state(file),
        })
    });
    json!({"programs": list.collect::<Vec<_>>()})
}

/// Stores a program that a client uploads in an HTML form. The program's name is the one in its text, or else that of
/// the file.
fn upload(c: &mut Context<'_>, request: &Request, replaces: bool) -> Answer {
    let Some((file_name, text)) = http::form_file(&request.content_type, &request.body) else {
        return Answer::say(415, "expected a form with a file");
    };
    let inside = serde_json::from_str::<Value>(&text).ok();
    let inside = inside.as_ref().and_then(|value| value.get("name")).and_then(Value::as_str);
    let name = program_name(inside.unwrap_or(&file_name)).to_owned();
    if name.is_empty() {
        return Answer::say(400, "the program has no name");
    }
    match (c.pendant.files.named_mut(&name), replaces) {
        (Some(_), false) => return Answer::say(409, format!("there is a program {name} already")),
        (None, true) => return Answer::say(404, format!("there is no program {name}")),
        (Some(file), true) => file.text = Some(text),
        (None, false) => {
            c.pendant
                .files
                .programs
                .push(ProgramFile { text: Some(text), ..ProgramFile::named(&format!("{name}.urpx")) });
        }
    }
    Answer { status: if replaces { 200 } else { 201 }, ..Answer::json(json!({"programName": name})) }
}
