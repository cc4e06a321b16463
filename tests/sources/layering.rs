//! The house stands: modules of the core import only from lower floors, and packages depend as ARCHITECTURE.md draws.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

/// Modules of the core by floor. A module imports only from floors below its own.
const FLOORS: &[(u8, &[&str])] = &[
    (6, &["drive"]),
    (5, &["engine"]),
    (4, &["client"]),
    (3, &["law"]),
    (2, &["link", "mode", "command", "trajectory", "kinematics", "recorder", "bridges"]),
    (1, &["robot", "packed"]),
];

/// Modules of `outrigger-wire` by floor, held in the same way.
const WIRE_FLOORS: &[(u8, &[&str])] = &[
    (8, &["frame", "robot_api", "player"]),
    (7, &["dashboard", "program"]),
    (6, &["primary", "realtime", "fri", "forward", "external_control"]),
    (5, &["rtde", "sensor"]),
    (4, &["cursor", "robot"]),
    (3, &["fields"]),
    (2, &["layout", "time"]),
    (1, &["error", "math", "bytes", "checksum", "decimal", "stuffing"]),
];

/// Modules inside `engine` by floor, held in the same way; `Engine` itself stands in its `mod.rs`.
const ENGINE_FLOORS: &[(u8, &[&str])] = &[
    (8, &["snapshot"]),
    (7, &["replay"]),
    (6, &["guide", "motion", "record", "view", "krc", "test_peer", "ur"]),
    (5, &["mod"]),
    (4, &["peer", "settings"]),
    (3, &["config"]),
    (2, &["cycle"]),
    (1, &["coast", "event", "io", "keep"]),
];

/// Modules of `outrigger-remote`, none of which imports another, and what is inside each from the lowest floor to the highest; `mod`
/// is the module's own types.
const REMOTE_FLOORS: &[(&str, &[(u8, &[&str])])] = &[
    ("provision", &[(1, &["image", "wire"]), (2, &["intake"]), (3, &["mod"]), (4, &["caller", "service"])]),
    (
        "request",
        &[
            (1, &["armed", "fresh", "key", "number"]),
            (2, &["message"]),
            (3, &["mod"]),
            (4, &["json"]),
            (5, &["lines"]),
            (6, &["keyed"]),
        ],
    ),
    ("request/keyed", &[(1, &["wire"]), (2, &["mac", "reply"]), (3, &["mod"]), (4, &["caller", "service"])]),
    ("telemetry", &[(1, &["message"]), (2, &["mod"]), (3, &["sampler"])]),
];

/// The modules that decide about motion see no bytes of a protocol: of `outrigger-wire` they import [`NO_PROTOCOL`] alone.
const KNOWS_NO_WIRE: &[&str] = &["link", "mode", "command", "law", "trajectory", "kinematics", "recorder"];
const NO_PROTOCOL: &[&str] = &["math", "robot", "sensor", "time"];

/// The modules of `outrigger-wire` that the simulator may use to say what a controller says. Framing, mathematics and readings of
/// sensors are its own.
const SIMULATOR_MAY_USE: &[&str] = &[
    "dashboard",
    "external_control",
    "fields",
    "forward",
    "fri",
    "player",
    "primary",
    "program",
    "realtime",
    "robot",
    "robot_api",
    "rtde",
    "time",
];

/// The floors of `outrigger`, the library for hosts, likewise.
const HOST_FLOORS: &[(u8, &[&str])] = &[
    (8, &["robot"]),
    (7, &["run"]),
    (6, &["companion", "panel"]),
    (5, &["dashboard", "maker", "record", "requests", "script", "sensor"]),
    (4, &["motion", "net", "show"]),
    (3, &["feed", "released"]),
    (2, &["host"]),
    (1, &["exit", "json", "law"]),
];

