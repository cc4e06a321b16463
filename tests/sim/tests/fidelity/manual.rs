//! The page of functions by software: `tests/sim/docs/urscript-functions.md`.

use std::fmt::Write as _;

use outrigger_interpreter::Builtins;
use outrigger_urscript::Version;

/// The software versions that have a column in the table of functions: the first and last of each generation, and the
/// releases that added functions.
const SOFTWARE: [Version; 15] = [
    Version::new(1, 8),
    Version::new(3, 0),
    Version::new(3, 4),
    Version::new(3, 15),
    Version::new(5, 0),
    Version::new(5, 4),
    Version::new(5, 10),
    Version::new(5, 15),
    Version::new(5, 17),
    Version::new(5, 20),
    Version::new(5, 25),
    Version::new(10, 0),
    Version::new(10, 7),
    Version::new(10, 10),
    Version::new(10, 12),
];

/// A function of URScript, as `urscript/interpreter/manual.tsv` lists it.
struct Entry<'t> {
    name: &'t str,
    /// The first software of CB, e-Series and PolyScope X that has the function.
    since: [&'t str; 3],
    source: &'t str,
}

fn entries(manual: &str) -> Vec<Entry<'_>> {
    let lines = manual.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let [name, cb, e_series, polyscope_x, source] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            Entry { name, since: [cb, e_series, polyscope_x], source }
        })
        .collect()
}

/// Returns the page that shows which software has each function that `manual` lists, and whether the simulator executes
/// it.
pub(crate) fn page(manual: &str) -> String {
    let entries = entries(manual);
    let known: Vec<Builtins> = SOFTWARE.into_iter().map(Builtins::of).collect();
    let executed = |name: &str| known.iter().any(|builtins| builtins.is_simulated(name));
    let count = entries.iter().filter(|entry| executed(entry.name)).count();
    let mut page = format!(
        "# Functions of URScript by software\n\n\
         Written by `OUTRIGGER_BLESS=1 cargo test -p outrigger-sim --test fidelity` from `urscript/interpreter/manual.tsv` and the interpreter.\n\n\
         Of {} functions {count} are executed and {} are named: a program that has one compiles, and ends with `not_simulated` and the function's \
         name where it calls it. [How far each can be believed](fidelity.md) is a page of its own.\n\n\
         | cell | meaning |\n|---|---|\n\
         | x | executed |\n| n | named |\n| – | a program that has it is refused, as one with an unknown name |\n\n\
         The last four columns are what is published: the first software on CB, e-Series and PolyScope X, and where that is from \
         (`core/docs/protocol/ur-external-control.md` 5.5 has the keys). `<=5.15`, `3.?` and `?`: it is there, and since when is UNCONFIRMED; the \
         simulated controller then has it in the whole generation. `5.20..5.24`: it came between these; the simulated controller has it from the first \
         on.\n\n",
        entries.len(),
        entries.len() - count,
    );
    let columns: Vec<String> = SOFTWARE.iter().map(|version| format!("{}.{}", version.major, version.minor)).collect();
    let _ = writeln!(page, "| function | {} | CB | e-Series | PolyScope X | source |", columns.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(SOFTWARE.len() + 4));
    for entry in &entries {
        let cell = |builtins: &Builtins| match (builtins.contains(entry.name), builtins.is_simulated(entry.name)) {
            (false, _) => "–",
            (true, true) => "x",
            (true, false) => "n",
        };
        let cells: Vec<&str> = known.iter().map(cell).collect();
        let since = entry.since.map(|since| if since == "-" { "–" } else { since });
        let _ =
            writeln!(page, "| `{}` | {} | {} | {} |", entry.name, cells.join(" | "), since.join(" | "), entry.source);
    }
    page
}
