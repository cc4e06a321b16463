//! What the build scripts of boards have in common.

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{fs, io};

/// Writes the settings to `settings` in the directory `out`, and names the build in the variable `OUTRIGGER_BUILD` of the
/// crate that is built. The file is `board.toml` beside the build script, or what `OUTRIGGER_BOARD_CONFIG` names.
///
/// A file with `device.requests` sets the condition `requests`; the port (2 bytes, big-endian) and the key (32) are then in the file
/// `requests` beside the settings.
///
/// A file with `robot.kind = "krc"` sets the condition `krc` of that crate: there are two sessions, and a board has one.
///
/// A motion of more waypoints than an engine holds sets the condition `motion`; those behind are then in the file `motion`. It
/// takes a crate with a feature `motion`.
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
    // Beside the settings, not among them: those are shown to whoever listens to telemetry.
    println!("cargo::rustc-check-cfg=cfg(requests)");
    let requests = compiled.requests.map(|(port, key)| [&port.to_be_bytes()[..], &key].concat());
    if requests.is_some() {
        println!("cargo::rustc-cfg=requests");
    }
    write_for_this_user(&out.join("requests"), &requests.unwrap_or_default())?;
    if let Some(key_file) = &compiled.key_file {
        println!("cargo::rerun-if-changed={}", key_file.display());
    }
    println!("cargo::rustc-check-cfg=cfg(motion)");
    if !compiled.motion.is_empty() {
        if var_os("CARGO_FEATURE_MOTION").is_none() {
            eprintln!(
                "{}: law.waypoint: found more than {} waypoints; build with --features motion, which feeds them while the motion runs",
                file.display(),
                outrigger_core::trajectory::MAX_WAYPOINTS
            );
            exit(1)
        }
        println!("cargo::rustc-cfg=motion");
    }
    fs::write(out.join("motion"), &compiled.motion)?;
    println!("cargo::rustc-check-cfg=cfg(krc)");
    if compiled.krc {
        println!("cargo::rustc-cfg=krc");
    }

    // What tells two builds apart in telemetry. Of a copy without its history nothing is known.
    println!("cargo::rustc-env=OUTRIGGER_BUILD={}", git(&["describe", "--always", "--dirty"]));
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"]));
    Ok(())
}

/// A key is for who builds, and for nobody else on this machine.
fn write_for_this_user(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(path)?, bytes)
}

fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
    output.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
