//! The format of the page that is written from the tables.

use std::fmt::Write as _;

use outrigger_interpreter::Builtins;
use outrigger_urscript::Version;

use crate::{behaviour, functions};

/// The evidence for a behaviour of the simulated controller, or the statement that it is not simulated or does not
/// exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Recorded traffic of a real controller shows the behaviour.
    Recorded,
    /// The vendor's manuals and articles describe the behaviour.
    Manual,
    /// Clients in use depend on the behaviour.
    Clients,
    /// A mark for a behaviour of the simulated controller that no recording, manual or client shows: it is only
    /// plausible.
    Assumed,
    /// The behaviour is not simulated: programs or clients that need it receive an error.
    NotSimulated,
    /// This controller generation does not have the behaviour.
    Absent,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Manual => "manual",
            Self::Clients => "clients",
            Self::Assumed => "assumed",
            Self::NotSimulated => "not simulated",
            Self::Absent => "–",
        }
    }
}

/// A behaviour of the simulated controller, with its mark for CB2, CB3, e-Series and PolyScope X.
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) marks: [Mark; 4],
    /// The option of the simulated controller that changes the behaviour; empty if there is none.
    pub(crate) option: &'static str,
    pub(crate) tests: &'static [&'static str],
}

pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) lines: &'static [Line],
}

/// Functions whose behaviour has the same source.
pub(crate) struct Group {
    pub(crate) what: &'static str,
    pub(crate) names: &'static [&'static str],
    pub(crate) mark: Mark,
    pub(crate) option: &'static str,
    pub(crate) tests: &'static [&'static str],
}

pub(crate) fn page(newest: &[Version; 4]) -> String {
    let mut page = String::from(
        "# How far the simulated Universal Robots controller can be believed\n\n\
         Written by `OUTRIGGER_BLESS=1 cargo test -p outrigger-sim --test fidelity` from `tests/sim/tests/fidelity`, which also holds it to the code.\n\n\
         | mark | what it means |\n|---|---|\n\
         | recorded | traffic of a real controller shows it |\n\
         | manual | the vendor's manuals and articles say so |\n\
         | clients | clients in use depend on it |\n\
         | assumed | nobody has published it; it is plausible, and an option changes it where the table names one |\n\
         | not simulated | a program that needs it ends with an error that says so |\n\
         | – | this generation does not have it |\n",
    );
    for section in behaviour::SECTIONS {
        let _ = write!(
            page,
            "\n## {}\n\n| behaviour | CB2 | CB3 | e-Series | PolyScope X | changed by | shown by |\n|---|---|---|---|---|---|---|\n",
            section.title
        );
        for line in section.lines {
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} |",
                line.what,
                line.marks.map(Mark::word).join(" | "),
                code(line.option),
                line.tests.iter().map(|test| code(test)).collect::<Vec<_>>().join(", ")
            );
        }
    }
    page.push_str(
        "\n## Functions of URScript\n\n\
         A column has the first software of its generation that has the function here. [Every function of the manual by software](urscript-functions.md): \
         executed, or known by name.\n",
    );
    for group in functions::GROUPS {
        let _ = write!(
            page,
            "\n### {}: {}\n\nShown by {}.",
            group.what,
            group.mark.word(),
            group.tests.iter().map(|test| code(test)).collect::<Vec<_>>().join(", ")
        );
        if !group.option.is_empty() {
            let _ = write!(page, " Changed by {}.", code(group.option));
        }
        page.push_str("\n\n| function | CB2 | CB3 | e-Series | PolyScope X |\n|---|---|---|---|---|\n");
        for name in group.names {
            let columns = newest.map(|last| first_with(name, last)).join(" | ");
            let _ = writeln!(page, "| `{name}` | {columns} |");
        }
    }
    page
}

fn code(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("`{name}`") }
}

/// Returns the first software version of a generation, no later than `last`, that has a URScript function; `–` if none
/// has it.
fn first_with(name: &str, last: Version) -> String {
    let first = match last.major {
        1 => Version::new(1, 5),
        3 => Version::new(3, 0),
        major => Version::new(major, 0),
    };
    (first.minor..=last.minor)
        .map(|minor| Version::new(first.major, minor))
        .find(|version| Builtins::of(*version).contains(name))
        .map_or("–".into(), |version| format!("{}.{}", version.major, version.minor))
}