/// Packages of this workspace that each may depend on, outside its tests.
const PACKAGES: &[(&str, &str, &[&str])] = &[
    ("urscript", "outrigger-urscript", &[]),
    ("urscript/interpreter", "outrigger-interpreter", &["outrigger-urscript"]),
    ("core/wire", "outrigger-wire", &[]),
    ("core", "outrigger-core", &["outrigger-urscript", "outrigger-wire"]),
    ("core/remote", "outrigger-remote", &["outrigger-core", "outrigger-wire"]),
    (
        "tests/sim",
        "outrigger-sim",
        &["outrigger-interpreter", "outrigger-ros2-messages", "outrigger-urscript", "outrigger-wire"],
    ),
    ("tests/require", "outrigger-require", &[]),
    ("tests/oracle", "outrigger-oracle", &["outrigger-wire"]),
    (
        "tests/emulated",
        "outrigger-emulated",
        &["outrigger-core", "outrigger-remote", "outrigger-require", "outrigger-sim", "outrigger-wire"],
    ),
    ("port-embassy", "outrigger-embassy", &["outrigger-core", "outrigger-wire"]),
    ("boards/w5500", "outrigger-w5500", &[]),
    ("boards/app", "outrigger-app", &["outrigger-core", "outrigger-embassy", "outrigger-remote", "outrigger-wire"]),
    ("boards/eqos", "outrigger-eqos", &[]),
    ("port-linux/config", "outrigger-config", &["outrigger-core", "outrigger-remote", "outrigger-wire"]),
    ("port-linux/ros/messages", "outrigger-ros2-messages", &[]),
    ("port-linux", "outrigger", &["outrigger-config", "outrigger-core", "outrigger-remote", "outrigger-wire"]),
    ("port-linux/ros", "outrigger-ros2", &["outrigger", "outrigger-core", "outrigger-ros2-messages", "outrigger-wire"]),
    (
        "port-linux/cli",
        "outrigger-cli",
        &[
            "outrigger",
            "outrigger-config",
            "outrigger-core",
            "outrigger-remote",
            "outrigger-ros2",
            "outrigger-ros2-messages",
            "outrigger-sim",
            "outrigger-wire",
        ],
    ),
];

/// Drivers of network controllers, for any board: their tests and examples need no package of ours but this one.
const DRIVERS: &[&str] = &["boards/eqos", "boards/w5500"];
const DRIVERS_ARE_TESTED_WITH: &[&str] = &["outrigger-emulated"];

/// Foreign crates that the core, and `outrigger-wire`, cannot be built without.
const CORE_NEEDS: &[&str] = &["heapless", "zerocopy"];
/// Those of `outrigger-remote`.
const REMOTE_NEEDS: &[&str] = &["heapless", "hmac", "sha2", "zerocopy"];

fn floor_of(module: &str) -> u8 {
    floor_in(FLOORS, module)
}

fn floor_in(floors: &[(u8, &[&str])], module: &str) -> u8 {
    let found = floors.iter().find(|(_, modules)| modules.contains(&module));
    found.unwrap_or_else(|| panic!("module `{module}` of the core has no floor: add it to the table")).0
}

/// Every Rust file below `folder` with its path from there.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                files.push((path.strip_prefix(folder).expect("below").to_path_buf(), text));
            }
        }
    }
    assert!(!files.is_empty(), "no sources in {}", folder.display());
    files
}

