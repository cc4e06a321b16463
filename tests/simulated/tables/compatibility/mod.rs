//! The capabilities of each software version, found by trying each on a simulated controller of every minor version.

mod commanding;
mod dashboard;
mod outputs;

use outrigger_wire::robot::SoftwareVersion;

use super::text::{hold, in_parallel, markdown};

/// The first and the last minor version of each simulated series.
const SERIES: [(u8, std::ops::RangeInclusive<u8>); 4] = [(1, 6..=8), (3, 0..=15), (5, 0..=25), (10, 11..=12)];

/// The software versions of which real traffic was recorded, by port (`tests/simulated/captures.rs` reads the
/// recordings).
const RECORDED: [(u8, u8, &str); 4] = [
    (1, 8, "30002, 30003"),
    (3, 10, "30002, while connecting"),
    (5, 8, "30001, first state message (URSim)"),
    (5, 12, "30002, while connecting"),
];

fn every_software() -> Vec<SoftwareVersion> {
    let series = SERIES.into_iter();
    series.flat_map(|(major, minors)| minors.map(move |minor| SoftwareVersion::new(major, minor))).collect()
}

/// Returns a table in Markdown with a row for each software version. Consecutive versions with the same cells share a
/// row.
fn table(columns: &[&str], cells: impl Fn(SoftwareVersion) -> Vec<String> + Sync) -> String {
    let software = every_software();
    let rows = in_parallel(&software, cells);
    let mut merged: Vec<(SoftwareVersion, SoftwareVersion, Vec<String>)> = vec![];
    for (software, cells) in software.into_iter().zip(rows) {
        match merged.last_mut() {
            Some((first, last, same)) if *same == cells && first.major == software.major => *last = software,
            _ => merged.push((software, software, cells)),
        }
    }
    let name = |software: SoftwareVersion| format!("{}.{}", software.major, software.minor);
    let rows = merged.into_iter().map(|(first, last, cells)| {
        let versions = if first == last { name(first) } else { format!("{}–{}", name(first), name(last)) };
        [vec![versions], cells].concat()
    });
    let columns = [&["software"], columns].concat();
    markdown(&columns, &rows.collect::<Vec<_>>())
}

fn recorded(software: SoftwareVersion) -> String {
    let of = |(major, minor, _): &&(u8, u8, &str)| (*major, *minor) == (software.major, software.minor);
    RECORDED.iter().find(of).map_or_else(String::new, |(.., what)| format!("recorded: {what}"))
}

#[test]
fn every_capability_works_as_the_table_says_on_every_software() {
    let text = format!(
        "{HEAD}
## Reading and commanding

{}
{COMMANDING}
## Outputs

{}
{OUTPUTS}
## Dashboard

{}
{DASHBOARD}",
        table(&commanding::COLUMNS, commanding::cells),
        table(&outputs::COLUMNS, outputs::cells),
        table(&dashboard::COLUMNS, dashboard::cells),
    );
    hold("compatibility.md", &text);
}

const HEAD: &str = "# Compatibility

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::compatibility`, in virtual time: every cell is what
came of trying it on a simulated controller with that software. The simulator does what
`core/docs/protocol/ur-client-interfaces.md`, `core/docs/protocol/ur-rtde.md` and `core/docs/protocol/ur-dashboard.md` say
of each version; where they do not know, it has an option, and this table its default. A row marked *recorded* was also
checked against traffic of a real controller (or the vendor's URSim), on the ports named.
";

const COMMANDING: &str = "\
*States by*: where the states of each control cycle come from with the default setting; `states` in the configuration or
`--states` choose. *Accepted by*: what proves, before the arm moves, that the controller runs what it is sent. *Text*: how a
command ends when nobody replaces it. *Stands in*: how far the base joint moves on at worst, from 1 rad/s, when this device
dies (`outrigger check-config` says it for a configuration).
";

const OUTPUTS: &str = "\
*confirmed*: set beside a program that moves the arm, and shown by the controller afterwards. *sent*: the controller has no
message that would show it. *from V*: refused before it is sent, with the first software that has it.
";

const DASHBOARD: &str = "\
Each sequence was run to its end. *Bring-up*: from power off to running. *Protective stop*: seen, acknowledged, unlocked after
its lock of 5 s, and the robot ready again. *Safety fault*: the same after a restart of the safety system. *Pendant*: what
keeps a person at it from moving the arm while somebody else commands. PolyScope X has no dashboard server:
*Robot API* stands where that has the request, and `outrigger dashboard` asks it (`cargo test -p outrigger-cli --test
dashboard` runs it over HTTP).
";
