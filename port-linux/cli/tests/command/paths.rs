//! Compares what `check-config` prints about every path of commands with the measurements on the simulated
//! controller.

use outrigger_core::engine::ur::{CommandPath, Orders};

use super::command_line::{folder, outrigger, text};

/// The table of what was measured of every command path on the simulated controller;
/// `tests/simulated/tables/paths/kill.rs` writes it.
const MEASURED: &str = include_str!("../../../../tests/tables/paths.md");

/// Returns every command path with its way of passing orders, and the name of both in the tables.
fn ways() -> impl Iterator<Item = (String, CommandPath, Orders)> {
    CommandPath::WORDS.iter().flat_map(|(word, path)| {
        let registers = path.can_use_registers().then(|| (format!("{word}, registers"), *path, Orders::Registers));
        [(word.to_string(), *path, Orders::Socket)].into_iter().chain(registers)
    })
}

/// Returns software, command path, and the worst case \[rad\] of each row of the table of measurements.
fn measured() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut rows = vec![];
    for line in MEASURED.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if let ["", software, path, _, _, _, worst, ""] = cells.as_slice()
            && let Some((rad, _)) = worst.split_once(" rad, ")
        {
            rows.push((*software, *path, rad));
        }
    }
    rows
}

/// Returns the rows about command paths that `check-config` prints for this software, with this path configured and the
/// arm as fast as in the measurement.
fn checked(software: &str, path: CommandPath, orders: Orders) -> Vec<String> {
    let (path, orders) = (path.name(), if orders == Orders::Registers { "registers" } else { "socket" });
    let file = folder("paths").join(format!("{software}-{path}-{orders}.toml"));
    let lines = format!(
        "robot.address = \"127.0.0.1\"\nrobot.model = \"ur5\"\nlimits.velocity = 0.8\nlaw.kind = \"joint-servo\"\n\
         session = {{ software = \"{software}\", path = \"{path}\", expert.pendant_stop = \"overridden\" }}\nprogram.expert.orders = \"{orders}\"\n"
    );
    std::fs::write(&file, lines).expect("room");
    let output = outrigger(&["check-config", file.to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let lines: Vec<_> = said.lines().map(|line| line.trim().to_owned()).collect();
    let from = lines.iter().position(|line| line.contains("ways to command it")).expect("a table");
    lines[from + 2..from + 2 + ways().count()].to_vec()
}

#[test]
fn check_config_says_of_every_path_what_the_simulated_arm_keeps() {
    let measured = measured();
    let mut software: Vec<_> = measured.iter().map(|(software, ..)| *software).collect();
    software.dedup();
    assert!(software.len() > 10, "{software:?}");
    for software in software {
        let lines = checked(software, CommandPath::Text, Orders::Socket);
        for ((word, path, _), line) in ways().zip(&lines) {
            let line = line.trim_start_matches("* ");
            assert!(line.starts_with(&format!("{word} ")), "{line}");
            // Between its motions the player accepts joint speeds, and then ends like the program that does nothing
            // else; so does the path of torques, within the same speed limits.
            let measured_as = match word.as_str() {
                "player" | "reverse-torque" => "reverse-speedj",
                "external-torque" => "external-control",
                word => word,
            };
            let known = outrigger_config::parse_software(software).expect("a version");
            let fits = |_: &&_| !path.is_torques() || path.fits(known);
            let row = measured.iter().filter(fits).find(|(known, path, _)| (*known, *path) == (software, measured_as));
            let expected = row.map_or("no: needs software".into(), |(.., rad)| format!("yes  {rad} rad, "));
            let squeezed =
                line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ");
            assert!(squeezed.contains(&expected), "{software}: {expected} in {line}");
        }
    }
}

#[test]
fn the_configured_path_is_marked() {
    for (word, path, orders) in ways() {
        let lines = checked("5.25", path, orders);
        let marked: Vec<_> = lines.iter().filter(|line| line.starts_with("* ")).collect();
        assert!(matches!(marked.as_slice(), [one] if one.starts_with(&format!("* {word} "))), "{lines:#?}");
    }
}
