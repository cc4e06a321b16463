//! Tests that modules import only from lower floors, as in ARCHITECTURE.md, and that there are no import cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

use super::reading::{code, is_module, names_below, sources};

/// The modules of a crate by floor, that is, by layer. A module imports only from floors with a lower number.
type Floors = &'static [(u8, &'static [&'static str])];

/// The modules of the core by floor (layer). A module imports only from floors below its own.
const FLOORS: Floors = &[
    (6, &["drive"]),
    (5, &["engine"]),
    (4, &["client"]),
    (3, &["law"]),
    (2, &["link", "mode", "command", "trajectory", "kinematics", "recorder", "bridges"]),
    (1, &["robot", "postcard"]),
];

/// The modules of `outrigger-wire` by floor (layer), with the same rule as for [`FLOORS`].
const WIRE_FLOORS: Floors = &[
    (8, &["frame", "robot_api", "player_messages"]),
    (7, &["dashboard", "interpreter", "program_messages"]),
    (6, &["primary", "realtime", "fri", "trajectory_messages", "external_control"]),
    (5, &["rtde", "sensor"]),
    (4, &["cursor", "robot"]),
    (3, &["fields"]),
    (2, &["layout", "time"]),
    (1, &["error", "math", "buffer_compaction", "checksum", "decimal", "cobs"]),
];

/// The modules inside `engine` by floor (layer), with the same rule as for [`FLOORS`]; `Engine` itself is in its
/// `mod.rs`.
const ENGINE_FLOORS: Floors = &[
    (8, &["snapshot"]),
    (7, &["replay"]),
    (6, &["freedrive_calls", "motion_calls", "record", "view", "krc", "test_peer", "ur"]),
    (5, &["mod"]),
    (4, &["controller", "settings"]),
    (3, &["config"]),
    (2, &["cycle"]),
    (1, &["stopping_distance", "event", "io", "recording_pause"]),
];

/// The modules of `outrigger-remote`, none of which imports another, with the floors (layers) of the files inside each,
/// from the lowest to the highest; `mod` contains the module's own types.
const REMOTE_FLOORS: &[(&str, Floors)] = &[
    (
        "provision",
        &[
            (1, &["settings_image", "provision_messages"]),
            (2, &["frame_extraction"]),
            (3, &["mod"]),
            (4, &["provision_client", "service"]),
        ],
    ),
    (
        "request",
        &[
            (1, &["arming_request", "request_freshness", "json_keys", "json_number"]),
            (2, &["message"]),
            (3, &["mod"]),
            (4, &["json"]),
            (5, &["line_splitter"]),
            (6, &["keyed"]),
        ],
    ),
    (
        "request/keyed",
        &[
            (1, &["datagram_layout"]),
            (2, &["authentication_tag", "reply"]),
            (3, &["mod"]),
            (4, &["keyed_client", "service"]),
        ],
    ),
    ("telemetry", &[(1, &["message"]), (2, &["mod"]), (3, &["sampler"])]),
];

/// The modules that decide about motion and use no bytes of a protocol: of `outrigger-wire` they import only
/// [`NO_PROTOCOL`].
const KNOWS_NO_WIRE: &[&str] = &["link", "mode", "command", "law", "trajectory", "kinematics", "recorder"];
const NO_PROTOCOL: &[&str] = &["math", "robot", "sensor", "time"];

/// The modules of `outrigger`, the library for hosts, by floor (layer), with the same rule as for [`FLOORS`].
const HOST_FLOORS: Floors = &[
    (8, &["robot"]),
    (7, &["run"]),
    (6, &["companion", "panel", "tool_line"]),
    (5, &["dashboard", "vendor", "record", "requests", "script", "sensor"]),
    (4, &["motion", "net", "show"]),
    (3, &["feed", "released"]),
    (2, &["host"]),
    (1, &["boxed_law", "exit", "json"]),
];

fn floor_of(module: &str) -> u8 {
    floor_in(FLOORS, module)
}

fn floor_in(floors: &[(u8, &[&str])], module: &str) -> u8 {
    let found = floors.iter().find(|(_, modules)| modules.contains(&module));
    found.unwrap_or_else(|| panic!("module `{module}` of the core has no floor: add it to the table")).0
}

/// Returns the modules of its own crate that a file names, from the root or by `super::`.
fn imports(path: &Path, text: &str) -> BTreeSet<String> {
    let mut depth = path.components().count();
    if path.ends_with("mod.rs") {
        depth -= 1;
    }
    let code = code(text);
    let climb = "super::".repeat(depth);
    // `super::` starts inside the file's own module; one more belongs to a module within the file.
    names_below(&code, "crate::").into_iter().chain(names_below(&code, &climb)).filter(|n| is_module(n)).collect()
}

fn module_of(path: &Path) -> String {
    let first = path.components().next().expect("a name").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn modules_of_the_core_import_only_from_lower_floors() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&workspace().join("core/src")) {
        let module = module_of(&path);
        if module == "lib" {
            continue;
        }
        for imported in imports(&path, &text) {
            if imported != module && floor_of(&imported) >= floor_of(&module) {
                wrong.push(format!("{}: {module} imports {imported}", path.display()));
            }
        }
        if KNOWS_NO_WIRE.contains(&module.as_str()) {
            let used = names_below(&code(&text), "outrigger_wire::");
            let protocols = used.iter().filter(|name| !NO_PROTOCOL.contains(&name.as_str()));
            wrong.extend(protocols.map(|name| format!("{}: {module} imports outrigger_wire::{name}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_of_the_messages_import_only_from_lower_floors() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&workspace().join("core/wire/src")) {
        let module = module_of(&path);
        if module == "lib" || path.iter().any(|part| part == "tests.rs") {
            continue;
        }
        // Names in a macro are imported where it is used.
        let text = text.replace("$crate::", "");
        let floor = |module: &str| floor_in(WIRE_FLOORS, module);
        for imported in imports(&path, &text).into_iter().filter(|name| *name != module) {
            if floor(&imported) >= floor(&module) {
                wrong.push(format!("{}: {module} imports {imported}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_of_the_library_for_hosts_import_only_from_lower_floors() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&workspace().join("port-linux/src")) {
        let module = module_of(&path);
        if module == "lib" || path.iter().any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        // Names in a macro are imported where it is used.
        let text = text.replace("$crate::", "");
        for imported in imports(&path, &text).into_iter().filter(|name| *name != module) {
            if floor_in(HOST_FLOORS, &imported) >= floor_in(HOST_FLOORS, &module) {
                wrong.push(format!("{}: {module} imports {imported}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_of_the_engine_import_only_from_lower_floors() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&workspace().join("core/src/engine")) {
        let module = module_of(&path);
        if module == "tests" || path.iter().any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        let code = code(&text);
        let around = match (module.as_str(), path.components().count()) {
            ("mod", _) => names_below(&code, "self::"),
            (_, 1) => names_below(&code, "super::"),
            _ => BTreeSet::new(),
        };
        for imported in names_below(&code, "crate::engine::").into_iter().chain(around) {
            // A type is imported from the file that re-exports it: the engine's own.
            let imported = if imported.starts_with(char::is_lowercase) { imported } else { "mod".to_owned() };
            let climbs = imported != module && floor_in(ENGINE_FLOORS, &imported) >= floor_in(ENGINE_FLOORS, &module);
            if climbs {
                wrong.push(format!("{}: {module} imports {imported}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the modules of `folder`, a module of `outrigger-remote`, that a file below it imports by `super::` or from
/// the root. A type counts as an import of the module `mod`.
fn named_in(folder: &str, path: &Path, text: &str) -> BTreeSet<String> {
    let code = code(text);
    let climb = "super::".repeat(path.components().count());
    let root = format!("crate::{}::", folder.replace('/', "::"));
    let own = |name: String| if name.starts_with(char::is_lowercase) { name } else { "mod".to_owned() };
    names_below(&code, &root).into_iter().chain(names_below(&code, &climb)).map(own).collect()
}

#[test]
fn modules_of_the_protocols_for_remote_clients_import_only_from_lower_floors() {
    let source = workspace().join("core/remote/src");
    let tops: BTreeSet<&str> = REMOTE_FLOORS.iter().map(|(folder, _)| *folder).filter(|f| !f.contains('/')).collect();
    let mut wrong = Vec::new();
    for (path, text) in sources(&source) {
        let module = module_of(&path);
        if module != "lib" && !path.iter().any(|part| part == "tests" || part == "tests.rs") {
            assert!(tops.contains(module.as_str()), "module `{module}` of outrigger-remote has no floors: add it");
            let others = imports(&path, &text).into_iter().filter(|name| *name != module);
            wrong.extend(others.map(|other| format!("{}: {module} imports {other}", path.display())));
        }
    }
    let mut compared = 0;
    for (folder, floors) in REMOTE_FLOORS {
        for (path, text) in sources(&source.join(folder)) {
            let module = module_of(&path);
            if path == Path::new("mod.rs") || path.iter().any(|part| part == "tests" || part == "tests.rs") {
                continue;
            }
            for imported in named_in(folder, &path, &text).into_iter().filter(|name| *name != module) {
                compared += 1;
                if floor_in(floors, &imported) >= floor_in(floors, &module) {
                    wrong.push(format!("{folder}/{}: {module} imports {imported}", path.display()));
                }
            }
        }
    }
    assert!(compared > 20, "{compared} imports found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_floors_on_the_page_of_the_protocols_for_remote_clients_are_the_ones_held_here() {
    let page = fs::read_to_string(workspace().join("core/remote/README.md")).expect("a readable file");
    let (_, table) = page.split_once("| inside |").expect("the table");
    let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    let documented: Vec<(String, Vec<Vec<String>>)> = rows
        .map(|(folder, floors)| {
            let names = |floor: &str| floor.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            (folder.replace("::", "/"), floors.split('·').map(names).collect())
        })
        .collect();
    let held: Vec<(String, Vec<Vec<String>>)> = REMOTE_FLOORS
        .iter()
        .map(|(folder, floors)| {
            let names = |(_, modules): &(u8, &[&str])| modules.iter().map(|name| (*name).to_owned()).collect();
            ((*folder).to_owned(), floors.iter().map(names).collect())
        })
        .collect();
    assert_eq!(documented, held);
}

/// Returns the modules of `imported` that are in an import cycle or between two cycles, with their imports of each
/// other. `imported` has the imports of each module.
fn circle(mut imported: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let modules: BTreeSet<String> = imported.keys().cloned().collect();
        for (module, names) in &mut imported {
            names.retain(|name| name != module && modules.contains(name));
        }
        let wanted: BTreeSet<String> = imported.values().flatten().cloned().collect();
        imported.retain(|module, names| !names.is_empty() && wanted.contains(module));
        if imported.len() == modules.len() {
            return imported;
        }
    }
}

#[test]
fn modules_of_the_port_for_linux_and_of_its_command_import_each_other_in_no_circle() {
    for root in ["port-linux/src", "port-linux/cli/src", "port-linux/ros/src"] {
        let mut imported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, text) in sources(&workspace().join(root)) {
            // The root may use all modules.
            if path != Path::new("lib.rs") && !path.iter().any(|part| part == "tests.rs") {
                imported.entry(module_of(&path)).or_default().extend(imports(&path, &text));
            }
        }
        let circle = circle(imported);
        assert!(circle.is_empty(), "{root}: in a circle: {circle:?}");
    }
}

/// The source folders of the libraries. The files of each folder below them must not import each other in a cycle.
const FOLDERS: &[&str] = &[
    "boards/app/src",
    "core/remote/src",
    "core/src",
    "core/wire/src",
    "port-embassy/src",
    "port-linux/cli/src",
    "port-linux/config/src",
    "port-linux/ros/messages/src",
    "port-linux/ros/src",
    "port-linux/src",
    "urscript/interpreter/src",
    "urscript/src",
];

#[test]
fn files_of_one_folder_import_each_other_in_no_circle() {
    let mut folders: BTreeMap<PathBuf, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for root in FOLDERS {
        for (path, text) in sources(&workspace().join(root)) {
            let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if !["lib", "main", "mod", "tests"].contains(&stem.as_str()) {
                let folder = Path::new(root).join(path.parent().expect("a folder"));
                folders.entry(folder).or_default().insert(stem, names_below(&code(&text), "super::"));
            }
        }
    }
    assert!(folders.len() > 60, "{} folders", folders.len());
    for (folder, imported) in folders {
        let circle = circle(imported);
        assert!(circle.is_empty(), "{}: in a circle: {circle:?}", folder.display());
    }
}

#[test]
fn a_circle_is_found_whatever_is_above_and_below_it() {
    let of = |modules: &[(&str, &[&str])]| {
        let sets = modules.iter().map(|(module, names)| {
            let names = names.iter().map(|name| (*name).to_owned());
            ((*module).to_owned(), names.collect())
        });
        circle(sets.collect()).into_keys().collect::<Vec<_>>()
    };
    let top: (&str, &[&str]) = ("cli", &["run", "exit"]);
    let bottom: (&str, &[&str]) = ("exit", &["elsewhere", "exit"]);
    assert_eq!(of(&[top, ("run", &["show", "exit"]), ("show", &["exit"]), bottom]), [] as [&str; 0]);
    assert_eq!(
        of(&[top, ("run", &["show"]), ("show", &["log"]), ("log", &["run", "exit"]), bottom]),
        ["log", "run", "show"]
    );
}

#[test]
fn the_floors_in_the_architecture_are_the_ones_held_here() {
    let read = |file| fs::read_to_string(workspace().join(file)).expect("a readable file");
    let page = read("ARCHITECTURE.md");
    let (of_core, of_host) = page.split_once("The floors of `port-linux`:").expect("both tables");
    for (table, file, floors) in [(of_core, "core/src/lib.rs", FLOORS), (of_host, "port-linux/src/lib.rs", HOST_FLOORS)]
    {
        let mut documented = BTreeMap::new();
        for row in table.lines().filter_map(|l| l.strip_prefix("| ")) {
            let Some((floor, modules)) = row.split_once(" | ") else { continue };
            let Ok(floor) = floor.parse::<u8>() else { continue };
            for name in modules.split([',', ';']).filter_map(|m| m.trim().strip_prefix('`')?.split('`').next()) {
                documented.insert(name.to_owned(), floor);
            }
        }
        let text = read(file);
        let modules =
            text.lines().filter_map(|l| l.strip_prefix("pub mod ").or(l.strip_prefix("mod "))?.strip_suffix(';'));
        let declared: BTreeMap<_, _> = modules.map(|m| (m.to_owned(), floor_in(floors, m))).collect();
        assert_eq!(documented, declared, "{file}");
    }
}

#[test]
fn reading_imports_sees_every_way_to_write_one() {
    let text = "use crate::time::{Duration, Instant};\nuse crate::{\n    wire::{a, b},\n    robot::Reason,\n};\n\
                // crate::comment::x\nlet x = crate::mode::Mode::Offline;\nuse super::super::link::Grade;\n\
                use super::own::Part;\nuse other_crate::drive::X;\n#[cfg(test)]\nmod tests { use crate::engine::A; }";
    let found: Vec<String> = imports(Path::new("wire/realtime.rs"), text).into_iter().collect();
    assert_eq!(found, ["link", "mode", "robot", "time", "wire"]);
    let found: Vec<String> = imports(Path::new("frame.rs"), "use super::wire::X;").into_iter().collect();
    assert_eq!(found, ["wire"]);
}