/// The code of a file without comments, and without the test module at its end.
fn code(text: &str) -> String {
    let tests = ["#[cfg(test)]\nmod tests {", "#[cfg(all(test"].iter().filter_map(|begin| text.find(begin));
    let end = tests.min().unwrap_or(text.len());
    let lines = text[..end].lines().map(|l| l.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// First names after each `root` in `code`: `b` of `a::b::c`, and each of `a::{b, c::d}`.
fn names_below(code: &str, root: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(root) {
        let part_of_a_longer_name = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if part_of_a_longer_name && !code[..at].ends_with("super::") {
            continue;
        }
        let rest = &code[at + root.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.extend(first_name(rest));
            continue;
        };
        let mut depth = 0;
        let mut item = 0;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    names.extend(first_name(group[item..i].trim_start()));
                    item = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    names
}

fn first_name(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    // A macro stands at the root wherever it is written.
    (end > 0 && !text[end..].starts_with('!')).then(|| text[..end].to_owned())
}

/// Modules of its own crate that a file names, written from the root or by climbing to it.
fn imports(path: &Path, text: &str) -> BTreeSet<String> {
    let mut depth = path.components().count();
    if path.ends_with("mod.rs") {
        depth -= 1;
    }
    let code = code(text);
    let climb = "super::".repeat(depth);
    // `super::` climbs from inside the file's own module; one more belongs to a module within the file.
    names_below(&code, "crate::").into_iter().chain(names_below(&code, &climb)).filter(|n| is_module(n)).collect()
}

/// The names at a root that are no modules and no types: macros, and the peer of the core's tests.
const NO_MODULES: &[&str] = &["eprint_lossy", "eprintln_lossy", "peer", "rtde_recipe", "say"];

/// Types re-exported at the root start with a capital.
fn is_module(name: &str) -> bool {
    !NO_MODULES.contains(&name)
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name != "super"
        && name != "self"
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
        // What a macro names is imported where it is used.
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
        // What a macro names is imported where it is used.
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
            // A type is named from where it is re-exported: the engine's own file.
            let imported = if imported.starts_with(char::is_lowercase) { imported } else { "mod".to_owned() };
            let climbs = imported != module && floor_in(ENGINE_FLOORS, &imported) >= floor_in(ENGINE_FLOORS, &module);
            if climbs {
                wrong.push(format!("{}: {module} imports {imported}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules that a file below `folder` of `outrigger-remote` names there, by climbing to it or from the root; a type is named from the
/// module's own file.
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

/// What of `imported`, modules with what each imports, is part of a circle, or between two.
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
            // What is at the root is above all of them.
            if path != Path::new("lib.rs") && !path.iter().any(|part| part == "tests.rs") {
                imported.entry(module_of(&path)).or_default().extend(imports(&path, &text));
            }
        }
        let circle = circle(imported);
        assert!(circle.is_empty(), "{root}: in a circle: {circle:?}");
    }
}

/// Libraries whose files are looked at folder by folder.
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

/// Where a maker is chosen: by arguments, a configuration, what a board sends, or by name in a program.
const CHOOSING: &[&str] = &[
    "port-linux/src/robot/beside.rs",
    "port-linux/src/run/chosen.rs",
    "port-linux/cli/src/args.rs",
    "port-linux/cli/src/cli.rs",
    "port-linux/cli/src/beside.rs",
    "port-linux/cli/src/watch/device.rs",
    "boards/app/src/board.rs",
];

/// A maker of controllers, by what the code calls its types and modules, and the places that may.
struct Maker {
    name: &'static str,
    types: &'static [&'static str],
    modules: &'static [&'static str],
    /// Folders and files, by what they need the name for.
    places: &'static [(&'static str, &'static [&'static str])],
}

