//! Puts the linker's scripts where it finds them, and compiles the settings in.

use std::env::var_os;
use std::path::PathBuf;
use std::process::{self, Command};
use std::{fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(var_os("OUT_DIR").unwrap_or_default());
    for script in ["memory.x", "device.x"] {
        fs::copy(script, out.join(script))?;
        println!("cargo::rerun-if-changed={script}");
    }
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }

    println!("cargo::rerun-if-env-changed=OUTRIGGER_BOARD_CONFIG");
    let file = var_os("OUTRIGGER_BOARD_CONFIG").map_or("board.toml".into(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", file.display());
    let settings = outrigger_config::compile(&file).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        process::exit(1)
    });
    fs::write(out.join("settings"), settings)?;

    // What tells two builds apart in telemetry. Of a copy without its history nothing is known.
    println!("cargo::rustc-env=OUTRIGGER_BUILD={}", git(&["describe", "--always", "--dirty"]));
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"]));
    Ok(())
}

fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
    output.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
