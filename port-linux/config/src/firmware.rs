//! What the build scripts of boards have in common.

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{fs, io};

/// Writes the settings to `settings` in the directory `out`, and names the build in the variable `OUTRIGGER_BUILD` of the
/// crate that is built. The file is `board.toml` beside the build script, or what `OUTRIGGER_BOARD_CONFIG` names.
///
/// A file with `robot.kind = "krc"` sets the condition `krc` of that crate: there are two sessions, and a board has one.
///
/// A file that is wrong ends the build script with every problem there is.
///
/// # Errors
/// The settings could not be written.
pub fn compile_in(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=OUTRIGGER_BOARD_CONFIG");
    let file = var_os("OUTRIGGER_BOARD_CONFIG").map_or("board.toml".into(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", file.display());
    let compiled = crate::compile(&file).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        exit(1)
    });
    fs::write(out.join("settings"), compiled.bytes)?;
    println!("cargo::rustc-check-cfg=cfg(krc)");
    if compiled.krc {
        println!("cargo::rustc-cfg=krc");
    }

    // What tells two builds apart in telemetry. Of a copy without its history nothing is known.
    println!("cargo::rustc-env=OUTRIGGER_BUILD={}", git(&["describe", "--always", "--dirty"]));
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"]));
    Ok(())
}

fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
    output.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