/// Everything else is written once for all makers. Another one is another entry here.
const MAKERS: &[Maker] = &[
    Maker {
        name: "KRC",
        types: &["Krc", "Fri"],
        modules: &["krc", "fri"],
        places: &[
            ("its protocol, and its side of the engine", &["core/wire/src/fri", "core/src/engine/krc"]),
            (
                "its side of each port",
                &["port-embassy/src/krc.rs", "boards/app/src/krc.rs", "port-linux/src/maker/krc"],
            ),
            ("choosing a maker", CHOOSING),
            ("configuration files", &["port-linux/config/src"]),
            ("what is fuzzed beside each maker", &["port-linux/cli/src/fuzzing.rs"]),
            ("the log lines of boards", &["boards/app/src/log_event.rs"]),
            (
                "lists of all wire formats",
                &[
                    "core/wire/src/frame.rs",
                    "core/wire/src/frame",
                    "core/wire/src/layout.rs",
                    "port-linux/cli/src/decode.rs",
                    "port-linux/cli/src/export",
                    "port-linux/src/feed",
                    "port-linux/src/motion/recording.rs",
                    "port-linux/src/record/recording.rs",
                    "port-linux/cli/src/serve/lines.rs",
                    "port-linux/cli/src/screen/overheard.rs",
                    "port-linux/ros/src/node/learned.rs",
                    "port-linux/ros/src/readings.rs",
                ],
            ),
            ("its simulator", &["port-linux/cli/src/simulate/krc"]),
        ],
    },
    Maker {
        name: "UR",
        types: &["Ur"],
        modules: &["ur"],
        places: &[
            ("its side of the engine", &["core/src/engine/ur"]),
            (
                "its side of each port, which is what the port for microcontrollers was first made for",
                &["port-embassy/src", "boards/app/src/ur.rs", "port-linux/src/maker/ur", "port-linux/src/net/mod.rs"],
            ),
            ("choosing a maker", CHOOSING),
            ("configuration files", &["port-linux/config/src"]),
            (
                "what is fuzzed beside each maker",
                &["port-linux/cli/src/fuzzing.rs", "port-linux/cli/src/watch/fuzzing.rs"],
            ),
            ("the log lines of boards", &["boards/app/src/log_event.rs"]),
            (
                "commands that only its controllers have",
                &[
                    "port-linux/cli/src/demo",
                    "port-linux/cli/src/init",
                    "port-linux/cli/src/io",
                    "port-linux/cli/src/moves",
                    "port-linux/src/robot/place.rs",
                    "port-linux/src/robot/play.rs",
                ],
            ),
            (
                "names of its ports and terminals",
                &["port-linux/src/show/states.rs", "port-linux/src/show/terminals.rs"],
            ),
            (
                "an option for which of them states come by",
                &["port-linux/cli/src/doctor/args.rs", "port-linux/cli/src/ros2/args.rs"],
            ),
        ],
    },
];

/// Where makers are looked for.
const NAMING: &[&str] = &[
    "core/src",
    "core/wire/src",
    "port-embassy/src",
    "port-linux/src",
    "port-linux/cli/src",
    "port-linux/config/src",
    "port-linux/ros/src",
    "boards/app/src",
    "boards/eqos/src",
];

/// The folders of [`NAMING`], and of every board: those in `boards` that say what they are compiled for.
fn naming() -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace().join("boards")).expect("boards").flatten();
    let boards: Vec<PathBuf> = entries
        .filter(|entry| entry.path().join(".cargo").is_dir())
        .map(|entry| Path::new("boards").join(entry.file_name()).join("src"))
        .collect();
    assert!(boards.len() >= 3, "{boards:?}");
    NAMING.iter().map(PathBuf::from).chain(boards).collect()
}

