//! Tests that packages depend on each other as in ARCHITECTURE.md, and that tests' judges share no decision with the
//! code they judge.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

use super::reading::{code, is_module, names_below, sources};

/// The packages of this workspace that each package may depend on, outside its tests.
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

/// The modules of `outrigger-wire` that the simulator may use to write a controller's messages. Its framing,
/// mathematics and sensor readings are its own.
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

/// The packages with drivers of network controllers, which any board can use. Of the packages of this workspace, their
/// tests and examples need only [`DRIVERS_ARE_TESTED_WITH`].
const DRIVERS: &[&str] = &["boards/eqos", "boards/w5500"];

const DRIVERS_ARE_TESTED_WITH: &[&str] = &["outrigger-emulated"];

/// The foreign crates that the core and `outrigger-wire` cannot be built without.
const CORE_NEEDS: &[&str] = &["heapless", "zerocopy"];

/// The foreign crates that `outrigger-remote` cannot be built without.
const REMOTE_NEEDS: &[&str] = &["heapless", "hmac", "sha2", "zerocopy"];

#[test]
fn the_simulator_shares_no_decision_with_the_core() {
    for (path, text) in sources(&workspace().join("tests/sim/src")) {
        assert!(!code(&text).contains("outrigger_core"), "{}: the simulator uses the core", path.display());
        for used in names_below(&code(&text), "outrigger_wire::").into_iter().filter(|n| is_module(n)) {
            assert!(SIMULATOR_MAY_USE.contains(&used.as_str()), "{}: outrigger_wire::{used}", path.display());
        }
    }
}

/// Checks that the oracle (`tests/oracle`), an independent decoder, uses nothing of `outrigger-wire`, with which it is
/// compared, but the module `fields`.
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

/// The modules of the core that `tests/emulated`, which judges the firmware on emulated boards, may use: it reads a
/// board's reports with them, and shares no decision with the board.
const EMULATED_MAY_USE: &[&str] = &["command", "engine", "law", "mode", "robot"];

/// The modules of `outrigger-remote` that `tests/emulated`, which judges the firmware on emulated boards, may use.
const EMULATED_MAY_USE_OF_REMOTE: &[&str] = &["telemetry"];

/// The modules of `outrigger-wire` with which a board computes. `tests/emulated`, which judges the board, may not use
/// them.
const EMULATED_MAY_NOT_USE: &[&str] = &["buffer_compaction", "checksum", "decimal", "math", "cobs"];

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

/// Returns the names under `[dependencies]` of a manifest, and whether each is optional.
fn dependencies(folder: &str) -> BTreeMap<String, bool> {
    dependencies_in("dependencies", folder)
}

/// Returns the names in a section of a manifest, and whether each is optional.
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
    // The trait of a driver, `embassy_net_driver`, is versioned separately from the stack, and names none of its types.
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
