//! Tests that vendors of controllers are named only in certain places.

use std::fs;
use std::path::{Path, PathBuf};

use outrigger_require::workspace;

use super::reading::{code, sources};

/// The files in which the vendor of the controller is chosen: by arguments, a configuration, the data of a board, or by
/// name in a program.
const CHOOSING: &[&str] = &[
    "port-linux/src/robot/controller_kinds.rs",
    "port-linux/src/run/session_kinds.rs",
    "port-linux/cli/src/args.rs",
    "port-linux/cli/src/cli.rs",
    "port-linux/cli/src/dispatch.rs",
    "port-linux/cli/src/watch/board_state.rs",
    "boards/app/src/board.rs",
];

/// A vendor of controllers, the names of its types and modules in the code, and the places that may name it.
struct Vendor {
    name: &'static str,
    types: &'static [&'static str],
    modules: &'static [&'static str],
    /// The folders and files that may name the vendor, grouped by the reason for it.
    places: &'static [(&'static str, &'static [&'static str])],
}

/// The vendors of controllers, with the places that may name each. All other code is common to all vendors.
/// Another vendor needs an entry here.
const VENDORS: &[Vendor] = &[
    Vendor {
        name: "KRC",
        types: &["Krc", "Fri"],
        modules: &["krc", "fri"],
        places: &[
            ("its protocol, and its side of the engine", &["core/wire/src/fri", "core/src/engine/krc"]),
            (
                "its side of each port",
                &["port-embassy/src/krc.rs", "boards/app/src/krc.rs", "port-linux/src/vendor/krc"],
            ),
            ("choosing a vendor", CHOOSING),
            ("configuration files", &["port-linux/config/src"]),
            ("what is fuzzed beside each vendor", &["port-linux/cli/src/fuzzing.rs"]),
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
                    "port-linux/src/motion/recorded_motion.rs",
                    "port-linux/src/record/entry_writer.rs",
                    "port-linux/cli/src/serve/json_lines.rs",
                    "port-linux/cli/src/screen/feed_values.rs",
                    "port-linux/ros/src/node/feed_readings.rs",
                    "port-linux/ros/src/readings.rs",
                ],
            ),
            ("its simulator", &["port-linux/cli/src/simulate/krc"]),
            ("the shape of its arm", &["port-linux/cli/src/page/arm_shape.rs"]),
        ],
    },
    Vendor {
        name: "UR",
        types: &["Ur"],
        modules: &["ur"],
        places: &[
            ("its side of the engine", &["core/src/engine/ur"]),
            (
                "its side of each port, which is what the port for microcontrollers was first made for",
                &["port-embassy/src", "boards/app/src/ur.rs", "port-linux/src/vendor/ur", "port-linux/src/net/mod.rs"],
            ),
            ("choosing a vendor", CHOOSING),
            ("configuration files", &["port-linux/config/src"]),
            (
                "what is fuzzed beside each vendor",
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
                    "port-linux/src/robot/goal_move.rs",
                    "port-linux/src/robot/play.rs",
                ],
            ),
            (
                "names of its ports and terminals",
                &["port-linux/src/show/state_source.rs", "port-linux/src/show/io_terminals.rs"],
            ),
            ("its arm's model by its type", &["port-linux/ros/src/readings.rs"]),
            (
                "an option for which of them states come by",
                &["port-linux/cli/src/doctor/args.rs", "port-linux/cli/src/ros2/args.rs"],
            ),
        ],
    },
];

/// The folders that are searched for vendor names.
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

/// Returns the folders of [`NAMING`], and those of every board: the folders in `boards` with a compiler target.
fn naming() -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace().join("boards")).expect("boards").flatten();
    let boards: Vec<PathBuf> = entries
        .filter(|entry| entry.path().join(".cargo").is_dir())
        .map(|entry| Path::new("boards").join(entry.file_name()).join("src"))
        .collect();
    assert!(boards.len() >= 3, "{boards:?}");
    NAMING.iter().map(PathBuf::from).chain(boards).collect()
}

impl Vendor {
    /// Returns `true` if `code` names one of the vendor's types, or an item of one of its modules.
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

    /// Returns the faults of `files`, which must be all files: those that name the vendor outside of its places, and
    /// places that none of them needs.
    fn misplaced(&self, files: &[(PathBuf, String)]) -> Vec<String> {
        let naming: Vec<&Path> =
            files.iter().filter(|(_, code)| self.is_named_in(code)).map(|(path, _)| path.as_path()).collect();
        let places = || self.places.iter().flat_map(|(_, places)| *places);
        let outside = naming.iter().filter(|path| !places().any(|place| path.starts_with(place)));
        let outside = outside.map(|path| {
            format!(
                "{} names {}: it is for every vendor. Put what only {} needs into its folders, or add the file to VENDORS with \
                 what it needs the name for",
                path.display(),
                self.name,
                self.name
            )
        });
        let unneeded = places().filter(|place| !naming.iter().any(|path| path.starts_with(place)));
        let unneeded =
            unneeded.map(|place| format!("nothing in {place} names {} any more: take it out of VENDORS", self.name));
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
    let wrong: Vec<String> = VENDORS.iter().flat_map(|vendor| vendor.misplaced(&files)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_maker_outside_of_its_places_is_found_and_so_is_a_place_that_nothing_needs() {
    let places: &[(&str, &[&str])] = &[("a reason", &["a/krc", "a/list.rs"])];
    let krc = Vendor { name: "KRC", types: &["Krc", "Fri"], modules: &["krc", "fri"], places };
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