impl Maker {
    /// Whether `code` names one of its types, or something in one of its modules.
    fn is_named_in(&self, code: &str) -> bool {
        let inside_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_type = |word: &str| {
            let rest = self.types.iter().find_map(|prefix| word.strip_prefix(prefix));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        let mut modules = code.match_indices("::").filter_map(|(at, _)| {
            let before = &code[..at];
            before.rsplit(|c| !inside_of_a_name(c)).next()
        });
        code.split(|c| !inside_of_a_name(c)).any(is_type) || modules.any(|module| self.modules.contains(&module))
    }

    /// What is wrong with `files`, which are all that there are: those that name it outside of its places, and places that
    /// none of them needs.
    fn misplaced(&self, files: &[(PathBuf, String)]) -> Vec<String> {
        let naming: Vec<&Path> =
            files.iter().filter(|(_, code)| self.is_named_in(code)).map(|(path, _)| path.as_path()).collect();
        let places = || self.places.iter().flat_map(|(_, places)| *places);
        let outside = naming.iter().filter(|path| !places().any(|place| path.starts_with(place)));
        let outside = outside.map(|path| {
            format!(
                "{} names {}: it is for every maker. Put what only {} needs into its folders, or add the file to MAKERS with \
                 what it needs the name for",
                path.display(),
                self.name,
                self.name
            )
        });
        let unneeded = places().filter(|place| !naming.iter().any(|path| path.starts_with(place)));
        let unneeded =
            unneeded.map(|place| format!("nothing in {place} names {} any more: take it out of MAKERS", self.name));
        outside.chain(unneeded).collect()
    }
}

#[test]
fn a_maker_is_named_in_its_own_places_only() {
    let mut files = Vec::new();
    for folder in naming() {
        for (path, text) in sources(&workspace().join(&folder)) {
            if !path.iter().any(|part| part == "tests" || part == "tests.rs") {
                files.push((folder.join(path), code(&text)));
            }
        }
    }
    let wrong: Vec<String> = MAKERS.iter().flat_map(|maker| maker.misplaced(&files)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_maker_outside_of_its_places_is_found_and_so_is_a_place_that_nothing_needs() {
    let places: &[(&str, &[&str])] = &[("a reason", &["a/krc", "a/list.rs"])];
    let krc = Maker { name: "KRC", types: &["Krc", "Fri"], modules: &["krc", "fri"], places };
    for named in ["x: &KrcEvent", "Framing::Fri => 4", "use a::krc::{self, B};", "fri::PORT", "<Krc as Peer<7>>::Event"]
    {
        assert!(krc.is_named_in(named), "{named}");
    }
    for other in ["Friction", "is_krc(x)", "sukrc::x", "krc: bool", "Krcs", "Krc5", "LinkId::FRI", "a::b::krc"] {
        assert!(!krc.is_named_in(other), "{other}");
    }
    let files = [("a/krc/mod.rs", "Krc"), ("a/run.rs", "match x { Krc => 1 }"), ("a/list.rs", "Other")];
    let files = files.map(|(path, code)| (PathBuf::from(path), code.to_owned()));
    let wrong = krc.misplaced(&files);
    let [outside, unneeded] = wrong.as_slice() else { panic!("{wrong:?}") };
    assert!(outside.starts_with("a/run.rs names KRC:"), "{outside}");
    assert!(unneeded.starts_with("nothing in a/list.rs names KRC"), "{unneeded}");
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
fn the_simulator_shares_no_decision_with_the_core() {
    for (path, text) in sources(&workspace().join("tests/sim/src")) {
        assert!(!code(&text).contains("outrigger_core"), "{}: the simulator uses the core", path.display());
        for used in names_below(&code(&text), "outrigger_wire::").into_iter().filter(|n| is_module(n)) {
            assert!(SIMULATOR_MAY_USE.contains(&used.as_str()), "{}: outrigger_wire::{used}", path.display());
        }
    }
}

/// The oracle sees the core's fields, which it is compared with, and takes no table and no codec of it.
#[test]
fn the_oracle_uses_the_fields_of_the_messages_alone() {
    let mut seen = BTreeSet::new();
    for (path, text) in sources(&workspace().join("tests/oracle/src")) {
        let used = names_below(&code(&text), "outrigger_wire::");
        assert!(used.iter().all(|name| name == "fields"), "{}: {used:?} of outrigger_wire", path.display());
        seen.extend(used);
    }
    assert_eq!(Vec::from_iter(seen), ["fields"]);
}

/// What a board is judged by may read what the board tells, and shares no decision with what runs on it.
const EMULATED_MAY_USE: &[&str] = &["command", "engine", "law", "mode", "robot"];
/// The modules of `outrigger-remote` likewise.
const EMULATED_MAY_USE_OF_REMOTE: &[&str] = &["telemetry"];
/// The modules of `outrigger-wire` that a board computes with: what judges it may not use them.
const EMULATED_MAY_NOT_USE: &[&str] = &["bytes", "checksum", "decimal", "math", "stuffing"];

#[test]
fn a_board_is_judged_without_the_code_it_runs() {
    for (path, source) in sources(&workspace().join("tests/emulated/src")) {
        for used in names_below(&code(&source), "outrigger_core::").into_iter().filter(|n| is_module(n)) {
            assert!(EMULATED_MAY_USE.contains(&used.as_str()), "{}: outrigger_core::{used}", path.display());
        }
        for used in names_below(&code(&source), "outrigger_remote::") {
            assert!(
                EMULATED_MAY_USE_OF_REMOTE.contains(&used.as_str()),
                "{}: outrigger_remote::{used}",
                path.display()
            );
        }
        for used in names_below(&code(&source), "outrigger_wire::") {
            assert!(!EMULATED_MAY_NOT_USE.contains(&used.as_str()), "{}: outrigger_wire::{used}", path.display());
        }
        if path.starts_with("peer") || path == Path::new("wire.rs") {
            let uses_ours =
                ["outrigger_core::", "outrigger_remote::", "outrigger_wire::"].iter().any(|name| source.contains(name));
            assert!(!uses_ours, "{}: the peer uses the core", path.display());
        }
    }
}

/// Names under `[dependencies]` of a manifest, with whether each is optional.
fn dependencies(folder: &str) -> BTreeMap<String, bool> {
    dependencies_in("dependencies", folder)
}

/// The names in a section of a manifest, with whether each is optional.
fn dependencies_in(section: &str, folder: &str) -> BTreeMap<String, bool> {
    let manifest = fs::read_to_string(workspace().join(folder).join("Cargo.toml")).expect("a manifest");
    let section = manifest.split(&format!("\n[{section}]\n")).nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let entries = section.lines().filter(|l| l.contains('=') && !l.starts_with('#'));
    entries
        .map(|l| {
            let name = l.split([' ', '.', '=']).next().expect("a name");
            (name.to_owned(), l.contains("optional = true"))
        })
        .collect()
}

#[test]
fn packages_depend_as_the_architecture_draws() {
    for (folder, name, allowed) in PACKAGES {
        for dependency in dependencies(folder).keys().filter(|d| d.starts_with("outrigger-")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} depends on {dependency}");
        }
    }
}

#[test]
fn drivers_of_network_controllers_are_tested_without_a_robot() {
    for folder in DRIVERS {
        let ours: Vec<String> = dependencies_in("dev-dependencies", folder)
            .into_keys()
            .filter(|name| name.starts_with("outrigger-"))
            .collect();
        assert_eq!(ours, DRIVERS_ARE_TESTED_WITH, "{folder}");
        for (path, text) in sources(&workspace().join(folder)) {
            let used = ["outrigger_core", "outrigger_wire", "outrigger_app", "outrigger_sim"];
            let used = used.into_iter().find(|name| text.contains(name));
            assert_eq!(used, None, "{folder}/{}", path.display());
        }
    }
}

#[test]
fn one_file_of_the_microcontroller_port_names_types_of_the_network_stack() {
    // The trait of a driver, `embassy_net_driver`, is versioned apart from the stack, and names none of its types.
    let names = |text: &str| {
        let code = code(text).replace("embassy_net_driver", "");
        ["embassy_net", "smoltcp"].iter().any(|stack| code.contains(stack))
    };
    let naming: Vec<PathBuf> = sources(&workspace().join("port-embassy/src"))
        .into_iter()
        .filter(|(_, text)| names(text))
        .map(|f| f.0)
        .collect();
    assert_eq!(naming, [Path::new("net.rs")]);
}

#[test]
fn the_core_and_the_renderer_need_no_foreign_crate_but_the_listed_ones() {
    let mandatory = |folder| dependencies(folder).into_iter().filter(|(_, optional)| !optional).map(|(name, _)| name);
    for (folder, needs) in [("core", CORE_NEEDS), ("core/wire", CORE_NEEDS), ("core/remote", REMOTE_NEEDS)] {
        let foreign: Vec<String> = mandatory(folder).filter(|n| !n.starts_with("outrigger-")).collect();
        assert_eq!(foreign, needs, "{folder}");
    }
    assert_eq!(mandatory("urscript").count(), 0);
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
